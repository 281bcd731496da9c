/**
 * The view: the simulated scene, to watch and to touch.
 *
 * A component of NiceGUI. Its props: `client` (id for the socket), `tool` (hand, push, throw, blast, target, go,
 * carve, set), `mass` and `speed` of a throw (kg, m/s), `force` of a push (N), `blast` (m/s), `gap` (width, m), `hand` that
 * reaches for a target (left, right), `faces` (whether a place is pointed at with a heading), `follow` (the camera goes
 * with the one of the cast whose name is `whom`, '' for the scene's own), `futures`, `contacts`, `nodes`, `metres` and
 * `balance` (whether they are drawn), `skin` (or the parts of characters), `trails` (names of bodies that leave one),
 * `onion` (frames between ghosts of the past, 0 for none), `dark`, `steering` (the stick on the screen; always there on
 * touch screens).
 *
 * With the tool `set`, what a click chooses is told to the server as the event `pick`; `picked` is what is chosen, `grid`
 * the width (m) of that on which things are put down.
 *
 * A second take stands `apart` m to the left (y) of where it was.
 *
 * It opens with everybody in sight, and looks again where the cast is another one.
 *
 * Nothing is drawn unless something changed: a frame came, the figure still glides towards it, the camera moves.
 */

import { THREE } from "nicegui-scene";
import { Aim } from "tumble-studio/aim.js";
import { Balance } from "tumble-studio/balance.js";
import { slowBeat } from "tumble-studio/beat.js";
import { Eye } from "tumble-studio/camera.js";
import { Carry } from "tumble-studio/carry.js";
import { Figure } from "tumble-studio/figure.js";
import { Ghosts } from "tumble-studio/ghosts.js";
import { Hud } from "tumble-studio/hud.js";
import { Lines } from "tumble-studio/lines.js";
import { link } from "tumble-studio/link.js";
import { Marks } from "tumble-studio/marks.js";
import { Metres } from "tumble-studio/metres.js";
import { Onion } from "tumble-studio/onion.js";
import { Past } from "tumble-studio/past.js";
import { Stage } from "tumble-studio/stage.js";
import { Steering } from "tumble-studio/steering.js";
import "tumble-studio/style.js";
import { Touch } from "tumble-studio/touch.js";
import { Trails } from "tumble-studio/trails.js";

const NEAR = 12; // m: farther things are not what is meant by all

export default {
  template: `<div class="ts-view" data-testid="view"><canvas></canvas></div>`,

  emits: ["pick"],

  props: {
    client: { type: String, default: "" },
    tool: { type: String, default: "hand" },
    mass: { type: Number, default: 5 },
    speed: { type: Number, default: 8 },
    force: { type: Number, default: 400 },
    blast: { type: Number, default: 4 },
    gap: { type: Number, default: 0.3 },
    hand: { type: String, default: "right" },
    faces: { type: Boolean, default: false },
    follow: { type: Boolean, default: true },
    whom: { type: String, default: "" },
    futures: { type: Boolean, default: true },
    contacts: { type: Boolean, default: true },
    nodes: { type: Boolean, default: true },
    metres: { type: Boolean, default: false },
    balance: { type: Boolean, default: false },
    trails: { type: Array, default: () => [] },
    onion: { type: Number, default: 0 },
    dark: { type: Boolean, default: false },
    picked: { type: String, default: "" },
    grid: { type: Number, default: 0 },
    skin: { type: Boolean, default: true },
    apart: { type: Number, default: 1.2 },
    steering: { type: Boolean, default: false },
  },

  watch: {
    follow(follow) {
      this.eye?.setFollow(follow);
      this.wake();
    },
    skin(skin) {
      this.figure?.wear(skin);
      this.wake();
    },
    futures: "wake",
    contacts: "wake",
    nodes: "wake",
    metres: "wake",
    whom: "wake",
    picked: "wake",
    apart: "again",
    trails: "again",
    onion: "again",
    balance: "again",
    dark(dark) {
      this.stage?.setDark(dark);
      this.wake();
    },
    steering: "chooseStick",
  },

  // What follows is put on `this` when mounted, not into data(): Vue must not wrap three's objects in proxies.
  mounted() {
    const canvas = this.$el.querySelector("canvas");
    this.pending = 0; // id of the animation frame that is asked for
    this.changed = true;
    this.last = 0;
    this.hud = new Hud(this.$el, () => this.stage?.drawn ?? 0);
    this.unbind = [];
    link.connect(this.client);
    try {
      this.stage = new Stage(canvas);
    } catch {
      this.hud.toast("this browser has no WebGL: nothing can be drawn", "error");
      return;
    }
    this.$el.classList.toggle("ts-soft", this.stage.soft);
    slowBeat(this.stage.soft);
    this.figure = new Figure(this.stage.grid);
    this.figure.wear(this.skin);
    this.lines = new Lines();
    this.ghosts = new Ghosts();
    this.marks = new Marks();
    this.past = new Past();
    this.cast = ""; // who is in sight
    this.leave = new Trails(this.past);
    this.ghostsOfPast = new Onion(this.figure, this.past);
    this.standing = new Balance();
    this.rulers = new Metres();
    this.carry = new Carry(this.figure);
    this.second = new Figure(this.stage.grid);
    const { figure, lines, ghosts, marks, leave, ghostsOfPast, standing, rulers, carry, second } = this;
    this.parts = [figure, lines, ghosts, marks, leave, ghostsOfPast, standing, rulers, carry, second];
    for (const { object } of this.parts) this.stage.world.add(object);
    this.stage.setDark(this.dark);
    this.eye = new Eye(canvas, this.wake);
    this.eye.setFollow(this.follow);
    const { eye, wake } = this;
    const aim = new Aim(canvas, eye.camera, figure);
    const pick = (name) => this.$emit("pick", name);
    this.touch = new Touch(this.$el, canvas, { aim, marks, figure, eye, wake, pick, settings: () => this.$props });
    this.steer = new Steering(this.$el, eye, wake);

    this.coarse = window.matchMedia("(pointer: coarse)").matches;
    this.chooseStick();
    const watcher = new ResizeObserver(() => this.resize());
    watcher.observe(this.$el);
    canvas.addEventListener("webglcontextrestored", wake);
    this.unbind.push(
      link.on("frame", (frame) => this.take(frame)),
      () => watcher.disconnect(),
      () => canvas.removeEventListener("webglcontextrestored", wake),
    );
    window.tumble.view = {
      camera: eye.camera,
      project: (name) => this.project(name),
      look: (name) => this.look(name),
      frame: () => this.frameAll(),
      parts: () => this.drawn(),
      standing: () => this.standing.place,
    };
    this.resize();
  },

  unmounted() {
    cancelAnimationFrame(this.pending);
    for (const unbind of this.unbind) unbind();
    for (const part of [this.touch, this.steer, this.hud, this.eye, this.stage]) part?.dispose();
    for (const part of this.parts ?? []) part.dispose();
    link.leave();
    if (window.tumble.view?.camera === this.eye?.camera) window.tumble.view = null;
  },

  methods: {
    take(frame) {
      const scene = link.scene;
      if (!scene || 7 * scene.bodies.length !== frame.bodies.length) return; // its description is still to come
      this.figure.show(frame, scene);
      this.lines.take(frame);
      this.ghosts.take(link.ghosts);
      this.marks.take(frame);
      this.past.take(frame);
      this.remember(frame, scene);
      this.accompany(link.beside);
      this.stage.late = frame.factor < 0.97 * frame.speed;
      this.wake();
    },

    /** Shows a second take, or none. */
    accompany(frame) {
      const scene = frame && link.scenes.get(frame.scene);
      this.second.object.visible = !!scene;
      this.second.object.position.y = this.apart;
      if (scene) this.second.show(frame, scene);
    },

    remember(frame, scene) {
      this.leave.take(scene, this.trails);
      this.ghostsOfPast.take(frame, scene, this.onion);
      this.standing.take(frame, scene, this.balance);
    },

    /** Draws anew what is drawn of frames that were, as other things of them are to be drawn. */
    again() {
      if (this.figure?.scene) this.remember(link.frame, this.figure.scene);
      if (this.second) this.second.object.position.y = this.apart;
      this.wake();
    },

    /** Asks for a picture. */
    wake() {
      this.changed = true;
      this.askPicture();
    },

    askPicture() {
      this.pending ||= requestAnimationFrame((now) => this.draw(now));
    },

    /** What the hands want is sent in every animation frame, also where pictures are kept further apart. */
    draw(now) {
      const seconds = Math.min(0.1, (now - this.last) / 1000);
      this.last = now;
      this.pending = 0;
      let busy = this.steer.update(seconds); // a gamepad wants to be asked, though nothing may change
      if (this.figure.scene) {
        this.changed = this.eye.glide(this.followed().position, seconds) || this.changed;
        this.open();
        this.touch.update();
        if (this.changed && this.stage.due(now)) this.changed = this.picture();
        busy ||= this.changed;
      }
      if (busy) this.askPicture();
    },

    /** Draws; true if the next picture will differ even if nothing happens. */
    picture() {
      const moving = [this.figure, this.second].map((figure) => figure.glide()).some(Boolean);
      const { camera } = this.eye;
      const { root } = this.figure;
      this.lines.draw(camera, root, this.futures);
      this.ghosts.draw(this.nodes);
      const { spring: drag, way, carried } = this.touch;
      this.carry.show(this.picked, carried);
      this.leave.draw(camera);
      this.rulers.draw(this.followed().position, this.metres);
      const flashing = this.marks.draw(camera, root, { contacts: this.contacts, drag, way });
      this.stage.draw(camera, root, this.figure.scene.slope, this.figure.scene.depth);
      return moving || flashing;
    },

    /** The group of the root that the camera follows. */
    followed() {
      const { cast } = this.figure.scene;
      return this.figure.groups[(cast.find(({ name }) => name === this.whom) ?? cast[0]).root];
    },

    /** Has everybody in sight where somebody else plays; who plays alone is seen from as near as ever. */
    open() {
      const { cast } = this.figure.scene;
      const names = cast.map(({ name }) => name).join();
      const first = !this.cast;
      if (this.cast === `cast ${names}`) return;
      this.cast = `cast ${names}`;
      if (!first || cast.length > 1) this.eye.frame(this.places(cast.flatMap(({ bones }) => bones)));
    },

    look(name) {
      if (!this.figure.scene) return;
      const ahead = new THREE.Vector3(1, 0, 0).applyQuaternion(this.followed().quaternion).setZ(0);
      if (ahead.length() < 0.3) ahead.set(1, 0, 0); // it lies
      this.eye.look(name, ahead.normalize());
      this.wake();
    },

    /** Everybody, and things that are near. */
    frameAll() {
      if (!this.figure.scene) return;
      const people = this.places(this.figure.scene.cast.flatMap(({ bones }) => bones));
      this.eye.frame([...people, ...this.carry.corners(this.followed().position, NEAR)]);
      this.wake();
    },

    places(indices) {
      return indices.map((i) => this.figure.groups[i].position);
    },

    resize() {
      const { clientWidth: width, clientHeight: height } = this.$el;
      if (!width || !height) return;
      this.stage.resize(width, height);
      this.eye.resize(width, height);
      if (this.figure.scene) this.picture(); // at once: another size empties the canvas
      this.wake();
    },

    chooseStick() {
      this.steer?.showStick(this.steering || this.coarse);
    },

    /** What is drawn beside the bodies now: ghosts, points of trails, and switches. */
    drawn() {
      const { leave, ghostsOfPast, balance, metres, dark } = this;
      return { onion: ghostsOfPast.shown, trails: leave.points, balance, metres, dark };
    },

    /** Where the origin of a body is on the screen, as clientX and clientY. */
    project(name) {
      const group = this.figure.groups[this.figure.index(name)];
      if (!group) return null;
      const at = group.position.clone().project(this.eye.camera);
      const box = this.$el.getBoundingClientRect();
      return [box.left + (0.5 + at.x / 2) * box.width, box.top + (0.5 - at.y / 2) * box.height];
    },
  },
};

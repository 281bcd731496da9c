/**
 * The view: the simulated scene, to watch and to touch.
 *
 * A component of NiceGUI. Its props: `client` (id for the socket), `tool` (hand, push, throw, blast, target, go,
 * carve), `mass` and `speed` of a throw (kg, m/s), `force` of a push (N), `blast` (m/s), `gap` (width, m), `hand` that
 * reaches for a target (left, right), `faces` (whether a place is pointed at with a heading), `follow` (the camera goes
 * with the character), `futures`, `contacts` and `nodes` (whether they are drawn), `skin` (or the parts of characters),
 * `steering` (the stick on the screen; always there on touch screens).
 *
 * Nothing is drawn unless something changed: a frame came, the figure still glides towards it, the camera moves.
 */

import { Aim } from "tumble-studio/aim.js";
import { slowBeat } from "tumble-studio/beat.js";
import { Eye } from "tumble-studio/camera.js";
import { Figure } from "tumble-studio/figure.js";
import { Ghosts } from "tumble-studio/ghosts.js";
import { Hud } from "tumble-studio/hud.js";
import { Lines } from "tumble-studio/lines.js";
import { link } from "tumble-studio/link.js";
import { Marks } from "tumble-studio/marks.js";
import { Stage } from "tumble-studio/stage.js";
import { Steering } from "tumble-studio/steering.js";
import "tumble-studio/style.js";
import { Touch } from "tumble-studio/touch.js";

export default {
  template: `<div class="ts-view" data-testid="view"><canvas></canvas></div>`,

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
    futures: { type: Boolean, default: true },
    contacts: { type: Boolean, default: true },
    nodes: { type: Boolean, default: true },
    skin: { type: Boolean, default: true },
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
    for (const { object } of [this.figure, this.lines, this.ghosts, this.marks]) this.stage.world.add(object);
    this.eye = new Eye(canvas, this.wake);
    this.eye.setFollow(this.follow);
    const { figure, marks, eye, wake } = this;
    const aim = new Aim(canvas, eye.camera, figure);
    this.touch = new Touch(this.$el, canvas, { aim, marks, figure, eye, wake, settings: () => this.$props });
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
    window.tumble.view = { camera: eye.camera, project: (name) => this.project(name) };
    this.resize();
  },

  unmounted() {
    cancelAnimationFrame(this.pending);
    for (const unbind of this.unbind) unbind();
    for (const part of [this.touch, this.steer, this.hud, this.eye, this.stage]) part?.dispose();
    for (const part of [this.figure, this.lines, this.ghosts, this.marks]) part?.dispose();
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
      this.stage.late = frame.factor < 0.97 * frame.speed;
      this.wake();
    },

    /** Asks for a picture. */
    wake() {
      this.changed = true;
      this.again();
    },

    again() {
      this.pending ||= requestAnimationFrame((now) => this.draw(now));
    },

    /** What the hands want is sent in every animation frame, also where pictures are kept further apart. */
    draw(now) {
      const seconds = Math.min(0.1, (now - this.last) / 1000);
      this.last = now;
      this.pending = 0;
      let busy = this.steer.update(seconds); // a gamepad wants to be asked, though nothing may change
      if (this.figure.scene) {
        this.changed = this.eye.glide(this.figure.root, seconds) || this.changed;
        this.touch.update();
        if (this.changed && this.stage.due(now)) this.changed = this.picture();
        busy ||= this.changed;
      }
      if (busy) this.again();
    },

    /** Draws; true if the next picture will differ even if nothing happens. */
    picture() {
      const moving = this.figure.glide();
      const { camera } = this.eye;
      const { root } = this.figure;
      this.lines.draw(camera, root, this.futures);
      this.ghosts.draw(this.nodes);
      const { spring: drag, way } = this.touch;
      const flashing = this.marks.draw(camera, root, { contacts: this.contacts, drag, way });
      this.stage.draw(camera, root, this.figure.scene.slope, this.figure.scene.depth);
      return moving || flashing;
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

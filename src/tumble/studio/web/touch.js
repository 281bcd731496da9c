/**
 * What a pointer does to the scene: mouse, pen or fingers.
 *
 *   const touch = new Touch(box, canvas, { aim, marks, figure, eye, pick, settings: () => props, wake });
 *   touch.update();    // before every picture: sends what the pointer wants now
 *
 * A pointer that takes hold of something is kept from the camera's controls (we listen before they do); every other one
 * orbits, pans and zooms. Push, throw, blast, go and carve act on a click, so that one can orbit with these tools too;
 * only where the character can face somewhere at a place, going holds the ground: dragged from there, that is the
 * heading. With the tool `set` a thing of the set is chosen by a click and carried by a drag; it is put down where the
 * pointer goes up. A second finger always means the camera: what the first one held is let go. Whoever only watches moves only
 * the camera.
 */

import { launch } from "./aim.js";
import { link } from "./link.js";
import { paced } from "./pace.js";
import { PALETTE } from "./palette.js";

const CLICK = 7; // px a click may move
const LONG = 500; // ms a click may last
const FINGER = 18; // px around a fingertip
const PUSH = 0.1; // s
const FARTHEST = 30; // m that a thing is carried at once
const round = (vector) => vector.toArray().map((value) => Math.round(1e4 * value) / 1e4);

export class Touch {
  #parts;
  #box;
  #canvas;
  #pointers = new Map(); // what is down: where and when it came down
  #held = null; // the pointer that has hold of something
  #passing = false; // while the first finger is handed to the camera
  #moved = false;
  #unbind = [];
  #target = paced((at) => this.#sendTarget(at), 100);

  constructor(box, canvas, parts) {
    [this.#box, this.#canvas, this.#parts] = [box, canvas, parts];
    const listen = (on, name, handler, options) => {
      on.addEventListener(name, handler, options);
      this.#unbind.push(() => on.removeEventListener(name, handler, options));
    };
    listen(box, "pointerdown", (event) => this.#down(event), true);
    listen(box, "pointermove", (event) => this.#move(event), true);
    listen(box, "pointerup", (event) => this.#up(event), true);
    listen(box, "pointercancel", (event) => this.#up(event, true), true);
    listen(box, "contextmenu", (event) => event.preventDefault());
    listen(window, "blur", () => this.letGo());
    listen(document, "visibilitychange", () => document.hidden && this.letGo());
    this.#unbind.push(link.on("controls", (controls) => controls || this.letGo()));
    this.#unbind.push(link.on("close", () => this.letGo()));
    this.#unbind.push(link.on("error", () => this.letGo())); // what cannot be dragged is not asked for again
  }

  /** Both ends of our own drag, in the world: what is held and where it is pulled to; null if there is none. */
  get spring() {
    const { figure } = this.#parts;
    const group = this.#held?.target && figure.groups[figure.index(this.#held.hit.name)];
    return group ? [group.localToWorld(this.#held.point.clone()), this.#held.target] : null;
  }

  /** The place that is pointed at and where to face from there, on the ground; null where nobody drags from a place. */
  get way() {
    return this.#held?.to ? [this.#held.from, this.#held.to] : null;
  }

  /** What is carried, and how far: { name, by }, where `by` is null until it moves; null where nothing is. */
  get carried() {
    return this.#held?.kind === "carry" ? this.#held : null;
  }

  /** Sends the newest wish of the pointer that holds something. */
  update() {
    if (!this.#held || !this.#moved) return;
    this.#moved = false;
    const { kind, x, y } = this.#held;
    if (kind === "target") this.#target([x, y]);
    if (kind === "drag") this.#pull(x, y);
    if (kind === "way") this.#face(x, y);
    if (kind === "carry") this.#carry(x, y);
  }

  letGo() {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    this.#parts.eye.held = false;
    this.#box.style.cursor = "";
    if (held.kind === "drag" && link.controls) link.send({ type: "release" });
    this.#parts.wake();
  }

  dispose() {
    this.letGo();
    this.#target.cancel();
    for (const unbind of this.#unbind) unbind();
  }

  #down(event) {
    if (event.target !== this.#canvas || this.#passing) return;
    if (event.isPrimary) this.#pointers.clear(); // whose end was lost, say to another window
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, time: event.timeStamp });
    if (this.#pointers.size > 1) {
      this.#pointers.forEach((pointer) => (pointer.time = -Infinity)); // none of them is a click any more
      if (this.#held) this.#pass();
      return;
    }
    if (!link.controls || link.frame?.past) return;
    const { tool } = this.#parts.settings();
    const slack = event.pointerType === "touch" ? FINGER : 0;
    const [x, y] = [event.clientX, event.clientY];
    if (event.button === 0 && tool === "target") this.#take(event, { kind: "target" });
    if (event.button === 0 && tool === "hand") {
      const hit = this.#parts.aim.body(x, y, slack);
      if (hit) this.#take(event, { kind: "drag", hit, point: hit.group.worldToLocal(hit.point.clone()) });
    }
    if (event.button === 0 && tool === "go" && this.#parts.settings().faces && !this.#parts.aim.body(x, y, slack)) {
      const from = this.#parts.aim.ground(x, y);
      if (from) this.#take(event, { kind: "way", from, start: [x, y] });
    }
    if (event.button === 0 && tool === "set") {
      const thing = this.#parts.aim.thing(x, y);
      this.#parts.pick(thing?.name ?? "");
      if (thing) this.#take(event, { kind: "carry", ...thing, start: [x, y], by: null });
    }
    if (event.button === 2 && (tool === "hand" || tool === "push")) {
      const hit = this.#parts.aim.body(x, y);
      if (!hit?.bone) return;
      this.#push(hit);
      this.#take(event, { kind: "push" });
    }
  }

  #take(event, held) {
    event.stopPropagation();
    event.preventDefault(); // no text is selected, no touch becomes a mouse; but then focus must be moved by hand
    document.activeElement?.blur?.();
    this.#box.setPointerCapture(event.pointerId);
    this.#held = { ...held, id: event.pointerId, x: event.clientX, y: event.clientY, type: event.pointerType };
    this.#moved = true;
    if (held.kind === "drag") {
      this.#box.style.cursor = "grabbing";
      this.#parts.eye.held = true;
    }
    this.#parts.wake();
  }

  #move(event) {
    if (event.pointerId !== this.#held?.id) {
      if (event.pointerType === "mouse" && !event.buttons) this.#hover(event);
      return;
    }
    event.stopPropagation();
    [this.#held.x, this.#held.y] = [event.clientX, event.clientY];
    this.#moved = true;
    this.#parts.wake();
  }

  #up(event, cancelled = false) {
    const start = this.#pointers.get(event.pointerId);
    this.#pointers.delete(event.pointerId);
    if (event.pointerId === this.#held?.id) {
      event.stopPropagation();
      this.update();
      const { kind, from, to, name, by } = this.#held;
      this.letGo();
      if (kind === "carry" && by && !cancelled && link.controls) {
        link.send({ type: "move", name, by: round(by).slice(0, 2), grid: this.#parts.settings().grid });
      }
      if (kind === "way" && !cancelled && link.controls) this.#point(null, from, to);
      return;
    }
    if (!start || cancelled || event.button !== 0 || !link.controls || link.frame?.past) return;
    const far = Math.hypot(event.clientX - start.x, event.clientY - start.y);
    if (far <= CLICK && event.timeStamp - start.time <= LONG) this.#click(event);
  }

  /** Gives the first finger to the camera's controls as if it had come down only now. */
  #pass() {
    const { id, x, y, type } = this.#held;
    this.letGo();
    const again = { pointerId: id, pointerType: type, clientX: x, clientY: y, button: 0, buttons: 1, bubbles: true };
    this.#passing = true;
    this.#canvas.dispatchEvent(new PointerEvent("pointerdown", again));
    this.#passing = false;
  }

  #click(event) {
    const { aim, figure, settings } = this.#parts;
    const { tool, mass, speed, blast, gap } = settings();
    const [x, y] = [event.clientX, event.clientY];
    if (!figure.scene) return;
    if (tool === "push") {
      const hit = aim.body(x, y, event.pointerType === "touch" ? FINGER : 0);
      if (hit) this.#push(hit);
    }
    if (tool === "throw") {
      const point = aim.anywhere(x, y);
      const start = point && aim.hand(point);
      if (start) this.#throw(start, point, mass, speed);
    }
    if (tool === "blast") {
      const at = aim.anywhere(x, y);
      if (!at) return;
      at.z = Math.max(0.05, at.z);
      link.send({ type: "explode", at: round(at), speed: blast });
      this.#flash(at, PALETTE.push, 1.1);
    }
    if (tool === "carve") {
      const at = aim.ground(x, y); // also behind a body: what is meant lies on the ground
      if (!at) return;
      link.send({ type: "carve", at: round(at), width: gap });
      this.#flash(at, PALETTE.target, 0.3);
    }
    if (tool === "go") this.#point(aim.body(x, y, event.pointerType === "touch" ? FINGER : 0), aim.ground(x, y));
  }

  /** Shows a thing or a place to a walker, and where to face; what that means is decided where the scene is known. */
  #point(hit, ground, facing = null) {
    const at = hit?.point ?? ground;
    if (!at) return;
    const heading = facing && Math.atan2(facing.y - at.y, facing.x - at.x);
    link.send({ type: "point", at: round(at), body: hit?.name ?? null, heading });
    this.#flash(at, PALETTE.target, 0.3);
  }

  #push(hit) {
    const force = this.#parts.aim.direction(hit.point);
    force.z *= 0.5; // mostly to the side: seen from above one does not want to hammer it into the ground
    force.setLength(this.#parts.settings().force);
    link.send({ type: "push", body: hit.name, force: round(force), seconds: PUSH });
    this.#flash(hit.point, PALETTE.push, 0.2);
  }

  #throw(start, point, mass, speed) {
    const velocity = launch(start, point, speed, link.dt);
    link.send({ type: "hurl", position: round(start), velocity: round(velocity), mass });
    this.#flash(point, PALETTE.best, 0.14);
  }

  #flash(point, color, radius) {
    this.#parts.marks.flash(point, color, radius);
    this.#parts.wake();
  }

  #pull(x, y) {
    const { hit, point } = this.#held;
    const target = this.#parts.aim.facing(x, y, hit.point);
    if (!target) return;
    target.z = Math.max(0.02, target.z);
    this.#held.target = target;
    link.send({ type: "drag", body: hit.name, target: round(target), point: round(point) });
  }

  /** How far a thing is carried along the ground: as far as the point of it that is held. */
  #carry(x, y) {
    const { start, point } = this.#held;
    if (!this.#held.by && Math.hypot(x - start[0], y - start[1]) <= CLICK) return;
    const at = this.#parts.aim.level(x, y, point.z);
    if (at && at.distanceTo(point) < FARTHEST) this.#held.by = at.sub(point).setZ(0);
  }

  /** Where a pointer that came down on the ground has gone to there; no farther than a click is none. */
  #face(x, y) {
    const { start, to } = this.#held;
    const far = Math.hypot(x - start[0], y - start[1]) > CLICK;
    this.#held.to = far ? this.#parts.aim.ground(x, y) ?? to : null;
  }

  #sendTarget([x, y]) {
    const { aim, figure, settings } = this.#parts;
    const target = aim.facing(x, y, figure.root);
    if (!target || !link.controls) return;
    target.z = Math.min(2.5, Math.max(0.05, target.z));
    link.send({ type: "reach", target: round(target), hand: settings().hand });
  }

  #hover(event) {
    const { tool } = this.#parts.settings();
    const able = link.controls && !link.frame?.past && event.target === this.#canvas;
    const free = able && tool === "hand" && !this.#parts.aim.body(event.clientX, event.clientY);
    this.#box.style.cursor = !able || free ? "" : tool === "hand" ? "grab" : "crosshair";
  }
}

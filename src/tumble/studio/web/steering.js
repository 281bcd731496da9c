/**
 * Where the character shall go: keys, the stick on the screen, a gamepad. The strongest of them wins.
 *
 *   const steering = new Steering(box, eye, wake);
 *   steering.showStick(true);
 *   const busy = steering.update(seconds);   // before every picture; true while a gamepad wants to be asked again
 *
 * W A S D and the arrows are relative to the camera (W is away from the viewer), Shift is turbo; so is pulling the
 * stick far beyond its rim, and on a gamepad the right trigger or the first button. The right stick of a gamepad turns
 * the camera. What is sent is in the world's axes, so it is sent again when the camera turns.
 */

import { nipplejs } from "nicegui-joystick";
import { THREE } from "nicegui-scene";
import { link } from "./link.js";
import { paced } from "./pace.js";

const KEYS = {
  KeyW: [0, 1], ArrowUp: [0, 1], KeyS: [0, -1], ArrowDown: [0, -1],
  KeyA: [-1, 0], ArrowLeft: [-1, 0], KeyD: [1, 0], ArrowRight: [1, 0],
};
const TYPING = "input:not([type=range]), textarea, select, [contenteditable=true]";
const ARROWED = "[role=slider], [role=tab], [role=radio], [role=option], [role=menuitem]"; // these want the arrows
const DEAD = 0.15;
const CHANGE = 0.03;
const BEYOND = 1.9; // radii of the stick
const TURN = 2.4; // rad/s of the camera at full tilt

export class Steering {
  #eye;
  #wake;
  #box;
  #keys = new Set();
  #turbo = false; // Shift
  #stick = { x: 0, y: 0, turbo: false };
  #pad = { x: 0, y: 0, turbo: false };
  #padded = false;
  #joystick = null;
  #zone = null;
  #sent = { x: 0, y: 0, turbo: false };
  #send = paced((wish) => this.#tell(wish), 50);
  #unbind = [];
  #ahead = new THREE.Vector3();

  constructor(box, eye, wake) {
    [this.#box, this.#eye, this.#wake] = [box, eye, wake];
    const listen = (on, name, handler) => {
      on.addEventListener(name, handler);
      this.#unbind.push(() => on.removeEventListener(name, handler));
    };
    listen(window, "keydown", (event) => this.#key(event, true));
    listen(window, "keyup", (event) => this.#key(event, false));
    listen(window, "blur", () => this.letGo());
    listen(document, "visibilitychange", () => document.hidden && this.letGo());
    listen(window, "gamepadconnected", wake);
    const timer = setInterval(() => this.#findPad() && !this.#padded && wake(), 1000); // a faked one fires no event
    this.#unbind.push(() => clearInterval(timer));
    this.#unbind.push(link.on("controls", (controls) => controls || this.letGo()));
    this.#unbind.push(link.on("close", () => this.letGo()));
  }

  /** Asks the gamepad, and sends the wish of the strongest source if it is another than before. */
  update(seconds) {
    this.#askPad(seconds);
    this.#decide();
    return this.#padded;
  }

  showStick(shown) {
    if (shown === !!this.#joystick) return;
    if (!shown) return this.#dropStick();
    this.#zone = document.createElement("div");
    this.#zone.className = "ts-stick";
    this.#zone.dataset.testid = "stick";
    this.#box.appendChild(this.#zone);
    this.#joystick = nipplejs.create({
      zone: this.#zone, mode: "static", position: { left: "50%", top: "50%" }, size: 104, color: "#4a5b70",
      restOpacity: 0.55, fadeTime: 120, dynamicPage: true,
    });
    this.#joystick.on("move", (_, { vector, force }) => {
      this.#stick = { x: vector.x * Math.min(1, force), y: vector.y * Math.min(1, force), turbo: force > BEYOND };
      this.#wake();
    });
    this.#joystick.on("end", () => {
      this.#stick = { x: 0, y: 0, turbo: false };
      this.#wake();
    });
  }

  letGo() {
    this.#keys.clear();
    this.#turbo = false;
    this.#stick = { x: 0, y: 0, turbo: false };
    this.#pad = { x: 0, y: 0, turbo: false };
    this.#decide();
  }

  dispose() {
    this.letGo();
    this.#dropStick();
    for (const unbind of this.#unbind) unbind();
  }

  #dropStick() {
    this.#joystick?.destroy();
    this.#zone?.remove();
    this.#joystick = this.#zone = null;
  }

  #key(event, down) {
    if (event.code === "ShiftLeft" || event.code === "ShiftRight") this.#turbo = down;
    else if (!(event.code in KEYS)) return;
    else if (!down) this.#keys.delete(event.code);
    else {
      const arrow = event.code.startsWith("Arrow");
      const busy = event.ctrlKey || event.metaKey || event.altKey;
      if (busy || event.target.closest?.(TYPING) || (arrow && event.target.closest?.(ARROWED))) return;
      if (arrow) event.preventDefault(); // the page shall not scroll
      this.#keys.add(event.code);
    }
    this.#wake();
  }

  #findPad() {
    return [...(navigator.getGamepads?.() ?? [])].find((pad) => pad?.connected);
  }

  #askPad(seconds) {
    const pad = this.#findPad();
    this.#padded = !!pad;
    if (!pad) {
      this.#pad = { x: 0, y: 0, turbo: false };
      return;
    }
    const [x, y, side, up] = [0, 1, 2, 3].map((axis) => pad.axes[axis] ?? 0);
    const turbo = (pad.buttons[7]?.value ?? 0) > 0.3 || !!pad.buttons[0]?.pressed;
    const live = Math.hypot(x, y) > DEAD;
    this.#pad = { x: live ? x : 0, y: live ? -y : 0, turbo };
    if (Math.hypot(side, up) > DEAD) this.#eye.orbit(-TURN * side * seconds, -TURN * 0.6 * up * seconds);
  }

  #decide() {
    const keyed = { x: 0, y: 0, turbo: this.#turbo };
    for (const code of this.#keys) {
      keyed.x += KEYS[code][0];
      keyed.y += KEYS[code][1];
    }
    const strength = ({ x, y }) => Math.hypot(x, y);
    const { x, y, turbo } = [keyed, this.#stick, this.#pad].reduce((a, b) => (strength(b) > strength(a) ? b : a));
    const wish = this.#toWorld(x, y);
    wish.turbo = (wish.x !== 0 || wish.y !== 0) && (turbo || this.#turbo);
    const sent = this.#sent;
    const stopped = wish.x === 0 && wish.y === 0 && (sent.x !== 0 || sent.y !== 0);
    const changed = Math.hypot(wish.x - sent.x, wish.y - sent.y) > CHANGE || wish.turbo !== sent.turbo;
    if (stopped || changed) this.#send(wish);
  }

  /** From the camera's right and ahead to the world's x and y, no longer than 1. */
  #toWorld(right, ahead) {
    const length = Math.hypot(right, ahead);
    if (length === 0) return { x: 0, y: 0 };
    const scale = 1 / Math.max(1, length);
    const view = this.#eye.camera.getWorldDirection(this.#ahead);
    const angle = Math.atan2(view.y, view.x);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    return { x: scale * (ahead * cos + right * sin), y: scale * (ahead * sin - right * cos) };
  }

  #tell(wish) {
    this.#sent = wish;
    const round = (value) => Math.round(1000 * value) / 1000;
    if (link.controls) link.send({ type: "steer", x: round(wish.x), y: round(wish.y), turbo: wish.turbo });
  }
}

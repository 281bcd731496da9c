/**
 * Trails: where chosen parts of somebody were in the last seconds, as ribbons that end at the part.
 *
 *   const trails = new Trails(past);
 *   trails.take(scene, ["left_hand", "head"]);   // with every frame, and where others are chosen
 *   trails.draw(camera);                         // before every picture
 */

import { THREE } from "nicegui-scene";
import { Ribbon } from "./lines.js";
import { link } from "./link.js";
import { PALETTE } from "./palette.js";

const SECONDS = 3;
const ZERO = new THREE.Vector3();

export class Trails {
  object = new THREE.Group();
  #past;
  #ribbons = [];

  constructor(past) {
    this.#past = past;
  }

  /** Of all trails together. */
  get points() {
    return this.#ribbons.reduce((sum, { count }) => sum + count, 0);
  }

  take(scene, parts) {
    const bodies = parts.map((name) => scene.bodies.findIndex((body) => body.name === name)).filter((i) => i >= 0);
    while (this.#ribbons.length < bodies.length) this.#add();
    this.#ribbons.forEach((ribbon, i) => this.#lay(ribbon, bodies[i]));
  }

  draw(camera) {
    for (const ribbon of this.#ribbons) ribbon.face(camera, ZERO);
  }

  dispose() {
    for (const ribbon of this.#ribbons) ribbon.dispose();
  }

  #add() {
    const ribbon = new Ribbon(PALETTE.trails[this.#ribbons.length % PALETTE.trails.length], 0.014, 0.9);
    this.#ribbons.push(ribbon);
    this.object.add(ribbon.object);
  }

  /** From the present back, as far as it is known without a gap. */
  #lay(ribbon, body) {
    const places = [];
    const most = body === undefined ? 0 : Math.round(SECONDS / link.dt);
    for (let back = 0; back < most; back++) {
      const poses = this.#past.at(this.#past.tick - back);
      if (!poses) break;
      places.push(...poses.subarray(7 * body, 7 * body + 3));
    }
    ribbon.set(places);
  }
}

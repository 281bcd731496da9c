/**
 * The poses of the last two minutes, by tick: what trails and onion skins are drawn of.
 *
 *   const past = new Past();
 *   past.take(frame);                 // every frame that is shown, also one of the past
 *   const bodies = past.at(tick);     // Float32Array of its poses (see frame.js), or undefined
 *
 * Another scene has other bodies: what was there before it is forgotten. Where time was turned back and goes on, so is
 * what came after that moment; while the past is only looked at, nothing is.
 */

import { link } from "./link.js";

const SECONDS = 120;

export class Past {
  tick = 0; // of the frame that is shown
  #poses = new Map(); // by tick, the oldest first
  #newest = 0;
  #scene = 0;

  take(frame) {
    if (frame.scene !== this.#scene) this.#poses.clear();
    this.#scene = frame.scene;
    this.tick = frame.tick;
    if (frame.past) return;
    for (let tick = this.#newest; tick >= frame.tick; tick--) this.#poses.delete(tick);
    this.#poses.set(frame.tick, frame.bodies);
    this.#newest = frame.tick;
    const oldest = frame.tick - Math.round(SECONDS / link.dt);
    for (const tick of this.#poses.keys()) {
      if (tick >= oldest) break;
      this.#poses.delete(tick);
    }
  }

  at(tick) {
    return this.#poses.get(tick);
  }
}

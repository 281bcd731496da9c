/**
 * Ghosts: the poses that a controller goes by, as stick figures beside the character.
 *
 *   const ghosts = new Ghosts();
 *   ghosts.take(link.ghosts);        // with every frame; nothing is done where they are the same as before
 *   ghosts.draw(visible);            // before every picture
 *
 * All sticks of all figures are one draw call, all their round ends another. The first figure, which it comes to first,
 * has the first colour, the last one the second. They are hidden by what is before them, and hide nothing. Footprints of
 * planned steps have colours of their own, which are hardly seen through.
 */

import { THREE } from "nicegui-scene";
import { PALETTE } from "./palette.js";

const UP = new THREE.Vector3(0, 1, 0); // along which three's cylinders stand

export class Ghosts {
  object = new THREE.Group();
  #shown = null;
  #room = 0;
  #paint = new THREE.MeshLambertMaterial({ transparent: true, opacity: 0.4, toneMapped: false });
  #stick = new THREE.CylinderGeometry(1, 1, 1, 10, 1, true);
  #end = new THREE.SphereGeometry(1, 12, 8);
  #sticks = null;
  #ends = null;

  take(ghosts) {
    if (ghosts === this.#shown) return;
    this.#shown = ghosts;
    const each = ghosts.radii.length;
    this.#paint.opacity = ghosts.steps ? 0.9 : 0.4;
    this.#reserve(ghosts.sticks.length * each);
    ghosts.sticks.forEach((figure, i) => {
      const alone = ghosts.steps ? 0 : 1;
      const share = ghosts.sticks.length > 1 ? i / (ghosts.sticks.length - 1) : alone;
      const color = ghosts.steps ? SHADE.copy(STEP_FIRST).lerp(STEP_LAST, share) : SHADE.copy(FIRST).lerp(LAST, share);
      figure.forEach((stick, j) => this.#put(i * each + j, stick, ghosts.radii[j], color));
    });
    this.#finish(ghosts.sticks.length * each);
  }

  draw(visible) {
    this.object.visible = visible && this.#shown?.sticks.length > 0;
  }

  dispose() {
    this.#sticks?.dispose();
    this.#ends?.dispose();
    for (const part of [this.#stick, this.#end, this.#paint]) part.dispose();
  }

  #put(at, [x, y, z, ...to], radius, color) {
    FROM.set(x, y, z);
    TO.fromArray(to);
    MIDDLE.copy(FROM).add(TO).multiplyScalar(0.5);
    TURN.setFromUnitVectors(UP, ALONG.copy(TO).sub(FROM).normalize());
    this.#sticks.setMatrixAt(at, PLACE.compose(MIDDLE, TURN, SIZE.set(radius, FROM.distanceTo(TO), radius)));
    this.#ends.setMatrixAt(2 * at, PLACE.compose(FROM, TURN, SIZE.setScalar(radius)));
    this.#ends.setMatrixAt(2 * at + 1, PLACE.compose(TO, TURN, SIZE));
    this.#sticks.setColorAt(at, color);
    this.#ends.setColorAt(2 * at, color);
    this.#ends.setColorAt(2 * at + 1, color);
  }

  #finish(count) {
    if (!this.#room) return;
    this.#sticks.count = count;
    this.#ends.count = 2 * count;
    for (const part of [this.#sticks, this.#ends]) {
      part.instanceMatrix.needsUpdate = true;
      if (part.instanceColor) part.instanceColor.needsUpdate = true;
    }
  }

  #reserve(count) {
    if (count <= this.#room) return;
    this.#room = count;
    this.#sticks?.dispose();
    this.#ends?.dispose();
    this.object.clear();
    this.#sticks = new THREE.InstancedMesh(this.#stick, this.#paint, count);
    this.#ends = new THREE.InstancedMesh(this.#end, this.#paint, 2 * count);
    for (const part of [this.#sticks, this.#ends]) {
      part.frustumCulled = false; // else three keeps the bounds of the first figures
      part.renderOrder = 2;
      this.object.add(part);
    }
  }
}

const [FROM, TO, MIDDLE, ALONG, SIZE] = Array.from({ length: 5 }, () => new THREE.Vector3());
const TURN = new THREE.Quaternion();
const PLACE = new THREE.Matrix4();
const FIRST = new THREE.Color(PALETTE.ghostFirst);
const LAST = new THREE.Color(PALETTE.ghostLast);
const STEP_FIRST = new THREE.Color(PALETTE.stepFirst);
const STEP_LAST = new THREE.Color(PALETTE.stepLast);

const SHADE = new THREE.Color();

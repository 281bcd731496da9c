/**
 * The camera: orbits, pans and zooms by hand, and can follow the character.
 *
 *   const eye = new Eye(canvas, () => wake());
 *   const moved = eye.glide(root, seconds);   // before every picture
 *   eye.look("front", ahead);                 // as one faces who looks along `ahead`
 *   eye.frame(places);                        // so that all of them are seen, from where it looks now
 *
 * Following moves the camera and the point it looks at together, so the offset that one chose by orbiting, panning or
 * zooming stays. It glides, because a root that shakes would make the whole picture shake.
 */

import { OrbitControls, THREE } from "nicegui-scene";

const LAG = 0.22; // s, of the following
const LEAP = 4; // m: what jumps further than that was put there, and is followed at once
const FLOOR = 0.1; // m: the camera stays above it
const BODY = 0.35; // m around a place that is to be seen
// where the camera stands: ahead of whom it looks at, to the right, up
const VIEWS = { front: [1, 0, 0.1], side: [0, 1, 0.1], top: [-0.02, 0, 1], "three-quarter": [0.81, 0.55, 0.18] };

export class Eye {
  camera = new THREE.PerspectiveCamera(38, 1, 0.05, 120);
  follow = true;
  held = false; // while something is dragged the camera waits, else the pull would never end
  #controls;
  #anchor = null; // what is followed, smoothed
  #wanted = new THREE.Vector3();
  #step = new THREE.Vector3();

  constructor(canvas, onChange) {
    this.camera.up.set(0, 0, 1);
    this.#controls = new OrbitControls(this.camera, canvas);
    Object.assign(this.#controls, { enableDamping: true, dampingFactor: 0.14, minDistance: 0.7, maxDistance: 60 });
    this.#controls.maxPolarAngle = 0.56 * Math.PI;
    this.#controls.addEventListener("change", onChange);
  }

  resize(width, height) {
    this.camera.aspect = width / height;
    this.camera.fov = width < height ? 46 : 38; // upright screens are narrow
    this.camera.updateProjectionMatrix();
  }

  setFollow(follow) {
    this.follow = follow;
    if (follow && this.#anchor) this.#anchor.copy(this.#controls.target); // glides back to the character
  }

  /** Turns around what is looked at, radians: to the side, and upwards. */
  orbit(side, up) {
    const offset = this.#step.copy(this.camera.position).sub(this.#controls.target);
    const distance = offset.length();
    const height = Math.asin(offset.z / distance);
    const tilt = Math.min(1.45, Math.max(-0.15, height + up));
    const angle = Math.atan2(offset.y, offset.x) + side;
    offset.set(Math.cos(tilt) * Math.cos(angle), Math.cos(tilt) * Math.sin(angle), Math.sin(tilt));
    this.camera.position.copy(this.#controls.target).addScaledVector(offset, distance);
  }

  /** Looks from one of `VIEWS` at what it looks at now; `ahead` is where that faces, a direction on the ground. */
  look(name, ahead) {
    const [along, right, up] = VIEWS[name];
    const distance = this.camera.position.distanceTo(this.#controls.target);
    this.#step.set(along * ahead.x + right * ahead.y, along * ahead.y - right * ahead.x, up).setLength(distance);
    this.camera.position.copy(this.#controls.target).add(this.#step);
    this.#controls.update();
  }

  /**
   * Goes back, or nearer, until places (Vector3) are seen, and what is within BODY of them; the direction stays.
   *
   * A place p at r = p - c from the middle c is seen where |r right| <= (d - r D) tan(half the angle of view), for a
   * camera at c + d D; alike for up.
   */
  frame(places) {
    if (!places.length) return;
    const box = new THREE.Box3().setFromPoints(places).expandByScalar(BODY);
    const middle = box.getCenter(new THREE.Vector3());
    const [right, up, back] = [0, 1, 2].map((i) => new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, i));
    const tall = Math.tan((this.camera.fov * Math.PI) / 360);
    let distance = 1;
    for (const place of places) {
      const from = place.clone().sub(middle);
      const [aside, above] = [right, up].map((axis) => Math.abs(from.dot(axis)) + BODY);
      distance = Math.max(distance, Math.max(aside / this.camera.aspect, above) / tall + from.dot(back));
    }
    this.#controls.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(back, distance);
    this.#controls.update();
  }

  /** One step of following and of the controls' damping; true if the camera moved. */
  glide(root, seconds) {
    this.#wanted.set(root.x, root.y, 0.12 + 0.78 * root.z); // a body that falls shall not drag the view down
    if (!this.#anchor) this.#start();
    let moved = false;
    if (this.follow && !this.held) {
      this.#step.copy(this.#wanted).sub(this.#anchor);
      const far = this.#step.length();
      if (far < LEAP) this.#step.multiplyScalar(1 - Math.exp(-seconds / LAG));
      this.#anchor.add(this.#step);
      this.#controls.target.add(this.#step);
      this.camera.position.add(this.#step);
      moved = far > 1e-4;
    }
    moved = this.#controls.update(seconds) || moved;
    if (this.camera.position.z < FLOOR) {
      this.camera.position.z = FLOOR;
      this.camera.lookAt(this.#controls.target);
    }
    return moved;
  }

  dispose() {
    this.#controls.dispose();
  }

  #start() {
    this.#anchor = this.#wanted.clone();
    this.#controls.target.copy(this.#wanted);
    this.camera.position.copy(this.#wanted).add(new THREE.Vector3(3.4, -2.3, 0.75));
    this.camera.lookAt(this.#wanted);
    this.camera.updateMatrixWorld();
  }
}

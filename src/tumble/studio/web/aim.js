/**
 * From a place on the screen to a place in the world, and how to throw a ball there.
 *
 *   const aim = new Aim(canvas, camera, figure);
 *   const hit = aim.body(x, y, slack);      // { name, bone, group, point } of what lies there, or null
 *   const point = aim.anywhere(x, y);       // on a body, or on the ground, or as far as the character
 */

import { THREE } from "nicegui-scene";

const GRAVITY = 9.81;
const FARTHEST = 30; // m
const UP = new THREE.Vector3(0, 0, 1);

export class Aim {
  #canvas;
  #camera;
  #figure;
  #caster = new THREE.Raycaster();
  #plane = new THREE.Plane();
  #spot = new THREE.Vector2();

  constructor(canvas, camera, figure) {
    [this.#canvas, this.#camera, this.#figure] = [canvas, camera, figure];
  }

  /** The body under a place on the screen. Fingers are thick: within `slack` pixels counts as well. */
  body(x, y, slack = 0) {
    this.#figure.object.updateMatrixWorld();
    for (let i = 0; i < (slack ? 17 : 1); i++) {
      const radius = i === 0 ? 0 : i <= 8 ? slack / 2 : slack;
      const angle = (i * Math.PI) / 4;
      const ray = this.#ray(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
      const [hit] = ray.intersectObject(this.#figure.object, true);
      if (!hit) continue;
      const index = hit.object.userData.body;
      const { name, bone } = this.#figure.scene.bodies[index];
      return { name, bone, group: this.#figure.groups[index], point: hit.point };
    }
    return null;
  }

  /** The thing of the set under a place on the screen: its name, and the point that is hit; null where there is none. */
  thing(x, y) {
    this.#figure.object.updateMatrixWorld();
    const [hit] = this.#ray(x, y).intersectObject(this.#figure.object, true);
    const name = hit?.object.userData.prop;
    return name ? { name, point: hit.point } : null;
  }

  /** Where the plane at a height, m, is met, or null. */
  level(x, y, height) {
    this.#plane.set(UP, -height);
    return this.#ray(x, y).ray.intersectPlane(this.#plane, new THREE.Vector3());
  }

  /** Where the plane through a point that faces the camera is met, or null. */
  facing(x, y, point) {
    this.#plane.setFromNormalAndCoplanarPoint(this.#camera.getWorldDirection(new THREE.Vector3()), point);
    return this.#ray(x, y).ray.intersectPlane(this.#plane, new THREE.Vector3());
  }

  /** Where the ground is met, or null if that is too far away to be meant. */
  ground(x, y) {
    this.#plane.set(UP, 0);
    const point = this.#ray(x, y).ray.intersectPlane(this.#plane, new THREE.Vector3());
    return point && point.distanceTo(this.#camera.position) < FARTHEST ? point : null;
  }

  anywhere(x, y) {
    return this.body(x, y)?.point ?? this.ground(x, y) ?? this.facing(x, y, this.#figure.root);
  }

  /** The direction of the line of sight to a point. */
  direction(point) {
    return point.clone().sub(this.#camera.position).normalize();
  }

  /** Where a hand beside the camera would throw from: near the point, but not inside the character. */
  hand(point) {
    const right = new THREE.Vector3().setFromMatrixColumn(this.#camera.matrixWorld, 0);
    const start = this.#camera.position.clone().addScaledVector(right, 0.35).addScaledVector(UP, -0.35);
    const back = start.clone().sub(point);
    const root = this.#figure.root;
    let distance = Math.min(4.5, back.length());
    back.normalize();
    // Away from the point until the character is out of reach of the ball's start.
    do start.copy(point).addScaledVector(back, distance);
    while (start.distanceTo(root) < 1.6 && (distance += 0.2) < 4.8);
    start.z = Math.max(0.4, start.z);
    return start;
  }

  #ray(x, y) {
    const box = this.#canvas.getBoundingClientRect();
    this.#spot.set((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height);
    this.#caster.setFromCamera(this.#spot, this.#camera);
    return this.#caster;
  }
}

/**
 * The velocity that carries a ball from `start` to `point` on the flatter of the two arcs; 45 degrees upwards if the
 * speed is too low. The engine adds gravity before it moves (steps of `dt` s), which is half a step more fall.
 */
export function launch(start, point, speed, dt) {
  const way = point.clone().sub(start);
  const [flat, rise] = [Math.max(1e-3, Math.hypot(way.x, way.y)), way.z];
  const square = speed * speed;
  const inside = square * square - GRAVITY * (GRAVITY * flat * flat + 2 * rise * square);
  const slope = inside < 0 ? 1 : (square - Math.sqrt(inside)) / (GRAVITY * flat);
  const across = speed / Math.hypot(1, slope);
  return new THREE.Vector3((way.x / flat) * across, (way.y / flat) * across, across * slope + 0.5 * GRAVITY * dt);
}

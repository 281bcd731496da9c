/**
 * Centre of mass and support polygon of the scene's own character.
 *
 *   const balance = new Balance();
 *   balance.take(frame, scene, visible);   // with every frame
 *
 * The centre of mass is sum(m_i (x_i + R_i c_i)) / sum(m_i) over the bones. The polygon is the convex hull, seen from
 * above, of the contacts that bear the character; it lies as high as the lowest of them. A line falls from the centre of
 * mass; where it ends within the polygon, polygon and spot are green, else red.
 */

import { THREE } from "nicegui-scene";
import { PALETTE } from "./palette.js";

const ABOVE = 0.008; // m over the ground
const MOST = 40; // corners
const CENTRE = new THREE.Vector3();
const PART = new THREE.Vector3();
const TURN = new THREE.Quaternion();

export class Balance {
  object = new THREE.Group();
  #area = new THREE.Mesh(new THREE.BufferGeometry(), paint(0.35));
  #edge = new THREE.LineLoop(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ toneMapped: false }));
  #centre = new THREE.Mesh(new THREE.SphereGeometry(0.045, 18, 12), paint(0.95));
  #spot = new THREE.Mesh(new THREE.CircleGeometry(0.03, 24), paint(0.95));
  #plumb = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ toneMapped: false }));

  constructor() {
    for (const [part, points] of [[this.#area, MOST], [this.#edge, MOST], [this.#plumb, 2]]) {
      part.geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * points), 3));
      part.frustumCulled = false;
    }
    this.#area.geometry.setIndex(Array.from({ length: MOST - 2 }, (_, i) => [0, i + 1, i + 2]).flat());
    this.#centre.material.depthTest = false; // it is inside the body
    this.object.add(this.#area, this.#edge, this.#centre, this.#spot, this.#plumb);
    this.object.children.forEach((part) => (part.renderOrder = 4));
  }

  /** Where the centre of mass is, m. */
  get place() {
    return this.#centre.position.toArray();
  }

  take(frame, scene, visible) {
    this.object.visible = visible;
    if (!visible) return;
    const centre = centreOfMass(frame, scene);
    const places = [];
    for (let i = 0; i < 3 * frame.bearing; i += 3) {
      places.push([0, 1, 2].map((k) => frame.origin[k] + 0.001 * frame.contacts[i + k]));
    }
    const low = places.length ? Math.min(...places.map((place) => place[2])) : 0;
    const corners = hull(places);
    const color = inside(corners, centre) ? PALETTE.inside : PALETTE.outside;
    for (const part of this.object.children) part.material.color.set(color);
    this.#centre.position.copy(centre);
    this.#spot.position.set(centre.x, centre.y, low + ABOVE);
    put(this.#plumb, [centre.toArray(), this.#spot.position.toArray()]);
    put(this.#edge, corners.map(([x, y]) => [x, y, low + ABOVE]));
    put(this.#area, corners.map(([x, y]) => [x, y, low + ABOVE]));
    this.#area.geometry.setDrawRange(0, 3 * Math.max(0, corners.length - 2));
  }

  dispose() {
    for (const { geometry, material } of this.object.children) {
      geometry.dispose();
      material.dispose();
    }
  }
}

function centreOfMass({ bodies }, scene) {
  CENTRE.set(0, 0, 0);
  let whole = 0;
  for (const i of scene.cast[0].bones) {
    const { mass, centre } = scene.bodies[i];
    const [x, y, z, w, a, b, c] = bodies.subarray(7 * i, 7 * i + 7);
    PART.fromArray(centre).applyQuaternion(TURN.set(a, b, c, w));
    CENTRE.addScaledVector(PART.set(PART.x + x, PART.y + y, PART.z + z), mass);
    whole += mass;
  }
  return CENTRE.divideScalar(whole);
}

/** Corners of the convex hull of places seen from above, turning left (Andrew's monotone chain). */
function hull(places) {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const chain = (points) => {
    const found = [];
    for (const point of points) {
      while (found.length > 1 && left(found.at(-2), found.at(-1), point) <= 0) found.pop();
      found.push(point);
    }
    return found.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...chain(sorted), ...chain(sorted.reverse())];
}

function inside(corners, { x, y }) {
  return corners.length > 2 && corners.every((corner, i) => left(corner, corners[(i + 1) % corners.length], [x, y]) >= 0);
}

/** Above 0 where c lies to the left of the way from a to b. */
function left(a, b, c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

function put(part, places) {
  const position = part.geometry.getAttribute("position");
  position.array.set(places.flat());
  position.needsUpdate = true;
  part.geometry.setDrawRange(0, places.length);
}

function paint(opacity) {
  const look = { transparent: true, opacity, depthWrite: false, toneMapped: false, side: THREE.DoubleSide };
  return new THREE.MeshBasicMaterial(look);
}

/**
 * What the planner thinks, as lines: sampled futures, the best path, the smoothed path.
 *
 *   const lines = new Lines();
 *   lines.take(frame);               // a frame came
 *   lines.draw(camera, root);        // before every picture
 *
 * The futures are one draw call of hairlines that fade along their way. WebGL knows no thicker lines, so a `Ribbon` is
 * a strip of triangles that is turned towards the camera before every picture. Buffers grow when needed and are
 * otherwise filled in place.
 */

import { THREE } from "nicegui-scene";
import { PALETTE } from "./palette.js";

const MM = 0.001;

export class Lines {
  object = new THREE.Group(); // stands at the root: all points are relative to it
  #futures = new Futures();
  #best = new Ribbon(PALETTE.best, 0.012);
  #smooth = new Ribbon(PALETTE.smooth, 0.009);

  constructor() {
    this.object.add(this.#futures.object, this.#best.object, this.#smooth.object);
  }

  take(frame) {
    this.#futures.set(frame);
    this.#best.set(frame.best, MM);
    this.#smooth.set(frame.smooth, MM);
  }

  draw(camera, root, visible) {
    this.object.visible = visible;
    if (!visible) return;
    this.object.position.copy(root);
    this.#best.face(camera, root);
    this.#smooth.face(camera, root);
  }

  dispose() {
    for (const part of [this.#futures, this.#best, this.#smooth]) part.dispose();
  }
}

/** Many paths of equally many points. */
class Futures {
  object;
  #paths = 0;
  #points = 0;

  constructor() {
    const material = new THREE.LineBasicMaterial({
      vertexColors: true, transparent: true, depthTest: false, depthWrite: false, toneMapped: false,
    });
    this.object = new THREE.LineSegments(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false; // else three computes bounds of every frame
    this.object.renderOrder = 2;
  }

  set({ futures, paths, points }) {
    const count = paths > 0 && points > 1;
    this.object.visible = count;
    if (!count) return;
    if (paths !== this.#paths || points !== this.#points) this.#grow(paths, points);
    const positions = this.object.geometry.getAttribute("position");
    for (let i = 0; i < futures.length; i++) positions.array[i] = MM * futures[i];
    positions.needsUpdate = true;
  }

  dispose() {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }

  #grow(paths, points) {
    [this.#paths, this.#points] = [paths, points];
    const color = new THREE.Color(PALETTE.futures);
    const colors = new Float32Array(4 * paths * points);
    const index = [];
    for (let path = 0; path < paths; path++) {
      for (let point = 0; point < points; point++) {
        const vertex = path * points + point;
        colors.set([color.r, color.g, color.b, 0.62 * (1 - (0.5 * point) / points)], 4 * vertex);
        if (point > 0) index.push(vertex - 1, vertex);
      }
    }
    this.object.geometry.dispose();
    this.object.geometry = new THREE.BufferGeometry();
    const positions = new THREE.BufferAttribute(new Float32Array(3 * paths * points), 3);
    this.object.geometry.setAttribute("position", positions.setUsage(THREE.DynamicDrawUsage));
    this.object.geometry.setAttribute("color", new THREE.BufferAttribute(colors, 4));
    this.object.geometry.setIndex(index);
  }
}

/** A thick line: `set` its points, then `face` the camera. It grows thinner towards its end. */
export class Ribbon {
  object;
  count = 0;
  points = new Float32Array(0); // x, y, z of each
  #width;
  #along = new THREE.Vector3();
  #view = new THREE.Vector3();

  constructor(color, width, taper = 0.45) {
    this.#width = width;
    this.taper = taper;
    const material = new THREE.MeshBasicMaterial({
      color, side: THREE.DoubleSide, transparent: true, opacity: 0.92, depthTest: false, depthWrite: false,
      toneMapped: false,
    });
    this.object = new THREE.Mesh(new THREE.BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 5;
  }

  /** Copies points, any array of x, y, z, times a scale. */
  set(points, scale = 1) {
    this.reserve(points.length / 3);
    for (let i = 0; i < points.length; i++) this.points[i] = scale * points[i];
  }

  /** Room for `count` points, which the caller writes into `points`. */
  reserve(count) {
    this.count = count;
    this.object.visible = count > 1;
    if (this.points.length >= 3 * count) return;
    this.points = new Float32Array(3 * count);
    const index = [];
    for (let i = 0; i < count - 1; i++) index.push(2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 1, 2 * i + 3, 2 * i + 2);
    this.object.geometry.dispose();
    this.object.geometry = new THREE.BufferGeometry();
    const positions = new THREE.BufferAttribute(new Float32Array(6 * count), 3);
    this.object.geometry.setAttribute("position", positions.setUsage(THREE.DynamicDrawUsage));
    this.object.geometry.setIndex(index);
  }

  /** Spreads the strip across the line of sight; `origin` is where the object stands in the world. */
  face(camera, origin) {
    if (this.count < 2) return;
    const { points, count } = this;
    const positions = this.object.geometry.getAttribute("position");
    for (let i = 0; i < count; i++) {
      const [before, after] = [3 * Math.max(0, i - 1), 3 * Math.min(count - 1, i + 1)];
      this.#along.set(
        points[after] - points[before], points[after + 1] - points[before + 1], points[after + 2] - points[before + 2],
      );
      this.#view.fromArray(points, 3 * i).add(origin).sub(camera.position);
      const distance = this.#view.length();
      const half = 0.5 * this.#width * (1 - (this.taper * i) / count) * Math.max(1, distance / 5); // seen from afar too
      this.#along.cross(this.#view).setLength(half);
      for (let k = 0; k < 3; k++) {
        const side = this.#along.getComponent(k) || 0; // a path that stands still has no direction
        positions.array[6 * i + k] = points[3 * i + k] + side;
        positions.array[6 * i + 3 + k] = points[3 * i + k] - side;
      }
    }
    this.object.geometry.setDrawRange(0, 6 * (count - 1));
    positions.needsUpdate = true;
  }

  dispose() {
    this.object.geometry.dispose();
    this.object.material.dispose();
  }
}

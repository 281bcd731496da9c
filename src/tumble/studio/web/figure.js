/**
 * The bodies of a scene as meshes, posed by frames and gliding between them.
 *
 *   const figure = new Figure(stage.grid);   // what slabs of ground are covered with
 *   world.add(figure.object);
 *   figure.show(frame, scene);      // a frame came
 *   const moving = figure.glide();  // before every picture; true while it is under way
 *
 * Each body is a group whose children are its geoms; a mesh knows its body as `mesh.userData.body`, an index. Over those
 * of characters that have one is a skin, unless `wear(false)` was said; the parts below are there for rays. A live
 * frame is approached over the time between the last two frames, from where the figure is drawn now, so that 30 frames
 * a second look smooth. Frames of the past and of a pause are shown as they are.
 */

import { THREE } from "nicegui-scene";
import { Skins } from "./skins.js";
import { TILE } from "./stage.js";

const LONGEST = 100; // ms: slower frames are shown after that long, and wait for the next
const AHEAD = 16; // ms: a picture is seen about that long after it is computed
const LEAP = 1.5; // m: a body that is further away was put there (a ball that is thrown, a new start); it does not fly
const SMALL = 0.02; // m: geoms below cast no shadow worth its price

export class Figure {
  object = new THREE.Group();
  scene = null;
  groups = [];
  root = new THREE.Vector3(); // where the root is drawn
  #skins = null;
  #worn = true;
  #geometries = new Map();
  #materials = new Map();
  #stripes = null;
  #grid;
  #shown = new Float32Array(0);
  #from = new Float32Array(0);
  #to = null;
  #arrived = 0;
  #interval = 33;
  #gliding = false;

  constructor(grid) {
    this.#grid = grid.clone();
    this.#grid.repeat.set(1, 1);
  }

  /** Takes a frame; builds the meshes first if its scene is another one. */
  show(frame, scene) {
    const fresh = scene !== this.scene;
    if (fresh) this.#build(scene);
    const jump = fresh || frame.past || frame.paused || !this.#to;
    const passed = frame.arrived - this.#arrived;
    if (passed < 2 * LONGEST) this.#interval += 0.2 * (passed - this.#interval); // arrivals jitter
    this.#arrived = frame.arrived;
    this.#to = frame.bodies;
    this.#from.set(this.#shown);
    this.#gliding = true;
    if (jump) this.#pose(1);
  }

  /** Moves the meshes to where they should be now; true if the next picture will differ. */
  glide(now = performance.now()) {
    if (!this.#gliding) return false;
    const interval = Math.min(LONGEST, Math.max(8, this.#interval));
    this.#pose(Math.min(1, (now - this.#arrived + AHEAD) / interval));
    return this.#gliding;
  }

  /** Draws skins, or the parts of the bodies. */
  wear(worn) {
    this.#worn = worn;
    if (!this.#skins) return;
    this.#skins.object.visible = worn;
    this.#skins.pose();
    for (const [index, group] of this.groups.entries()) {
      for (const mesh of group.children) mesh.visible = !(worn && this.#skins.covers(index));
    }
  }

  /** Index of a body by its name, -1 if there is none. */
  index(name) {
    return this.scene ? this.scene.bodies.findIndex((body) => body.name === name) : -1;
  }

  dispose() {
    this.#skins?.dispose();
    for (const geometry of this.#geometries.values()) geometry.dispose();
    for (const material of this.#materials.values()) material.dispose();
    this.#stripes?.dispose();
    this.#grid.dispose();
    this.object.clear();
  }

  #pose(share) {
    const [from, to, shown] = [this.#from, this.#to, this.#shown];
    for (let at = 0; at < shown.length; at += 7) {
      // The shorter way round: q and -q are the same turn.
      let dot = 0;
      for (let k = 3; k < 7; k++) dot += from[at + k] * to[at + k];
      const sign = dot < 0 ? -1 : 1;
      const far = Math.hypot(to[at] - from[at], to[at + 1] - from[at + 1], to[at + 2] - from[at + 2]);
      const part = far > LEAP ? 1 : share;
      for (let k = 0; k < 3; k++) shown[at + k] = from[at + k] + part * (to[at + k] - from[at + k]);
      for (let k = 3; k < 7; k++) shown[at + k] = from[at + k] + part * (sign * to[at + k] - from[at + k]);
      const group = this.groups[at / 7];
      group.position.fromArray(shown, at);
      group.quaternion.set(shown[at + 4], shown[at + 5], shown[at + 6], shown[at + 3]).normalize();
    }
    if (this.#worn) this.#skins.pose();
    this.root.copy(this.groups[this.scene.root]?.position ?? this.root);
    this.#gliding = share < 1;
  }

  #build(scene) {
    this.object.clear();
    this.scene = scene;
    this.groups = scene.bodies.map((body, index) => {
      const group = new THREE.Group();
      for (const geom of body.geoms) group.add(this.#mesh(geom, body, index));
      this.object.add(group);
      return group;
    });
    this.#skins?.dispose();
    this.#skins = new Skins(scene, this.groups, (color) => this.#material(color, false));
    this.object.add(this.#skins.object);
    this.wear(this.#worn);
    this.#shown = new Float32Array(7 * scene.bodies.length);
    this.#from = new Float32Array(7 * scene.bodies.length);
  }

  #mesh(geom, body, index) {
    const striped = geom.kind === "sphere" && !body.bone;
    const material = geom.slab ? this.#slab() : this.#material(geom.color, striped);
    const mesh = new THREE.Mesh(this.#geometry(geom), material);
    mesh.position.fromArray(geom.pos);
    mesh.quaternion.set(geom.quat[1], geom.quat[2], geom.quat[3], geom.quat[0]);
    if (geom.kind === "ellipsoid") mesh.scale.fromArray(geom.size);
    mesh.castShadow = Math.max(...geom.size) > SMALL;
    mesh.receiveShadow = true;
    mesh.userData.body = index;
    mesh.userData.prop = geom.prop ?? null; // the thing of the set that it is of
    return mesh;
  }

  #geometry(geom) {
    // an ellipsoid is a unit sphere, scaled; a slab's grid is that of the ground, wherever it lies
    const { kind, size, pos, slab } = geom;
    const own = kind === "mesh" ? `mesh ${geom.mesh}` : `${kind} ${size}`;
    const key = kind === "ellipsoid" ? kind : slab ? `slab ${size} ${pos}` : own;
    if (!this.#geometries.has(key)) {
      const geometry = kind === "mesh" ? makeMesh(geom) : makeGeometry(kind, size);
      this.#geometries.set(key, slab ? gridded(geometry, pos) : geometry);
    }
    return this.#geometries.get(key);
  }

  /** What slabs of ground are made of: lit, so that their walls are darker, and in shadow where somebody stands. */
  #slab() {
    if (!this.#materials.has("slab")) {
      this.#materials.set("slab", new THREE.MeshStandardMaterial({ color: "#e6e8ec", map: this.#grid, roughness: 1 }));
    }
    return this.#materials.get("slab");
  }

  #material(color, striped) {
    const key = `${color} ${striped}`;
    if (!this.#materials.has(key)) {
      if (striped) this.#stripes ??= makeStripes();
      const map = striped ? this.#stripes : null;
      this.#materials.set(key, new THREE.MeshStandardMaterial({ color, map, roughness: 0.62, metalness: 0 }));
    }
    return this.#materials.get(key);
  }
}

function makeGeometry(kind, size) {
  if (kind === "capsule") return new THREE.CapsuleGeometry(size[0], 2 * size[1], 6, 16).rotateX(Math.PI / 2);
  if (kind === "box") return new THREE.BoxGeometry(2 * size[0], 2 * size[1], 2 * size[2]);
  if (kind === "cylinder") return new THREE.CylinderGeometry(size[0], size[0], 2 * size[1], 32).rotateX(Math.PI / 2);
  if (kind === "sphere") return new THREE.SphereGeometry(size[0], ...(size[0] > 0.25 ? [48, 32] : [24, 16]));
  return new THREE.SphereGeometry(1, 20, 14);
}

/** A mesh of a robot's file, each triangle flat. */
function makeMesh({ points, triangles }) {
  const shared = new THREE.BufferGeometry();
  shared.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  shared.setIndex(triangles);
  const flat = shared.toNonIndexed();
  flat.computeVertexNormals();
  shared.dispose();
  return flat;
}

/** Has a picture lie on a box as on the plane below it: its place there is that of the world. */
function gridded(geometry, [x, y]) {
  const at = geometry.getAttribute("position");
  const uv = geometry.getAttribute("uv");
  for (let i = 0; i < at.count; i++) uv.setXY(i, (x + at.getX(i)) / TILE, (y + at.getY(i)) / TILE);
  return geometry;
}

/** A ball in one colour would not be seen to roll. */
function makeStripes() {
  const canvas = document.createElement("canvas");
  canvas.width = 256;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  for (let i = 0; i < 8; i++) {
    context.fillStyle = i % 2 ? "#ffffff" : "#c9ccd2";
    context.fillRect(32 * i, 0, 32, 1);
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

/**
 * The skins of a scene: surfaces over the bodies of characters, which bend with them.
 *
 *   const skins = new Skins(scene, groups, material);   // groups: of the bodies, which frames pose; material(color)
 *   world.add(skins.object);
 *   skins.pose();                                       // whenever the groups were posed
 *   skins.covers(body);                                 // whether a skin is over that body
 *
 * Bones are the bodies and, between two, a hinge that turns by half as much (tumble.figures.worn); tumble.studio.skins
 * tells what the numbers are. Skins are seen, not touched: rays meet the bodies below.
 */

import { THREE } from "nicegui-scene";

export class Skins {
  object = new THREE.Group();
  #wearers = [];
  #geometries = [];
  #covered = new Set();

  constructor({ skins }, groups, material) {
    this.#geometries = skins.shapes.map(makeShape);
    for (const { shape, bodies, colors } of skins.wearers) {
      const wearer = new Wearer(skins.shapes[shape], bodies.map((body) => groups[body]));
      this.object.add(...wearer.hinges, wearer.dress(this.#geometries[shape], colors.map(material)));
      this.#wearers.push(wearer);
      for (const body of bodies) this.#covered.add(body);
    }
  }

  pose() {
    for (const wearer of this.#wearers) wearer.pose();
  }

  covers(body) {
    return this.#covered.has(body);
  }

  /** Frees what it made; materials are whose they are. */
  dispose() {
    for (const { skeleton } of this.#wearers) skeleton.dispose();
    for (const geometry of this.#geometries) geometry.dispose();
  }
}

/** Somebody with a skin: the bodies, and the hinges between them. */
class Wearer {
  #bodies;
  #parents;
  #back; // turns of the bodies at rest, inverted
  #arms; // from the places of the bodies to their hinges, at rest
  #away; // how the bodies are turned away from rest

  constructor({ parents, rest, hinges }, bodies) {
    const places = rest.map((row) => new THREE.Vector3(...row.slice(0, 3)));
    const turns = rest.map(([, , , w, x, y, z]) => new THREE.Quaternion(x, y, z, w));
    const joints = hinges.map((place) => new THREE.Vector3(...place));
    this.#bodies = bodies;
    this.#parents = parents;
    this.#back = turns.map((turn) => turn.clone().invert());
    this.#arms = joints.map((joint, i) => joint.clone().sub(places[i]));
    this.#away = turns.map(() => new THREE.Quaternion());
    this.hinges = joints.map(() => new THREE.Object3D());
    const one = new THREE.Vector3(1, 1, 1);
    const inverses = [
      ...places.map((place, i) => new THREE.Matrix4().compose(place, turns[i], one).invert()),
      ...joints.map((joint) => new THREE.Matrix4().makeTranslation(...joint.negate().toArray())),
    ];
    this.skeleton = new THREE.Skeleton([...bodies, ...this.hinges], inverses);
  }

  dress(geometry, materials) {
    const mesh = new THREE.SkinnedMesh(geometry, materials);
    mesh.bindMode = "detached"; // its bones are in the world, where it stays
    mesh.bind(this.skeleton, new THREE.Matrix4());
    mesh.frustumCulled = false; // its box is that at rest
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.raycast = () => {};
    return mesh;
  }

  pose() {
    this.#bodies.forEach((body, i) => this.#away[i].multiplyQuaternions(body.quaternion, this.#back[i]));
    this.hinges.forEach((hinge, i) => {
      const [own, above] = [this.#away[i], this.#away[Math.max(0, this.#parents[i])]];
      hinge.position.copy(this.#arms[i]).applyQuaternion(own).add(this.#bodies[i].position);
      hinge.quaternion.copy(above).slerp(own, 0.5);
    });
  }
}

/** A surface of several colours, each a group of the geometry. */
function makeShape({ size, points, normals, joints, weights, triangles, counts }) {
  const geometry = new THREE.BufferGeometry();
  const attribute = (name, numbers, width, normalized) =>
    geometry.setAttribute(name, new THREE.BufferAttribute(numbers, width, normalized));
  attribute("position", Float32Array.from(new Int16Array(bytes(points)), (number) => size * number), 3);
  attribute("normal", Float32Array.from(new Int8Array(bytes(normals)), (number) => number / 127), 3);
  attribute("skinIndex", new Uint8Array(bytes(joints)), 4);
  attribute("skinWeight", new Uint8Array(bytes(weights)), 4, true);
  geometry.setIndex(new THREE.BufferAttribute(new Uint16Array(bytes(triangles)), 1));
  let start = 0;
  counts.forEach((count, i) => {
    geometry.addGroup(3 * start, 3 * count, i);
    start += count;
  });
  return geometry;
}

function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
}

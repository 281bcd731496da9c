/**
 * Things of the set under a hand: an outline of the one that is chosen, and what is carried, seen through, until it is
 * put down.
 *
 *   const carry = new Carry(figure);
 *   carry.show("stairs", delta);      // before every picture: the chosen thing, and how far it is carried, or null
 */

import { THREE } from "nicegui-scene";
import { PALETTE } from "./palette.js";

export class Carry {
  object = new THREE.Group();
  #figure;
  #frame = new THREE.Box3Helper(new THREE.Box3(), PALETTE.wanted);
  #ghost = new THREE.Group();
  #paint = new THREE.MeshLambertMaterial({ color: PALETTE.wanted, transparent: true, opacity: 0.4, depthWrite: false });
  #box = new THREE.Box3();
  #carried = "";

  constructor(figure) {
    this.#figure = figure;
    this.object.add(this.#frame, this.#ghost);
  }

  /** `name` of the chosen thing, or ""; `carried`: its name and how far it is carried, { name, by }, or null. */
  show(name, carried) {
    const meshes = this.#meshes(carried?.name ?? name);
    this.#frame.visible = meshes.length > 0;
    if (meshes.length) {
      this.#box.makeEmpty();
      for (const mesh of meshes) this.#box.expandByObject(mesh);
      this.#frame.box.copy(this.#box).expandByScalar(0.01);
    }
    this.#ghost.visible = !!carried?.by;
    if (!carried?.by) {
      this.#carried = "";
      return;
    }
    if (this.#carried !== carried.name) this.#copy(meshes);
    this.#carried = carried.name;
    this.#ghost.position.copy(carried.by);
    this.#frame.box.translate(carried.by);
  }

  /** Corners of the boxes around all things whose middle is nearer to a place than so many m. */
  corners(place, near) {
    const found = [];
    this.#figure.object.traverse((mesh) => {
      if (!mesh.userData.prop) return;
      const { min, max } = this.#box.setFromObject(mesh);
      if (this.#box.getCenter(new THREE.Vector3()).distanceTo(place) > near) return;
      for (const x of [min.x, max.x]) for (const y of [min.y, max.y]) for (const z of [min.z, max.z])
        found.push(new THREE.Vector3(x, y, z));
    });
    return found;
  }

  dispose() {
    this.#frame.geometry.dispose();
    this.#frame.material.dispose();
    this.#paint.dispose();
  }

  #copy(meshes) {
    this.#ghost.clear();
    for (const mesh of meshes) {
      mesh.updateWorldMatrix(true, false);
      const copy = new THREE.Mesh(mesh.geometry, this.#paint);
      copy.matrixAutoUpdate = false;
      copy.matrix.copy(mesh.matrixWorld);
      this.#ghost.add(copy);
    }
  }

  #meshes(name) {
    const found = [];
    if (name) this.#figure.object.traverse((mesh) => mesh.userData.prop === name && found.push(mesh));
    return found;
  }
}

/**
 * Onion skin: everybody as they stood every n frames ago, seen through, paler the longer ago.
 *
 *   const onion = new Onion(figure, past);
 *   onion.take(frame, scene, every);   // with every frame; nothing is drawn where `every` is 0
 *
 * A ghost shares its shapes with the figure, and is made once a scene. Ghosts stand at ticks that n divides, so that
 * they stay where they are until the next one comes.
 */

import { THREE } from "nicegui-scene";
import { PALETTE } from "./palette.js";

const MOST = 6; // ghosts

export class Onion {
  object = new THREE.Group();
  #figure;
  #past;
  #scene = null;
  #ghosts = [];
  #paints = Array.from({ length: MOST }, (_, i) => {
    const opacity = 0.34 * (1 - i / (MOST + 1));
    return new THREE.MeshLambertMaterial({ color: PALETTE.onion, transparent: true, opacity, depthWrite: false });
  });

  constructor(figure, past) {
    [this.#figure, this.#past] = [figure, past];
  }

  /** Ghosts that are drawn. */
  get shown() {
    return this.object.visible ? this.#ghosts.filter(({ visible }) => visible).length : 0;
  }

  take(frame, scene, every) {
    this.object.visible = every > 0;
    if (!every) return;
    if (scene !== this.#scene) this.#build(scene);
    const last = Math.floor((frame.tick - 1) / every) * every;
    this.#ghosts.forEach((ghost, i) => this.#pose(ghost, this.#past.at(last - i * every)));
  }

  dispose() {
    for (const paint of this.#paints) paint.dispose();
  }

  #build(scene) {
    this.#scene = scene;
    this.object.clear();
    this.#ghosts = this.#paints.map((paint) => {
      const ghost = new THREE.Group();
      for (const body of scene.cast.flatMap((one) => one.bones)) {
        const bone = new THREE.Group();
        bone.userData.body = body;
        for (const mesh of this.#figure.groups[body].children) {
          const copy = new THREE.Mesh(mesh.geometry, paint);
          copy.position.copy(mesh.position);
          copy.quaternion.copy(mesh.quaternion);
          copy.scale.copy(mesh.scale);
          bone.add(copy);
        }
        ghost.add(bone);
      }
      this.object.add(ghost);
      return ghost;
    });
  }

  #pose(ghost, poses) {
    ghost.visible = !!poses;
    for (const bone of poses ? ghost.children : []) {
      const at = 7 * bone.userData.body;
      bone.position.fromArray(poses, at);
      bone.quaternion.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
    }
  }
}

/**
 * Metre marks: three rulers beside whom one follows, along x, y and z, with a number at every whole metre.
 *
 *   const metres = new Metres();
 *   metres.draw(place, visible);   // before every picture; they move on by whole metres
 */

import { THREE } from "nicegui-scene";
import { PALETTE } from "./palette.js";

const REACH = 4; // m to both sides
const HEIGHTS = [0.5, 1, 1.5, 2];
const TALL = 0.11; // m, of a number

export class Metres {
  object = new THREE.Group();
  #key = "";
  #textures = new Map(); // by text

  draw(place, visible) {
    this.object.visible = visible;
    const [x, y] = [Math.round(place.x), Math.round(place.y)];
    if (!visible || this.#key === `${x} ${y}`) return;
    this.#key = `${x} ${y}`;
    this.#clear();
    const corner = new THREE.Vector3(x - 1, y - 1, 0.01);
    const line = [];
    const mark = (text, ...at) => this.#mark(text, corner.clone().add(new THREE.Vector3(...at)));
    const stretch = (from, to) => line.push(corner.clone().add(from), corner.clone().add(to));
    stretch(new THREE.Vector3(1 - REACH, 0, 0), new THREE.Vector3(1 + REACH, 0, 0));
    stretch(new THREE.Vector3(0, 1 - REACH, 0), new THREE.Vector3(0, 1 + REACH, 0));
    stretch(new THREE.Vector3(), new THREE.Vector3(0, 0, HEIGHTS.at(-1)));
    for (let k = 1 - REACH; k <= 1 + REACH; k++) {
      if (k) mark(`x ${corner.x + k}`, k, 0, 0.06);
      if (k) mark(`y ${corner.y + k}`, 0, k, 0.06);
    }
    for (const height of HEIGHTS) {
      stretch(new THREE.Vector3(-0.05, 0, height), new THREE.Vector3(0.05, 0, height));
      mark(`${height} m`, -0.2, 0, height);
    }
    const paint = new THREE.LineBasicMaterial({ color: PALETTE.metres, toneMapped: false });
    this.object.add(new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(line), paint));
  }

  dispose() {
    this.#clear();
    for (const texture of this.#textures.values()) texture.dispose();
  }

  #clear() {
    for (const part of this.object.children) {
      part.geometry.dispose();
      part.material.dispose();
    }
    this.object.clear();
  }

  #mark(text, at) {
    if (!this.#textures.has(text)) this.#textures.set(text, written(text));
    const map = this.#textures.get(text);
    const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthWrite: false, toneMapped: false }));
    sprite.position.copy(at);
    sprite.scale.set((TALL * map.image.width) / map.image.height, TALL, 1);
    this.object.add(sprite);
  }
}

function written(text) {
  const canvas = document.createElement("canvas");
  canvas.width = 22 * text.length + 16;
  canvas.height = 44;
  const context = canvas.getContext("2d");
  context.font = "600 34px system-ui, sans-serif";
  context.fillStyle = PALETTE.metres;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, canvas.width / 2, 23);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

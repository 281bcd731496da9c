/**
 * Marks in the scene: contacts, the target and how to face there, the wanted velocity, the spring of a drag, the flash
 * of a push or a blast.
 *
 *   const marks = new Marks();
 *   marks.take(frame);                                  // a frame came
 *   marks.draw(camera, root, { contacts, drag, way });  // before every picture; true while a flash is under way
 *   marks.flash(point, color, radius);
 *
 * `drag` is the pair of points of the page's own drag, or null: it is drawn at once, while that of somebody else comes
 * with the frames. So is `way`, two points of the ground: the place that is pointed at, and where to face from there.
 */

import { THREE } from "nicegui-scene";
import { Ribbon } from "./lines.js";
import { PALETTE } from "./palette.js";

const COILS = 7;
const SPRING = 60; // points of the spring
const CONTACTS = 64; // shown at most
const FLASH = 420; // ms
const FACING = 0.35; // m, length of an arrow's shaft that only tells a heading

export class Marks {
  object = new THREE.Group();
  #contacts = makeContacts();
  #target = makeTarget();
  #arrow = makeArrow(PALETTE.wanted);
  #facing = makeArrow(PALETTE.target);
  #spring = new Ribbon(PALETTE.drag, 0.011, 0);
  #ends = [0.02, 0.03].map((radius) => makeDot(PALETTE.drag, radius));
  #flashes = [];
  #dragged = null; // of the frame
  #wanted = null;
  #place = null;
  #heading = null;
  #from = new THREE.Vector3();
  #to = new THREE.Vector3();
  #side = new THREE.Vector3();

  constructor() {
    this.object.add(this.#contacts, this.#target, this.#arrow, this.#facing, this.#spring.object, ...this.#ends);
  }

  take(frame) {
    this.#dragged = frame.drag;
    this.#wanted = frame.wanted;
    this.#heading = frame.heading;
    this.#place = frame.target;
    const count = Math.min(CONTACTS, frame.contacts.length / 3);
    const positions = this.#contacts.geometry.getAttribute("position");
    for (let i = 0; i < 3 * count; i++) positions.array[i] = 0.001 * frame.contacts[i];
    positions.needsUpdate = true;
    this.#contacts.geometry.setDrawRange(0, count);
    this.#contacts.position.fromArray(frame.origin);
  }

  draw(camera, root, { contacts, drag, way }) {
    this.#contacts.visible = contacts;
    this.#target.quaternion.copy(camera.quaternion);
    this.#point(root);
    this.#face(root, way);
    this.#stretch(camera, drag);
    return this.#fade(camera);
  }

  /** A ring that widens and fades at a point: something happened here. */
  flash(point, color, radius) {
    const ring = new THREE.Mesh(new THREE.RingGeometry(0.94, 1, 48), makePaint(color, 0.8));
    ring.position.copy(point);
    ring.renderOrder = 6;
    this.object.add(ring);
    this.#flashes.push({ ring, radius, start: performance.now() });
  }

  dispose() {
    this.#flashes.forEach(({ ring }) => this.object.add(ring));
    this.object.traverse((part) => {
      part.geometry?.dispose();
      part.material?.map?.dispose();
      part.material?.dispose();
    });
  }

  #point(root) {
    const speed = this.#wanted ? Math.hypot(this.#wanted[0], this.#wanted[1]) : 0;
    this.#arrow.visible = speed > 0.02;
    if (!this.#arrow.visible) return;
    lay(this.#arrow, root, Math.atan2(this.#wanted[1], this.#wanted[0]), 0.12 + 0.4 * speed);
  }

  /** The target, and the arrow of a heading: of the page's own pointing, at the target, or before the feet. */
  #face(root, own) {
    this.#target.visible = !!own || !!this.#place;
    if (own) this.#target.position.copy(own[0]);
    else if (this.#place) this.#target.position.fromArray(this.#place);
    this.#facing.visible = !!own || this.#heading !== null;
    if (own) {
      const [x, y] = [own[1].x - own[0].x, own[1].y - own[0].y];
      lay(this.#facing, own[0], Math.atan2(y, x), Math.max(0.05, Math.hypot(x, y) - REACH));
    } else if (this.#facing.visible) {
      lay(this.#facing, this.#target.visible ? this.#target.position : root, this.#heading, FACING);
    }
  }

  #stretch(camera, own) {
    const shown = own || this.#dragged;
    this.#spring.object.visible = !!shown;
    for (const end of this.#ends) end.visible = !!shown;
    if (!shown) return;
    if (own) {
      this.#from.copy(own[0]);
      this.#to.copy(own[1]);
    } else {
      this.#from.fromArray(shown, 0);
      this.#to.fromArray(shown, 3);
    }
    this.#ends[0].position.copy(this.#from);
    this.#ends[1].position.copy(this.#to);
    const [from, to] = [this.#from, this.#to];
    const length = from.distanceTo(to);
    this.#side.copy(to).sub(from).cross(this.#view(camera)).normalize();
    const swing = 0.035 * Math.min(1, length / 0.1); // m; a short spring has no room for coils
    this.#spring.reserve(SPRING);
    for (let i = 0; i < SPRING; i++) {
      const share = i / (SPRING - 1);
      const wave = swing * Math.sin(2 * Math.PI * COILS * share) * Math.min(1, 8 * share, 8 * (1 - share));
      for (let k = 0; k < 3; k++) {
        const straight = from.getComponent(k) + share * (to.getComponent(k) - from.getComponent(k));
        this.#spring.points[3 * i + k] = straight + wave * this.#side.getComponent(k);
      }
    }
    this.#spring.face(camera, ZERO);
  }

  #view(camera) {
    return VIEW.copy(this.#from).sub(camera.position);
  }

  #fade(camera) {
    const now = performance.now();
    this.#flashes = this.#flashes.filter(({ ring, radius, start }) => {
      const share = (now - start) / FLASH;
      if (share >= 1) {
        this.object.remove(ring);
        ring.geometry.dispose();
        ring.material.dispose();
        return false;
      }
      ring.quaternion.copy(camera.quaternion);
      ring.scale.setScalar(radius * (0.15 + 0.85 * (1 - (1 - share) ** 3)));
      ring.material.opacity = 0.8 * (1 - share);
      return true;
    });
    return this.#flashes.length > 0;
  }
}

const [START, TIP] = [0.3, 0.2]; // m from an arrow's place to its shaft; length of its head
const REACH = START + TIP;
const ZERO = new THREE.Vector3();
const VIEW = new THREE.Vector3();

function makePaint(color, opacity) {
  const paint = { color, opacity, transparent: true, depthTest: false, depthWrite: false, toneMapped: false };
  return new THREE.MeshBasicMaterial({ ...paint, side: THREE.DoubleSide });
}

function makeDot(color, radius) {
  const dot = new THREE.Mesh(new THREE.SphereGeometry(radius, 14, 10), makePaint(color, 0.95));
  dot.renderOrder = 6;
  return dot;
}

function makeTarget() {
  const target = new THREE.Group();
  const ring = new THREE.Mesh(new THREE.RingGeometry(0.082, 0.094, 48), makePaint(PALETTE.target, 0.9));
  const glow = new THREE.Mesh(new THREE.PlaneGeometry(0.5, 0.5), makePaint(PALETTE.target, 0.55));
  glow.material.map = spot(0);
  glow.renderOrder = 4;
  ring.renderOrder = 6;
  target.add(glow, ring, makeDot(PALETTE.target, 0.034));
  target.visible = false;
  return target;
}

/** Lays an arrow on the ground at a place; its shaft has a length in m. */
function lay(arrow, place, heading, length) {
  const [shaft, head] = arrow.children;
  arrow.position.set(place.x, place.y, 0.006);
  arrow.rotation.z = heading;
  shaft.scale.x = length;
  head.position.x = START + length;
}

/** Lies on the ground in front of the feet, pointing along x. */
function makeArrow(color) {
  const arrow = new THREE.Group();
  const paint = makePaint(color, 0.8);
  paint.depthTest = true; // it lies on the ground, behind the feet
  const shaft = new THREE.Mesh(new THREE.PlaneGeometry(1, 0.05).translate(0.5, 0, 0), paint);
  const tip = new THREE.Shape([new THREE.Vector2(0, 0.1), new THREE.Vector2(TIP, 0), new THREE.Vector2(0, -0.1)]);
  const head = new THREE.Mesh(new THREE.ShapeGeometry(tip), paint);
  shaft.position.x = START;
  shaft.renderOrder = head.renderOrder = 3;
  arrow.add(shaft, head);
  arrow.visible = false;
  return arrow;
}

function makeContacts() {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * CONTACTS), 3));
  const material = new THREE.PointsMaterial({
    color: PALETTE.contact, map: spot(0.7), size: 0.07, transparent: true, depthTest: false, depthWrite: false,
    toneMapped: false,
  });
  const contacts = new THREE.Points(geometry, material);
  contacts.frustumCulled = false;
  contacts.renderOrder = 4;
  return contacts;
}

/** A round white spot, solid out to a share of its radius, then fading. */
function spot(solid) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const context = canvas.getContext("2d");
  const shade = context.createRadialGradient(32, 32, 32 * solid, 32, 32, 32);
  shade.addColorStop(0, "rgba(255,255,255,1)");
  shade.addColorStop(1, "rgba(255,255,255,0)");
  context.fillStyle = shade;
  context.fillRect(0, 0, 64, 64);
  return new THREE.CanvasTexture(canvas);
}

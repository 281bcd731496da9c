/**
 * What stands around the figure: the renderer, the light, the ground and the mist.
 *
 *   const stage = new Stage(canvas);
 *   stage.world.add(figure.object);
 *   stage.resize(width, height);
 *   stage.draw(camera, root, slope);   // light, ground and shadow follow the root
 *
 * The ground is not lit: its colour is exact, and its shadow is a second, small plane. Without a graphics card the
 * processor draws, which may be the one that plans: then edges stay rough, `due` keeps pictures apart, and the ground
 * is blurred by distance (its sharp filter alone made a picture take half a second). If pictures still come too slowly,
 * there or elsewhere, fewer pixels are drawn.
 */

import { THREE } from "nicegui-scene";
import { DARK, PALETTE } from "./palette.js";

const REACH = 3.2; // m around the root that casts a shadow
const SLOW = 30; // ms between pictures: above, fewer pixels are drawn
const APART = 60; // ms that pictures are kept apart without a graphics card; twice that while the simulation is late
const SOFT_SLOW = 160; // ms; SLOW, there
const MIST = [7, 26]; // m from the camera where the mist begins and where it hides all; farther for who looks from afar
export const TILE = 2; // m of ground that one copy of the grid's picture covers

export class Stage {
  world = new THREE.Scene();
  drawn = 0; // pictures so far
  soft = isSoft(); // without a graphics card
  late = false; // whether the simulation is slower than it should be
  #renderer;
  #sun = new THREE.DirectionalLight("#fff3e0", 2.0);
  #ground = makeGround(this.soft ? 1 : 8);
  #shade;
  #ratios; // pixels a CSS pixel: the present one, then what is left to go down to
  #width = 1;
  #height = 1;
  #last = 0;
  #pace = 16;
  #since = 0;

  /** The picture of the ground: a copy of it is TILE m wide. */
  get grid() {
    return this.#ground.material.map;
  }

  constructor(canvas) {
    const finest = Math.min(this.soft ? 1 : 2, window.devicePixelRatio || 1);
    this.#ratios = [finest, 1, 0.75].filter((ratio, i) => i === 0 || ratio < finest);
    this.#renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.soft, powerPreference: "high-performance" });
    this.#renderer.setPixelRatio(this.#ratios[0]);
    this.#renderer.toneMapping = THREE.NoToneMapping; // the lights add up to about 1: colours stay what they are
    this.#renderer.shadowMap.enabled = true;
    this.#renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.world.background = new THREE.Color(PALETTE.background);
    this.world.fog = new THREE.Fog(PALETTE.background, ...MIST);

    const sky = new THREE.HemisphereLight("#f4f8ff", "#b9b4ae", 2.0);
    sky.position.set(0, 0, 1); // three's default is y up
    this.#sun.castShadow = true;
    this.#sun.shadow.mapSize.set(1024, 1024);
    this.#sun.shadow.normalBias = 0.015;
    this.#sun.shadow.radius = 3;
    const [left, right, top, bottom] = [-REACH, REACH, REACH, -REACH];
    Object.assign(this.#sun.shadow.camera, { left, right, top, bottom, near: 1, far: 16 });
    this.#shade = new THREE.Mesh(
      new THREE.CircleGeometry(1.5 * REACH, 40),
      new THREE.ShadowMaterial({ color: "#1c2a40", opacity: 0.26, depthWrite: false }),
    );
    this.#shade.receiveShadow = true;
    this.#shade.renderOrder = 1;
    this.world.add(sky, this.#sun, this.#sun.target, this.#ground, this.#shade);
  }

  resize(width, height) {
    [this.#width, this.#height] = [Math.max(1, width), Math.max(1, height)];
    this.#renderer.setSize(this.#width, this.#height, false);
  }

  /** Dark colours, or light ones. */
  setDark(dark) {
    const colors = dark ? DARK : PALETTE;
    this.world.background.set(colors.background);
    this.world.fog.color.set(colors.background);
    paintGround(this.grid.image.getContext("2d"), colors);
    this.grid.needsUpdate = true;
  }

  /** Whether it is time for another picture. */
  due(now) {
    return !this.soft || now - this.#last >= (this.late ? 2 : 1) * APART;
  }

  /** slope: rad by which the ground rises along x, about the origin; depth: m that it lies below that. */
  draw(camera, root, slope = 0, depth = 0) {
    this.#save(); // before drawing: another size empties the canvas
    const height = (x) => x * Math.tan(slope) - depth;
    const z = height(root.x);
    this.#sun.target.position.set(root.x, root.y, z + depth + 0.8);
    this.#sun.position.set(root.x + 2.2, root.y - 2.8, z + depth + 8);
    this.#shade.position.set(root.x, root.y, z + 0.002);
    // Whole tiles along the plane, so that the grid stands still while its plane follows.
    const tile = TILE * Math.cos(slope);
    const x = tile * Math.round(camera.position.x / tile);
    this.#ground.position.set(x, TILE * Math.round(camera.position.y / TILE), height(x));
    this.#ground.rotation.y = this.#shade.rotation.y = -slope;
    const far = camera.position.distanceTo(root);
    [this.world.fog.near, this.world.fog.far] = [Math.max(MIST[0], 1.3 * far), Math.max(MIST[1], 4 * far)];
    this.#renderer.render(this.world, camera);
    this.drawn += 1;
  }

  /** Gives the context back: browsers allow only a few a page. Call it before other parts are disposed of. */
  dispose() {
    this.#renderer.forceContextLoss();
    this.#renderer.dispose();
    this.#ground.material.map.dispose();
    for (const mesh of [this.#ground, this.#shade]) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.#sun.dispose();
  }

  /** Fewer pixels, for good, if 40 pictures in a row came too slowly. */
  #save() {
    const now = performance.now();
    const passed = now - this.#last;
    this.#last = now;
    if (passed > 500 || this.#ratios.length === 1) return; // nothing was to be drawn meanwhile
    this.#pace += 0.1 * (passed - this.#pace);
    this.#since = this.#pace > (this.soft ? SOFT_SLOW : SLOW) ? this.#since + 1 : 0;
    if (this.#since < 40) return;
    this.#since = 0;
    this.#ratios.shift();
    this.#renderer.setPixelRatio(this.#ratios[0]);
    this.resize(this.#width, this.#height);
  }
}

/** Whether the processor draws, judged by the name of the renderer. */
function isSoft() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return true;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

function makeGround(anisotropy) {
  const size = 512;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  paintGround(canvas.getContext("2d"), PALETTE);
  const map = new THREE.CanvasTexture(canvas);
  map.wrapS = map.wrapT = THREE.RepeatWrapping;
  map.repeat.set(80 / TILE, 80 / TILE);
  map.anisotropy = anisotropy;
  map.colorSpace = THREE.SRGBColorSpace;
  return new THREE.Mesh(new THREE.PlaneGeometry(80, 80), new THREE.MeshBasicMaterial({ map, toneMapped: false }));
}

function paintGround(context, { ground, grid, fineGrid }) {
  const size = context.canvas.width;
  context.fillStyle = ground;
  context.fillRect(0, 0, size, size);
  for (let i = 0; i < 8; i++) {
    const whole = i % 4 === 0; // a metre; the others are quarters
    context.fillStyle = whole ? grid : fineGrid;
    const [at, wide] = [(i * size) / 8, whole ? 4 : 2];
    for (const start of [at - wide / 2, at - wide / 2 + size]) {
      context.fillRect(start, 0, wide, size);
      context.fillRect(0, start, size, wide);
    }
  }
}

/**
 * A binary frame of the wire, decoded without copying.
 *
 *   const frame = new Frame();
 *   if (frame.read(message.data)) draw(frame.bodies);
 *
 * One Frame is filled again and again. Its arrays are views into the message that was read last, so whoever wants the
 * poses of an earlier frame keeps a reference to the array, not to the frame. Typed arrays read in the byte order of
 * the machine; the wire is little endian, and so is every machine that runs a browser today.
 */

const VERSION = 4;
export const BESIDE = VERSION | 128; // of a frame that is drawn beside the next one
const HEADER = 72; // bytes
const TARGET = 16;
const WANTED = 32;
const DRAG = 64;
const HEADING = 128;
const text = new TextDecoder();

export class Frame {
  /** Fills this frame from an ArrayBuffer; false (and nothing changed) if it is no frame of our version. */
  read(buffer, version = VERSION) {
    if (buffer.byteLength < HEADER) return false;
    const head = new DataView(buffer);
    if (head.getUint8(0) !== version) return false;
    const flags = head.getUint8(1);
    const counts = [56, 58, 60, 62, 64, 68].map((at) => head.getUint16(at, true));
    const [bodies, paths, points, best, smooth, terms] = counts;
    const contacts = head.getUint8(66);
    const sizes = [[TARGET, 3], [WANTED, 2], [DRAG, 6], [HEADING, 1]];
    const extras = sizes.reduce((sum, [flag, size]) => sum + (flags & flag ? size : 0), 0);
    const lines = 3 * (paths * points + best + smooth + contacts);
    if (buffer.byteLength < HEADER + 4 * (7 * bodies + terms + extras) + 2 * lines) return false;

    this.past = !!(flags & 1);
    this.paused = !!(flags & 2);
    this.recording = !!(flags & 4);
    this.broken = !!(flags & 8);
    this.scene = head.getUint16(2, true);
    this.tick = head.getUint32(4, true);
    this.oldest = head.getUint32(8, true);
    this.newest = head.getUint32(12, true);
    this.time = head.getFloat32(16, true); // simulated s
    this.planning = head.getFloat32(20, true); // ms
    this.rate = head.getFloat32(24, true); // frames a second of the loop
    this.factor = head.getFloat32(28, true); // simulated over wall seconds
    this.speed = head.getFloat32(32, true); // the factor that was asked for
    this.effort = head.getFloat32(36, true);
    this.cost = head.getFloat32(40, true);
    this.origin = new Float32Array(buffer, 44, 3);
    this.bearing = head.getUint8(67); // contacts that bear the scene's own character: the first ones
    this.termsId = head.getUint16(70, true);
    this.paths = paths;
    this.points = points;

    let at = HEADER;
    const floats = (count) => {
      const view = new Float32Array(buffer, at, count);
      at += 4 * count;
      return view;
    };
    const shorts = (count) => {
      const view = new Int16Array(buffer, at, count);
      at += 2 * count;
      return view;
    };
    this.bodies = floats(7 * bodies); // position, quaternion (w, x, y, z) of each
    this.terms = floats(terms);
    this.target = flags & TARGET ? floats(3) : null;
    this.wanted = flags & WANTED ? floats(2) : null;
    this.drag = flags & DRAG ? floats(6) : null; // point held, where it is pulled to
    this.heading = flags & HEADING ? floats(1)[0] : null; // rad; at the target where there is one
    this.futures = shorts(3 * paths * points); // these four: mm from the origin
    this.best = shorts(3 * best);
    this.smooth = shorts(3 * smooth);
    this.contacts = shorts(3 * contacts);
    // of the goal's ways, the one that the plan takes; who of several acts; what it does; how time is kept; each may be ""
    [this.way, this.acting = "", this.doing = "", this.keeping = ""] = text.decode(new Uint8Array(buffer, at)).split("\n");
    this.arrived = performance.now();
    return true;
  }
}

/** Whether a frame is of a take, and not of the live world. */
export function isTake({ past, acting }) {
  return past && acting.startsWith("take '");
}

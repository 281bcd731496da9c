/**
 * The socket to the studio: one per page, shared by every component.
 *
 *   import { link } from "tumble-studio/link.js";
 *   link.connect(client);                                  // and link.leave() when done
 *   const off = link.on("frame", (frame) => ...);          // off() ends it
 *   link.send({ type: "release" });                        // dropped while the socket is closed
 *
 * Events: frame, scene, terms, ghosts, controls, error, note, compiling (each with what came), open, close, lost. A lost
 * connection is tried again after 0.3 s, then ever more slowly up to every 3 s; scenes and terms are kept meanwhile.
 * Where it stays lost, `link.lost` says what to do; a page that the studio does not know any more is loaded again.
 *
 * For tests and the browser's console there is `window.tumble`:
 *   tumble.link.frame    the last frame (tick, time, bodies, past, paused, ...: see frame.js), null before the first
 *   tumble.link.frames   how many frames came
 *   tumble.link.beside   what is drawn beside it, or null
 *   tumble.link.scene    description of the scene of the last frame
 *   tumble.link.ghosts   figures beside the character of the last frame: `sticks`, a list of lists of both ends of
 *                        each stick, and `radii` of those; m
 *   tumble.link.controls whether this page holds control
 *   tumble.view          the view that is mounted: its `camera`; `project(body name)`, which gives the
 *                        [clientX, clientY] of that body's origin, or null if there is no such body; `look(view)` and
 *                        `frame()` of the camera; `parts()`, what is drawn beside bodies; `standing()`, the centre of
 *                        mass where that is drawn
 */

import { BESIDE, Frame } from "./frame.js";

const FIRST_DELAY = 300; // ms
const LAST_DELAY = 3000;
const UNKNOWN = 4001; // code of the close for a page that the server has not built, or has forgotten
const DOWN = "The studio does not answer. If it has ended, start it again and open the address that it prints.";
const OTHER = "This page is of a studio that has ended. Open the address that the new one printed in the terminal.";
const NOBODY = { id: 0, sticks: [], radii: [] };

class Link {
  frame = null;
  frames = 0;
  beside = null; // the frame that is drawn beside it, or null
  scenes = new Map(); // descriptions by id
  names = new Map(); // lists of term names by id
  ghosts = NOBODY; // as they were told last, which are those of the next frame
  open = false;
  lost = ""; // what to do about a connection that could not be made again
  client = "";
  dt = 1 / 30; // s, one tick
  controls = false;
  holder = "";
  waiting = [];
  #decoder = new Frame();
  #second = new Frame();
  #next = null; // what came to be drawn beside the next frame
  #listeners = new Map();
  #socket = null;
  #users = 0;
  #delay = FIRST_DELAY;
  #timer = 0;
  #complained = false;

  /** Description of the scene of the last frame, or null. */
  get scene() {
    return (this.frame && this.scenes.get(this.frame.scene)) || null;
  }

  /** Names of the terms of the last frame. */
  get terms() {
    return (this.frame && this.names.get(this.frame.termsId)) || [];
  }

  on(event, listener) {
    if (!this.#listeners.has(event)) this.#listeners.set(event, new Set());
    this.#listeners.get(event).add(listener);
    return () => this.#listeners.get(event).delete(listener);
  }

  /** Opens the socket for a client's id. Every connect() wants a leave(); the last one closes. */
  connect(client) {
    this.#users += 1;
    if (this.#socket && client === this.client) return;
    this.client = client;
    this.#hangUp();
    this.#dial();
  }

  leave() {
    this.#users -= 1;
    if (this.#users === 0) this.#hangUp();
  }

  send(message) {
    if (this.open) this.#socket.send(JSON.stringify(message));
  }

  #emit(event, value) {
    for (const listener of this.#listeners.get(event) ?? []) listener(value);
  }

  #dial() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/live?client=${encodeURIComponent(this.client)}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.open = true;
      this.lost = "";
      this.#emit("open");
    };
    socket.onmessage = ({ data }) => (typeof data === "string" ? this.#hear(JSON.parse(data)) : this.#see(data));
    socket.onclose = ({ code }) => {
      if (code === UNKNOWN) return location.reload();
      if (!this.open) this.#wonder();
      this.#closed();
      this.#timer = setTimeout(() => this.#dial(), this.#delay);
      this.#delay = Math.min(LAST_DELAY, this.#delay * 1.6);
    };
    this.#socket = socket;
  }

  /** Says what to do where dialling failed: nobody answers, or one who does not know this browser. */
  async #wonder() {
    const answer = await fetch("/", { method: "HEAD" }).catch(() => null);
    const lost = !answer ? DOWN : answer.status === 401 ? OTHER : "";
    if (this.open || lost === this.lost) return;
    this.lost = lost;
    this.#emit("lost", lost);
  }

  #hangUp() {
    clearTimeout(this.#timer);
    if (!this.#socket) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = null;
    this.#closed();
  }

  #closed() {
    if (!this.open) return;
    this.open = false;
    this.controls = false;
    this.waiting = [];
    this.#emit("close");
  }

  #see(data) {
    if (this.#second.read(data, BESIDE)) {
      this.#next = this.#second;
      return;
    }
    if (!this.#decoder.read(data)) {
      if (!this.#complained) this.#emit("error", { text: "the studio speaks another version; reload the page" });
      this.#complained = true;
      return;
    }
    this.frame = this.#decoder;
    this.beside = this.#next;
    this.#next = null;
    this.frames += 1;
    this.#emit("frame", this.frame);
  }

  #hear(message) {
    if (message.type === "hello") {
      this.#delay = FIRST_DELAY; // only now: a server that accepts and hangs up is not hammered
      this.dt = message.dt;
      this.ghosts = NOBODY; // who dials again is told anew
    }
    if (message.type === "hello" || message.type === "controls") {
      this.controls = message.controls;
      this.holder = message.holder ?? "";
      this.waiting = message.waiting ?? [];
      this.#emit("controls", this.controls);
      return;
    }
    if (message.type === "scene") this.scenes.set(message.id, message);
    if (message.type === "ghosts") this.ghosts = message;
    if (message.type === "terms") this.names.set(message.id, message.names);
    this.#emit(message.type, message);
  }
}

export const link = new Link();
window.tumble = { link, view: null };

/**
 * What is written over the view: how the simulation goes, who controls it, and messages.
 *
 *   const hud = new Hud(box, () => stage.drawn);
 *
 * It looks at the link with every beat and touches the page only where a text changed. All texts from outside go
 * through textContent. Tests find its parts by data-testid: hud, hud-time, hud-rate, hud-realtime, hud-plan, hud-age,
 * hud-keeping, hud-way, hud-acting, hud-recording, hud-control, hud-compiling, toast.
 */

import { onBeat } from "./beat.js";
import { isTake } from "./frame.js";
import { link } from "./link.js";

const ENOUGH = 0.97; // of the speed asked for counts as reached
const TOAST = 5000; // ms
const PART = `
  <div class="ts-line"><span class="ts-state" data-testid="hud-realtime"></span>
    <span class="ts-recording" data-testid="hud-recording" hidden>recording</span></div>
  <div class="ts-line ts-time" data-testid="hud-time"></div>
  <div class="ts-line"><span class="ts-key">simulated</span><span data-testid="hud-rate"></span></div>
  <div class="ts-line"><span class="ts-key">control</span><span data-testid="hud-plan"></span></div>
  <div class="ts-line" hidden><span class="ts-key">keeps time</span><span data-testid="hud-keeping"></span></div>
  <div class="ts-line"><span class="ts-key">plan age</span><span data-testid="hud-age"></span></div>
  <div class="ts-line"><span class="ts-key">effort</span><span class="ts-effort"><i></i></span></div>
  <div class="ts-line" hidden><span class="ts-key">way</span><span class="ts-way" data-testid="hud-way"></span></div>
  <div class="ts-line" hidden><span class="ts-key">acts</span><span class="ts-way" data-testid="hud-acting"></span></div>`;
const WAYS = { balance: "balancing", "get up": "getting up", roll: "rolling over", goal: "" }; // the last: the only one

export class Hud {
  #box;
  #drawn;
  #card = make("div", "ts-hud", "hud");
  #banner = make("div", "ts-banner", "hud-control");
  #notice = make("div", "ts-compiling", "hud-compiling");
  #toasts = make("div", "ts-toasts", "toast");
  #parts = {};
  #asked = false;
  #count = 0; // pictures at the last count
  #counted = 0; // when that was
  #fps = 0;
  #unbind = [];

  constructor(box, drawn) {
    [this.#box, this.#drawn] = [box, drawn];
    this.#card.innerHTML = PART;
    for (const part of this.#card.querySelectorAll("[data-testid]")) this.#parts[part.dataset.testid.slice(4)] = part;
    this.#parts.effort = this.#card.querySelector(".ts-effort i");
    for (const part of [this.#toasts, this.#notice]) part.setAttribute("role", "status");
    this.#notice.hidden = true;
    box.append(this.#card, this.#banner, this.#notice, this.#toasts);
    this.#unbind.push(onBeat(() => this.#update()));
    this.#unbind.push(link.on("error", ({ text }) => this.toast(text, "error")));
    this.#unbind.push(link.on("note", ({ text }) => this.toast(text, "note")));
    this.#unbind.push(link.on("compiling", ({ text }) => this.#compiling(text)));
    this.#unbind.push(link.on("close", () => this.#compiling("")));
    for (const event of ["open", "close", "lost", "controls"]) this.#unbind.push(link.on(event, () => this.#control()));
    this.#update();
    this.#control();
  }

  /** Shows a text for a few seconds; the same text again starts its time anew. */
  toast(text, kind) {
    for (const old of this.#toasts.children) if (old.textContent === text) old.remove();
    const toast = make("div", `ts-toast ts-${kind}`);
    toast.textContent = text;
    this.#toasts.append(toast);
    if (this.#toasts.children.length > 3) this.#toasts.firstChild.remove();
    setTimeout(() => toast.remove(), TOAST);
  }

  dispose() {
    for (const unbind of this.#unbind) unbind();
    for (const part of [this.#card, this.#banner, this.#notice, this.#toasts]) part.remove();
  }

  /** What everybody waits for; nothing is shown of an empty text. */
  #compiling(text) {
    this.#notice.hidden = !text;
    write(this.#notice, text);
  }

  #update() {
    const now = performance.now();
    if (now - this.#counted >= 1000) {
      this.#fps = Math.round((1000 * (this.#drawn() - this.#count)) / (now - this.#counted));
      [this.#count, this.#counted] = [this.#drawn(), now];
    }
    const frame = link.frame;
    const [text, mood] = state(frame);
    write(this.#parts.realtime, text);
    if (this.#card.dataset.mood !== mood) this.#card.dataset.mood = mood;
    if (!frame) return;
    const age = now - frame.arrived + frame.planning;
    write(this.#parts.time, `${frame.time.toFixed(2)} s`);
    write(this.#parts.rate, `${frame.rate.toFixed(0)}/s · drawn ${this.#fps}/s`);
    write(this.#parts.plan, `${frame.planning.toFixed(0)} ms`);
    write(this.#parts.age, frame.paused || frame.past ? "paused" : age < 9999 ? `${age.toFixed(0)} ms` : "old");
    const width = `${Math.round(100 * Math.min(1, Math.max(0, frame.effort)))}%`;
    if (this.#parts.effort.style.width !== width) this.#parts.effort.style.width = width;
    this.#line("keeping", frame.keeping);
    this.#line("way", WAYS[frame.way] ?? frame.way);
    this.#line("acting", [frame.acting, frame.doing].filter(Boolean).join(": "));
    if (this.#parts.recording.hidden === frame.recording) this.#parts.recording.hidden = !frame.recording;
  }

  /** A line that is there where it has something to say. */
  #line(name, text) {
    const part = this.#parts[name];
    write(part, text);
    if (part.parentElement.hidden !== !text) part.parentElement.hidden = !text;
  }

  #control() {
    this.#box.classList.toggle("ts-watching", !link.controls);
    this.#banner.replaceChildren();
    if (link.controls) this.#asked = false;
    if (link.open ? link.controls && !link.waiting.length : !link.lost) return;
    const text = make("span");
    this.#banner.append(text);
    if (!link.open) {
      text.textContent = link.lost;
      return;
    }
    if (link.controls) {
      text.textContent = `${link.waiting[0]} asks for control:`;
      this.#button("give", "give", () => link.send({ type: "give", accept: true }));
      this.#button("keep", "keep", () => link.send({ type: "give", accept: false }));
      return;
    }
    if (!link.waiting.length) this.#asked = false; // nobody waits any more: it was refused
    text.textContent = link.holder ? `watching; ${link.holder} has control` : "watching";
    const button = this.#button("ask for control", "ask", () => {
      link.send({ type: "ask" });
      this.#asked = true;
      wait();
    });
    const wait = () => Object.assign(button, { textContent: "asked, waiting ...", disabled: true });
    if (this.#asked) wait();
  }

  #button(text, name, act) {
    const button = make("button", "ts-button", `hud-${name}`);
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    this.#banner.append(button);
    return button;
  }
}

/** How the simulation goes, in words, and the mood that colours them. */
function state(frame) {
  if (!link.open) return [frame ? "connection lost, trying again ..." : "connecting ...", "bad"];
  if (!frame) return ["waiting for the first frame ...", "calm"];
  if (isTake(frame)) return [frame.paused ? "a take, paused" : "a take", "past"];
  if (frame.past) return [`past: ${((frame.tick - frame.newest) * link.dt).toFixed(1)} s`, "past"];
  if (frame.paused) return ["paused", "calm"];
  if (frame.broken) return ["unstable", "bad"];
  const { factor, speed } = frame;
  if (factor <= 0) return ["starting ...", "calm"];
  if (factor < ENOUGH * speed) {
    if (speed === 1) return [`slower than real time: ${factor.toFixed(2)}x`, "slow"];
    return [`slower than asked: ${factor.toFixed(2)}x of ${speed.toFixed(2)}x`, "slow"];
  }
  if (speed < 1) return [`slow motion ${+speed.toFixed(2)}x`, "calm"];
  return speed > 1 ? [`fast ${+speed.toFixed(2)}x`, "calm"] : ["real time", "good"];
}

function make(tag, className = "", testid = "") {
  const element = document.createElement(tag);
  element.className = className;
  if (testid) element.dataset.testid = testid;
  return element;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

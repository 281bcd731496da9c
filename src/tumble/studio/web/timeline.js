/**
 * The timeline: effort over time as far back as the studio remembers, to drag along.
 *
 * A component of NiceGUI without props. Dragging (or the arrow keys) pauses and shows the past; then two buttons offer
 * to go on from there or to come back to the present. Efforts are collected by the page as frames come, so what
 * happened before the page was opened is a flat line. They outlive the component: a strip that is made anew still has
 * its past.
 */

import { onBeat } from "tumble-studio/beat.js";
import { isTake } from "tumble-studio/frame.js";
import { link } from "tumble-studio/link.js";
import { paced } from "tumble-studio/pace.js";
import "tumble-studio/style.js";

const KEPT = 1 << 15; // ticks; a power of two
const SHORTEST = 10; // s the strip shows at least
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300]; // s between labels
const efforts = new Float32Array(KEPT); // by tick
link.on("frame", (frame) => (efforts[frame.tick % KEPT] = frame.effort));

export default {
  template: `
    <div class="ts-timeline" data-testid="timeline" role="slider" tabindex="0" aria-label="timeline"
      @pointerdown="down" @pointermove="move" @pointerup="up" @pointercancel="up" @keydown="key">
      <canvas></canvas>
      <div v-if="past" class="ts-timeline-buttons" @pointerdown.stop>
        <button v-if="!shown" class="ts-button" data-testid="timeline-resume" @click="resume(tick)">go on from here</button>
        <button class="ts-button" data-testid="timeline-live" @click="resume(newest)">live</button>
      </div>
    </div>`,

  data: () => ({ past: false, shown: false, tick: 0, newest: 0 }), // shown: whether a take is

  mounted() {
    this.scrubbing = false;
    this.pending = 0;
    this.canvas = this.$el.querySelector("canvas");
    this.frames = -1; // that had come at the last picture
    this.tell = paced((tick) => link.send({ type: "scrub", tick }), 34);
    const watcher = new ResizeObserver(() => this.draw());
    watcher.observe(this.$el);
    const lock = () => this.$el.classList.toggle("ts-locked", !link.controls);
    lock();
    this.unbind = [link.on("frame", this.take), link.on("controls", lock), link.on("close", lock)];
    this.unbind.push(() => watcher.disconnect(), onBeat(() => link.frames !== this.frames && this.draw()));
  },

  unmounted() {
    cancelAnimationFrame(this.pending);
    this.tell.cancel();
    for (const unbind of this.unbind) unbind();
  },

  methods: {
    take(frame) {
      this.past = frame.past;
      this.shown = isTake(frame);
      this.newest = frame.newest;
      if (!this.scrubbing) this.tick = frame.tick;
    },

    /** Ticks that the strip's width stands for. */
    span() {
      const { oldest, newest } = link.frame;
      return Math.max(newest - oldest, Math.round(SHORTEST / link.dt));
    },

    scrub(tick) {
      const { oldest, newest } = link.frame;
      this.tick = Math.min(newest, Math.max(oldest, Math.round(tick)));
      this.tell(this.tick);
      this.pending ||= requestAnimationFrame(this.draw);
    },

    scrubTo(event) {
      const box = this.canvas.getBoundingClientRect();
      this.scrub(link.frame.newest - (1 - (event.clientX - box.left) / box.width) * this.span());
    },

    down(event) {
      if (event.button !== 0 || !link.controls || !link.frame) return;
      this.$el.setPointerCapture(event.pointerId);
      this.scrubbing = true;
      this.scrubTo(event);
    },

    move(event) {
      if (this.scrubbing) this.scrubTo(event);
    },

    up() {
      this.scrubbing = false;
    },

    key(event) {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !link.controls || !link.frame || event.target !== this.$el) return;
      event.preventDefault();
      this.scrub(this.tick + step * (event.shiftKey ? 30 : 1));
    },

    resume(tick) {
      this.tell.cancel();
      link.send({ type: "resume", tick });
    },

    draw() {
      this.pending = 0;
      this.frames = link.frames;
      const frame = link.frame;
      if (!frame) return;
      const { clientWidth: width, clientHeight: height } = this.canvas;
      const ratio = Math.min(2, window.devicePixelRatio || 1);
      if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
      if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
      const context = this.canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      const span = this.span();
      const place = (tick) => width * (1 - (frame.newest - tick) / span);
      const floor = height - 14; // below are the labels
      this.drawEffort(context, frame, width, floor, span);
      this.drawLabels(context, width, height, floor, span);
      this.$el.setAttribute("aria-valuenow", this.tick);
      const at = Math.min(width - 1.5, Math.max(1.5, place(this.tick)));
      context.fillStyle = frame.past || this.scrubbing ? "#5a5fd8" : getComputedStyle(this.$el).color;
      context.fillRect(at - 1, 0, 2, floor);
      context.beginPath();
      context.arc(Math.min(width - 5, Math.max(5, at)), 5, 5, 0, 7);
      context.fill();
    },

    drawEffort(context, frame, width, floor, span) {
      const start = Math.max(0, width * (1 - (frame.newest - frame.oldest) / span));
      context.fillStyle = "#dfe5ec";
      context.fillRect(start, floor - 1, width - start, 1);
      context.beginPath();
      context.moveTo(start, floor);
      for (let x = start; x < width; x += 2) {
        const first = Math.floor(frame.newest - (1 - x / width) * span);
        const last = Math.max(first, Math.floor(frame.newest - (1 - (x + 2) / width) * span) - 1);
        let peak = 0;
        for (let tick = first; tick <= last; tick++) peak = Math.max(peak, efforts[Math.max(0, tick) % KEPT]);
        context.lineTo(x, floor - Math.min(1, peak) * (floor - 8));
      }
      context.lineTo(width, floor);
      const shade = context.createLinearGradient(0, 8, 0, floor);
      shade.addColorStop(0, "rgba(240,138,36,0.75)");
      shade.addColorStop(1, "rgba(76,143,217,0.35)");
      context.fillStyle = shade;
      context.fill();
    },

    drawLabels(context, width, height, floor, span) {
      const seconds = span * link.dt;
      const step = STEPS.find((each) => (each / seconds) * width > 56) ?? STEPS.at(-1);
      context.font = "10px system-ui, sans-serif";
      context.fillStyle = "#8792a0";
      context.textBaseline = "bottom";
      for (let back = 0; back <= seconds; back += step) {
        const x = width * (1 - back / seconds);
        context.fillRect(x - 0.5, floor, 1, 3);
        context.textAlign = back === 0 ? "right" : x < 20 ? "left" : "center";
        context.fillText(back === 0 ? "now" : `-${back} s`, back === 0 ? x - 2 : x, height);
      }
    },
  },
};

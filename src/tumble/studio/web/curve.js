/**
 * A trajectory to edit: knots as dots and the spline through them, over the phase of a step.
 *
 * A component of NiceGUI. Props: `knots` [[x, y], ...] in rising order of x; `start` and `end` of x; `low` and `high`,
 * which y shows at least, as it makes room for what the knots need; `label`. Emits `change` with { knots } while a knot
 * is dragged. A double click adds a knot, or removes the one it hits; so does dragging one far outside. Knots that come
 * from outside wait while one is dragged.
 */

import { link } from "tumble-studio/link.js";
import { paced } from "tumble-studio/pace.js";
import "tumble-studio/style.js";

const MOST = 12; // knots; KNOTS of walking/style.py
const TALLEST = 3.2; // what check_style of walking/style.py takes
const APART = 0.01; // share of the width between two knots
const ROOM = 0.25; // share of the range that stays free beyond the knots
const EDGE = { left: 30, right: 10, top: 18, bottom: 15 }; // px around, for labels
const REACH = { mouse: 9, touch: 20 }; // px
const STILL = 3; // px that a click may move
const DOUBLE = 400; // ms between two clicks
const FAR = 32; // px outside, where a knot is dropped

export default {
  template: `
    <canvas class="ts-curve" data-testid="curve" role="img" :aria-label="label" @pointerdown="down" @pointermove="move"
      @pointerup="up" @pointercancel="up" @lostpointercapture="up"></canvas>`,
  props: {
    knots: { type: Array, default: () => [[0, 0]] },
    start: { type: Number, default: 0 },
    end: { type: Number, default: 1 },
    low: { type: Number, default: -0.5 },
    high: { type: Number, default: 0.5 },
    label: { type: String, default: "" },
  },
  emits: ["change"],

  watch: {
    knots() {
      if (!this.held) this.take(this.knots);
    },
    label() {
      if (!this.held) this.take(this.knots);
    },
  },

  created() {
    this.held = null; // what is dragged: its pointer, its index, the other knots, where it was
    this.tapped = null; // the last click: when and where
    this.tell = paced((knots) => this.$emit("change", { knots }), 50);
    this.own = [];
  },

  mounted() {
    this.take(this.knots);
    const watcher = new ResizeObserver(() => this.draw());
    watcher.observe(this.$el);
    const lock = () => this.$el.classList.toggle("ts-locked", !link.controls);
    lock();
    this.unbind = [link.on("controls", lock), link.on("close", lock), () => watcher.disconnect()];
  },

  unmounted() {
    this.tell.cancel();
    for (const unbind of this.unbind) unbind();
  },

  methods: {
    /** Show these knots, and room around them. */
    take(knots) {
      this.own = knots.map(([x, y]) => [x, y]);
      const values = knots.map(([, y]) => y);
      const [least, most] = [Math.min(...values), Math.max(...values)];
      const room = ROOM * Math.max(most - least, this.high - this.low);
      this.bottom = Math.max(-TALLEST, Math.min(this.low, least - room));
      this.top = Math.min(TALLEST, Math.max(this.high, most + room));
      this.draw();
    },

    /** Value of the shown spline. */
    at(x) {
      return spline(this.own, x);
    },

    /** Where a knot is drawn: px in the canvas. */
    spot([x, y]) {
      const { clientWidth: width, clientHeight: height } = this.$el;
      return [
        EDGE.left + ((x - this.start) / (this.end - this.start)) * (width - EDGE.left - EDGE.right),
        height - EDGE.bottom - ((y - this.bottom) / (this.top - this.bottom)) * (height - EDGE.top - EDGE.bottom),
      ];
    },

    /** What is drawn there, within the range that is shown. */
    knotAt([px, py]) {
      const { clientWidth: width, clientHeight: height } = this.$el;
      const along = (px - EDGE.left) / (width - EDGE.left - EDGE.right);
      const up = (height - EDGE.bottom - py) / (height - EDGE.top - EDGE.bottom);
      return [
        rounded(this.start + clamp(along, 0, 1) * (this.end - this.start)),
        clamp(rounded(this.bottom + clamp(up, 0, 1) * (this.top - this.bottom)), -TALLEST, TALLEST),
      ];
    },

    place(event) {
      const box = this.$el.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    },

    /** Index of the nearest knot in reach, or -1. */
    hit(place, event) {
      const away = this.own.map((knot) => distance(this.spot(knot), place));
      const nearest = away.indexOf(Math.min(...away));
      return away[nearest] <= (event.pointerType === "touch" ? REACH.touch : REACH.mouse) ? nearest : -1;
    },

    down(event) {
      if (event.button !== 0 || this.held || !link.controls) return;
      this.$el.setPointerCapture(event.pointerId);
      const place = this.place(event);
      const index = this.hit(place, event);
      const knot = this.own[index] ?? null;
      const others = this.own.filter((_, i) => i !== index);
      const offset = knot ? this.spot(knot).map((px, i) => px - place[i]) : [0, 0];
      this.held = { pointer: event.pointerId, index, knot, others, place, offset, moved: false };
      this.draw();
    },

    move(event) {
      const held = this.held;
      if (!held) this.$el.style.cursor = link.controls && this.hit(this.place(event), event) >= 0 ? "grab" : "";
      if (!held || held.pointer !== event.pointerId) return;
      const place = this.place(event);
      held.moved ||= distance(place, held.place) > STILL;
      if (!held.moved || !held.knot) return;
      this.own = this.outside(place) && held.others.length ? held.others : this.moved(held, place);
      this.tell(this.own);
      this.draw();
    },

    up(event) {
      const held = this.held;
      if (!held || held.pointer !== event.pointerId) return;
      this.held = null;
      if (held.moved) {
        this.tapped = null;
        if (held.knot) this.done(this.own);
      } else if (event.type === "pointerup") {
        this.tap(held, event.timeStamp);
      }
      this.draw();
    },

    /** A click; the second one in time adds or removes. */
    tap({ index, place, others }, time) {
      const double = this.tapped && time - this.tapped.time < DOUBLE && distance(place, this.tapped.place) < REACH.touch;
      this.tapped = double ? null : { time, place };
      if (!double) return;
      if (index >= 0) {
        if (others.length) this.done(others);
        return;
      }
      const knot = this.knotAt(place);
      const apart = APART * (this.end - this.start);
      if (this.own.length < MOST && this.own.every(([x]) => Math.abs(x - knot[0]) >= apart))
        this.done([...this.own, knot].sort((a, b) => a[0] - b[0]));
    },

    /** Tell at once, and make room anew. */
    done(knots) {
      this.tell.cancel();
      this.take(knots);
      this.$emit("change", { knots: this.own });
    },

    outside([px, py]) {
      const { clientWidth: width, clientHeight: height } = this.$el;
      return px < -FAR || py < -FAR || px > width + FAR || py > height + FAR;
    },

    /** All knots, the held one between its neighbours where the pointer is. */
    moved({ index, knot, others, offset }, [px, py]) {
      const [x, y] = this.knotAt([px + offset[0], py + offset[1]]);
      const apart = APART * (this.end - this.start);
      const first = Math.min(knot[0], index > 0 ? others[index - 1][0] + apart : this.start); // a file's may be closer
      const last = Math.max(knot[0], index < others.length ? others[index][0] - apart : this.end);
      return [...others.slice(0, index), [rounded(clamp(x, first, last)), y], ...others.slice(index)];
    },

    draw() {
      const { clientWidth: width, clientHeight: height } = this.$el;
      if (!width) return;
      const ratio = Math.min(2, window.devicePixelRatio || 1);
      [this.$el.width, this.$el.height] = [Math.round(width * ratio), Math.round(height * ratio)]; // clears it, too
      const context = this.$el.getContext("2d");
      context.scale(ratio, ratio);
      this.drawScale(context, width, height);
      context.beginPath();
      for (let px = EDGE.left; px <= width - EDGE.right; px++) {
        const x = this.start + ((px - EDGE.left) / (width - EDGE.left - EDGE.right)) * (this.end - this.start);
        context.lineTo(px, this.spot([x, this.at(x)])[1]);
      }
      context.strokeStyle = "#3d6fb4";
      context.lineWidth = 1.75;
      context.lineJoin = "round";
      context.stroke();
      this.own.forEach((knot, i) => this.drawKnot(context, knot, this.held?.knot && this.held.index === i));
    },

    drawKnot(context, knot, held) {
      context.beginPath();
      context.arc(...this.spot(knot), held ? 6 : 4.5, 0, 7);
      context.fillStyle = held ? "#f08a24" : "#fff";
      context.fill();
      context.strokeStyle = held ? "#b25e00" : "#2f6690";
      context.stroke();
    },

    drawScale(context, width, height) {
      const line = (y) => Math.round(this.spot([0, y])[1]) - 0.5;
      context.font = "10px system-ui, sans-serif";
      context.textBaseline = "middle";
      context.textAlign = "right";
      for (const y of [this.bottom, this.top, 0]) {
        if (y < this.bottom || y > this.top) continue;
        context.fillStyle = y === 0 ? "#b9c4d0" : "#e3e8ee";
        context.fillRect(EDGE.left, line(y), width - EDGE.left - EDGE.right, 1);
        context.fillStyle = "#8792a0";
        if (y === 0 || Math.abs(line(y) - line(0)) > 10)
          context.fillText(String(rounded(y, 100)), EDGE.left - 5, line(y));
      }
      context.textBaseline = "bottom";
      context.textAlign = "left";
      context.fillText(String(this.start), EDGE.left, height - 1);
      context.textAlign = "center";
      context.fillText(this.end === 1 ? "phase" : "speed, m/s", (EDGE.left + width - EDGE.right) / 2, height - 1);
      context.textAlign = "right";
      context.fillText(String(this.end), width - EDGE.right, height - 1);
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = "#2b3440";
      context.textBaseline = "top";
      context.fillText(this.held?.knot ? this.reading() : this.label, width - EDGE.right, 3);
    },

    /** The held knot in figures. */
    reading() {
      if (this.own === this.held.others) return "let go to remove it";
      const [x, y] = this.own[this.held.index];
      return `${x.toFixed(2)}: ${y.toFixed(2)}`;
    },
  },
};

/** As `spline` of walking/vectors.py: Catmull-Rom, constant beyond its ends. */
export function spline(knots, x) {
  const last = knots.length - 1;
  if (last === 0 || x <= knots[0][0]) return knots[0][1];
  if (x >= knots[last][0]) return knots[last][1];
  let i = 1;
  while (knots[i][0] < x) i += 1;
  const [[x0, y0], [x1, y1]] = [knots[i - 1], knots[i]];
  const [before, after] = [knots[Math.max(i - 2, 0)], knots[Math.min(i + 1, last)]];
  const t = (x - x0) / (x1 - x0);
  const m0 = ((y1 - before[1]) / (x1 - before[0])) * (x1 - x0);
  const m1 = ((after[1] - y0) / (after[0] - x0)) * (x1 - x0);
  const [t2, t3] = [t * t, t * t * t];
  return (2 * t3 - 3 * t2 + 1) * y0 + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * y1 + (t3 - t2) * m1;
}

function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}

function rounded(value, by = 1000) {
  return Math.round(value * by) / by;
}

function distance([ax, ay], [bx, by]) {
  return Math.hypot(ax - bx, ay - by);
}

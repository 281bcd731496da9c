/**
 * A sparkline of one term: its value along the best path over the last half minute, and as a number.
 *
 * A component of NiceGUI with the prop `term`, a name. The scale is log(1 + value), because a term that matters little
 * and one that drowns all others differ by powers of ten. Values are kept by the page, not by the component: a chart
 * that is made anew still has its past.
 */

import { onBeat } from "tumble-studio/beat.js";
import { link } from "tumble-studio/link.js";
import "tumble-studio/style.js";

const KEPT = 900; // values: 30 s
const NUMBER = 46; // px at the right for the number
const pasts = new Map(); // by term: a ring of log values, its number of values so far, the last value

link.on("frame", (frame) => {
  if (frame.past || frame.paused) return;
  link.terms.forEach((name, i) => {
    if (!pasts.has(name)) pasts.set(name, { ring: new Float32Array(KEPT), count: 0, value: 0 });
    const past = pasts.get(name);
    past.value = frame.terms[i];
    past.ring[past.count % KEPT] = Math.log1p(Math.max(0, past.value) || 0); // a broken plan's value is NaN or infinite
    past.count += 1;
  });
});

export default {
  template: `<canvas class="ts-chart" data-testid="chart" role="img" :aria-label="'value of ' + term"></canvas>`,
  props: { term: { type: String, default: "" } },
  watch: {
    term() {
      this.drawn = -1;
      this.draw();
    },
  },

  mounted() {
    this.drawn = -1; // count of the picture
    const watcher = new ResizeObserver(() => {
      this.drawn = -1;
      this.draw();
    });
    watcher.observe(this.$el);
    this.unbind = [onBeat(() => this.draw()), () => watcher.disconnect()];
  },

  unmounted() {
    for (const unbind of this.unbind) unbind();
  },

  methods: {
    draw() {
      const past = pasts.get(this.term);
      const { clientWidth: width, clientHeight: height } = this.$el;
      if (!past || !width || past.count === this.drawn) return;
      this.drawn = past.count;
      const ratio = Math.min(2, window.devicePixelRatio || 1);
      [this.$el.width, this.$el.height] = [Math.round(width * ratio), Math.round(height * ratio)]; // clears it, too
      const context = this.$el.getContext("2d");
      context.scale(ratio, ratio);
      this.drawLine(context, past, width - NUMBER, height);
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = getComputedStyle(this.$el).color;
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText(short(past.value), width - 2, height / 2);
    },

    drawLine(context, { ring, count }, width, height) {
      const many = Math.min(count, KEPT);
      let top = Math.log1p(1); // a value of 1 is one tolerance; below that is quiet
      for (let i = 0; i < many; i++) top = Math.max(top, Number.isFinite(ring[i]) ? ring[i] : 0);
      const place = (i) => height - 2 - (Math.min(top, ring[(count - many + i) % KEPT]) / top) * (height - 4);
      const start = width * (1 - (many - 1) / (KEPT - 1));
      context.beginPath();
      for (let i = 0; i < many; i++) context.lineTo(start + ((width - start) * i) / Math.max(1, many - 1), place(i));
      context.strokeStyle = "#3d6fb4";
      context.lineWidth = 1.25;
      context.lineJoin = "round";
      context.stroke();
      context.lineTo(width, height);
      context.lineTo(start, height);
      context.fillStyle = "rgba(61,111,180,0.12)";
      context.fill();
    },
  },
};

/** Three figures, whatever the size. */
function short(value) {
  if (!Number.isFinite(value)) return "∞";
  if (value >= 1e4) return value.toExponential(0).replace("+", "");
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
}

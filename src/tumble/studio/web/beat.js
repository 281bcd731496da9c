/**
 * One beat for everything that is redrawn now and then: texts, timeline, charts.
 *
 *   const off = onBeat(() => draw());   // ten times a second, all in the same animation frame; off() ends it
 *
 * Each change of a page costs a composition of the whole page. Where there is no graphics card that takes a processor
 * 50 ms, so changes come together, and `slowBeat` makes them rare.
 */

const QUICK = 100; // ms
const SLOW = 400;
const acts = new Set();
let period = QUICK;
let timer = 0;
let pending = 0;

export function onBeat(act) {
  acts.add(act);
  if (acts.size === 1) timer = setTimeout(beat, 0);
  return () => {
    acts.delete(act);
    if (acts.size) return;
    clearTimeout(timer);
    cancelAnimationFrame(pending);
  };
}

export function slowBeat(slow) {
  period = slow ? SLOW : QUICK;
}

function beat() {
  pending = requestAnimationFrame(() => {
    for (const act of acts) act();
    timer = setTimeout(beat, period);
  });
}

/**
 * Calls that keep a pace: at once if the last is long enough ago, else later with the newest value.
 *
 *   const aim = paced((target) => link.send(...), 100);   // at most ten a second, and never without the last one
 */
export function paced(act, ms) {
  let timer = 0;
  let last = -Infinity;
  let newest;
  const run = () => {
    timer = 0;
    last = performance.now();
    act(newest);
  };
  const call = (value) => {
    newest = value;
    if (timer) return;
    const wait = last + ms - performance.now();
    if (wait <= 0) run();
    else timer = setTimeout(run, wait);
  };
  call.cancel = () => {
    clearTimeout(timer);
    timer = 0;
  };
  return call;
}

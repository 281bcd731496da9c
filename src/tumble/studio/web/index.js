/**
 * tumble studio in the browser. The components (view.js, timeline.js, chart.js) are loaded by NiceGUI and are not
 * exported here; this is what other page code may use.
 */
export { Frame } from "./frame.js";
export { link } from "./link.js";
export { paced } from "./pace.js";

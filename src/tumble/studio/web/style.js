/** Loads studio.css once a page. */
const href = new URL("./studio.css", import.meta.url).href;
const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
document.head.append(sheet);

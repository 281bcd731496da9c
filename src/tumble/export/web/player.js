// Plays a motion: reads what the page holds, turns bones, draws one mesh and its shadow.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const { fps, frames, names, parents, places, moved } = data;
  const arrays = read($("arrays").textContent, data.arrays);
  const last = Math.max(frames - 1, 0) / fps;
  const count = names.length + data.props.length;

  // --- arrays: base64 to typed arrays, each on a multiple of four bytes

  function read(text, about) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    const kinds = { "<u2": Uint16Array, "<u4": Uint32Array, "<i2": Int16Array, "<f4": Float32Array };
    const found = {};
    let at = 0;
    for (const [name, [size, kind]] of Object.entries(about)) {
      const Kind = kinds[kind] || Uint8Array;
      found[name] = new Kind(bytes.buffer, at, size / Kind.BYTES_PER_ELEMENT);
      at += size + ((4 - (size % 4)) % 4);
    }
    return found;
  }

  // --- bones: quaternions (w, x, y, z), parents before children

  const turns = new Float32Array(4 * names.length), at = new Float32Array(3 * names.length);
  const texture = new Float32Array(12 * count); // three rows of a matrix a bone

  const times = (p, i, q, j, to, k) => {
    const w = p[i], x = p[i + 1], y = p[i + 2], z = p[i + 3], a = q[j], b = q[j + 1], c = q[j + 2], d = q[j + 3];
    to[k] = w * a - x * b - y * c - z * d;
    to[k + 1] = w * b + x * a + y * d - z * c;
    to[k + 2] = w * c - x * d + y * a + z * b;
    to[k + 3] = w * d + x * c - y * b + z * a;
  };

  const turned = (q, i, v) => {
    const w = q[i], x = q[i + 1], y = q[i + 2], z = q[i + 3];
    const tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
    return [v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx];
  };

  const unit = (q) => {
    const length = Math.hypot(q[0], q[1], q[2], q[3]) || 1;
    for (let k = 0; k < 4; k++) q[k] /= length;
    return q;
  };

  const between = (array, width, place, low, high, share) => {
    const value = [];
    for (let k = 0; k < width; k++)
      value.push((1 - share) * array[low * place.row + place.at + k] + share * array[high * place.row + place.at + k]);
    return value;
  };

  // a mesh is told at rest: what moves it is the bone's turn about its place at rest, then its way
  function matrix(bone, q, i, place, rest, size) {
    const [w, x, y, z] = [q[i], q[i + 1], q[i + 2], q[i + 3]];
    const m = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
      1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
    for (let r = 0; r < 3; r++) {
      const row = m.slice(3 * r, 3 * r + 3), shift = place[r] - row[0] * rest[0] - row[1] * rest[1] - row[2] * rest[2];
      texture.set([size * row[0], size * row[1], size * row[2], shift], 12 * bone + 4 * r);
    }
  }

  function pose(time) {
    const exact = Math.min(Math.max(time * fps, 0), frames - 1);
    const low = Math.floor(exact), high = Math.min(low + 1, frames - 1), share = exact - low;
    for (let i = 0; i < names.length; i++) {
      const own = unit(between(arrays.turns, 4, { row: 4 * names.length, at: 4 * i }, low, high, share));
      const parent = parents[i];
      if (parent < 0) {
        turns.set(own, 4 * i);
        at.set(between(arrays.roots, 3, { row: 3, at: 0 }, low, high, share), 3 * i);
      } else {
        times(turns, 4 * parent, own, 0, turns, 4 * i);
        const k = moved.indexOf(i);
        const offset = k < 0 ? [0, 1, 2].map((c) => places[i][c] - places[parent][c])
          : between(arrays.hips, 3, { row: 3 * moved.length, at: 3 * k }, low, high, share);
        const way = turned(turns, 4 * parent, offset);
        at.set([0, 1, 2].map((c) => at[3 * parent + c] + way[c]), 3 * i);
      }
      matrix(i, turns, 4 * i, at.subarray(3 * i, 3 * i + 3), places[i], 1);
    }
    for (let i = 0; i < data.props.length; i++) {
      const row = 8 * data.props.length;
      const p = between(arrays.props, 7, { row, at: 8 * i }, low, high, share);
      const there = arrays.props[low * row + 8 * i + 7];
      matrix(names.length + i, unit(p.slice(3)), 0, p, [0, 0, 0], there);
    }
  }

  // --- drawing

  const canvas = $("view"), gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: false });
  if (!gl) {
    $("wrong").style.display = "flex";
    return;
  }

  const POSED = `
    uniform highp sampler2D bones; uniform vec3 low, size;
    layout(location=0) in vec3 place; layout(location=1) in vec3 normal; layout(location=2) in vec4 colour;
    layout(location=3) in uvec4 joints; layout(location=4) in vec4 weights;
    mat4x3 posed() {
      vec4 r0 = vec4(0), r1 = vec4(0), r2 = vec4(0); float all = dot(weights, vec4(1));
      for (int i = 0; i < 4; i++) {
        int j = int(joints[i]); float w = weights[i] / all;
        r0 += w * texelFetch(bones, ivec2(0, j), 0); r1 += w * texelFetch(bones, ivec2(1, j), 0);
        r2 += w * texelFetch(bones, ivec2(2, j), 0);
      }
      return mat4x3(r0.x, r1.x, r2.x, r0.y, r1.y, r2.y, r0.z, r1.z, r2.z, r0.w, r1.w, r2.w);
    }`;
  const HEAD = "#version 300 es\nprecision highp float;\n";
  const body = program(`${HEAD}${POSED} uniform mat4 eye; out vec3 n, p; out vec4 c;
    void main() { mat4x3 m = posed(); p = m * vec4(low + size * place, 1); n = mat3(m) * normal; c = colour;
      gl_Position = eye * vec4(p, 1); }`,
  `${HEAD} in vec3 n, p; in vec4 c; uniform vec3 from; out vec4 o;
    void main() { vec3 N = normalize(n), V = normalize(from - p), L = normalize(vec3(.45, .9, .55));
      float sun = max(dot(N, L), 0.), sky = .5 + .5 * N.y, rim = pow(1. - max(dot(N, V), 0.), 3.);
      float gloss = pow(max(dot(N, normalize(L + V)), 0.), 28.);
      vec3 base = pow(c.rgb, vec3(2.2));
      vec3 light = base * (sun * vec3(.92, .89, .84) + mix(vec3(.16, .15, .15), vec3(.40, .44, .50), sky));
      o = vec4(pow(light + .05 * gloss + .05 * rim * sky, vec3(1. / 2.2)), c.a); }`);
  const shadow = program(`${HEAD}${POSED} uniform mat4 eye;
    void main() { vec3 p = posed() * vec4(low + size * place, 1); vec3 L = vec3(.45, .9, .55);
      p -= L * (max(p.y, 0.) / L.y); p.y = .002; gl_Position = eye * vec4(p, 1); }`,
  `${HEAD} out vec4 o; void main() { o = vec4(.16, .20, .27, .26); }`);
  const ground = program(`${HEAD} uniform mat4 eye; uniform vec3 middle; out vec3 p;
    void main() { vec2 q = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2. - 1.; p = vec3(q.x * 60., 0, q.y * 60.)
      + vec3(middle.x, 0, middle.z); gl_Position = eye * vec4(p, 1); }`,
  `${HEAD} in vec3 p; uniform vec3 middle; out vec4 o;
    void main() { vec2 f = abs(fract(p.xz) - .5), w = max(fwidth(p.xz), vec2(1e-4));
      vec2 e = smoothstep(.5 - 1.2 * w - .006, vec2(.5) - .2 * w, f); float line = max(e.x, e.y);
      float odd = mod(floor(p.x) + floor(p.z), 2.); float far = smoothstep(5., 26., distance(p, middle));
      vec3 c = mix(vec3(.895, .905, .915), vec3(.865, .88, .90), odd); c = mix(c, vec3(.78, .81, .85), .6 * line);
      o = vec4(mix(c, vec3(.910, .930, .949), far), 1); }`);

  function program(vertex, fragment) {
    const made = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
    return made;
  }

  const bones = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, bones);
  for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
  const mesh = gl.createVertexArray(), empty = gl.createVertexArray();
  gl.bindVertexArray(mesh);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, arrays.vertices, gl.STATIC_DRAW);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, arrays.triangles, gl.STATIC_DRAW);
  const kind = arrays.triangles instanceof Uint32Array ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT;
  [[3, gl.UNSIGNED_SHORT, true, 0], [3, gl.BYTE, true, 8], [4, gl.UNSIGNED_BYTE, true, 12],
    [4, gl.UNSIGNED_BYTE, false, 16], [4, gl.UNSIGNED_BYTE, true, 20]].forEach(([size, number, share, offset], i) => {
    gl.enableVertexAttribArray(i);
    if (i === 3) gl.vertexAttribIPointer(i, size, number, 24, offset);
    else gl.vertexAttribPointer(i, size, number, share, 24, offset);
  });

  const camera = { turn: 0.6, lift: 0.16, far: 4.6, middle: null };
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const norm = (a) => a.map((x) => x / Math.hypot(...a));

  function eye() {
    const { turn, lift, far, middle } = camera;
    const back = [Math.sin(turn) * Math.cos(lift), Math.sin(lift), Math.cos(turn) * Math.cos(lift)];
    const from = middle.map((x, i) => x + far * back[i]);
    from[1] = Math.max(from[1], 0.05);
    const z = norm(from.map((x, i) => x - middle[i])), x = norm(cross([0, 1, 0], z)), y = cross(z, x);
    const f = 1 / Math.tan(0.28), aspect = canvas.width / canvas.height, near = 0.05, end = 200;
    const a = (end + near) / (near - end), b = (2 * end * near) / (near - end);
    const view = [x, y, z].map((axis) => [...axis, -dot(axis, from)]);
    const m = [];
    for (let c = 0; c < 4; c++) {
      m.push((f / aspect) * view[0][c], f * view[1][c], a * view[2][c] + (c === 3 ? b : 0), -view[2][c]);
    }
    return { from, m };
  }

  function draw() {
    const sharp = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.round(canvas.clientWidth * sharp), height = Math.round(canvas.clientHeight * sharp);
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.91, 0.93, 0.949, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    const { from, m } = eye();
    const use = (made) => {
      gl.useProgram(made);
      const place = (name) => gl.getUniformLocation(made, name);
      gl.uniformMatrix4fv(place("eye"), false, m);
      gl.uniform3fv(place("from"), from);
      gl.uniform3fv(place("middle"), camera.middle);
      gl.uniform3fv(place("low"), data.box[0]);
      gl.uniform3fv(place("size"), data.box[1]);
    };
    gl.bindTexture(gl.TEXTURE_2D, bones);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, 3, count, 0, gl.RGBA, gl.FLOAT, texture);
    gl.bindVertexArray(empty);
    gl.enable(gl.DEPTH_TEST);
    use(ground);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.bindVertexArray(mesh);
    use(shadow); // each pixel once, however many triangles lie over it
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.depthMask(false);
    gl.drawElements(gl.TRIANGLES, arrays.triangles.length, kind, 0);
    gl.depthMask(true);
    gl.disable(gl.STENCIL_TEST);
    use(body);
    gl.drawElements(gl.TRIANGLES, arrays.triangles.length, kind, 0);
    gl.disable(gl.BLEND);
  }

  // --- time

  const state = { time: 0, playing: true, before: 0 };
  const PLAY = "M1 0l13 7-13 7z", PAUSE = "M1 0h4v14H1zM9 0h4v14H9z";
  const hips = Math.max(moved.length ? moved[0] : 0, 0);

  function show() {
    pose(state.time);
    const p = at.subarray(3 * hips, 3 * hips + 3);
    const high = 0.9 * places[hips][1];
    if (!camera.middle) camera.middle = [p[0], high, p[2]];
    if ($("follow").checked) camera.middle = [p[0], high, p[2]];
    draw();
    if (document.activeElement !== $("time") || state.playing) $("time").value = state.time;
    $("clock").textContent = `${state.time.toFixed(2)} / ${last.toFixed(2)} s`;
  }

  function play(on) {
    state.playing = on;
    $("play").innerHTML = `<svg viewBox="0 0 14 14"><path d="${on ? PAUSE : PLAY}"/></svg>`;
    state.before = performance.now();
    if (on) requestAnimationFrame(tick);
  }

  function tick() {
    if (!state.playing) return;
    const now = performance.now(); // what the browser hands over may lie before play()
    state.time += Math.min((now - state.before) / 1000, 0.1) * Number($("speed").value);
    state.before = now;
    if (state.time > last) state.time = last > 0 ? state.time % last : 0;
    show();
    requestAnimationFrame(tick);
  }

  function seek(time) {
    state.time = Math.min(Math.max(time, 0), last);
    show();
  }

  // --- people

  $("title").textContent = document.title = data.title;
  $("about").textContent = data.about;
  $("about").title = data.command;
  $("time").max = last;
  $("time").oninput = () => { play(false); seek(Number($("time").value)); };
  $("play").onclick = () => play(!state.playing);
  $("follow").onchange = show;
  window.onresize = () => { feet(); show(); };
  window.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " " && event.target.tagName !== "BUTTON") play(!state.playing);
    else if (step && event.target.tagName !== "SELECT") { play(false); seek(Math.round(state.time * fps + step) / fps); }
    else return;
    event.preventDefault();
  };
  const fingers = new Map();
  canvas.onpointerdown = (event) => { canvas.setPointerCapture(event.pointerId); fingers.set(event.pointerId, event); };
  canvas.onpointerup = canvas.onpointercancel = (event) => fingers.delete(event.pointerId);
  canvas.onpointermove = (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const others = [...fingers.values()].filter((finger) => finger.pointerId !== event.pointerId);
    if (others.length) {
      const wideness = (e) => Math.hypot(e.clientX - others[0].clientX, e.clientY - others[0].clientY);
      near(wideness(before) / Math.max(wideness(event), 1));
    } else {
      camera.turn -= 0.008 * (event.clientX - before.clientX);
      camera.lift = Math.min(Math.max(camera.lift + 0.006 * (event.clientY - before.clientY), -0.1), 1.5);
    }
    fingers.set(event.pointerId, event);
    if (!state.playing) show();
  };
  const near = (factor) => { camera.far = Math.min(Math.max(camera.far * factor, 0.6), 40); };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    near(Math.exp(0.001 * event.deltaY));
    if (!state.playing) show();
  }, { passive: false });

  function feet() { // bars under the timeline
    const strip = $("feet"), pen = strip.getContext("2d"), sharp = window.devicePixelRatio || 1;
    [strip.width, strip.height] = [strip.clientWidth * sharp, strip.clientHeight * sharp];
    const rows = [["left", "#2973a8"], ["right", "#db5c3d"]];
    const side = (name) => (/left|_l$/i.test(name) ? 0 : /right|_r$/i.test(name) ? 1 : 0);
    for (const [name, spans] of Object.entries(data.contacts)) {
      pen.fillStyle = rows[side(name)][1];
      const margin = 8 * sharp, length = strip.width - 2 * margin;
      for (const [from, to] of spans) {
        const x = margin + (length * from) / (last || 1);
        pen.fillRect(x, side(name) * strip.height * 0.5, Math.max((length * (to - from)) / (last || 1), sharp), 0.36 * strip.height);
      }
    }
  }

  const wide = [0, 1, 2].map((c) => Math.max(...places.map((p) => p[c])) - Math.min(...places.map((p) => p[c]), 0));
  camera.far = 2.9 * Math.max(wide[1], 1.1 * wide[2], 0.85 * wide[0], 0.6);
  if (!data.contacts || !Object.keys(data.contacts).length) $("feet").style.display = "none";
  feet();
  show();
  play(true);
  window.player = { seek, play, state, camera, show, joints: () => names.map((name, i) => [name, ...at.subarray(3 * i, 3 * i + 3)]) };
})();

// What every moving figure uses. Python puts this before the figure's own file: on a static page a
// module cannot import its neighbour.

const SVG = "http://www.w3.org/2000/svg";

/** Make an SVG element: svg("circle", { r: 4, onclick: f }, child, "text"). */
function svg(tag, attributes, ...children) {
  return made(document.createElementNS(SVG, tag), attributes, children);
}

/** Make an HTML element in the same way. */
function html(tag, attributes, ...children) {
  return made(document.createElement(tag), attributes, children);
}

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  element.append(...children);
  return element;
}

/** Set an attribute, or listen where its name begins with "on"; false and null leave it out. */
function set(element, name, value) {
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (value === false || value == null) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : value);
}

/** Write a number as the book does, with a true minus sign. */
function number(x, decimals = 2) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x).toFixed(decimals);
  return x < 0 && Number(size) ? `−${size}` : size;
}

/** Write a number that may be far from 1: with a power of ten where digits alone would mislead. */
function small(x) {
  const size = Math.abs(x);
  if (x === 0 || !Number.isFinite(x) || (size >= 0.001 && size < 1e5)) return number(x, x === 0 || size >= 100 ? 0 : 3);
  return x.toExponential(1).replaceAll("-", "−").replace("+", "");
}

/** A named value for a list of class ab-values; tests read the unrounded number. */
const entry = (label, name, x, text = number(x)) =>
  [html("dt", {}, label), html("dd", { "data-value": name, "data-exact": x }, text)];

/** A cell of a table with a number in it; a number from 0 to 1 can be a bar too. */
const cell = (name, index, x, { text = number(x), bar = false } = {}) => html("td", {
  "data-value": name, "data-index": index, "data-exact": x,
  class: bar && "ab-bar", style: bar && `--ab-share: ${x}`,
}, text);

/** Weights of scores, as the package computes them. */
function softmax(scores) {
  const most = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - most));
  const sum = exponentials.reduce((a, b) => a + b, 0);
  return exponentials.map((x) => x / sum);
}

/** The dot product of two vectors of any length. */
const inner = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

/** Scores, weights and mixture of one query, as the package computes them; `seen(j)`: may it attend to key j? */
function attend(q, k, v, seen = () => true) {
  const scores = k.map((key) => inner(q, key) / Math.sqrt(q.length));
  const visible = scores.map((score, j) => (seen(j) ? score : -Infinity));
  const weights = visible.some(Number.isFinite) ? softmax(visible) : visible.map(() => 0);
  return { scores, weights, mixture: v[0].map((_, f) => inner(weights, v.map((value) => value[f]))) };
}

/** Keep a number between two others. */
const between = (x, least, most) => Math.min(most, Math.max(least, x));

/** Change some of the model's values, and tell Python. */
function change(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/** Call `redraw` now, and whenever one of these values changes. */
function follow(model, names, redraw) {
  for (const name of names) model.on(`change:${name}`, redraw);
  redraw();
}

/** A labelled slider for one value of the model; `read` and `write` turn it into a position. */
function slider(model, name, { label, min, max, step, show = number, read = (x) => x, write = (x) => x }) {
  const shown = html("output", {});
  const input = html("input", {
    type: "range", min, max, step, "data-control": name,
    oninput: () => change(model, { [name]: write(Number(input.value)) }),
  });
  follow(model, [name], () => {
    const value = model.get(name);
    input.value = read(value);
    shown.textContent = show(value);
    input.setAttribute("aria-valuetext", show(value));
  });
  return html("label", { class: "ab-control" }, html("span", {}, label), input, shown);
}

/** A labelled choice of one value of the model. */
function choice(model, name, { label, options }) {
  const select = html("select", {
    "data-control": name,
    onchange: () => change(model, { [name]: options[select.selectedIndex][0] }),
  }, ...options.map(([, text]) => html("option", {}, text)));
  follow(model, [name], () => {
    select.selectedIndex = options.findIndex(([value]) => value === model.get(name));
  });
  return html("label", { class: "ab-control" }, html("span", {}, label), select);
}

/** A button. */
const button = (text, onclick, attributes) =>
  html("button", { type: "button", class: "ab-button", onclick, ...attributes }, text);

/** A labelled box to tick, for one value of the model that is true or false. */
function toggle(model, name, label) {
  const input = html("input", {
    type: "checkbox", "data-control": name, onchange: () => change(model, { [name]: input.checked }),
  });
  follow(model, [name], () => { input.checked = model.get(name); });
  return html("label", { class: "ab-control" }, input, html("span", {}, label));
}

/** Buttons and a slider for a step; it walks by itself on request, unless the reader wants no motion. */
function stepper(model, name, { first = 0, last, beat = 600 }) {
  const go = (step) => change(model, { [name]: between(step, first, last()) });
  const step = () => Math.min(model.get(name), last());
  const control = slider(model, name, { label: "step", min: first, max: last(), step: 1, read: step, show: () => `${step()} of ${last()}` });
  let timer;
  const pace = (next) => {
    clearInterval(timer);
    timer = next && setInterval(() => (element.isConnected && step() < last() ? go(step() + 1) : pace()), beat);
    player.textContent = timer ? "Pause" : "Play";
  };
  const player = button("Play", () => {
    if (!timer && step() === last()) go(first);
    pace(!timer);
  }, { "data-step": "play" });
  const element = html("div", { class: "ab-steps", role: "group", "aria-label": "Steps" }, control,
    button("Back", () => go(step() - 1), { "data-step": "back" }),
    button("Next", () => go(step() + 1), { "data-step": "next" }), ...(still() ? [] : [player]));
  const update = () => {
    const input = control.querySelector("input");
    [input.max, input.value] = [last(), step()];
    control.querySelector("output").textContent = `${step()} of ${last()}`;
    set(input, "aria-valuetext", `${step()} of ${last()}`);
  };
  return [element, update];
}

/**
 * A matrix as a table, its numbers in coloured cells. With `pick(i, j)` its cells are within reach of pointer
 * and arrow keys. The second result draws it: `at(i, j)` gives { x, text, share, look, lit } for each
 * cell, neither x nor text for a masked one; rows before `first` are left out.
 */
function heatMap(name, { title, rows, columns, pick }) {
  const head = (scope, label) => html("th", { scope }, label);
  const cells = rows.map((_, i) => columns.map((_, j) => html("td", pick ? picking(i, j) : {})));
  const lines = rows.map((label, i) => html("tr", {}, head("row", label), ...cells[i]));
  const element = html("table", { class: "ab-heat", role: pick && "grid" }, html("caption", {}, title),
    html("thead", {}, html("tr", {}, html("td", {}), ...columns.map((label) => head("col", label)))),
    html("tbody", {}, ...lines));

  function picking(i, j) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const onkeydown = (event) => {
      if (!moves[event.key]) return;
      event.preventDefault();
      const [down, across] = moves[event.key];
      cells[i + down]?.[j + across]?.focus(); // a hidden one cannot be focused
    };
    return { onfocus: () => pick(i, j), onpointermove: () => pick(i, j), onkeydown };
  }
  const draw = (at, first = 0) => cells.forEach((line, i) => {
    lines[i].hidden = i < first;
    if (i >= first) line.forEach((one, j) => paint(one, name, `${i - first},${j}`, at(i, j), pick));
  });
  return [element, draw];
}

function paint(one, name, index, { x, text, share = 0, look, lit }, pick) {
  const masked = x === undefined && text === undefined;
  set(one, "class", [masked && "ab-masked", share < 0 && "ab-negative", lit && "ab-lit", look].filter(Boolean).join(" "));
  set(one, "style", share && `--ab-share: ${(45 * Math.min(Math.abs(share), 1)).toFixed(1)}%`);
  set(one, "data-value", x !== undefined && name);
  set(one, "data-index", index);
  set(one, "data-exact", x);
  if (pick) set(one, "tabindex", lit ? 0 : -1);
  one.replaceChildren(masked ? html("span", { class: "ab-unseen" }, "masked") : text ?? number(x));
}

/** Let pointer and arrow keys move an element: `moved(x, y)` in the drawing's own units. */
function draggable(handle, drawing, { at, moved, step }) {
  const point = (event) => {
    const place = drawing.createSVGPoint();
    [place.x, place.y] = [event.clientX, event.clientY];
    return place.matrixTransform(drawing.getScreenCTM().inverse());
  };
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => {
    if (!handle.hasPointerCapture(event.pointerId)) return;
    const { x, y } = point(event);
    moved(x, y);
  });
  const keys = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
    Home: [0, 0], End: [0, 0] }; // which would turn the page
  handle.addEventListener("keydown", (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    const [x, y] = at();
    moved(x + step * keys[event.key][0], y + step * keys[event.key][1]);
  });
}

/** The text that says what the figure shows now; screen readers hear it when a change has ended. */
function spoken() {
  const element = html("p", { class: "ab-state", "aria-live": "polite" });
  let waiting;
  return [element, (text) => {
    clearTimeout(waiting);
    if (!element.textContent) element.textContent = text;
    else waiting = setTimeout(() => { element.textContent = text; }, 200);
  }];
}

/** Whether the reader wants no motion. */
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** In a live notebook: put caption and stage around a figure; return what ends it when the view closes. */
function live(render) {
  return ({ model, el }) => {
    const keep = ({ target }) => set(target, "data-lm-suppress-shortcuts", true); // arrow keys are JupyterLab's too
    const stage = html("div", { class: "ab-stage", onfocusin: keep }), heard = [];
    el.classList.add("ab-explorable");
    el.append(html("p", { class: "ab-caption" }, model.get("_caption")), stage);
    const on = (event, listener) => { heard.push([event, listener]); model.on(event, listener); };
    render({ el: stage, model: { ...model, on } });
    return () => heard.forEach(([event, listener]) => model.off(event, listener));
  };
}

/** On a static page: bring the figures of one kind to life, each with the state beside it. */
function mountAll(kind, render) {
  for (const el of document.querySelectorAll(`[data-explorable="${kind}"]:not([data-alive])`)) {
    el.dataset.alive = "";
    const state = JSON.parse(el.dataset.state);
    const listeners = {};
    const model = {
      get: (name) => state[name],
      set: (name, value) => {
        if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
        state[name] = value;
        (listeners[`change:${name}`] ?? []).forEach((listener) => listener());
      },
      on: (event, listener) => (listeners[event] ??= []).push(listener),
      save_changes: () => { el.dataset.state = JSON.stringify(state); },
    };
    const stage = html("div", { class: "ab-stage" });
    render({ model, el: stage });
    el.append(stage); // the picture stays, for print
  }
}

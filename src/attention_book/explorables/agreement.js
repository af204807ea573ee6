// Two vectors that can be dragged; their dot product, cosine and projection follow.

const REACH = 3; // the plane goes from −3 to 3
const UNIT = 60; // pixels of the drawing
const STEP = 0.1;

const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
const length = (a) => Math.hypot(...a);
const across = (a) => [a[0] * UNIT, -a[1] * UNIT]; // from the plane to the drawing
const round = (x) => Math.round(between(x, -REACH, REACH) / STEP) * STEP;

function render({ model, el }) {
  const edge = REACH * UNIT + 28;
  const shadow = svg("line", { class: "ab-shadow" });
  const drop = svg("line", { class: "ab-drop" });
  const drawing = svg("svg", {
    viewBox: `${-edge} ${-edge} ${2 * edge} ${2 * edge}`, class: "ab-drawing ab-square",
    role: "group", "aria-label": "A plane with a query and a key",
  }, plane(), drop, shadow);
  const arrows = ["query", "key"].map((name) => arrow(model, drawing, name));
  const values = html("dl", { class: "ab-values" });
  const [state, say] = spoken();

  el.append(drawing, html("div", { class: "ab-side" },
    ...["query", "key"].map((name) => coordinates(model, name)), values, state));

  follow(model, ["query", "key"], () => {
    const q = model.get("query"), k = model.get("key"), { product, along, cosine, foot } = compared(q, k);
    arrows.forEach((draw) => draw());
    line(shadow, [0, 0], foot);
    line(drop, k, foot);
    values.replaceChildren(
      ...entry("dot product", "dot", product), ...entry("cosine", "cosine", cosine),
      ...entry("the key along the query", "projection", along));
    say(`Query (${q.map((x) => number(x, 1)).join(", ")}), key (${k.map((x) => number(x, 1)).join(", ")}): `
      + `dot product ${number(product)}, cosine ${number(cosine)}. ${verdict(cosine)}`);
  });
}

/** Dot product, cosine, and the key along the query, as a length and a point; 0 for vectors of zeros. */
function compared(q, k) {
  const product = dot(q, k), along = length(q) ? product / length(q) : 0;
  const cosine = length(q) && length(k) ? product / length(q) / length(k) : 0;
  return { product, along, cosine, foot: length(q) ? q.map((x) => x / length(q) * along) : [0, 0] };
}

/** The grid, its two axes, and what they measure. */
function plane() {
  const grid = svg("g", { class: "ab-grid" }), end = REACH * UNIT;
  for (let i = -REACH; i <= REACH; i++) {
    const at = i * UNIT, axis = i === 0;
    grid.append(svg("line", { x1: at, x2: at, y1: -end, y2: end, "data-axis": axis }),
                svg("line", { y1: at, y2: at, x1: -end, x2: end, "data-axis": axis }));
  }
  grid.append(svg("text", { x: end - 38, y: 18 }, "feature 0"),
              svg("text", { y: -end - 10 }, "feature 1"));
  return grid;
}

function verdict(cosine) {
  if (Math.abs(cosine) < 0.005) return "They have nothing to do with each other.";
  return cosine > 0 ? "They agree." : "They point away from each other.";
}

function line(element, from, to) {
  const [x1, y1] = across(from), [x2, y2] = across(to);
  for (const [name, at] of Object.entries({ x1, y1, x2, y2 })) set(element, name, at);
}

/** Draw one vector with a handle at its tip; return what draws it anew. */
function arrow(model, drawing, name) {
  const shaft = svg("line", { class: `ab-shaft ab-${name}` });
  const tip = name === "query" ? svg("path", { d: "M 0 -11 L 10 8 L -10 8 Z" })
    : svg("rect", { x: -9, y: -9, width: 18, height: 18 });
  const label = svg("text", { class: `ab-label ab-${name}` }, name);
  const handle = svg("g", {
    class: `ab-handle ab-${name}`, tabindex: 0, role: "slider", "data-handle": name,
    "aria-label": `Tip of the ${name}: drag it, or use the arrow keys`,
    "aria-valuemin": -REACH, "aria-valuemax": REACH,
  }, svg("circle", { r: 24, class: "ab-target" }), tip, label);
  drawing.append(shaft, handle);
  draggable(handle, drawing, {
    at: () => across(model.get(name)),
    moved: (x, y) => change(model, { [name]: [round(x / UNIT), round(-y / UNIT)] }),
    step: STEP * UNIT,
  });
  return () => {
    const [x, y] = model.get(name);
    line(shaft, [0, 0], [x, y]);
    set(label, "y", y > REACH - 0.5 ? 38 : -28); // inside the drawing
    set(handle, "transform", `translate(${across([x, y]).join(" ")})`);
    set(handle, "aria-valuenow", number(x, 1).replace("−", "-"));
    set(handle, "aria-valuetext", `${number(x, 1)} across, ${number(y, 1)} up`);
  };
}

/** Two sliders for the features of a vector, for those who would rather not drag. */
function coordinates(model, name) {
  return html("fieldset", { class: `ab-${name}` }, html("legend", {}, name), ...[0, 1].map((axis) =>
    slider(model, name, {
      label: `feature ${axis}`, min: -REACH, max: REACH, step: STEP,
      show: (vector) => number(vector[axis], 1), read: (vector) => vector[axis],
      write: (x) => model.get(name).map((old, i) => (i === axis ? x : old)),
    })));
}

export default { render: live(render) };

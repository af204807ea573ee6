// The online softmax walks over the scores, tile by tile.

const BYTES = 4; // of a number in float32

function render({ model, el }) {
  const wide = (...children) => html("div", { class: "ab-wide" }, ...children);
  const [steps, walk] = stepper(model, "step", { last: () => tiles(model).length });
  const board = html("div", { class: "ab-tiles ab-scores", role: "img", onclick: (event) => choose(model, board, event) });
  const values = html("dl", { class: "ab-values" }), strip = html("div", { class: "ab-strip", "aria-hidden": "true" });
  const history = html("div", {}), here = html("p", { class: "ab-legend" }), [state, say] = spoken();
  el.append(wide(steps), html("div", { class: "ab-board" }, board, here, legend()),
    html("div", { class: "ab-side" }, ...controls(model), values, html("p", { class: "ab-legend" }, "Held, as a part of the dense matrix:"), strip), wide(history, state));
  follow(model, ["query_chunk", "key_chunk", "causal", "step", "row"], () => {
    const all = tiles(model), step = Math.min(model.get("step"), all.length), scores = allScores(model);
    const lines = running(model, scores, all.slice(0, step));
    walk();
    board.replaceChildren(...squares(model, scores, all, step), band(model));
    set(board, "aria-label", where(model, all, step));
    here.textContent = rowHere(model, scores, all[step - 1]);
    const held = step && model.get("query_chunk") * (model.get("key_chunk") + 2 + model.get("v")[0].length);
    values.replaceChildren(...memory(held, model.get("q").length ** 2, step, all.length, count(model)));
    strip.replaceChildren(html("div", { class: "ab-fill", style: `width: ${100 * held / model.get("q").length ** 2}%` }));
    const finished = lines.length === all.filter(([first]) => first === block(model)).length;
    history.replaceChildren(table(model, lines, finished));
    say(`${where(model, all, step)} ${about(model, lines, finished)}`);
  });
}

const range = (n, step = 1) => Array.from({ length: Math.ceil(n / step) }, (_, i) => i * step);
const block = (model) => model.get("row") - model.get("row") % model.get("query_chunk");
const span = (first, size) => `${first} to ${first + size - 1}`;
const count = (model) => model.get("q").length ** 2 / model.get("query_chunk") / model.get("key_chunk");
const visible = (model, i, j) => !model.get("causal") || j <= i;

function controls(model) {
  const sizes = [2, 4, 8].map((size) => [size, String(size)]);
  return [
    choice(model, "query_chunk", { label: "queries in a tile", options: sizes }),
    choice(model, "key_chunk", { label: "keys in a tile", options: sizes }),
    toggle(model, "causal", "causal: skip the future"),
    slider(model, "row", { label: "row", min: 0, max: model.get("q").length - 1, step: 1, show: (x) => number(x, 0) }),
  ];
}

/** First query and first key of each tile that is computed, in order. */
function tiles(model) {
  const n = model.get("q").length, rows = model.get("query_chunk");
  return range(n, rows).flatMap((first) => range(n, model.get("key_chunk"))
    .filter((key) => visible(model, first + rows - 1, key)).map((key) => [first, key]));
}

const allScores = (model) => model.get("q").map((query) => attend(query, model.get("k"), model.get("v")).scores);

/** The chosen row's running values after each tile: only they are carried on from tile to tile. */
function running(model, scores, done) {
  const row = model.get("row"), v = model.get("v");
  let m = -Infinity, l = 0, acc = v[0].map(() => 0);
  return done.filter(([first]) => first === block(model)).map(([, key]) => {
    const keys = range(model.get("key_chunk")).map((c) => key + c).filter((j) => visible(model, row, j));
    const s = keys.map((j) => scores[row][j]), before = m;
    m = Math.max(m, ...s);
    const factor = Math.exp(before - m), p = s.map((x) => Math.exp(x - m));
    l = l * factor + p.reduce((sum, x) => sum + x, 0);
    acc = acc.map((x, f) => x * factor + inner(p, keys.map((j) => v[j][f])));
    return { key, s, m, factor, l, acc };
  });
}

/** One square for each tile: done, held now with its scores, to come, or skipped. */
function squares(model, scores, all, step) {
  const n = model.get("q").length, rows = model.get("query_chunk"), keys = model.get("key_chunk");
  return range(n, rows).flatMap((first) => range(n, keys).map((key) => {
    const at = all.findIndex(([i, j]) => i === first && j === key);
    const look = at < 0 ? "ab-masked" : at === step - 1 ? "ab-held" : "";
    const place = `grid-area: ${first + 1} / ${key + 1} / span ${rows} / span ${keys}`;
    const square = html("div", { class: look, style: place, "data-tile": at < 0 ? "skipped" : at < step - 1 ? "done" : at < step ? "held" : "later" });
    if (at === step - 1 && at >= 0) square.append(...scoreCells(model, scores, first, key));
    else if (at >= 0 && at < step) square.append("✓");
    if (look === "ab-held") square.style.gridTemplateColumns = `repeat(${keys}, 1fr)`;
    return square;
  }));
}

function scoreCells(model, scores, first, key) {
  return range(model.get("query_chunk")).flatMap((r) => range(model.get("key_chunk")).map((c) => {
    const [i, j] = [first + r, key + c], one = html("div", {}), x = scores[i][j];
    paint(one, "scores", `${i},${j}`, visible(model, i, j) ? { x, text: "", share: x / 6 } : {});
    return one;
  }));
}

/** The chosen row's scores in the tile that is held, in numbers. */
function rowHere(model, scores, tile) {
  const row = model.get("row");
  if (tile?.[0] !== block(model)) return `Row ${row} is not in the tile that is held.`;
  const texts = range(model.get("key_chunk")).map((c) => tile[1] + c)
    .map((j) => (visible(model, row, j) ? number(scores[row][j]) : "masked"));
  return `Scores of row ${row} in this tile: ${texts.join(", ")}.`;
}

/** The frame around the chosen row. */
function band(model) {
  const row = model.get("row") + 1;
  return html("div", { class: "ab-band", style: `grid-area: ${row} / 1 / ${row + 1} / -1` });
}

function choose(model, board, event) {
  const box = board.getBoundingClientRect(), n = model.get("q").length;
  change(model, { row: between(Math.floor((event.clientY - box.top) / box.height * n), 0, n - 1) });
}

const memory = (held, dense, step, computed, all) => [
  ...entry("numbers held now", "held", held, number(held, 0)),
  ...entry("the dense matrix", "dense", dense, number(dense, 0)),
  ...entry("bytes (float32)", "bytes", held * BYTES, `${held * BYTES} of ${dense * BYTES}`),
  ...entry("tiles computed", "computed", step, `${step} of ${computed}`),
  ...entry("tiles skipped", "skipped", all - computed, number(all - computed, 0)),
];

const legend = () => html("p", { class: "ab-legend" }, "Queries down, keys across. Framed: the chosen row, and the tile that is held. ✓ done, its scores are gone. ",
  html("span", { class: "ab-swatch ab-masked" }), " masked, skipped where a whole tile is.");

function table(model, lines, finished) {
  const head = (text, look) => html("th", { scope: "col", class: look }, text);
  const line = ({ key, s, m, factor, l, acc }, i) => {
    const largest = s.length ? cell("largest", i, Math.max(...s)) : html("td", {}, "masked");
    largest.classList.add("ab-roomy");
    return html("tr", { class: i === lines.length - 1 && "ab-strong" },
      html("th", { scope: "row" }, `${key}–${key + model.get("key_chunk") - 1}`), largest, cell("maximum", i, m),
      cell("factor", i, factor, { text: small(factor) }), cell("total", i, l), ...acc.map((x, f) => cell("accumulator", `${i},${f}`, x)));
  };
  const { l, acc } = lines.at(-1) ?? {};
  const result = finished && html("tr", {}, html("th", { scope: "row" }, "result, acc / l"), html("td", { class: "ab-roomy" }),
    html("td", { colspan: 3 }), ...acc.map((x, f) => cell("output", f, x / l)));
  return html("table", { class: "ab-table ab-value" }, html("caption", {}, `Row ${model.get("row")}, after each tile. Where m rises, the factor shrinks the sums so far.`),
    html("thead", {}, html("tr", {}, head("keys"), head("largest score", "ab-roomy"), head("maximum m"), head("factor"), head("sum l"),
      ...model.get("v")[0].map((_, f) => head(`acc ${f}`)))),
    html("tbody", {}, ...lines.map(line)), html("tfoot", {}, ...(result ? [result] : [])));
}

function where(model, all, step) {
  if (!step) return `No tile is computed yet; ${all.length} will be.`;
  const [first, key] = all[step - 1];
  return `Tile ${step} of ${all.length}: queries ${span(first, model.get("query_chunk"))}, keys ${span(key, model.get("key_chunk"))}.`;
}

function about(model, lines, finished) {
  const row = model.get("row");
  if (!lines.length) return `Row ${row} has not begun.`;
  const { m, l, acc } = lines.at(-1);
  const end = finished ? `It is finished: ${acc.map((x) => number(x / l)).join(", ")}.` : "It is not finished.";
  return `Row ${row}: maximum ${number(m)}, sum ${number(l)}, accumulator ${acc.map((x) => number(x)).join(", ")}. ${end}`;
}

export default { render: live(render) };

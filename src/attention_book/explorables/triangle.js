// Scores, mask and weights of six tokens as linked grids, and a probe that changes one token.

const STATE = ["rule", "window", "n_query", "length", "probe", "changed", "query", "key"];

function render({ model, el }) {
  const tokens = model.get("tokens"), pick = (query, key) => change(model, { query, key });
  const map = (name, title) => heatMap(name, { title, rows: tokens, columns: tokens, pick });
  const maps = { scores: map("scores", "Scores"), mask: map("mask", "Mask"), weights: map("weights", "Weights") };
  maps.scores[0].classList.add("ab-scores");
  const rows = html("tbody", {}), probe = button("", () => change(model, { changed: !model.get("changed") }), { "data-control": "changed" });
  const here = html("p", { class: "ab-wide ab-legend" }), [state, say] = spoken(), { hidden, changed } = controls(model, tokens, probe);
  el.append(...hidden, here, ...Object.values(maps).map(([table]) => side(table)),
    side(...changed, outputs(rows)), html("div", { class: "ab-wide" }, legend(), state));
  follow(model, STATE, () => {
    const now = heads(model, model.get("changed")), before = heads(model, false);
    const lit = { query: Math.max(model.get("query"), now.first), key: model.get("key") };
    for (const [name, [, draw]] of Object.entries(maps)) draw(cells(name, now, before, lit), now.first);
    const moves = now.rows.map((row, i) => largest(row.mixture, before.rows[i].mixture));
    rows.replaceChildren(...now.rows.map((row, i) => output(model, tokens[now.first + i], row, i, moves[i])));
    probe.textContent = `Turn the signs of key and value of “${tokens[model.get("probe")]}”`;
    set(probe, "aria-pressed", String(model.get("changed")));
    here.textContent = about(tokens, now, lit);
    say(summary(model, tokens, now, moves));
  });
}

const side = (...children) => html("div", { class: "ab-side" }, ...children);
const largest = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])));

function controls(model, tokens, probe) {
  const whole = (x) => number(x, 0), n = tokens.length;
  const count = (name, label, min = 1, max = n, show = whole) => slider(model, name, { label, min, max, step: 1, show });
  const rule = choice(model, "rule", {
    label: "attends to", options: [["causal", "itself and before"], ["window", "the last few"], ["none", "everything"]],
  });
  const window = count("window", "window");
  follow(model, ["rule"], () => { window.querySelector("input").disabled = model.get("rule") !== "window"; });
  return {
    hidden: [side(rule, window), side(count("n_query", "queries, the last"), count("length", "real keys", 0))],
    changed: [count("probe", "token to change", 0, n - 1, (i) => tokens[i]), probe],
  };
}

/** May the query at this position attend to this key? */
function allowed(model, query, key) {
  if (key >= model.get("length")) return false;
  if (model.get("rule") === "none") return true;
  return key <= query && (model.get("rule") === "causal" || key > query - model.get("window"));
}

/** What every query computes: the queries are the last positions. */
function heads(model, changed) {
  const turned = (rows) => rows.map((row, i) => (changed && i === model.get("probe") ? row.map((x) => -x) : row));
  const q = model.get("q"), k = turned(model.get("k")), v = turned(model.get("v"));
  const first = q.length - model.get("n_query");
  const rows = q.slice(first).map((query, i) => {
    const seen = (j) => allowed(model, first + i, j);
    return { seen, ...attend(query, k, v, seen) };
  });
  return { first, rows };
}

/** What the cells of one of the three grids hold. */
function cells(name, now, before, { query, key }) {
  return (i, j) => {
    const row = now.rows[i - now.first], lit = i === query && j === key;
    if (name === "mask") return row.seen(j) ? { x: 1, text: "✓", share: 0.5, lit } : { lit };
    if (name === "weights" && !row.seen(j)) return { lit };
    const x = row[name][j], moved = x !== before.rows[i - now.first][name][j];
    return { x, share: name === "scores" ? x / 3.5 : x, lit, look: moved && "ab-moved" };
  };
}

function outputs(rows) {
  const head = ["query", "value 0", "value 1", "moved by"].map((text) => html("th", { scope: "col" }, text));
  return html("table", { class: "ab-table ab-value" },
    html("caption", {}, html("strong", {}, "Outputs"), ", a mixture for each query"),
    html("thead", {}, html("tr", {}, ...head)), rows);
}

function output(model, token, { mixture }, i, moved) {
  const text = moved ? small(moved) : "0, stays";
  return html("tr", { class: moved && "ab-strong" }, html("th", { scope: "row" }, token),
    ...mixture.map((x, f) => cell("outputs", `${i},${f}`, x)), cell("moved", i, moved, { text: model.get("changed") ? text : "–" }));
}

const legend = () => html("p", { class: "ab-legend" },
  "Queries down, keys across. ", html("span", { class: "ab-swatch ab-masked" }), " masked ",
  html("span", { class: "ab-swatch ab-moved" }), " moved by the change");

function about(tokens, { first, rows }, { query, key }) {
  const row = rows[query - first];
  const rest = row.seen(key) ? `may attend, weight ${number(row.weights[key])}` : "masked";
  return `Query “${tokens[query]}”, key “${tokens[key]}”: score ${number(row.scores[key])}, ${rest}.`;
}

function summary(model, tokens, { first, rows }, moves) {
  const seen = rows.map((row) => tokens.filter((_, j) => row.seen(j)).length).reduce((a, b) => a + b);
  const start = `${seen} of ${rows.length * tokens.length} pairs may attend.`;
  if (!model.get("changed")) return `${start} No token is changed.`;
  const moved = tokens.filter((_, i) => i >= first && moves[i - first] > 0);
  return `${start} With “${tokens[model.get("probe")]}” changed, `
    + (moved.length ? `these outputs move: ${moved.join(", ")}; the others stay.` : "no output moves.");
}

export default { render: live(render) };

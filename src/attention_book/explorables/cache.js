// Decoding token by token: what a step computes, what it reads, what it computes again.

const BYTES = 4; // of a number in float32
const whole = (x) => x.toLocaleString("en");

function render({ model, el }) {
  const tokens = model.get("tokens"), wide = (...children) => html("div", { class: "ab-wide" }, ...children);
  const [steps, walk] = stepper(model, "step", { first: 1, last: () => tokens.length, beat: 1200 });
  const [weights, drawWeights] = heatMap("weights", { title: "Weights of the chosen head", rows: tokens, columns: tokens });
  const store = html("div", {}), values = html("dl", { class: "ab-values" }), counted = html("tbody", {});
  const [state, say] = spoken();
  el.append(wide(steps, html("div", { class: "ab-row" }, ...controls(model))), wide(weights, store, legend(), values),
    wide(counters(counted), state));
  let built, drawStore;
  follow(model, ["step", "cached", "n_kv_heads", "head"], () => {
    const n = model.get("n_kv_heads"), step = model.get("step"), results = layer(model);
    if (built !== n) {
      const [table, draw] = heatMap("store", { title: "Keys and values", rows: labels(n), columns: tokens });
      store.replaceChildren(table);
      [built, drawStore] = [n, draw];
    }
    walk();
    drawWeights((i, j) => weight(model, results, i, j));
    drawStore((row, j) => kept(model, row, j));
    values.replaceChildren(...facts(model, results[step - 1].mixture));
    counted.replaceChildren(...Object.entries(work(model)).map(([name, numbers]) => line(name, numbers)));
    say(summary(model));
  });
}

function controls(model) {
  return [
    toggle(model, "cached", "with a cache"),
    choice(model, "n_kv_heads", {
      label: "keys and values", options: [[4, "4 heads, one each"], [2, "2 heads, shared by 2"], [1, "1 head for all"]],
    }),
    slider(model, "head", { label: "query head", min: 0, max: heads(model) - 1, step: 1, show: whole }),
  ];
}

const heads = (model) => model.get("wq")[0].length / model.get("d_head");
const labels = (n) => Array.from({ length: 2 * n }, (_, row) => `${row % 2 ? "V" : "K"} ${Math.floor(row / 2)}`);
const group = (model, head) => Math.floor(head * model.get("n_kv_heads") / heads(model));

/** What the chosen head computes for each token: it looks at itself and at what came before. */
function layer(model) {
  const d = model.get("d_head"), head = model.get("head"), x = model.get("x");
  const project = (name, h) => x.map((row) => Array.from({ length: d }, (_, c) =>
    inner(row, model.get(name).map((line) => line[h * d + c]))));
  const q = project("wq", head), k = project("wk", group(model, head)), v = project("wv", group(model, head));
  return q.map((query, i) => attend(query, k, v, (j) => j <= i));
}

function weight(model, results, i, j) {
  const step = model.get("step");
  if (Math.max(i, j) >= step) return { text: "" };
  if (j > i) return {};
  const x = results[i].weights[j];
  if (i === step - 1) return { x, share: x, lit: true };
  return model.get("cached") ? { x, look: "ab-past" } : { x, share: x, look: "ab-moved" };
}

/** A cell of the cache: new, read, computed again, or still empty. */
function kept(model, row, j) {
  const step = model.get("step"), look = row % 2 ? "ab-value" : "ab-key";
  if (j >= step) return { text: "" };
  if (j === step - 1) return { text: "new", share: 1, look, lit: true };
  return model.get("cached") ? { text: "read", share: 0.3, look } : { text: "again", share: 1, look: `${look} ab-moved` };
}

function legend() {
  const sign = (look, text) => [html("span", { class: `ab-swatch ${look}` }), ` ${text} `];
  return html("p", { class: "ab-legend" }, "Queries down, keys across. ", ...sign("ab-lit", "computed, new"),
    ...sign("ab-moved", "computed again"), ...sign("ab-masked", "masked."), "Grey: from earlier steps, not computed now.");
}

function facts(model, mixture) {
  const step = model.get("step"), head = model.get("head"), a = tokenBytes(model, model.get("n_kv_heads"));
  const shares = Array.from({ length: heads(model) }, (_, h) => h).filter((h) => group(model, h) === group(model, head));
  return [
    ...entry(`K ${group(model, head)} and V ${group(model, head)} serve`, "served", JSON.stringify(shares),
      `query head${shares.length > 1 ? "s" : ""} ${shares.join(", ")}`),
    ...mixture.flatMap((x, f) => entry(`mixture of “${model.get("tokens")[step - 1]}”, feature ${f}`, `mixture-${f}`, x)),
    ...entry("the cache holds (float32)", "held", model.get("cached") ? step * a : 0, `${whole(model.get("cached") ? step * a : 0)} bytes`),
    ...entry("with a pair for each query head", "unshared", step * tokenBytes(model, heads(model)),
      `${whole(step * tokenBytes(model, heads(model)))} bytes`),
  ];
}

const tokenBytes = (model, n) => 2 * n * model.get("d_head") * BYTES;

/** [this step, all steps], each [with, without]; keys to come after a query are not counted. */
function work(model) {
  const n = model.get("n_kv_heads"), all = heads(model);
  const row = (all + 2 * n) * model.get("d_head");
  const both = (at) => {
    const each = Array.from({ length: model.get("step") }, (_, i) => at(i + 1));
    return [each.at(-1), [0, 1].map((way) => each.reduce((sum, pair) => sum + pair[way], 0))];
  };
  return {
    projections: both((t) => [row, row * t]),
    scores: both((t) => [all * t, all * t * (t + 1) / 2]),
    bytes: both((t) => [tokenBytes(model, n) * t, 0]),
  };
}

const NAMES = {
  projections: "dot products for queries, keys, values", scores: "dot products for scores", bytes: "bytes of keys and values read, the new ones too",
};

const line = (name, numbers) => html("tr", {}, html("th", { scope: "row" }, NAMES[name]), ...numbers.flatMap((pair, i) =>
  pair.map((x, j) => cell(name, `${i},${j}`, x, { text: whole(x) }))));

function counters(rows) {
  const head = (text, span) => html("th", { scope: span ? "colgroup" : "col", colspan: span }, text);
  return html("table", { class: "ab-table" }, html("caption", {}, "Work, with a cache and without"),
    html("thead", {}, html("tr", {}, html("td", {}), head("this step", 2), head("all so far", 2)),
      html("tr", {}, html("td", {}), ...["with", "without", "with", "without"].map((text) => head(text)))), rows);
}

function summary(model) {
  const step = model.get("step"), { scores } = work(model), token = model.get("tokens")[step - 1];
  const [now, total] = scores.map((pair) => pair[model.get("cached") ? 0 : 1]);
  const start = `Step ${step}, “${token}”, ${model.get("cached") ? "with" : "without"} a cache: ${whole(now)} scores in this step, ${whole(total)} so far.`;
  if (!model.get("cached")) return `${start} Keys and values of ${step - 1} earlier tokens are computed again.`;
  return `${start} Keys and values of ${step - 1} earlier tokens are read, those of the newest are computed.`;
}

export default { render: live(render) };

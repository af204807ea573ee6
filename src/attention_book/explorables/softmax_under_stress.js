// The softmax, naive and stable, in float16 and float32: every operation is rounded.

const MOST = 200; // of the shift, either way
const TYPES = { float16: half, float32: Math.fround };
const LOGITS = [0, 1, 2, 3];

/** Round to float16: 11 bits, steps of 2^−24 below 2^−14, and infinity from 65520 on. */
function half(x) {
  if (!(Math.abs(x) < 65520)) return x * Infinity; // NaN stays NaN
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(x))), -14);
  const ground = 1.5 * 2 ** (52 + exponent - 10); // beside it, doubles are as coarse as float16
  return x + ground - ground;
}

/** Logits / temperature + shift, then the softmax, with `round` after each operation. */
function rounded(model, round, shift, subtract) {
  const temperature = round(model.get("temperature"));
  let x = model.get("logits").map((logit) => round(round(round(logit) / temperature) + round(shift)));
  const seen = x;
  if (subtract) x = x.map((one) => round(one - Math.max(...seen)));
  const exponentials = x.map((one) => round(Math.exp(one)));
  const total = exponentials.reduce((sum, one) => round(sum + one), 0);
  return { seen, exponentials, total, weights: exponentials.map((one) => round(one / total)) };
}

function render({ model, el }) {
  const strips = html("div", { class: "ab-wide" }), tables = html("div", { class: "ab-wide" });
  const [state, say] = spoken();
  el.append(...controls(model), strips, tables, html("div", { class: "ab-wide" }, state));
  follow(model, ["logits", "temperature", "shift"], () => {
    const exact = softmax(model.get("logits").map((logit) => logit / model.get("temperature")));
    const said = [], drawn = Object.entries(TYPES).map(([name, round]) => {
      const results = [false, true].map((subtract) => judged(model, round, subtract, exact));
      said.push(`In ${name} the naive softmax ${results[0].text}, the stable one ${results[1].text}.`);
      return table(name, results);
    });
    tables.replaceChildren(...drawn);
    strips.replaceChildren(html("p", { class: "ab-title" }, "Where the naive softmax breaks"),
      ...Object.entries(TYPES).flatMap(([name, round]) => strip(model, name, round)),
      html("div", { class: "ab-ticks" }, ...[-MOST, 0, MOST].map((x) => html("span", {}, `shift ${number(x, 0)}`))));
    say(`Temperature ${number(model.get("temperature"))}, shift ${number(model.get("shift"), 0)}. ${said.join(" ")}`);
  });
}

function controls(model) {
  const logits = LOGITS.map((i) => slider(model, "logits", {
    label: `logit ${i}`, min: -20, max: 20, step: 0.5, show: (all) => number(all[i], 1), read: (all) => all[i],
    write: (x) => model.get("logits").map((old, j) => (i === j ? x : old)),
  }));
  return [html("div", { class: "ab-side" }, ...logits), html("div", { class: "ab-side" },
    slider(model, "temperature", {
      label: "temperature", min: -1, max: 1, step: 0.1, read: Math.log10,
      write: (power) => Number((10 ** power).toPrecision(3)),
    }),
    slider(model, "shift", { label: "shift", min: -MOST, max: MOST, step: 1, show: (x) => number(x, 0) }))];
}

/** The result with its largest error, and whether there was no sum to divide by. */
function judged(model, round, subtract, exact) {
  const result = rounded(model, round, model.get("shift"), subtract);
  const error = Math.max(...result.weights.map((weight, i) => Math.abs(weight - exact[i])));
  const broken = result.total === Infinity || result.total === 0;
  const text = broken ? `breaks: its sum is ${number(result.total, 0)}` : `is off by at most ${small(error)}`;
  return { ...result, error, broken, text };
}

/** Hatch the shifts at which the naive softmax breaks, found by trying them all. */
function strip(model, name, round) {
  const shifts = Array.from({ length: 2 * MOST + 1 }, (_, i) => i - MOST);
  const total = (shift) => rounded(model, round, shift, false).total;
  const low = shifts.findLast((shift) => total(shift) === 0) ?? null;
  const high = shifts.find((shift) => total(shift) === Infinity) ?? null;
  const at = (shift) => `${(shift + MOST) / MOST * 50}%`;
  const parts = [low !== null && `the sum is 0 up to shift ${number(low, 0)}`,
    high !== null && `the sum is ∞ from shift ${number(high, 0)}`].filter(Boolean);
  return [html("div", { "data-value": "breaks", "data-index": name, "data-exact": JSON.stringify([low, high]) },
    `${name}: ${parts.join(", ") || "nowhere"}`),
  html("div", { class: "ab-strip", "aria-hidden": "true" },
    html("div", { class: "ab-broken", style: `left: 0; width: ${low === null ? 0 : at(low)}` }),
    html("div", { class: "ab-broken", style: `left: ${high === null ? "100%" : at(high)}; right: 0` }),
    html("div", { class: "ab-now", style: `left: ${at(model.get("shift"))}` }))];
}

function table(name, results) {
  const head = (span, ...text) => html("th", { scope: span ? "colgroup" : "col", colspan: span }, ...text);
  const power = (text) => head(null, "e", html("sup", {}, text));
  const row = (first, ...cells) => html("tr", {}, html("th", { scope: "row" }, first), ...cells);
  const ways = [["naive", results[0]], ["stable", results[1]]];
  return html("table", { class: "ab-table" },
    html("caption", {}, `In ${name}, with x = logit / temperature + shift and m the largest x`),
    html("thead", {}, html("tr", {}, html("td", {}), head(2, "naive"), head(2, "stable")),
      html("tr", {}, head(null, "x"), power("x"), head(null, "weight"), power("x − m"), head(null, "weight"))),
    html("tbody", {}, ...LOGITS.map((i) => row(number(results[0].seen[i]), ...ways.flatMap(([way, result]) => [
      cell(`${way}-exponentials`, `${name},${i}`, result.exponentials[i], { text: small(result.exponentials[i]) }),
      cell(`${way}-weights`, `${name},${i}`, result.weights[i], { text: number(result.weights[i], 4), bar: true }),
    ]))),
    row("sum", ...ways.flatMap(([way, result]) =>
      [cell(`${way}-total`, name, result.total, { text: small(result.total) }), html("td", {})])),
    row("result", ...ways.map(([way, { error, broken, text }]) => html("td", {
      colspan: 2, class: broken && "ab-broken", "data-value": `${way}-error`, "data-index": name, "data-exact": error,
    }, html("span", {}, text))))));
}

export default { render: live(render) };

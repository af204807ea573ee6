// Several heads over one sentence, and the split and the merge of a wide array, cell by cell.

const WIDTH = 4; // features of all heads together
const NAMES = ["human", "animal", "human", "animal"];

function render({ model, el }) {
  const tokens = model.get("tokens"), last = tokens.length * WIDTH;
  const weights = html("div", { class: "ab-row ab-pairs" }), received = html("div", {});
  const moving = html("div", { class: "ab-row" }), now = html("p", { class: "ab-legend" });
  const [steps, walk] = stepper(model, "step", { last: () => last });
  const [state, say] = spoken();
  const wide = (...children) => html("div", { class: "ab-wide" }, ...children);
  el.append(wide(questions(model), heads(model)), wide(weights, received), wide(way(model), steps, now, moving, state));
  let built, maps;
  follow(model, ["questions", "n_heads", "way", "step"], () => {
    const n = model.get("n_heads"), results = attendAll(model);
    if (built !== n) {
      maps = build(tokens, n);
      weights.replaceChildren(...maps.weights.map(([table]) => table));
      moving.replaceChildren(maps.wide[0], html("div", { class: "ab-row ab-pairs" }, ...maps.heads.map(([table]) => table)));
      built = n;
    }
    maps.weights.forEach(([, draw], h) => draw((i, j) => ({ x: results[h][i].weights[j], share: results[h][i].weights[j] })));
    received.replaceChildren(...mixture(tokens[model.get("asks")], results.map((rows) => rows[model.get("asks")].mixture)));
    walk();
    now.textContent = carry(model, maps, n);
    say(`${most(tokens, results, model.get("asks"))} ${now.textContent}`);
  });
}

function questions(model) {
  const sliders = NAMES.map((name, f) => slider(model, "questions", {
    label: `${f}: ${name}`, min: -9, max: 9, step: 1, show: (all) => number(all[f], 0), read: (all) => all[f],
    write: (x) => model.get("questions").map((old, g) => (f === g ? x : old)),
  }));
  return html("fieldset", { class: "ab-query" }, html("legend", {}, "What “fed” asks for: its wide query"),
    html("div", { class: "ab-row" }, ...sliders));
}

const heads = (model) => choice(model, "n_heads", {
  label: "cut into", options: [[1, "1 head of 4 features"], [2, "2 heads of 2"], [4, "4 heads of 1"]],
});
const way = (model) => choice(model, "way", {
  label: "Cell by cell:", options: [["split", "split, wide to heads"], ["merge", "merge, heads to wide"]],
});

/** For each head, what every query computes from its part of the wide vectors. */
function attendAll(model) {
  const nouns = model.get("nouns").map((row) => [...row, ...row]), n = model.get("n_heads"), d = WIDTH / n;
  const queries = nouns.map((_, i) => (i === model.get("asks") ? model.get("questions") : Array(WIDTH).fill(0)));
  return Array.from({ length: n }, (_, h) => {
    const part = (rows) => rows.map((row) => row.slice(h * d, (h + 1) * d));
    return part(queries).map((query) => attend(query, part(nouns), part(nouns)));
  });
}

function build(tokens, n) {
  const features = (d) => Array.from({ length: d }, (_, f) => String(f));
  const each = (make) => Array.from({ length: n }, (_, h) => make(h));
  return {
    weights: each((h) => heatMap(`weights-${h}`, { title: `Head ${h}, weights`, rows: tokens, columns: tokens })),
    wide: heatMap("wide", { title: `wide (${tokens.length}, ${WIDTH})`, rows: tokens, columns: features(WIDTH) }),
    heads: each((h) => heatMap(`split-${h}`, { title: `heads[${h}]`, rows: tokens, columns: features(WIDTH / n) })),
  };
}

/** The mixtures of the word that asks, side by side. */
function mixture(token, parts) {
  const head = (d, text) => html("th", { scope: "colgroup", colspan: d }, text);
  return [html("table", { class: "ab-table ab-value" },
    html("caption", {}, `What “${token}” receives: the heads’ mixtures, side by side`),
    html("thead", {}, html("tr", {}, html("td", {}), ...parts.map((part, h) => head(part.length, `head ${h}`))),
      html("tr", {}, html("td", {}), ...NAMES.map((name) => html("th", { scope: "col" }, name)))),
    html("tbody", {}, html("tr", {}, html("th", { scope: "row" }, token), ...parts.flat().map((x, f) => cell("received", f, x, { bar: true })))))];
}

/** Draw what has been carried over; the numbers of the target come in the order of its memory. */
function carry(model, { wide, heads: split }, n) {
  const d = WIDTH / n, splits = model.get("way") === "split", step = model.get("step");
  const { length } = model.get("tokens");
  const order = (i, f) => (splits ? (Math.floor(f / d) * length + i) * d + f % d : i * WIDTH + f);
  const draw = (i, f, target) => ({
    ...(target && order(i, f) >= step ? { text: "" } : { x: 10 * i + f, text: String(10 * i + f).padStart(2, "0") }),
    lit: order(i, f) === step - 1, share: target && order(i, f) >= step ? 0 : 0.1 + 0.2 * Math.floor(f / d),
  });
  wide[1]((i, f) => draw(i, f, !splits));
  split.forEach(([, paintHead], h) => paintHead((i, c) => draw(i, h * d + c, splits)));
  if (!step) return `Nothing is carried over yet; ${length * WIDTH} cells will be.`;
  const at = step - 1, [h, i, c] = splits ? [Math.floor(at / (length * d)), Math.floor(at / d) % length, at % d]
    : [Math.floor(at % WIDTH / d), Math.floor(at / WIDTH), at % d];
  const [one, other] = [`heads[${h}, ${i}, ${c}]`, `wide[${i}, ${h * d + c}]`];
  return `Step ${step}: ${splits ? `${one} = ${other}` : `${other} = ${one}`} = ${10 * i + h * d + c}.`;
}

function most(tokens, results, asks) {
  const found = results.map((rows, h) => {
    const { weights } = rows[asks], largest = Math.max(...weights);
    if (largest - Math.min(...weights) < 1e-9) return `head ${h} mixes evenly`;
    const where = tokens.filter((_, j) => largest - weights[j] < 1e-9).join(" and ");
    return `head ${h} puts most weight, ${number(largest)}, on ${where}`;
  });
  return `For “${tokens[asks]}”, ${found.join(", ")}.`;
}

export default { render: live(render) };

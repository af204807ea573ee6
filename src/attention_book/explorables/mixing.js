// A word of a sentence asks all words: scores, weights, and the mixture of their values.

const TOKENS = ["Mia", "fed", "the", "cat", "because", "it"];
const FEATURES = ["human", "animal", "action", "pronoun"];
const VALUES = FEATURES.slice(0, 3); // what wv hands over
const WQ = [[-6, 6], [0, 0], [3, 3], [6, 0]]; // asks for: animal, human
const WK = [[0, 1], [1, 0], [0, 0], [0, -1]];

const times = (row, matrix) => matrix[0].map((_, j) => row.reduce((sum, x, i) => sum + x * matrix[i][j], 0));
const rowOf = (model, i) => model.get("features").slice(i * FEATURES.length, (i + 1) * FEATURES.length);

function head(model) {
  const q = times(rowOf(model, model.get("word")), WQ);
  const k = TOKENS.map((_, i) => times(rowOf(model, i), WK));
  const v = TOKENS.map((_, i) => rowOf(model, i).slice(0, VALUES.length));
  const scores = k.map((key) => (q[0] * key[0] + q[1] * key[1]) * 2 ** -0.5);
  const weights = softmax(scores);
  return { q, k, v, scores, weights, mixture: times(weights, v) };
}

function render({ model, el }) {
  const words = TOKENS.map((token, i) => button(token, () => change(model, { word: i }), { "data-word": i }));
  const rows = html("tbody", {}), mixture = html("tfoot", {});
  const [state, say] = spoken();
  el.append(
    html("div", { class: "ab-wide ab-words", role: "group", "aria-label": "The word that asks" }, ...words),
    html("div", { class: "ab-wide" }, html("table", { class: "ab-table" },
      html("caption", {}, "What the chosen word computes"), heading(), rows, mixture)),
    editor(model), html("div", { class: "ab-wide" }, state));
  follow(model, ["word", "features"], () => {
    const word = model.get("word"), result = head(model);
    words.forEach((one, i) => set(one, "aria-pressed", String(i === word)));
    rows.replaceChildren(...TOKENS.map((token, i) => line(token, i, result)));
    mixture.replaceChildren(html("tr", {}, html("th", { scope: "row" }, "mixture"),
      html("td", { class: "ab-roomy", colspan: 2 }), html("td", {}), html("td", {}),
      ...result.mixture.map((x, j) => cell("mixture", j, x))));
    const most = result.weights.indexOf(Math.max(...result.weights));
    say(`“${TOKENS[word]}” asks for an animal with strength ${number(result.q[0], 1)} and a human with `
      + `${number(result.q[1], 1)}. Its largest weight, ${number(result.weights[most])}, is for “${TOKENS[most]}”. It receives `
      + `${VALUES.map((name, j) => `${name} ${number(result.mixture[j])}`).join(", ")}.`);
  });
}

function heading() {
  const th = (text, more) => html("th", { scope: "col", ...more }, text);
  const group = (text, span, look) => th(text, { scope: "colgroup", colspan: span, class: look });
  return html("thead", {},
    html("tr", {}, th("word", { rowspan: 2 }), group("key", 2, "ab-key ab-roomy"),
      th("score", { rowspan: 2 }), th("weight", { rowspan: 2 }), group("value", VALUES.length, "ab-value")),
    html("tr", {}, ...["animal", "human"].map((name) => th(name, { class: "ab-roomy" })),
      ...VALUES.map((name) => th(name))));
}

function line(token, i, { k, v, scores, weights }) {
  const given = (name, x, j) => cell(name, `${i},${j}`, x, { text: number(x, Number.isInteger(10 * x) ? 1 : 2) });
  const keys = k[i].map((x, j) => given("keys", x, j));
  keys.forEach((one) => set(one, "class", "ab-roomy"));
  return html("tr", {}, html("th", { scope: "row" }, token), ...keys, cell("scores", i, scores[i]),
    cell("weights", i, weights[i], { bar: true }), ...v[i].map((x, j) => given("values", x, j)));
}

/** The vectors that were set by hand, each number in a field of its own. */
function editor(model) {
  const start = [...model.get("features")];
  const fields = start.map((_, at) => {
    const field = html("input", {
      type: "number", min: -3, max: 3, step: 0.5, "data-feature": at,
      "aria-label": `${TOKENS[Math.floor(at / FEATURES.length)]}, ${FEATURES[at % FEATURES.length]}`,
      onchange: () => {
        const wanted = field.value === "" ? model.get("features")[at] : between(Number(field.value), -3, 3);
        field.value = wanted; // also where it is what the model has
        change(model, { features: model.get("features").map((x, i) => (i === at ? wanted : x)) });
      },
    });
    return field;
  });
  follow(model, ["features"], () => fields.forEach((field, at) => { field.value = model.get("features")[at]; }));
  const row = (token, i) => html("tr", {}, html("th", { scope: "row" }, token),
    ...fields.slice(i * FEATURES.length, (i + 1) * FEATURES.length).map((field) => html("td", {}, field)));
  return html("details", { class: "ab-wide", open: true }, html("summary", {}, "Change what each word is"),
    html("table", { class: "ab-table ab-fields" }, html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "word"),
      ...FEATURES.map((name) => html("th", { scope: "col" }, name)))), html("tbody", {}, ...TOKENS.map(row))),
    button("As it was", () => change(model, { features: start })));
}

export default { render: live(render) };

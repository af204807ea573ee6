// One token's vector on its way through a block: what each part adds, and what is lost without.

const SUBJECTS = ["cats", "dogs"], BASE = 100;
const FEATURES = ["always 1", "is cats", "is dogs", "is like", "after cats", "after dogs", "after like",
  "next milk", "next bones"];
const STATIONS = ["x", "norm", "finds", "sum", "norm", "adds", "sum"];
const PARTS = { norms: "norms", attention: "attention", feed_forward: "feed-forward", residual: "residual" };

const times = (row, matrix) => matrix[0].map((_, j) => row.reduce((sum, x, i) => sum + x * matrix[i][j], 0));
const plus = (a, b) => a.map((x, i) => x + b[i]);
const silu = (x) => (x * Math.exp(Math.min(x, 0))) / (1 + Math.exp(-Math.abs(x)));
const given = (here, row) => row.map((x) => (here ? x : 0));

/** Turn each pair of neighbouring features by its speed times the position. */
function turned(row, position) {
  return row.map((x, i) => {
    const angle = position * BASE ** (-(i - (i % 2)) / row.length);
    const other = i % 2 ? row[i - 1] : -row[i + 1];
    return x * Math.cos(angle) + other * Math.sin(angle);
  });
}

/** The vector of the last token at each station, as the package computes it. */
function walk(model) {
  const w = model.get("weights"), keeps = model.get("residual");
  const norm = (row) => {
    const root = Math.sqrt(inner(row, row) / row.length + 1e-5);
    return model.get("norms") ? row.map((x) => x / root) : row;
  };
  const token = (word) => FEATURES.map((name) => Number(name === "always 1" || name === `is ${word}`));
  const rows = [token(model.get("subject")), token("like")], [, x] = rows, normed = rows.map(norm);
  const { weights, mixture } = attend(turned(times(normed[1], w.wq), 1),
    normed.map((row, i) => turned(times(row, w.wk), i)), normed.map((row) => times(row, w.wv)));
  const found = given(model.get("attention"), times(mixture, w.wo));
  const middle = plus(given(keeps, x), found), read = norm(middle);
  const hidden = times(read, w.gate).map((gate, u) => silu(gate) * times(read, w.up)[u]);
  const made = given(model.get("feed_forward"), times(hidden, w.down));
  return { weights, stations: [x, normed[1], found, middle, read, made, plus(given(keeps, middle), made)] };
}

/** What happens at a station, in a sentence. */
function told(model, step, { weights, stations }) {
  const off = (part, text) => (model.get(part) ? text : `There is no ${PARTS[part]} part: nothing is found.`);
  const size = number(Math.sqrt(inner(stations[step], stations[step]) / FEATURES.length));
  const sum = model.get("residual") ? "It is added to what came." : "It replaces what came: the residual is left out.";
  return [
    "The vector of “like” as it comes in: which word it is.",
    model.get("norms") ? `Normed: its numbers have the size ${size}.` : "There is no norm: the numbers stay as they are.",
    off("attention", `Attention puts ${number(weights[0])} of its weight on the word before, and finds “${model.get("subject")}”.`),
    sum,
    model.get("norms") ? `Normed again: the size is ${size}.` : "There is no norm: the numbers stay as they are.",
    off("feed_forward", "The feed-forward network looks the two words up, and writes what comes next."),
    `${sum} ${verdict(stations[6])}`,
  ][step];
}

function verdict(after) {
  const [milk, bones] = after.slice(7);
  if (Math.max(milk, bones) < 0.5) return "The vector does not say what comes next.";
  return `The vector now says: next comes “${milk > bones ? "milk" : "bones"}”.`;
}

function render({ model, el }) {
  const last = STATIONS.length - 1;
  const [steps, update] = stepper(model, "step", { last: () => last, beat: 1200 });
  const [table, draw] = heatMap("stations", { title: "The vector of “like”", rows: FEATURES, columns: STATIONS });
  const [state, say] = spoken();
  set(table, "class", "ab-heat ab-scores ab-named");
  el.append(
    html("div", { class: "ab-wide" },
      choice(model, "subject", { label: "The text", options: SUBJECTS.map((word) => [word, `${word} like`]) }), steps),
    html("div", { class: "ab-wide ab-row", role: "group", "aria-label": "The parts of the block" },
      ...Object.entries(PARTS).map(([name, label]) => toggle(model, name, label))),
    html("div", { class: "ab-wide" }, table, state));
  follow(model, ["subject", "step", ...Object.keys(PARTS)], () => {
    const found = walk(model), step = model.get("step");
    update();
    draw((i, j) => (j > step ? { text: "" }
      : { x: found.stations[j][i], share: found.stations[j][i] / 2, lit: j === step }));
    say(`Station ${step} of ${last}, ${STATIONS[step]}. ${told(model, step, found)}`);
  });
}

export default { render: live(render) };

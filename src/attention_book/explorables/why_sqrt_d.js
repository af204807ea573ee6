// Scores of random queries and keys, as they are and divided by √d, and the softmax over a row.

const N_QUERY = 250, N_KEY = 8, D_MOST = 512;
const BIN = 2, REACH = 85; // bins of width 2, the middle one from −1 to 1; the largest score is 81.1

let vectors; // drawn once for all figures of a page

function render({ model, el }) {
  vectors ??= normals(N_QUERY * (1 + N_KEY) * D_MOST);
  const unscaled = side("q · k", "unscaled"), scaled = side("q · k / √d", "scaled");
  const measured = html("tbody", {}), [state, say] = spoken();
  el.append(controls(model), unscaled.element, scaled.element, html("div", { class: "ab-wide" }, measures(measured), state));
  follow(model, ["d", "query"], () => {
    const d = model.get("d"), query = model.get("query"), scores = allScores(d);
    const plain = unscaled.draw(scores, query);
    const even = scaled.draw(scores.map((score) => score * d ** -0.5), query);
    measured.replaceChildren(...Object.entries(MEASURES).map(([key, label]) => html("tr", {},
      html("th", { scope: "row" }, label), ...[["unscaled", plain], ["scaled", even]].map(([name, side]) =>
        cell(`${name}-${key}`, null, side[key], { text: key === "gradient" ? small(side[key]) : number(side[key]) })))));
    say(`With d = ${d} the scores have a standard deviation of ${number(plain.spread)}, `
      + `divided by √d of ${number(even.spread)}. The largest weight of query ${query} is `
      + `${number(plain.most)}, with scaled scores ${number(even.most)}.`);
  });
}

function controls(model) {
  const whole = (x) => number(x, 0);
  return html("div", { class: "ab-wide" },
    slider(model, "d", {
      label: "d, features of a query", min: 0, max: Math.log2(D_MOST), step: 1,
      show: whole, read: Math.log2, write: (power) => 2 ** power,
    }),
    slider(model, "query", { label: "query", min: 0, max: N_QUERY - 1, step: 1, show: whole }));
}

/** Standard normal numbers, the same as in Python: why_sqrt_d.py says how and from whom. */
function normals(size) {
  const result = new Float64Array(size);
  for (let i = 0; i < size; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(uniform(i))), angle = 2 * Math.PI * uniform(i + 1);
    result[i] = radius * Math.cos(angle);
    result[i + 1] = radius * Math.sin(angle);
  }
  return result;
}

function uniform(counter) {
  let bits = Math.imul(counter, 2654435769);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (((bits ^ (bits >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}

/** The scores of each query with its own keys, from the first d features of each vector. */
function allScores(d) {
  const scores = [];
  for (let i = 0; i < N_QUERY; i++) {
    const q = i * (1 + N_KEY) * D_MOST;
    for (let j = 1; j <= N_KEY; j++) {
      let score = 0;
      for (let f = 0; f < d; f++) score += vectors[q + f] * vectors[q + j * D_MOST + f];
      scores.push(score);
    }
  }
  return scores;
}

/** One of the two halves; `draw(scores, query)` fills it and returns what is measured on it. */
function side(title, name) {
  const bars = svg("g", {}), rows = html("tbody", {});
  const drawing = svg("svg", {
    viewBox: `${-REACH} -58 ${2 * REACH} 58`, class: "ab-drawing ab-small", role: "img",
  }, bars);
  const element = frame(title, drawing, rows);
  const draw = (scores, query) => {
    const row = rowOf(scores, query), spread = deviation(scores);
    histogram(bars, scores);
    set(drawing, "aria-label", `Histogram of ${scores.length} scores, standard deviation ${number(spread)}`);
    const weights = softmax(row);
    rows.replaceChildren(...row.map((score, j) => html("tr", {}, html("th", { scope: "row" }, j),
      cell(`${name}-scores`, j, score), cell(`${name}-weights`, j, weights[j], { bar: true }))));
    const tops = Array.from({ length: N_QUERY }, (_, i) => Math.max(...softmax(rowOf(scores, i))));
    return { entropy: entropy(row), gradient: steepest(weights), spread, largest: mean(tops), most: tops[query] };
  };
  return { element, draw };
}

function frame(title, drawing, rows) {
  const ticks = [-REACH, 0, REACH].map((x) => html("span", {}, number(x, 0)));
  const head = ["key", "score", "weight"].map((text) => html("th", { scope: "col" }, text));
  return html("div", { class: "ab-half" }, html("p", { class: "ab-title" }, `Scores ${title}`), drawing,
    html("div", { class: "ab-ticks" }, ...ticks), html("table", { class: "ab-table" },
      html("caption", {}, "The chosen query’s row"), html("thead", {}, html("tr", {}, ...head)), rows));
}

const rowOf = (scores, query) => scores.slice(query * N_KEY, (query + 1) * N_KEY);
const mean = (xs) => xs.reduce((sum, x) => sum + x, 0) / xs.length;

function deviation(scores) {
  const middle = mean(scores);
  return Math.sqrt(mean(scores.map((x) => (x - middle) ** 2)));
}

const MEASURES = {
  entropy: "entropy of the weights, nats", gradient: "largest entry of the softmax’s gradient",
  spread: "standard deviation of all scores", largest: "largest weight, mean of all queries",
};

function measures(rows) {
  const head = ["q · k", "q · k / √d"].map((text) => html("th", { scope: "col" }, text));
  return html("table", { class: "ab-table" }, html("caption", {}, "Both ways beside each other"),
    html("thead", {}, html("tr", {}, html("td", {}), ...head)), rows);
}

/** Draw the bars, the highest as high as there is room. */
function histogram(bars, scores) {
  const counts = Array(REACH / BIN * 2).fill(0);
  for (const score of scores) counts[Math.floor((score + REACH) / BIN)]++;
  const most = Math.max(...counts);
  bars.replaceChildren(...counts.map((count, i) => svg("rect", {
    x: i * BIN - REACH, width: BIN * 0.9, y: -56 * count / most, height: 56 * count / most,
  })));
}

/** −Σ p ln p, with ln p from the scores: it is right where a weight is too small to hold. */
function entropy(row) {
  const most = Math.max(...row);
  const log = most + Math.log(row.reduce((sum, x) => sum + Math.exp(x - most), 0));
  return row.reduce((sum, x) => sum - Math.exp(x - log) * (x - log), 0);
}

/** The largest entry, in size, of the derivative p_i (δ_ij − p_j). */
const steepest = (p) => Math.max(...p.flatMap((a, i) => p.map((b, j) => Math.abs(a * ((i === j) - b)))));

export default { render: live(render) };

// Heads of the real model over a text: what a token looks at, word by word.

const SHOWN = 0.05; // a weight from here on has its number below the word

/** What is chosen: the tokens, which of them looks, and its weights. */
function moment(model) {
  const { texts, tokens, heads, weights } = model.get("data");
  const text = texts.indexOf(model.get("text")), head = model.get("head");
  const query = Math.min(model.get("step"), tokens[text].length - 1);
  const row = weights[text][Object.keys(heads).indexOf(head)][query].map((x) => x / 100);
  return { tokens: tokens[text], head, aim: heads[head], query, row };
}

/** A token as a button: pressed, if it is the one that looks; hatched, if it comes later. */
function word(model, now, j) {
  const { tokens, query, row } = now, later = j > query, x = row[j];
  const shown = later ? "" : x >= SHOWN ? number(x) : "·";
  const look = later ? "" : `background: color-mix(in srgb, var(--ab-weight) ${(45 * x).toFixed(1)}%, var(--ab-paper))`;
  const says = later ? `, position ${j}, masked` : ` ${shown}, position ${j}, weight ${number(x)}`; // what is seen comes first
  return html("button", {
    type: "button", class: `ab-button${later ? " ab-masked" : ""}`, style: look, "data-token": j,
    "aria-pressed": String(j === query), "aria-label": tokens[j].trim() + says,
    onclick: () => change(model, { step: j }),
    ...(later ? {} : { "data-value": "row", "data-index": j, "data-exact": x }),
  }, `${tokens[j].trim()} `, html("br"), shown);
}

function told({ tokens, head, aim, query, row }) {
  const order = row.map((x, j) => [x, j]).sort((a, b) => b[0] - a[0]).filter(([x]) => x >= SHOWN).slice(0, 3);
  const found = order.map(([x, j]) => `“${tokens[j].trim()}” at ${j} (${number(x)})`).join(", ");
  const rests = order.length && order[0][1] === 0 && query > 0 ? " The first token is where weight is left that has no use." : "";
  return `Head ${head}, ${aim}: “${tokens[query].trim()}” at position ${query} looks at ${found || "nothing in particular"}.${rests}`;
}

function render({ model, el }) {
  const { texts, tokens, heads } = model.get("data");
  const length = () => tokens[texts.indexOf(model.get("text"))].length;
  const [steps, update] = stepper(model, "step", { last: () => length() - 1, beat: 1000 });
  const words = html("div", { class: "ab-words", role: "group", "aria-label": "The text: choose the token that looks" });
  const [state, say] = spoken();
  el.append(
    html("div", { class: "ab-wide ab-row" },
      choice(model, "text", { label: "The text", options: texts.map((name) => [name, name]) }),
      choice(model, "head", { label: "The head", options: Object.entries(heads).map(([name, aim]) => [name, `${name}, ${aim}`]) })),
    html("div", { class: "ab-wide" }, steps),
    html("div", { class: "ab-wide" }, words, html("p", { class: "ab-legend" },
      "The framed token looks. Below a word: its weight, “·” for less than 0.05. ",
      html("span", { class: "ab-swatch ab-masked" }), " masked: it comes later."), state));
  follow(model, ["text", "head", "step"], () => {
    const now = moment(model), held = words.contains(document.activeElement);
    update();
    words.replaceChildren(...now.tokens.map((_, j) => word(model, now, j)));
    if (held) words.children[now.query].focus();
    say(told(now));
  });
}

export default { render: live(render) };

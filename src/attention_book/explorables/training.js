// A model of two layers while it learns: the loss, and what two of its heads look at.

const HEADS = ["first layer", "second layer"];
const AIMS = { "first layer": "the letter before", "second layer": "what came after the earlier copy of its letter" };
const WIDE = 320, HIGH = 150, LEFT = 34, BASE = 122, TOP = 14;

/** What the figure knows at a checkpoint. */
function moment(model) {
  const { text, period, every, losses, steps, weights } = model.get("data");
  const step = model.get("step"), head = model.get("head"), made = steps[step];
  const aim = (i, j) => (head === HEADS[0] ? j === i - 1 : i >= period && j === i - period + 1);
  const rows = weights[step][HEADS.indexOf(head)].map((row) => row.map((x) => x / 100));
  const hits = rows.flatMap((row, i) => row.filter((_, j) => aim(i, j)));
  const target = hits.reduce((sum, x) => sum + x, 0) / hits.length;
  return { text, made, head, aim, rows, target, loss: losses[made / every] };
}

/** The loss against the steps, with a mark that moves. */
function curve({ losses, every, steps }) {
  const most = Math.ceil(Math.max(...losses)), last = steps[steps.length - 1];
  const x = (made) => LEFT + (WIDE - LEFT - 10) * (made / last), y = (loss) => BASE - (BASE - TOP) * (loss / most);
  const line = losses.map((loss, i) => `${x(i * every).toFixed(1)},${y(loss).toFixed(1)}`).join(" ");
  const label = (text, at) => svg("text", { ...at }, text);
  const mark = svg("line", { class: "ab-drop", y1: TOP, y2: BASE }), dot = svg("circle", { r: 6, style: "fill: var(--ab-text)" });
  const drawing = svg("svg", { class: "ab-drawing ab-square", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img" },
    svg("g", { class: "ab-grid" }, ...[0, most].flatMap((loss) => [
      svg("line", { x1: LEFT, x2: WIDE - 10, y1: y(loss), y2: y(loss), "data-axis": loss === 0 }),
      label(String(loss), { x: LEFT - 14, y: y(loss) + 5 })]),
    label("0", { x: LEFT, y: HIGH - 8 }), label(`${last} steps`, { x: WIDE - 40, y: HIGH - 8 }),
    label("loss", { x: LEFT - 17, y: (TOP + BASE) / 2 })),
    svg("polyline", { class: "ab-shaft ab-weight", points: line, fill: "none" }), mark, dot);
  const move = ({ made, loss }) => {
    for (const [name, value] of [["x1", x(made)], ["x2", x(made)]]) set(mark, name, value);
    set(dot, "cx", x(made));
    set(dot, "cy", y(loss));
    set(drawing, "aria-label", `The loss over ${last} steps of training. After ${made} steps it is ${number(loss)}.`);
  };
  return [drawing, move];
}

function told({ made, loss, head, target }) {
  const learnt = target > 0.7 ? "It does so now." : target > 0.3 ? "It begins to." : "It does not yet.";
  return `After ${made} steps the loss is ${number(loss)}. A head of the ${head} will look at ${AIMS[head]}: ` +
    `${number(target)} of its weight is there. ${learnt}`;
}

function render({ model, el }) {
  const data = model.get("data"), letters = [...data.text];
  const [steps, update] = stepper(model, "step", { last: () => data.steps.length - 1, beat: 900 });
  const [table, draw] = heatMap("weights", { title: "Weights: queries down, keys across", rows: letters, columns: letters });
  const [drawing, move] = curve(data), values = html("dl", { class: "ab-values" }), [state, say] = spoken();
  const sign = (look, text) => [html("span", { class: `ab-swatch ${look}` }), ` ${text} `];
  el.append(
    html("div", { class: "ab-wide" }, steps,
      choice(model, "head", { label: "The head", options: HEADS.map((name) => [name, `in the ${name}`]) })),
    drawing, html("div", { class: "ab-side" }, values),
    html("div", { class: "ab-wide" }, table, html("p", { class: "ab-legend" },
      ...sign("ab-lit", "where this head will look,"), ...sign("ab-masked", "masked. The darker, the more weight.")), state));
  follow(model, ["step", "head"], () => {
    const now = moment(model);
    update();
    move(now);
    draw((i, j) => (j > i ? {} : { x: now.rows[i][j], text: "", share: now.rows[i][j] * 2, lit: now.aim(i, j) }));
    values.replaceChildren(...entry("steps made", "steps", now.made, String(now.made)),
      ...entry("loss", "loss", now.loss), ...entry("weight where it will look", "target", now.target));
    say(told(now));
  });
}

export default { render: live(render) };

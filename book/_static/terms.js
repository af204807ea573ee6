// A term of the glossary shows its definition: under the pointer, with the keyboard, and at a first touch.
document.addEventListener("DOMContentLoaded", () => {
  const source = document.getElementById("terms");
  if (!source) return;
  const definitions = JSON.parse(source.textContent);
  const article = document.querySelector(".bd-article");
  const tip = Object.assign(document.createElement("div"), { id: "term-tip", hidden: true });
  tip.setAttribute("role", "tooltip");
  article.append(tip);
  let shown = null;
  let leaving = 0;

  const place = (link) => {
    const line = link.getClientRects()[0]; // a term may be broken over two lines
    const frame = article.getBoundingClientRect();
    const room = Math.max(0, frame.width - tip.offsetWidth);
    tip.style.left = `${Math.min(Math.max(0, line.left - frame.left), room)}px`;
    const above = line.bottom + tip.offsetHeight + 8 > window.innerHeight && line.top > tip.offsetHeight + 64;
    tip.style.top = `${(above ? line.top - tip.offsetHeight - 4 : line.bottom + 4) - frame.top}px`;
  };
  const show = (link) => {
    const [term, text] = definitions[link.hash.slice(1)] ?? [];
    if (!term) return;
    clearTimeout(leaving);
    if (shown && shown !== link) hide();
    const name = Object.assign(document.createElement("strong"), { textContent: term });
    tip.replaceChildren(name, ` ${text}`);
    tip.hidden = false;
    place(link);
    link.setAttribute("aria-describedby", tip.id);
    shown = link;
  };
  const hide = () => {
    clearTimeout(leaving);
    tip.hidden = true;
    shown?.removeAttribute("aria-describedby");
    shown = null;
  };
  const hideSoon = () => {
    clearTimeout(leaving);
    leaving = setTimeout(hide, 150); // time to move the pointer onto the definition
  };

  let touched = false;
  for (const link of article.querySelectorAll("a.term")) {
    link.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && show(link));
    link.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && hideSoon());
    link.addEventListener("focus", () => touched || show(link));
    link.addEventListener("blur", hide);
    link.addEventListener("pointerdown", ({ pointerType }) => { touched = pointerType === "touch"; });
    link.addEventListener("click", (event) => {
      if (touched && shown !== link) { // the second touch follows the link
        event.preventDefault();
        show(link);
      }
      touched = false;
    });
  }
  tip.addEventListener("pointerenter", () => clearTimeout(leaving));
  tip.addEventListener("pointerleave", hideSoon);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  document.addEventListener("pointerdown", ({ target }) => {
    if (shown && !shown.contains(target) && !tip.contains(target)) hide();
  });
});

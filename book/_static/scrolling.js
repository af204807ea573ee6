// Code, tables and formulas that are wider than the page fade out where more of them lies.
document.addEventListener("DOMContentLoaded", () => {
  const fade = (node) => {
    const hidden = node.scrollWidth - node.clientWidth - node.scrollLeft;
    node.classList.toggle("more-to-the-right", hidden > 2);
  };
  const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => fade(target)));
  const wide = ".bd-article :is(pre, div.math, .text_html, .pst-scrollable-table-container)";
  const all = [...document.querySelectorAll(wide)];
  for (const node of all) {
    node.addEventListener("scroll", () => fade(node), { passive: true });
    resized.observe(node);
  }
  // A formula that is set may be wider than before, in a box that is as large as before.
  addEventListener("load", () => window.MathJax?.startup?.promise.then(() => all.forEach(fade)));
});

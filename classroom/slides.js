const slides = [...document.querySelectorAll("section")];

function show(number) {
  const wanted = Math.min(Math.max(number, 1), slides.length);
  slides.forEach((slide, index) => slide.classList.toggle("shown", index + 1 === wanted));
  history.replaceState(null, "", `#${wanted}`);
  window.scrollTo(0, 0);
}

const now = () => slides.findIndex((slide) => slide.classList.contains("shown")) + 1;

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, button, summary, select")) return;
  if (["ArrowRight", "PageDown", " "].includes(event.key)) show(now() + 1);
  else if (["ArrowLeft", "PageUp"].includes(event.key)) show(now() - 1);
  else if (event.key === "Home") show(1);
  else if (event.key === "End") show(slides.length);
  else return;
  event.preventDefault();
});
document.getElementById("back").addEventListener("click", () => show(now() - 1));
document.getElementById("on").addEventListener("click", () => show(now() + 1));
show(Number(location.hash.slice(1)) || 1);

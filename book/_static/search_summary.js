// What a search result quotes is the page's own text, without the buttons and lists around it.
document.addEventListener("DOMContentLoaded", () => {
  const asText = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const text = page.querySelector(".bd-article");
    if (!text) return asText(html, anchor);
    for (const beside of text.querySelectorAll("h1, .launch, summary")) beside.remove();
    return asText(`<div role="main">${text.outerHTML}</div>`, anchor).replace(/\s+/g, " ").trim();
  };
});

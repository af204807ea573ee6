// What a search result quotes is the page's own text, in whole words, without the buttons and lists
// around it and without the source of formulas.
document.addEventListener("DOMContentLoaded", () => {
  const asText = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const text = page.querySelector(".bd-article");
    if (!text) return asText(html, anchor);
    for (const beside of text.querySelectorAll("h1, .launch, summary, div.math")) beside.remove();
    return asText(`<div role="main">${text.outerHTML}</div>`, anchor)
      .replace(/\\[()]/g, "").replace(/\s+/g, " ").trim();
  };
  const summarise = Search.makeSearchSummary;
  Search.makeSearchSummary = (...page) => {
    const summary = summarise(...page);
    if (summary) {
      summary.textContent = summary.textContent
        .replace(/^\.\.\.\S*\s/, "… ").replace(/\s\S*\.\.\.$/, " …");
    }
    return summary;
  };
});

// The search takes questions; a result leads to the section that answers, and quotes it.
document.addEventListener("DOMContentLoaded", () => {
  // Words of a question that say nothing about its subject.
  stopwords.push(
    ..."about am any become becomes can could did do does from get gets had has have".split(" "),
    ..."how i me my need our should so than them us use we were what when where which".split(" "),
    ..."who why would you your".split(" "));

  // Pages with all words come first; those in which few are missing follow, the fewer the better.
  const pagesWith = Search.performTermsSearch;
  Search.performTermsSearch = (words, excluded) => {
    const found = new Map();
    let known = 0; // words that are in any page
    for (const word of words) {
      const pages = pagesWith(new Set([word]), excluded);
      known += pages.length > 0;
      for (const page of pages) {
        const seen = found.get(page[0]) ?? { page, count: 0, sum: 0 };
        found.set(page[0], { page, count: seen.count + 1, sum: seen.sum + page[4] });
      }
    }
    return [...found.values()].filter(({ count }) => 2 * count > words.size)
      .map(({ page, count, sum }) =>
        [...page.slice(0, 4), Math.round(sum / known) - 20 * (known - count), ...page.slice(5)]);
  };

  // The page's own text: without buttons, lists and the source of formulas.
  const asText = Search.htmlToText;
  const article = (html) =>
    new DOMParser().parseFromString(html, "text/html").querySelector(".bd-article");
  Search.htmlToText = (html, anchor) => {
    const text = article(html);
    if (!text) return asText(html, anchor);
    for (const beside of text.querySelectorAll("h1, .launch, summary, div.math")) beside.remove();
    return asText(`<div role="main">${text.outerHTML}</div>`, anchor)
      .replace(/\\[()]/g, "").replace(/\s+/g, " ").trim();
  };

  // The section that has most of the words: in its heading they count more than below it.
  const holds = (text, word) => new RegExp(`(?<!\\w)${word}`, "i").test(text);
  const bestSection = (html, words) => {
    let best = { score: 0 };
    for (const section of article(html)?.querySelectorAll("section section[id]") ?? []) {
      const heading = section.querySelector("h2, h3, h4")?.textContent ?? "";
      for (const inside of section.querySelectorAll("section")) inside.remove();
      const text = section.textContent;
      let score = 0;
      for (const word of words) score += holds(heading, word) ? 3 : holds(text, word) ? 2 : 0;
      if (score > best.score) best = { score, id: section.id };
    }
    return best.score > words.size ? `#${CSS.escape(best.id)}` : "";
  };

  // The quotation, in whole words.
  const summarise = Search.makeSearchSummary;
  Search.makeSearchSummary = (html, words, anchor) => {
    const place = anchor || bestSection(html, words);
    const summary = summarise(html, words, place);
    if (!summary) return null;
    summary.textContent = summary.textContent
      .replace(/^\.\.\.\S*\s/, "… ").replace(/\s\S*\.\.\.$/, " …");
    queueMicrotask(() => { // when it stands below the result's link
      const link = summary.parentElement?.querySelector("a");
      if (link && !link.hash) link.hash = place.replaceAll("\\", "");
    });
    return summary;
  };
});

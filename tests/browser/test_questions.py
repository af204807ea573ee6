"""What a learner types into the search finds the answer, and the first page leads to it."""

import pytest

FOUND = "#search-results li a"
ASKED = {
    "why divide by sqrt d": "Questions",
    "2x2 matrices variance": "Questions",
    "softmax which axis": "Questions",
    "renormalise mask after softmax": "Questions",
    "left padding causal both": "Questions",
    "why is Q not cached": "Questions",
    "each head all of d_model": "Questions",
    "FlashAttention approximation": "Questions",
    "x W or W x": "Questions",
    "NaN fully masked": "Questions",
    "n_kv_heads": "Multi-head",
    "PyTorch is_causal": "Other libraries",
    "cite": "Using the book",
    "why is softmax overflow": "Questions",
    "do I need to cache queries": "Questions",
    "attention vs explanation": "The real model",
    "why is my mask true or false": "Questions",
    "causal flag lengths differ": "Questions",
    "why does my loss become nan": "Stable softmax",
}
SECTIONS = {
    "why divide by square root": "book/questions.html#why-divide-by-d-and-not-by-d",
    "attention vs explanation": "notebooks/11_real_model.html#attention-is-not-explanation",
    "what is an induction head": "notebooks/11_real_model.html#where-an-induction-head-looks",
    "causal flag lengths differ": "book/questions.html"
    "#why-does-pytorch-s-is-causal-differ-when-query-and-key-lengths-differ",
}


@pytest.fixture(scope="module")
def search(browser, plain_site):
    page = browser.new_page()
    yield page, plain_site
    page.close()


def ask(search, words):
    page, site = search
    page.goto(f"{site}search.html?q={words.replace(' ', '+')}")
    page.wait_for_selector(FOUND)
    page.wait_for_function("document.querySelector('#search-results .search-summary')"
                           "?.textContent.includes('found')")
    return page


@pytest.mark.parametrize("words", SECTIONS)
def test_the_first_result_leads_to_the_section_that_answers_and_quotes_it(search, words):
    page = ask(search, words)
    first = page.locator("#search-results li").first
    quotation = first.locator("p.context").inner_text()
    assert first.locator("a").first.evaluate("one => one.href").endswith(SECTIONS[words])
    address, _, place = SECTIONS[words].partition("#")
    text = page.evaluate("""async ([address, place]) => {
      const page = await (await fetch(address)).text();
      const section = new DOMParser().parseFromString(page, "text/html").getElementById(place);
      for (const one of section.querySelectorAll(".headerlink, summary")) one.remove();
      return section.textContent.replace(/\\s+/g, " ")
    }""", [address, place])
    assert quotation.strip("… ")[:60] in text


@pytest.mark.parametrize("words", ASKED)
def test_search(search, words):
    page = ask(search, words)
    titles = [title.partition("\n")[0] for title in page.locator(FOUND).all_inner_texts()]
    assert any(ASKED[words] in title for title in titles[:3]), titles[:8]


@pytest.mark.parametrize(("way", "end"), [
    (["KV cache", "Run in your browser"], "lite/notebooks/index.html?path=07_kv_cache.ipynb"),
    (["notation"], "book/notation.html"),
    (["other libraries", "Causal, when there are more keys than queries"],
     "book/other_libraries.html#causal-when-there-are-more-keys-than-queries"),
    (["Using the book", "Cite and reuse"], "book/using_the_book.html#cite-and-reuse")])
def test_from_the_first_page_in_less_than_three_clicks(visit, plain_site, way, end):
    page, _ = visit(plain_site.split("/")[2])
    page.goto(f"{plain_site}book/index.html")
    for name in way[:-1]:
        page.locator("article").get_by_role("link", name=name).first.click()
    link = page.get_by_role("link", name=way[-1]).and_(page.locator(":visible")).first
    assert len(way) < 3
    target = link.evaluate("one => one.href")
    assert target == f"{plain_site}{end}"

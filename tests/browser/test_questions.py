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
}


@pytest.fixture(scope="module")
def search(browser, plain_site):
    page = browser.new_page()
    yield page, plain_site
    page.close()


@pytest.mark.parametrize("words", ASKED)
def test_search(search, words):
    page, site = search
    page.goto(f"{site}search.html?q={words.replace(' ', '+')}")
    page.wait_for_selector(FOUND)
    page.wait_for_function("document.querySelector('#search-results .search-summary')"
                           "?.textContent.includes('found')")
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

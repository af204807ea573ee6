"""Every page in a real browser: no error, no other host, no dead link, nothing that axe finds."""

from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import serving
from axe_playwright_python.sync_playwright import Axe

SITE = serving.SITE
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")
               if path.relative_to(SITE).parts[0] not in ("lite", "_static"))
WIDTHS = [1280, 390]
FAST = {"preload": False, "resultTypes": ["violations"]}
RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}  # and all that axe is sure of
# What the other theme can break:
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
GLYPHS = {"exclude": [["mjx-math"]]}  # MathJax's drawing; the formula itself stands beside it
ANCHORS = "() => [...document.querySelectorAll('[id], a[name]')].map(e => e.id || e.name)"
LINKS = "() => [...document.links].map(link => link.href)"
THEME = "document.documentElement.dataset.theme"
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
SETTLED = """() => document.readyState === "complete"
  && !document.querySelector(".MathJax_Processing")"""


def look_at(visit, site, name, width=1280):
    page, watch = visit(urlsplit(site).netloc, width)
    page.goto(site + name)
    page.wait_for_function(SETTLED)
    page.wait_for_load_state("networkidle")
    return page, watch


@pytest.fixture(scope="session")
def seen(browser, plain_site):
    """Return what every page, once its scripts have run, has to link from and to."""
    page = browser.new_page()
    found = {}
    for name in PAGES:
        page.goto(plain_site + name)
        page.wait_for_function(SETTLED)
        found[plain_site + name] = set(page.evaluate(ANCHORS)), page.evaluate(LINKS)
    page.close()
    return found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_page(visit, plain_site, name, width):
    page, watch = look_at(visit, plain_site, name, width)
    assert watch.complaints == []
    assert page.evaluate(TOO_WIDE) <= 0, "the page scrolls sideways"
    assert page.evaluate(THEME) == "light"
    assert violations(page, RULES) == []
    page.emulate_media(color_scheme="dark")
    if name == "404.html":  # which looks at the theme once
        page.reload()
    page.wait_for_function(f"{THEME} === 'dark'")
    page.wait_for_function("document.getAnimations().length === 0")  # the colours have changed
    assert violations(page, COLOURS) == []
    assert watch.complaints == []


def violations(page, options):
    found = Axe().run(page, context=GLYPHS, options={**FAST, **options}).response["violations"]
    return [f"{one['id']}: {node['target']} {node['failureSummary']}"
            for one in found for node in one["nodes"]]


@pytest.mark.parametrize("name", PAGES)
def test_links_of_page(seen, plain_site, name):
    _, links = seen[plain_site + name]
    inside = {link for link in links if link.startswith(plain_site[:-len("where/")])}
    assert inside
    assert [link for link in sorted(inside) if fault(link, seen, plain_site)] == []


def fault(link, seen, site):
    """Tell whether a link leads nowhere: out of the site, to no file, or to no place in a page."""
    address, place = urldefrag(link)
    path = unquote(urlsplit(address.removeprefix(site)).path)
    if not address.startswith(site) or not (SITE / path).exists():
        return True
    if path.endswith("/") or not path:
        address, path = f"{address}index.html", f"{path}index.html"
    return bool(place) and address in seen and unquote(place) not in seen[address][0]


def test_search_finds_the_kv_cache(visit, plain_site):
    page, watch = look_at(visit, plain_site, "search.html?q=KV+cache")
    page.wait_for_selector("#search-results li a")
    titles = page.locator("#search-results li a").all_inner_texts()
    assert any("cache" in title.lower() for title in titles[:3]), titles
    assert watch.complaints == []


@pytest.mark.parametrize("path", ["gone.html", "notebooks/07_kv_cash.html", "a/b/c/"])
def test_address_that_is_not_there(visit, port, path):
    """The server's own page leads back into the book, from any depth."""
    page, _ = visit(f"127.0.0.1:{port}")
    answer = page.goto(f"http://127.0.0.1:{port}/{path}")
    assert answer.status == 404
    link = page.get_by_role("link", name="KV cache")
    page.wait_for_load_state("networkidle")
    link.click()
    assert page.url == f"http://127.0.0.1:{port}/notebooks/07_kv_cache.html"
    assert page.title().startswith("7. KV cache")

"""Every page in a real browser: no error, no other host, no dead link, nothing that axe finds."""

from functools import cache
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import serving
from axe import colour_faults, other_faults

import check_site

SITE = serving.SITE
START = "index.html"  # which only leads on
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html")
               if path.relative_to(SITE).parts[0] not in ("lite", "_static", START))
WIDTHS = [1280, 390]
LINKS = "() => [...document.links].map(link => link.href)"
ANCHORS = "() => [...document.querySelectorAll('[id], a[name]')].map(e => e.id || e.name)"
THEME = "document.documentElement.dataset.theme"
# What only sighted readers get, what the keyboard cannot reach, what is cut off without a sign,
# and what stands there twice:
UNSPOKEN = """() => [...document.querySelectorAll("mjx-container")]
  .filter(one => !one.querySelector("mjx-assistive-mml math")).map(one => one.textContent)"""
UNREACHED = """() => [...document.querySelectorAll("article *")].filter(one =>
    one.scrollWidth > one.clientWidth + 1
    && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)
    && one.tabIndex < 0 && ![...one.querySelectorAll("*")].some(inside => inside.tabIndex >= 0))
  .map(one => one.outerHTML.slice(0, 90))"""
CUT_OFF = """() => [...document.querySelectorAll("article *")].filter(one =>
    one.scrollWidth - one.clientWidth - one.scrollLeft > 2 && one.checkVisibility()
    && ["auto", "scroll"].includes(getComputedStyle(one).overflowX)
    && getComputedStyle(one).maskImage === "none")
  .map(one => one.outerHTML.slice(0, 90))"""
FADED = """() => [...document.querySelectorAll("article .more-to-the-right")].filter(one =>
    ![...one.querySelectorAll("*")].some(inside => inside.getBoundingClientRect().right
      > one.getBoundingClientRect().right + 2)
    && [...one.querySelectorAll("img")].some(inside => inside.checkVisibility()))
  .map(one => one.outerHTML.slice(0, 90))"""
TWICE = """() => [...document.querySelectorAll("article :is(h1, h2, h3, h4)")]
  .map(one => one.textContent).filter((one, place, all) => all.indexOf(one) !== place)"""
ARTICLE = """async address => {
  const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
  const article = page.querySelector("article");
  for (const one of article.querySelectorAll(".headerlink, .launch, summary")) one.remove();
  return article.textContent.replace(/\\s+/g, " ")
}"""
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
SETTLED = """() => document.readyState === "complete"
  && !document.querySelector(".MathJax_Processing")"""


def look_at(visit, site, name, width=1280):
    page, watch = visit(urlsplit(site).netloc, width)
    page.goto(site + name)
    page.wait_for_function(SETTLED)
    page.wait_for_load_state("networkidle")
    return page, watch


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_page(visit, plain_site, name, width):
    page, watch = look_at(visit, plain_site, name, width)
    assert watch.complaints == []
    assert dead_links(page, plain_site) == []
    assert page.evaluate(TOO_WIDE) <= 0, "the page scrolls sideways"
    assert page.evaluate(UNSPOKEN) == page.evaluate(UNREACHED) == page.evaluate(TWICE) == []
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate(FADED) == [], "a picture fades though all of it is to be seen"
    assert page.evaluate(THEME) == "light"
    assert other_faults(page) == []
    assert colour_faults(page) == []
    page.emulate_media(color_scheme="dark")
    if name == "404.html":  # which looks at the theme once
        page.reload()
    page.wait_for_function(f"{THEME} === 'dark'")
    page.wait_for_function("document.getAnimations().length === 0")  # the colours have changed
    assert colour_faults(page) == []
    assert watch.complaints == []


def dead_links(page, site):
    """Return the page's links, those that scripts make too, that lead to nothing in the site."""
    anchors, top = set(page.evaluate(ANCHORS)), site[:-len("where/")]
    inside = {link for link in page.evaluate(LINKS) if link.startswith(top)}
    assert inside
    here = urldefrag(page.url)[0]
    return [link for link in sorted(inside) if fault(link, site, {here: anchors})]


def fault(link, site, anchors):
    """Tell whether a link leads out of the site, to no file, or to no place in a page."""
    address, place = urldefrag(link)
    path = unquote(urlsplit(address.removeprefix(site)).path)
    if not address.startswith(site) or not (SITE / path).exists():
        return True
    known = anchors.get(address) or (path in PAGES and ids(path))
    return bool(place and known) and unquote(place) not in known


@cache
def ids(name):
    return check_site.read(SITE / name).ids


def test_search_finds_the_kv_cache(visit, plain_site):
    page, watch = look_at(visit, plain_site, "search.html?q=KV+cache")
    page.wait_for_selector("#search-results li a")
    titles = page.locator("#search-results li a").all_inner_texts()
    assert any("cache" in title.lower() for title in titles[:3]), titles
    chapter = page.locator("#search-results li").filter(has_text="remember instead of repeating")
    quoted = chapter.first.locator(".context").inner_text()
    text = page.evaluate(ARTICLE, chapter.first.locator("a").first.evaluate("one => one.href"))
    assert quoted.strip("… ") in text, "it quotes what stands around the chapter's text"
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


def test_address_of_the_site_leads_to_the_book(visit, plain_site):
    assert (SITE / ".nojekyll").exists(), "GitHub Pages would leave out folders such as _static"
    page, watch = visit(urlsplit(plain_site).netloc)
    page.goto(plain_site)
    page.wait_for_url(f"{plain_site}book/index.html")
    page.wait_for_load_state("networkidle")
    assert watch.complaints == []


def test_address_of_the_site_is_a_page_where_nothing_turns(visit, plain_site):
    page, watch = visit(urlsplit(plain_site).netloc)
    text = (SITE / START).read_text(encoding="utf-8")
    still = text.replace('http-equiv="refresh"', "")
    assert still != text
    page.route(plain_site, lambda route: route.fulfill(body=still, content_type="text/html"))
    page.goto(plain_site)
    assert page.title() == "Attention: mixing information from context"
    assert page.locator("link[rel=icon], meta[name=description]").count() == 2
    assert other_faults(page) == colour_faults(page) == watch.complaints == []
    page.get_by_role("main").get_by_role("link").click()
    assert page.url == f"{plain_site}book/index.html"


FOCUS = """() => {
  const signs = node => {
    const style = getComputedStyle(node);
    return [style.outlineStyle, style.outlineWidth, style.boxShadow, style.borderColor].join();
  };
  document.activeElement.blur();
  const places = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")];
  return places.filter(one => one.checkVisibility()).filter(one => {
    const before = signs(one);
    one.focus({focusVisible: true});
    return document.activeElement === one && signs(one) === before;
  }).map(one => one.outerHTML.slice(0, 90));
}"""
MOVING = """() => [...document.querySelectorAll("*")].filter(one => {
  const style = getComputedStyle(one);
  return style.animationName !== "none" || !/^[0s, ]+$/.test(style.transitionDuration)
    || style.scrollBehavior !== "auto";
}).map(one => one.outerHTML.slice(0, 90))"""


@pytest.mark.parametrize("name", ["book/index.html", "notebooks/05_causal_mask.html",
                                  "search.html"])
def test_keyboard_and_motion(visit, plain_site, name):
    """Where the keyboard is can be seen, the text comes first, and nothing moves unasked."""
    page, _ = look_at(visit, plain_site, name)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to main content"
    assert page.evaluate(FOCUS) == []
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(MOVING) == []

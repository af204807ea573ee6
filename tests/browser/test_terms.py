"""A term shows its definition under the pointer, with the keyboard, and at a first touch."""

import pytest
from axe import colour_faults, other_faults

PAGE = "notebooks/01_dot_products.html"
TERM = "a.term[href$='#vector']"
DEFINITION = "A list of numbers, here one row of an array."


@pytest.fixture
def chapter(visit, plain_site):
    def opened(width=1280, **options):
        page, watch = visit(plain_site.split("/")[2], width, **options)
        page.goto(plain_site + PAGE)
        page.wait_for_load_state("networkidle")
        return page, watch

    return opened


def shown(page):
    tip = page.locator("#term-tip")
    return tip.inner_text() if tip.is_visible() else None


def test_pointer(chapter):
    page, watch = chapter()
    page.locator(TERM).first.hover()
    assert shown(page) == f"vector {DEFINITION}"
    page.locator("#term-tip").hover()  # which does not go away under the pointer
    page.wait_for_timeout(300)
    assert shown(page)
    page.keyboard.press("Escape")
    assert shown(page) is None
    assert watch.complaints == []


@pytest.mark.parametrize("width", [1280, 390])
def test_keyboard(chapter, width):
    page, watch = chapter(width)
    link = page.locator(TERM).first
    link.focus()
    assert DEFINITION in shown(page)
    assert page.get_by_role("link", description=f"vector {DEFINITION}").count() == 1
    assert other_faults(page) == colour_faults(page) == []
    tip, text = page.locator("#term-tip").bounding_box(), page.locator(".bd-article").bounding_box()
    assert text["x"] <= tip["x"] and tip["x"] + tip["width"] <= text["x"] + text["width"]
    page.keyboard.press("Tab")
    assert DEFINITION not in (shown(page) or "")
    assert watch.complaints == []


def test_touch(chapter):
    """The first touch shows the definition, the second follows the link."""
    page, _ = chapter(390, has_touch=True)
    link = page.locator(TERM).first
    link.scroll_into_view_if_needed()
    link.tap()
    assert DEFINITION in shown(page)
    assert page.url.endswith(PAGE)
    link.tap()
    page.wait_for_url("**/book/glossary.html#vector")

"""The walk through a block, driven in a browser: it shows the package's values and says them."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from explorable_values import agrees

from attention_book.explorables import BlockWalk

SAYS = "text => document.querySelector('.ab-state').textContent.includes(text)"
CUT = """all => all.filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent)"""
PARTS = ["norms", "attention", "feed_forward", "residual"]


@pytest.fixture
def opened(open_figure):
    """Return a function that opens the figure on a page without Python."""
    return lambda width=1280, theme="light": open_figure(BlockWalk(), width, theme)


def figure_on(page):
    return page.query_selector(".ab-explorable")


def test_it_walks_by_button_and_by_keyboard(opened):
    page = opened()
    agrees(BlockWalk(), figure_on(page))
    for step in range(1, 7):
        page.click('[data-step="next"]')
        agrees(BlockWalk(step=step), figure_on(page))
    page.focus('[data-control="step"]')
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    agrees(BlockWalk(step=2), figure_on(page))
    page.wait_for_function(SAYS, arg="Attention puts 1.00")


def test_the_other_text_and_each_part_left_out(opened):
    page = opened()
    page.focus('[data-control="step"]')
    page.keyboard.press("End")
    page.select_option('[data-control="subject"]', index=1)
    agrees(BlockWalk(subject="dogs", step=6), figure_on(page))
    page.wait_for_function(SAYS, arg="“bones”")
    for part in PARTS:
        page.uncheck(f'[data-control="{part}"]')
        agrees(BlockWalk(subject="dogs", step=6, **{part: False}), figure_on(page))
        page.wait_for_function(SAYS, arg="does not say")
        page.check(f'[data-control="{part}"]')
    page.uncheck('[data-control="norms"]')
    page.uncheck('[data-control="residual"]')
    agrees(BlockWalk(subject="dogs", step=6, norms=False, residual=False), figure_on(page))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone_and_is_accessible(opened, theme):
    page = opened(width=390, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.eval_on_selector_all(".ab-heat th, .ab-heat td", CUT) == []
    assert Axe().run(page).response["violations"] == []

"""The figure of a training, driven in a browser: it shows the stored values and says them."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from explorable_values import agrees

from attention_book.explorables import Training

SAYS = "text => document.querySelector('.ab-state').textContent.includes(text)"
CUT = """all => all.filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.textContent)"""
LAST = len(Training().data["steps"]) - 1


@pytest.fixture
def opened(open_figure):
    """Return a function that opens the figure on a page without Python."""
    return lambda width=1280, theme="light": open_figure(Training(), width, theme)


def figure_on(page):
    return page.query_selector(".ab-explorable")


def test_it_walks_through_the_training(opened):
    page = opened()
    agrees(Training(), figure_on(page))
    page.wait_for_function(SAYS, arg="It does not yet.")
    for step in range(1, LAST + 1):
        page.click('[data-step="next"]')
        agrees(Training(step=step), figure_on(page))
    page.wait_for_function(SAYS, arg="It does so now.")
    page.select_option('[data-control="head"]', index=0)
    agrees(Training(step=LAST, head="first layer"), figure_on(page))
    page.wait_for_function(SAYS, arg="the letter before")


def test_the_loss_is_said_and_marked(opened):
    page = opened()
    page.focus('[data-control="step"]')
    page.keyboard.press("End")
    label = page.get_attribute(".ab-drawing", "aria-label")
    assert f"After {Training(step=LAST).steps} steps it is {Training(step=LAST).loss:.2f}." in label
    assert float(page.get_attribute(".ab-drawing circle", "cx")) > 300


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone_and_is_accessible(opened, theme):
    page = opened(width=390, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.eval_on_selector_all(".ab-heat th, .ab-heat td", CUT) == []
    assert Axe().run(page).response["violations"] == []

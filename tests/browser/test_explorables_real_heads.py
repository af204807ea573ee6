"""The figure of the real model's heads, driven in a browser: it shows and says what is stored."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from explorable_values import agrees

from attention_book.explorables import RealHeads
from attention_book.explorables.real_heads import LONGEST, STORED

SAYS = "text => document.querySelector('.ab-state').textContent.includes(text)"


@pytest.fixture
def opened(open_figure):
    """Return a function that opens the figure on a page without Python."""
    return lambda width=1280, theme="light": open_figure(RealHeads(), width, theme)


def figure_on(page):
    return page.query_selector(".ab-explorable")


def test_every_text_and_head_shows_what_is_stored(opened):
    page = opened()
    agrees(RealHeads(), figure_on(page))
    page.wait_for_function(SAYS, arg="“Vel” at position 25 looks at “k” at 4 (1.00).")
    for t, text in enumerate(STORED["texts"]):
        page.select_option('[data-control="text"]', index=t)
        for h, head in enumerate(STORED["heads"]):
            page.select_option('[data-control="head"]', index=h)
            agrees(RealHeads(text=text, head=head), figure_on(page))


def test_a_token_is_chosen_with_the_mouse_and_from_the_keyboard(opened):
    page = opened()
    page.select_option('[data-control="head"]', index=1)
    page.click('[data-token="4"]')
    agrees(RealHeads(head="11.1", step=4), figure_on(page))
    page.wait_for_function(SAYS, arg="“k” at position 4 looks at “Vel” at 3")
    assert page.get_attribute(".ab-words :focus", "data-token") == "4"
    assert page.get_attribute('[data-token="5"]', "aria-label").endswith("masked")
    page.focus('[data-control="step"]')
    page.keyboard.press("ArrowRight")
    agrees(RealHeads(head="11.1", step=5), figure_on(page))
    page.click('[data-step="back"]')
    agrees(RealHeads(head="11.1", step=4), figure_on(page))


def test_a_short_text_has_fewer_steps(opened):
    page = opened()
    page.select_option('[data-control="text"]', index=STORED["texts"].index("the keys"))
    assert page.get_attribute('[data-control="step"]', "max") == "6" != str(LONGEST - 1)
    page.click('[data-step="back"]')
    agrees(RealHeads(text="the keys", step=5), figure_on(page))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("text", STORED["texts"])
def test_it_fits_a_phone_and_is_accessible(opened, theme, text):
    page = opened(width=390, theme=theme)
    page.select_option('[data-control="text"]', index=STORED["texts"].index(text))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert Axe().run(page).response["violations"] == []

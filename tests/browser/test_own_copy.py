"""A reader's own copy of a chapter: kept by the browser, and thrown away as the book says."""

import pytest
import running

NAME = running.chapters()[0].stem
SOURCE = "window.jupyterapp.shell.currentWidget.content.model.cells.get(1).sharedModel"


def write(page, text):
    page.evaluate(f"text => {SOURCE}.setSource(text)", text)
    page.keyboard.press("Control+s")
    page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")


def first_code(page):
    page.wait_for_selector(running.CELLS)
    page.evaluate("window.jupyterapp.shell.currentWidget.context.ready.then(() => 0)")
    return page.evaluate(f"{SOURCE}.getSource()")


@pytest.fixture
def changed(visit, port):
    """Return a page with chapter 1, changed and opened again, and what the change replaced."""
    page, _ = visit(f"127.0.0.1:{port}")
    running.open_chapter(page, f"http://127.0.0.1:{port}/", NAME)
    page.evaluate(running.READY)
    original = first_code(page)
    write(page, "mine = 1")
    page.reload()
    assert first_code(page) == "mine = 1" != original
    return page, original


def test_all_copies_can_be_thrown_away(changed):
    page, original = changed
    page.get_by_role("menuitem", name="Help", exact=True).click()
    page.get_by_role("menuitem", name="Clear Browser Data").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Clear", exact=True).click()
    assert first_code(page) == original


def test_one_copy_can_be_thrown_away(changed):
    page, original = changed
    chapter = page.url
    page.goto(chapter.partition("lite/")[0] + "lite/lab/index.html")
    page.locator(".jp-DirListing-item", has_text=f"{NAME}.ipynb").click(button="right")
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").wait_for(state="hidden")
    page.goto(chapter)
    assert first_code(page) == original

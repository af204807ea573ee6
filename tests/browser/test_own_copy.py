"""A reader's own copy of a chapter: kept by the browser, and thrown away as the book says."""

import running

SOURCE = "window.jupyterapp.shell.currentWidget.content.model.cells.get(1).sharedModel"


def write(page, text):
    page.evaluate(f"text => {SOURCE}.setSource(text)", text)
    page.keyboard.press("Control+s")
    page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")


def first_code(page):
    page.wait_for_selector(running.CELLS)
    page.evaluate("window.jupyterapp.shell.currentWidget.context.ready.then(() => 0)")
    return page.evaluate(f"{SOURCE}.getSource()")


def test_copy_is_kept_and_can_be_reset(visit, port):
    page, _ = visit(f"127.0.0.1:{port}")
    running.open_chapter(page, f"http://127.0.0.1:{port}/", running.chapters()[0].stem)
    page.evaluate(running.READY)
    original = first_code(page)
    write(page, "mine = 1")
    page.reload()
    assert first_code(page) == "mine = 1"
    page.get_by_role("menuitem", name="Help", exact=True).click()
    page.get_by_role("menuitem", name="Clear Browser Data").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Clear", exact=True).click()
    assert first_code(page) == original != "mine = 1"

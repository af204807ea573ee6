"""Every chapter runs whole in the reader's browser, and gives what the book shows."""

import json
import re

import pytest
import running
from serving import OTHER_NAME, SITE

from notebook_reading import cells, source

CHAPTERS = [path.stem for path in running.chapters()]

OWN_TEXT = """heading => [...heading.childNodes].filter(node => node.nodeType === Node.TEXT_NODE)
  .map(node => node.data).join("")"""


def stored(name):
    """Return the chapter as this site was built from it."""
    path = SITE / "lite" / "files" / f"{name}.ipynb"
    return json.loads(path.read_text(encoding="utf-8"))


def run(visit, site, name):
    page, watch = visit(site.split("/")[2])
    running.open_chapter(page, site, name)
    return running.run_all(page), watch


def verdict(notebook):
    """Return the text of the first check cell's output, and the exercise's id."""
    cell = cells(notebook, tag="check")[0]
    streams, shown = running.printed(cell)
    return source(cell).split('"')[1], streams + "".join(shown)


@pytest.mark.parametrize("name", CHAPTERS)
def test_chapter(visit, port, name):
    notebook, watch = run(visit, f"http://127.0.0.1:{port}/", name)
    assert running.complaints(notebook) == []
    assert running.differences(stored(name), notebook) == []
    exercise, text = verdict(notebook)
    assert f"○ {exercise}: not-attempted" in text
    assert watch.complaints == []


def test_chapter_from_a_host_that_is_not_loopback(visit, port):
    """As over plain HTTP from a school's server: no service worker, no secure context."""
    name, host = CHAPTERS[0], f"{OTHER_NAME}:{port}"
    page, watch = visit(host)
    running.open_chapter(page, f"http://{host}/", name)
    assert not page.evaluate("window.isSecureContext")
    notebook = running.run_all(page)
    assert running.complaints(notebook) == []
    assert running.differences(stored(name), notebook) == []
    assert watch.complaints == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_button_names_the_chapter(name):
    page = (SITE / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    button = re.search(r'<a class="launch-run" href="([^"]+)"', page)[1]
    assert button == f"../lite/notebooks/index.html?path={name}.ipynb"


@pytest.mark.parametrize("name", [CHAPTERS[0], CHAPTERS[-1]])
def test_button_leads_to_the_chapter(visit, plain_site, name):
    page, watch = visit(plain_site.split("/")[2])
    page.goto(f"{plain_site}notebooks/{name}.html")
    title = page.locator("article h1").first.evaluate(OWN_TEXT)  # without number and anchor
    page.get_by_role("link", name="Run in your browser").click()
    page.wait_for_selector(running.CELLS, timeout=60_000)
    assert page.locator(".jp-Notebook h1").first.evaluate(OWN_TEXT) == title
    assert watch.complaints == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_download_is_the_chapter(visit, plain_site, name):
    page, _ = visit(plain_site.split("/")[2])
    page.goto(f"{plain_site}notebooks/{name}.html")
    with page.expect_download() as waiting:
        page.locator(".launch").get_by_role("link", name="Download").click()
    assert waiting.value.suggested_filename == f"{name}.ipynb"
    assert json.loads(waiting.value.path().read_text(encoding="utf-8")) == stored(name)

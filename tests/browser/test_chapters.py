"""Every chapter runs whole in the reader's browser, and gives what the book shows."""

import json

import pytest
import running
import serving

from notebook_reading import cells, source

CHAPTERS = sorted(path.stem for path in (serving.ROOT / "notebooks").glob("[0-9]*.ipynb"))


def stored(name):
    path = serving.ROOT / "notebooks" / f"{name}.ipynb"
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
    assert f"✗ {exercise}: " in text
    assert watch.complaints == []

"""The moving figures in JupyterLite: what Python sets the figure shows, and the other way round."""

import json
import time

import pytest
import running
from explorable_values import agrees
from serving import SITE
from watching import Watch

from attention_book.explorables import (
    Agreement,
    Cache,
    Heads,
    Mixing,
    SoftmaxUnderStress,
    Tiles,
    Triangle,
    WhySqrtD,
)

# For each figure: what a cell sets; then where which key is pressed, and what Python must find.
TRIPS = {
    Agreement: (
        {"query": [-1.0, 0.5]}, '[data-handle="key"]', "ArrowUp", {"key": [1.0, 2.1]}),
    WhySqrtD: (
        {"d": 8, "query": 11}, '[data-control="d"]', "ArrowRight", {"d": 16}),
    SoftmaxUnderStress: (
        {"logits": [3.0, -7.5, 3.0, 1.0], "shift": -20.0}, '[data-control="shift"]', "ArrowLeft",
        {"shift": -21.0}),
    Mixing: (
        {"word": 1}, '[data-word="3"]', "Enter", {"word": 3}),
    Triangle: (
        {"rule": "window", "changed": True}, '[data-control="length"]', "ArrowLeft", {"length": 5}),
    Heads: (
        {"n_heads": 4, "step": 9}, '[data-step="next"]', "Enter", {"step": 10}),
    Cache: (
        {"n_kv_heads": 2, "cached": False}, '[data-control="cached"]', "Space", {"cached": True}),
    Tiles: (
        {"query_chunk": 8, "causal": False}, '[data-control="row"]', "ArrowLeft", {"row": 11}),
}
# What anywidget says where a busy machine takes two seconds; if it matters, the trip fails.
LATE = "[anywidget] Failed to initialize model."
START, SHOW, SET, READ = range(4)
CELLS = [
    "import json\nfrom attention_book import explorables\n"
    f"kinds = iter({[kind.__name__ for kind in TRIPS]})"
    f"\nwanted = iter({[trip[0] for trip in TRIPS.values()]})",
    "figure = getattr(explorables, next(kinds))()\nfigure",
    "for name, value in next(wanted).items():\n    setattr(figure, name, value)",
    "print(json.dumps(figure.state()))",
]
SAVE = """content => window.jupyterapp.serviceManager.contents.save("figures.ipynb",
  { type: "notebook", format: "json", content }).then(() => null)"""
RUN = """async index => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = index;
  await window.jupyterapp.commands.execute("notebook:run-cell");
  return content.activeCell.model.outputs.toJSON();
}"""


@pytest.fixture(scope="module")
def notebook(browser, port):
    """Return a notebook with a running kernel, and the watch on it."""
    host = f"127.0.0.1:{port}"
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, watch = context.new_page(), Watch(context, host)
    site, name = f"http://{host}/", running.chapters()[0].stem
    running.open_chapter(page, site, name)
    page.evaluate(SAVE, own_notebook(name))
    running.open_chapter(page, site, "figures")
    page.evaluate(running.READY)
    assert page.evaluate(RUN, START) == []
    yield page, watch
    context.close()


def own_notebook(name):
    """Return the cells above as a notebook, with a chapter's kernel."""
    stored = json.loads((SITE / "lite" / "files" / f"{name}.ipynb").read_text(encoding="utf-8"))
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    return {**stored, "cells": [{**cell, "id": f"cell-{i}", "source": source}
                                for i, source in enumerate(CELLS)]}


@pytest.mark.parametrize(("kind", "trip"), list(TRIPS.items()),
                         ids=[kind.__name__ for kind in TRIPS])
def test_round_trip(notebook, kind, trip):
    page, watch = notebook
    watch.complaints.clear()
    by_cell, control, key, by_key = trip
    figure = kind()
    assert [output["output_type"] for output in page.evaluate(RUN, SHOW)] == ["execute_result"]
    shown = page.locator(".ab-explorable:has(> .ab-stage)")
    shown.locator(".ab-state", has_text=".").wait_for()
    assert shown.locator(".ab-caption").inner_text() == kind.caption
    agrees(figure, shown)
    put(figure, by_cell)
    assert page.evaluate(RUN, SET) == []
    soon(lambda: agrees(figure, shown))
    put(figure, by_key)
    shown.locator(control).first.press(key)
    agrees(figure, shown)
    soon(lambda: check_state(page, figure))
    assert [one for one in watch.complaints if LATE not in one] == []


def check_state(page, figure):
    printed, = page.evaluate(RUN, READ)
    assert json.loads("".join(printed["text"])) == figure.state()


def put(figure, values):
    for name, value in values.items():
        setattr(figure, name, value)


def soon(check, seconds=10):
    """Wait until a check holds: messages between Python and figure take a moment."""
    end = time.monotonic() + seconds
    while True:
        try:
            return check()
        except AssertionError:
            if time.monotonic() > end:
                raise
        time.sleep(0.1)

"""How much a reader waits and loads: printed, and held to what the book promises.

The times are those of a machine with nothing else to do: where other programs share it, the limits
grow as its processors are shared.
"""

import os
import time

import pytest
import running
from serving import Counting

PAGE_BYTES, PAGE_PAINT = 700_000, 1.5  # compressed; seconds
CELL_BYTES, CELL_SECONDS = 45_000_000, 18
PAINT = """() => new Promise(done => new PerformanceObserver(list => {
  const paint = list.getEntriesByName("first-contentful-paint")[0];
  if (paint) done(paint.startTime / 1000);
}).observe({type: "paint", buffered: true}))"""


def shared():
    """Return how many programs want each processor, at least 1."""
    return max(1.0, os.getloadavg()[0] / os.cpu_count())


@pytest.mark.parametrize("name", [path.stem for path in running.chapters()])
def test_chapter_page(visit, port, name, capsys):
    page, _ = visit(f"127.0.0.1:{port}")
    before = Counting.sent
    page.goto(f"http://127.0.0.1:{port}/notebooks/{name}.html")
    page.wait_for_load_state("networkidle")
    paint, received = page.evaluate(PAINT), Counting.sent - before
    with capsys.disabled():
        print(f"\n{name}: {received / 1000:.0f} kB, first paint {paint:.2f} s", end=" ")
    assert 100_000 < received <= PAGE_BYTES
    assert paint < PAGE_PAINT * shared()


def test_first_cell_of_chapter_1(visit, port, capsys):
    """From a browser that has seen nothing, until the first cell's output stands."""
    page, watch = visit(f"127.0.0.1:{port}")
    start, before = time.monotonic(), Counting.sent
    running.open_chapter(page, f"http://127.0.0.1:{port}/", running.chapters()[0].stem)
    running.run_first(page)
    seconds, received = time.monotonic() - start, Counting.sent - before
    with capsys.disabled():
        print(f"\nfirst cell: {seconds:.1f} s, {received / 1e6:.1f} MB", end=" ")
    assert watch.complaints == []
    assert 10_000_000 < received <= CELL_BYTES
    assert seconds < CELL_SECONDS * shared()

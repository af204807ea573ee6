"""How much a reader waits and loads: printed, and held to what the book promises."""

import time

import pytest
import running

PAGE_BYTES, PAGE_PAINT = 700_000, 1.5  # compressed; seconds
CELL_BYTES, CELL_SECONDS = 45_000_000, 18
PAINT = """() => new Promise(done => new PerformanceObserver(list => {
  const paint = list.getEntriesByName("first-contentful-paint")[0];
  if (paint) done(paint.startTime / 1000);
}).observe({type: "paint", buffered: true}))"""


@pytest.mark.parametrize("name", [path.stem for path in running.chapters()])
def test_chapter_page(visit, port, name, capsys):
    page, watch = visit(f"127.0.0.1:{port}")
    page.goto(f"http://127.0.0.1:{port}/notebooks/{name}.html")
    page.wait_for_load_state("networkidle")
    paint = page.evaluate(PAINT)
    with capsys.disabled():
        print(f"\n{name}: {watch.received / 1000:.0f} kB, first paint {paint:.2f} s", end=" ")
    assert watch.received <= PAGE_BYTES
    assert paint < PAGE_PAINT


def test_first_cell_of_chapter_1(visit, port, capsys):
    """From a browser that has seen nothing, until the first cell's output stands."""
    page, watch = visit(f"127.0.0.1:{port}")
    start = time.monotonic()
    running.open_chapter(page, f"http://127.0.0.1:{port}/", running.chapters()[0].stem)
    running.run_first(page)
    seconds = time.monotonic() - start
    with capsys.disabled():
        print(f"\nfirst cell: {seconds:.1f} s, {watch.received / 1e6:.1f} MB", end=" ")
    assert watch.complaints == []
    assert watch.received <= CELL_BYTES
    assert seconds < CELL_SECONDS

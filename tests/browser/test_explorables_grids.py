"""The moving figures of chapters 5 to 8, driven in a browser: they show the package's values."""

from functools import cache

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from watching import Watch

from attention_book.explorables import Cache, Heads, Tiles, Triangle

FIGURES = [Triangle, Heads, Cache, Tiles]
LOOK = ("<style>body{background:var(--ab-paper);color:var(--ab-text);font:17px system-ui;"
        "margin:0 auto;max-width:600px}</style>")
PAGE = ('<!doctype html><html lang="en" data-theme="{theme}"><head><title>Figure</title>'
        '<meta name="viewport" content="width=device-width">{look}</head>'
        "<body><main><h1>Figure</h1>{figure}</main></body></html>")


@cache
def static_picture(kind):
    return kind().picture()


@pytest.fixture(scope="module")
def reader(browser):
    """Return one page for all tests, and the watch on it."""
    context = browser.new_context()
    yield context.new_page(), Watch(context, host="")
    context.close()


@pytest.fixture
def opened(reader, monkeypatch):
    """Return a function that opens a figure on a page without Python; complaints fail the test.

    The picture that shows before the script runs is drawn once for each kind: drawing takes long.
    """
    page, watch = reader
    watch.complaints.clear()
    for kind in FIGURES:
        picture = static_picture(kind)
        monkeypatch.setattr(kind, "picture", lambda self, picture=picture: picture)

    def open_page(figure, width=1280, theme="light", motion="no-preference"):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(reduced_motion=motion)
        page.mouse.move(0, 0)
        page.set_content(PAGE.format(theme=theme, look=LOOK, figure=figure.page()))
        page.wait_for_selector(".ab-stage .ab-state:not(:empty)")
        return page

    yield open_page
    assert watch.complaints == []


def shown(page, name):
    """Return the numbers that the figure shows under a name, by their indices."""
    found = page.eval_on_selector_all(
        f'[data-value="{name}"]', "all => all.filter((one) => one.checkVisibility())"
        ".map((one) => [one.dataset.index ?? '', one.dataset.exact])")
    return {index: float(value) for index, value in found}


def agrees(page, name, expected, where=True):
    """Assert that exactly the entries of an array for which ``where`` holds are shown."""
    expected, found = np.asarray(expected, float), shown(page, name)
    where = np.broadcast_to(where, expected.shape)
    indices = {",".join(map(str, index)): expected[index] for index in np.ndindex(expected.shape)
               if where[index]}
    assert found.keys() == indices.keys()
    for index, value in indices.items():
        assert found[index] == pytest.approx(value, rel=1e-5, abs=1e-5), (name, index)


def control(page, name):
    return page.locator(f'[data-control="{name}"]')


def press(page, name, key, times=1):
    control(page, name).focus()
    for _ in range(times):
        page.keyboard.press(key)


def says(page, pattern):
    """Wait until the spoken text matches."""
    page.wait_for_function("pattern => RegExp(pattern).test("
                           "document.querySelector('[aria-live]').textContent)", arg=pattern)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
class TestEvery:
    @pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
    def test_accessible_and_within_the_page(self, opened, figure, width, theme):
        page = opened(figure(), width, theme)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        for wide in (width, 600, 390):
            page.set_viewport_size({"width": wide, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= wide
            assert page.evaluate("document.querySelector('.ab-stage').scrollWidth"
                                 " <= document.querySelector('.ab-stage').clientWidth")

    def test_targets_are_large_enough(self, opened, figure):
        page = opened(figure(), 390)
        sizes = page.eval_on_selector_all(
            ".ab-stage :is(button, input, select, [tabindex])",
            "all => all.map((one) => one.getBoundingClientRect()).map((box) => box.height)")
        assert sizes and min(sizes) >= 24


def check_triangle(page, figure):
    agrees(page, "scores", figure.scores)
    agrees(page, "mask", figure.mask, figure.mask)
    agrees(page, "weights", figure.weights, figure.mask)
    agrees(page, "outputs", figure.outputs)
    agrees(page, "moved", figure.moved)


class TestTriangle:
    def test_controls_by_keyboard(self, opened):
        page = opened(Triangle())
        check_triangle(page, Triangle())
        says(page, r"^21 of 36 pairs may attend\. No token is changed\.")
        press(page, "rule", "ArrowDown")
        press(page, "window", "ArrowLeft")
        press(page, "n_query", "ArrowLeft", 2)
        press(page, "length", "ArrowLeft")
        press(page, "probe", "ArrowLeft", 2)
        press(page, "changed", "Enter")
        check_triangle(page, Triangle(rule="window", window=2, n_query=4, length=5, probe=2,
                                      changed=True))
        says(page, r"“the” changed, these outputs move: the, cat; the others stay")
        assert control(page, "changed").get_attribute("aria-pressed") == "true"

    def test_controls_by_pointer(self, opened):
        page = opened(Triangle(), 390)
        control(page, "changed").click()
        check_triangle(page, Triangle(changed=True))
        says(page, r"these outputs move: and, left; the others stay")
        control(page, "rule").select_option(label="everything")
        check_triangle(page, Triangle(changed=True, rule="none"))
        control(page, "length").click(position={"x": 3, "y": 10})
        check_triangle(page, Triangle(changed=True, rule="none", length=0))
        says(page, r"^0 of 36 pairs may attend\. With “and” changed, no output moves")

    def test_one_cell_is_lit_in_all_three(self, opened):
        page = opened(Triangle(n_query=3))

        def where():
            return page.eval_on_selector_all(
                ".ab-lit", "all => all.map((one) => one.closest('table').caption.textContent"
                " + one.dataset.index)")

        assert where() == ["Scores0,1", "Mask0,1", "Weights0,1"]
        page.hover('[data-value="scores"][data-index="1,4"]')
        assert where() == ["Scores1,4", "Mask1,4", "Weights1,4"]
        page.focus('[data-value="weights"][data-index="1,4"]')
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")  # there is no further key
        assert where() == ["Scores2,5", "Mask2,5", "Weights2,5"]
        exact = Triangle().weights[5, 5]
        assert page.get_by_text("Query “left”, key “left”: score").inner_text().endswith(
            f"weight {exact:.2f}.")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")  # the rows before are not there
        assert where()[0] == "Scores0,5"
        assert "masked" in page.get_by_text("Query “cat”, key “left”").inner_text()


def step(page, which, times=1):
    for _ in range(times):
        page.locator(f'[data-step="{which}"]').click()


def check_heads(page, figure):
    for h, weights in enumerate(figure.weights):
        agrees(page, f"weights-{h}", weights)
    agrees(page, "received", figure.received)
    assert page.locator(f'[data-value="weights-{figure.n_heads}"]').count() == 0


def check_carried(page, figure):
    """Assert that the target holds what the first steps carry over, in the order of its memory."""
    carried = np.arange(16) < figure.step
    to_heads = figure.way == "split"
    here = carried.reshape(figure.split.shape) if to_heads else np.ones(figure.split.shape, bool)
    agrees(page, "wide", figure.wide, True if to_heads else carried.reshape(4, 4))
    for h, part in enumerate(figure.split):
        agrees(page, f"split-{h}", part, here[h])
    array = figure.split if to_heads else figure.wide
    lit = page.eval_on_selector_all(".ab-lit", "all => all.map((one) => +one.dataset.exact)")
    assert lit == ([] if figure.step == 0 else 2 * [array.ravel()[figure.step - 1]])


class TestHeads:
    def test_controls_by_keyboard(self, opened):
        page = opened(Heads())
        check_heads(page, Heads())
        check_carried(page, Heads())
        says(page, r"head 0 puts most weight, 0\.96, on Mia, head 1 .* 0\.96, on cat")
        sliders = control(page, "questions")
        sliders.nth(0).focus()
        page.keyboard.press("ArrowLeft")
        sliders.nth(1).focus()
        page.keyboard.press("ArrowRight")
        press(page, "n_heads", "ArrowUp")
        press(page, "way", "ArrowDown")
        press(page, "step", "ArrowRight")
        changed = Heads(questions=[5, 1, 0, 6], n_heads=1, way="merge", step=7)
        check_heads(page, changed)
        check_carried(page, changed)
        says(page, r"Step 7: wide\[1, 2\] = heads\[0, 1, 2\] = 12\.$")

    def test_controls_by_pointer(self, opened):
        page = opened(Heads(), 390)
        control(page, "n_heads").select_option(label="4 heads of 1")
        step(page, "next", 2)
        check_heads(page, Heads(n_heads=4))
        check_carried(page, Heads(n_heads=4, step=8))
        step(page, "back", 9)  # one more than there are
        check_carried(page, Heads(n_heads=4, step=0))
        says(page, "Nothing is carried over yet")

    def test_plays_to_the_end_and_stops_there(self, opened):
        page = opened(Heads(step=13))
        play = page.locator('[data-step="play"]')
        play.click()
        assert play.inner_text() == "Pause"
        says(page, "Step 16: ")
        check_carried(page, Heads(step=16))
        page.wait_for_function("one => one.textContent === 'Play'", arg=play.element_handle())

    def test_moves_by_steps_alone_where_no_motion_is_wanted(self, opened):
        page = opened(Heads(), motion="reduce")
        assert page.locator('[data-step="play"]').count() == 0
        step(page, "next")
        check_carried(page, Heads(step=7))


def cells(page, title):
    """Return the texts of a grid's cells, row by row, without labels."""
    grid = page.locator("table.ab-heat").filter(has=page.locator("caption", has_text=title))
    rows = grid.locator("tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in rows]


def check_cache(page, figure):
    n, seen = figure.step, np.zeros((8, 8), bool)
    seen[:n, :n] = np.tri(n, dtype=bool)
    weights = np.zeros((8, 8))
    weights[:n, :n] = figure.weights[figure.head]
    agrees(page, "weights", weights, seen)
    for feature, x in enumerate(figure.mixture[figure.head]):
        agrees(page, f"mixture-{feature}", np.array(x))
    for name, expected in figure.work.items():
        agrees(page, name, expected)
    held = figure.kv.keys.nbytes + figure.kv.values.nbytes
    agrees(page, "held", np.array(held if figure.cached else 0))
    agrees(page, "unshared", np.array(held * 4 // figure.n_kv_heads))
    before = "read" if figure.cached else "again"
    row = [before] * (n - 1) + ["new"] + [""] * (8 - n)
    assert cells(page, "Keys and values") == [row] * (2 * figure.n_kv_heads)


class TestCache:
    def test_controls_by_keyboard(self, opened):
        page = opened(Cache())
        check_cache(page, Cache())
        says(page, "^Step 5, “so”, with a cache: 20 scores in this step, 60 so far")
        press(page, "step", "ArrowRight", 2)
        press(page, "cached", "Space")
        press(page, "n_kv_heads", "ArrowDown")
        press(page, "head", "ArrowRight")
        check_cache(page, Cache(step=7, cached=False, n_kv_heads=2, head=2))
        says(page, "“sat”, without a cache: 112 scores in this step, 336 so far")
        assert page.locator('[data-value="served"]').inner_text() == "query heads 2, 3"

    def test_controls_by_pointer(self, opened):
        page = opened(Cache(), 390)
        step(page, "back", 5)  # the first step is 1
        check_cache(page, Cache(step=1))
        control(page, "n_kv_heads").select_option(label="1 head for all")
        step(page, "next", 9)
        check_cache(page, Cache(step=8, n_kv_heads=1))
        control(page, "cached").click()
        check_cache(page, Cache(step=8, n_kv_heads=1, cached=False))
        again = page.locator('[data-value="weights"].ab-moved').count()
        assert (again, page.locator('[data-value="weights"].ab-lit').count()) == (28, 8)


def check_tiles(page, figure):
    """Assert what the figure shows in this step, and in the row's line for every earlier one."""
    settings = {name: getattr(figure, name) for name in figure.state() if name not in "qkv"}
    done = figure.tiles[:figure.step]
    first = figure.row - figure.row % figure.query_chunk
    steps = [step for step, (block, _) in enumerate(done, 1) if block == first]
    at = [Tiles(**{**settings, "step": step}) for step in steps]
    agrees(page, "maximum", [one.maximum for one in at])
    agrees(page, "total", [one.total for one in at])
    agrees(page, "accumulator", np.reshape([one.accumulator for one in at], (-1, 2)))
    before = [-np.inf, *(one.maximum for one in at)]
    agrees(page, "factor", np.exp(-np.diff(before)))
    finished = len(steps) == sum(block == first for block, _ in figure.tiles)
    agrees(page, "output", figure.output if finished else np.zeros(0))
    agrees(page, "held", np.array(figure.held))
    agrees(page, "dense", np.array(256))
    agrees(page, "skipped", np.array(256 // figure.query_chunk // figure.key_chunk
                                     - len(figure.tiles)))
    here, now = np.zeros((16, 16), bool), done[-1:]
    for row, key in now:
        here[row:row + figure.query_chunk, key:key + figure.key_chunk] = True
    seen = np.tri(16, dtype=bool) if figure.causal else np.ones((16, 16), bool)
    agrees(page, "scores", figure.scores, here & seen)
    states = page.eval_on_selector_all("[data-tile]", "all => all.map((one) => one.dataset.tile)")
    order = [(i, j) for i in range(0, 16, figure.query_chunk)
             for j in range(0, 16, figure.key_chunk)]
    assert states == ["held" if tile in now else "done" if tile in done
                      else "later" if tile in figure.tiles else "skipped" for tile in order]


class TestTiles:
    def test_controls_by_keyboard(self, opened):
        page = opened(Tiles())
        check_tiles(page, Tiles())
        says(page, r"^Tile 9 of 10: queries 12 to 15, keys 8 to 11\. Row 12: .* not finished")
        press(page, "query_chunk", "ArrowDown")
        press(page, "key_chunk", "ArrowUp")
        press(page, "row", "ArrowRight", 2)
        press(page, "step", "ArrowRight", 2)
        changed = Tiles(query_chunk=8, key_chunk=2, row=14, step=11)
        check_tiles(page, changed)
        press(page, "causal", "Space")
        changed.causal = False
        check_tiles(page, changed)
        press(page, "step", "End")
        changed.step = len(changed.tiles)
        check_tiles(page, changed)
        says(page, f"It is finished: {changed.output[0]:.2f}".replace("-", "−"))

    def test_controls_by_pointer(self, opened):
        page = opened(Tiles(), 390)
        step(page, "next")
        check_tiles(page, Tiles(step=10))
        assert page.locator("tfoot").inner_text() != ""
        board = page.locator(".ab-tiles")
        board.click(position={"x": 30, "y": board.bounding_box()["height"] * 5.5 / 16})
        check_tiles(page, Tiles(step=10, row=5))
        step(page, "back", 11)  # one more than there are
        check_tiles(page, Tiles(step=0, row=5))
        says(page, r"^No tile is computed yet; 10 will be\. Row 5 has not begun\.")
        assert page.get_by_text("Row 5 is not in the tile").is_visible()

    def test_a_step_beyond_the_last_is_the_last(self, opened):
        page = opened(Tiles(query_chunk=2, key_chunk=2, step=36, row=15))
        check_tiles(page, Tiles(query_chunk=2, key_chunk=2, step=36, row=15))
        control(page, "query_chunk").select_option("8")
        check_tiles(page, Tiles(query_chunk=8, key_chunk=2, step=12, row=15))
        step(page, "back")
        check_tiles(page, Tiles(query_chunk=8, key_chunk=2, step=11, row=15))
        scores = Tiles().scores[15, 12:14]
        assert page.get_by_text("Scores of row 15 in this tile").inner_text().replace("−", "-") == (
            f"Scores of row 15 in this tile: {scores[0]:.2f}, {scores[1]:.2f}.")

"""The moving figures of chapters 1 to 4 on a page without Python, driven as readers drive them."""

from functools import cache

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from watching import Watch

from attention_book.explorables import Agreement, Mixing, SoftmaxUnderStress, WhySqrtD, base
from attention_book.explorables.mixing import WK, WV

FIGURES = [Agreement, WhySqrtD, SoftmaxUnderStress, Mixing]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>A figure</title><style>
body {{ background: var(--ab-paper); color: var(--ab-text); font: 17px system-ui, sans-serif;
margin: 0 auto; max-width: 600px; padding: 0 16px; }}</style></head>
<body><main><h1>A figure</h1>{figure}</main></body></html>"""
SMALL_TARGETS = """() =>
  [...document.querySelectorAll("button, input, select, summary, .ab-target")].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width < 24 || box.height < 24; }).map((e) => e.outerHTML)"""


@pytest.fixture(scope="module")
def reader(browser):
    """Return one page for all tests, and the watch on it."""
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page(), Watch(context, host="")
    context.close()


@cache
def static_picture(kind):
    return kind().picture()


@pytest.fixture
def show(reader, tmp_path, monkeypatch):
    """Return a function that opens a figure's page; at the end, nothing was complained about.

    The picture that shows before the script runs is drawn once for each kind: drawing takes long.
    """
    page, watch = reader
    watch.complaints.clear()
    for kind in FIGURES:
        picture = static_picture(kind)
        monkeypatch.setattr(kind, "picture", lambda self, picture=picture: picture)

    def open_page(figure, width=600):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(written(figure, tmp_path))
        page.wait_for_selector("[data-alive] .ab-state:not(:empty)")
        return page

    yield open_page
    assert watch.complaints == []


def written(figure, folder):
    """Write a figure's page; return its address."""
    path = folder / "figure.html"
    path.write_text(PAGE.format(figure=figure.page()), encoding="utf-8")
    return path.as_uri()


def shown(page, name, index=None):
    """Return the unrounded numbers that stand under a name, in the order of the page."""
    place = f'[data-index^="{index}"]' if index else ""
    read = "es => es.map(e => Number(e.dataset.exact))"
    return np.array(page.eval_on_selector_all(f'[data-value="{name}"]{place}', read))


def agrees(found, wanted):
    np.testing.assert_allclose(found, np.ravel(wanted), rtol=1e-5, atol=1e-5)


def press(page, selector, key, times=1):
    page.locator(selector).first.focus()
    for _ in range(times):
        page.keyboard.press(key)


def click_at(page, selector, share):
    """Click on a slider, this share of the way along it; return the position it then has."""
    element = page.locator(selector)
    element.scroll_into_view_if_needed()
    box = element.bounding_box()
    page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
    return float(element.input_value())


def says(page, *parts):
    for part in parts:
        expect(page.locator(".ab-state")).to_contain_text(part)


@pytest.mark.parametrize("kind", FIGURES)
def test_fits_and_is_accessible(show, kind):
    for width in (1280, 390):
        page = show(kind(), width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALL_TARGETS) == []
    assert violations(page, RULES) == []
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert violations(page, ["color-contrast"]) == []


def violations(page, rules):
    found = Axe().run(page, options={"runOnly": rules}).response["violations"]
    return [f"{rule['id']}: {[node['html'] for node in rule['nodes']]}" for rule in found]


def test_agreement_by_keyboard(show):
    figure = Agreement()
    page = show(figure)
    press(page, '[data-handle="query"]', "ArrowLeft", 3)
    press(page, '[data-handle="key"]', "ArrowUp", 4)
    press(page, 'fieldset.ab-key [data-control="key"]', "ArrowRight", 2)
    figure.query, figure.key = [1.7, 1.0], [1.2, 2.4]
    agree_on_vectors(page, figure)
    says(page, "Query (1.7, 1.0), key (1.2, 2.4)", "They agree.")


def agree_on_vectors(page, figure):
    query, key = np.array(figure.query), np.array(figure.key)
    agrees(shown(page, "dot"), figure.dot)
    agrees(shown(page, "projection"), figure.dot / np.linalg.norm(query))
    agrees(shown(page, "cosine"), figure.dot / np.linalg.norm(query) / np.linalg.norm(key))


def test_agreement_by_pointer(show):
    figure = Agreement()
    page = show(figure, width=390)
    box = page.locator('[data-handle="key"] .ab-target').bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 150, y + 20, steps=4)
    page.mouse.up()
    figure.key = [float(page.locator('[data-control="key"]').nth(i).input_value()) for i in (0, 1)]
    assert -3 <= figure.key[0] < -1 < figure.key[1] < 2
    agree_on_vectors(page, figure)
    says(page, "They point away from each other.")
    page.mouse.move(x - 150, y + 20)
    page.mouse.down()
    page.mouse.move(0, 2000)
    page.mouse.up()
    figure.key = [-3, -3]  # it stays in the plane
    agree_on_vectors(page, figure)


def test_agreement_of_a_vector_of_zeros(show):
    page = show(Agreement(query=[0, 0]))
    assert [shown(page, name).item() for name in ("dot", "cosine", "projection")] == [0, 0, 0]


@pytest.mark.parametrize("d", [1, 3, 64, 512])
def test_why_sqrt_d_shows_the_packages_values(show, d):
    figure = WhySqrtD(d=d, query=249)
    agree_on_sides(show(figure), figure)


def agree_on_sides(page, figure):
    for name, side in (("unscaled", figure.unscaled), ("scaled", figure.scaled)):
        agrees(shown(page, f"{name}-scores"), side.scores[figure.query])
        agrees(shown(page, f"{name}-weights"), side.weights)
        agrees(shown(page, f"{name}-entropy"), side.entropy)
        agrees(shown(page, f"{name}-gradient"), side.gradient)
        agrees(shown(page, f"{name}-spread"), side.scores.std())
        agrees(shown(page, f"{name}-largest"), side.largest)


def test_why_sqrt_d_histogram(show):
    figure = WhySqrtD(d=512)
    page = show(figure)
    heights = np.array(page.eval_on_selector_all(
        ".ab-small rect", "es => es.map(e => Number(e.getAttribute('height')))")).reshape(2, -1)
    for row, side in zip(heights, (figure.unscaled, figure.scaled), strict=True):
        counts = np.histogram(side.scores, np.arange(-85, 86, 2))[0]
        assert counts.sum() == 2000
        agrees(row / row.max(), counts / counts.max())


def test_why_sqrt_d_by_keyboard_and_pointer(show):
    figure = WhySqrtD()
    page = show(figure, width=390)
    press(page, '[data-control="d"]', "ArrowRight", 2)
    press(page, '[data-control="query"]', "ArrowLeft")
    figure.d, figure.query = 256, 1
    agree_on_sides(page, figure)
    says(page, "With d = 256", f"{figure.unscaled.scores.std():.2f}", "query 1")
    figure.d = int(2 ** click_at(page, '[data-control="d"]', 0.2))
    figure.query = int(click_at(page, '[data-control="query"]', 0.7))
    assert figure.d < 16 and 150 < figure.query < 200
    agree_on_sides(page, figure)


@pytest.mark.parametrize(("logits", "temperature", "shift"), [
    ([0.0, 1.0, 2.0, 3.0], 1.0, 0.0), ([0.0, 1.0, 2.0, 3.0], 1.0, 8.0),
    ([3.0, -7.5, 3.0, 1.0], 7.94, -20.0), ([-20.0, 20.0, 19.5, 0.5], 0.126, 33.3)])
def test_softmax_under_stress_shows_the_packages_values(show, logits, temperature, shift):
    figure = SoftmaxUnderStress(logits=logits, temperature=temperature, shift=shift)
    agree_on_results(show(figure), figure)


def agree_on_results(page, figure):
    for way in ("naive", "stable"):
        for name, result in getattr(figure, way).items():
            for values in ("exponentials", "weights"):
                agrees(shown(page, f"{way}-{values}", name), getattr(result, values))
            agrees(shown(page, f"{way}-total", name), result.total)
            agrees(shown(page, f"{way}-error", name), result.error)
            cell = page.locator(f'[data-value="{way}-error"][data-index="{name}"]')
            assert ("breaks: its sum is" in cell.inner_text()) == result.broken
            assert ("ab-broken" in (cell.get_attribute("class") or "")) == result.broken
    found = page.eval_on_selector_all('[data-value="breaks"]',
                                      "es => es.map(e => [e.dataset.index, e.dataset.exact])")
    assert {name: tuple(page.evaluate(text)) for name, text in found} == figure.breaks


def test_the_moment_it_breaks(show):
    figure = SoftmaxUnderStress()
    page = show(figure)
    press(page, '[data-control="shift"]', "ArrowRight", 7)
    figure.shift = 7
    agree_on_results(page, figure)
    says(page, "In float16 the naive softmax is off by")
    press(page, '[data-control="shift"]', "ArrowRight")
    figure.shift = 8
    agree_on_results(page, figure)
    says(page, "In float16 the naive softmax breaks: its sum is ∞, the stable one is off by")
    press(page, '[data-control="shift"]', "Home")
    figure.shift = -200
    agree_on_results(page, figure)
    says(page, "In float32 the naive softmax breaks: its sum is 0")


def test_softmax_under_stress_other_controls(show):
    figure = SoftmaxUnderStress()
    page = show(figure, width=390)
    press(page, '[data-control="temperature"]', "ArrowLeft", 3)
    press(page, '[data-control="logits"]', "ArrowRight", 5)
    figure.temperature, figure.logits = 0.501, [2.5, 1.0, 2.0, 3.0]
    agree_on_results(page, figure)
    says(page, "Temperature 0.50, shift 0.")
    figure.shift = click_at(page, '[data-control="shift"]', 0.9)
    assert figure.shift > 100
    agree_on_results(page, figure)


def test_half_rounds_as_numpy(show, rng):
    page = show(SoftmaxUnderStress())
    steps = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(float)[::7]  # to infinity
    spacing = np.spacing(steps[:-1].astype(np.float16)).astype(float)
    middles = steps[:-1] + spacing / 2  # in float64: half the smallest step is no float16
    x = np.concatenate([steps, middles, np.nextafter(middles, 0), np.nextafter(middles, 1e6),
                        [65519.9, 65520, 1e300, 5e-324], rng.normal(size=500) * 1000])
    x = np.concatenate([x[::3], -x[1::3]])
    script = base.module("softmax_under_stress") + "\nexport { half };"
    found = page.evaluate("""async ([script, x]) => {
        const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
        return x.map((await import(address)).half); }""", [script, x.tolist()])
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(found, x.astype(np.float16).astype(float))


def agree_on_mixture(page, figure):
    for name in ("scores", "weights", "mixture"):
        agrees(shown(page, name), getattr(figure, name))
    agrees(shown(page, "keys"), figure.x @ WK)
    agrees(shown(page, "values"), figure.x @ WV)


def test_mixing_by_keyboard(show):
    figure = Mixing()
    page = show(figure)
    for word in (0, 1, 2, 3, 4, 5):
        press(page, f'[data-word="{word}"]', "Enter")
        figure.word = word
        agree_on_mixture(page, figure)
        pressed = page.locator('[aria-pressed="true"]')
        assert pressed.count() == 1 and pressed.get_attribute("data-word") == str(word)
        says(page, f"“{pressed.inner_text()}” asks for")


def test_mixing_edits(show):
    figure = Mixing()
    page = show(figure, width=390)
    says(page, "is for “cat”")
    press(page, '[data-feature="20"]', "ArrowUp", 2)  # it: human
    change_feature(figure, 20, 1.0)
    agree_on_mixture(page, figure)
    says(page, "is for “Mia”")
    for typed, kept in (("-1.25", -1.25), ("9", 3.0), ("", 3.0)):  # cat: animal
        page.locator('[data-feature="13"]').fill(typed)
        page.keyboard.press("Tab")
        change_feature(figure, 13, kept)
        agree_on_mixture(page, figure)
        assert float(page.locator('[data-feature="13"]').input_value()) == kept
    page.locator('[data-word="1"]').click()
    page.get_by_role("button", name="As it was").click()
    agree_on_mixture(page, Mixing(word=1))
    assert page.locator('[data-feature="13"]').input_value() == "1"


def change_feature(figure, at, value):
    figure.features = [value if i == at else x for i, x in enumerate(figure.features)]

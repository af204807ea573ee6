"""The moving figures of chapters 1 to 4: their state, their page, and the values they compute."""

import json
import math
import re
from fractions import Fraction
from html import unescape
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy import stats

from attention_book import explorables, softmax
from attention_book.explorables import Agreement, Mixing, SoftmaxUnderStress, WhySqrtD, base
from attention_book.explorables.mixing import TOKENS, WK, WQ, WV, X
from attention_book.explorables.why_sqrt_d import D_MOST, draws, normals

FIGURES = [Agreement, WhySqrtD, SoftmaxUnderStress, Mixing]
NAN = float("nan")
CHAPTER = Path(__file__).parents[1] / "notebooks" / "04_weighted_values.ipynb"

REFUSED = [
    (Agreement, "query", [1.0], ValueError),
    (Agreement, "query", [1.0, 3.5], ValueError),
    (Agreement, "key", [1.0, NAN], ValueError),
    (Agreement, "key", "12", ValueError),
    (Agreement, "key", [1.0, "2"], TypeError),
    (WhySqrtD, "d", 0, ValueError),
    (WhySqrtD, "d", 513, ValueError),
    (WhySqrtD, "d", 64.0, TypeError),
    (WhySqrtD, "query", 250, ValueError),
    (SoftmaxUnderStress, "logits", [1.0, 2.0, 3.0], ValueError),
    (SoftmaxUnderStress, "logits", [1.0, 2.0, 3.0, 21.0], ValueError),
    (SoftmaxUnderStress, "temperature", 0.0, ValueError),
    (SoftmaxUnderStress, "temperature", True, TypeError),
    (SoftmaxUnderStress, "shift", NAN, ValueError),
    (SoftmaxUnderStress, "shift", 201, ValueError),
    (Mixing, "word", 6, ValueError),
    (Mixing, "word", -1, ValueError),
    (Mixing, "features", [0.0] * 23, ValueError),
    (Mixing, "features", [4.0] + [0.0] * 23, ValueError),
]


@pytest.mark.parametrize("kind", FIGURES)
def test_page_holds_state_picture_and_nothing_foreign(kind):
    figure = kind()
    page = figure.page()
    assert state_on(page) == figure.state() != {}
    alt = re.search(r'<img [^>]*alt="([^"]+)"', page)
    assert alt and page.index('class="ab-before"') < alt.start() < page.index("<script")
    assert kind.caption in unescape(page)
    assert set(re.findall(r"[a-z]+://[^\s\"'<>)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert repr(figure) == f"Figure: {kind.caption}"


def state_on(page):
    return json.loads(unescape(re.search(r'data-state="([^"]*)"', page)[1]))


@pytest.mark.parametrize("kind", FIGURES)
def test_script_is_small_and_can_be_exported(kind):
    script = (base.HERE / f"{kind.kind}.js").read_bytes()
    assert len(script) <= 12 * 1024
    assert script.decode("utf-8").rstrip().endswith("export default { render: live(render) };")
    assert kind.__name__ in explorables.__all__


@pytest.mark.parametrize("kind", FIGURES)
def test_what_is_set_is_on_the_page_and_in_the_picture(kind):
    figure, other = kind(), kind()
    for name, value in {Agreement: {"query": [-1.0, 0.5]}, WhySqrtD: {"d": 7, "query": 3},
                        SoftmaxUnderStress: {"logits": [5.0, -5.0, 0.0, 0.5], "shift": -3.0},
                        Mixing: {"word": 1}}[kind].items():
        setattr(figure, name, value)
        assert getattr(figure, name) == value == figure.state()[name] != other.state()[name]
    assert figure.picture().alt != other.picture().alt
    assert state_on(figure.page()) == figure.state() != state_on(other.page())


@pytest.mark.parametrize(("kind", "name", "value", "error"), REFUSED)
def test_refuses(kind, name, value, error):
    figure = kind()
    before = figure.state()
    with pytest.raises(error, match=rf"^{name}: got .+; wanted .+"):
        setattr(figure, name, value)
    assert figure.state() == before


def test_agreement():
    figure = Agreement(query=[2, -1.5], key=[0.5, 3])
    assert math.isclose(figure.dot, 2 * 0.5 - 1.5 * 3)
    figure.query = [0, 0]
    assert figure.dot == 0 and "query" in figure.picture().alt


def normal(counter):
    """Return one of the normal numbers, in Python's whole numbers and floats alone."""
    first, second = ((mixed(n * 2654435769) + 0.5) / 2**32 for n in (counter & ~1, counter | 1))
    turn = math.cos if counter % 2 == 0 else math.sin
    return math.sqrt(-2 * math.log(first)) * turn(2 * math.pi * second)


def mixed(bits):
    bits %= 2**32
    bits = (bits ^ bits >> 16) * 0x85EBCA6B % 2**32
    bits = (bits ^ bits >> 13) * 0xC2B2AE35 % 2**32
    return bits ^ bits >> 16


def test_normals_are_those_documented_and_normal():
    sample = normals(100_001)
    for counter in (0, 1, 2, 777, 54_321, 100_000):
        assert math.isclose(sample[counter], normal(counter), rel_tol=1e-9)
    assert stats.kstest(sample, "norm").pvalue > 0.01
    neighbours = [np.corrcoef(sample[:-lag], sample[lag:])[0, 1] for lag in (1, 2, 512)]
    assert np.abs(neighbours).max() < 0.015
    assert mixed(1) == 0x514E28B7  # MurmurHash3's own value for 1


@pytest.mark.parametrize("d", [1, 2, 7, 64, 512])
def test_why_sqrt_d(d):
    figure = WhySqrtD(d=d, query=11)
    start = 11 * 9 * D_MOST
    q = [normal(start + i) for i in range(d)]
    row = [sum(q_i * normal(start + j * D_MOST + i) for i, q_i in enumerate(q))
           for j in range(1, 9)]
    for side, scale in ((figure.unscaled, 1.0), (figure.scaled, 1 / math.sqrt(d))):
        expected = np.array(row) * scale
        np.testing.assert_allclose(side.scores[11], expected, atol=1e-9)
        p = reference_softmax(expected)
        np.testing.assert_allclose(side.weights, p, atol=1e-9)
        assert math.isclose(side.entropy, stats.entropy(p), abs_tol=1e-9)
        nudged = [(reference_softmax(expected + h) - reference_softmax(expected - h)) / 2e-6
                  for h in np.eye(8) * 1e-6]
        assert math.isclose(side.gradient, np.abs(nudged).max(), abs_tol=1e-8)
        assert side.scores.shape == (250, 8)
        assert abs(side.scores.var() / (d * scale**2) - 1) < 0.15
    tops = [max(reference_softmax(row)) for row in figure.unscaled.scores]
    assert math.isclose(figure.unscaled.largest, sum(tops) / 250, rel_tol=1e-9)


def reference_softmax(scores):
    exponentials = [mpmath.exp(float(score)) for score in scores]
    return np.array([float(x / mpmath.fsum(exponentials)) for x in exponentials])


def test_draws_cannot_be_written_to():
    with pytest.raises(ValueError):
        draws()[0][0] = 1


# float16 and float32 without NumPy: whole steps of a power of two, ties to the even one.
FORMATS = {"float16": (11, -14, 65504), "float32": (24, -126, (2 - 2.0**-23) * 2.0**127)}


def rounded(x, name):
    if not math.isfinite(x) or x == 0:
        return float(x)
    bits, least, largest = FORMATS[name]
    exponent = max(math.frexp(x)[1] - 1, least)
    step = Fraction(2) ** (exponent - bits + 1)
    near = float(round(Fraction(x) / step) * step)  # Python rounds ties to even
    return math.copysign(math.inf, x) if abs(near) > largest else near


def by_hand(figure, name, subtract):
    def cut(x):
        return rounded(x, name)

    x = [cut(cut(cut(logit) / cut(figure.temperature)) + cut(figure.shift))
         for logit in figure.logits]
    if subtract:
        x = [cut(one - max(x)) for one in x]
    exponentials = [cut(math.exp(one)) for one in x]
    total = 0.0
    for one in exponentials:
        total = cut(total + one)
    bad = total == 0 or math.isinf(total)
    return exponentials, total, None if bad else [cut(one / total) for one in exponentials]


@pytest.mark.parametrize("shift", [-200, -107, -106, -21, -20, -16, 0, 7, 8, 9, 85, 86, 87, 200])
@pytest.mark.parametrize(("logits", "temperature"), [
    ([0.0, 1.0, 2.0, 3.0], 1.0), ([-20.0, 20.0, 19.5, 0.5], 0.126), ([3.0, -7.5, 3.0, 1.0], 7.94)])
def test_every_operation_is_rounded(logits, temperature, shift):
    figure = SoftmaxUnderStress(logits=logits, temperature=temperature, shift=shift)
    for name in FORMATS:
        for way, subtract in ((figure.naive, False), (figure.stable, True)):
            exponentials, total, weights = by_hand(figure, name, subtract)
            assert way[name].exponentials.tolist() == exponentials
            assert way[name].total == total and way[name].weights.dtype == name
            assert way[name].broken == (weights is None)
            if weights is not None:
                assert way[name].weights.tolist() == weights
        assert not figure.stable[name].broken


def test_breaks_where_mathematics_says():
    figure = SoftmaxUnderStress()
    total = math.log(sum(math.exp(x) for x in figure.logits))
    for name, (bits, least, largest) in FORMATS.items():
        low, high = figure.breaks[name]
        assert high == math.ceil(math.log(largest) - total)
        assert low == math.floor((least - bits) * math.log(2) - 3)  # half the smallest step
        for shift, broken in ((low, True), (low + 1, False), (high - 1, False), (high, True)):
            figure.shift = shift
            assert figure.naive[name].broken is broken
    figure.logits = [-20.0] * 4
    figure.temperature = 0.1
    assert figure.breaks["float16"] == (182, None)


def test_exact_is_the_softmax_and_stable_is_near():
    figure = SoftmaxUnderStress(logits=[4.0, -1.0, 0.0, 2.5], temperature=2.0)
    exact = reference_softmax(np.array(figure.logits) / 2)
    np.testing.assert_allclose(figure.exact, exact, rtol=1e-12)
    for name, eps in (("float16", 2.0**-10), ("float32", 2.0**-23)):
        result = figure.stable[name]
        assert result.error == np.abs(result.weights - figure.exact).max() < 4 * eps
        package = softmax(np.array(figure.logits, name) / np.dtype(name).type(2))
        np.testing.assert_allclose(result.weights, package, rtol=4 * eps)


def test_mixing_is_the_chapters():
    cells = json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names = {"np": np}
    for start in ("tokens = [", "#              animal"):
        exec(next(source for source in sources if source.startswith(start)), names)
    assert names["tokens"] == TOKENS
    for name, constant in {"x": X, "wq": WQ, "wk": WK, "wv": WV}.items():
        np.testing.assert_array_equal(names[name], constant)


@pytest.mark.parametrize("word", range(6))
def test_mixing_by_loops(word, rng):
    figure = Mixing(word=word)
    wanted = rng.uniform(-1, 1, size=(6, 4))
    figure.x = wanted
    np.testing.assert_array_equal(figure.x, wanted)
    rows = figure.state()["features"]
    x = [rows[4 * i:4 * i + 4] for i in range(6)]
    query = [6 * (x[word][3] - x[word][0]) + 3 * x[word][2], 6 * x[word][0] + 3 * x[word][2]]
    row = [(query[0] * a[1] + query[1] * (a[0] - a[3])) / math.sqrt(2) for a in x]
    weights = reference_softmax(row)
    np.testing.assert_allclose(figure.scores, row, atol=1e-12)
    np.testing.assert_allclose(figure.weights, weights, atol=1e-12)
    mixture = [sum(weight * a[j] for weight, a in zip(weights, x, strict=True)) for j in range(3)]
    np.testing.assert_allclose(figure.mixture, mixture, atol=1e-12)


def test_she_finds_mia():
    figure = Mixing()
    assert figure.weights.argmax() == 3
    rows = figure.x
    rows[5, 0] = 1
    figure.x = rows
    assert figure.weights.argmax() == 0

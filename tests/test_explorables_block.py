"""The walk through a block: its state, its page, and the vector at each station by loops."""

import cmath
import json
import math
import re
from html import unescape

import numpy as np
import pytest

from attention_book import explorables
from attention_book.explorables import BlockWalk, base
from attention_book.explorables.block_walk import FEATURES, STATIONS, SUBJECTS

PARTS = ["norms", "attention", "feed_forward", "residual"]


def normed(row):
    root = math.sqrt(sum(x * x for x in row) / len(row) + 1e-5)
    return [x / root for x in row]


def product(row, matrix):
    return [sum(x * line[j] for x, line in zip(row, matrix, strict=True))
            for j in range(len(matrix[0]))]


def turned(row, position):
    """Pairs as complex numbers, of the speeds 1 and 1/10."""
    return [complex(row[2 * i], row[2 * i + 1]) * cmath.exp(1j * position / 10**i)
            for i in range(len(row) // 2)]


def walk(figure):
    """Station by station, in plain Python."""
    w, norm = figure.weights, normed if figure.norms else list
    rows = [[1.0, word == "cats", word == "dogs", word == "like", 0, 0, 0, 0, 0]
            for word in (figure.subject, "like")]
    read = [norm(row) for row in rows]
    q = turned(product(read[1], w["wq"]), 1)
    e = [math.exp(sum((a * b.conjugate()).real for a, b in zip(
        q, turned(product(row, w["wk"]), t), strict=True)) / 2) for t, row in enumerate(read)]
    values = [product(row, w["wv"]) for row in read]
    mixed = [sum(share * value[c] for share, value in zip(e, values, strict=True)) / sum(e)
             for c in range(4)]
    found = product(mixed, w["wo"]) if figure.attention else [0] * 9
    middle = [x * figure.residual + y for x, y in zip(rows[1], found, strict=True)]
    again = norm(middle)
    hidden = [g / (1 + math.exp(-g)) * u for g, u in zip(
        product(again, w["gate"]), product(again, w["up"]), strict=True)]
    made = product(hidden, w["down"]) if figure.feed_forward else [0] * 9
    after = [x * figure.residual + y for x, y in zip(middle, made, strict=True)]
    return np.array([rows[1], read[1], found, middle, again, made, after], float).T


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("without", [(), *((part,) for part in PARTS), ("norms", "residual")])
def test_stations_are_what_loops_find(subject, without):
    figure = BlockWalk(subject=subject, **dict.fromkeys(without, False))
    assert figure.stations.shape == (len(FEATURES), len(STATIONS)) == (9, 7)
    np.testing.assert_allclose(figure.stations, walk(figure), atol=1e-12)


@pytest.mark.parametrize("subject, following", [("cats", "next milk"), ("dogs", "next bones")])
def test_the_whole_block_knows_what_comes_next(subject, following):
    after = dict(zip(FEATURES, BlockWalk(subject=subject).stations[:, -1], strict=True))
    nexts = {name: after[name] for name in ("next milk", "next bones")}
    assert max(nexts, key=nexts.get) == following
    assert nexts[following] > 0.9 and sorted(nexts.values())[0] < 0.1


@pytest.mark.parametrize("part", PARTS)
def test_with_a_part_left_out_it_does_not(part):
    assert BlockWalk(**{part: False}).stations[7:, -1].max() < 0.5


def test_page_holds_state_picture_and_nothing_foreign():
    figure, other = BlockWalk(), BlockWalk(subject="dogs", step=3)
    page = figure.page()
    state = json.loads(unescape(re.search(r'data-state="([^"]*)"', page)[1]))
    assert state == figure.state() and state["step"] == 0
    assert figure.picture().alt != other.picture().alt
    assert figure.caption in unescape(page)
    assert set(re.findall(r"[a-z]+://[^\s\"'<>)]+", page)) == {"http://www.w3.org/2000/svg"}


def test_script_is_small_and_says_the_same_names():
    script = (base.HERE / "block_walk.js").read_text(encoding="utf-8")
    assert len(script.encode()) <= 12 * 1024
    assert script.rstrip().endswith("export default { render: live(render) };")
    for name in (*FEATURES, *STATIONS, *SUBJECTS):
        assert f'"{name}"' in script
    assert "BlockWalk" in explorables.__all__


@pytest.mark.parametrize("name, value, error", [
    ("subject", "cows", ValueError), ("step", 7, ValueError), ("step", 2.0, TypeError),
    ("norms", 1, TypeError), ("residual", None, TypeError)])
def test_refuses(name, value, error):
    figure = BlockWalk()
    before = figure.state()
    with pytest.raises(error, match=rf"^{name}: got .+; wanted .+"):
        setattr(figure, name, value)
    assert figure.state() == before

"""The figure of a training: its stored checkpoints, its state, its page."""

import json
import re
from html import unescape

import numpy as np
import pytest

from attention_book import explorables
from attention_book.explorables import Training, base
from attention_book.explorables.training import HEADS, STORED

LAST = len(STORED["steps"]) - 1


def test_checkpoints_are_whole():
    text, period, n = STORED["text"], STORED["period"], len(STORED["text"])
    assert n == 2 * period == 16 and text[:period] == text[period:] and len(set(text)) == period
    assert len(STORED["losses"]) == STORED["steps"][-1] // STORED["every"] + 1
    assert STORED["steps"] == sorted(set(STORED["steps"])) and STORED["steps"][0] == 0
    assert not [steps for steps in STORED["steps"] if steps % STORED["every"]]
    assert len(STORED["weights"]) == len(STORED["steps"])
    for pair in STORED["weights"]:
        assert len(pair) == len(HEADS)
        for rows in pair:
            assert [len(row) for row in rows] == list(range(1, n + 1))
            for row in rows:
                assert min(row) >= 0 and abs(sum(row) - 100) <= len(row) / 2


def test_the_loss_falls_when_the_head_comes():
    figures = [Training(step=step) for step in range(LAST + 1)]
    early = [figure for figure in figures if figure.steps <= 150]
    assert min(figure.loss for figure in early) > 3 and figures[-1].loss < 0.2
    assert max(figure.target for figure in early) < 0.25 and figures[-1].target > 0.8
    assert Training(step=LAST, head="first layer").target > 0.7


def loops(figure):
    """Where the head looks once it has learnt, cell by cell, from the text."""
    text, found = figure.data["text"], []
    for i in range(len(text)):
        before = text[:i].rfind(text[i]) if figure.head == "second layer" else i - 2
        if before >= 0 or (figure.head == "first layer" and i):
            found.append((i, before + 1))
    return found


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("step", [0, 4, LAST])
def test_values_are_those_that_are_stored(head, step):
    figure = Training(step=step, head=head)
    cells = loops(figure)
    assert np.argwhere(figure.expected).tolist() == [list(cell) for cell in cells]
    rows = STORED["weights"][step][HEADS.index(head)]
    assert abs(figure.target - sum(rows[i][j] for i, j in cells) / 100 / len(cells)) < 1e-12
    assert figure.shown[5, 3] == rows[5][3] / 100 and not np.triu(figure.shown, 1).any()
    assert figure.loss == STORED["losses"][STORED["steps"][step] // STORED["every"]]


def test_page_holds_state_picture_and_nothing_foreign():
    figure, other = Training(), Training(step=LAST)
    page = figure.page()
    state = json.loads(unescape(re.search(r'data-state="([^"]*)"', page)[1]))
    assert state == figure.state() and state["step"] == 0 and state["head"] == "second layer"
    assert len(json.dumps(state, separators=(",", ":"))) < 9000
    assert figure.picture().alt != other.picture().alt
    assert figure.caption in unescape(page)
    assert set(re.findall(r"[a-z]+://[^\s\"'<>)]+", page)) == {"http://www.w3.org/2000/svg"}


def test_script_is_small_and_says_the_same_names():
    script = (base.HERE / "training.js").read_text(encoding="utf-8")
    assert len(script.encode()) <= 12 * 1024
    assert script.rstrip().endswith("export default { render: live(render) };")
    for name in HEADS:
        assert f'"{name}"' in script
    assert "Training" in explorables.__all__


@pytest.mark.parametrize("name, value, error", [
    ("head", "third layer", ValueError), ("step", LAST + 1, ValueError), ("step", 2.0, TypeError)])
def test_refuses(name, value, error):
    figure = Training()
    before = figure.state()
    with pytest.raises(error, match=rf"^{name}: got .+; wanted .+"):
        setattr(figure, name, value)
    assert figure.state() == before

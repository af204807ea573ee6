"""The figure of the real model's heads: what is stored is what the model gives."""

import json
import re
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from attention_book import explorables
from attention_book.explorables import RealHeads, base
from attention_book.explorables.real_heads import LONGEST, STORED
from attention_book.pretrained import load_smollm2

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import store_heads

CHOICES = [(text, head) for text in STORED["texts"] for head in STORED["heads"]]


def test_what_is_stored_is_what_the_model_gives():
    with threadpool_limits(1):
        measured = store_heads.measured(*load_smollm2())
    assert {name: measured[name] for name in ("texts", "tokens", "heads")} == {
        name: STORED[name] for name in ("texts", "tokens", "heads")}
    for ours, theirs in zip(STORED["weights"], measured["weights"], strict=True):
        for one, other in zip(ours, theirs, strict=True):
            apart = [abs(a - b) for rows in zip(one, other, strict=True)
                     for a, b in zip(*rows, strict=True)]
            assert max(apart) <= 1  # a percent may be rounded the other way elsewhere


@pytest.mark.parametrize(("text", "head"), CHOICES)
def test_rows_are_whole_and_sum_to_one(text, head):
    n = len(STORED["tokens"][STORED["texts"].index(text)])
    for step in range(LONGEST):
        figure = RealHeads(text=text, head=head, step=step)
        assert figure.query == min(step, n - 1) and figure.row.shape == (figure.query + 1,)
        assert figure.row.min() >= 0 and abs(figure.row.sum() - 1) <= 0.005 * n + 1e-9


def test_heads_do_what_they_are_named_for():
    def looks_at(text, head, step=LONGEST - 1):
        figure = RealHeads(text=text, head=head, step=step)
        return int(figure.row.argmax()), figure

    at, figure = looks_at("a name again", "18.6")
    assert figure.tokens[at] == "k" and figure.tokens[at - 1] == figure.tokens[-1] == " Vel"
    assert looks_at("words twice", "18.6")[0] == 5 and looks_at("words twice", "11.1")[0] == 8
    assert looks_at("the keys", "26.0")[0] == 1 and looks_at("the keys", "18.6")[0] == 0
    assert looks_at("the drink", "24.4")[0] == 1 and looks_at("the drink", "20.0")[0] == 9
    for text in STORED["texts"]:
        assert looks_at(text, "18.8")[1].row[0] > 0.95


def test_page_holds_state_picture_and_nothing_foreign():
    figure, other = RealHeads(), RealHeads(head="18.8")
    page = figure.page()
    state = json.loads(unescape(re.search(r'data-state="([^"]*)"', page)[1]))
    assert state == figure.state() and state["head"] == "18.6" and state["text"] == "a name again"
    assert len(json.dumps(state, separators=(",", ":"))) < 40_000
    assert figure.picture().alt != other.picture().alt
    assert figure.caption in unescape(page)
    assert set(re.findall(r"[a-z]+://[^\s\"'<>)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "Vel" in figure.picture().alt and not np.isnan(figure.row).any()


def test_script_is_small():
    script = (base.HERE / "real_heads.js").read_text(encoding="utf-8")
    assert len(script.encode()) <= 12 * 1024
    assert script.rstrip().endswith("export default { render: live(render) };")
    assert "RealHeads" in explorables.__all__


@pytest.mark.parametrize("name, value, error", [
    ("head", "3.1", ValueError), ("text", "another", ValueError), ("step", LONGEST, ValueError),
    ("step", 2.0, TypeError)])
def test_refuses(name, value, error):
    figure = RealHeads()
    before = figure.state()
    with pytest.raises(error, match=rf"^{name}: got .+; wanted .+"):
        setattr(figure, name, value)
    assert figure.state() == before

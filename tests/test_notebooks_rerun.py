"""Every cell of a chapter can be run again after the chapter, and shows the same."""

import copy
import json
from pathlib import Path

import matplotlib
import pytest

from notebook_running import differing, shell

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
SLOW = {"10_learning_attention", "11_real_model"}  # most of a minute each: twice, not three times


@pytest.fixture
def made(tmp_path):
    with matplotlib.rc_context({"backend": "agg"}), shell(tmp_path) as found:
        yield found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_every_cell_again(path, made):
    reverse = path.stem not in SLOW
    assert list(differing(made, json.loads(path.read_text(encoding="utf-8")),
                          reverse=reverse)) == []


def notebook(*sources):
    return {"cells": [{"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "source": text}
                      for number, text in enumerate(sources)]}


GOOD = notebook("import random\nrng = random.Random(0)", "x = [2]", "print(x)\nx[0]",
                "rng = random.Random(1)\nprint(rng.random())", "y = [*x, 3]\ny")


def test_a_good_chapter_shows_the_same(made):
    assert list(differing(made, GOOD)) == []


@pytest.mark.parametrize("added", [
    "x = [4]",  # cell 2 then shows another x
    "x = None",  # cell 2 then raises
    "x.append(1)",  # changes what others use
    "print(rng.random())",  # other numbers each time
    "del y\nx = 3",  # cannot run twice
    "class Shown:\n    times = 0\n\n\ndef show():\n    Shown.times += 1\n    return Shown.times",
], ids=range(6))
def test_a_fault_is_found(made, added):
    broken = copy.deepcopy(GOOD)
    broken["cells"] += notebook(added)["cells"]
    if "Shown" in added:
        broken["cells"] += notebook("show()")["cells"]
    assert list(differing(made, broken))


def test_measured_times_may_differ(made):
    timed = copy.deepcopy(GOOD)
    timed["cells"] += notebook("import time\nprint(time.perf_counter_ns())")["cells"]
    assert list(differing(made, timed))
    timed["cells"][-1]["metadata"] = {"tags": ["nbval-ignore-output"]}
    assert list(differing(made, timed)) == []

"""Every chapter keeps every rule, and every rule finds the fault that it is for."""

import ast
import copy
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import exercise_rules
import notebook_reading
import notebook_rules as rules
from attention_book import exercises

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
STEMS = [path.stem for path in NOTEBOOKS]


@cache
def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_there_are_chapters():
    assert STEMS[:5] == ["01_dot_products", "02_scaling", "03_stable_softmax",
                         "04_weighted_values", "05_causal_mask"]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=STEMS)
def test_rule(path, rule):
    assert list(rule(read(path))) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=STEMS)
def test_exercises(path):
    own = [exercise for exercise in exercises.catalogue() if exercise.chapter == path.stem]
    assert own, "the catalogue has no exercise for this chapter"
    assert list(exercise_rules.exercise_cells(read(path), own)) == []


def test_every_exercise_has_its_chapter():
    assert {exercise.chapter for exercise in exercises.catalogue()} <= set(STEMS)


# A small chapter without a fault, and for each rule what breaks it.

TITLE = """# Title

**You will build** a thing. **Not** a lead.

**You need** chapter 0.

**Reading time** 5 minutes."""
END = """## Recap

- One.
- Two.
- Three.

## Exercises

> **Exercise.** Write it."""
AFTER = f"""## In practice

{" ".join(["Real systems do this."] * 6)}

## Further reading

- [A (2000)](../book/bibliography.md#a2000) shows the idea for the first time.
- [B (2001)](../book/bibliography.md#b2001): why it works, and where not.
- [C (2002)](../book/bibliography.md#c2002): how it is done in practice."""


def text(words):
    return {"cell_type": "markdown", "metadata": {}, "source": words}


def code(words, *tags, out=None, kind="text/plain", **metadata):
    metadata |= {"tags": list(tags)} if tags else {}
    shown = [] if out is None else [
        {"output_type": "display_data", "metadata": {}, "data": {kind: out}}]
    return {"cell_type": "code", "metadata": metadata, "source": words, "outputs": shown}


def chapter():
    """Return a chapter that keeps every rule."""
    cells = [
        text(TITLE),
        code("from attention_book import figures\n\nfigures.the_map('x')", "hide-input",
             out='<img alt="The map" src="data:image/png;base64,AA">', kind="text/html"),
        code("import time\n\nimport numpy as np\n\nrng = np.random.default_rng(0)"),
        text("## Idea\n\nA [term](../book/glossary.md#term) and $\\frac{{a}}{b}$.\n\n"
             "> **Predict.** How many?\n> Say a number.\n\n"
         "<details>\n<summary>Answer</summary>\n\nIt is two, because one is added.\n\n</details>"),
        code("print(f'{rng.normal():.2f}')", out="0.13"),
        code("start = time.perf_counter()\nseconds = time.perf_counter() - start"),
        code("print(seconds)", "nbval-ignore-output", out="1.234567890123456"),
        code("assert 1 + 1 == 2", "remove-cell", "claim"),
        text(END),
        code("def my_double(x):\n    ...", "exercise"),
        code('check("double", my_double)', "check", out="○ double: not-attempted\nseen: nothing"),
        code("def double_solution(x):\n    return 2 * x", "solution", "hide-cell",
             jupyter={"outputs_hidden": True, "source_hidden": True}),
        text(AFTER),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    for number, cell in enumerate(notebook_reading.cells({"cells": cells}), start=1):
        cell["execution_count"] = number
    return {"cells": cells, "metadata": copy.deepcopy(rules.NOTEBOOK_METADATA)}


def break_cell(number, **changes):
    def broken(notebook):
        notebook["cells"][number].update(changes)
    return broken


def append(number, words):
    def broken(notebook):
        notebook["cells"][number]["source"] += words
    return broken


def replace(number, old, new):
    def broken(notebook):
        cell = notebook["cells"][number]
        assert old in cell["source"]
        cell["source"] = cell["source"].replace(old, new)
    return broken


def output(number, words, kind="text/plain"):
    return break_cell(number, outputs=[
        {"output_type": "display_data", "metadata": {}, "data": {kind: words}}])


LONG = "def mine(y, where):\n" + "".join(
    f"    {line}\n" for line in (
        "first = y - y.max()", "second = [item * 2 for item in first]", "return sum(second), y"))
PASTED = "def other(b, c):\n" + "".join(
    f"    {line}\n" for line in (
        "top = b - b.max()", "twice = [one * 2 for one in top]", "return sum(twice), b"))

FAULTS = [
    (rules.only_listed_tags, break_cell(4, metadata={"tags": ["hide-inptu"]})),
    (rules.only_listed_tags, break_cell(7, metadata={"tags": ["claim"]})),
    (rules.only_listed_tags, append(4, "\n# NBVAL_IGNORE_OUTPUT")),
    (rules.claims_assert, break_cell(7, source="1 + 1 == 2")),
    (rules.run_in_order, break_cell(4, execution_count=None)),
    (rules.run_in_order, break_cell(4, execution_count=17)),
    (rules.no_errors_stored, break_cell(4, outputs=[{"output_type": "error"}])),
    (rules.no_errors_stored, break_cell(4, outputs=[
        {"output_type": "stream", "name": "stderr", "text": "careful"}])),
    (rules.no_errors_stored, break_cell(4, metadata={"tags": ["raises-exception"]})),
    (rules.short_cells, append(4, "\nx = 1" * 12)),
    (rules.lines_fit, append(4, "\nx = 1  # " + 62 * "x")),
    (rules.lines_fit, output(4, 71 * "x")),
    (rules.predictions_answered, append(3, "\n\n> **Predict.** What comes out?\n")),
    (rules.predictions_answered, append(3, "\n\n> **Predict.** What comes out?\n> And then?\n\n"
                                           "Words.\n\n<details>\n<summary>Answer</summary>\n\n"
                                           "It is the number 3.\n\n</details>")),
    (rules.predictions_answered, replace(3, "It is two, because one is added.", "Yes.")),
    (rules.predictions_answered, replace(3, "<summary>Answer", "<summary>The answer")),
    (rules.predictions_answered, lambda notebook: notebook["cells"][3].update(
        source=notebook["cells"][3]["source"].partition("<details>")[0])),
    (rules.alt_texts, output(1, "AAAA", "image/png")),
    (rules.alt_texts, output(1, '<img src="data:image/png;base64,AA">', "text/html")),
    (rules.alt_texts, output(1, '<img alt=" " src="data:image/png;base64,AA">', "text/html")),
    (rules.alt_texts, append(3, "\n\n![](x.png)")),
    (rules.unique_headings, append(3, "\n\n## Recap")),
    (rules.plain_markdown, append(3, "\n\n{term}`query`")),
    (rules.plain_markdown, append(3, "\n\n::: note")),
    (rules.plain_markdown, append(3, "\n\n```{note}\n```")),
    (rules.plain_markdown, append(3, "\n\n(label)=\n")),
    (rules.plain_markdown, replace(3, "<summary>Answer</summary>", "")),
    (rules.plain_markdown, replace(3, "</details>", "")),
    (rules.anatomy, replace(0, "# Title", "Title")),
    (rules.anatomy, replace(0, "**You need**", "You need")),
    (rules.anatomy, replace(1, "the_map", "a_map")),
    (rules.anatomy, append(4, "\nfigures.matrix(x)")),
    (rules.anatomy, append(4, "\nimport math")),
    (rules.anatomy, append(3, "\n\n# Second title")),
    (rules.anatomy, replace(8, "- Three.\n", "")),
    (rules.anatomy, replace(8, "## Exercises", "## Tasks")),
    (rules.anatomy, replace(12, "Real systems do this. ", "")),
    (rules.anatomy, replace(12, "bibliography.md#", "")),
    (rules.seeded_generators, replace(2, "(0)", "()")),
    (rules.seeded_generators, replace(2, "(0)", "(1)")),
    (rules.seeded_generators, append(4, "\nrng = np.random.default_rng(0)")),
    (rules.seeded_generators, append(4, "\nrng = np.random.default_rng()")),
    (rules.seeded_generators, append(4, "\nnp.random.default_rng(1)")),
    (rules.seeded_generators, append(4, "\nnp.random.seed(1)")),
    (rules.reads_nothing, append(4, "\nnp.load('x.npy')")),
    (rules.reads_nothing, append(4, "\nopen('x')")),
    (rules.reads_nothing, append(4, "\nimport os")),
    (rules.reads_nothing, append(4, "\n%matplotlib inline")),
    (rules.reads_nothing, append(4, "\n!pip list")),
    (rules.no_other_host, output(1, '<script src="https://a.b/c.js"></script>', "text/html")),
    (rules.no_other_host, output(1, '<img alt="x" src="//a.b/c.png">', "text/html")),
    (rules.no_other_host, output(1, "alert(1)", "application/javascript")),
    (rules.no_other_host, append(3, "\n\n![x](https://a.b/c.png)")),
    (rules.same_on_every_machine, output(4, "<object at 0x7f3a5c2e>")),
    (rules.same_on_every_machine, output(4, "<Axes: >")),
    (rules.same_on_every_machine, output(4, "/" + "home/me/x.py")),
    (rules.same_on_every_machine, output(4, "0.1234567890123456")),
    (rules.only_timings_ignored, break_cell(4, metadata={"tags": ["nbval-ignore-output"]})),
    (rules.tidy, lambda notebook: notebook["metadata"].update(widgets={})),
    (rules.tidy, break_cell(4, metadata={"collapsed": True})),
    (rules.tidy, break_cell(4, id="")),
    (rules.tidy, break_cell(4, source="\n")),
    (rules.tidy, append(4, "\n")),
    (rules.tidy, lambda notebook: notebook["cells"][3].update(
        source="\n" + notebook["cells"][3]["source"])),
    (rules.tidy, break_cell(4, outputs=[
        {"output_type": "stream", "name": "stdout", "text": text} for text in "ab"])),
]

EXERCISE_FAULTS = [
    break_cell(9, metadata={}),
    break_cell(10, metadata={}),
    break_cell(11, metadata={"tags": ["solution", "hide-cell"]}),
    break_cell(11, metadata={"tags": ["solution", "hide-cell"],
                             "jupyter": {"source_hidden": True}}),
    break_cell(11, metadata={"tags": ["solution"],
                             "jupyter": {"outputs_hidden": True, "source_hidden": True}}),
    break_cell(11, source="double_solution = 2\nprint(3)"),
    replace(9, "my_double", "twice"),
    replace(10, '"double"', '"dot_product"'),
    replace(11, "double_solution", "solution"),
    append(11, "\nmy_double = double_solution"),
    append(10, "\nmy_double = 1"),
    output(11, "✗ double: wrong-value"),
    output(10, "✓ double: passed"),
    output(10, "✗ double: not-attempted"),
    lambda notebook: notebook["cells"].insert(9, notebook["cells"].pop(10)),
    lambda notebook: notebook["cells"].insert(10, code("print(1)")),
    lambda notebook: notebook["cells"].append(code("def my_triple(x):\n    ...", "exercise")),
]
DOUBLE = [SimpleNamespace(id="double", faulty=None)]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_good_chapter_keeps_rule(rule):
    assert list(rule(chapter())) == []


@pytest.mark.parametrize(("rule", "broken"), FAULTS,
                         ids=[f"{rule.__name__}-{n}" for n, (rule, _) in enumerate(FAULTS)])
def test_rule_finds_fault(rule, broken):
    notebook = chapter()
    broken(notebook)
    assert list(rule(notebook))


def test_good_chapter_keeps_exercises():
    assert list(exercise_rules.exercise_cells(chapter(), DOUBLE)) == []


@pytest.mark.parametrize("broken", EXERCISE_FAULTS, ids=range(len(EXERCISE_FAULTS)))
def test_exercise_fault_is_found(broken):
    notebook = chapter()
    broken(notebook)
    assert list(exercise_rules.exercise_cells(notebook, DOUBLE))


def test_pasted_body_is_found_under_other_names(monkeypatch):
    body = rules.functions(ast.parse(LONG))[0]
    monkeypatch.setattr(rules, "package_bodies", lambda: {rules.shape(body): "softmax.mine"})
    notebook = chapter()
    assert list(rules.no_pasted_bodies(notebook)) == []
    append(4, f"\n{PASTED}")(notebook)
    assert "repeats softmax.mine" in next(rules.no_pasted_bodies(notebook))


def test_package_has_bodies_to_compare():
    assert {"stable_softmax.softmax", "dot_products.scores"} <= set(rules.package_bodies().values())

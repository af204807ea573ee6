"""The page "How this book is proved" shows what the checks wrote, and nothing else."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import notebook_proof

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import book_proof  # noqa: E402
import proof_pages  # noqa: E402

import run_suites  # noqa: E402

PAGE = (ROOT / "book" / "how_the_book_is_proved.md").read_text(encoding="utf-8")
FIRST = "01_dot_products"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(proof_pages, "PROOF", tmp_path)
    return tmp_path


def shown(text):
    source = [text]
    proof_pages.show_proof(None, "page", source)
    return source[0]


def test_without_proofs_the_page_says_so_for_each(folder):
    marks = [name for name, _ in proof_pages.MARK.findall(PAGE)]
    assert len(marks) == 9
    assert shown(PAGE).count("Not checked in this build") == len(marks) - 2
    assert shown(PAGE).count("| not in this build: `make ") == len(marks) - 2
    assert "| numpy |" in shown(PAGE)


def cells(outcomes, name=FIRST):
    for place, outcome in enumerate(outcomes):
        for when in ("setup", "call"):
            yield SimpleNamespace(nodeid=f"notebooks/{name}.ipynb::Cell {place}", when=when,
                                  failed=outcome == "failed", outcome=outcome, duration=0.25)


@pytest.fixture
def run(monkeypatch):
    """Return a function that takes the reports of a run of nbval."""
    monkeypatch.setattr(notebook_proof, "FOUND", notebook_proof.defaultdict(
        lambda: {"cells": {}, "seconds": 0.0}))

    def gather(*outcomes):
        for report in cells(outcomes):
            notebook_proof.gather(report)
        return dict(notebook_proof.rows())

    return gather


def n_cells():
    content = (ROOT / "notebooks" / f"{FIRST}.ipynb").read_text(encoding="utf-8")
    return notebook_proof.counts(json.loads(content))["cells"]


def test_a_whole_run_of_a_chapter_is_written_and_shown(run, folder):
    assert run(*["passed"] * n_cells())[FIRST]["seconds"] == pytest.approx(0.5 * n_cells())
    notebook_proof.save()
    table = shown("<!-- proof: notebooks -->")
    assert f"| [1 Dot products](../notebooks/{FIRST}.ipynb) | {n_cells()} | {n_cells()} |" in table


def test_a_chapter_that_ran_in_part_is_left_out(run, folder):
    assert run(*["passed"] * (n_cells() - 1)) == {}
    notebook_proof.save()
    assert not (folder / "notebooks.json").exists()


def test_a_cell_that_differs_is_counted(run):
    row = run("failed", *["passed"] * (n_cells() - 1))[FIRST]
    assert (row["compared"], row["held"]) == (n_cells(), n_cells() - 1)


def test_a_chapter_changed_since_is_not_kept(run, folder):
    run(*["passed"] * n_cells())
    notebook_proof.save()
    saved = json.loads((folder / "notebooks.json").read_text(encoding="utf-8"))
    saved["notebooks"]["02_scaling"] = {**saved["notebooks"][FIRST], "digest": "of another text"}
    (folder / "notebooks.json").write_text(json.dumps(saved), encoding="utf-8")
    notebook_proof.save()
    assert list(proof_pages.load("notebooks")["notebooks"]) == [FIRST]


@pytest.mark.parametrize(("median", "at_most", "at_least", "words"), [
    (1.2, 1.25, None, "at most 1.25: reached"), (1.3, 1.25, None, "at most 1.25: missed"),
    (7, None, 6, "at least 6: reached"), (5, None, 6, "at least 6: missed"), (1, None, None, "")])
def test_an_aim_is_reached_or_missed(median, at_most, at_least, words):
    assert book_proof.aim({"median": median, "at_most": at_most, "at_least": at_least}) == words


def test_claims_are_counted_by_their_asserts():
    cell = {"cell_type": "code", "source": ["assert a\n", "assert b"],
            "metadata": {"tags": ["remove-cell", "claim"]}}
    timed = {"cell_type": "code", "source": ["x"], "metadata": {"tags": ["nbval-ignore-output"]}}
    assert notebook_proof.counts({"cells": [cell, timed, {"cell_type": "markdown"}]}) == {
        "cells": 2, "measured": 1, "compared": 1, "claims": 2}


def test_a_suite_is_noted_with_its_verdict_and_in_its_order(folder):
    lint, unit = run_suites.SUITES[:2]
    site = next(suite for suite in run_suites.SUITES if suite.name == "site")
    for suite, verdict in ((unit, "failed"), (lint, "passed"), (unit, "passed"), (site, "passed")):
        assert run_suites.noted(suite, verdict, 3.2) == (verdict, 3.2)
    rows = proof_pages.load("suites")["suites"]
    assert [(row["name"], row["verdict"]) for row in rows] == [("lint", "passed"),
                                                              ("unit", "passed")]
    assert f"| `unit` | {unit.proves} | passed | 3 s | 20" in shown("<!-- proof: suites -->")


def test_the_summary_says_what_came_of_each_check(folder):
    row = {"held": 8, "compared": 9, "claims": 3}
    proof_pages.save("notebooks", {"notebooks": {"a": row, "b": row}})
    proof_pages.save("suites", {"suites": [{"verdict": "passed"}, {"verdict": "failed"}]})
    proof_pages.save("exercises", {"exercises": [
        {"ways": 1200, "rejected": 1100, "named": 1000, "variants": 40, "accepted": 39}]})
    for name, content in {
        "benchmarks": {"rows": [
            {"median": 1, "at_most": 2, "at_least": None},
            {"median": 1, "at_most": None, "at_least": 2},
            {"median": 1, "at_most": None, "at_least": None}]},
        "model": {"texts": [{"same": True}, {"same": False}]},
        "training": {"runs": [{"holds": True}] * 3},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    table = shown("<!-- proof: summary -->")
    for result in ("2 chapters: 16 of 18 cells as stored, 6 claims", "1 of 2 passed",
                   "1 exercises: of 1,200 wrong answers 1,100 rejected and 1,000 named, "
                   "of 40 right ones 39 accepted", "1 of 2 aims reached", "1 of 2 texts the same",
                   "3 of 3 trainings as the chapter says"):
        assert f"| {result} | 20" in table
    assert "| not in this build: `make verify-libraries` | |" in table

"""A made-up class with every kind of fault is graded: each submission has its grade and reason."""

import csv
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom import class_view, grading, made_up_class, submissions  # noqa: E402
from classroom.made_up_faults import FAULTS  # noqa: E402

from attention_book.exercises import catalogue  # noqa: E402

STUDENTS = len(FAULTS) + 8
TEACHERS = {"gradebook.db": "grades", "results.json": "{}"}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Grade the class once; give its folders, what is expected, and the results."""
    place = tmp_path_factory.mktemp("class")
    course = place / "course"
    course.mkdir()
    for name, text in TEACHERS.items():
        (course / name).write_text(text, encoding="utf-8")
    expected = made_up_class.make_class(place / "submitted", STUDENTS, course)
    results = grading.grade_class(place / "submitted", place / "out", 2)
    yield place, expected, {result["student"]: result for result in results}
    grading.leave_nursery()


def ends(result):
    return {grade["exercise"]: grade["diagnosis"] for grade in result["grades"]
            if not grade["passed"]}


@pytest.mark.parametrize("number", range(STUDENTS),
                         ids=[fault.name for fault in FAULTS] + ["ordinary"] * 8)
def test_submission_ends_as_it_must(world, number):
    _, expected, results = world
    due = expected[number]
    result = results[due.student]
    assert result["fault"] == due.fault, result["said"]
    assert ends(result) == due.ends
    assert not due.remark or any(due.remark in said for said in result["remarks"])
    if not due.fault:
        assert result["points"] == result["possible"] - len(due.ends)
        assert all(grade["message"] for grade in result["grades"])
    else:
        assert result["said"]


def test_nothing_of_the_teachers_was_touched(world):
    place, expected, _ = world
    found = {path.name: path.read_text(encoding="utf-8") for path in (place / "course").iterdir()}
    assert found == TEACHERS
    assert len(list((place / "submitted").iterdir())) == len(expected) == STUDENTS


def test_a_run_goes_on_where_it_stopped(world):
    place, _, results = world
    stored = sorted((place / "out" / "results").glob("*.json"))
    gone = [path for path in stored if json.loads(path.read_text(encoding="utf-8"))["fault"]][:3]
    before = {path: path.stat().st_mtime_ns for path in stored if path not in gone}
    for path in gone:
        path.unlink()
    said = []
    again = grading.grade_class(place / "submitted", place / "out", 1, report=said.append)
    assert said[0] == f"{STUDENTS - len(gone)} are graded already"
    assert len(said) == 1 + len(gone)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert {result["student"]: ends(result) for result in again} == {
        student: ends(result) for student, result in results.items()}


def test_half_a_result_is_graded_again(world):
    place, _, _ = world
    each = submissions.collect(place / "submitted")[0]
    path = grading.place_of(place / "out", place / "submitted", each)
    whole = path.read_text(encoding="utf-8")
    terms = {"book": grading.book_digest(), "seed": grading.class_seed(place / "out")}
    assert grading.stored(place / "out", place / "submitted", each, terms)
    path.write_text(whole[:100], encoding="utf-8")
    assert grading.stored(place / "out", place / "submitted", each, terms) is None
    path.write_text(whole, encoding="utf-8")


def test_what_has_changed_is_graded_again(world):
    place, _, _ = world
    each = submissions.collect(place / "submitted")[0]
    terms = {"book": grading.book_digest(), "seed": grading.class_seed(place / "out")}
    for file, others in ((replace(each, digest="of another file"), {}),
                         (each, {"book": "another"}), (each, {"seed": 0})):
        assert grading.stored(place / "out", place / "submitted", file, terms | others) is None


def test_same_inputs_same_grades(world):
    place, _, results = world
    some = submissions.collect(place / "submitted")[-4:]
    terms = {"book": "any", "seed": grading.class_seed(place / "out")}
    for each in some:
        again = grading.grade_one(each, place / "submitted", terms)
        assert again["grades"] == results[each.student]["grades"]


def test_a_fault_of_the_grader_is_no_silent_zero(world, monkeypatch):
    place, _, _ = world
    each = submissions.collect(place / "submitted")[0]
    monkeypatch.setattr(grading, "grade_cells", lambda *_: 1 / 0)
    result = grading.grade_one(each, place / "submitted", {"book": "any", "seed": 1})
    assert result["fault"] == "grader-failed" and "ZeroDivisionError" in result["said"]


# --- The view of the class ---
class Words(HTMLParser):
    """Gathers the text of a page, its tags, and where it would load something from."""

    def __init__(self, text):
        super().__init__()
        self.text, self.tags, self.asks = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.asks += [value for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data):
        self.text.append(data)


def test_page_names_how_many_are_stuck_on_what(world):
    place, _, results = world
    text = (place / "out" / "class.html").read_text(encoding="utf-8")
    words = " ".join(Words(text).text)
    stuck = [student for student, result in results.items()
             if ends(result).get("softmax") == "no-max-shift"]
    mistake = catalogue()["softmax"].mistake("no-max-shift")
    assert len(stuck) >= 3
    assert re.search(rf"{len(stuck)}\s+of \d+: \s*no-max-shift", words)
    assert mistake.seen in words and mistake.question in words
    assert all(student in words for student in results)
    assert "refresh" not in text


def test_page_asks_no_other_host(world):
    place, _, _ = world
    text = (place / "out" / "class.html").read_text(encoding="utf-8")
    page = Words(text)
    assert page.asks == [] and "script" not in page.tags
    assert not re.search(r"https?:|url\(|@import", text)


def test_tables(world):
    place, _, results = world
    with open(place / "out" / "class.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["student"] for row in rows] == sorted(results)
    for row in rows:
        result = results[row["student"]]
        assert row["points"] == str(result["points"])
        for grade in result["grades"]:
            assert row[grade["exercise"]] == (grade["diagnosis"] or "passed")
    with open(place / "out" / "mistakes.csv", encoding="utf-8", newline="") as file:
        counted = {(row["exercise"], row["mistake"]): int(row["students"])
                   for row in csv.DictReader(file)}
    assert sum(counted.values()) == sum(len(ends(result)) for result in results.values())


def made(student, message="Question: why?", **more):
    grade = {"exercise": "softmax", "passed": False, "diagnosis": "raises", "message": message}
    return {"student": student, "file": "a.ipynb", "chapter": "03_stable_softmax", "fault": "",
            "said": "", "grades": [grade], "remarks": [], "points": 0, "possible": 1} | more


def test_what_students_write_is_no_markup(tmp_path):
    class_view.write_view(tmp_path, [made("<b>Eve</b>", "<script>alert(1)</script>")], 1)
    text = (tmp_path / "class.html").read_text(encoding="utf-8")
    assert "<script>" not in text and "<b>Eve" not in text and "&lt;b&gt;Eve" in text


def test_names_are_no_formulas(tmp_path):
    class_view.write_view(tmp_path, [made("=HYPERLINK(1)")], 1)
    assert "\n'=HYPERLINK(1)," in (tmp_path / "class.csv").read_text(encoding="utf-8")


def test_page_renews_itself_while_grading_goes_on(tmp_path):
    class_view.write_view(tmp_path, [made("Ada")], 5)
    text = (tmp_path / "class.html").read_text(encoding="utf-8")
    assert "1 of 5 submissions are graded" in text and 'http-equiv="refresh"' in text


def test_what_most_are_stuck_on_stands_first():
    kinds = {"one": "a", "many": "abc", "not-attempted": "abcd", None: "abcde", "some": "ab"}
    assert [kind for kind, _ in class_view.by_number(kinds)] == [
        "many", "some", "one", "not-attempted"]


def test_of_several_files_the_best_counts():
    right = made("Ada", points=1, file="b.ipynb")
    best = class_view.best_of([made("Ada"), right, made("Ada")])
    assert list(best.values()) == [right]


# --- Collecting ---
def test_students_are_found_in_either_layout(tmp_path):
    for name in ("Ada.ipynb", "Ben/03.ipynb", "Ben/old/05.ipynb", "Cem/.ipynb_checkpoints/x.ipynb",
                 "Dana Doe_123_assignsubmission_file_/x.ipynb", "Eve/notes.txt",
                 "Fay_7_assignsubmission_file/x.IPYNB"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / "Gil").mkdir()
    (tmp_path / "Gil" / "x.ipynb").symlink_to(tmp_path / "Ada.ipynb")
    found = [each.student for each in submissions.collect(tmp_path)]
    assert found == ["Ada", "Ben", "Ben", "Dana Doe", "Fay"]

"""The nbgrader course: nbgrader's own commands work on it, and grade as the book does."""

import copy
import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom import chapters, course, made_up_class, submissions  # noqa: E402
from classroom.made_up_faults import CHAPTER, FAULTS, Place  # noqa: E402

NBGRADER = ROOT / ".venv-class" / "bin" / "nbgrader"
FULL = len(chapters.tasks(chapters.read(chapters.NOTEBOOKS / f"{CHAPTER}.ipynb")))
HANDED_IN = {  # by take_in: student, fault, points
    "ada": (None, FULL),
    "ben": ("deleted check", FULL),
    "cem": ("copied check", FULL),
    "dana": ("edited check", FULL - 1),
    "eve": ("renamed notebook", FULL),
    "fay": ("broken file", 0),
    "gil": ("empty file", 0),
    "hana": ("foreign kernel", FULL),
    "ian": ("removes the course", FULL - 1),
    "jun": ("calls the package in secret", FULL - 1),
    "kim": ("deleted answer", FULL - 1),
}


def nbgrader(folder, *arguments):
    """Run one of nbgrader's commands as in its activated environment; return what it said."""
    environment = {**os.environ, "PATH": f"{NBGRADER.parent}{os.pathsep}{os.environ['PATH']}"}
    answer = subprocess.run([NBGRADER, *arguments], cwd=folder, env=environment, text=True,
                            encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert answer.returncode == 0, answer.stdout
    return answer.stdout


def hand_in(folder):
    """Write what the students handed in, as a teacher has collected it."""
    for student, (name, _) in HANDED_IN.items():
        notebook, file, content = made_up_class.solved(CHAPTER), f"{CHAPTER}.ipynb", None
        if name:
            fault = next(each for each in FAULTS if each.name == name)
            content, file = fault.change(notebook, Place(str(folder), "", "")), fault.file
        made_up_class.write(folder / student / file,
                            json.dumps(notebook).encode() if content is None else content)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Make the course, hand in, and run all of nbgrader's commands on it."""
    place = tmp_path_factory.mktemp("course")
    folder, collected = place / "attention", place / "collected"
    course.make_course(folder, chapters.choose("3"))
    hand_in(collected)
    nbgrader(folder, "generate_assignment", CHAPTER)
    nbgrader(folder, "release_assignment", CHAPTER)
    by_exchange(place, folder)
    said = list(course.take_in(folder, collected))
    for command in ("autograde", "generate_feedback"):
        nbgrader(folder, command, CHAPTER)
    nbgrader(folder, "export", "--to=grades.csv")
    return folder, said


def by_exchange(place, folder):
    """Fetch, solve and submit as a student does, then collect as the teacher does."""
    student = place / "student"
    student.mkdir()
    (student / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Exchange.root = {str(folder / 'exchange')!r}\n"
        "c.CourseDirectory.course_id = 'attention'\n", encoding="utf-8")
    nbgrader(student, "fetch_assignment", CHAPTER)
    path = student / CHAPTER / f"{CHAPTER}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if made_up_class.defines(cell, "predict_shifted_softmax"):
            cell["source"] = "predict_shifted_softmax = 0.125, 0.25, 0.625"
    described = [cell for cell in notebook["cells"] if "nbgrader" in cell["metadata"]]
    notebook["cells"] += [copy.deepcopy(cell) | {"id": f"copy-{number}"}
                          for number, cell in enumerate(described)]  # and all of it pasted again
    path.write_text(json.dumps(notebook), encoding="utf-8")
    nbgrader(student, "submit", CHAPTER)
    nbgrader(folder, "collect", CHAPTER)


def test_release_has_stubs_and_locked_checks_but_no_solutions(world):
    folder, _ = world
    path = folder / "release" / CHAPTER / f"{CHAPTER}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert "_solution" not in json.dumps(notebook)
    about = [cell["metadata"]["nbgrader"] for cell in notebook["cells"]
             if "nbgrader" in cell["metadata"]]
    checks = [each for each in about if each["grade"]]
    assert len(checks) == FULL and all(each["locked"] and each["points"] == 1 for each in checks)
    assert len([each for each in about if each["solution"]]) == FULL
    for task in chapters.tasks(chapters.read(chapters.NOTEBOOKS / f"{CHAPTER}.ipynb")):
        [stub] = [cell for cell in notebook["cells"]
                  if cell["metadata"].get("nbgrader", {}).get("grade_id") == f"{task.id}-answer"]
        assert chapters.source(stub) == chapters.source(task.stub)


def test_exported_grades(world):
    folder, _ = world
    with open(folder / "grades.csv", encoding="utf-8", newline="") as file:
        scores = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert {student: scores[student] for student in HANDED_IN} == {
        student: points for student, (_, points) in HANDED_IN.items()}
    [other] = set(scores) - set(HANDED_IN)  # who submitted by the exchange
    assert scores[other] == 1


def test_nothing_waits_to_be_graded_by_hand(world):
    folder, _ = world
    with sqlite3.connect(folder / "gradebook.db") as database:
        found = database.execute("select needs_manual_grade, count(*) from grade "
                                 "group by needs_manual_grade").fetchall()
    assert found == [(0, FULL * (len(HANDED_IN) + 1))]


def test_what_was_odd_is_said(world):
    _, said = world
    text = "\n".join(said)
    assert "eve: homework final (2).ipynb is taken for 03_stable_softmax" in text
    assert re.search("fay: .*no notebook.*Handed in as empty", text)
    assert re.search("gil: .*The file is empty. Handed in as empty", text)
    assert len(said) == 3


def test_feedback_names_the_mistake_asks_no_host_and_hides_what_is_hidden(world):
    folder, _ = world
    pages = {path.parts[-3]: path.read_text(encoding="utf-8")
             for path in folder.glob("feedback/*/*/*.html")}
    assert set(HANDED_IN) < set(pages)
    seed = (folder / "seed.txt").read_text(encoding="utf-8").strip()
    for student, page in pages.items():
        assert not re.search(r"https?:|<script|<link|url\(", page), student
        assert "another input" not in page and seed not in page and "_solution" not in page
    assert "✗ softmax: no-max-shift" in pages["dana"] and "Question: " in pages["dana"]
    assert "calls-the-package" in pages["jun"] and "PermissionError" in pages["ian"]
    assert f"<strong>{FULL} of {FULL}" in re.sub(r"\s+", " ", pages["ada"])


def test_autograded_notebooks_can_be_viewed_as_a_class(world):
    folder, _ = world
    found = {each.student for each in submissions.collect(folder / "autograded")}
    assert set(HANDED_IN) < found


def test_making_the_course_again_keeps_its_seed(world):
    folder, _ = world
    before = (folder / "seed.txt").read_text(encoding="utf-8")
    course.make_course(folder, chapters.choose("3"))
    assert (folder / "seed.txt").read_text(encoding="utf-8") == before


def small_course(place, chosen, files):
    """Return a course without nbgrader's part, and what is said when files are taken in."""
    folder, collected = place / "course", place / "collected"
    course.make_course(folder, chapters.choose(chosen))
    for number, (name, content) in enumerate(files.items()):
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        made_up_class.write(collected / name, content)
        os.utime(collected / name, (number, number))
    return folder, list(course.take_in(folder, collected))


def handed_in(folder):
    return {path.relative_to(folder / "submitted").parts[:2]: path.read_text(encoding="utf-8")
            for path in (folder / "submitted").rglob("*.ipynb")}


def test_a_broken_file_takes_no_good_ones_place(tmp_path):
    solved = made_up_class.solved(CHAPTER)
    folder, said = small_course(tmp_path, "3,5", {
        "ada/03_stable_softmax.ipynb": solved, "ada/z.ipynb": b"{", "ada/zz.ipynb": b"{",
        "ada/zzz.ipynb": b""})
    found = handed_in(folder)
    assert set(found) == {("ada", CHAPTER), ("ada", "05_causal_mask")}
    assert json.loads(found["ada", CHAPTER]) == solved
    assert [re.sub(".*JSON. ", "", line) for line in said[:2]] == [
        "Handed in as empty for 05_causal_mask.", "Left out: all chapters are there."]
    assert said[2] == "ada: zzz.ipynb: The file is empty. Left out: all chapters are there."


def test_of_two_files_the_newer_is_taken(tmp_path):
    solved, old = made_up_class.solved(CHAPTER), made_up_class.solved(CHAPTER)
    old["cells"] = old["cells"][:-1]
    folder, said = small_course(tmp_path, "3", {"Ada L/b.ipynb": old, "Ada L/a.ipynb": solved})
    assert json.loads(handed_in(folder)["Ada-L", CHAPTER]) == solved
    assert said[-1] == "Ada L: a.ipynb is newer than b.ipynb and replaces it"


def test_what_is_not_there_is_said(tmp_path):
    (tmp_path / "collected").mkdir()
    with pytest.raises(SystemExit, match=r"no course in .*make course DIR="):
        course.main([str(tmp_path / "none"), "--take", str(tmp_path / "collected")])
    course.make_course(tmp_path / "course", chapters.choose("3"))
    for folder in ("collected", "nowhere"):
        with pytest.raises(SystemExit, match=rf"no notebook .*{folder}"):
            course.main([str(tmp_path / "course"), "--take", str(tmp_path / folder)])

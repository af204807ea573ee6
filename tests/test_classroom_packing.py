"""What students get of the exercises: no answer can be read, and it judges as the book does."""

import ast
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from classroom.packing import pack  # noqa: E402

import build_lite  # noqa: E402
from attention_book.exercises import catalogue  # noqa: E402

EXERCISES = ROOT / "src" / "attention_book" / "exercises"
ASKED = """
import json
from attention_book import exercises
from attention_book.exercises.judging import judge
found = {}
for exercise in exercises.catalogue():
    diagnoses = [judge(exercise, answer).diagnosis for answer in (
        exercise.solution, exercise.mistakes[0].ways[0])] if exercise.chapter < "07" else []
    found[exercise.id] = [diagnoses, exercise.listing, repr(exercise)]
print(json.dumps({"from": exercises.__file__, "found": found}))
"""


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Return the folder of a packed package, unpacked from the wheel that students get."""
    place = tmp_path_factory.mktemp("packed")
    with zipfile.ZipFile(build_lite.build_wheel(place, pack)) as archive:
        archive.extractall(place / "site")
    return place / "site"


def asked(folder):
    """Return what a package says of its own answers, in a process of its own."""
    answer = subprocess.run([sys.executable, "-c", ASKED], text=True, encoding="utf-8", check=True,
                            capture_output=True, env={**os.environ, "PYTHONPATH": str(folder)})
    said = json.loads(answer.stdout)
    assert Path(said["from"]).is_relative_to(folder)
    return said["found"]


def lines_of_answers():
    """Return the longer lines of all functions in the modules of exercises."""
    found = set()
    for path in EXERCISES.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = [line.strip() for line in text.splitlines()]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.Lambda) and path.stem != "__init__":
                found |= {line for line in lines[node.lineno - 1:node.end_lineno] if len(line) > 30}
    return found


def read_in(folder):
    """Return the lines that can be read in a folder's modules of exercises."""
    return {line.strip() for path in folder.glob("*.py")
            for line in path.read_text(encoding="utf-8").splitlines()}


def test_no_answer_can_be_read(packed):
    answers = lines_of_answers()
    assert len(answers) > 1000 and answers <= read_in(EXERCISES)
    assert not answers & read_in(packed / "attention_book" / "exercises")


def test_what_the_book_teaches_can_be_read(packed):
    for name in ("stable_softmax.py", "masks.py", "exercises/__init__.py"):
        assert (packed / "attention_book" / name).read_bytes() == (
            ROOT / "src" / "attention_book" / name).read_bytes()


def test_it_judges_as_the_book_does(packed):
    here, there = asked(ROOT / "src"), asked(packed)
    assert here == there and len(here) == len(catalogue())
    assert any(listing for _, listing, _ in there.values())
    assert there["softmax"][0] == [None, catalogue()["softmax"].mistakes[0].id]


def test_the_books_own_wheel_is_not_packed(tmp_path):
    with zipfile.ZipFile(build_lite.build_wheel(tmp_path)) as archive:
        text = archive.read("attention_book/exercises/stable_softmax.py")
    assert text == (EXERCISES / "stable_softmax.py").read_bytes()

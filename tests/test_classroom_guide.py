"""The teacher's guide names exercises and mistakes that exist, and commands that are there."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom import chapters  # noqa: E402

from attention_book.exercises import catalogue  # noqa: E402

GUIDE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\d+) .*?\n(.*?)(?=^##)", GUIDE, re.MULTILINE | re.DOTALL))


PARTS = [path for path in chapters.choose() if str(int(path.name[:2])) in SECTIONS]


def test_chapters_that_are_taught():
    assert len(PARTS) == len(SECTIONS) >= 8


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_what_a_chapters_part_says(path):
    text = " ".join(SECTIONS[str(int(path.name[:2]))].split())
    assert "Goals: " in text and "Ask: " in text and "Expect" in text and "Show the figure" in text
    own = [exercise for exercise in catalogue() if exercise.chapter == path.stem]
    expected = re.search(r"Expect(.*?)Show the figure", text, re.DOTALL)[1]
    for names, exercise_id in re.findall(r"((?:`[\w-]+`(?:, | and )?)+)\s+in\s+`(\w+)`", expected):
        [exercise] = [each for each in own if each.id == exercise_id]
        for name in re.findall(r"`([\w-]+)`", names):
            assert name in [mistake.id for mistake in exercise.mistakes]
    assert expected.count("` in `") >= 3


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_times_are_the_chapters_own(path):
    text = SECTIONS[str(int(path.name[:2]))]
    read, solve = re.search(r"\*(\d+) and (\d+) minutes", text).groups()
    opening = chapters.source(chapters.read(path)["cells"][0])
    assert re.search(r"\*\*Reading time\*\* (\d+) minutes, and about (\d+)", opening).groups() == (
        read, solve)


def test_commands_are_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = set(re.findall(r"^make (\w+)", GUIDE, re.MULTILINE))
    assert commands >= {"handouts", "grade", "course", "slides"}
    assert all(re.search(rf"^{command}:", makefile, re.MULTILINE) for command in commands)

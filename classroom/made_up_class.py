"""Make up a class that hands in: right answers, named mistakes, and every kind of fault.

    python -m classroom.made_up_class FOLDER --students 200
"""

import argparse
import copy
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from classroom import chapters
from classroom.made_up_answers import MISTAKES, RIGHT_OTHERWISE
from classroom.made_up_faults import CHAPTER, FAULTS, Place

NAMES = ("Ada", "Ben", "Chloé", "Đức", "Emre", "Fatma", "Goran", "Hana", "Iñigo", "Jun")
OTHER = "05_causal_mask"


@dataclass(frozen=True)
class Expected:
    """How the grading of one made-up submission must end."""

    student: str
    kind: str  # "" for an ordinary one
    chapter: str
    ends: dict = field(default_factory=dict)  # exercise: diagnosis, of those not passed
    fault: str = ""
    remark: str = ""


def make_class(folder, students, course=None, seed=0):
    """Write the submissions; return what must come of each."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    course = course or folder
    place = Place(str(course), str(folder / f"000_{NAMES[0]}" / f"{CHAPTER}.ipynb"),
                  str(course / "results.json"))
    found = [faulty(folder, number, fault, place) for number, fault in enumerate(FAULTS)]
    found += [ordinary(folder, number, rng) for number in range(len(FAULTS), students)]
    return found[:max(students, len(FAULTS))]


def name_of(number):
    return f"{number:03d}_{NAMES[number % len(NAMES)]}"


def faulty(folder, number, fault, place):
    """Write one submission with a fault."""
    student = name_of(number)
    notebook = solved(CHAPTER)
    content = fault.change(notebook, place)
    if content is None:
        content = json.dumps(notebook, ensure_ascii=False).encode()
    write(folder / student / fault.file, content)
    return Expected(student, fault.name, CHAPTER, fault.ends, fault.fault, fault.remark)


def ordinary(folder, number, rng):
    """Write one submission with a few mistakes, and some exercises not begun."""
    student, stem = name_of(number), CHAPTER if number % 3 else OTHER
    notebook, ends = solved(stem), {}
    own = {}
    for task in chapters.tasks(chapters.read(chapters.NOTEBOOKS / f"{stem}.ipynb")):
        wrong = [(name, text) for (exercise, name), text in MISTAKES.items() if exercise == task.id]
        chance = rng.random()
        if chance < 0.35 and wrong:
            ends[task.id], own[task.answer] = rng.choice(wrong)
        elif chance < 0.45 and task.answer.startswith("my_"):
            ends[task.id], own[task.answer] = "not-attempted", chapters.source(task.stub)
        elif chance < 0.7 and task.id in RIGHT_OTHERWISE:
            own[task.answer] = RIGHT_OTHERWISE[task.id]
    for cell in notebook["cells"]:
        for answer, text in own.items():
            if cell["cell_type"] == "code" and defines(cell, answer):
                cell["source"] = text.strip()
    write(folder / student / f"{stem}.ipynb", json.dumps(notebook, ensure_ascii=False).encode())
    return Expected(student, "", stem, ends)


def defines(cell, answer):
    return re.search(rf"^(def )?{answer}\b", chapters.source(cell), re.MULTILINE)


def solved(stem):
    """Return a student's notebook in which every exercise is solved as in the book."""
    page = chapters.read(chapters.NOTEBOOKS / f"{stem}.ipynb")
    notebook = json.loads(json.dumps(chapters.without_solutions(page)))
    for task in chapters.tasks(page):
        text = chapters.source(task.solution).rpartition("check(")[0].rstrip()
        cell = next(each for each in notebook["cells"] if each["id"] == task.stub["id"])
        cell["source"] = text.replace(f"{task.id}_solution", task.answer)
    return copy.deepcopy(notebook)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=200)
    asked = parser.parse_args()
    made = make_class(asked.folder, asked.students)
    print(f"{len(made)} submissions, {len(FAULTS)} of them with a fault")


if __name__ == "__main__":
    main()

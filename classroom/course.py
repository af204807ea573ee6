"""Make an nbgrader course of the chapters, on which nbgrader's own commands work.

    python -m classroom.course DIR                      make or renew the course
    python -m classroom.course DIR --chapters 3,5       of chapters 3 and 5
    python -m classroom.course DIR --take FOLDER        put collected files where nbgrader looks

Each chapter is an assignment of its own. Stubs are cells to solve, checks are locked and give one
point each, and autograding runs answers confined, on hidden inputs too (``nbgrader_parts.py``).
"""

import argparse
import copy
import json
import re
import secrets
import sys
from pathlib import Path

import nbformat

from classroom import chapters, submissions

CONFIG = Path(__file__).with_name("nbgrader_config_template.py")
_SAFE = re.compile(r"[^\w.-]+")  # what nbgrader's folders may not have in their names


def main(arguments):
    parser = argparse.ArgumentParser(prog="make course")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--chapters", default="", help="such as 3,5; all without it")
    parser.add_argument("--take", type=Path, help="a folder with collected notebooks")
    asked = parser.parse_args(arguments)
    if asked.take:
        for line in take_in(asked.folder, asked.take):
            print(line)
        return
    make_course(asked.folder, chapters.choose(asked.chapters))
    print(f"The course is in {asked.folder}. Next, there: nbgrader generate_assignment "
          f"{chapters.choose(asked.chapters)[0].stem}")


def make_course(folder, paths):
    """Write the course's configuration and the source of its assignments."""
    folder = Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    seed = folder / "seed.txt"
    if not seed.exists():
        seed.write_text(f"{secrets.randbelow(2**32)}\n", encoding="utf-8")
    text = CONFIG.read_text(encoding="utf-8")
    for name, value in (("BOOK", str(chapters.ROOT)), ("COURSE", str(folder))):
        text = text.replace(f'"<{name}>"', json.dumps(value))
    (folder / "nbgrader_config.py").write_text(text, encoding="utf-8")
    for path in paths:
        place = folder / "source" / path.stem
        place.mkdir(parents=True, exist_ok=True)
        nbformat.write(assignment(chapters.read(path)), place / path.name)


def assignment(notebook):
    """Return a chapter as an nbgrader assignment: without solutions, its cells described."""
    result = chapters.without_solutions(notebook)
    cells = {cell["id"]: cell for cell in result["cells"]}
    for task in chapters.tasks(notebook):
        describe(cells[task.stub["id"]], f"{task.id}-answer", solution=True)
        describe(cells[task.check["id"]], f"{task.id}-check", grade=True, locked=True, points=1)
    return result


def describe(cell, name, *, grade=False, solution=False, locked=False, **points):
    """Put nbgrader's description into a cell's metadata."""
    cell["metadata"]["nbgrader"] = nbformat.from_dict(
        {"schema_version": 3, "grade_id": name, "grade": grade, "solution": solution,
         "locked": locked, "task": False, **points})


def take_in(folder, collected):
    """Copy collected notebooks to where nbgrader looks for them; say what was odd about each.

    A renamed notebook gets its chapter's name. One that cannot be read is replaced by the chapter
    as it was handed out, so that nobody is skipped: it gets no points.
    """
    known = {path.stem: chapters.read(path) for path in sorted(folder.glob("source/*/*.ipynb"))}
    pages = {stem: chapters.tasks(chapters.read(chapters.NOTEBOOKS / f"{stem}.ipynb"))
             for stem in known}
    for each in submissions.collect(collected):
        reading = submissions.read(each.path)
        stem = None if reading.fault else submissions.chapter_of(reading, each.path, pages)
        notebook = None if stem is None else json.loads(each.path.read_bytes())
        if stem is None:
            stem = each.path.stem if each.path.stem in known else next(iter(known))
            notebook = copy.deepcopy(known[stem])
            yield f"{each.student}: {reading.said or 'none of the exercises'} Handed in as empty."
        elif each.path.stem != stem:
            yield f"{each.student}: {each.path.name} is taken for {stem}"
        student = _SAFE.sub("-", each.student).strip("-")
        place = folder / "submitted" / student / stem / f"{stem}.ipynb"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

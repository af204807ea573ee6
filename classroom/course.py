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
        if not (asked.folder / "source").is_dir():
            sys.exit(f"There is no course in {asked.folder}: make course DIR={asked.folder} first.")
        if not submissions.collect(asked.take):
            sys.exit(f"There is no notebook in {asked.take}.")
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
    as it was handed out, so that nobody is skipped: it gets no points, and takes no other's place.
    """
    known = {path.stem: chapters.read(path) for path in sorted(folder.glob("source/*/*.ipynb"))}
    pages = {stem: chapters.tasks(chapters.read(chapters.NOTEBOOKS / f"{stem}.ipynb"))
             for stem in known}
    unreadable, taken = [], {}
    for each in sorted(submissions.collect(collected), key=age):
        reading = submissions.read(each.path)
        stem = None if reading.fault else submissions.chapter_of(reading, each.path, pages)
        if stem is None:
            unreadable.append((each, reading.said or "It has none of the exercises."))
            continue
        yield from remarks(each, stem, taken.get((each.student, stem)))
        taken[each.student, stem] = each
        put(folder, each.student, stem, json.loads(each.path.read_bytes()))
    for each, said in unreadable:
        free = [stem for stem in known if not place_of(folder, each.student, stem).exists()]
        if not free:
            yield f"{each.student}: {each.path.name}: {said} Left out: all chapters are there."
            continue
        stem = each.path.stem if each.path.stem in free else free[0]
        put(folder, each.student, stem, copy.deepcopy(known[stem]))
        yield f"{each.student}: {each.path.name}: {said} Handed in as empty for {stem}."


def age(submission):
    """Return what sorts a student's files by when they were changed, the oldest first."""
    return submission.path.stat().st_mtime_ns, str(submission.path)


def remarks(each, stem, before):
    """Say what is odd about a file that can be read: its name, or that there is an older one."""
    if each.path.stem != stem:
        yield f"{each.student}: {each.path.name} is taken for {stem}"
    if before:
        yield f"{each.student}: {each.path.name} is newer than {before.path.name} and replaces it"


def place_of(folder, student, stem):
    """Return where nbgrader looks for a student's notebook."""
    return folder / "submitted" / _SAFE.sub("-", student).strip("-") / stem / f"{stem}.ipynb"


def put(folder, student, stem, notebook):
    place = place_of(folder, student, stem)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

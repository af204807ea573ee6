"""Grade a class: every notebook in a folder, each answer in a confined process of its own.

    python -m classroom.grading SUBMISSIONS --out RESULTS     grade, or go on where it stopped

SUBMISSIONS holds ``student/anything.ipynb`` or ``student.ipynb``. RESULTS gets a file for each
submission, the view of the class (``class.html``) and its tables (``class.csv``, ``mistakes.csv``).
What has been graded is not graded again unless the file, the book or the seed has changed.
"""

import argparse
import concurrent.futures as futures
import hashlib
import json
import multiprocessing
import os
import secrets
import sys
import time
import traceback
from functools import cache
from pathlib import Path

from classroom import chapters, isolation, submissions
from classroom.apart import Nursery
from classroom.class_view import write_view
from classroom.judge import grade_cells

REDRAW = 2.0  # seconds between two drawings of the view while grading goes on
_held = {}  # the nursery of this process


def main(arguments):
    parser = argparse.ArgumentParser(prog="make grade")
    parser.add_argument("submissions", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    asked = parser.parse_args(arguments)
    if not asked.submissions.is_dir():
        sys.exit(f"{asked.submissions} is no folder: give the folder that holds the students' "
                 "notebooks.")
    if lacks := isolation.missing():
        sys.exit("Grading confines students' code with what Linux offers, and here "
                 f"{'; '.join(lacks)}. Grade on Linux, in a container or in WSL 2.")
    start = time.monotonic()
    results = grade_class(asked.submissions, asked.out, asked.workers, report=print)
    failed = [result for result in results if result["fault"] == "grader-failed"]
    print(f"{len(results)} submissions graded in {time.monotonic() - start:.0f} s; "
          f"open {asked.out / 'class.html'}")
    return int(bool(failed))


def grade_class(folder, out, workers, report=lambda _: None):
    """Grade all submissions in a folder; return the results, in the order of their files."""
    (out / "results").mkdir(parents=True, exist_ok=True)
    terms = {"book": book_digest(), "seed": class_seed(out)}
    found = submissions.collect(folder)
    done = {each: result for each in found if (result := stored(out, folder, each, terms))}
    todo = [each for each in found if each not in done]
    if done:
        report(f"{len(done)} are graded already")
    drawn = 0.0
    for each, result in graded(todo, folder, terms, workers):
        keep(out, folder, each, result)
        done[each] = result
        report(f"{len(done)}/{len(found)}  {result['student']}: {in_short(result)}")
        if time.monotonic() - drawn > REDRAW:
            write_view(out, list(done.values()), len(found))
            drawn = time.monotonic()
    results = [done[each] for each in found]
    write_view(out, results, len(found))
    return results


def in_short(result):
    """Say in a few words what came of a submission."""
    if result["fault"]:
        return result["fault"]
    return f"{result['points']} of {result['possible']}"


def graded(todo, folder, terms, workers):
    """Give each submission with its result; one that ends its judge is tried again alone."""
    left = list(todo)
    for alone in (False, True):
        again = []
        for group in ([[each] for each in left] if alone else [left]):
            yield from in_a_pool(group, folder, terms, 1 if alone else workers, again)
        left = again
    for each in left:
        yield each, failed(each, folder, terms, "the judge's own process ended, twice")


def in_a_pool(group, folder, terms, workers, again):
    """Give what a pool of judges makes of a group; those it lost are put into ``again``."""
    if not group:
        return
    context = multiprocessing.get_context("spawn")
    with futures.ProcessPoolExecutor(min(workers, len(group)), context) as pool:
        jobs = {pool.submit(grade_one, each, folder, terms): each for each in group}
        for job in futures.as_completed(jobs):
            try:
                yield jobs[job], job.result()
            except futures.BrokenExecutor:
                again.append(jobs[job])


def grade_one(each, folder, terms):
    """Return the result for one submission; this runs in a judge's process."""
    try:
        return result_of(each, folder, terms)
    except Exception:
        leave_nursery()
        return failed(each, folder, terms, traceback.format_exc(limit=-3))


def result_of(each, folder, terms):
    """Read and grade one submission."""
    result = empty(each, folder, terms)
    reading = submissions.read(each.path)
    stem = None if reading.fault else submissions.chapter_of(reading, each.path, all_tasks())
    if stem is None and not reading.fault:
        reading.fault = "no-exercises"
        reading.said = "The notebook has none of the exercises of the book."
    if reading.fault:
        return result | {"fault": reading.fault, "said": reading.said}
    tasks = all_tasks()[stem]
    if each.path.stem != stem:
        reading.remarks.append(f"its name is {each.path.name!r}; by its exercises it is {stem}")
    grades, seconds = grade_cells(nursery(), reading, tasks, page_of(stem), terms["seed"])
    remarks = [*reading.remarks, *submissions.remarks_on_checks(reading, tasks)]
    return result | {"chapter": stem, "grades": grades, "remarks": remarks,
                     "points": sum(grade["passed"] for grade in grades),
                     "possible": len(grades), "seconds": round(seconds, 1)}


def empty(each, folder, terms):
    """Return the result of a submission of which nothing is known yet."""
    return {"student": each.student, "file": each.path.relative_to(folder).as_posix(),
            "digest": each.digest, **terms, "chapter": None, "fault": "", "said": "",
            "grades": [], "remarks": [], "points": 0, "possible": 0, "seconds": 0.0}


def failed(each, folder, terms, said):
    """Return the result of a submission on which the grader itself went wrong."""
    return empty(each, folder, terms) | {"fault": "grader-failed", "said": said}


def nursery():
    """Return this process's nursery; it is started at the first use."""
    if "nursery" not in _held:
        _held["nursery"] = Nursery().__enter__()
    return _held["nursery"]


def leave_nursery():
    """End this process's nursery; the next use starts another."""
    if "nursery" in _held:
        _held.pop("nursery").__exit__()


@cache
def page_of(stem):
    return chapters.read(chapters.NOTEBOOKS / f"{stem}.ipynb")


@cache
def all_tasks():
    """Return the tasks of every chapter, by its stem."""
    return {path.stem: chapters.tasks(page_of(path.stem)) for path in chapters.choose()}


@cache
def book_digest():
    """Return what changes when anything does by which answers are judged."""
    found = hashlib.sha256()
    for folder, kind in (("src/attention_book", "*.py"), ("classroom", "*.py"),
                         ("notebooks", "*.ipynb")):
        for path in sorted((chapters.ROOT / folder).rglob(kind)):
            found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:16]


def class_seed(out):
    """Return the number from which this class's hidden inputs are made; it is made up once."""
    path = out / "seed.txt"
    if not path.exists():
        path.write_text(f"{secrets.randbelow(2**32)}\n", encoding="utf-8")
    return int(path.read_text(encoding="utf-8"))


def place_of(out, folder, each):
    """Return the file that holds a submission's result."""
    name = each.path.relative_to(folder).as_posix()
    return out / "results" / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.json"


def stored(out, folder, each, terms):
    """Return the result on file, if it is of this very file, and on these terms; else None."""
    try:
        result = dict(json.loads(place_of(out, folder, each).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    same = {"digest": each.digest, **terms}.items() <= result.items()
    return result if same and result["fault"] != "grader-failed" else None


def keep(out, folder, each, result):
    """Write a result as a whole or not at all."""
    place = place_of(out, folder, each)
    draft = place.with_suffix(".draft")
    draft.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(draft, place)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

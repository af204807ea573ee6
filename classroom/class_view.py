"""The view of a class: who has solved what, and how many are stuck on which named mistake."""

import csv
import html
import io
import os
from collections import defaultdict
from pathlib import Path

from attention_book.exercises import catalogue

_LOOK = Path(__file__).with_name("class_view.css")
_SIGNS = {"passed": "✓", "not-attempted": "○", "no-answer": "○"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet's formula begins


def write_view(out, results, expected):
    """Write ``class.html``, ``class.csv`` and ``mistakes.csv`` of the results so far."""
    best = best_of(results)
    for name, text in (("class.html", page(results, best, expected)),
                       ("class.csv", table(best, results)),
                       ("mistakes.csv", mistakes_table(best))):
        draft = out / f"{name}.draft"
        draft.write_text(text, encoding="utf-8", newline="")
        os.replace(draft, out / name)


def best_of(results):
    """Return, for each chapter and student, the result that counts: the one with most points."""
    best = {}
    for result in results:
        key = result["chapter"], result["student"]
        if result["chapter"] and (key not in best or result["points"] > best[key]["points"]):
            best[key] = result
    return dict(sorted(best.items()))


def stuck(best):
    """Return, for each chapter and exercise, the grades by what is wrong: ``None`` for right.

    ``{("03_stable_softmax", "softmax"): {"global-max": [("Ada", message), …], None: […]}}``
    """
    found = defaultdict(lambda: defaultdict(list))
    for (chapter, student), result in best.items():
        for grade in result["grades"]:
            found[chapter, grade["exercise"]][grade["diagnosis"]].append(
                (student, grade["message"]))
    return found


def by_number(kinds):
    """Return what is wrong in an exercise, what most are stuck on first."""
    wrong = [(kind, who) for kind, who in kinds.items() if kind is not None]
    return sorted(wrong, key=lambda pair: (pair[0] in _SIGNS, -len(pair[1]), pair[0]))


def known(exercise_id, kind):
    """Return the catalogued mistake of this name, or None for a general one."""
    return next((each for each in catalogue()[exercise_id].mistakes if each.id == kind), None)


def question_in(message):
    """Return the question at the end of a verdict."""
    return " ".join(message.rpartition("Question: ")[2].split())


# --- The tables -----------------------------------------------------------------------------------
def table(best, results):
    """Return the table of students against exercises."""
    columns = list(stuck(best))
    rows = [["student", *(exercise for _, exercise in columns), "points", "possible", "remarks"]]
    for student in sorted({result["student"] for result in results}):
        mine = [result for (_, who), result in best.items() if who == student]
        said = {(each["chapter"], grade["exercise"]): grade["diagnosis"] or "passed"
                for each in mine for grade in each["grades"]}
        rows.append([student, *(said.get(column, "") for column in columns),
                     sum(each["points"] for each in mine),
                     sum(each["possible"] for each in mine), "; ".join(remarks(student, results))])
    return as_csv(rows)


def mistakes_table(best):
    """Return the table of mistakes: how many make each, and what to ask."""
    rows = [["chapter", "exercise", "mistake", "students", "what it does", "ask"]]
    for (chapter, exercise), kinds in stuck(best).items():
        for kind, who in by_number(kinds):
            mistake = known(exercise, kind)
            rows.append([chapter, exercise, kind, len(who), mistake.seen if mistake else "",
                         mistake.question if mistake else question_in(who[0][1])])
    return as_csv(rows)


def as_csv(rows):
    """Return rows as CSV; no cell can be a formula."""
    file = io.StringIO()
    csv.writer(file).writerows([[safe(cell) for cell in row] for row in rows])
    return file.getvalue()


def safe(cell):
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def remarks(student, results):
    """Return all that a teacher should know of one student's files."""
    found = []
    for result in results:
        if result["student"] == student:
            fault = f"{result['fault']}: {result['said']}" if result["fault"] else ""
            found += [f"{result['file']}: {each}" for each in [*result["remarks"], fault] if each]
    return found


# --- The page -------------------------------------------------------------------------------------
def page(results, best, expected):
    """Return the page: the exercises with their mistakes, then all students."""
    running = len(results) < expected
    body = [f"<h1>The class</h1><p>{len(results)} of {expected} submissions are graded."
            f"{' This page renews itself.' if running else ''}</p>"]
    chapter = None
    for (stem, exercise), kinds in stuck(best).items():
        if stem != chapter:
            chapter = stem
            body.append(f"<h2>{escaped(stem)}</h2>")
        body.append(about_exercise(exercise, kinds))
    body.append(about_files(results))
    for stem in dict.fromkeys(stem for stem, _ in best):
        body.append(about_students(stem, best))
    renewal = '<meta http-equiv="refresh" content="3">' if running else ""
    look = _LOOK.read_text(encoding="utf-8")
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"{renewal}<title>The class</title><style>{look}</style></head>\n<body><main>"
            + "\n".join(body) + "</main></body></html>\n")


def about_exercise(exercise, kinds):
    """Return the part on one exercise: how many passed, and who is stuck on what."""
    total = sum(map(len, kinds.values()))
    passed = len(kinds.get(None, ()))
    waiting = sum(len(who) for kind, who in kinds.items() if kind in _SIGNS)
    parts = [f"<section><h3>{escaped(catalogue()[exercise].title)} "
             f"<code>{escaped(exercise)}</code></h3>",
             f"<p>✓ {passed} passed, ✗ {total - passed - waiting} stuck, ○ {waiting} not begun, "
             f"of {total}</p>", bar(passed, total - passed - waiting, total)]
    parts += [about_mistake(exercise, kind, who, total) for kind, who in by_number(kinds)]
    return "\n".join([*parts, "</section>"])


def bar(passed, stuck_on, total):
    widths = [100 * count / max(total, 1) for count in (passed, stuck_on)]
    return ('<div class="bar" aria-hidden="true">'
            f'<span class="passed" style="width:{widths[0]:.1f}%"></span>'
            f'<span class="stuck" style="width:{widths[1]:.1f}%"></span></div>')


def about_mistake(exercise, kind, who, total):
    """Return the part on one mistake: how many, what it does, what to ask, an example, who."""
    mistake = known(exercise, kind)
    example = who[0][1]
    ask = mistake.question if mistake else question_in(example)
    seen = f"<p>{escaped(mistake.seen)}</p>" if mistake else ""
    names = ", ".join(escaped(name) for name, _ in who)
    return (f"<details><summary><strong>{len(who)}</strong> of {total}: "
            f"<code>{escaped(kind)}</code></summary>{seen}<p><em>Ask in class:</em> {escaped(ask)}"
            f"</p><p><em>What they were told, for example:</em></p><pre>{escaped(example)}</pre>"
            f"<p><em>Who:</em> {names}</p></details>")


def about_files(results):
    """Return the part on files that could not be graded, and on what was odd about others."""
    rows = "".join(f"<tr><th scope=row>{escaped(result['student'])}</th>"
                   f"<td>{escaped('; '.join(remarks(result['student'], [result])))}</td></tr>"
                   for result in results if result["fault"] or result["remarks"])
    if not rows:
        return ""
    return ("<h2>Files to look at</h2><div class=wide tabindex=0><table><tr><th>student</th>"
            f"<th>what is odd</th></tr>{rows}</table></div>")


def about_students(stem, best):
    """Return the table of students against the exercises of one chapter."""
    mine = {student: result for (chapter, student), result in best.items() if chapter == stem}
    exercises = [grade["exercise"] for grade in next(iter(mine.values()))["grades"]]
    head = "".join(f"<th scope=col>{escaped(name)}</th>" for name in exercises)
    rows = "".join(
        f"<tr><th scope=row>{escaped(student)}</th>"
        + "".join(one_cell(grade) for grade in result["grades"])
        + f"<td>{result['points']} of {result['possible']}</td></tr>"
        for student, result in mine.items())
    return (f"<h2>Students, {escaped(stem)}</h2><div class=wide tabindex=0><table><tr>"
            f"<th scope=col>student</th>{head}<th scope=col>points</th></tr>{rows}</table></div>")


def one_cell(grade):
    kind = grade["diagnosis"] or "passed"
    look = "passed" if grade["passed"] else "waiting" if kind in _SIGNS else "stuck"
    said = "" if grade["passed"] else f" {escaped(kind)}"
    return (f'<td class="{look}" title="{escaped(grade["message"])}">'
            f"{_SIGNS.get(kind, '✗')}{said}</td>")


def escaped(text):
    return html.escape(str(text))

"""The exercises' score: what the tests of the exercises found, counted for the report.

A test hands its finding to the fixture ``score``; when all of them have run, the counts are shown
and written for the page "How the exercises are checked".
"""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "_ext"))

import proof_pages

FOUND = []  # in the process that gathers what the workers report
PRECISE = {"not-attempted", "prints-instead-of-returning", "raises", "wrong-dtype", "mutates-input",
           "hard-coded", "calls-the-package", "too-slow", "too-much-memory", "not-a-function",
           "not-a-value"}  # general ids that say what was done, not only that it is wrong


def is_named(exercise, diagnosis):
    """Tell whether a diagnosis says which mistake it is."""
    return diagnosis in PRECISE | {mistake.id for mistake in exercise.mistakes}


def gather(report):
    """Keep what a finished test found."""
    if report.when == "call":
        FOUND.extend(fact for name, fact in report.user_properties if name == "score")


def expected(catalogue, modules):
    """Return how many findings a whole run makes."""
    return sum(sum(len(mistake.ways) for mistake in exercise.mistakes) + 2 + len(exercise.variants)
               for exercise in catalogue) + sum(
        len(answers) for module in modules for group in (module.WRONG, module.RIGHT)
        for answers in group.values())


def summary(catalogue, found):
    """Return the counts of each exercise."""
    counts = Counter()
    for fact in found:
        for key, number in fact.items():
            if key != "id":
                counts[fact["id"], key] += number
    keys = ("ways", "rejected", "named", "variants", "accepted", "answers", "answers_rejected",
            "answers_named", "right_answers", "answers_accepted", "twins")
    return [{"id": exercise.id, "chapter": exercise.chapter, "mistakes": len(exercise.mistakes),
             **{key: counts[exercise.id, key] for key in keys}} for exercise in catalogue]


def report(terminal, catalogue, modules):
    """Show the score and write it down, if every test of it has run."""
    whole = expected(catalogue, modules)
    if len(FOUND) < whole:
        terminal.line(f"The exercises' score needs all of its tests: {len(FOUND)} of {whole} ran.")
        return
    rows = summary(catalogue, FOUND)
    proof_pages.save("exercises", {"exercises": rows})
    terminal.section("the exercises' score")
    terminal.line(proof_pages.exercises({"exercises": rows}))

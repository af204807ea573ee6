"""Pages that show what the tests found: a comment in a page becomes a table of measured figures.

A page holds ``<!-- proof: exercises -->``; the tests write ``_build/proof/exercises.json``. Where
there is no such file, or the exercises have changed since, the page says that it was not checked.
"""

import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROOF = ROOT / "_build" / "proof"
MARK = re.compile(r"<!-- proof: (\w+) -->")
JUDGED = ("src/attention_book/exercises", "tests/exercise_answers")  # what the score is about
NOT_CHECKED = ("> **Not checked in this build.** These figures come from the tests, which were not "
               "run for this version: `make exercises` runs them.")


def fingerprint():
    """Return what identifies the exercises and the answers that they were tried on."""
    found = hashlib.sha256()
    for folder in JUDGED:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(path.relative_to(ROOT).as_posix().encode())
            found.update(path.read_bytes())
    return found.hexdigest()


def save(name, content):
    """Write what the tests found, for the page to show."""
    PROOF.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"fingerprint": fingerprint(), **content}, indent=1, ensure_ascii=False)
    (PROOF / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def load(name):
    """Return what the tests found, or None where they have not run on what is here."""
    path = PROOF / f"{name}.json"
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    return content if content["fingerprint"] == fingerprint() else None


def exercises(content):
    """Write the score of the exercises as tables in Markdown: of all of them, then of each."""
    rows = content["exercises"]
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key not in ("id", "chapter")}
    lines = [*head("over all exercises", "of", "held", "share"), *(
        f"| {label} | {total[tried]:,} | {total[held]:,} | {share(total[held], total[tried])} |"
        for label, tried, held in SUMS)]
    lines.append(f"| pairs of mistakes that cannot be told apart | | {total['twins']} | |")
    lines += ["", "### Answers of the catalogue", "",
              *head("exercise", "kinds", "rejected", "named", "accepted", "alike"), *(
                  f"| {name(row)} | {row['mistakes']} | {row['rejected']}/{row['ways']} "
                  f"| {row['named']}/{row['ways']} | {row['accepted']}/{row['variants']} "
                  f"| {row['twins']} |" for row in rows)]
    lines += ["", "### Answers written without sight of it", "",
              *head("exercise", "rejected", "named", "accepted"), *(
                  f"| {name(row)} | {row['answers_rejected']}/{row['answers']} "
                  f"| {row['answers_named']}/{row['answers']} "
                  f"| {row['answers_accepted']}/{row['right_answers']} |" for row in rows)]
    return "\n".join(lines)


SUMS = (
    ("catalogue: wrong answers rejected", "ways", "rejected"),
    ("catalogue: wrong answers named as the mistake that they make", "ways", "named"),
    ("catalogue: right answers accepted", "variants", "accepted"),
    ("others: wrong answers rejected", "answers", "answers_rejected"),
    ("others: wrong answers named", "answers", "answers_named"),
    ("others: right answers accepted", "right_answers", "answers_accepted"),
)


def head(first, *others):
    """Return the first two lines of a table whose other columns hold numbers."""
    return f"| {' | '.join((first, *others))} |", "| --- |" + " ---: |" * len(others)


def name(row):
    """Return an exercise's name, after the number of its chapter."""
    return f"{int(row['chapter'][:2])} `{row['id']}`"


def share(held, tried):
    """Write a share in percent, never rounded up to all."""
    return f"{100 if held == tried else min(99.9, 100 * held / tried):.3g}%" if tried else ""


def show_proof(app, docname, source):
    """Put what the tests found in place of the marks in a page."""
    def table(mark):
        content = load(mark[1])
        return NOT_CHECKED if content is None else TABLES[mark[1]](content)

    source[0] = MARK.sub(table, source[0])


TABLES = {"exercises": exercises}


def setup(app):
    """Register with Sphinx."""
    app.connect("source-read", show_proof)
    return {"version": "1", "parallel_read_safe": True}

"""Pages that show what the tests found: a comment in a page becomes a table of measured figures.

A page holds ``<!-- proof: exercises -->``; the tests write ``_build/proof/exercises.json``. Where
there is no such file, or what it is about has changed since, the page says that it was not checked.
"""

import hashlib
import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import book_proof
from book_proof import head

ROOT = Path(__file__).resolve().parents[2]
PROOF = ROOT / "_build" / "proof"
MARK = re.compile(r"<!-- proof: (\w+)(?: as (\w+))? -->")
TEXTS = {".py", ".ipynb", ".md", ".js", ".css"}
JUDGED = {  # what a proof is about: where that changes, it has to be run again
    "exercises": ("src/attention_book/exercises", "tests/exercise_answers"),
    "notebooks": ("src/attention_book",),
    "pdf": ("src", "notebooks", "book"),
    "suites": ("src", "tests", "notebooks", "book", "tools", "classroom"),
}
RUN = {"exercises": "make exercises", "notebooks": 'make test SUITES="nbval"',
       "suites": "make test", "benchmarks": "make bench", "model": "make verify-model",
       "training": "make verify-training", "libraries": "make verify-libraries"}
NOT_CHECKED = ("> **Not checked in this build.** These figures come from checks that were not run "
               "for this version: `{}` runs them.")


@cache
def fingerprint(name="exercises"):
    """Return what identifies that which a proof is about."""
    found = hashlib.sha256()
    for folder in JUDGED[name]:
        for path in sorted((ROOT / folder).rglob("*.*")):
            if path.suffix in TEXTS and not any(part[0] == "." for part in path.parts[1:]):
                found.update(path.relative_to(ROOT).as_posix().encode())
                found.update(path.read_bytes())
    return found.hexdigest()


def save(name, content):
    """Write what the tests found, for the page to show."""
    PROOF.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"fingerprint": fingerprint(name), **content}, indent=1, ensure_ascii=False)
    (PROOF / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def load(name):
    """Return what the tests found, or None where they have not run on what is here."""
    path = PROOF / f"{name}.json"
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    if name in JUDGED and content["fingerprint"] != fingerprint(name):
        return None
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    return {"when": day.isoformat(timespec="minutes"), **content}


def exercises(content):
    """Write the score of the exercises as tables in Markdown: of all of them, then of each."""
    rows = content["exercises"]
    lines = [*score(rows), "", "### Answers of the catalogue", "",
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


def score(rows):
    """Write the sums over all exercises."""
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key not in ("id", "chapter")}
    return [*head("over all exercises", "of", "held", "share"), *(
        f"| {label} | {total[tried]:,} | {total[held]:,} | {share(total[held], total[tried])} |"
        for label, tried, held in SUMS),
        f"| pairs of mistakes that cannot be told apart | | {total['twins']} | |"]


SUMS = (
    ("catalogue: wrong answers rejected", "ways", "rejected"),
    ("catalogue: wrong answers named as the mistake that they make", "ways", "named"),
    ("catalogue: right answers accepted", "variants", "accepted"),
    ("others: wrong answers rejected", "answers", "answers_rejected"),
    ("others: wrong answers named", "answers", "answers_named"),
    ("others: right answers accepted", "right_answers", "answers_accepted"),
)


def name(row):
    """Return an exercise's name, after the number of its chapter."""
    return f"{int(row['chapter'][:2])} `{row['id']}`"


def share(held, tried):
    """Write a share in percent, never rounded up to all."""
    return f"{100 if held == tried else min(99.9, 100 * held / tried):.3g}%" if tried else ""


def show_proof(app, docname, source):
    """Put what the tests found in place of the marks in a page."""
    def table(mark):
        name, kind = mark[1], mark[2] or mark[1]
        if name == "versions":
            return book_proof.versions()
        if name == "summary":
            return book_proof.summary(load, RUN)
        content = load(name)
        return NOT_CHECKED.format(RUN[name]) if content is None else TABLES[kind](content)

    source[0] = MARK.sub(table, source[0])


TABLES = {"exercises": exercises, "score": lambda content: "\n".join(score(content["exercises"])),
          **book_proof.TABLES}


def setup(app):
    """Register with Sphinx."""
    app.connect("source-read", show_proof)
    return {"version": "1", "parallel_read_safe": True}

"""Everything that goes wrong in a class, as handed-in notebooks, and how each must end.

A fault changes a right notebook of chapter 3. What it says of its end are the exercises that are
then not passed, each with its diagnosis; all others must have full marks.
"""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from attention_book.exercises import catalogue

CHAPTER = "03_stable_softmax"
_WRONG = "def my_softmax(x):\n    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)"


@dataclass(frozen=True)
class Fault:
    """One kind of fault: how a notebook gets it, and how its grading must end."""

    name: str
    change: Callable  # (notebook, place) -> None, or the file's bytes
    ends: dict = field(default_factory=dict)  # exercise: diagnosis
    fault: str = ""  # of the file as a whole
    file: str = f"{CHAPTER}.ipynb"
    remark: str = ""


@dataclass(frozen=True)
class Place:
    """Paths that a hostile answer aims at."""

    course: str  # a folder of the teacher's
    other: str  # another student's file
    results: str


def cell_of(notebook, start):
    """Return the code cell whose text begins so."""
    return next(cell for cell in notebook["cells"] if cell["cell_type"] == "code"
                and "".join(cell["source"]).lstrip().startswith(start))


def answering(text):
    """Return a change that puts a text in place of the answer to the exercise on the softmax."""
    def change(notebook, place):
        filled = text
        for name in ("course", "other", "results"):
            filled = filled.replace(f"<{name}>", getattr(place, name))
        cell_of(notebook, "def my_softmax")["source"] = filled

    return change


def doing(statement):
    """Return a change that makes the answer do something first, then give the right result."""
    lines = "\n".join(f"    {line}" for line in statement.strip().splitlines())
    return answering(f"def my_softmax(x):\n{lines}\n"
                     "    e = np.exp(x - x.max(axis=-1, keepdims=True))\n"
                     "    return e / e.sum(axis=-1, keepdims=True)")


def with_cell(text, then=None):
    """Return a change that puts a cell before the exercises, and may do another change."""
    def change(notebook, place):
        cell = copy.deepcopy(cell_of(notebook, "def my_softmax"))
        cell |= {"source": text, "id": "added", "metadata": {}}
        position = next(number for number, each in enumerate(notebook["cells"])
                        if "exercise" in each["metadata"].get("tags", []))
        notebook["cells"].insert(position, cell)
        if then:
            then(notebook, place)

    return change


def without_check(notebook, place):
    notebook["cells"].remove(cell_of(notebook, 'check("softmax"'))


def copied_check(notebook, place):
    notebook["cells"].append(copy.deepcopy(cell_of(notebook, 'check("softmax"')))


def edited_check(notebook, place):
    cell_of(notebook, 'check("softmax"')["source"] = 'print("✓ softmax: passed")'
    answering(_WRONG)(notebook, place)


def other_name(notebook, place):
    cell = cell_of(notebook, "def my_softmax")
    cell["source"] = "".join(cell["source"]).replace("my_softmax", "softmax_of_mine")
    cell_of(notebook, 'check("softmax"')["source"] = 'check("softmax", softmax_of_mine)'


def without_answer(notebook, place):
    notebook["cells"].remove(cell_of(notebook, "def my_softmax"))


def foreign_kernel(notebook, place):
    notebook["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}


def knows_the_inputs():
    """Return an answer that looks up the check's own inputs, and computes nothing."""
    exercise = catalogue()["softmax"]
    known = [[case.args[0].tolist(), exercise.solution(case.args[0]).tolist()]
             for case in (*exercise.judging, *exercise.naming)]
    return (f"_KNOWN = {known!r}\n\n\ndef my_softmax(x):\n"
            "    return next(np.array(y) for k, y in _KNOWN if np.array_equal(k, x))")


FAULTS = (
    # --- The file and its cells ---
    Fault("deleted check", without_check, remark="check of softmax is gone"),
    Fault("copied check", copied_check, remark="check of softmax is there 2 times"),
    Fault("edited check", edited_check, {"softmax": "no-max-shift"},
          remark="check of softmax is gone"),
    Fault("renamed notebook", lambda n, p: None, file="homework final (2).ipynb",
          remark="its name is"),
    Fault("broken file", lambda n, p: json.dumps(n).encode()[:20_000], fault="broken-file"),
    Fault("a list in place of a notebook", lambda n, p: b"[1, 2, 3]", fault="broken-file"),
    Fault("nested without end", lambda n, p: b"[" * 100_000, fault="broken-file"),
    Fault("empty file", lambda n, p: b"", fault="empty-file"),
    Fault("another notebook", lambda n, p: json.dumps(
        {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode(),
        fault="no-exercises", file="notes.ipynb"),
    Fault("foreign kernel", foreign_kernel, remark="kernel 'ir'"),
    Fault("another language", answering("my_softmax <- function(x) exp(x) / sum(exp(x))"),
          {"softmax": "raises"}),
    Fault("deleted answer", without_answer, {"softmax": "no-answer"}),
    Fault("another name, handed to the check", other_name, remark="was changed"),
    Fault("an install of NumPy", with_cell("%pip install numpy==1.26\n!ls")),
    Fault("a cell that fails", with_cell("print(not_there)")),
    # --- Time and memory ---
    Fault("endless loop", answering("def my_softmax(x):\n    while True:\n        pass"),
          {"softmax": "too-slow"}),
    Fault("endless loop that swallows all", answering(
        "def my_softmax(x):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass"), {"softmax": "too-slow"}),
    Fault("endless loop in compiled code", answering(
        "import itertools\ndef my_softmax(x):\n    return sum(itertools.repeat(0))"),
        {"softmax": "too-slow"}),
    Fault("endless cell", with_cell("while True:\n    pass")),
    Fault("recursion without end", answering("def my_softmax(x):\n    return my_softmax(x)"),
          {"softmax": "raises"}),
    Fault("memory bomb", answering(
        "def my_softmax(x):\n    held = []\n    while 1:\n        held.append(np.empty(10**7))"),
        {"softmax": "raises"}),
    Fault("megabytes of output", with_cell("print('x' * 10**6)", doing("print('y' * 10**6)"))),
    # --- Beyond its own process ---
    Fault("fork bomb", doing("import os\nfor _ in range(9): os.fork()"), {"softmax": "raises"}),
    Fault("shell", doing("import subprocess\nsubprocess.run(['rm', '-rf', '<course>'])"),
          {"softmax": "raises"}),
    Fault("removes the course", doing("import shutil\nshutil.rmtree('<course>')"),
          {"softmax": "raises"}),
    Fault("removes a file", doing("import os\nos.remove('<course>/gradebook.db')"),
          {"softmax": "raises"}),
    Fault("closes a file to others", doing("import os\nos.chmod('<course>', 0)"),
          {"softmax": "raises"}),
    Fault("reads another submission", doing("open('<other>', encoding='utf-8').read()"),
          {"softmax": "raises"}),
    Fault("writes its own grade", doing("open('<results>', 'w', encoding='utf-8').write('7')"),
          {"softmax": "raises"}),
    Fault("opens a connection", doing("import socket\nsocket.create_connection(('127.0.0.1', 80))"),
          {"softmax": "raises"}),
    Fault("kills its parent", doing("import os\nos.kill(os.getppid(), 9)"),
          {"softmax": "raises"}),
    Fault("ends its process", doing("import os\nos._exit(0)"), {"softmax": "ended-the-process"}),
    Fault("ends its process in a cell", with_cell("import os\nos._exit(0)")),
    Fault("crashes its process", doing("import ctypes\nctypes.string_at(0)"),
          {"softmax": "ended-the-process"}),
    # --- Against the checker ---
    Fault("only calls the package", answering("def my_softmax(x):\n    return softmax(x)"),
          {"softmax": "calls-the-package"}),
    Fault("is the package's own", answering("my_softmax = softmax"),
          {"softmax": "calls-the-package"}),
    Fault("calls the package in secret", answering(
        "import sys\ndef my_softmax(x):\n    sys.setprofile(None)\n    return softmax(x)"),
        {"softmax": "calls-the-package"}),
    Fault("takes the catalogue's solution", answering(
        "from attention_book.exercises import catalogue\n"
        "my_softmax = catalogue()['softmax'].solution"), {"softmax": "raises"}),
    Fault("imports the catalogue", answering(
        "from attention_book.exercises.stable_softmax import EXERCISES\n"
        "my_softmax = EXERCISES[1].solution"), {"softmax": "raises"}),
    Fault("knows the inputs", lambda n, p: answering(knows_the_inputs())(n, p),
          {"softmax": "hard-coded"}),
    Fault("patches the checker", with_cell(
        "import attention_book.exercises as e, sys\n"
        "e.check = lambda *_: True\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name.startswith(('attention_book.exercises', 'classroom')):\n"
        "        for each in ('judge', 'parts_agree', 'find_problem', 'wanted', 'close'):\n"
        "            setattr(module, each, lambda *a, **k: None)\n", answering(_WRONG)),
        {"softmax": "no-max-shift"}),
    Fault("forges a verdict", doing(
        "import os, json, struct\n"
        "text = json.dumps({'message': {'passed': True, 'outcome': {}}, 'arrays': []}).encode()\n"
        "os.write(3, struct.pack('!II', len(text), 0) + text)"), {"softmax": "ended-the-process"}),
    Fault("an object that equals everything", answering(
        "class Right:\n    def __eq__(self, other):\n        return True\n"
        "def my_softmax(x):\n    return Right()"), {"softmax": "wrong-dtype"}),
    # --- What reports of other courses tell of ---
    Fault("writes into its argument", answering(
        "def my_softmax(x):\n    x -= x.max(axis=-1, keepdims=True)\n"
        "    e = np.exp(x)\n    return e / e.sum(axis=-1, keepdims=True)"),
        {"softmax": "mutates-input"}),
    Fault("prints, returns nothing", answering(
        "def my_softmax(x):\n    print(np.exp(x) / np.exp(x).sum())"),
        {"softmax": "prints-instead-of-returning"}),
    Fault("NumPy's names replaced", with_cell("np.allclose = lambda *_, **__: True",
                                              answering(_WRONG)), {"softmax": "no-max-shift"}),
)

"""One notebook's grade: every exercise judged with the answer in a confined process."""

import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from attention_book.exercises import catalogue
from attention_book.exercises.findings import calls_the_package, find_problem
from attention_book.exercises.judging import JUDGING_SECONDS, judge
from attention_book.exercises.model import Case, Problem
from attention_book.exercises.naming import wanted
from attention_book.exercises.reports import failed
from attention_book.exercises.verdicts import plain
from classroom.apart import ApartRunner, Confined, GoneError, listed
from classroom.chapters import source
from classroom.hidden_inputs import hidden_cases

LARGE_SECONDS, MATRIX, ALLOWED = 20.0, 2**21, 2**23  # scores in the matrix; bytes beyond the start
_KILLED = {9: "the system ended it, most likely for its use of memory or time",
           24: "it used up its processor time", 31: "it made a forbidden system call"}


@dataclass(frozen=True)
class Grade:
    """The grade of one exercise, and the reason: what the student is told."""

    exercise: str
    passed: bool
    diagnosis: str | None
    message: str


class Elsewhere:
    """Stands for a function that is in another process."""

    def __call__(self, *_):
        raise RuntimeError("a student's function is never run here")


class Notebook:
    """A student's notebook on the bench: its cells, and a confined process when it takes one."""

    def __init__(self, nursery, cells, tasks, page_cells, checks):
        self.nursery, self.tasks, self.checks = nursery, tasks, checks
        page = {source(cell).strip() for cell in page_cells} - {
            source(task.stub).strip() for task in tasks}
        self.cells = [[number, text, text.strip() in page] for number, text in enumerate(cells, 1)]
        self.dropped = {}  # cells that ended the process: number and reason

    def name_of(self, task, defined):
        """Return the name that holds an answer: the stub's, or the one that the check hands in."""
        if defined.get(task.answer, ("missing",))[0] != "missing":
            return task.answer
        for text in self.checks.get(task.id, []):
            found = re.search(rf"""check\(\s*["']{task.id}["']\s*,\s*([A-Za-z_]\w*)\s*\)""", text)
            if found and not found[1].endswith("_solution"):
                return found[1]
        return task.answer

    def begin(self, hidden=()):
        """Return a confined process in which the cells have run, with what they defined."""
        names = {task.answer: listed(catalogue()[task.id]) for task in self.tasks}
        for task in self.tasks:
            names.setdefault(self.name_of(task, {}), listed(catalogue()[task.id]))
        for _ in range(len(self.cells) + 1):
            confined = Confined(self.nursery, hidden).__enter__()
            try:
                kept = [cell for cell in self.cells if cell[0] not in self.dropped]
                defined, errors = confined.define(kept, names)
                self.dropped |= {number: said for number, said in errors.items()
                                 if "still running" in said}  # once is enough
                return confined, defined, {**errors, **self.dropped}
            except GoneError as gone:
                confined.__exit__()
                if confined.at is None:
                    raise
                self.dropped[confined.at] = how_it_ended(confined, gone)
        raise GoneError("its cells cannot be run")


def how_it_ended(confined, gone):
    """Say in words why a confined process is gone."""
    signal = confined.ended["signal"]
    if confined.ended["alive"]:
        return plain(str(gone))
    return _KILLED.get(signal, f"signal {signal} ended it" if signal else "it ended the process")


class Bench:
    """Grades the exercises of one notebook, one after the other."""

    def __init__(self, notebook, seed):
        self.notebook, self.seed = notebook, seed
        self.confined = None

    def grades(self):
        """Return a grade for every exercise; whatever happens, each has one."""
        try:
            return [self.grade(task) for task in self.notebook.tasks]
        finally:
            self.leave()

    def enter(self):
        if self.confined is None:
            self.confined, self.defined, self.errors = self.notebook.begin()

    def leave(self):
        if self.confined is not None:
            self.confined.__exit__()
            self.confined = None

    def grade(self, task):
        """Return the grade of one exercise."""
        exercise = catalogue()[task.id]
        try:
            self.enter()
            return self.judged(exercise, task)
        except GoneError as gone:
            ended = "it was still running"
            if self.confined is not None:
                confined, self.confined = self.confined, None
                confined.__exit__()
                ended = how_it_ended(confined, gone)
            return as_grade(exercise, gone_problem(ended))

    def judged(self, exercise, task):
        """Judge what the notebook defines for an exercise."""
        name = self.notebook.name_of(task, self.defined)
        kind, value = self.defined.get(name, ("missing", None))
        if kind == "missing":
            return as_grade(exercise, self.missing(task))
        if kind == "package":
            return as_grade(exercise, calls_the_package(value))
        if kind == "value" or exercise.predicts:
            return from_result(judge(exercise, Elsewhere() if kind == "function" else value))
        runner = ApartRunner(exercise, self.confined, name, JUDGING_SECONDS)
        result = judge(exercise, Elsewhere(), runner, leaves_it)
        if result.passed:
            problem = self.on_hidden_inputs(exercise, task)
            if problem:
                return as_grade(exercise, problem)
        return from_result(result)

    def missing(self, task):
        """Say why there is no answer: its cell failed, or there is none."""
        for number, text, _ in self.notebook.cells:
            if re.search(rf"\b{task.answer}\b", text) and number in self.errors:
                return Problem("raises", f"The cell that should define {task.answer} does not "
                               f"run: {self.errors[number]}", "Does that cell run by itself, "
                               "after a restart of the kernel?")
        return Problem("no-answer", f"There is no {task.answer} in the notebook",
                       f"Was it renamed, or its cell deleted? The check needs {task.answer}.")

    def on_hidden_inputs(self, exercise, task):
        """Try a right answer on other inputs, without the package's own functions to help."""
        confined, defined, _ = self.notebook.begin(listed(exercise))
        try:
            name = self.notebook.name_of(task, defined)
            runner = ApartRunner(exercise, confined, name, JUDGING_SECONDS)
            for case in hidden_cases(exercise, self.seed):
                outcome = runner.run(None, case)
                problem = find_problem(exercise, case, outcome, wanted(exercise, case), True)
                if problem:
                    return second_problem(problem, outcome)
            heavy = next((case for case in exercise.cases if case.memory is not None), None)
            return on_a_large_input(exercise, heavy, name, confined) if heavy else None
        except GoneError as gone:
            confined.__exit__()
            return gone_problem(how_it_ended(confined, gone))
        finally:
            if not hasattr(confined, "ended"):
                confined.__exit__()


def leaves_it(exercise, answer, runner):
    """Run a right answer once more, and take note of the package's functions that it calls."""
    functions = listed(exercise)
    for case in exercise.judging if functions else ():
        if case.memory is None:
            runner.run(answer, case, functions)
            if runner.heard:
                return calls_the_package(runner.heard)
    return None


def second_problem(problem, outcome):
    """Return what is wrong with an answer that was right on every input that is known."""
    if outcome.ended == "raised" and outcome.error.kind == "PackageCalled":
        return calls_the_package(outcome.error.text)
    if problem.id == "too-slow" or problem.right:
        return problem
    return Problem("hard-coded", "The result is right for every input of the check in the "
                   "notebook, and wrong for others of the same kind",
                   "Which part of your function depends on its arguments?")


def on_a_large_input(exercise, heavy, name, confined):
    """Let the system, not the answer, measure the memory: for a table of two million scores."""
    rng = np.random.default_rng(0)
    square = len(heavy.args[0]) == len(heavy.args[1])
    n_query = int(MATRIX**0.5) if square else 2**10
    q, k, v = (rng.normal(size=(n, 1)) for n in (n_query, MATRIX // n_query, MATRIX // n_query))
    case = Case((q, k, v, 32), "a long text", memory=None)
    confined.run(name, Case((q[:2], k[:2], v[:2], 1), ""), LARGE_SECONDS, len(exercise.parts))
    before = peak_of(confined.number)
    outcome, _, _ = confined.run(name, case, LARGE_SECONDS, len(exercise.parts))
    problem = find_problem(exercise, case, outcome, wanted(exercise, case), True)
    if problem:
        return second_problem(problem, outcome)
    if peak_of(confined.number) - before > ALLOWED:
        mistake = exercise.mistake("full-score-matrix")
        return Problem(mistake.id, mistake.seen.rstrip("."), mistake.question)
    return None


def peak_of(number):
    """Return the most bytes that a process has held in memory, as the system counts them."""
    status = Path(f"/proc/{number}/status").read_text(encoding="ascii")
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def gone_problem(ended):
    """Return the problem with an answer that took its process with it."""
    if "still running" in ended or "processor time" in ended:
        return Problem("too-slow", "No result came in time, and it could not be interrupted",
                       "Is there a loop whose condition never becomes false?")
    return Problem("ended-the-process", f"While it ran, {ended}",
                   "What in your function reaches beyond its arguments and its result?")


def as_grade(exercise, problem):
    return from_result(failed(exercise, problem))


def from_result(result):
    return Grade(result.exercise, result.passed, result.diagnosis, result.message)


def grade_cells(nursery, reading, tasks, page, seed):
    """Return the grades of a notebook that could be read, and the seconds that they took."""
    start = time.monotonic()
    cells = [cell for cell in page["cells"] if cell["cell_type"] == "code"]
    notebook = Notebook(nursery, reading.cells, tasks, cells, reading.checks)
    grades = Bench(notebook, seed).grades()
    return [asdict(each) for each in grades], time.monotonic() - start

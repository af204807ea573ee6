"""What joins nbgrader to the book: answers are judged confined, and feedback asks no other host."""

import json
import re
from pathlib import Path

from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    LimitOutput,
    LockCells,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
    SaveCells,
)
from traitlets import Integer

from classroom import grading, judge, submissions
from classroom.chapters import source
from classroom.course import describe

TEMPLATES = Path(__file__).parent / "templates"


def settle(c, folder):
    """Set what this course needs in nbgrader's configuration ``c``."""
    folder = Path(folder)
    c.Exchange.root = str(folder / "exchange")
    # The answers' stubs are the book's own: nothing is cleared from them.
    c.GenerateAssignment.preprocessors = [
        LockCells, ClearOutput, CheckCellMetadata, ComputeChecksums, SaveCells,
        ClearHiddenTests, ClearMarkScheme, ComputeChecksums, CheckCellMetadata]
    c.Autograde.sanitize_preprocessors = [
        ClearOutput, SoundMetadata, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
    c.Autograde.autograde_preprocessors = [
        JudgeApart, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
    c.JudgeApart.seed = int((folder / "seed.txt").read_text(encoding="utf-8"))
    c.HTMLExporter.template_name = "class_feedback"
    c.HTMLExporter.extra_template_basedirs = [str(TEMPLATES)]


class SoundMetadata(NbGraderPreprocessor):
    """Mends what a student's notebook may have lost, so that nothing waits to be graded by hand."""

    def preprocess(self, nb, resources):
        """Name a kernel, and let each exercise's two cells be described, soundly and once.

        Of a copied answer the last keeps its description, for that one counts; of a copied check
        the first, so that its verdict stands where it belongs.
        """
        nb.metadata.setdefault("kernelspec", {"name": "python3", "display_name": "Python 3",
                                              "language": "python"})
        for keeps_last, cells in ((True, reversed(nb.cells)), (False, nb.cells)):
            seen = set()
            for cell in cells:
                name = id_of(cell)
                answer = name is not None and bool(cell.metadata["nbgrader"].get("solution"))
                if name is None or (name in seen and answer == keeps_last):
                    cell.metadata.pop("nbgrader", None)
                seen.add(name)
        for task in grading.all_tasks()[resources["nbgrader"]["notebook"]]:
            restore(nb, task)
        return nb, resources


def id_of(cell):
    """Return the id in a cell's description, or None."""
    found = cell.metadata.get("nbgrader")
    return found.get("grade_id") if isinstance(found, dict) else None


def restore(nb, task):
    """Describe an exercise's two cells, where a notebook came without; add the one that is gone."""
    answer = place_of(nb, f"{task.id}-answer", rf"^(?:def )?{task.answer}\b")
    if answer is None:
        nb.cells.append(new_code_cell(""))
        answer = len(nb.cells) - 1
    describe(nb.cells[answer], f"{task.id}-answer", solution=True)
    check = place_of(nb, f"{task.id}-check", rf"""^check\(\s*["']{task.id}["']""")
    if check is None:
        check = answer + 1
        nb.cells.insert(check, new_code_cell(source(task.check)))
    describe(nb.cells[check], f"{task.id}-check", grade=True, locked=True, points=1)


def place_of(nb, name, pattern):
    """Return where the cell of this id is; failing that, the last whose code fits; or None."""
    for number, cell in enumerate(nb.cells):
        if id_of(cell) == name:
            return number
    return next((number for number, cell in reversed(list(enumerate(nb.cells)))
                 if cell.cell_type == "code" and id_of(cell) is None
                 and re.search(pattern, cell.source, re.MULTILINE)), None)


class JudgeApart(NbGraderPreprocessor):
    """Puts verdicts into the checks' outputs, in place of running the notebook in a kernel.

    A check that fails gets an error as its output, which nbgrader counts as no points.
    """

    seed = Integer(0, help="from which the hidden inputs are made").tag(config=True)

    def preprocess(self, nb, resources):
        """Judge a notebook's answers."""
        stem = resources["nbgrader"]["notebook"]
        reading = submissions.read_cells(json.loads(json.dumps(nb)))
        tasks = grading.all_tasks()[stem]
        grades, _ = judge.grade_cells(grading.nursery(), reading, tasks, grading.page_of(stem),
                                      self.seed)
        verdicts = {f"{grade['exercise']}-check": grade for grade in grades}
        for cell in nb.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in verdicts and cell.metadata.nbgrader.get("grade"):
                cell.outputs = [output_of(verdicts[name])]
        return nb, resources


def output_of(grade):
    """Return a verdict as the output of a cell."""
    if grade["passed"]:
        return new_output("stream", name="stdout", text=f"✓ {grade['exercise']}: passed\n")
    title = f"✗ {grade['exercise']}: {grade['diagnosis']}"
    return new_output("error", ename=grade["diagnosis"], evalue=title,
                      traceback=[title, *grade["message"].splitlines()])

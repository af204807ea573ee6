"""The chapters as a class meets them: which are chosen, and the three cells of each exercise."""

import copy
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
_CHECK = re.compile(r"""check\(\s*["'](\w+)["']""")
_ABOUT_SOLUTIONS = re.compile(r"\s*A solution is folded under each check; it is one of many\.")


@dataclass(frozen=True, eq=False)
class Task:
    """One exercise of a chapter: its id, the name of the answer, and its cells."""

    id: str
    answer: str  # the name that the stub defines
    stub: dict
    check: dict
    solution: dict


def source(cell):
    """Return a cell's text."""
    return "".join(cell["source"])


def tags(cell):
    """Return a cell's tags."""
    return set(cell["metadata"].get("tags", []))


def choose(wanted=""):
    """Return the paths of the chapters that ``"3,5"`` names; of all of them for ``""``."""
    paths = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
    if not wanted.strip():
        return paths
    numbers = {int(path.name.split("_")[0]): path for path in paths}
    chosen = []
    for word in re.split(r"[\s,]+", wanted.strip()):
        if not word.isdecimal() or int(word) not in numbers:
            sys.exit(f"CHAPTERS: there is no chapter {word!r}; there are "
                     f"{', '.join(map(str, numbers))}. Write CHAPTERS=3,5.")
        chosen.append(numbers[int(word)])
    return sorted(set(chosen))


def read(path):
    """Return a chapter's notebook."""
    return nbformat.read(path, as_version=4)


def tasks(notebook):
    """Return the exercises of a notebook, in its order."""
    found = {tag: [cell for cell in notebook["cells"] if tag in tags(cell)]
             for tag in ("exercise", "check", "solution")}
    return [Task(exercise_of(check), answer_name(exercise_of(check)), stub, check, solution)
            for stub, check, solution in zip(*found.values(), strict=True)]


def exercise_of(check):
    """Return the id of the exercise that a check cell checks."""
    return _CHECK.search(source(check))[1]


def answer_name(exercise_id):
    """Return the name that the answer to an exercise has in its notebook."""
    return exercise_id if exercise_id.startswith(("predict_", "fault_")) else f"my_{exercise_id}"


def without_solutions(notebook):
    """Return a copy of a notebook in which nothing of a solution is left.

    The cells go as a whole, with their outputs, attachments and metadata; of the other cells'
    metadata only what draws the page is kept.
    """
    result = copy.deepcopy(notebook)
    result["cells"] = [cell for cell in result["cells"] if "solution" not in tags(cell)]
    result["metadata"] = {key: result["metadata"][key] for key in ("kernelspec", "language_info")}
    for cell in result["cells"]:
        kept = ("tags", "mystnb")
        cell["metadata"] = nbformat.from_dict(
            {key: cell["metadata"][key] for key in kept if key in cell["metadata"]})
        if cell["cell_type"] == "markdown":
            cell["source"] = _ABOUT_SOLUTIONS.sub("", source(cell))
    return nbformat.from_dict(result)

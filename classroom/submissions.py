"""What was handed in: the notebooks of a folder, whose they are, and what is odd about them."""

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from classroom import chapters

MOST_BYTES = 2 * 10**7
MOST_CELLS = 2000
_NAME = re.compile(r"^(.+?)_\d+_assignsubmission_file_?$")  # as Moodle names a student's folder


@dataclass(frozen=True)
class Submission:
    """One file that was handed in."""

    student: str
    path: Path
    digest: str


@dataclass
class Reading:
    """What could be read of a submission: its code cells, and remarks for the teacher."""

    cells: list = field(default_factory=list)  # texts, in the notebook's order
    checks: dict = field(default_factory=dict)  # exercise id: texts of the cells that check it
    remarks: list = field(default_factory=list)
    fault: str = ""  # why nothing could be read, or ""
    said: str = ""


def collect(folder):
    """Return the submissions in a folder: ``student/…/name.ipynb``, or ``student.ipynb``.

    Several files of one student are all there; of one chapter, the grading takes the last.
    """
    found = []
    for path in sorted(Path(folder).rglob("*")):
        inside = path.relative_to(folder).parts
        hidden = any(part.startswith(".") for part in inside)
        if path.suffix.lower() != ".ipynb" or hidden or path.is_symlink() or not path.is_file():
            continue
        name = inside[0] if len(inside) > 1 else path.stem
        moodle = _NAME.match(name)
        found.append(Submission(moodle[1] if moodle else name, path, digest(path)))
    return found


def digest(path):
    """Return what changes when a file does."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read(path):
    """Return what can be read of a notebook, however damaged it is."""
    content = path.read_bytes()
    if not content.strip():
        return Reading(fault="empty-file", said="The file is empty.")
    if len(content) > MOST_BYTES:
        return Reading(fault="too-large", said=f"The file has {len(content) / 1e6:.0f} MB.")
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return Reading(fault="broken-file", said="The file is no notebook: it is not whole JSON.")
    return read_cells(notebook)


def read_cells(notebook):
    """Return what can be read of a notebook, given as what its JSON says."""
    cells = notebook.get("cells") if type(notebook) is dict else None
    if type(cells) is not list:
        return Reading(fault="broken-file", said="The file is JSON, but no notebook: it has no "
                                                 "list of cells.")
    reading = Reading(remarks=_about_kernel(notebook))
    for cell in cells[:MOST_CELLS]:
        if type(cell) is dict and cell.get("cell_type") == "code":
            text = _text(cell.get("source"))
            reading.cells.append(text)
            for name in re.findall(r"""\bcheck\(\s*["'](\w+)["']""", text):
                reading.checks.setdefault(name, []).append(text)
    if len(cells) > MOST_CELLS:
        reading.remarks.append(f"of its {len(cells)} cells, the first {MOST_CELLS} count")
    return reading


def _text(source):
    if type(source) is list:
        source = "".join(line for line in source if type(line) is str)
    return source if type(source) is str else ""


def _about_kernel(notebook):
    """Say which kernel a notebook asks for, if it is not Python's own."""
    metadata = notebook.get("metadata")
    kernel = metadata.get("kernelspec") if type(metadata) is dict else None
    if type(kernel) is not dict or kernel.get("name") in ("python3", "python", None):
        return []
    return [f"it asks for the kernel {str(kernel.get('name'))[:40]!r}; graded as Python"]


def chapter_of(reading, path, pages):
    """Return the chapter that a notebook is of: by its exercises, not by its name.

    ``pages`` gives, for each chapter's stem, its tasks.
    """
    votes = Counter()
    text = "\n".join(reading.cells)
    for stem, tasks in pages.items():
        votes[stem] = sum(bool(re.search(rf"\b{task.answer}\b", text)) for task in tasks)
    stem, most = votes.most_common(1)[0]
    if most == 0:
        return path.stem if path.stem in pages else None
    return stem


def remarks_on_checks(reading, tasks):
    """Say which checks are missing, changed or there more than once: none of it matters."""
    found = []
    for task in tasks:
        there = reading.checks.get(task.id, [])
        if not there:
            found.append(f"the check of {task.id} is gone")
        elif len(there) > 1:
            found.append(f"the check of {task.id} is there {len(there)} times")
        elif there[0].strip() != chapters.source(task.check).strip():
            found.append(f"the check of {task.id} was changed")
    return found

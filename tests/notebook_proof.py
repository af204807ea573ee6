"""What running the chapters again has shown, for the page "How this book is proved"."""

import hashlib
import json
import re
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

CELL = re.compile(r"^notebooks/([^/]+)\.ipynb::")
FOUND = defaultdict(lambda: {"cells": {}, "seconds": 0.0})


def gather(report):
    """Keep a cell's outcome and time, as the process that leads the others hears of them."""
    found = CELL.match(report.nodeid)
    if found:
        row = FOUND[found[1]]
        row["seconds"] += report.duration
        if report.when == "call" or report.failed:
            row["cells"][report.nodeid] = report.outcome


def counts(notebook):
    """Return how many cells of a notebook are compared, measure a time, or hold claims."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    tags = [set(cell["metadata"].get("tags", ())) for cell in code]
    measured = sum("nbval-ignore-output" in one for one in tags)
    claims = sum("".join(cell["source"]).count("assert ")
                 for cell, one in zip(code, tags, strict=True) if "claim" in one)
    return {"cells": len(code), "measured": measured, "compared": len(code) - measured,
            "claims": claims}


def rows():
    """Return a row for each notebook of which every code cell was run."""
    for name, found in FOUND.items():
        content = (ROOT / "notebooks" / f"{name}.ipynb").read_bytes()
        row = counts(json.loads(content))
        if len(found["cells"]) == row["cells"]:
            wrong = sum(outcome != "passed" for outcome in found["cells"].values())
            yield name, {**row, "held": row["compared"] - wrong, "seconds": found["seconds"],
                         "digest": hashlib.sha256(content).hexdigest()}


def save():
    """Write the rows of this run beside those of earlier ones that still hold."""
    import proof_pages

    new = dict(rows())
    if not new:
        return
    old = (proof_pages.load("notebooks") or {"notebooks": {}})["notebooks"]
    kept = {name: row for name, row in old.items() if name not in new and is_current(name, row)}
    proof_pages.save("notebooks", {"when": datetime.now(UTC).isoformat(timespec="minutes"),
                                   "notebooks": {**kept, **new}})


def is_current(name, row):
    path = ROOT / "notebooks" / f"{name}.ipynb"
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == row["digest"]

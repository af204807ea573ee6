"""Run notebooks from top to bottom and store their outputs, so that a diff shows what changed.

    python tools/execute_notebooks.py         all of notebooks/
    python tools/execute_notebooks.py 03 05   those whose names begin so
"""

import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
ENCRYPTED = Config(KernelManager={"transport_encryption": "auto"})  # or the kernel complains
# What needs a running kernel: without one an editor shows an error in its place, not the picture.
WIDGET = "application/vnd.jupyter.widget-view+json"
KEPT = ("tags", "jupyter", "mystnb")  # a cell's metadata that the book uses


def main(prefixes):
    paths = [path for path in sorted(NOTEBOOKS.glob("*.ipynb"))
             if not prefixes or path.name.startswith(tuple(prefixes))]
    if not paths:
        sys.exit(f"No notebook's name begins with {' or '.join(prefixes) or 'anything'}.")
    failed = [path.name for path in paths if not execute(path)]
    if failed:
        sys.exit(f"Not stored, because of the errors above: {', '.join(failed)}.")


def execute(path):
    """Run one notebook and store it; leave it as it was if a cell fails or writes to stderr."""
    print(f"{path.name} ...", end=" ", flush=True)
    os.environ.setdefault("CI", "true")  # an automatic run: no exercise counts as tried
    start = time.monotonic()
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, kernel_name="python3", timeout=120, record_timing=False, config=ENCRYPTED,
        coalesce_streams=True,  # or the pieces depend on the moment of writing
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        print(f"failed\n{error}", flush=True)
        return False
    complaints = [output.text for cell in notebook.cells for output in cell.get("outputs", [])
                  if output.get("name") == "stderr"]
    if complaints:
        print("wrote to stderr:\n" + "".join(complaints), flush=True)
        return False
    tidy(notebook)
    nbformat.write(notebook, path)
    print(f"{time.monotonic() - start:.0f} s", flush=True)
    return True


def tidy(notebook):
    """Drop what differs between runs: versions, times, an editor's settings, a live figure's id."""
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in KEPT if key in cell.metadata}
        if cell.cell_type == "code":
            cell.outputs = joined(cell.outputs)
            for output in cell.outputs:
                output.get("data", {}).pop(WIDGET, None)


def joined(outputs):
    """Join printed text that a busy machine has delivered in several pieces."""
    result = []
    for output in outputs:
        last = result[-1] if result else {}
        if output.output_type == "stream" and output.name == last.get("name"):
            last["text"] += output.text
        else:
            result.append(output)
    return result


if __name__ == "__main__":
    main(sys.argv[1:])

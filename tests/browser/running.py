"""Run a chapter in JupyterLite, in a real browser, and read what its cells gave."""

import re

import build_lite
from notebook_reading import cells, data, source, tags

CELLS = ".jp-Notebook .jp-CodeCell"
READY = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await window.jupyterapp.commands.execute("notebook:clear-all-cell-outputs");
}"""
RUN_ALL = """() => {
  window.bookRun = "running";
  window.jupyterapp.commands.execute("notebook:run-all-cells").then(
    () => { window.bookRun = "done"; }, error => { window.bookRun = String(error); });
}"""
RUN_FIRST = """async () => {
  const {content} = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = content.widgets.findIndex(cell => cell.model.type === "code");
  await window.jupyterapp.commands.execute("notebook:run-cell");
  return content.activeCell.model.outputs.length;
}"""
STORED = "() => window.jupyterapp.shell.currentWidget.content.model.toJSON()"
PICTURE = re.compile(r'src="data:[^"]*"')
TEXTS = {"text/plain", "text/markdown", "text/html"}


def chapters():
    """Return the files of the chapters that run in a browser."""
    return build_lite.chapters()


def open_chapter(page, site, name):
    page.goto(f"{site}lite/notebooks/index.html?path={name}.ipynb")
    page.wait_for_selector(CELLS, timeout=60_000)


def run_all(page, minutes=6):
    """Run all cells from nothing; return the notebook as the browser then has it."""
    page.evaluate(READY)
    page.evaluate(RUN_ALL)
    page.wait_for_function("() => window.bookRun !== 'running'", timeout=minutes * 60_000)
    assert page.evaluate("window.bookRun") == "done"
    return page.evaluate(STORED)


def run_first(page):
    """Run the first code cell and wait for its output."""
    page.evaluate(READY)
    assert page.evaluate(RUN_FIRST) > 0


def printed(cell):
    """Return what a cell printed and showed, as text; a picture counts by its description."""
    streams, shown = "", []
    for output in cell["outputs"]:
        forms = data(output)
        if output["output_type"] == "stream":
            streams += forms["text/plain"]
        elif output["output_type"] == "error":
            shown.append(f"{output['ename']}: {output['evalue']}")
        else:
            shown += [PICTURE.sub("", forms[kind]) for kind in sorted(forms) if kind in TEXTS]
    return streams, shown


def complaints(notebook):
    """Return the errors nobody planned, and all that was written to stderr."""
    found = []
    for number, cell in enumerate(cells(notebook), start=1):
        for output in cell["outputs"]:
            if output["output_type"] == "error" and "raises-exception" not in tags(cell):
                found.append(f"code cell {number}: {output['ename']}: {output['evalue']}")
            if output.get("name") == "stderr":
                found.append(f"code cell {number} wrote to stderr: {data(output)['text/plain']}")
        if cell["execution_count"] is None and source(cell).strip():
            found.append(f"code cell {number} did not run")
    return found


def differences(stored, notebook):
    """Return where the stored outputs and the browser's are not the same."""
    here, there = cells(stored), cells(notebook)
    assert len(here) == len(there)
    found = []
    for number, (old, new) in enumerate(zip(here, there, strict=True), start=1):
        if "nbval-ignore-output" not in tags(old) and printed(old) != printed(new):
            found.append(f"code cell {number} stored: {printed(old)}\n"
                         f"in the browser: {printed(new)}")
    return found

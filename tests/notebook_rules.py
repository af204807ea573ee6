"""The rules every chapter keeps. A rule takes a notebook and gives a sentence for each fault."""

import ast
import re
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import check_site  # noqa: E402
from code_shapes import functions, shape  # noqa: E402
from notebook_reading import (  # noqa: E402
    bound,
    called,
    cells,
    data,
    headings,
    imports,
    markdown,
    outputs,
    section,
    source,
    tags,
    tree,
    where,
)

LONGEST_CELL = 12
WIDEST_LINE = 70  # what a page of 1280 pixels shows in the widest of the fonts, and one to spare
HIDDEN = {"hide-input", "hide-cell", "remove-cell"}
SECTIONS = ["Recap", "Exercises", "In practice", "Further reading"]
CELL_METADATA = {"tags", "jupyter", "mystnb"}
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
PREDICTION = r"^((?:> *)\*\*Predict\.\*\*.*(?:\n>.*)*)\n*((?:(?!^>).*\n)*)"
ANSWER = r"<details>\s*<summary>Answer</summary>\n\n(.*?)\n\n</details>"
DIRECTIVES = {
    "a role": re.compile(r"\{[a-z:+-]+\}`"),
    "a colon fence": re.compile(r"^:::", re.MULTILINE),
    "a directive": re.compile(r"^[`~]{3,}\{", re.MULTILINE),
    "a label": re.compile(r"^\([\w-]+\)=\s*$", re.MULTILINE),
}
MACHINE_TEXT = {
    "an object's address": re.compile(r"\b0x[0-9a-fA-F]{6,}"),
    "a bare representation": re.compile(r"<(?:Figure size|Axes|function|module|built-in|generator"
                                        r"|class|matplotlib|bound method)\b"),
    "a machine's path": re.compile(r"(?:/home/|/root/|/tmp/|/Users/|[A-Z]:\\Users)"),
    "digits that another machine may change": re.compile(r"\d\.\d{12,}"),
}
READERS = {"open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_text",
           "read_bytes", "read_csv", "urlopen", "urlretrieve", "system", "Popen"}
READING_MODULES = {"urllib", "requests", "http", "pathlib", "subprocess", "os", "io", "shutil"}
CLOCKS = {"perf_counter", "perf_counter_ns", "process_time", "monotonic", "timeit"}


@cache
def listed_tags():
    """Return the tags that CONTRIBUTING lists in its table."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Cell tags")[2].partition("\n## ")[0]
    return frozenset(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE))


def only_listed_tags(notebook):
    for cell in notebook["cells"]:
        unknown = tags(cell) - listed_tags()
        if unknown:
            yield f"{where(cell)}: tags that CONTRIBUTING does not list: {sorted(unknown)}"
        if "claim" in tags(cell) and "remove-cell" not in tags(cell):
            yield f"{where(cell)}: a claim is not removed from the page"
        if "NBVAL" in source(cell) and cell["cell_type"] == "code":
            yield f"{where(cell)}: nbval is steered by a comment; use a tag"


def claims_assert(notebook):
    for cell in cells(notebook, tag="claim"):
        if not any(isinstance(node, ast.Assert) for node in ast.walk(tree(cell))):
            yield f"{where(cell)}: a claim without an assert"


def run_in_order(notebook):
    counts = [cell["execution_count"] for cell in cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"execution counts are {counts}: run `make notebooks`"


def no_errors_stored(notebook):
    for cell, output in outputs(notebook):
        if output["output_type"] == "error" and "raises-exception" not in tags(cell):
            yield f"{where(cell)}: stored an error"
        if output.get("name") == "stderr":
            yield f"{where(cell)}: wrote to stderr"
    for cell in cells(notebook, tag="raises-exception"):
        if not any(output["output_type"] == "error" for output in cell["outputs"]):
            yield f"{where(cell)}: raises-exception, but nothing was raised"


def short_cells(notebook):
    for cell in cells(notebook):
        n_lines = len(source(cell).splitlines())
        if n_lines > LONGEST_CELL and not tags(cell) & HIDDEN:
            yield f"{where(cell)}: {n_lines} visible lines"


def lines_fit(notebook):
    """No line of code, and none that a cell prints, is longer than the page shows."""
    for cell in cells(notebook):
        if "remove-cell" in tags(cell):
            continue
        forms = [data(output) for output in cell["outputs"]]
        texts = [form.get("text/plain", "") for form in forms
                 if "text/html" not in form and "image/png" not in form]
        texts += ["\n".join(output.get("traceback", [])) for output in cell["outputs"]]
        for line in "\n".join([source(cell), *texts]).splitlines():
            if len(line) > WIDEST_LINE:
                yield f"{where(cell)}: {len(line)} characters: {line}"


def predictions_answered(notebook):
    """A folded answer stands directly under each box that asks to predict, and is no mere word."""
    text = "\n".join(source(cell) + "\n(cell)" for cell in notebook["cells"]
                     if cell["cell_type"] == "markdown")
    for box, after in re.findall(PREDICTION, text, re.MULTILINE):
        answer = re.match(ANSWER, after, re.DOTALL)
        if not answer or len(answer[1].split()) < 4:
            yield f"not answered directly below: {box.strip()[:70]}"


def alt_texts(notebook):
    for cell, output in outputs(notebook):
        forms = data(output)
        stated = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        pictures = [media for media in forms if media.startswith("image/")]
        images = re.findall(r"<img\b[^>]*>", forms.get("text/html", ""))
        if pictures and not images and not stated.strip():
            yield f"{where(cell)}: an image without alt text"
        for image in images:
            if not re.search(r"\balt=([\"'])\s*[^\s\"'][^\"']*\1", image):
                yield f"{where(cell)}: <img> without alt text"
    for alt in re.findall(r"!\[([^\]]*)\]\(", markdown(notebook)):
        if not alt.strip():
            yield "an image in the prose without alt text"


@cache
def package_bodies():
    """Return the body of every function of the package that is long enough to tell, by shape."""
    package = ROOT / "src" / "attention_book"
    found = {}
    for path in sorted(package.rglob("*.py")):
        if "exercises" not in path.relative_to(package).parts:
            for function in functions(ast.parse(path.read_text(encoding="utf-8"))):
                found[shape(function)] = f"{path.stem}.{function.name}"
    found.pop(None, None)
    return found


def no_pasted_bodies(notebook):
    for cell in cells(notebook):
        for function in functions(tree(cell)):
            twin = package_bodies().get(shape(function))
            if twin:
                yield f"{where(cell)}: {function.name} repeats {twin}: import it"


def unique_headings(notebook):
    titles = [title.lower() for _, title in headings(notebook)]
    for title in sorted({title for title in titles if titles.count(title) > 1}):
        yield f"two headings '{title}'"


def plain_markdown(notebook):
    text = "\n\n".join(source(cell) for cell in cells(notebook, "markdown"))
    for name, pattern in DIRECTIVES.items():
        for found in pattern.findall(text):
            yield f"{name} in the prose: {found.strip()}"
    for opening in re.findall(r"<details>(?!\s*<summary>).{0,40}", text, re.DOTALL):
        yield f"<details> without a <summary>: {opening!r}"
    if text.count("<details>") != text.count("</details>"):
        yield "<details> that is not closed"


def anatomy(notebook):
    yield from opening(notebook)
    second = [title for level, title in headings(notebook) if level == "##"]
    if second[-len(SECTIONS):] != SECTIONS:
        yield f"ends with the sections {second[-len(SECTIONS):]}, not {SECTIONS}"
    if sum(level == "#" for level, _ in headings(notebook)) != 1:
        yield "has not exactly one title"
    recap = section(notebook, "Recap")
    if len(re.findall(r"^(?:[-*]|\d\.) ", recap, re.MULTILINE)) != 3:
        yield "the recap is not a list of three lines"
    if len(section(notebook, "In practice").split()) < 20:
        yield "'In practice' says next to nothing"
    further = [line for line in section(notebook, "Further reading").splitlines()
               if line.startswith("- ")]
    if len(further) != 3:
        yield f"'Further reading' has {len(further)} items, and not three"
    for item in further:
        if "bibliography.md#" not in item or len(item.partition(")")[2].split()) < 5:
            yield f"'Further reading' cites nothing, or does not say what is in it: {item}"


def opening(notebook):
    """Title, promises, map, imports."""
    kinds = [cell["cell_type"] for cell in notebook["cells"]]
    first = source(notebook["cells"][0])
    if kinds[0] != "markdown" or not first.startswith("# "):
        yield "does not begin with its title"
    for lead in ("You will build", "You need", "Reading time"):
        if not re.search(rf"^\*\*{lead}\.?\*\*", first, re.MULTILINE):
            yield f"its first cell has no **{lead}**"
    code = cells(notebook)
    if "the_map(" not in source(code[0]) or kinds[1] != "code":
        yield "the map is not the first thing after the title"
    lent = bound(tree(code[0])) - bound(tree(code[1]))
    for cell in code[2:]:
        names = {node.id for node in ast.walk(tree(cell)) if isinstance(node, ast.Name)}
        if names & lent:
            yield f"{where(cell)}: {sorted(names & lent)} are known from the map's cell alone"
    for cell in code[2:]:
        own_figure = set(imports(tree(cell))) <= {"attention_book.explorables"}
        if imports(tree(cell)) and not tags(cell) & {"remove-cell", "hide-cell"} and not (
                own_figure and "hide-input" in tags(cell)):
            yield f"{where(cell)}: imports again; the second code cell imports everything"


def seeded_generators(notebook):
    """The second code cell makes rng; a cell that shows what it draws makes one of its own."""
    seeds = []
    for cell in cells(notebook):
        for node in ast.walk(tree(cell)):
            text = ast.unparse(node) if isinstance(node, ast.Call) else ""
            if text.startswith(("np.random.", "numpy.random.", "random.", "default_rng(")):
                seed = re.fullmatch(r"np\.random\.default_rng\((\d+)\)", text)
                seeds += [seed and seed[1]]
                if not seed or "rng" not in bound(tree(cell)):
                    yield f"{where(cell)}: {text} is not rng = np.random.default_rng(NUMBER)"
    if seeds[:1] != ["0"] or "default_rng(0)" not in source(cells(notebook)[1]):
        yield "the second code cell does not make rng = np.random.default_rng(0)"
    if len(seeds) != len(set(seeds)):
        yield f"two cells draw the same numbers: the seeds are {seeds}"


def reads_nothing(notebook):
    for cell in cells(notebook):
        if re.search(r"^\s*[%!]", source(cell), re.MULTILINE):
            yield f"{where(cell)}: a magic or a shell command"
            continue
        for name in imports(tree(cell)):
            if name.partition(".")[0] in READING_MODULES:
                yield f"{where(cell)}: imports {name}"
        for node in ast.walk(tree(cell)):
            if isinstance(node, ast.Call) and called(node) in READERS:
                yield f"{where(cell)}: {ast.unparse(node)[:60]} reads or runs something outside"


def no_other_host(notebook):
    texts = [data(output).get("text/html", "") for _, output in outputs(notebook)]
    texts += [source(cell) for cell in cells(notebook, "markdown")]
    for text in texts:
        reader = check_site.Reader()
        reader.feed(text)
        loads = reader.page.loads + re.findall(r"!\[[^\]]*\]\(([^)\s]+)", text)
        yield from (f"loads {url}" for url in loads if check_site.OTHER_HOST.match(url))
    for _, output in outputs(notebook):
        for media in data(output):
            if "javascript" in media:
                yield f"an output of type {media}"


def same_on_every_machine(notebook):
    for cell, output in outputs(notebook):
        if "nbval-ignore-output" in tags(cell):
            continue
        shown = data(output).get("text/plain", "")
        for name, pattern in MACHINE_TEXT.items():
            if pattern.search(shown):
                yield f"{where(cell)}: {name} in its output: {pattern.search(shown)[0]}"


def only_timings_ignored(notebook):
    measured = set(CLOCKS)
    for cell in cells(notebook):
        names = {node.id for node in ast.walk(tree(cell)) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree(cell)) if isinstance(node, ast.Attribute)}
        timed = bool(names & measured)
        if timed:
            measured |= bound(tree(cell))
        if "nbval-ignore-output" in tags(cell) and not timed:
            yield f"{where(cell)}: its output is ignored, but it measures no time"


def tidy(notebook):
    if notebook["metadata"] != NOTEBOOK_METADATA:
        yield "the notebook's metadata is an editor's own: run `make notebooks`"
    for cell in notebook["cells"]:
        extra = set(cell["metadata"]) - CELL_METADATA
        if extra:
            yield f"{where(cell)}: metadata {sorted(extra)}: run `make notebooks`"
        if not cell.get("id"):
            yield f"{where(cell)}: has no id"
        if not source(cell).strip():
            yield f"{where(cell)}: is empty"
        if source(cell) != source(cell).strip("\n"):
            yield f"{where(cell)}: begins or ends with an empty line"
        names = [output.get("name") for output in cell.get("outputs", [])]
        if any(name and name == after for name, after in pairwise(names)):
            yield f"{where(cell)}: its printed text is in pieces: run `make notebooks`"


RULES = [
    only_listed_tags, claims_assert, run_in_order, no_errors_stored, short_cells, lines_fit,
    predictions_answered, alt_texts, no_pasted_bodies, unique_headings, plain_markdown, anatomy,
    seeded_generators, reads_nothing, no_other_host, same_on_every_machine, only_timings_ignored,
    tidy,
]

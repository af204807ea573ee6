"""What a reader sees: in a terminal, in a notebook, and the same on every machine."""

import inspect
import os
import re
import subprocess
import sys
from html.parser import HTMLParser

import nbformat
import pytest
from nbclient import NotebookClient

from attention_book.exercises import catalogue, check
from attention_book.exercises.verdicts import WIDTH

right = catalogue()["softmax"].solution
VERDICTS = [check("softmax", right), check("softmax", lambda x: x / x.sum(axis=-1, keepdims=True)),
            check("softmax", ...), check("predict_shifted_softmax", [0, 0, 1]),
            check("softmax", lambda x: "<b>&")]
SIGNS = {None: "✓", "not-attempted": "○"}
SHOWN = pytest.mark.parametrize("result", VERDICTS, ids=lambda result: str(result.diagnosis))


@SHOWN
def test_a_terminal_shows_the_sign_the_name_and_the_message(result):
    first, _, rest = repr(result).partition("\n")
    assert first.startswith(SIGNS.get(result.diagnosis, "✗") + " ")
    assert first.endswith("passed" if result.passed else result.diagnosis)
    assert rest == result.message
    assert all(len(line) <= WIDTH for line in repr(result).splitlines())


class Reader(HTMLParser):
    """Collects the text of a page and checks that every element is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + " "


@SHOWN
def test_a_notebook_shows_the_same_words(result):
    reader = Reader(result._repr_html_())
    assert reader.open == []
    assert re.sub(r"\W", "", reader.text) == re.sub(r"\W", "", repr(result))
    assert reader.text.split()[0] == SIGNS.get(result.diagnosis, "✗")


def test_a_stub_is_no_failure_to_look_at():
    """Passed, failed and not begun differ in sign and in colour; grey is neither good nor bad."""
    colours = {}
    for result in VERDICTS:
        sign, page = repr(result)[0], result._repr_html_()
        found = set(re.findall(r"#\w{6}", page))
        assert len(found) == 1, page  # badge and edge have one colour
        colours.setdefault(sign, found).update(found)
    assert set(colours) == {"✓", "✗", "○"}
    assert len(set.union(*colours.values())) == 3 == sum(map(len, colours.values()))
    grey = colours["○"].pop()
    channels = [int(grey[i:i + 2], 16) for i in (1, 3, 5)]
    assert max(channels) - min(channels) <= 10


def test_what_an_answer_says_is_not_taken_for_html():
    def shouts(x):
        raise ValueError("<script>alert(1)</script>")

    page = check("softmax", shouts)._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@SHOWN
def test_the_sign_is_legible_and_the_text_keeps_the_page_s_colours(result):
    page = result._repr_html_()
    ground = re.search(r"background:(#\w{6});color:#fff", page).group(1)
    assert 1.05 / (luminance(ground) + 0.05) >= 4.5
    assert page.count("color:") == 1  # everything else has the colours of the page, light or dark


def run_cells(*sources):
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources],
        metadata={"kernelspec": {"name": "python3", "display_name": "", "language": "python"}})
    NotebookClient(notebook, timeout=60).execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Run a notebook of right, wrong and hostile answers to its end in a real kernel."""
    solution = inspect.getsource(right).replace("_solve_softmax", "softmax")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("notebook"))
        return run_cells(
            "import numpy as np\nfrom attention_book.exercises import check, progress",
            "def softmax(x): ...\ncheck('softmax', softmax)",
            "result = check('softmax', lambda x: x / x.sum(axis=-1, keepdims=True))",
            "result",
            f"{solution}\ncheck('softmax', softmax)",
            "check('softmax', lambda x: exit())",
            "check('softmax', lambda x: display(x))",
            "def oops(x):\n    return 1 / zero\ncheck('softmax', oops)",
            "def endless(x):\n    while True:\n        try:\n            np.exp(x)\n"
            "        except:\n            pass\ncheck('softmax', endless)",
            "check('softmax', lambda x: np.zeros((10**6, 10**5)))",
            "np.exp(1.0).round(2)",
        )


def text(outputs):
    assert len(outputs) == 1, outputs
    return outputs[0]["data"]["text/plain"]


@pytest.mark.parametrize(("position", "wanted"), [
    (1, "○ softmax: not-attempted"), (2, "✗ softmax: sum-normalised"),
    (3, "✗ softmax: sum-normalised"), (4, "✓ softmax: passed"), (5, "✗ softmax: raises"),
    (6, "✗ softmax: prints-instead-of-returning"), (7, "✗ softmax: raises"),
    (8, "✗ softmax: too-slow"), (9, "✗ softmax: raises"), (10, "np.float64(2.72)"),
])
def test_every_cell_shows_one_verdict_and_the_notebook_runs_on(cells, position, wanted):
    assert text(cells[position]).startswith(wanted)
    if "softmax" in wanted:
        assert cells[position][0]["data"]["text/html"].startswith("<div")


def test_a_learner_s_line_is_found_in_a_notebook(cells):
    assert "at your line `return 1 / zero`" in text(cells[7])


def test_nothing_in_a_verdict_depends_on_the_machine(cells):
    for outputs in cells[1:]:
        assert not re.search(r"0x[0-9a-f]|/tmp|ipykernel|\bline \d|[\\/]\w+\.py", text(outputs))


CODE = ("from attention_book.exercises import check\n"
        "check('predict_shifted_softmax', [0.125, 0.25, 0.625])")


def run_python(*arguments, **environment):
    environment = os.environ | {"PYTHONUTF8": "1"} | environment
    running = subprocess.run([sys.executable, *arguments], capture_output=True, check=True,
                             encoding="utf-8", env=environment, timeout=60)
    assert running.stderr == ""
    return running.stdout


def test_a_verdict_is_shown_once_in_ipython(tmp_path):
    shown = run_python("-m", "IPython", "--no-banner", "--quick", "-c", CODE,
                       IPYTHONDIR=str(tmp_path))
    assert shown.count("✓ predict_shifted_softmax: passed") == 1


def test_plain_python_shows_nothing_by_itself_and_a_result_can_be_printed():
    assert run_python("-c", CODE) == ""
    assert run_python("-c", CODE.replace("check(", "print(check(") + ")").startswith("✓ predict")

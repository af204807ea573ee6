"""The tools find what they are for, and say it in a sentence."""

import asyncio
import gzip
import http.client
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from docutils import nodes
from docutils.utils import new_document

import exercise_score
from attention_book.exercises import catalogue

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import attention_site  # noqa: E402
import proof_pages  # noqa: E402

import check_site  # noqa: E402
import execute_notebooks  # noqa: E402
import external_links  # noqa: E402
import run_suites  # noqa: E402
import serve  # noqa: E402
import set_up  # noqa: E402

WORDS = "word " * check_site.FEWEST_WORDS
GOOD = f"""<html lang="en"><head><link rel="stylesheet" href="../_static/site.css">
<meta name="description" content="A page."></head><body><article><h2 id="here">Here</h2>
<p>{WORDS}<a href="#here">up</a> <a href="other.html#there">there</a>
<a href="https://example.org/paper">a paper</a> <img src="../_static/a.svg" alt="A square">
<div class="cell_output"></div></p></article></body></html>"""


@pytest.fixture
def site(tmp_path):
    """Return the folder of a small site without a fault."""
    for name, content in {
        "notebooks/01.html": GOOD,
        "notebooks/other.html": GOOD.replace('id="here"', 'id="there"').replace("#here", "#there"),
        "_static/site.css": "p { color: red; background: url(a.svg) }",
        "_static/a.svg": "<svg/>",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


def test_good_site_has_no_fault(site):
    assert check_site.check(site) == []


@pytest.mark.parametrize(("old", "new", "fault"), [
    (WORDS, "Two words.", "came out empty"),
    ('<div class="cell_output"></div>', "", "without one output"),
    ("other.html#there", "other.html#where", "without that place"),
    ('href="#here"', 'href="#nowhere"', "without that place"),
    ("other.html#there", "gone.html", "dead link"),
    ("../_static/a.svg", "../_static/b.svg", "dead link"),
    ("../_static/site.css", "https://cdn.example.org/x.css", "loads https://cdn"),
    ("../_static/a.svg", "//cdn.example.org/x.png", "loads //cdn"),
    ("other.html#there", "/notebooks/other.html", "breaks under a prefix"),
    (' alt="A square"', "", "without alt text"),
    ('<meta name="description" content="A page.">', "", "no description"),
    ("</body>", "<script>import('https://cdn.example.org/x.js')</script></body>", "loads https"),
    ("</body>", '<script src="http://cdn.example.org/x.js"></script></body>', "loads http"),
    ("</body>", "<style>p{background:url('https://e.org/a.png')}</style></body>", "loads https"),
    ("</body>", '<p style="background:url(//e.org/a.png)"></p></body>', "loads //e.org"),
])
def test_fault_of_a_page_is_found(site, old, new, fault):
    page = site / "notebooks" / "01.html"
    content = page.read_text(encoding="utf-8")
    assert old in content
    page.write_text(content.replace(old, new), encoding="utf-8")
    assert any(fault in found for found in check_site.check(site))


def test_style_sheet_from_another_host_is_found(site):
    (site / "_static" / "site.css").write_text("@import 'https://f.org/a.css';", encoding="utf-8")
    assert check_site.check(site) == ["_static/site.css: loads https://f.org/a.css"]


def test_no_page_at_all_is_a_fault(tmp_path):
    assert check_site.check(tmp_path) == ["there is no page at all"]


def quote(*children):
    paragraph = nodes.paragraph()
    paragraph += children
    block = nodes.block_quote()
    block += paragraph
    return block


@pytest.mark.parametrize(("words", "kind"), [
    ("Predict.", "predict"), ("Exercise", "exercise"), ("In practice:", "in-practice"),
    ("Pitfall.", "pitfall"), ("Predictable", None), ("Note", None)])
def test_kind_of_a_box(words, kind):
    block = quote(nodes.Text(""), nodes.strong("", words), nodes.Text(" What?"))
    assert attention_site.box_kind(block) == kind


def test_quote_without_a_bold_word_is_no_box():
    assert attention_site.box_kind(quote(nodes.Text("Predict."))) is None
    assert attention_site.box_kind(nodes.block_quote()) is None


@pytest.mark.parametrize(("tags", "label"), [
    (["solution", "hide-cell"], "Show a solution"), (["check", "hide-output"], "Show the verdict"),
    (["hide-input"], "Show the code")])
def test_what_unfolds_a_cell_says_what_is_in_it(tags, label):
    page = new_document("page")
    page += nodes.container(classes=["cell", *(f"tag_{tag}" for tag in tags)],
                            prompt_show="Show the code", prompt_hide="Hide the code")
    attention_site.FoldLabels(page).apply()
    assert page[0]["prompt_show"] == label
    assert page[0]["prompt_hide"].split()[-1] == label.split()[-1]


def small_notebook(tmp_path, code):
    language = {"name": "python", "version": "3.1"}
    notebook = nbformat.v4.new_notebook(metadata={"language_info": language})
    notebook.cells = [nbformat.v4.new_code_cell(code, metadata={
        "tags": ["claim"], "execution": {"iopub": "now"}, "collapsed": True})]
    path = tmp_path / "a.ipynb"
    nbformat.write(notebook, path)
    return path


def test_execution_is_stable(tmp_path):
    path = small_notebook(tmp_path, "print(6 * 7)")
    names = [cell.id for cell in nbformat.read(path, as_version=4).cells]
    assert execute_notebooks.execute(path)
    first = path.read_bytes()
    assert execute_notebooks.execute(path)
    assert path.read_bytes() == first
    cell = nbformat.read(path, as_version=4).cells[0]
    assert cell.outputs[0].text == "42\n"
    assert cell.metadata == {"tags": ["claim"]}
    assert [cell.id] == names
    assert b"3.1" not in first


def test_printed_text_is_stored_in_one_piece():
    def piece(text, name="stdout"):
        return nbformat.v4.new_output("stream", name=name, text=text)

    figure = nbformat.v4.new_output("display_data")
    pieces = [piece("a"), piece("b\n"), figure, piece("c"), piece("d", "stderr")]
    found = [output.get("text") for output in execute_notebooks.joined(pieces)]
    assert found == ["ab\n", None, "c", "d"]


def test_execution_counts_no_exercise_as_tried(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    code = "from attention_book.exercises import check\ncheck('dot_product', max).diagnosis"
    assert execute_notebooks.execute(small_notebook(tmp_path, code))
    assert [path.name for path in tmp_path.iterdir()] == ["a.ipynb"]


def test_a_moving_figure_is_stored_as_a_page_shows_it(tmp_path):
    path = small_notebook(tmp_path, "from attention_book.explorables import Agreement\nAgreement()")
    assert execute_notebooks.execute(path)
    first = path.read_bytes()
    assert execute_notebooks.execute(path)
    assert path.read_bytes() == first
    notebook = nbformat.read(path, as_version=4)
    assert set(notebook.cells[0].outputs[0].data) == {"text/plain", "text/html"}
    assert set(notebook.metadata) == {"kernelspec", "language_info"}


@pytest.mark.parametrize("code", ["1 / 0", "import sys\nprint('oh', file=sys.stderr)"])
def test_failing_notebook_is_left_as_it_was(tmp_path, code, capsys):
    path = small_notebook(tmp_path, code)
    before = path.read_bytes()
    assert not execute_notebooks.execute(path)
    assert path.read_bytes() == before
    assert "ZeroDivisionError" in capsys.readouterr().out or "oh" in code


def suite(command, **more):
    return run_suites.Suite("x", "something", command, 0.1, **more)


def test_suite_passes_and_fails_by_its_exit_code():
    assert run_suites.run(suite([sys.executable, "-c", ""]))[0] == "passed"
    assert run_suites.run(suite([sys.executable, "-c", "raise SystemExit(3)"]))[0] == "failed"


@pytest.mark.parametrize(("require_all", "verdict"), [("", "not run"), ("1", "failed")])
def test_missing_tool_is_said(monkeypatch, capsys, require_all, verdict):
    monkeypatch.setenv("REQUIRE_ALL", require_all)
    needs = suite(["no-such-program"], tools={"no-such-program": "install it with x"})
    assert run_suites.run(needs)[0] == verdict
    assert "no-such-program is missing: install it with x." in capsys.readouterr().out


def test_unknown_suite_is_refused():
    with pytest.raises(SystemExit, match=r"No such suite: lnt. There are: lint"):
        run_suites.main(["lnt"])


def test_old_python_gets_one_sentence(monkeypatch):
    monkeypatch.setattr(set_up, "OLDEST", (3, 99))
    with pytest.raises(SystemExit, match=r"needs Python 3\.\d+ or newer and this is 3\.\d+: "):
        set_up.check_python()


def test_missing_venv_module_gets_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(SystemExit, match=r"`ensurepip` is missing: .*apt-get install python3"):
        set_up.check_python()


@pytest.mark.parametrize(("log", "sentence"), [
    ("Retrying: NewConnectionError('x')", "could not reach the package index"),
    ("No matching distribution found for x", "could not install the packages")])
def test_failed_install_says_why(monkeypatch, tmp_path, capsys, log, sentence):
    monkeypatch.setattr(set_up, "LOG", str(tmp_path / "pip.log"))
    Path(set_up.LOG).write_text(log, encoding="utf-8")
    with pytest.raises(SystemExit, match=sentence):
        set_up.explain_failure()
    assert log in capsys.readouterr().err


def test_progress_follows_pip(capsys):
    progress = set_up.Progress(3)
    progress.see("Collecting numpy==2.4.6 (from -r requirements.txt (line 3))\n")
    progress.see("Processing /wheels/scipy-1.17.1-py3-none-any.whl (from -r x)\n")
    progress.see("  Downloading x.whl\n")
    progress.see("Ignoring appnope: markers don't match your environment\n")
    progress.show()
    assert "[  2/2]    0 s  scipy\n" in capsys.readouterr().out
    progress.see("Installing collected packages: a, b\n")
    progress.show()
    assert "unpacking" in capsys.readouterr().out
    assert not progress.rewrite


@pytest.fixture
def served(site):
    """Serve the small site in a thread; give its port."""
    (site / "index.html").write_text("<p>start</p>" * 200, encoding="utf-8")
    (site / "a.wasm").write_bytes(b"\0asm" * 500)
    listening = serve.listen("127.0.0.1", 0)
    port = listening.getsockname()[1]
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def run():
        server = serve.HTTPServer(serve.application(site))
        server.add_sockets([listening])
        ready.set()
        await stop.wait()
        server.stop()
        await server.close_all_connections()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    ready.wait(10)
    yield port
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()


def get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_server_answers(served):
    page, body = get(served, "/", **{"Accept-Encoding": "gzip"})
    assert (page.status, page.getheader("Content-Encoding")) == (200, "gzip")
    assert gzip.decompress(body).startswith(b"<p>start")
    assert page.getheader("Content-Type").startswith("text/html")
    assert get(served, "/a.wasm")[0].getheader("Content-Type") == "application/wasm"
    assert get(served, "/_static/site.css")[0].getheader("Content-Type").startswith("text/css")
    assert get(served, "/gone.html")[0].status == 404
    assert get(served, "/../Makefile")[0].status in (403, 404)


def test_server_never_serves_an_old_page(served, site):
    tag = get(served, "/")[0].getheader("Etag")
    assert get(served, "/", **{"If-None-Match": tag})[0].status == 304
    (site / "index.html").write_text("<p>new</p>", encoding="utf-8")
    page, body = get(served, "/", **{"If-None-Match": tag})
    assert (page.status, body) == (200, b"<p>new</p>")


def test_taken_port_gets_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit, match=rf"Port {port} is taken .* PORT={port + 1}"):
            serve.listen("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port", "sentence"), [
    ("no-such-host.invalid", 8000, "is not a name or address of this machine"),
    ("127.0.0.1", 99999, "There is no port 99999")])
def test_wrong_address_gets_one_sentence(host, port, sentence):
    with pytest.raises(SystemExit, match=sentence):
        serve.listen(host, port)


def test_make_help_says_what_there_is():
    answer = subprocess.run(["make", "-s", "help"], cwd=ROOT, check=True, capture_output=True,
                            text=True, env={**os.environ, "MAKEFLAGS": ""})
    assert "serve" in answer.stdout and "notebooks" in answer.stdout
    assert answer.stderr == ""


def proof_of(*rows):
    keys = ("mistakes", "ways", "rejected", "named", "variants", "accepted", "answers",
            "answers_rejected", "answers_named", "right_answers", "answers_accepted", "twins")
    return {"exercises": [{"id": name, "chapter": chapter, **dict(zip(keys, counts, strict=True))}
                          for name, chapter, counts in rows]}


def test_a_page_shows_what_the_tests_found(tmp_path, monkeypatch):
    monkeypatch.setattr(proof_pages, "PROOF", tmp_path)
    page = ["Before\n\n<!-- proof: exercises -->\n"]
    proof_pages.show_proof(None, "page", page)
    assert "Not checked in this build" in page[0]
    proof_pages.save("exercises", proof_of(
        ("softmax", "03_stable_softmax", (3, 2000, 2000, 1999, 4, 4, 7, 7, 5, 3, 2, 1)),
        ("project", "01_dot_products", (2, 5, 5, 5, 2, 2, 1, 1, 1, 1, 1, 0))))
    page = ["Before\n\n<!-- proof: exercises -->\n"]
    proof_pages.show_proof(None, "page", page)
    assert page[0].startswith(
        "Before\n\n| over all exercises | of | held | share |\n| --- | ---: |")
    assert "named as the mistake that they make | 2,005 | 2,004 | 99.9% |" in page[0]
    assert "| pairs of mistakes that cannot be told apart | | 1 | |" in page[0]
    assert "| 3 `softmax` | 3 | 2000/2000 | 1999/2000 | 4/4 | 1 |" in page[0]
    assert "| 3 `softmax` | 7/7 | 5/7 | 2/3 |" in page[0]


def test_figures_of_other_exercises_are_not_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(proof_pages, "PROOF", tmp_path)
    proof_pages.save("exercises", proof_of(("project", "01_dot_products", (1,) * 12)))
    assert proof_pages.load("exercises") is not None
    monkeypatch.setattr(proof_pages, "fingerprint", lambda name: "of changed exercises")
    assert proof_pages.load("exercises") is None


def test_the_score_is_counted_from_what_each_test_found():
    exercises = [exercise for exercise in catalogue() if exercise.id == "project"]
    found = [{"id": "project", "ways": 1, "rejected": 1, "named": 0},
             {"id": "project", "ways": 1, "rejected": 1, "named": 1}, {"id": "project", "twins": 2}]
    [row] = exercise_score.summary(exercises, found)
    assert (row["ways"], row["rejected"], row["named"], row["twins"]) == (2, 2, 1, 2)
    assert row["chapter"] == "01_dot_products" and row["mistakes"] == len(exercises[0].mistakes)
    assert row["answers"] == 0


def test_a_part_of_the_tests_makes_no_score(tmp_path, monkeypatch):
    monkeypatch.setattr(proof_pages, "PROOF", tmp_path)
    monkeypatch.setattr(exercise_score, "FOUND", [{"id": "project", "twins": 0}])
    lines = []
    exercise_score.report(SimpleNamespace(line=lines.append), list(catalogue()), [])
    assert "needs all of its tests: 1 of" in lines[0] and not list(tmp_path.iterdir())


def test_a_diagnosis_names_a_mistake_or_does_not():
    project = catalogue()["project"]
    assert exercise_score.is_named(project, project.mistakes[0].id)
    assert exercise_score.is_named(project, "raises")
    assert not exercise_score.is_named(project, "wrong-value")
    assert not exercise_score.is_named(project, "transposed")


@pytest.fixture
def building(tmp_path, monkeypatch):
    """Return a suite that builds one file of one source, in a folder of its own."""
    command = "import pathlib; pathlib.Path('_build/out.txt').write_text('built')"
    suite = run_suites.Suite("out", "it builds", [sys.executable, "-c", command], 1,
                             makes="out.txt")
    (tmp_path / "_build").mkdir()
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "page.md").write_text("one", encoding="utf-8")
    for name, value in {"ROOT": tmp_path, "BUILT": tmp_path / "_build", "SOURCES": ["book"],
                        "SUITES": [suite]}.items():
        monkeypatch.setattr(run_suites, name, value)
    return tmp_path


def test_what_has_not_changed_is_not_built_again(building, capfd):
    assert run_suites.main(["--changed", "out"]) == 0
    (building / "_build" / "out.txt").write_text("as it was", encoding="utf-8")
    assert run_suites.main(["--changed", "out"]) == 0
    assert "nothing has changed" in capfd.readouterr().out
    assert (building / "_build" / "out.txt").read_text(encoding="utf-8") == "as it was"


@pytest.mark.parametrize("change", [
    lambda folder: (folder / "book" / "page.md").write_text("two", encoding="utf-8"),
    lambda folder: (folder / "book" / "other.md").write_text("one", encoding="utf-8"),
    lambda folder: (folder / "_build" / "out.txt").unlink(),
    lambda folder: (folder / "_build" / "out.stamp").unlink(),
], ids=["changed", "new", "lost", "never finished"])
def test_what_has_changed_is_built_again(building, change):
    run_suites.main(["out"])
    (building / "_build" / "out.txt").write_text("as it was", encoding="utf-8")
    change(building)
    assert run_suites.main(["--changed", "out"]) == 0
    assert (building / "_build" / "out.txt").read_text(encoding="utf-8") == "built"


def test_asked_for_by_name_it_is_always_built(building):
    run_suites.main(["out"])
    (building / "_build" / "out.txt").write_text("as it was", encoding="utf-8")
    assert run_suites.main(["out"]) == 0
    assert (building / "_build" / "out.txt").read_text(encoding="utf-8") == "built"


def test_links_to_other_hosts_are_found_without_what_follows_them():
    text = ("See [a](https://a.org/b_(c)).\\\nOr <https://d.org/>, https://e.org/f; not "
            "http://localhost:8000 or https://OWNER.github.io/NAME.")
    assert external_links.addresses(text) == {"https://a.org/b_(c)", "https://d.org/",
                                              "https://e.org/f"}


def test_every_work_with_an_address_is_among_the_external_links():
    links = external_links.external_links()
    assert len(links) > 40
    assert links["https://arxiv.org/abs/1706.03762"] == ["book/bibliography.md"]
    assert not [link for link in links if not re.fullmatch(r"https?://[\w./()?=&%#~+-]+", link)]

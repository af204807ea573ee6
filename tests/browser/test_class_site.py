"""The class's own site, built from nothing: no solution in it, no other host, and checks work."""

import re
import sys
import zipfile
from pathlib import Path

import pytest
import running
import serving

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from classroom import chapters, class_site  # noqa: E402

import check_site  # noqa: E402

CHAPTER = "03_stable_softmax"
TEXTS = {".html", ".ipynb", ".js", ".json", ".md", ".txt", ".xml"}
ANSWER = "def my_softmax(x):\n    e = np.exp(x)\n    return e / e.sum(-1, keepdims=True)"
WRITE = """([name, text]) => {
  const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
  for (let i = 0; i < cells.length; i++) {
    const cell = cells.get(i).sharedModel;
    if (cell.getSource().startsWith(name)) { cell.setSource(text); return true; }
  }
  return false;
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return class_site.build_site(tmp_path_factory.mktemp("class") / "site")


def solutions_in(folder):
    """Return the exercises whose solution's name is in a folder's texts, and how many texts."""
    ids = {task.id for path in chapters.choose() for task in chapters.tasks(chapters.read(path))}
    files = [path for path in folder.rglob("*") if path.suffix in TEXTS]
    named = {name for path in files
             for name in re.findall(r"\b(\w+)_solution\b", path.read_text(encoding="utf-8"))}
    return ids & named, len(files)


def test_solutions_are_nowhere(site):
    found, files = solutions_in(site)
    assert found == set() and files > 100
    assert len(solutions_in(ROOT / "notebooks")[0]) > 50, "solutions are not found"


def test_chapters_have_their_stubs_and_checks(site):
    in_browser = {path.name for path in running.chapters()}
    for path in chapters.choose():
        lite = site / "lite" / "files"
        assert (lite / path.name).exists() == (path.name in in_browser)
        for folder in (site / "_sources" / "notebooks", lite)[: 1 + (path.name in in_browser)]:
            text = (folder / path.name).read_text(encoding="utf-8")
            for task in chapters.tasks(chapters.read(path)):
                assert task.answer in text and f'check(\\"{task.id}\\"' in text


def test_answers_in_the_package_are_packed(site):
    [wheel] = site.rglob("attention_book-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read("attention_book/exercises/stable_softmax.py").decode()
    assert text.startswith('"""Part of the exercises, packed') and "def " not in text


def test_no_page_is_empty_no_link_dead_no_other_host_asked(site):
    assert check_site.check(site) == []


def test_a_check_names_the_mistake_in_the_browser(site, visit):
    with serving.by_the_book(site) as port:
        page, watch = visit(f"127.0.0.1:{port}")
        running.open_chapter(page, f"http://127.0.0.1:{port}/", CHAPTER)
        page.evaluate(running.READY)
        assert page.evaluate(WRITE, ["def my_softmax", ANSWER])
        notebook = running.run_all(page)
    assert running.complaints(notebook) == [] and watch.complaints == []
    [cell] = [cell for cell in notebook["cells"] if 'check("softmax"' in cell["source"]]
    assert "✗ softmax: no-max-shift" in running.printed(cell)[1][-1]

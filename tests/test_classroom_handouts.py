"""What a class is handed: no solution in it, and all that it takes to run the chapters."""

import functools
import json
import os
import re
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom import chapters, class_site, handouts  # noqa: E402

from attention_book.exercises import catalogue  # noqa: E402

CHOSEN = chapters.choose("3,5")


def everything(notebook):
    """Return all text of a notebook: cells, outputs, metadata and attachments."""
    return json.dumps(notebook, ensure_ascii=False)


@functools.cache
def taught():
    """Return the text of all cells that are no solutions: what chapters teach is no secret."""
    return "\n".join(chapters.source(cell) for path in chapters.choose()
                     for cell in chapters.read(path)["cells"]
                     if "solution" not in chapters.tags(cell))


def traces(text, tasks):
    """Give what a text still holds of the solutions to some exercises."""
    for task in tasks:
        answer = chapters.source(task.solution).partition("\n\n\n")[0]
        lines = "".join(answer.splitlines(keepends=True)[1:])
        body = json.dumps(lines, ensure_ascii=False)[1:-1]
        if f"{task.id}_solution" in text:
            yield f"{task.id}: its name"
        if body and lines not in taught() and body in text:
            yield f"{task.id}: its lines"


@pytest.fixture(scope="module")
def zips(tmp_path_factory):
    """Return the two zips of chapters 3 and 5, unpacked."""
    place = tmp_path_factory.mktemp("handouts")
    for path in handouts.make_zips(CHOSEN, place):
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            archive.extractall(place)
    return place


@pytest.mark.parametrize("path", chapters.choose(), ids=lambda path: path.stem)
def test_no_trace_of_a_solution(path):
    notebook = chapters.read(path)
    tasks = chapters.tasks(notebook)
    stripped = chapters.without_solutions(notebook)
    assert list(traces(everything(stripped), tasks)) == []
    assert len(list(traces(everything(notebook), tasks))) >= len(tasks), "traces are not found"
    assert "solution is folded" not in everything(stripped)
    nbformat.validate(stripped)


@pytest.mark.parametrize("path", chapters.choose(), ids=lambda path: path.stem)
def test_stubs_checks_and_prose_stay(path):
    notebook = chapters.read(path)
    stripped = chapters.without_solutions(notebook)
    gone = [cell["id"] for cell in notebook["cells"] if "solution" in chapters.tags(cell)]
    assert [cell["id"] for cell in stripped["cells"]] == [
        cell["id"] for cell in notebook["cells"] if cell["id"] not in gone]
    for task in chapters.tasks(notebook):
        assert task.stub["id"] not in gone and task.check["id"] not in gone
        assert re.search(rf"^(def )?{task.answer}\b", chapters.source(task.stub), re.MULTILINE)


def test_solution_in_metadata_or_attachments_goes():
    notebook = chapters.read(CHOSEN[0])
    task = chapters.tasks(notebook)[1]
    task.stub["metadata"]["old"] = chapters.source(task.solution)
    task.solution["attachments"] = {"a.txt": {"text/plain": "softmax_solution"}}
    notebook["metadata"]["answers"] = "softmax_solution"
    assert "softmax_solution" not in everything(chapters.without_solutions(notebook))


def test_the_original_is_not_changed():
    notebook = chapters.read(CHOSEN[0])
    before = everything(notebook)
    chapters.without_solutions(notebook)
    assert everything(notebook) == before


def test_students_zip(zips):
    folder = zips / "attention-students"
    assert [path.name for path in sorted((folder / "notebooks").iterdir())] == [
        path.name for path in CHOSEN]
    tasks = [task for path in CHOSEN for task in chapters.tasks(chapters.read(path))]
    for path in folder.rglob("*"):
        if path.suffix in (".ipynb", ".md", ".txt"):
            assert list(traces(path.read_text(encoding="utf-8"), tasks)) == [], path
    lines = (folder / "requirements.txt").read_text(encoding="utf-8").split()
    assert (folder / lines[-1].removesuffix("[lab,model]")).is_file()
    assert "numpy==" in (folder / "versions.txt").read_text(encoding="utf-8")
    assert "JupyterLab" in (folder / "README.md").read_text(encoding="utf-8")


def test_teachers_zip(zips):
    folder = zips / "attention-teachers"
    for path in CHOSEN:
        copy = chapters.read(folder / "notebooks" / path.name)
        tasks = chapters.tasks(copy)
        assert tasks and all("solution" in chapters.tags(task.solution) for task in tasks)
        notes = (folder / "notes" / f"{path.stem}.md").read_text(encoding="utf-8")
        for task in tasks:
            for mistake in catalogue()[task.id].mistakes:
                assert f"| `{mistake.id}` |" in notes


@pytest.mark.parametrize(("who", "readable"), [("students", False), ("teachers", True)])
def test_answers_can_be_read_by_teachers_alone(zips, who, readable):
    [wheel] = (zips / f"attention-{who}" / "packages").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read("attention_book/exercises/stable_softmax.py").decode()
    assert ("\ndef " in text) == readable


@pytest.mark.parametrize("who", ["students", "teachers"])
def test_no_link_leads_nowhere(zips, who):
    folder = zips / f"attention-{who}"
    found = 0
    for path in [*folder.rglob("*.md"), *folder.rglob("*.ipynb")]:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join(chapters.source(cell) for cell in json.loads(text)["cells"]
                             if cell["cell_type"] == "markdown")
        for target in re.findall(r"(?<!!)\[[^\]\n]+\]\(([^)#\s]+)", text):
            if ":" not in target:
                found += 1
                assert (path.parent / target).exists(), f"{path.name}: {target}"
    assert found > 20


def test_same_files_make_the_same_zip(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("text", encoding="utf-8")
    first = handouts.zip_folder(folder, tmp_path / "a.zip").read_bytes()
    os.utime(folder / "a.txt", (10**9, 10**9))
    assert handouts.zip_folder(folder, tmp_path / "b.zip").read_bytes() == first


@pytest.mark.parametrize("wanted", ["3,99", "three", "-1"])
def test_unknown_chapter_is_refused(wanted):
    with pytest.raises(SystemExit, match=r"there is no chapter .*Write CHAPTERS=3,5"):
        chapters.choose(wanted)


def test_chapters_are_chosen_by_number():
    assert [path.name[:2] for path in chapters.choose(" 5, 3 3")] == ["03", "05"]
    assert len(chapters.choose("")) == len(list(chapters.NOTEBOOKS.glob("[0-9]*.ipynb")))


def test_the_site_is_built_from_chapters_without_solutions(tmp_path):
    class_site.copy_sources(tmp_path / "copy")
    for path in chapters.choose():
        tasks = chapters.tasks(chapters.read(path))
        text = (tmp_path / "copy" / "notebooks" / path.name).read_text(encoding="utf-8")
        assert list(traces(text, tasks)) == []
    assert (tmp_path / "copy" / "_toc.yml").is_file()
    package = tmp_path / "copy" / "src" / "attention_book"
    assert "packed" in (package / "exercises" / "stable_softmax.py").read_text(encoding="utf-8")
    assert "def softmax" in (package / "stable_softmax.py").read_text(encoding="utf-8")

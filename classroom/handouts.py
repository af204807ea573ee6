"""Make what a class is given: a zip for students, one for teachers, and a site without solutions.

    python -m classroom.handouts                       both zips, of all chapters
    python -m classroom.handouts --chapters 3,5        of chapters 3 and 5
    python -m classroom.handouts --site                the class's own site, too
"""

import argparse
import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat

from classroom import chapters
from classroom.class_site import build_site
from classroom.packing import pack
from classroom.teaching_notes import notes

sys.path.insert(0, str(chapters.ROOT / "tools"))

from build_lite import build_wheel

TARGET = chapters.ROOT / "_build" / "class"
READMES = Path(__file__).parent / "readme_files"
PAGES = ("bibliography.md", "glossary.md", "notation.md")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")
_LONG_AGO = (2020, 1, 1, 0, 0, 0)  # the same files make the same zip


def main(arguments):
    parser = argparse.ArgumentParser(prog="make handouts")
    parser.add_argument("--chapters", default="", help="such as 3,5; all without it")
    parser.add_argument("--site", action="store_true", help="build the class's own site as well")
    asked = parser.parse_args(arguments)
    paths = chapters.choose(asked.chapters)
    for path in make_zips(paths, TARGET):
        print(f"{path.relative_to(chapters.ROOT)}  {path.stat().st_size / 1e6:.1f} MB", flush=True)
    if asked.site:
        print(f"{build_site(TARGET / 'site').relative_to(chapters.ROOT)}  serve this folder")


def make_zips(paths, target):
    """Write the zips for students and for teachers; return their paths."""
    target.mkdir(parents=True, exist_ok=True)
    made = []
    for who, lay_out in (("students", lay_out_students), ("teachers", lay_out_teachers)):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / f"attention-{who}"
            lay_out(folder, paths)
            made.append(zip_folder(folder, target / f"attention-{who}.zip"))
    return made


def lay_out_students(folder, paths):
    """Fill a folder with what students get: chapters without solutions, and all to run them."""
    lay_out_common(folder, pack)
    for path in paths:
        write(folder / "notebooks" / path.name, chapters.without_solutions(chapters.read(path)))
    shutil.copyfile(READMES / "students.md", folder / "README.md")
    mend_links(folder)


def lay_out_teachers(folder, paths):
    """Fill a folder with what teachers get: chapters with solutions, and notes on each."""
    lay_out_common(folder)
    for path in paths:
        notebook = chapters.read(path)
        write(folder / "notebooks" / path.name, notebook)
        (folder / "notes").mkdir(exist_ok=True)
        text = notes(path.stem, [task.id for task in chapters.tasks(notebook)])
        (folder / "notes" / f"{path.stem}.md").write_text(text, encoding="utf-8")
    guide = chapters.ROOT / "book" / "teaching.md"
    if guide.exists():
        shutil.copyfile(guide, folder / "book" / guide.name)
    shutil.copyfile(READMES / "teachers.md", folder / "README.md")
    mend_links(folder)


def lay_out_common(folder, change=None):
    """Copy the package as a wheel, the versions it was tested with, and the pages of reference.

    ``change`` is called with the folder of the package, before it becomes a wheel.
    """
    (folder / "book").mkdir(parents=True)
    (folder / "packages").mkdir()
    wheel = build_wheel(folder / "packages", change)
    for name in PAGES:
        shutil.copyfile(chapters.ROOT / "book" / name, folder / "book" / name)
    for name in ("LICENSE", "LICENSE-TEXT"):
        shutil.copyfile(chapters.ROOT / name, folder / name)
    lock = (chapters.ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    versions = [line for line in lock if not line.startswith(("#", "-e"))]
    (folder / "versions.txt").write_text("\n".join(versions) + "\n", encoding="utf-8")
    (folder / "requirements.txt").write_text(
        f"-c versions.txt\n./packages/{wheel.name}[lab,model]\n", encoding="utf-8")


def write(path, notebook):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def mend_links(folder):
    """Turn links to what is not in the folder into plain words."""
    for path in [*folder.rglob("*.md"), *folder.rglob("*.ipynb")]:
        if path.suffix == ".md":
            path.write_text(mended(path.read_text(encoding="utf-8"), path), encoding="utf-8")
            continue
        notebook = chapters.read(path)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = mended(cell["source"], path)
        nbformat.write(notebook, path)


def mended(text, path):
    """Return a page's text with the links that lead nowhere from ``path`` as plain words."""
    def mend(found):
        words, target = found[1], found[2]
        leads_on = not target or ":" in target or (path.parent / target).exists()
        return found[0] if leads_on else words

    return _LINK.sub(mend, text)


def zip_folder(folder, target):
    """Write a folder into a zip, its own name first in each path; return the zip's path."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = path.relative_to(folder.parent).as_posix()
                entry = zipfile.ZipInfo(name, _LONG_AGO)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, path.read_bytes())
    return target


if __name__ == "__main__":
    main(sys.argv[1:])

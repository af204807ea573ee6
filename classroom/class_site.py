"""The class's own site: the book as it stands, built from chapters without their solutions."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat

from classroom import chapters
from classroom.packing import pack

SOURCES = ("book", "lite", "notebooks", "src", "tools", "_config.yml", "_toc.yml", "CHANGELOG.md",
           "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "LICENSE-TEXT", "README.md",
           "pyproject.toml", "requirements.txt", ".pyodide_cache")


def build_site(target):
    """Build the site, and its JupyterLite, from a copy without solutions; return its folder."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "book"
        copy_sources(copy)
        run(copy, ["tools/run_suites.py", "lite", "site", "links"])
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(copy / "_build" / "html", target)
    return target


def copy_sources(folder):
    """Copy what the site is built from, without the chapters' solutions and with packed answers."""
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints",
                                     ".attention_book_progress*")
    for name in SOURCES:
        path = chapters.ROOT / name
        if path.is_dir():
            shutil.copytree(path, folder / name, ignore=ignored)
        elif path.exists():
            shutil.copy2(path, folder / name)
    for path in chapters.choose():
        nbformat.write(chapters.without_solutions(chapters.read(path)),
                       folder / "notebooks" / path.name)
    pack(folder / "src" / "attention_book")


def run(folder, command):
    """Run one of the book's own commands in a folder; what it says is shown only if it fails."""
    environment = {**os.environ, "PYTHONUTF8": "1"}
    answer = subprocess.run([sys.executable, *command], cwd=folder, env=environment, text=True,
                            encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if answer.returncode:
        sys.exit(f"{answer.stdout}\nThe class's site could not be built; the reason is above.")

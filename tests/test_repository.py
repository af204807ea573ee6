"""The repository's own rules: what must be there, what must agree, and what must not be in it."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import attention_book

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import run_suites  # noqa: E402

REQUIRED = [
    ".ci/run", ".github/workflows/book.yml", ".gitignore", "CHANGELOG.md", "CITATION.cff",
    "CONTRIBUTING.md", "LICENSE", "LICENSE-TEXT", "Makefile", "README.md", "_config.yml",
    "_toc.yml", "book/bibliography.md", "book/chapter_template.md", "book/glossary.md",
    "book/index.md", "book/notation.md", "book/using_the_book.md", "pyproject.toml",
    "requirements.txt",
]
GENERATED = re.compile(
    r"(^|/)(_build|\.venv(-\w+)?|__pycache__|\.ipynb_checkpoints|\.[a-z]+_cache|\.hypothesis|node_modules)/"
    r"|\.egg-info/|\.py[co]$|\.attention_book_progress|(^|/)\.DS_Store$")
MACHINE_PATHS = re.compile("|".join(  # in pieces, so that this line is not one itself
    "/" + folder + "/" + r"\w" for folder in ("work", "root", "home", "Users")))
OTHER_OPENS = {"os.open", "Image.open"}  # which know no encoding
COMMENTS = re.compile(r"^\s*#.*$", re.MULTILINE)
IMAGES = {".png", ".jpg", ".ico", ".woff2", ".gz", ".whl"}


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def files():
    """Return the files of the repository: git's, or without git all that is not ignored."""
    if (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    names = (path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file())
    return [name for name in names if not GENERATED.search(name)]


def toc_files(node):
    """Give every file that a table of contents names, in its order."""
    if isinstance(node, dict):
        for key in ("root", "file"):
            if key in node:
                yield node[key]
        node = [node[key] for key in ("parts", "chapters", "sections") if key in node]
    if isinstance(node, list):
        for part in node:
            yield from toc_files(part)


@cache
def contents():
    return list(toc_files(yaml.safe_load(text("_toc.yml"))))


def machine_paths(words):
    return MACHINE_PATHS.findall(words)


def without_encoding(words):
    """Give the calls that read or write text in the platform's own encoding."""
    for node in ast.walk(ast.parse(words)):
        if not isinstance(node, ast.Call) or "encoding=" in ast.unparse(node):
            continue
        name = ast.unparse(node.func)
        if name in OTHER_OPENS:
            continue
        modes = [ast.unparse(part) for part in (*node.args[:2], *node.keywords)]
        binary = any(re.search(r"'[rwax+]*b[rwax+]*'$", mode) for mode in modes)
        if name.endswith((".read_text", ".write_text")) or (
                re.search(r"(^|\.)open$", name) and not binary):
            yield ast.unparse(node)


def locked():
    """Return the lock: name and version of each line, several where platforms differ."""
    found = {}
    for line in text("requirements.txt").splitlines():
        if line and not line.startswith(("#", "-e")):
            requirement = Requirement(line)
            version = str(requirement.specifier).removeprefix("==")
            found.setdefault(canonicalize_name(requirement.name), []).append(version)
    return found


def unmet(requirements, lock):
    """Give the requirements that the lock leaves open or breaks."""
    for requirement in map(Requirement, requirements):
        versions = lock.get(canonicalize_name(requirement.name), [])
        if not versions:
            yield f"{requirement.name} is not locked"
        for version in versions:
            if not requirement.specifier.contains(version, prereleases=True):
                yield f"{requirement} is locked at {version}"


@pytest.mark.parametrize("name", REQUIRED)
def test_required_file(name):
    assert text(name).strip(), f"{name} is empty"


def test_contents_name_existing_files():
    missing = [name for name in contents()
               if not any((ROOT / f"{name}{suffix}").is_file() for suffix in (".md", ".ipynb"))]
    assert missing == []


def test_every_page_is_in_the_contents_once():
    pages = [path.relative_to(ROOT).with_suffix("").as_posix()
             for folder, kind in (("book", "*.md"), ("notebooks", "*.ipynb"))
             for path in sorted((ROOT / folder).glob(kind))]
    assert sorted(name for name in contents() if "/" in name) == sorted(pages)


def test_chapters_stand_in_their_order():
    chapters = [name for name in contents() if name.startswith("notebooks/")]
    assert chapters == sorted(chapters)
    assert chapters


def test_the_first_page_says_of_every_chapter_what_it_gives():
    row = re.compile(r"^\| \[\d+ [^]]+\]\(\.\./(notebooks/\w+)\.ipynb\) \| \w", re.MULTILINE)
    rows = row.findall(text("book/index.md"))
    assert rows == [path for path in contents() if path.startswith("notebooks/")]


def test_toc_reader_finds_every_level():
    toc = {"root": "a", "parts": [{"caption": "x", "chapters": [
        {"file": "b", "sections": [{"file": "c"}]}, {"file": "d"}]}]}
    assert list(toc_files(toc)) == ["a", "b", "c", "d"]


def test_site_asks_no_other_host_and_executes_nothing():
    config = yaml.safe_load(text("_config.yml"))
    settings = config["sphinx"]["config"]
    assert config["execute"]["execute_notebooks"] == "off"
    assert config["only_build_toc_files"] is True
    assert "sphinx_thebe" not in settings["extensions"]
    assert settings["nb_ipywidgets_js"] == {}
    assert not re.search(r"https?://", COMMENTS.sub("", text("_config.yml")))


def test_lock_agrees_with_ranges():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(one for extra in extras for one in extra)]
    assert len(wanted) > 10
    assert list(unmet(wanted, locked())) == []


def test_lock_is_complete_and_portable():
    lines = text("requirements.txt").splitlines()
    assert lines[-1] == "-e ."
    assert all(re.match(r"#|-e \.$|[\w.-]+==[\w.!]+( ; .+)?$", line) for line in lines)
    assert {"colorama", "appnope"} <= set(locked()), "not resolved for every platform"


@pytest.mark.parametrize("requirement", ["numpy>=99", "not-there", "pytest<2"])
def test_unmet_requirement_is_found(requirement):
    assert list(unmet([requirement], locked()))


def test_nothing_generated_is_tracked():
    assert [name for name in files() if GENERATED.search(name)] == []


@pytest.mark.parametrize("name", [
    "_build/html/index.html", "notebooks/.ipynb_checkpoints/a.ipynb", "src/x/__pycache__/y.pyc",
    "src/attention_book.egg-info/PKG-INFO", "notebooks/.attention_book_progress.json",
    ".pytest_cache/README.md"])
def test_generated_file_is_recognised(name):
    assert GENERATED.search(name)


def test_no_machine_paths():
    found = {name: machine_paths(text(name)) for name in files()
             if Path(name).suffix not in IMAGES}
    assert {name: paths for name, paths in found.items() if paths} == {}


def test_machine_path_is_found():
    assert machine_paths("see /" + "home/me/book") and machine_paths("/" + "root/x")
    assert not machine_paths("the homework/rooting folder")


def test_text_is_utf8_everywhere():
    scripts = [name for name in files() if name.endswith(".py")]
    assert len(scripts) > 10
    found = {name: list(without_encoding(text(name))) for name in scripts}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize(("code", "n_faults"), [
    ("open('x')", 1), ("open('x', 'rb')", 0), ("p.read_text()", 1), ("p.write_text(s)", 1),
    ("p.open('a')", 1), ("open('x', encoding='utf-8')", 0), ("p.open(mode='wb')", 0)])
def test_missing_encoding_is_found(code, n_faults):
    assert len(list(without_encoding(code))) == n_faults


def test_one_version():
    version = attention_book.__version__
    assert tomllib.loads(text("pyproject.toml"))["project"]["version"] == version
    citation = yaml.safe_load(text("CITATION.cff"))
    assert citation["version"] == version
    page = text("book/using_the_book.md").partition("## Cite and reuse")[2]
    for part in (citation["authors"][0]["name"], citation["title"], f"version {version}",
                 str(citation["date-released"].year)):
        assert page.count(part) == 2, "once to read, once to copy"
    assert re.findall(r"^## (\d\S*)", text("CHANGELOG.md"), re.MULTILINE)[0] == version


def test_continuous_checks_run_what_the_readme_says():
    assert text(".ci/run").rstrip().endswith("REQUIRE_ALL=1 make test")
    assert "make test" in text("README.md") and "make serve" in text("README.md")
    workflow = yaml.safe_load(text(".github/workflows/book.yml"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert "bash .ci/run" in [step.get("run") for step in steps]
    actions = [step["uses"] for step in steps if "uses" in step]
    assert actions and all(re.search(r"@v\d+", action) for action in actions)


def test_readme_has_the_lines_behind_the_commands():
    site = next(suite for suite in run_suites.SUITES if suite.name == "site")
    readme = text("README.md")
    assert f".venv/bin/{' '.join(site.command)}" in readme
    for line in ("-m venv .venv", "-m pip install -r requirements.txt", "-m jupyterlab notebooks",
                 "tools/serve.py", "tools/run_suites.py"):
        assert line in readme


def test_contributing_has_every_suite():
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+) (s|min) \|$",
                      text("CONTRIBUTING.md").partition("## Habits")[0], re.MULTILINE)
    listed = {name: float(time) / (60 if unit == "s" else 1) for name, time, unit in rows}
    assert listed == {suite.name: suite.minutes for suite in run_suites.SUITES}
    assert sum(listed.values()) < 45
    last = ("pdf", "hub", "browser", "class_site", "speed")
    assert sum(listed.values()) - sum(listed[name] for name in last) < 20


def test_make_help_lists_every_command():
    makefile = text("Makefile")
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)[1].split()
    described = re.findall(r"^([a-z-]+):[^#\n]*## ", makefile, re.MULTILINE)
    assert sorted(phony) == sorted(described)

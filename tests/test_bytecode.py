"""What the browser gets compiled does what its source does, and is compiled once."""

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

import bytecode

TAG = sys.implementation.cache_tag
SOURCE = "def whose():\n    return __import__('inspect').currentframe().f_code.co_filename\n"


def archive(path, **files):
    with zipfile.ZipFile(path, "w") as new:
        for name, content in files.items():
            new.writestr(name.replace("__", "/").replace("_py", ".py"), content)
    return path


def names(path):
    with zipfile.ZipFile(path) as found:
        return sorted(found.namelist())


@pytest.fixture
def compiled(tmp_path):
    """Return what compiles an archive of this name, and gives the result."""
    def make(name):
        old = archive(tmp_path / name, own__part_py=SOURCE, own__data="\0kept")
        (tmp_path / "new").mkdir()
        bytecode.compile_archive(old, tmp_path / "new" / name)
        return tmp_path / "new" / name
    return make


@pytest.mark.parametrize(("name", "files", "place"), [
    ("some-1-py3-none-any.whl", ["own/data", "own/part.pyc"], "{}/site-packages/own/part.py"),
    ("numpy-2-cp312.whl", [f"own/__pycache__/part.{TAG}.pyc", "own/data", "own/part.py"],
     "{}/site-packages/own/part.py"),
    ("python_stdlib.zip", ["own/data", "own/part.pyc"], "{}.zip/own/part.py")])
def test_bytecode_takes_the_place_of_sources_or_stands_beside_them(compiled, name, files, place):
    result = compiled(name)
    assert names(result) == files
    with zipfile.ZipFile(result) as found:
        assert found.read("own/data") == b"\0kept"
        [code] = [each for each in files if each.endswith(".pyc")]
        found.extract(code, result.parent)
    spec = importlib.util.spec_from_file_location("part", result.parent / code)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    version = ".".join(map(str, sys.version_info[:2]))
    library = f"/lib/python{version.replace('.', '') if '.zip' in place else version}"
    assert module.whose() == place.format(library)


def test_bytecode_is_used_whatever_the_time_of_its_source(compiled, tmp_path):
    with zipfile.ZipFile(compiled("attention_book-1-py3.whl")) as found:
        found.extractall(tmp_path / "site")
    (tmp_path / "site" / "own" / "part.py").write_text("not Python at all", encoding="utf-8")
    answer = subprocess.run([sys.executable, "-S", "-c", "import own.part"],
                            cwd=tmp_path / "site", capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr


@pytest.fixture
def runs(monkeypatch):
    """Compile here and not in Pyodide; give the names of what was compiled, in each run."""
    seen = []

    def here(_, sources, results):
        seen.append(sorted(path.name for path in sources.iterdir()))
        for path in sources.iterdir():
            bytecode.compile_archive(path, results / path.name)
    monkeypatch.setattr(bytecode, "in_pyodide", here)
    return seen


def test_a_file_is_compiled_again_when_it_has_changed_and_only_then(runs, tmp_path):
    first = archive(tmp_path / "first.whl", a_py="x = 1")
    second = archive(tmp_path / "second.whl", b_py="x = 1")
    cache, files = tmp_path / "cache", [first, second]
    for content in ("x = 1", "x = 1", "x = 2"):
        archive(first, a_py="x = 1")
        archive(second, b_py=content)
        bytecode.compile_files(files, tmp_path, cache)
        assert (names(first), names(second)) == (["a.pyc"], ["b.pyc"])
    assert runs == [["first.whl", "second.whl"], ["second.whl"]]
    assert len(list(cache.iterdir())) == 2  # the older second one is gone


def test_a_source_that_is_no_python_ends_the_build_and_is_named(tmp_path):
    wrong = archive(tmp_path / "wrong.whl", own__part_py="x = = 1")
    with pytest.raises(Exception, match=r"site-packages/own/part\.py"):
        bytecode.compile_archive(wrong, tmp_path / "new.whl")


def test_an_error_inside_pyodide_is_shown(tmp_path):
    (tmp_path / "pyodide.js").write_text(
        "exports.loadPyodide = async () => { throw new Error('no room left'); };",
        encoding="utf-8")
    kept = archive(tmp_path / "kept.whl", a_py="x = 1")
    before = kept.read_bytes()
    with pytest.raises(SystemExit, match="no room left"):
        bytecode.compile_files([kept], tmp_path, tmp_path / "cache")
    assert kept.read_bytes() == before
    assert list((tmp_path / "cache").iterdir()) == []
    assert shutil.which(str(bytecode.node()))

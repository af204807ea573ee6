"""Compile the Python sources in wheels and zip files, so that Python in a browser starts sooner.

``compile_files`` runs this file inside Pyodide, in Node: bytecode is one Python version's own.
"""

import hashlib
import py_compile
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

STANDARD_LIBRARY = "python_stdlib.zip"
# Of these the sources stay, since readers look into them: the book links to its own package, and
# errors lead into NumPy. Everywhere else bytecode takes the source's place, as in Pyodide's own
# compiled packages.
WITH_SOURCES = ("attention_book-", "numpy-")


def compile_files(files, pyodide, cache):
    """Put compiled files in the place of the given ones; each is compiled only once.

    Parameters
    ----------
    files : list of Path
        Wheels, and Python's standard library as a zip file.
    pyodide : Path
        The folder with Pyodide's own files.
    cache : Path
        Keeps what was compiled, under the digest of what it was compiled from.
    """
    kept = {file: cache / f"{file.name}.{digest(file)}" for file in files}
    missing = [file for file in files if not kept[file].exists()]
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as place:
        sources, results = Path(place, "sources"), Path(place, "results")
        for folder in (sources, results):
            folder.mkdir()
        for file in missing:
            shutil.copy(file, sources)
        if missing:
            in_pyodide(pyodide, sources, results)
        for file in missing:
            for old in cache.glob(f"{file.name}.*"):
                old.unlink()
            (results / file.name).replace(kept[file])
    for file in files:
        shutil.copyfile(kept[file], file)


def digest(file):
    """Return what a file's bytecode is made from, as a digest: the file, and what is here."""
    return hashlib.sha256(Path(__file__).read_bytes() + file.read_bytes()).hexdigest()


def in_pyodide(pyodide, *folders):
    """Run this file inside Pyodide, with folders that it then sees as its arguments."""
    command = [node(), Path(__file__).with_name("in_pyodide.cjs"), pyodide, __file__, *folders]
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            encoding="utf-8")
    if answer.returncode:
        sys.exit(f"{answer.stdout}\nThe packages for the browser could not be compiled; the reason "
                 "is above.")


def node():
    """Return the Node that Playwright brings along."""
    import playwright

    name = "node.exe" if sys.platform == "win32" else "node"
    return Path(playwright.__file__).parent / "driver" / name


def compile_archive(source, target):
    """Write a copy of a zip file whose Python sources are compiled."""
    library = f"python{sys.version_info.major}.{sys.version_info.minor}"
    place = (f"/lib/{library.replace('.', '')}.zip/" if source.name == STANDARD_LIBRARY
             else f"/lib/{library}/site-packages/")
    stays = source.name.startswith(WITH_SOURCES)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            info.compress_type, content = zipfile.ZIP_DEFLATED, old.read(info)
            if stays or not info.filename.endswith(".py"):
                new.writestr(info, content)
            if info.filename.endswith(".py"):
                name = beside(info.filename) if stays else f"{info.filename}c"
                new.writestr(zipfile.ZipInfo(name, info.date_time),
                             bytecode(content, place + info.filename), zipfile.ZIP_DEFLATED)


def beside(name):
    """Return where Python looks for the bytecode of a source that is there too."""
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}__pycache__/{file[:-3]}.{sys.implementation.cache_tag}.pyc"


def bytecode(source, name):
    """Return the bytecode of a source, which is never compared with the source's time."""
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of others' sources
        file, result = Path(place, "source.py"), Path(place, "result.pyc")
        file.write_bytes(source)
        py_compile.compile(str(file), str(result), name, doraise=True,
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        return result.read_bytes()


if __name__ == "__main__":
    for each in sorted(Path(sys.argv[1]).iterdir()):
        compile_archive(each, Path(sys.argv[2], each.name))

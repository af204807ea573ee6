"""Write the list of Pyodide's files that the book uses, from npm's official package.

    npm pack pyodide@0.27.7 && tar xzf pyodide-0.27.7.tgz
    python tools/list_pyodide.py package WHEELS

WHEELS is a folder with the pure-Python wheels that Pyodide itself lacks. Two files are written:
lite/sha256sums.txt, in the form that ``sha256sum --check`` reads, and lite/pyodide-packages.json.
"""

import hashlib
import json
import sys
from pathlib import Path

LITE = Path(__file__).resolve().parent.parent / "lite"
CORE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
ROOTS = ("ipython", "jedi", "matplotlib", "micropip", "numpy", "sqlite3", "ssl", "threadpoolctl")


def closed(packages, roots):
    """Return the names of the roots and of all that they need."""
    found, open_names = set(), list(roots)
    while open_names:
        name = open_names.pop()
        if name not in found:
            found.add(name)
            open_names += [need.lower().replace("_", "-") for need in packages[name]["depends"]]
    return sorted(found)


def digest(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def main(package, wheels):
    lock = json.loads((Path(package) / "pyodide-lock.json").read_text(encoding="utf-8"))
    names = closed(lock["packages"], ROOTS)
    lines = [f"# Pyodide {lock['info']['version']}: the core, from npm's official package"]
    lines += [f"{digest(Path(package) / name)}  {name}" for name in CORE]
    lines += ["# its packages, from the official pyodide-lock.json"]
    lines += [f"{lock['packages'][name].pop('sha256')}  {lock['packages'][name]['file_name']}"
              for name in names]
    lines += ["# wheels from the Python package index, which Pyodide lacks"]
    lines += [f"{digest(path)}  {path.name}" for path in sorted(Path(wheels).glob("*.whl"))]
    (LITE / "sha256sums.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    used = {"info": lock["info"], "packages": {name: lock["packages"][name] for name in names}}
    text = json.dumps(used, indent=1, sort_keys=True) + "\n"
    (LITE / "pyodide-packages.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

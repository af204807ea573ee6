"""Run the page "Other libraries" against the libraries: every call on it, with what the page says.

    python tools/verify_libraries.py           compare with what is stored
    python tools/verify_libraries.py --store   store what the libraries give, for page and tests

PyTorch, JAX, ONNX and transformers are installed into an environment of their own, once.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import venv
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "tests" / "library_reference"
STORED = REFERENCE / "values.json"
PAGE = ROOT / "book" / "other_libraries.md"
ENVIRONMENT = ROOT / "_build" / "library_environment"
PROOF = ROOT / "_build" / "proof" / "libraries.json"
PACKAGES = ("torch", "jax", "transformers", "onnx", "onnxruntime", "numpy")
TABLE = re.compile(r'(<div class="calls" data-of="(\w+)">\n\n).*?(\n\n</div>)', re.DOTALL)

sys.path.insert(0, str(REFERENCE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", action="store_true", help="store what the libraries give")
    parser.add_argument("--here", action="store_true", help="use the packages of this Python")
    arguments = parser.parse_args()
    if not arguments.here:
        return start_over(["--here", *["--store"] * arguments.store])
    found = {"versions": {name: version(name).partition("+")[0] for name in PACKAGES},
             "tables": run_all()}
    if arguments.store:
        store(found)
    wrong = differences(found, json.loads(STORED.read_text(encoding="utf-8")))
    n_calls = sum(len(rows) for rows in found["tables"].values())
    print("\n".join([*wrong, f"{n_calls} calls, {len(wrong)} not as stored"]), flush=True)
    note = {"when": datetime.now(UTC).isoformat(timespec="minutes"), "calls": n_calls,
            "different": len(wrong), "versions": found["versions"]}
    PROOF.parent.mkdir(parents=True, exist_ok=True)
    PROOF.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    return int(bool(wrong))


def start_over(arguments):
    """Run this file again where the libraries are at hand."""
    python = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = ENVIRONMENT / "ready"
    requirements = REFERENCE / "requirements.txt"
    if not ready.exists() or ready.stat().st_mtime < requirements.stat().st_mtime:
        print("Installing PyTorch, JAX, ONNX and transformers for the comparison: once.",
              flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.check_call([python, "-m", "pip", "install", "--quiet",
                               "--disable-pip-version-check", "-r", requirements])
        ready.touch()
    quiet = {"PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1",
             "JAX_PLATFORMS": "cpu"}
    return subprocess.call([python, __file__, *arguments], env={**os.environ, **quiet})


def run_all():
    """Return, for each table, the rows with what their calls give."""
    import cases
    from library_names import NAMES

    def names(library):  # anew for each call: some change what they are given
        return cases.book_names() if library == cases.BOOK else NAMES[library]()

    return {title: [[row.library, row.call, cases.result(row, names(row.library))] for row in rows]
            for title, rows in cases.TABLES.items()}


def differences(found, stored):
    """Give a line for each call that does not give what is stored."""
    lines = [f"{title}: {library}: {call}: {value}, stored {old}"
             for title, rows in found["tables"].items()
             for (library, call, value), (*_, old) in zip(rows, stored["tables"][title],
                                                          strict=True) if value != old]
    versions = [f"{name} {found['versions'][name]}, stored with {old}"
                for name, old in stored["versions"].items() if found["versions"][name] != old]
    return lines + versions


def store(found):
    """Write the values, each row on its line, and put them into the page."""
    tables = ",\n".join(
        f"  {json.dumps(title)}: [\n   {rows_of_text(rows)}\n  ]"
        for title, rows in found["tables"].items())
    STORED.write_text(f'{{\n "versions": {json.dumps(found["versions"])},\n "tables": {{\n'
                      f"{tables}\n }}\n}}\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled_in(page, found), encoding="utf-8")


def rows_of_text(rows):
    return ",\n   ".join(json.dumps(row) for row in rows)


def filled_in(page, found):
    """Return the page with each of its tables written from what was found."""
    tables = {title: table(("library", "gives", "call"),
                           ((library, value, f"`{call}`") for library, call, value in rows))
              for title, rows in found["tables"].items()}
    tables["versions"] = table(("package", "version"), found["versions"].items())
    return TABLE.sub(lambda mark: mark[1] + tables[mark[2]] + mark[3], page)


def table(head, rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


if __name__ == "__main__":
    sys.exit(main())

"""Run the book's suites of checks, each with its time, and end with a table of what held.

    python tools/run_suites.py            all of them, in order
    python tools/run_suites.py lint nbval some of them
    python tools/run_suites.py --changed lite site
                                          of what builds, only what changed sources call for
"""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
PYTEST = [PYTHON, "-m", "pytest", "-q"]
ON_ALL_CORES = ["-n", "auto", "--dist"]
GATE = ["tests/test_exercises_catalogue.py", "tests/test_exercise_answers.py"]
CLASS = [f"tests/test_classroom_{part}.py" for part in ("answers", "class", "course")]
SPEED = "tests/browser/test_speed.py"
HUB = "tests/test_hub.py"
CLASS_SITE = "tests/browser/test_class_site.py"
IN_BROWSER = {"chromium": "install it (Debian and Ubuntu: apt-get install chromium)",
              "_build/html/lite/index.html": "the suites lite and site build it"}
BUILT = ROOT / "_build"
SOURCES = ["book", "notebooks", "src", "lite", "_build/proof", "_config.yml", "_toc.yml",
           "CHANGELOG.md", "requirements.txt", "tools/build_lite.py", "tools/bytecode.py",
           "tools/in_pyodide.cjs"]  # of what is built


@dataclass(frozen=True)
class Suite:
    """One set of checks: what it proves, its command, what it needs, its time on two cores."""

    name: str
    proves: str
    command: list
    minutes: float
    tools: dict = field(default_factory=dict)  # program or built file: how to come by it
    stale: tuple = ()  # folders that must not survive from an earlier run
    makes: str = ""  # the file in _build that a whole build has made


SUITES = [
    Suite("lint", "all code, in notebooks too, follows the style",
          [PYTHON, "-m", "ruff", "check", "."], 10 / 60),
    Suite("unit", "package, exercises, notebooks and repository keep their rules",
          [*PYTEST, *ON_ALL_CORES, "worksteal", "tests",
           *(f"--ignore={path}" for path in [*GATE, *CLASS, HUB, "tests/browser"])], 7),
    Suite("exercises", "every mistake is named, every right answer accepted: the score",
          [*PYTEST, *ON_ALL_CORES, "worksteal", *GATE], 2.5),
    Suite("class", "a class with every fault is graded, and nbgrader works on the course",
          [*PYTEST, *ON_ALL_CORES, "loadfile", *CLASS], 3,
          {".venv-class/ready": "`make .venv-class/ready` installs nbgrader"}),
    Suite("doctest", "the examples in docstrings give what they show",
          [*PYTEST, "--doctest-modules", "src"], 0.5),
    Suite("nbval", "every stored output of every chapter is what running it gives",
          [*PYTEST, *ON_ALL_CORES, "loadfile",  # a notebook's cells belong together
           "--nbval", "--nbval-sanitize-with", "tests/nbval_sanitize.cfg",
           "--nbval-cell-timeout", "120", "--nbval-kernel-name", "python3", "notebooks"], 2.5),
    Suite("lite", "JupyterLite is built from files that are the official ones",
          [PYTHON, "tools/build_lite.py"], 1.5, makes="lite/index.html"),
    Suite("site", "the site builds from scratch without a warning",
          ["jupyter-book", "build", ".", "--all", "-W", "-n", "--keep-going"], 1,
          stale=("html", "jupyter_execute", ".doctrees"), makes="html/index.html"),
    Suite("pdf", "the whole book prints: no line too wide, no picture missing, no link astray",
          [PYTHON, "tools/print_book.py"], 2,
          {"chromium": IN_BROWSER["chromium"],
           "_build/html/index.html": "the suite site builds it"}),
    Suite("links", "the built pages have content, no dead link and no other host",
          [PYTHON, "tools/check_site.py", "_build/html"], 10 / 60),
    Suite("hub", "a shared server starts, and two students solve an exercise on it",
          [*PYTEST, HUB], 2,
          {"node": "install Node 18 or newer (Debian and Ubuntu: apt-get install nodejs npm)",
           ".venv-hub/ready": "`make .venv-hub/ready` installs JupyterHub and its proxy",
           "_build/html/index.html": "the suite site builds it"}),
    Suite("browser", "pages and chapters in a real browser: no error, no fault, no other host",
          [*PYTEST, *ON_ALL_CORES, "worksteal", "tests/browser",
           *(f"--ignore={path}" for path in (SPEED, CLASS_SITE))], 18, IN_BROWSER),
    Suite("class_site", "the class's own site has no solution, asks no other host, and checks",
          [*PYTEST, CLASS_SITE], 2.5, IN_BROWSER),
    Suite("speed", "a page is light and quick to show, and a chapter to start in the browser",
          [*PYTEST, SPEED], 2, IN_BROWSER),  # alone, since others would slow it
]


def main(arguments):
    changed = "--changed" in arguments
    names = [name for name in arguments if name != "--changed"]
    unknown = set(names) - {suite.name for suite in SUITES}
    if unknown:
        known = ", ".join(suite.name for suite in SUITES)
        sys.exit(f"No such suite: {', '.join(sorted(unknown))}. There are: {known}.")
    chosen = [suite for suite in SUITES if not names or suite.name in names]
    start = time.monotonic()
    results = [(suite, *noted(suite, *run(suite))) for suite in chosen
               if not (changed and is_fresh(suite))]
    if len(results) > 1:
        print_table(results, time.monotonic() - start)
    return int(any(verdict == "failed" for _, verdict, _ in results))


def run(suite):
    """Run one suite; return its verdict and its time in seconds."""
    print(f"\n=== {suite.name}: {suite.proves}", flush=True)
    missing = [tool for tool in suite.tools
               if not (shutil.which(tool) or (ROOT / tool).is_file())]
    for tool in missing:
        print(f"{tool} is missing: {suite.tools[tool]}.", flush=True)
    if missing:
        return ("failed" if os.environ.get("REQUIRE_ALL") == "1" else "not run"), 0.0
    for folder in suite.stale:
        if (BUILT / folder).exists():
            shutil.rmtree(BUILT / folder)
    start = time.monotonic()
    program = shutil.which(suite.command[0], path=environment(suite)["PATH"]) or suite.command[0]
    code = subprocess.call([program, *suite.command[1:]], cwd=ROOT, env=environment(suite))
    seconds = time.monotonic() - start
    verdict = "failed" if code else "passed"
    if suite.makes and not code:
        stamp(suite).write_text(digest(), encoding="utf-8")
    print(f"=== {suite.name}: {verdict} in {seconds:.0f} s", flush=True)
    return verdict, seconds


def noted(suite, verdict, seconds):
    """Write a suite's verdict for the page that shows them all, but for those that build it."""
    if suite in SUITES and not suite.makes:
        sys.path.insert(0, str(ROOT / "book" / "_ext"))
        import proof_pages

        now = datetime.now(UTC).isoformat(timespec="minutes")
        before = proof_pages.load("suites") or {"suites": ()}
        rows = {row["name"]: row for row in before["suites"]}
        rows[suite.name] = {"name": suite.name, "proves": suite.proves, "verdict": verdict,
                            "seconds": seconds, "when": now}
        order = [one.name for one in SUITES if one.name in rows]
        proof_pages.save("suites", {"suites": [rows[name] for name in order]})
    return verdict, seconds


def stamp(suite):
    """Return the file that says of which sources a suite has built."""
    return BUILT / f"{suite.name}.stamp"


def is_fresh(suite):
    """Tell, and say, whether what a suite builds is there, made of the sources as they are."""
    fresh = (suite.makes and (BUILT / suite.makes).is_file() and stamp(suite).is_file()
             and stamp(suite).read_text(encoding="utf-8") == digest())
    if fresh:
        print(f"{suite.name}: nothing has changed since it was built.", flush=True)
    return fresh


def digest():
    """Return what changes whenever a file does that something is built of."""
    found = hashlib.sha256()
    for source in SOURCES:
        path = ROOT / source
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                found.update(file.relative_to(ROOT).as_posix().encode() + b"\0")
                found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()


def environment(suite):
    """Return the environment with this Python's own programs first; a core for each worker."""
    path = os.pathsep.join([str(Path(PYTHON).parent), os.environ.get("PATH", "")])
    threads = {"OMP_NUM_THREADS": "1"} if ON_ALL_CORES[0] in suite.command else {}
    return {**os.environ, "PATH": path, "PYTHONUTF8": "1", **threads}


def print_table(results, seconds):
    print(f"\n{'suite':10} {'verdict':8} {'time':>7}  budget")
    for suite, verdict, taken in results:
        budget = suite.minutes * 60
        over = ", exceeded" if taken > budget else ""
        print(f"{suite.name:10} {verdict:8} {taken:5.0f} s  {budget:.0f} s{over}")
    print(f"{'all':10} {'':8} {seconds:5.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

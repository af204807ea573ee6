"""Create .venv and install the locked packages into it, showing what happens.

Needs Python alone, and is written so that an older one can read it and say that it is too old.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time

OLDEST = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
LOG = os.path.join(VENV, "pip.log")
READY = os.path.join(VENV, "ready")
REQUIREMENTS = os.path.join(ROOT, "requirements.txt")
# pip's lines: "Collecting numpy==2.4.6 (from …)", "Processing /wheels/numpy-2.4.6-….whl"
PACKAGE_LINE = re.compile(
    r"(?:Collecting |Requirement already satisfied: |Processing (?:\S*[/\\])?)([A-Za-z0-9._]+)")


def main():
    start = time.monotonic()
    check_python()
    python = create_venv()
    install(python)
    warm_up(python)
    with open(READY, "w", encoding="utf-8") as file:
        file.write("make compares this file's age with requirements.txt\n")
    print(f"set-up: done in {time.monotonic() - start:.0f} s", flush=True)


def check_python():
    """Stop with one sentence if this Python is too old, or cannot make environments."""
    version = ".".join(str(part) for part in sys.version_info[:2])
    if sys.version_info[:2] < OLDEST:
        names = ["python3." + str(minor) for minor in range(20, OLDEST[1] - 1, -1)]
        found = [name for name in names if works(name)]
        hint = f"run `make PYTHON={found[0]} ...`" if found else "install a newer Python"
        sys.exit(f"The book needs Python 3.11 or newer and this is {version}: {hint}.")
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:
        sys.exit(
            f"Python's module `{error.name}` is missing: install it (Debian and Ubuntu: "
            f"apt-get install python{version}-venv), then run this again."
        )


def works(python):
    """Tell whether there is a Python of this name, and not only a link that leads nowhere."""
    if not shutil.which(python):
        return False
    return subprocess.call([python, "-c", ""], stderr=subprocess.DEVNULL) == 0


def create_venv():
    """Return the path of the environment's Python, which is made anew unless it works."""
    folder, suffix = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
    python = os.path.join(VENV, folder, "python" + suffix)
    probe = [python, "-c", f"import pip, sys; sys.exit(sys.version_info[:2] < {OLDEST})"]
    if os.path.exists(python):
        if subprocess.call(probe, stderr=subprocess.DEVNULL) == 0:
            return python
        print("set-up: .venv is broken or too old and is made anew", flush=True)
        shutil.rmtree(VENV)
    print("set-up: creating .venv with Python " + sys.version.split()[0], flush=True)
    subprocess.check_call([sys.executable, "-m", "venv", VENV])
    return python


def install(python):
    """Install the lock with pip; its full output goes to .venv/pip.log."""
    with open(REQUIREMENTS, encoding="utf-8") as file:
        n_packages = sum(line[0] not in "#\n" for line in file)
    print(f"set-up: installing {n_packages} locked packages (one to three minutes)")
    command = [python, "-m", "pip", "install", "--no-input", "--progress-bar", "off",
               "--disable-pip-version-check", "--requirement", REQUIREMENTS]
    with open(LOG, "w", encoding="utf-8") as log, Progress(n_packages) as progress:
        pip = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            encoding="utf-8", errors="replace",
        )
        for line in pip.stdout:
            log.write(line)
            progress.see(line)
        failed = pip.wait()
    if failed:
        explain_failure()


def explain_failure():
    """Show the end of pip's output and say in one sentence what to do."""
    with open(LOG, encoding="utf-8") as file:
        text = file.read()
    print("".join(text.splitlines(keepends=True)[-15:]), file=sys.stderr)
    offline = ["NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError"]
    if any(name in text for name in offline):
        sys.exit("pip could not reach the package index: connect to the internet (or set "
                 "PIP_INDEX_URL to a mirror) and run this again.")
    sys.exit("pip could not install the packages; the reason is above, and all of its output in "
             ".venv/pip.log.")


def warm_up(python):
    """Let Matplotlib list the fonts now: it would say so in the first chapter's output."""
    print("set-up: listing fonts for the figures", flush=True)
    code = "import logging; logging.disable(logging.WARNING); import matplotlib.font_manager"
    subprocess.check_call([python, "-c", code])


class Progress:
    """One line that says what pip is at; on a terminal it is rewritten, elsewhere it is rare."""

    def __init__(self, n_packages):
        self.n_packages = n_packages
        self.n_seen = 0
        self.doing = "starting pip"
        self.start = time.monotonic()
        self.rewrite = sys.stdout.isatty()
        self.stop = threading.Event()
        self.ticker = threading.Thread(target=self.tick, daemon=True)

    def __enter__(self):
        self.ticker.start()
        return self

    def __exit__(self, *error):
        self.stop.set()
        self.ticker.join()
        self.show()
        if self.rewrite:
            print(flush=True)

    def see(self, line):
        found = PACKAGE_LINE.match(line)
        if found:
            self.n_seen = min(self.n_seen + 1, self.n_packages)
            self.doing = found[1]
        elif line.startswith("Ignoring "):  # a package for another platform
            self.n_packages -= 1
        elif line.startswith("Installing collected packages"):
            self.n_seen = self.n_packages
            self.doing = "all found; unpacking them"
        elif line.startswith("Successfully installed"):
            self.doing = "all installed"

    def tick(self):
        while not self.stop.wait(0.5 if self.rewrite else 10):
            self.show()

    def show(self):
        seconds = time.monotonic() - self.start
        line = f"  [{self.n_seen:3d}/{self.n_packages}] {seconds:4.0f} s  {self.doing}"
        print("\r" + line.ljust(70) if self.rewrite else line, end="" if self.rewrite else "\n",
              flush=True)


if __name__ == "__main__":
    main()

"""Create .venv-class: nbgrader, and beside it the book's own packages, seen where they are."""

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".venv-class"
SHARED = ("nbconvert", "kernels")  # folders of share/jupyter that nbgrader looks into


def main():
    print("set-up: installing nbgrader into .venv-class", flush=True)
    shutil.rmtree(PLACE, ignore_errors=True)
    venv.create(PLACE, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(PLACE)}))
    own = sysconfig.get_path("purelib")
    (packages / "book.pth").write_text(f"import site; site.addsitedir({own!r})\n",
                                       encoding="utf-8")
    subprocess.run([sys.executable, "-m", "pip", "--python", PLACE / "bin" / "python", "install",
                    "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps",
                    "--requirement", ROOT / "requirements-class.txt"], check=True)
    shared = PLACE / "share" / "jupyter"
    shared.mkdir(parents=True, exist_ok=True)
    for name in SHARED:
        (shared / name).symlink_to(Path(sys.prefix) / "share" / "jupyter" / name)
    (PLACE / "ready").write_text("make compares this file's age\n", encoding="utf-8")


if __name__ == "__main__":
    main()

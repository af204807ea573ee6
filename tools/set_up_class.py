"""Create an environment that has more than the book's own, and the book's packages where they are.

    python tools/set_up_class.py        .venv-class, with nbgrader
    python tools/set_up_class.py hub    .venv-hub, with JupyterHub and its proxy
"""

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HUB = ROOT / "deploy" / "jupyterhub"
CONFIG = Path("etc", "jupyter", "jupyter_server_config.d")
LAB = Path("etc", "jupyter", "labconfig")
SHARED = {"class": ("nbconvert", "kernels"),  # folders of share/jupyter that are looked into
          "hub": ("nbconvert", "kernels", "lab", "labextensions")}


def main(arguments):
    name = arguments[0] if arguments else "class"
    place = ROOT / f".venv-{name}"
    if name == "hub":
        need_node()
    shutil.rmtree(place, ignore_errors=True)
    print(f"set-up: installing into {place.name} what a {name} needs", flush=True)
    create(place, HUB / "requirements.txt" if name == "hub" else ROOT / "requirements-class.txt")
    share(place, SHARED[name])
    if name == "hub":
        install_proxy(place / "proxy")
    (place / "ready").write_text("make compares this file's age\n", encoding="utf-8")


def create(place, requirements):
    """Create an environment that sees this one's packages, and install more into it."""
    venv.create(place, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
    own = sysconfig.get_path("purelib")
    (packages / "book.pth").write_text(f"import site; site.addsitedir({own!r})\n",
                                       encoding="utf-8")
    subprocess.run([sys.executable, "-m", "pip", "--python", place / "bin" / "python", "install",
                    "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps",
                    "--requirement", requirements], check=True)


def share(place, names):
    """Give an environment this one's Jupyter folders, and the settings of its extensions."""
    shared = place / "share" / "jupyter"
    shared.mkdir(parents=True, exist_ok=True)
    for name in names:
        (shared / name).symlink_to(Path(sys.prefix) / "share" / "jupyter" / name)
    if "lab" in names:
        for setting in sorted((Path(sys.prefix) / CONFIG).glob("*.json")):
            (place / CONFIG / setting.name).symlink_to(setting)
        (place / LAB).mkdir(parents=True)
        shutil.copy2(HUB / "page_config.json", place / LAB)


def need_node():
    """Stop with a sentence if Node, which runs the proxy, is not there."""
    missing = [name for name in ("node", "npm") if not shutil.which(name)]
    if missing:
        sys.exit(f"The hub's proxy needs {' and '.join(missing)}: install Node 18 or newer (Debian "
                 "and Ubuntu: apt-get install nodejs npm), then run this again.")


def install_proxy(folder):
    """Install the proxy, in the versions that its lock names, into a folder."""
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HUB / name, folder / name)
    subprocess.run(["npm", "ci", "--no-fund", "--no-audit", "--loglevel=error"], cwd=folder,
                   check=True)


if __name__ == "__main__":
    main(sys.argv[1:])

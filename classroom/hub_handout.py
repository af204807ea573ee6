"""Hand out on a shared server: what students copy, as a repository, and the link that copies it.

    python -m classroom.hub_handout http://localhost:8000 --folder _build/hub --chapters 3,5

prints a link for each chapter. Who follows one is logged in, gets a copy of the chapters or what is
new in them, and has the chapter open; what a student has changed stays as it is.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from urllib.parse import quote, urlencode

from classroom import chapters
from classroom.handouts import lay_out_students

NAME = "attention"  # of each student's copy
BRANCH = "main"
_GIT = ["git", "-c", "user.name=the class", "-c", "user.email=class@localhost",
        "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m classroom.hub_handout")
    parser.add_argument("hub", help="the hub's address, as students type it")
    parser.add_argument("--folder", default=chapters.ROOT / "_build" / "hub", type=Path,
                        help="the hub's folder, HUB_FOLDER")
    parser.add_argument("--chapters", default="", help="such as 3,5; all without it")
    parser.add_argument("--repository", default=served_at(os.environ.get("HUB_PORTS", 8081)),
                        help="where servers find it, if not beside the hub on its own machine")
    asked = parser.parse_args(arguments)
    paths = chapters.choose(asked.chapters)
    publish(paths, asked.folder)
    for path in paths:
        print(link(asked.hub, path.name, asked.repository))


def served_at(ports):
    """Return where the hub's service for the book listens, on the hub's own machine."""
    return f"http://127.0.0.1:{int(ports) + 2}/services/book/handout.git"


def link(hub, notebook, repository):
    """Return the link that copies the handout, or what is new in it, and opens one chapter."""
    asked = {"repo": repository, "targetpath": NAME, "branch": BRANCH,
             "urlpath": f"lab/tree/{NAME}/notebooks/{notebook}"}
    query = urlencode(asked, quote_via=quote, safe="/")
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"


def publish(paths, place):
    """Put the students' chapters into the hub's folder, as one more commit if they changed.

    The package, as students get it, lies unpacked beside the repository: their servers use it.
    """
    repository = place / "handout.git"
    if not repository.exists():
        git("init", "--quiet", "--bare", f"--initial-branch={BRANCH}", repository)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / NAME
        lay_out_students(folder, paths)
        at = [f"--git-dir={repository}", f"--work-tree={folder}"]
        git(*at, "add", "--all", "--force", ".")
        if git(*at, "status", "--porcelain"):
            git(*at, "commit", "--quiet", "--message", "Chapters for the class")
        install(next((folder / "packages").glob("*.whl")), place / "package")
    git(f"--git-dir={repository}", "update-server-info")  # for a server that only hands out files


def install(wheel, folder):
    """Unpack a wheel into a folder, in place of what was there."""
    new, old = (folder.with_name(f"{folder.name}.{age}") for age in ("new", "old"))
    for each in (new, old):
        shutil.rmtree(each, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(new)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def git(*words):
    """Run git; return what it prints."""
    answer = subprocess.run([*_GIT, *map(str, words)], text=True, encoding="utf-8", check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if answer.returncode:
        sys.exit(f"git could not {words[-1]}:\n{answer.stdout}")
    return answer.stdout


if __name__ == "__main__":
    main(sys.argv[1:])

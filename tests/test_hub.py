"""A real hub with its proxy, on this machine: two students log in, open a chapter and check it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import requests

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom import chapters, grading, hub_handout  # noqa: E402

from attention_book.exercises import check  # noqa: E402
from hub_client import Student, free_ports, running_hub  # noqa: E402

CHAPTER = "03_stable_softmax.ipynb"
OPENED = f"{hub_handout.NAME}/notebooks/{CHAPTER}"
ANSWERS = {"ada": "def my_softmax(x):\n    e = np.exp(x)\n    return e / e.sum(-1, keepdims=True)",
           "ben": "def my_softmax(x):\n    e = np.exp(x - x.max(-1, keepdims=True))\n"
                  "    return e / e.sum(-1, keepdims=True)"}
PASSWORDS = {"ada": "ada's own password", "ben": "ben's own password"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the hub's folder, with the class's lists and one chapter handed out."""
    folder = tmp_path_factory.mktemp("hub")
    (folder / "students.txt").write_text("# The class\nada\nBen\ncleo\n", encoding="utf-8")
    (folder / "teachers.txt").write_text("teacher\n", encoding="utf-8")
    hub_handout.publish(chapters.choose("3"), folder)
    return folder


@pytest.fixture(scope="module")
def hub(folder):
    port = free_ports(4)
    with running_hub(folder, port, HUB_MEMORY="1G") as address:
        yield address


@pytest.fixture(scope="module")
def students(hub):
    """Return two students who follow the link that they were given; both servers start at once."""
    found = {name: Student(hub, name) for name in ANSWERS}
    for name, student in found.items():
        assert student.log_in(PASSWORDS[name]).url.startswith(f"{hub}/hub/spawn")
    for student in found.values():
        follow(student)
        student.start_kernel(OPENED)
    yield found
    for student in found.values():
        student.socket.close()


def follow(student):
    """Follow the link for a handout, and do what its page does."""
    repository = hub_handout.served_at(int(student.hub.rpartition(":")[2]) + 1)
    asked = hub_handout.link(student.hub, CHAPTER, repository).partition("git-pull")[2]
    page = student.visit(f"git-pull{asked}")
    assert "nbgitpuller" in page.text
    with student.browser.get(f"{student.home}git-pull/api{asked}") as answer:
        said = [json.loads(line[6:]) for line in answer.text.splitlines() if line]
    assert said[-1] == {"phase": "finished"}, said


def notebook(student):
    return student.api("GET", f"contents/{OPENED}")["content"]


def cells(content, tag):
    return [cell for cell in content["cells"] if tag in cell["metadata"].get("tags", [])]


def test_the_book_is_beside_the_hub_for_everyone(hub):
    for page in ("index.html", "notebooks/03_stable_softmax.html", "lite/index.html"):
        answer = requests.get(f"{hub}/services/book/{page}", timeout=30)
        assert (answer.ok and "Attention" in answer.text) or "Jupyter" in answer.text
    assert requests.get(f"{hub}/services/book/no-such-page.html", timeout=30).status_code == 404


@pytest.mark.parametrize(("name", "password", "said"), [
    ("eve", "a long password", "Invalid username or password"),
    ("cleo", "short", "Password too short"), ("ada", "not ada's own", "Invalid username")])
def test_who_is_not_of_the_class_stays_out(hub, students, name, password, said):
    stranger = Student(hub, name)
    page = stranger.log_in(password)
    assert page.status_code == 403 and said in page.text
    assert stranger.browser.get(f"{hub}/hub/home").url.startswith(f"{hub}/hub/login")


def test_the_chapter_is_there_without_solutions(students):
    for student in students.values():
        content = notebook(student)
        assert len(cells(content, "check")) > 3 and not cells(content, "solution")


@pytest.mark.parametrize("name", ANSWERS)
def test_a_check_says_on_the_hub_what_it_says_here(students, folder, name):
    student, content = students[name], notebook(students[name])
    imports = chapters.source([cell for cell in content["cells"] if cell["cell_type"] == "code"][1])
    question = next(cell for cell in cells(content, "check") if '"softmax"' in cell["source"])
    assert student.run(imports) == ""
    assert student.run(ANSWERS[name]) == ""
    shown = student.run(question["source"])
    names = {}
    exec(f"import numpy as np\n{ANSWERS[name]}", names)
    here = check("softmax", names["my_softmax"])
    assert shown == repr(here)
    assert student.run("print(check.__code__.co_filename)").startswith(f"{folder}/package/")
    assert (here.passed, here.diagnosis) == ((True, None) if name == "ben" else
                                             (False, "no-max-shift"))


def test_nobody_reaches_anothers_server(hub, students):
    ada = students["ada"]
    for path in ("user/ben/api/contents/", "user/ben/lab", "hub/api/users/ben"):
        assert ada.browser.get(f"{hub}/{path}").status_code in (403, 404)


REACHES = """
import os, signal
from pathlib import Path
home, parent = Path.home(), os.getppid()
(home / "own.txt").write_text("mine", encoding="utf-8")
others = [int(pid) for pid in os.listdir("/proc") if pid.isdecimal()
          and "jupyterhub" in Path("/proc", pid, "cmdline").read_bytes().decode()]
others = [pid for pid in others if pid not in (os.getpid(), parent)]
attempts = {
    "own": lambda: (home / "own.txt").read_bytes(),
    "file": lambda: (home.parent / "%(other)s" / "attention" / "README.md").read_bytes(),
    "write": lambda: (home.parent / "%(other)s" / "note.txt").write_text("x", encoding="utf-8"),
    "homes": lambda: os.listdir(home.parent),
    "passwords": lambda: [path.read_bytes() for path in (home.parents[1] / "hub").iterdir()],
    "tokens": lambda: [Path("/proc", str(pid), "environ").read_bytes() for pid in others],
    "solutions": lambda: Path("%(root)s", "notebooks", "%(chapter)s").read_bytes(),
    "answers": lambda: list(Path("%(root)s", "src", "attention_book", "exercises").iterdir()),
    "signal": lambda: [os.kill(pid, signal.SIGCONT) for pid in others],
}
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "allowed")
    except PermissionError:
        print(name, "refused")
print("others", len(others))
"""


def test_nobody_reads_what_is_anothers(students):
    said = students["ada"].run(REACHES % {"other": "ben", "root": ROOT, "chapter": CHAPTER})
    found = dict(line.split() for line in said.splitlines())
    assert found.pop("own") == "allowed", said
    assert int(found.pop("others")) >= 3, said  # the hub, its proxy's starter, ben's server
    assert set(found.values()) == {"refused"}, said


def test_limits_hold(students):
    said = students["ada"].run("import numpy as np\nheld = np.ones(2**28)")  # 2 GiB of the 1 GiB
    assert "Unable to allocate 2.00 GiB" in said
    assert students["ada"].run("print(np.ones(2**24).sum())") == "16777216.0\n"
    said = students["ada"].run("import resource as r\nprint(r.getrlimit(r.RLIMIT_FSIZE)[1])")
    assert int(said) == 2**29


def test_what_students_saved_is_graded_where_it_lies(students, folder, tmp_path):
    for name, student in students.items():
        content = notebook(student)
        stub = next(cell for cell in cells(content, "exercise") if "my_softmax" in cell["source"])
        stub["source"] = ANSWERS[name]
        student.api("PUT", f"contents/{OPENED}", type="notebook", format="json", content=content)
    results = grading.grade_class(folder / "homes", tmp_path, 1)
    grading.leave_nursery()
    found = {result["student"]: grade for result in results for grade in result["grades"]
             if grade["exercise"] == "softmax"}
    assert {name: (grade["passed"], grade["diagnosis"]) for name, grade in found.items()} == {
        "ada": (False, "no-max-shift"), "ben": (True, None)}


def test_more_is_handed_out_and_nothing_is_lost(students, folder):
    hub_handout.publish(chapters.choose("3,5"), folder)
    ben = students["ben"]
    follow(ben)
    assert ANSWERS["ben"] in [cell["source"] for cell in cells(notebook(ben), "exercise")]
    found = ben.api("GET", f"contents/{hub_handout.NAME}/notebooks")["content"]
    assert {each["name"] for each in found} == {CHAPTER, "05_causal_mask.ipynb"}


SETTINGS = """
import sys
from jupyterhub import app, auth, proxy, spawner
from systemdspawner import SystemdSpawner
from firstuseauthenticator import FirstUseAuthenticator
from traitlets.config import PyFileConfigLoader
found = PyFileConfigLoader(sys.argv[1]).load_config()
known = [app.JupyterHub, auth.Authenticator, proxy.ConfigurableHTTPProxy, spawner.Spawner,
         spawner.SimpleLocalProcessSpawner, SystemdSpawner, FirstUseAuthenticator]
known = {each.__name__: each.class_trait_names(config=True) for each in known}
print([f"{name}.{key}" for name in found for key in found[name] if key not in known[name]])
print(found.JupyterHub.spawner_class, found.SystemdSpawner.unit_extra_properties)
"""


def settings(folder, **environment):
    """Return what the configuration has that JupyterHub does not know, or why it stops."""
    command = [ROOT / ".venv-hub" / "bin" / "python", "-c", SETTINGS,
               ROOT / "deploy" / "jupyterhub" / "jupyterhub_config.py"]
    answer = subprocess.run(command, text=True, encoding="utf-8", capture_output=True,
                            env={**os.environ, "HUB_FOLDER": str(folder), **environment})
    return answer.stdout.splitlines() if answer.returncode == 0 else answer.stderr


@pytest.fixture
def lists(tmp_path):
    (tmp_path / "students.txt").write_text("ada\n", encoding="utf-8")
    (tmp_path / "package").mkdir()
    return tmp_path


@pytest.mark.parametrize("spawner", ["apart", "systemd"])
def test_jupyterhub_knows_each_setting(lists, spawner):
    unknown, chosen = settings(lists, HUB_SPAWNER=spawner)
    assert unknown == "[]"
    assert chosen.startswith("systemd {'TasksMax': '256'" if spawner == "systemd" else "simple ")
    assert (lists / "hub").stat().st_mode & 0o777 == 0o700
    assert (lists / "homes").stat().st_mode & 0o777 == 0o711


def test_what_is_missing_is_said(lists, tmp_path_factory):
    assert "it can be 'systemd' or 'apart'" in settings(lists, HUB_SPAWNER="docker")
    assert "There is no site" in settings(lists, HUB_SITE=str(lists))
    empty = tmp_path_factory.mktemp("empty")
    assert f"names into {empty / 'students.txt'}" in settings(empty)
    (lists / "package").rmdir()
    assert "Nothing has been handed out yet" in settings(lists)

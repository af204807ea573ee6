"""The shared server: JupyterHub on one machine, with the book beside it.

    jupyterhub -f deploy/jupyterhub/jupyterhub_config.py

README.md beside this file says what to install, and lists the settings, which all come from the
environment.
"""

import os
import pwd
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PYTHON = str(ROOT / ".venv-hub" / "bin" / "python")
FOLDER = Path(os.environ.get("HUB_FOLDER", ROOT / "_build" / "hub")).resolve()
OWN, HOMES = FOLDER / "hub", FOLDER / "homes"  # what the hub alone may read; the students' own
SITES = (ROOT / "_build" / "class" / "site", ROOT / "_build" / "html")  # the class's own first
SITE = Path(os.environ.get("HUB_SITE") or next(filter(Path.is_dir, SITES), SITES[-1]))
ADDRESS = os.environ.get("HUB_ADDRESS", "http://127.0.0.1:8000")
INNER = int(os.environ.get("HUB_PORTS", "8081"))  # the first of three ports of this machine alone
SPAWNER = os.environ.get("HUB_SPAWNER", "apart")
MEMORY = os.environ.get("HUB_MEMORY", "2G")
PROCESSORS = float(os.environ.get("HUB_PROCESSORS", "2"))
TASKS = 256  # processes and threads of one student
IDLE = 3600  # seconds after which a server that nobody uses ends
HIDDEN = ("notebooks", "src", "tests", "classroom", "_build", ".git")  # solutions, and grades


def names(file):
    """Return the names that a file of the hub's folder lists, one a line."""
    path = FOLDER / file
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line.strip().lower() for line in lines if line.strip() and line[0] != "#"}


def account(student):
    """Return the name of a student's account on this machine."""
    return f"class-{student}"


def make_account(spawner):
    """Give a student an account and a folder that nobody else can read, before the first start."""
    name = account(spawner.user.name)
    try:
        pwd.getpwnam(name)
    except KeyError:
        subprocess.run(["useradd", "--create-home", "--home-dir", HOMES / spawner.user.name,
                        "--shell", "/bin/bash", "--key", "HOME_MODE=0700", name], check=True)


def make_folder(spawner):
    """Make a student's folder before the first start."""
    (HOMES / spawner.user.name).mkdir(mode=0o700, exist_ok=True)


if not (SITE / "index.html").is_file():
    sys.exit(f"There is no site in {SITE}: run `make book`, or `make handouts SITE=1`.")
if not names("students.txt") | names("teachers.txt"):
    sys.exit(f"Nobody may log in yet: write the students' names into {FOLDER / 'students.txt'}, "
             "and yours into teachers.txt beside it, one a line.")

if not (FOLDER / "package").is_dir():
    sys.exit("Nothing has been handed out yet: run `.venv/bin/python -m classroom.hub_handout "
             f"{ADDRESS} --folder {FOLDER}` first.")

OWN.mkdir(mode=0o700, exist_ok=True)
HOMES.mkdir(mode=0o711, exist_ok=True)
c = get_config()  # noqa: F821 — the hub puts it there

# Where it listens, and what it keeps.
c.JupyterHub.bind_url = ADDRESS
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{INNER}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{INNER + 1}"
c.ConfigurableHTTPProxy.command = [
    str(ROOT / ".venv-hub" / "proxy" / "node_modules" / ".bin" / "configurable-http-proxy")]
c.ConfigurableHTTPProxy.pid_file = str(OWN / "proxy.pid")
c.JupyterHub.db_url = f"sqlite:///{OWN / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(OWN / "cookie_secret")
if os.environ.get("HUB_CERTIFICATE"):
    c.JupyterHub.ssl_cert = os.environ["HUB_CERTIFICATE"]
    c.JupyterHub.ssl_key = os.environ["HUB_KEY"]

# Who may log in: the names in two lists. The first password that someone gives becomes theirs.
c.JupyterHub.authenticator_class = "firstuse"
c.FirstUseAuthenticator.dbm_path = str(OWN / "passwords.dbm")
c.FirstUseAuthenticator.create_users = False
c.FirstUseAuthenticator.min_password_length = 8
c.Authenticator.allowed_users = names("students.txt")
c.Authenticator.admin_users = names("teachers.txt")
c.Authenticator.allow_existing_users = True  # who was added on the page "Admin"

# The book beside it.
c.JupyterHub.services = [{
    "name": "book", "url": f"http://127.0.0.1:{INNER + 2}", "display": True,
    "command": [PYTHON, str(HERE / "book_service.py"), str(SITE), str(FOLDER / "handout.git")]}]
c.JupyterHub.load_roles = [{"name": "user", "scopes": ["self", "access:services!service=book"]}]

# Each student's server.
c.Spawner.cmd = [PYTHON, "-m", "jupyterhub.singleuser"]
c.Spawner.args = [f"--ServerApp.shutdown_no_activity_timeout={IDLE}",
                  f"--MappingKernelManager.cull_idle_timeout={IDLE}",
                  "--LabApp.extension_manager=readonly"]
c.Spawner.default_url = "/lab"
c.Spawner.mem_limit = MEMORY
c.Spawner.cpu_limit = PROCESSORS
c.Spawner.environment = {"PYTHONPATH": str(FOLDER / "package"),  # the book's, with packed answers
                         "OMP_NUM_THREADS": "1", "NBGITPULLER_DEPTH": "0"}
c.Spawner.start_timeout = c.Spawner.http_timeout = 120

if SPAWNER == "systemd":  # the machine of a class; the hub runs as root
    c.JupyterHub.spawner_class = "systemd"
    c.JupyterHub.cleanup_servers = False  # they go on while the hub is started again
    c.JupyterHub.services[0]["user"] = "nobody"
    c.Spawner.pre_spawn_hook = make_account
    c.SystemdSpawner.username_template = account("{USERNAME}")
    c.SystemdSpawner.unit_name_template = account("{USERNAME}")
    c.SystemdSpawner.isolate_tmp = c.SystemdSpawner.isolate_devices = True
    c.SystemdSpawner.disable_user_sudo = True
    c.SystemdSpawner.unit_extra_properties = {
        "TasksMax": str(TASKS), "MemorySwapMax": "0", "ProtectSystem": "strict",
        "ReadWritePaths": str(HOMES / "{USERNAME}"), "ProtectProc": "invisible",
        "InaccessiblePaths": " ".join(f"-{ROOT / name}" for name in HIDDEN)}
elif SPAWNER == "apart":  # one account for all, kept apart by Landlock
    c.JupyterHub.spawner_class = "simple"
    c.Spawner.pre_spawn_hook = make_folder
    c.SimpleLocalProcessSpawner.home_dir_template = str(HOMES / "{username}")
    c.Spawner.cmd = [PYTHON, str(HERE / "kept_apart.py"), *c.Spawner.cmd]
    if os.getuid() == 0:
        c.Spawner.args = [*c.Spawner.args, "--allow-root"]
else:
    sys.exit(f"HUB_SPAWNER is {SPAWNER!r}: it can be 'systemd' or 'apart'.")

"""Students' servers under one account, kept apart: for a machine without systemd, and for trials.

Each server starts by way of this file, which limits it and, with Landlock, lets it see Python, the
book's package and the student's own folder. It needs no root. What one account cannot give is a
limit on all of a student's processes together: memory is limited for each process.
"""

import os
import resource
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from classroom import isolation  # noqa: E402

FILES = 4096  # open at a time
LARGEST_FILE = 2**29  # bytes
PROCESSES = 4096  # of the account, all students together
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/proc", "/sys/fs/cgroup", "/sys/devices/system/cpu",
          "/etc/ld.so.cache", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
          "/etc/hosts", "/etc/resolv.conf", "/etc/ssl", "/etc/ca-certificates", "/etc/gitconfig",
          "/etc/profile", "/etc/bash.bashrc", "/etc/inputrc", "/etc/mime.types",
          "/etc/alternatives", "/etc/fonts", "/dev/urandom", "/dev/random", "/dev/zero")
DEVICES = ("/dev/null", "/dev/tty", "/dev/ptmx", "/dev/pts")
BOOK = (".venv", ".venv-hub")  # no chapter with its solutions


def main(*command):
    """Confine this process to a student's folder, then become the student's server."""
    home = Path(os.environ["HOME"])
    (home / ".tmp").mkdir(exist_ok=True)
    os.chdir(home)
    limit(int(os.environ["MEM_LIMIT"]))
    isolation.drop_capabilities()
    isolation.give_up_privileges()
    readable = [*SYSTEM, sys.base_prefix, os.environ["PYTHONPATH"], *(ROOT / each for each in BOOK)]
    isolation.restrict_files(readable, [home, *DEVICES], read=isolation.READ_AND_RUN, network=True)
    os.environ["TMPDIR"] = str(home / ".tmp")
    os.execv(command[0], command)


def limit(memory):
    """Limit what each process of a student may use, with no way back."""
    for kind, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_NOFILE, FILES),
                       (resource.RLIMIT_FSIZE, LARGEST_FILE), (resource.RLIMIT_CORE, 0),
                       (resource.RLIMIT_NPROC, PROCESSES)):
        before = resource.getrlimit(kind)[1]
        most = most if before == resource.RLIM_INFINITY else min(most, before)
        resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main(*sys.argv[1:])

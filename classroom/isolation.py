"""Confine a process that runs students' code: what Linux offers without root, from Python alone.

After :func:`confine` a process can read Python, its libraries and nothing else; it can write no
file, open no connection, start no process, signal nobody else, and use only so much processor time
and memory. It cannot undo any of this. Landlock (Linux 5.13) guards the files, a seccomp filter
the system calls, ``setrlimit`` the rest. Where one is missing, :func:`missing` says which.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
import sysconfig
from pathlib import Path

SECONDS = 60  # of processor time, for all exercises of one notebook
MEMORY = 5 * 2**28  # bytes of address space beyond what is in use: 1.25 GiB
FILES = 64  # open at a time

_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER, _DUMPABLE = 38, 22, 2, 4
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # Landlock's, the same on all machines
EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
READ_AND_RUN = EXECUTE | _READ_FILE | _READ_DIR
_ON_A_FILE = EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15  # truncate; what a device does
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # by version: so many bits are known
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

# System calls that are refused: their numbers on x86_64 and aarch64, None where there is no such.
_REFUSED = {
    "connections": ((41, 198), (53, 199), (42, 203), (49, 200), (50, 201), (43, 202), (288, 242)),
    "processes": ((57, None), (58, None), (59, 221), (322, 281), (272, 97), (308, 268)),
    "others": ((101, 117), (310, 270), (311, 271), (312, 272), (434, 434), (424, 424), (438, 438),
               (200, 130), (129, 138), (297, 240), (141, 140), (203, 122)),
    "files": ((90, None), (91, 52), (268, 53), (452, 452), (92, None), (93, 55), (94, None),
              (260, 54), (132, None), (235, None), (261, None), (280, 88), (188, 5), (189, 6),
              (190, 7), (197, 14), (198, 15), (199, 16), (463, 463), (466, 466), (76, 45),
              (165, 40), (166, 39)),
    "the kernel": ((425, 425), (426, 426), (427, 427), (321, 280), (298, 241), (323, 282),
                   (250, 219), (248, 217), (249, 218), (29, 194), (68, 186), (64, 190),
                   (240, 180)),
}
_CLONE, _CLONE3, _NO_SUCH_CALL = (56, 220), 435, 38
_OF_ONESELF = ((62, 129), (234, 131), (302, 261))  # kill, tgkill, prlimit64: of one's own process
_THREAD = 0x10000  # clone's flag that makes a thread, not a process
_LOAD, _EQUAL, _SET, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_ALLOW, _KILL, _ERROR, _NOT_PERMITTED = 0x7FFF0000, 0x80000000, 0x00050000, 1


def missing():
    """Return what this machine lacks for a confined run: a list of sentences, empty if nothing."""
    if sys.platform != "linux":
        return [f"{platform.system()} has no Landlock and no seccomp filters"]
    lacks = []
    if landlock_version() < 1:
        lacks.append("Landlock is not there: it takes Linux 5.13 or newer, with Landlock on")
    if platform.machine() not in _MACHINES:
        lacks.append(f"no list of system calls is known for {platform.machine()}")
    return lacks


def landlock_version():
    """Return the version of Landlock here, or a number below 1."""
    return _LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)


def confine(readable, devices=("/dev/urandom", "/proc/self")):
    """Confine this process for good; raise OSError if any of it fails."""
    limit_resources()
    drop_capabilities()
    _call("prctl", _LIBC.prctl(_DUMPABLE, 0, 0, 0, 0))
    give_up_privileges()
    restrict_files([*readable, *devices], ["/dev/null"])
    filter_calls()


def give_up_privileges():
    """Let nothing that this process starts have more rights than it, as ``sudo`` would."""
    _call("prctl", _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))


def limit_resources():
    """Limit processor time, memory, open files and what can be written, with no way back."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    for limit, most in ((resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_AS, used + MEMORY),
                        (resource.RLIMIT_NOFILE, FILES), (resource.RLIMIT_FSIZE, 0),
                        (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(limit, (most, most))


def drop_capabilities():
    """Give up what root may do, in case a teacher grades as root."""
    header, nothing = struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *(6 * [0]))
    _call("capset", _LIBC.capset(header, nothing))


def restrict_files(readable, writable=(), *, read=_READ_FILE | _READ_DIR, network=False):
    """Let this process use what lies below these paths, and touch no other file.

    Parameters
    ----------
    readable, writable : iterable of path
        To read only, and to do all with; a path that is not there is passed over.
    read : int
        What may be done with the readable ones, in Landlock's bits.
    network : bool
        Whether connections are still allowed.
    """
    version = landlock_version()
    rights = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    wanted = [rights, 0b11 if version >= 4 and not network else 0, 0b11 if version >= 6 else 0]
    size = 8 * (3 if version >= 6 else 2 if version >= 4 else 1)
    rules = _call("Landlock", _LIBC.syscall(
        _CREATE_RULESET, struct.pack("QQQ", *wanted), ctypes.c_size_t(size), 0))
    for paths, allowed in ((readable, read), (writable, rights)):
        for path in filter(os.path.exists, paths):
            _allow(rules, path, allowed)
    _call("Landlock", _LIBC.syscall(_RESTRICT_SELF, rules, 0))
    os.close(rules)


def _allow(rules, path, rights):
    """Add one path to a set of rules; on what is no folder, only a file's rights make sense."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = rights if os.path.isdir(path) else rights & _ON_A_FILE
        _call("Landlock", _LIBC.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", allowed, place), 0))
    finally:
        os.close(place)


def filter_calls():
    """Refuse the system calls by which a process reaches beyond itself."""
    column, machine = _MACHINES[platform.machine()]
    program = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    program += _when(_AT_LEAST, 0x40000000, _ERROR | _NOT_PERMITTED)  # x86_64's second table
    numbers = [pair[column] for group in _REFUSED.values() for pair in group]
    for number in filter(None, numbers):
        program += _when(_EQUAL, number, _ERROR | _NOT_PERMITTED)
    program += _when(_EQUAL, _CLONE3, _ERROR | _NO_SUCH_CALL)  # then clone is used
    program += _unless(_CLONE[column], [(_SET, 1, 0, _THREAD)])
    for pair in _OF_ONESELF:
        program += _unless(pair[column], [(_EQUAL, 2, 0, os.getpid()), (_EQUAL, 1, 0, 0)])
    program.append((_RETURN, 0, 0, _ALLOW))
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    held = ctypes.create_string_buffer(code)
    pointer = struct.pack("HP", len(program), ctypes.addressof(held))
    _call("seccomp", _LIBC.prctl(_SECCOMP, _FILTER, pointer, 0, 0))


def _when(test, number, verdict):
    return [(test, 0, 1, number), (_RETURN, 0, 0, verdict)]


def _unless(number, tests):
    """Refuse a call unless one of the tests holds for its first argument."""
    inner = [(_LOAD, 0, 0, 16), *tests, (_RETURN, 0, 0, _ERROR | _NOT_PERMITTED),
             (_LOAD, 0, 0, 0)]
    return [(_EQUAL, 0, len(inner), number), *inner]


def _call(name, result):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def readable_paths():
    """Return what a student's code may read: Python, installed packages, no file of the book."""
    paths = ["/usr/lib", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache",
             "/etc/localtime", *Path(sys.base_prefix, "lib").glob("libpython*")]
    own = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    for folder in sorted(own):
        paths += [path for path in sorted(Path(folder).iterdir())
                  if "attention" not in path.name and not path.name.endswith("-packages")]
    return [str(path) for path in paths]

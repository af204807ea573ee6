"""What an answer might leave changed, put back: streams, folder, limits, Python's own names."""

import builtins
import contextlib
import io
import math
import os
import sys
import warnings

import numpy as np

_MODULES = (builtins, np, np.linalg, np.random, math)
_MOST_PRINTED = 2000


def _names():
    """Return what the modules' names stand for; ``_`` is the interpreter's last value."""
    return [(module, {name: value for name, value in vars(module).items() if name != "_"})
            for module in _MODULES]


_PRISTINE = _names()


class Printed(io.StringIO):
    """Keeps the beginning of what an answer prints, however much it is."""

    def write(self, text):
        """Take ``text``; what is beyond the limit is dropped."""
        room = _MOST_PRINTED - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)

    def close(self):
        """Stay open: what an answer closes is needed after it."""


@contextlib.contextmanager
def preserved():
    """Yield what an answer prints; afterwards everything is as it was before."""
    printed = Printed()
    streams = sys.stdin, sys.stdout, sys.stderr
    trace, profile = sys.gettrace(), sys.getprofile()
    recursion, options = sys.getrecursionlimit(), np.get_printoptions()
    names, folder = _names(), _folder()
    with warnings.catch_warnings(), np.errstate(all="ignore"), _notebook(printed):
        warnings.simplefilter("ignore")
        sys.stdout, sys.stderr = printed, Printed()
        try:
            yield printed
        finally:
            _put_back(names)
            _go_back(folder)
            sys.stdin, sys.stdout, sys.stderr = streams
            sys.setrecursionlimit(recursion)
            _resume(sys.getprofile, sys.setprofile, profile)
            _resume(sys.gettrace, sys.settrace, trace)
            np.set_printoptions(**options)


@contextlib.contextmanager
def pristine():
    """Give Python's and NumPy's names their first meaning for a while."""
    names = _names()
    _put_back(_PRISTINE)
    try:
        yield
    finally:
        _put_back(names)


def _resume(get, install, saved):
    """Bring back a trace or profile function; a profiler in C begins again by itself."""
    if get() is saved:
        return
    if saved is None or callable(saved):
        install(saved)
    else:
        install(None)
        saved.enable()


def _put_back(names):
    """Restore names, without the help of any that may have been replaced."""
    for module, saved in names:
        module.__dict__.update(saved)


def _folder():
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return None


def _go_back(folder):
    if folder is not None and folder != _folder():
        with contextlib.suppress(OSError):
            os.chdir(folder)


@contextlib.contextmanager
def _notebook(printed):
    """In IPython, take ``display`` for printing, and turn ``exit()`` into an exception."""
    shell = _shell()
    if shell is None:
        yield
        return
    from IPython.core.displaypub import CapturingDisplayPublisher

    publisher, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    shell.ask_exit = _leave
    try:
        yield
    finally:
        shown = shell.display_pub.outputs
        shell.display_pub = publisher
        del shell.ask_exit
        for output in shown:
            printed.write(output["data"].get("text/plain", ""))


def _shell():
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _leave():
    raise SystemExit

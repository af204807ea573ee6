"""What an answer might leave changed, put back: streams, filters, limits, NumPy's own names."""

import contextlib
import io
import math
import operator
import sys
import warnings

import numpy as np

_MODULES = (np, np.linalg, np.random, math)
_PRISTINE = tuple((module, dict(vars(module))) for module in _MODULES)
_MOST_PRINTED = 2000


class Printed(io.StringIO):
    """Keeps the beginning of what an answer prints, however much it is."""

    def write(self, text):
        """Take ``text``; what is beyond the limit is dropped."""
        room = _MOST_PRINTED - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)


@contextlib.contextmanager
def preserved():
    """Yield what an answer prints; afterwards everything is as it was before."""
    printed = Printed()
    streams = sys.stdin, sys.stdout, sys.stderr
    trace, profile = sys.gettrace(), sys.getprofile()
    recursion, options = sys.getrecursionlimit(), np.get_printoptions()
    names = [(module, dict(vars(module))) for module in _MODULES]
    with warnings.catch_warnings(), np.errstate(all="ignore"), _notebook(printed):
        warnings.simplefilter("ignore")
        sys.stdout, sys.stderr = printed, Printed()
        try:
            yield printed
        finally:
            _put_back(names)
            sys.stdin, sys.stdout, sys.stderr = streams
            sys.setrecursionlimit(recursion)
            _resume(sys.getprofile, sys.setprofile, profile)
            _resume(sys.gettrace, sys.settrace, trace)
            np.set_printoptions(**options)


@contextlib.contextmanager
def pristine():
    """Give NumPy's names their first meaning for a while, whatever was done to them."""
    names = [(module, dict(vars(module))) for module in _MODULES]
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
    for module, saved in names:
        if not all(map(operator.is_, map(vars(module).get, saved), saved.values())):
            vars(module).update(saved)


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

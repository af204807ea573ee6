"""Limits on an answer: time, memory, and a real interrupt kept apart from a raised one.

Where signals exist (the main thread on Unix) an alarm ends an answer, and rings again at once
until it is out of every bare ``except``. Elsewhere a trace function does, line by line (only a loop
that also keeps each exception it catches may escape it). Neither can end one long call that stays
inside compiled code, such as a single huge NumPy product or ``sum(itertools.count())``: it ends
only when that call returns.
"""

import dis
import functools
import math
import os
import signal
import sys
import sysconfig
import threading
import time

import numpy

try:
    import resource
except ImportError:  # Windows, and Python in the browser
    resource = None

MEMORY_MARGIN = 2**30  # what an answer may allocate, where that can be limited
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARIES = (_PACKAGE, os.path.dirname(numpy.__file__), sysconfig.get_path("stdlib"),
              os.path.dirname(dis.__file__),  # in the browser, the standard library's zip file
              "<frozen")
_AGAIN = 0.001  # seconds until the alarm rings again


class TimeUp(BaseException):
    """Ends an answer that runs too long. No ``except Exception`` catches it."""


def alarms_work():
    """Tell whether a signal can end a running answer here."""
    return (hasattr(signal, "setitimer") and sys.platform != "emscripten"
            and threading.current_thread() is threading.main_thread())


class Watch:
    """Limits the time between :meth:`start` and :meth:`stop`.

    Nothing is raised in this file's own frames, so that restoring is never cut short.
    """

    def __init__(self):
        self.armed = self.interrupted = False
        self.started = self.deadline = self.spent = 0.0
        self.alarm = alarms_work()
        self._saved = {}

    def __enter__(self):
        self._hook, sys.unraisablehook = sys.unraisablehook, self._unraised
        self._listen("SIGINT", self._interrupt)
        if self.alarm:
            self._listen("SIGALRM", self._ring)
            self._timer = signal.setitimer(signal.ITIMER_REAL, 0)
            self._entered = time.monotonic()
        return self

    def __exit__(self, *_):
        sys.unraisablehook = self._hook
        for number, handler in self._saved.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        if self.alarm and self._timer[0]:
            left = self._timer[0] - (time.monotonic() - self._entered)
            signal.setitimer(signal.ITIMER_REAL, max(left, _AGAIN), self._timer[1])
        if self.interrupted:
            raise KeyboardInterrupt

    def start(self, seconds):
        """Let what runs next take ``seconds`` at most; they may be infinite."""
        self.started = time.monotonic()
        self.deadline = self.started + seconds
        self.armed = True
        if seconds == math.inf:
            return
        if self.alarm:
            signal.setitimer(signal.ITIMER_REAL, max(seconds, _AGAIN), _AGAIN)
        else:
            sys.setprofile(self._profile)
            sys.settrace(self._trace)

    def stop(self):
        """End the limit; what was used of it is :attr:`spent`."""
        self.armed = False
        self.spent = time.monotonic() - self.started
        if self.alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
        else:
            sys.settrace(None)
            sys.setprofile(None)

    def _late(self):
        return time.monotonic() > self.deadline

    def _listen(self, name, handler):
        """Install a handler where that can be done and interrupts are not ignored."""
        number = getattr(signal, name)
        try:
            if name != "SIGINT" or callable(signal.getsignal(number)):
                self._saved[number] = signal.signal(number, handler)
        except ValueError:
            self._saved.pop(number, None)  # not the main thread: no interrupt arrives here

    def _interrupt(self, _, frame):
        self.interrupted = True
        if self.armed and not _ours(frame):
            self.deadline = time.monotonic()  # an answer that swallows this gets no more time
            if self.alarm:
                signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
            raise KeyboardInterrupt

    def _unraised(self, problem):
        """Pass on what Python cannot raise in a clean-up; the alarm is not: it rings again."""
        if not isinstance(problem.exc_value, TimeUp):
            self._hook(problem)

    def _ring(self, _, frame):
        if self.armed and not _ours(frame):
            raise _Again(self)

    def _trace(self, frame, event, _):
        if self.armed and self._late() and not _ours(frame):
            raise _Again(self)
        if event == "call":
            if in_library(frame.f_code.co_filename):
                return None  # lines of NumPy and of the standard library end by themselves
            frame.f_trace_opcodes = _spins(frame.f_code)
        return self._trace

    def _profile(self, frame, *_):
        if self.armed and self._late() and sys.gettrace() is None and not _ours(frame):
            self._trace_from(frame)

    def _trace_from(self, frame):
        """Trace again, in frames that are already running: raising has ended the tracing."""
        while frame is not None and not _ours(frame):
            frame.f_trace, frame.f_trace_opcodes = self._trace, True
            frame = frame.f_back
        sys.settrace(self._trace)


class _Again(TimeUp):
    """Raised by the trace function; when an answer swallows it, the tracing begins anew."""

    def __init__(self, watch):
        self.watch = watch

    def __del__(self):
        if self.watch.armed:
            self.watch._trace_from(sys._getframe(1))


class MemoryLimit:
    """Lets the process grow by :data:`MEMORY_MARGIN` at most, where the system can see to it."""

    def __enter__(self):
        self._saved = None
        used = _address_space()
        if used is not None:
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            wanted = [used + MEMORY_MARGIN]
            wanted += [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
            resource.setrlimit(resource.RLIMIT_AS, (min(wanted), hard))
            self._saved = soft, hard
        return self

    def __exit__(self, *_):
        if self._saved is not None:
            resource.setrlimit(resource.RLIMIT_AS, self._saved)


def _address_space():
    """Return the bytes of address space in use, or None where that cannot be told or limited."""
    if resource is None or not sys.platform.startswith("linux"):
        return None
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


@functools.cache
def _spins(code):
    """Tell whether one instruction jumps to itself: `while True: pass` makes no line events."""
    return any("BACKWARD" in each.opname and each.argval == each.offset
               for each in dis.get_instructions(code))


@functools.cache
def in_library(filename):
    """Tell whether code is NumPy's, Python's, this package's or an installed one's."""
    packages = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
    return filename.startswith(_LIBRARIES) or any(part in filename for part in packages)


def _ours(frame):
    return frame.f_code.co_filename in ENGINE_FILES


ENGINE_FILES = {__file__}  # frames in which nothing is raised; others add themselves

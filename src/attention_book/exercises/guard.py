"""Running an answer: whatever it does, this returns what came of it."""

import builtins
import copy
import gc
import linecache
import re
import sys
import traceback
import tracemalloc
from dataclasses import dataclass, replace

import numpy

from attention_book.exercises.compare import LONGEST, Part, as_part
from attention_book.exercises.limits import (
    ENGINE_FILES,
    MemoryLimit,
    TimeUp,
    Watch,
    in_library,
)
from attention_book.exercises.model import Watched
from attention_book.exercises.predictions import in_usual_form
from attention_book.exercises.state import preserved

ENGINE_FILES.add(__file__)
_BUFFER = 256  # numbers in each of NumPy's buffers, while memory is measured
_LONGEST = 300  # characters of an exception's text, and of a line


@dataclass(frozen=True)
class Error:
    """An exception as text: nothing of the answer is kept alive by it."""

    kind: str
    text: str
    line: str  # the learner's own line, "" where it is not known


@dataclass(frozen=True)
class Outcome:
    """What came of an answer on one input."""

    ended: str  # "returned", "raised" or "too-slow"
    parts: tuple[Part, ...] = ()
    returned: str = ""
    error: Error | None = None
    printed: str = ""
    changed: int | None = None  # which argument it wrote to
    calls: tuple = ()
    peak: int = 0  # bytes, where they were measured
    several: str = ""  # "a tuple of 2", where it is one
    limit: float = 0.0  # seconds for all inputs together


class Runner:
    """Runs answers within one budget of seconds; use as a context."""

    def __init__(self, exercise, seconds):
        self.exercise, self.left, self.limit = exercise, seconds, seconds
        self.watch, self.memory = Watch(), MemoryLimit()
        self.names = dict(vars(builtins))  # made here, where no memory is measured

    def __enter__(self):
        self.watch.__enter__()
        return self

    def __exit__(self, *details):
        return self.watch.__exit__(*details)

    def run(self, answer, case, listen=None):
        """Return the :class:`Outcome` of ``answer`` on one case; everything else is put back."""
        with preserved() as printed, self.memory:
            outcome = in_growth(lambda each: self._try(answer, each, listen), case)
        if self.watch.interrupted:
            raise KeyboardInterrupt
        return replace(outcome, printed=printed.getvalue(), limit=self.limit)

    def run_own(self, answers, cases):
        """Return the outcomes of the catalogue's own answers, which leave nothing to put back."""
        with preserved():
            return tuple(tuple(in_growth(lambda each: self._try(answer, each), case)  # noqa: B023
                               for case in cases) for answer in answers)

    def _try(self, answer, case, listen=None):
        function = self._reading(answer) if self.exercise.predicts else answer
        args = copy.deepcopy(case.args)
        found = self._invoke(function, args, case.memory is not None, listen)
        return Outcome(**found, changed=_written_to(args, case.args), calls=self._calls(case, args))

    def _reading(self, prediction):
        return lambda: in_usual_form(prediction, as_part(self.exercise.solution))

    def _invoke(self, function, args, measured, listen):
        """Call the function within what is left of the time."""
        memory = _Peak(measured)
        try:
            found, trace = self._watched(function, args, memory, listen)
        except TimeUp:
            found, trace = {"ended": "too-slow"}, None
        memory.stop()
        if trace is not None:
            found["error"] = Error(*found["error"], _learners_line(trace)[:_LONGEST])
            trace = None  # it holds this frame too, and whatever the answer had made
        self.left -= self.watch.spent
        return found if self.left > 0 else {"ended": "too-slow"}

    def _watched(self, function, args, memory, listen):
        """Call the function and read its result, both under the watch."""
        self.watch.start(self.left)
        try:
            if listen:
                sys.setprofile(listen)
            value = self._alone(function, *args)
            found = {"ended": "returned", "returned": type(value).__name__, "peak": memory.stop(),
                     "parts": self._alone(read, value, len(self.exercise.parts)),
                     "several": f"a tuple of {len(value)}" if type(value) is tuple else ""}
            value = None  # its own clean-up runs under the watch too
            return found, None
        except TimeUp:
            raise
        except BaseException as error:
            return ({"ended": "raised", "error": (type(error).__name__[:LONGEST], _text(error))},
                    error.__traceback__)
        finally:
            self.watch.stop()

    def _alone(self, function, *args):
        """Call a function, and give Python's own names their meaning again right after it."""
        try:
            return function(*args)
        finally:
            builtins.__dict__.update(self.names)

    def _calls(self, case, args):
        watched = [arg.calls for arg in args if isinstance(arg, Watched)]
        if not watched:
            return ()
        observe = self.exercise.observe or (lambda _, calls: len(calls))
        return tuple(observe(case.args, calls) for calls in watched)


def in_growth(run, case):
    """Run a case; of one with a half, the peak is what is needed beyond twice the half's."""
    if case.half is None:
        return run(case)
    half = run(replace(case, args=case.half, half=None))
    if half.ended != "returned":
        return half
    whole = run(replace(case, half=None))
    return replace(whole, peak=whole.peak - 2 * half.peak)


class _Peak:
    """The most memory in use at one time since this was made, above what was in use then.

    Two things would make it depend on what ran before, and on more than the answer's own arrays:
    objects that Python keeps at hand for use again, which a full collection gives back, and NumPy's
    buffers for casting, which are made small.
    """

    def __init__(self, measured):
        self.own = measured and not tracemalloc.is_tracing()
        self.measured = measured
        if measured:
            _give_back()
            self.buffer = numpy.setbufsize(_BUFFER)
        if self.own:
            tracemalloc.start()
        if measured:
            tracemalloc.reset_peak()
            self.before = tracemalloc.get_traced_memory()[0]

    def stop(self):
        """Return the bytes, and end the tracing that this began."""
        peak = tracemalloc.get_traced_memory()[1] - self.before if self.measured else 0
        if self.own:
            tracemalloc.stop()
        if self.measured:
            numpy.setbufsize(self.buffer)
        self.measured = self.own = False
        return peak


def _give_back():
    """Let Python give back what it keeps for use again, without a look at all that lives."""
    gc.freeze()
    gc.collect()
    gc.unfreeze()


def read(value, n_parts):
    """Return the result's parts; of a result that should have several, each on its own."""
    if n_parts and isinstance(value, tuple | list | numpy.ndarray) and len(value) == n_parts:
        return tuple(as_part(part) for part in value)
    return (as_part(value),)


def _text(error):
    try:
        text = str(error)
    except Exception:
        text = "an exception that cannot be shown"
    text = text[: 2 * _LONGEST]
    return re.sub(r"0x[0-9a-fA-F]+", "0x…", text)[:_LONGEST]  # an address differs at each run


def _learners_line(trace):
    """Return the innermost line that is the learner's own."""
    own = [(frame.f_code.co_filename, number) for frame, number in traceback.walk_tb(trace)
           if not in_library(frame.f_code.co_filename)]
    if not own:
        return ""
    name, number = own[-1]
    return linecache.getline(name, number).strip() or f"line {number}"


def _written_to(args, originals):
    """Return the position of the first argument that no longer holds what it held."""
    for position, (now, then) in enumerate(zip(args, originals, strict=True)):
        if isinstance(then, numpy.ndarray) and (
                now.shape != then.shape or now.dtype != then.dtype
                or now.tobytes() != then.tobytes()):
            return position
    return None

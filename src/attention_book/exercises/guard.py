"""Running an answer: whatever it does, this returns what came of it."""

import builtins
import copy
import linecache
import re
import sys
import traceback
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
from attention_book.exercises.peak_memory import PeakMemory
from attention_book.exercises.predictions import in_usual_form
from attention_book.exercises.state import preserved

ENGINE_FILES.add(__file__)
MEASURED = 2  # times that an answer is run where memory is measured
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
            outcome = in_growth(lambda each: self._measured(answer, each, listen), case)
        if self.watch.interrupted:
            raise KeyboardInterrupt
        return replace(outcome, printed=printed.getvalue(), limit=self.limit)

    def run_own(self, answers, cases):
        """Return the outcomes of the catalogue's own answers, which leave nothing to put back."""
        with preserved():
            return tuple(tuple(in_growth(lambda each: self._measured(answer, each), case)  # noqa: B023
                               for case in cases) for answer in answers)

    def _measured(self, answer, case, listen=None):
        """Run a case; where memory is measured, again, and keep the least peak.

        Another thread, such as one of a notebook's own, may add to one of them. The repetitions
        take none of the answer's time.
        """
        if case.memory is None:
            return self._try(answer, case, copy.deepcopy(case.args), listen)
        first, *others = [copy.deepcopy(case.args) for _ in range(MEASURED)]
        with PeakMemory() as memory:
            outcome = self._try(answer, case, first, listen, memory)
            peaks, left = [outcome.peak], self.left
            for args in others if outcome.ended == "returned" else ():
                again = self._try(answer, case, args, listen, memory)
                peaks += [again.peak] if again.ended == "returned" else []
        self.left = left
        return replace(outcome, peak=min(peaks))

    def _try(self, answer, case, args, listen, memory=None):
        function = self._reading(answer) if self.exercise.predicts else answer
        found = self._invoke(function, args, memory, listen)
        return Outcome(**found, changed=_written_to(args, case.args), calls=self._calls(case, args))

    def _reading(self, prediction):
        return lambda: in_usual_form(prediction, as_part(self.exercise.solution))

    def _invoke(self, function, args, memory, listen):
        """Call the function within what is left of the time."""
        if memory:
            memory.begin()
        try:
            found, trace = self._watched(function, args, memory, listen)
        except TimeUp:
            found, trace = {"ended": "too-slow"}, None
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
            found = {"ended": "returned", "returned": type(value).__name__,
                     "peak": memory.end() if memory else 0,
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

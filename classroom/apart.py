"""The judge's side of a confined process: it sends inputs, takes plain results, and keeps time."""

import os
import socket
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np

from attention_book.exercises.compare import LONGEST, MOST_VALUES, Part
from attention_book.exercises.guard import MEASURED, Error, Outcome, in_growth
from attention_book.exercises.model import Watched
from attention_book.exercises.verdicts import plain
from classroom import wire
from classroom.chapters import ROOT

PATIENCE = 2  # times as long as in a notebook: the machine has other submissions to run
GRACE = 3.0  # seconds beyond an answer's own limit, for whatever is not an answer
CELLS_WITHIN = 30.0  # seconds for all cells of a notebook
_FAMILIES = {"bool", "int", "float", "half", "complex", "none", "other"}
_ENDINGS = {"returned", "raised", "too-slow"}
_START = "import sys; sys.path.insert(0, sys.argv[2]); from classroom.nursery import main; " \
         "main(int(sys.argv[1]))"


class GoneError(Exception):
    """A confined process ended, broke the rules of the exchange, or took too long."""


class Nursery:
    """The process from which confined ones are forked; use as a context."""

    def __enter__(self):
        self.control, other = socket.socketpair()
        environment = {"PATH": os.defpath, "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1",
                       "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "CI": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", _START, str(other.fileno()), str(ROOT)],
            pass_fds=[other.fileno()], env=environment, stdin=subprocess.DEVNULL)
        other.close()
        return self

    def __exit__(self, *_):
        self.control.close()
        self.process.wait()

    def start(self, hidden=()):
        """Start a confined process; return its number and the connection to it."""
        ours, theirs = socket.socketpair()
        wire.send(self.control, {"hidden": hidden})
        socket.send_fds(self.control, [b"f"], [theirs.fileno()])
        theirs.close()
        return wire.receive(self.control)[0]["started"], ours

    def end(self, child):
        """End a confined process; say whether it was alive, or which signal had ended it."""
        wire.send(self.control, {"end": child})
        return wire.receive(self.control)[0]


class Confined:
    """One confined process; use as a context."""

    def __init__(self, nursery, hidden=()):
        self.nursery, self.hidden = nursery, hidden
        self.at = None  # the number of the cell that is being run

    def __enter__(self):
        self.number, self.connection = self.nursery.start(self.hidden)
        message, _ = self._next(GRACE + 10)
        if "ready" not in message:
            self.__exit__()
            raise OSError(f"no confined process could be started: {message.get('failed')}")
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.ended = self.nursery.end(self.number)

    def define(self, cells, answers):
        """Run cells; return what each answer is, and the errors by the cells' numbers."""
        self._send({"do": "define", "cells": cells, "answers": answers})
        until = time.monotonic() + CELLS_WITHIN
        while True:
            message, arrays = self._next(until - time.monotonic())
            if "cell" not in message:
                break
            if type(message["cell"]) is not int:
                raise GoneError("its messages are not the worker's")
            self.at = message["cell"]
        self.at = None
        errors = message.get("errors")
        if type(message.get("defined")) is not dict or type(errors) is not dict:
            raise GoneError("its messages are not the worker's")
        found = {name: value_of(message["defined"].get(name), arrays) for name in answers}
        return found, {int(key): plain(str(said))[:400] for key, said in errors.items()
                       if key.isdecimal()}

    def run(self, answer, case, seconds, parts, listen=()):
        """Call an answer on one input; return the outcome, and what of the package it called."""
        functions = {str(number): Watched(arg.function) if isinstance(arg, Watched) else arg
                     for number, arg in enumerate(case.args) if callable(arg)}
        arrays = []
        forms = [form_of(number, arg, arrays) for number, arg in enumerate(case.args)]
        self._send({"do": "run", "answer": answer, "args": forms, "parts": parts,
                    "seconds": seconds, "measure": case.memory is not None, "listen": listen},
                   arrays)
        until = time.monotonic() + seconds * times_run(case) + GRACE
        while True:
            message, arrays = self._next(until - time.monotonic())
            if "call" not in message:
                break
            self._answer_call(functions.get(str(message["call"])), arrays)
        calls = tuple(each.calls for each in functions.values() if isinstance(each, Watched))
        return outcome_of(message.get("outcome"), arrays, len(case.args)), calls, heard_in(message)

    def _answer_call(self, function, arrays):
        """Call a function that was given to an answer, for the answer."""
        if function is None:
            raise GoneError("it asked for a function that it was not given")
        try:
            with np.errstate(all="ignore"):
                result = np.asarray(function(*arrays))
        except Exception as error:
            self._send({"raised": f"{type(error).__name__}: {error}"[:300]})
        else:
            self._send({"returned": True}, [result])

    def _send(self, message, arrays=()):
        try:
            self.connection.settimeout(GRACE)
            wire.send(self.connection, message, arrays)
        except OSError:
            raise GoneError("it has ended") from None

    def _next(self, seconds):
        self.connection.settimeout(max(seconds, 0.01))
        try:
            message, arrays = wire.receive(self.connection)
        except TimeoutError:
            raise GoneError("it was still running") from None
        except (OSError, EOFError):
            raise GoneError("it has ended") from None
        except wire.BrokenMessageError as error:
            raise GoneError(f"its message is broken: {error}") from None
        if type(message) is not dict:
            raise GoneError("its messages are not the worker's")
        return message, arrays


def form_of(number, arg, arrays):
    """Return the form in which an argument is sent; a function stays here, and goes by number."""
    if isinstance(arg, np.ndarray):
        arrays.append(arg)
        return ["array", len(arrays) - 1]
    if isinstance(arg, np.random.Generator):
        return ["generator", arg.bit_generator.state]
    if callable(arg):
        return ["function", number]
    return ["value", arg]


def outcome_of(said, arrays, n_args):
    """Return an outcome as reported, once all of it has the form that an outcome has."""
    try:
        parts = tuple(_parts(said["parts"], iter(arrays)))
        error = said["error"] and Error(*(_text(said["error"][key], 300)
                                          for key in ("kind", "text", "line")))
        changed = said["changed"]
        sound = (said["ended"] in _ENDINGS and (error is None) == (said["ended"] != "raised")
                 and (parts != ()) == (said["ended"] == "returned")
                 and (changed is None or (type(changed) is int and 0 <= changed < n_args))
                 and type(said["peak"]) is int)
        if not sound:
            raise ValueError
        return Outcome(ended=said["ended"], parts=parts, returned=_text(said["returned"], LONGEST),
                       error=error, printed=_text(said["printed"], 2000), changed=changed,
                       peak=said["peak"], several=_text(said["several"], LONGEST))
    except (KeyError, TypeError, ValueError):
        raise GoneError("its messages are not the worker's") from None


def _parts(said, arrays):
    for each in said:
        shape = tuple(each["shape"])
        values = next(arrays, None) if each["values"] else None
        if each["values"] and values is None:
            raise ValueError
        if each["family"] not in _FAMILIES or not all(type(n) is int for n in shape):
            raise ValueError
        if values is not None and (values.shape != shape or values.size > MOST_VALUES
                                   or values.dtype != np.float64):
            raise ValueError
        yield Part(shape, each["family"], _text(each["described"], 200), values)


def _text(value, longest):
    if type(value) is not str:
        raise TypeError
    return value[:longest]


def heard_in(message):
    """Return the name of a package's function that was called, or None."""
    heard = message["outcome"].get("heard")
    return plain(heard[0])[:80] if type(heard) is list and heard and type(heard[0]) is str else None


def value_of(said, arrays):
    """Return ``(kind, value)`` of an answer as reported: missing, package, function or value."""
    try:
        kind, *rest = said
        if kind in ("missing", "function"):
            return kind, None
        if kind == "package":
            return kind, _text(rest[0], LONGEST)
        return "value", _value(said, arrays)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, RecursionError):
        raise GoneError("its messages are not the worker's") from None


def _value(said, arrays):
    kind, content = said[0], said[1]
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](_value(each, arrays) for each in content)
    if kind == "array":
        return arrays[content]
    if kind == "nothing":
        return {"NoneType": None, "ellipsis": ..., "NotImplementedType": NotImplemented}[content]
    if kind == "other":
        name = _text(content, LONGEST)
        return type(name if name.isidentifier() else "object", (), {})()
    return {"bool": bool, "float": float, "int": int, "str": str}[kind](content)


def listed(exercise):
    """Return the package's functions for the same thing, in a form that can be sent."""
    pairs = [each if isinstance(each, tuple) else (each, None) for each in exercise.package]
    return [[function.__module__, function.__name__, argument] for function, argument in pairs]


def times_run(case):
    """Return how often an answer is run on a case: more than once where memory is measured."""
    return 1 if case.memory is None else MEASURED


class ApartRunner:
    """Runs an answer in a confined process, in place of the engine's own runner."""

    def __init__(self, exercise, confined, name, seconds):
        self.exercise, self.confined, self.name = exercise, confined, name
        self.left, self.limit = seconds, seconds * PATIENCE

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def run(self, _, case, listen=()):
        """Return the outcome on one case; ``listen`` lists functions of the package to note."""
        return in_growth(lambda each: self._once(each, listen), case)

    def _once(self, case, listen):
        start = time.monotonic()
        outcome, calls, self.heard = self.confined.run(
            self.name, case, max(self.left, 0.01) * PATIENCE, len(self.exercise.parts), listen)
        self.left -= (time.monotonic() - start) / PATIENCE / times_run(case)
        if self.left <= 0:
            outcome = Outcome("too-slow")
        observe = self.exercise.observe or (lambda _, made: len(made))
        return replace(outcome, limit=self.limit,
                       calls=tuple(observe(case.args, made) for made in calls))

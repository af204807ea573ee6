"""What a confined process does: run a student's cells, call the answers, report what came of it.

The judge believes none of it blindly: results are compared with right ones that are not here.
"""

import copy
import inspect
import sys
import types
from dataclasses import asdict

import numpy as np

from attention_book.exercises import guard, limits, packages
from attention_book.exercises.absent import NOTHING
from attention_book.exercises.compare import describe
from attention_book.exercises.model import Case
from classroom import cells, wire

limits.ENGINE_FILES |= {__file__, cells.__file__, wire.__file__}  # no alarm interrupts these
_DEEPEST = 4  # lists in lists, in a prediction


class PackageCalled(Exception):
    """An answer called a function of the package that does the exercise's own work."""


class Worker:
    """Serves one notebook over one connection."""

    def __init__(self, connection):
        self.connection, self.names = connection, {}

    def serve(self):
        """Do what the judge asks for, until it has gone."""
        while True:
            message, arrays = wire.receive(self.connection)
            if message["do"] == "define":
                self.define(message)
            else:
                self.run(message, arrays)

    def define(self, message):
        """Run the cells that the answers need; say what each answer is."""
        prepared = [cells.prepare(number, text) for number, text, _ in message["cells"]]
        page = {number for number, _, from_page in message["cells"] if from_page}
        self.names, errors = cells.run(cells.needed(prepared, page), lambda number: wire.send(
            self.connection, {"cell": number}))
        arrays = []
        found = {name: self.form(name, listed, arrays)
                 for name, listed in message["answers"].items()}
        wire.send(self.connection, {"defined": found, "errors": errors}, arrays)

    def form(self, name, listed, arrays):
        """Say what an answer is: a function, or a value in a form that can be sent."""
        if name not in self.names:
            return ["missing"]
        value = self.names[name]
        for function, argument, said in map(package_function, listed):
            if argument is None and (value is function or value is inspect.unwrap(function)):
                return ["package", said]
        return ["function"] if callable(value) else plain(value, arrays)

    def run(self, message, arrays):
        """Call an answer on one input and send what came of it."""
        args = tuple(self.argument(form, arrays) for form in message["args"])
        case = Case(args, "", memory=0 if message["measure"] else None)
        exercise = types.SimpleNamespace(parts=("",) * message["parts"], predicts=False,
                                         observe=None)
        heard = []
        listen = listener(message["listen"], heard) if message["listen"] else None
        with guard.Runner(exercise, message["seconds"]) as runner:
            outcome = runner.run(self.names[message["answer"]], case, listen)
        found = asdict(outcome) | {"calls": [], "limit": 0, "heard": heard[:1]}
        values = [part.values for part in outcome.parts if part.values is not None]
        for part, said in zip(outcome.parts, found["parts"], strict=True):
            said["values"] = part.values is not None
        wire.send(self.connection, {"outcome": found}, values)

    def argument(self, form, arrays):
        kind, value = form
        if kind == "array":
            return arrays[value]
        if kind == "generator":
            generator = np.random.default_rng()
            generator.bit_generator.state = value
            return generator
        if kind == "function":
            return lambda *args: self.ask(value, args)  # a function is not copied with them
        return value

    def ask(self, number, args):
        """Ask the judge for what a function that was given to the answer returns."""
        given = [np.asarray(arg) for arg in args]
        if any(each.dtype.kind not in "biuf" for each in given):
            raise TypeError("the function takes arrays of numbers")
        wire.send(self.connection, {"call": number}, given)
        message, arrays = wire.receive(self.connection)
        if "raised" in message:
            raise ValueError(message["raised"])
        return arrays[0]


def listener(listed, heard):
    """Return a profile function that notes which of the package's functions are called."""
    codes = [(inspect.unwrap(function).__code__, argument, name)
             for function, argument, name in map(package_function, listed)]

    def listen(frame, event, _):
        if event == "call":
            heard.extend(name for code, argument, name in codes
                         if frame.f_code is code and packages._given(frame, argument))

    return listen


def package_function(listed):
    """Return a function of the package, the argument that tells, and the function's name."""
    module, name, argument = listed
    return getattr(sys.modules[module], name), argument, name


def hide_functions(listed):
    """Take functions out of the package, so that an answer has to do without them."""
    for function, argument, name in list(map(package_function, listed)):
        instead = forbidden(function, argument, name)
        for module in [each for key, each in sys.modules.items()
                       if key.partition(".")[0] == "attention_book"]:
            for key, value in list(vars(module).items()):
                if value is function:
                    setattr(module, key, instead)


def forbidden(function, argument, name):
    """Return what stands in a hidden function's place; with an argument, only that use is out."""
    if argument is None:
        def refuse(*_, **__):
            raise PackageCalled(name)

        return refuse
    form = inspect.signature(function)

    def refuse_some(*args, **keywords):
        value = form.bind(*args, **keywords).arguments.get(argument)
        if value is not None and value is not False:
            raise PackageCalled(name)
        return function(*args, **keywords)

    return refuse_some


def plain(value, arrays, depth=0):
    """Return a value's form for the judge; of what is neither numbers nor text, a description."""
    kind = type(value)
    if kind.__name__ in NOTHING:
        return ["nothing", kind.__name__]
    if kind in (bool, float, str):
        return [kind.__name__, value[:300] if kind is str else value]
    if kind is int and abs(value) < 2**200:
        return ["int", str(value)]
    if isinstance(value, np.ndarray | np.generic) and np.asarray(value).dtype.kind in "biuf":
        arrays.append(np.asarray(value))
        return ["array", len(arrays) - 1]
    if kind in (list, tuple) and depth < _DEEPEST and len(value) < 100:
        return [kind.__name__, [plain(each, arrays, depth + 1) for each in value]]
    return ["other", kind.__name__[:40], describe(copy.copy(value))]

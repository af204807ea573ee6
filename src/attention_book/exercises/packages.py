"""Whether an answer leaves the work to the package's own function for the same thing."""

import inspect

from attention_book.exercises.findings import calls_the_package


def is_the_packages(exercise, answer):
    """Return the problem with an answer that is the package's function itself, or None."""
    for function, argument in _listed(exercise):
        if argument is None and (answer is function or answer is inspect.unwrap(function)):
            return calls_the_package(function.__name__)
    return None


def leaves_it_to_the_package(exercise, answer, runner):
    """Run a right answer once more and listen whether the package does its work."""
    codes = [(inspect.unwrap(function).__code__, argument, function.__name__)
             for function, argument in _listed(exercise)]
    heard = []

    def listen(frame, event, _):
        if event == "call":
            heard.extend(name for code, argument, name in codes
                         if frame.f_code is code and _given(frame, argument))

    for case in exercise.judging if codes else ():
        if case.memory is None:
            runner.run(answer, case, listen)
    return calls_the_package(heard[0]) if heard else None


def _listed(exercise):
    """Return the package's functions for the same thing, each with the argument that tells."""
    return [each if isinstance(each, tuple) else (each, None) for each in exercise.package]


def _given(frame, argument):
    """Tell whether a call makes use of an argument; where none is named, every call counts."""
    value = frame.f_locals.get(argument)
    return argument is None or (value is not None and value is not False)

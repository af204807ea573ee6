"""Whether an answer leaves the work to the package's own function for the same thing."""

import inspect

from attention_book.exercises.findings import calls_the_package


def is_the_packages(exercise, answer):
    """Return the problem with an answer that is the package's function itself, or None."""
    for function, argument in _codes(exercise).values():
        if argument is None and (answer is function or answer is inspect.unwrap(function)):
            return calls_the_package(function.__name__)
    return None


def leaves_it_to_the_package(exercise, answer, runner):
    """Run a right answer once more and listen whether the package does its work."""
    codes, heard = _codes(exercise), []

    def listen(frame, event, _):
        if event == "call" and frame.f_code in codes:
            function, argument = codes[frame.f_code]
            given = frame.f_locals.get(argument)
            if argument is None or (given is not None and given is not False):
                heard.append(function.__name__)

    for case in exercise.judging if codes else ():
        if case.memory is None:
            runner.run(answer, case, listen)
    return calls_the_package(heard[0]) if heard else None


def _codes(exercise):
    """Return the code of the package's functions for the same thing, and the telling argument."""
    pairs = [each if isinstance(each, tuple) else (each, None) for each in exercise.package]
    return {inspect.unwrap(function).__code__: (function, argument)
            for function, argument in pairs}

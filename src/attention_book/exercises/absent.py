"""Answers that are not there: stubs, ``...``, None, and what cannot be an answer at all."""

from attention_book.exercises.compare import describe
from attention_book.exercises.model import Problem

NOTHING = {"NoneType": "None", "ellipsis": "three dots", "NotImplementedType": "NotImplemented"}


def no_answer(exercise, answer):
    """Return the problem with something that cannot be an answer at all, or None."""
    if type(answer).__name__ in NOTHING:
        return not_attempted(exercise, f"the answer is {NOTHING[type(answer).__name__]}")
    if exercise.predicts and callable(answer):
        return Problem("not-a-value", "A function was handed in; this exercise asks for a value",
                       f"What do you predict? Write down {exercise.signature}.")
    if not exercise.predicts and not callable(answer):
        described = describe(answer)
        question = ("Is your function's name in quotation marks? Hand in the function itself, by "
                    "its name without them." if described == "text" else
                    "Did you call your function? Hand in the function itself, by its name "
                    "without parentheses.")
        return Problem("not-a-function", f"{described[0].upper()}{described[1:]} was handed in, "
                       "not a function", question)
    return None


def nothing(exercise, outcome, begun):
    """Return the problem with an outcome that is no result, or None.

    ``begun`` tells whether there were results for earlier inputs: then the answer is no stub.
    """
    if outcome.ended == "raised":
        unwritten = (outcome.error.kind == "NotImplementedError"
                     or "ellipsis" in outcome.error.text)
        stub = unwritten and not begun
        return not_attempted(exercise, "a step is not written yet") if stub else None
    if outcome.returned not in NOTHING:
        return None
    if outcome.returned == "NoneType" and outcome.printed.strip() and not begun:
        return Problem("prints-instead-of-returning",
                       "The function printed something and returned None",
                       "How can another function go on working with what yours found?")
    return missing(exercise, f"the function returned {NOTHING[outcome.returned]}", begun)


def missing(exercise, seen, begun):
    """Return the problem with a result that is missing, in whole or in part."""
    if begun:
        return Problem("wrong-value", f"{seen[0].upper()}{seen[1:]} on this input",
                       "Which way through your function ends without the result?")
    return not_attempted(exercise, seen)


def not_attempted(exercise, seen):
    """Return the problem with a stub."""
    return Problem("not-attempted", f"Nothing to judge yet: {seen}",
                   f"What is the first step? Replace the ... by your answer and run this cell "
                   f'again; hint("{exercise.id}") gives a hint.')

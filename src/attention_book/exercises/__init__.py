"""Exercises that name the misconception: ``check``, ``hint``, ``progress``, ``catalogue``."""

import difflib
import importlib
import types

from attention_book.exercises.judging import judge
from attention_book.exercises.model import Exercise, Mistake
from attention_book.exercises.record import note_result, table
from attention_book.exercises.verdicts import Note, Result, cell_number, show

# A chapter's exercises are found by its module's name standing here, in the book's order.
_CHAPTERS = ("dot_products", "scaling", "stable_softmax", "weighted_values", "causal_mask",
             "multi_head", "kv_cache", "chunked_attention", "transformer_block",
             "learning_attention", "real_model")

__all__ = ["Exercise", "Mistake", "Result", "catalogue", "check", "hint", "progress"]

_MISSING = object()
_LONGEST = 80  # characters of an unknown id that are repeated
_hints_given = {}


class Catalogue(tuple):
    """Every exercise, in the book's order; ``catalogue()["softmax"]`` is the one of that id."""

    __slots__ = ()

    def __getitem__(self, key):
        return _find(key) if isinstance(key, str) else super().__getitem__(key)

    def __repr__(self):
        return "\n".join(map(repr, self))


_CATALOGUE = Catalogue(exercise for chapter in _CHAPTERS
                       for exercise in importlib.import_module(f"{__name__}.{chapter}").EXERCISES)
_BY_ID = {exercise.id: exercise for exercise in _CATALOGUE}


def check(exercise_id=_MISSING, answer=_MISSING):
    """Judge an answer and say what is wrong with it.

    Parameters
    ----------
    exercise_id : str
        The exercise, one of ``catalogue()``.
    answer : callable or value
        The function itself; for a ``predict_…`` exercise, the predicted value.

    Returns
    -------
    Result
        ``passed``, ``diagnosis`` and ``message``. In a notebook the verdict is shown too.

    Raises
    ------
    TypeError, ValueError
        If there is no such exercise, or no answer was given. Whatever the answer does is caught.

    Notes
    -----
    An answer is ended after a few seconds; one long call inside compiled code cannot be ended, and
    is waited for. On Linux an answer may allocate 1 GiB. Nothing here is a sandbox: the answer runs
    with all of your rights.

    Examples
    --------
    >>> check("softmax", ...).diagnosis
    'not-attempted'
    """
    exercise = _find(exercise_id, answer)
    if answer is _MISSING:
        kind = "your prediction" if exercise.predicts else "your function"
        raise TypeError(f'answer: got nothing; wanted {kind}: check("{exercise.id}", …)')
    result = judge(exercise, answer)
    if not _is_solution(answer):
        note_result(result)
    if cell_number() is not None:
        show(result)
    return result


def hint(exercise_id=_MISSING):
    """Return the next hint for an exercise: one more at each call, three in all."""
    exercise = _find(exercise_id)
    given = _hints_given.get(exercise.id, 0)
    count = len(exercise.hints)
    _hints_given[exercise.id] = min(given + 1, count)
    position = min(given, count - 1)
    more = "" if given < count else " There are no more."
    return Note(f"Hint {position + 1} of {count} for {exercise.id}: "
                f"{exercise.hints[position]}{more}")


def progress():
    """Return the table of what has passed, as kept beside the notebook."""
    return table(_CATALOGUE)


def catalogue():
    """Return every :class:`Exercise`, in the book's order."""
    return _CATALOGUE


def _find(exercise_id, answer=_MISSING):
    every = ", ".join(_BY_ID)
    if not isinstance(exercise_id, str):
        got = ("nothing" if exercise_id is _MISSING else
               f"a value of type {type(exercise_id).__name__}")
        if isinstance(answer, str):
            got += f', and the text "{answer[:_LONGEST]}" after it; the id comes first'
        raise TypeError(f"exercise_id: got {got}; wanted the exercise's id as text, as in "
                        f'check("softmax", my_softmax) and hint("softmax"). The exercises are '
                        f"{every}.")
    if exercise_id not in _BY_ID:
        got = exercise_id[:_LONGEST]
        near = difflib.get_close_matches(got, _BY_ID, n=1, cutoff=0.5)
        asked = (f'did you mean "{near[0]}"? The exercises are {every}' if near
                 else f"wanted one of {every}")
        raise ValueError(f'exercise_id: got "{got}"; {asked}.')
    return _BY_ID[exercise_id]


def _is_solution(answer):
    """Tell whether this is the page's own solution, which must not count as the reader's."""
    return type(answer) is types.FunctionType and answer.__name__.endswith("_solution")

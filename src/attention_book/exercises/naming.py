"""Which catalogued mistake an answer makes: it does on the naming inputs what the mistake does."""

import copy
import functools

from attention_book.exercises.compare import parts_agree, telling
from attention_book.exercises.guard import Runner, read
from attention_book.exercises.state import pristine

_CATALOGUE_SECONDS = 60  # the catalogue's own answers may take their time


@functools.cache
def wanted(exercise, case):
    """Return the parts of the right result on a case, by the exercise's reference."""
    with pristine():
        value = exercise.reference(*copy.deepcopy(case.args))
        return read(value, len(exercise.parts))


@functools.cache
def mistakes_made(exercise):
    """Return, for each mistake's id, what each way of making it gives on the naming inputs."""
    with pristine(), Runner(exercise, _CATALOGUE_SECONDS) as runner:
        return {mistake.id: tuple(tuple(runner.run(way, case) for case in exercise.naming)
                                  for way in mistake.ways)
                for mistake in exercise.mistakes}


def same_outcome(exercise, case, one, other):
    """Tell whether two answers did the same on a case: shape, values, calls and memory."""
    if one.ended != other.ended or one.ended == "too-slow":
        return False
    if one.ended == "raised":
        return True
    heavy = [case.memory is not None and each.peak > case.memory for each in (one, other)]
    return (heavy[0] == heavy[1] and one.calls == other.calls
            and parts_agree(one.parts, other.parts, exercise.tolerance))


def name_mistake(exercise, outcomes, wrong):
    """Return the mistake that explains these outcomes on the naming inputs, or None.

    Parameters
    ----------
    outcomes : list of Outcome
        What the answer gave on each naming input.
    wrong : list of bool
        Where that is wrong.

    Notes
    -----
    A mistake is named if one way of making it gives the same everywhere. Failing that, it is the
    one that explains more of the wrong outcomes than any other, among them at least one that no
    other cause gives by chance: the answer may have a second fault.
    """
    if not any(wrong):
        return None
    made = mistakes_made(exercise)
    for name, ways in made.items():
        if any(_same_everywhere(exercise, outcomes, way) for way in ways):
            return exercise.mistake(name)
    marks = {name: _explained(exercise, outcomes, wrong, ways) for name, ways in made.items()}
    best = max(marks.values())
    winners = [name for name, mark in marks.items() if mark == best]
    return exercise.mistake(winners[0]) if best[1] and len(winners) == 1 else None


def twins(exercise):
    """Return the pairs of mistakes, some way of which does the same on every naming input."""
    made = list(mistakes_made(exercise).items())
    return [(name, other) for i, (name, ways) in enumerate(made) for other, others in made[i + 1:]
            if any(_same_everywhere(exercise, way, again) for way in ways for again in others)]


def _same_everywhere(exercise, some, others):
    return all(same_outcome(exercise, case, one, other)
               for case, one, other in zip(exercise.naming, some, others, strict=True))


def _explained(exercise, outcomes, wrong, ways):
    """Mark a mistake: whether it explains all that is wrong, and how many telling outcomes."""
    explained = [any(same_outcome(exercise, case, outcome, way[i]) for way in ways)
                 for i, (outcome, case) in enumerate(zip(outcomes, exercise.naming, strict=True))]
    everything = all(e for e, w in zip(explained, wrong, strict=True) if w)
    sure = sum(e and w and telling(outcome.parts)
               for e, w, outcome in zip(explained, wrong, outcomes, strict=True))
    return everything and sure > 0, sure

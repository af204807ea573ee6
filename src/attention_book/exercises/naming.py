"""Which catalogued mistake an answer makes: it does on the naming inputs what the mistake does."""

import copy
import functools
import math
from dataclasses import replace

from attention_book.exercises.compare import parts_agree, telling
from attention_book.exercises.guard import Runner, read
from attention_book.exercises.stages import pairs
from attention_book.exercises.state import pristine

_SHAPES = {"ValueError", "IndexError", "AxisError"}  # in loops or not, shapes that do not fit


@functools.cache
def wanted(exercise, case):
    """Return the parts of the right result on a case, by the exercise's reference."""
    with pristine():
        value = exercise.reference(*copy.deepcopy(case.args))
        return read(value, len(exercise.parts))


@functools.cache
def mistakes_made(exercise):
    """Return, for each mistake's id, what each way of making it gives on the naming inputs."""
    with pristine(), Runner(exercise, math.inf) as runner:
        return {mistake.id: runner.run_own(mistake.ways, exercise.naming)
                for mistake in exercise.mistakes}


def same_outcome(exercise, case, one, other):
    """Tell whether two answers did the same on a case: shape, values, calls and memory."""
    if one.ended != other.ended or one.ended == "too-slow":
        return False
    if one.ended == "raised":
        return one.error.kind == other.error.kind or {one.error.kind, other.error.kind} <= _SHAPES
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
    A mistake is named if one way of making it gives the same everywhere. Failing that, the answer
    may make two: if a pair at two steps gives the same everywhere, the first of them is named.
    Failing that too, it is the mistake that is wrong on the same inputs, and gives the same on most
    of them.

    An answer that writes into an array which it also hands to a function is compared only with
    ways that do so too: what it found may be due to that alone.
    """
    if not any(wrong):
        return None
    made = mistakes_made(exercise)
    if any(outcome.calls for outcome in outcomes) and _writes(outcomes):
        made = {name: tuple(filter(_writes, ways)) for name, ways in made.items()}
    for name, ways in made.items():
        if any(_same_everywhere(exercise, outcomes, way) for way in ways):
            return exercise.mistake(name)
    return _first_of_two(exercise, outcomes) or _most_telling(exercise, outcomes, wrong, made)


def _first_of_two(exercise, outcomes):
    """Return the mistake at the first of two steps that go wrong, or None."""
    if not any(telling(outcome.parts, whole=False) for outcome in outcomes):
        return None
    known = {mistake.id: mistake for mistake in exercise.mistakes}
    with pristine(), Runner(exercise, math.inf) as runner:
        def does_the_same(answer):
            return all(same_outcome(exercise, case, outcome, runner.run_own([answer], [case])[0][0])
                       for case, outcome in zip(exercise.naming, outcomes, strict=True))

        found = {first: second for first, second, answer in pairs(exercise.stages, known)
                 if does_the_same(answer)}
    if len(found) != 1:
        return None
    [(first, second)] = found.items()
    return replace(known[first], later=known[second].step)


def _most_telling(exercise, outcomes, wrong, made):
    marks = {name: max(_mark(exercise, outcomes, wrong, way) for way in ways)
             for name, ways in made.items() if ways}
    best = max(marks.values(), default=(False, 0, 0))
    winners = [name for name, mark in marks.items() if mark == best]
    if not any(best) or len(winners) > 1:
        return None
    return replace(exercise.mistake(winners[0]), partly=not best[0])


@functools.cache
def shows(exercise, name, case):
    """Tell whether a mistake, made alone, goes wrong on a case; its first way makes it alone."""
    with pristine(), Runner(exercise, math.inf) as runner:
        [[outcome]] = runner.run_own(exercise.mistake(name).ways[:1], [case])
    return not is_right(exercise, case, outcome)


def twins(exercise):
    """Return the pairs of mistakes, some way of which does the same on every naming input."""
    made = list(mistakes_made(exercise).items())
    return [(name, other) for i, (name, ways) in enumerate(made) for other, others in made[i + 1:]
            if any(_same_everywhere(exercise, way, again) for way in ways for again in others)]


def _writes(outcomes):
    return any(outcome.changed is not None for outcome in outcomes)


def _same_everywhere(exercise, some, others):
    return all(same_outcome(exercise, case, one, other)
               for case, one, other in zip(exercise.naming, some, others, strict=True))


def _mark(exercise, outcomes, wrong, way):
    """Mark a way of going wrong: does it explain all, how much for certain, how much in all.

    It must be right where the answer is right, wrong where it is wrong, and explain half of that:
    less may be a coincidence. If nothing is right, it takes more than half, and an outcome that is
    telling: NaN everywhere is no mistake's own.
    """
    explained = [same_outcome(exercise, case, outcome, other)
                 for outcome, other, case in zip(outcomes, way, exercise.naming, strict=True)]
    found = [outcome for outcome, e, w in zip(outcomes, explained, wrong, strict=True) if e and w]
    certain = sum(telling(outcome.parts) for outcome in found)
    enough = len(found) / sum(wrong)
    if (enough < 0.5 or (all(wrong) and (enough == 0.5 or not certain))
            or wrong != [not is_right(exercise, case, other)
                         for other, case in zip(way, exercise.naming, strict=True)]):
        return False, 0, 0
    return len(found) == sum(wrong), certain, len(found)


def is_right(exercise, case, outcome):
    """Tell whether an outcome has the right values, whatever their type, and takes no more room."""
    return (outcome.ended == "returned" and (case.memory is None or outcome.peak <= case.memory)
            and parts_agree(outcome.parts, wanted(exercise, case), exercise.tolerance))

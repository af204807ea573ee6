"""What an exercise is made of. A chapter's file declares its exercises with these."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numpy import array, asarray

from attention_book.exercises.compare import TOLERANCE

Answer = Any  # a function, or, in an exercise that asks for a prediction, a value


@dataclass(frozen=True, eq=False)
class Case:
    """One set of arguments.

    Parameters
    ----------
    args : tuple
        Given to every answer as a fresh copy.
    note : str
        What this input is, for the verdict: "rows far apart".
    step : str
        The step of the computation that this case is the first to put to the test. Cases are
        ordered so that all earlier steps are known to be right.
    memory : int, optional
        Bytes an answer may need beyond its arguments; measured only where it is given.
    half : tuple, optional
        Arguments of half the size. Then ``memory`` is what an answer may need beyond twice what it
        needs for these: nothing that grows in proportion to the input counts.
    """

    args: tuple = field(repr=False)
    note: str
    step: str = ""
    memory: int | None = None
    half: tuple | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Example:
    """The worked example on the page: arguments, and the value found by hand."""

    args: tuple
    value: Any


@dataclass(frozen=True, eq=False)
class Mistake:
    """One kind of wrong answer.

    Parameters
    ----------
    id : str
        Its name, ``no-max-shift``.
    seen : str
        One sentence: what the answer does.
    question : str
        A question that leads on, without the solution.
    ways : tuple
        Answers that make this mistake, each in another way; at least one.
    step : str
        The step at which it arises, where that is known better than from the failing case.
    """

    id: str
    seen: str
    question: str
    ways: tuple[Answer, ...] = field(repr=False)
    step: str = ""
    later: str = ""  # in a verdict: the step at which the answer makes a second mistake
    partly: bool = False  # in a verdict: not all that is wrong comes of this mistake


@dataclass(frozen=True, eq=False)
class Step:
    """One step on the way to a predicted value: its name, and what stands after it."""

    name: str
    shown: str = field(repr=False)
    before: str = field(default="", repr=False)  # shown instead where a later step goes astray


@dataclass(frozen=True)
class Problem:
    """What is wrong with an answer in general terms, shared by all exercises.

    Parameters
    ----------
    id : str
        One of the general ids, ``wrong-shape``.
    seen : str
        One sentence on what was seen.
    question : str
        A question that leads on.
    first : str
        The first difference: index, got, wanted.
    beside : str
        What to say of it beside a named mistake, where ``seen`` would say too much.
    right : bool
        Whether the result is right all the same.
    """

    id: str
    seen: str
    question: str
    first: str = ""
    beside: str = ""
    right: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Exercise:
    """An exercise with everything that judges it and names its mistakes.

    The first seven fields are the page's; what could give the answer away is not in the repr.
    """

    id: str
    chapter: str  # the notebook's stem
    title: str
    signature: str  # "all_scores(q, k)"; for a prediction, what kind of value is wanted
    shapes: str  # "(n_query, d), (n_key, d) → (n_query, n_key)"
    prompt: str
    hints: tuple[str, str, str]
    example: Example | None = None
    reference: Callable
    cases: tuple[Case, ...]  # for judging, easy ones first; the example is judged before them
    naming: tuple[Case, ...]  # inputs on which all mistakes differ from one another
    mistakes: tuple[Mistake, ...]
    variants: tuple[Answer, ...]
    solution: Answer
    parts: tuple[str, ...] = ()  # names of the results, where there are several
    package: tuple = ()  # the package's functions for the same thing, or (function, argument)
    observe: Callable | None = None  # (args, calls) -> what the calls of a Watched argument were
    tolerance: tuple[float, float] = TOLERANCE  # relative, absolute
    predicts: bool = False  # the answer is a value
    steps: tuple[Step, ...] = ()  # of a prediction
    part_steps: dict = field(default_factory=dict)  # at which step a part arises, in this order
    probe: Any = None  # what tells the steps of a head apart: see probes.py
    stages: tuple = ()  # the steps with their mistakes, of which pairs are made: see stages.py
    faulty: Callable | None = None  # the listing to mend; also a way of one of the mistakes

    def __repr__(self):
        names = ", ".join(mistake.id for mistake in self.mistakes)
        return (f"{self.id} ({self.chapter}): {self.signature}, {self.shapes}\n"
                f"  {self.title}\n  mistakes named: {names}\n"
                f"  accepted variants: {len(self.variants)}")

    @property
    def listing(self):
        """The text of the listing to mend, for the notebook's stub."""
        return textwrap.dedent(inspect.getsource(self.faulty)) if self.faulty else None

    @property
    def argument_names(self):
        """The names in the signature, for messages about an argument."""
        inside = self.signature.partition("(")[2].rpartition(")")[0]
        return [name.split("=")[0].strip() for name in inside.split(",")]

    @property
    def judging(self):
        """All cases that judge an answer: the page's example, then the others."""
        if self.example is None:
            return self.cases
        return (Case(self.example.args, "the example on the page"), *self.cases)

    def mistake(self, name):
        """Return the mistake of that id."""
        return next(mistake for mistake in self.mistakes if mistake.id == name)


class Watched:
    """A function handed to an answer as an argument, whose calls are counted and kept.

    It works on copies: what an answer then does to its own arrays changes no earlier result.
    """

    def __init__(self, function):
        self.function, self.calls = function, []

    def __call__(self, *args):
        given = [asarray(arg) for arg in args]
        if len(self.calls) < 100:
            self.calls.append(tuple(map(array, given)))
        return self.function(*map(array, given))

    def __deepcopy__(self, memo):
        return Watched(self.function)


def prediction(*, value, steps, tolerance=0.0, **fields):
    """Declare an exercise whose answer is a value: a shape, a number, a short list.

    ``tolerance`` is how far a predicted number may be off.
    ``steps`` lead from what is given to ``value``; the verdict shows those before the one at
    which a prediction goes astray (:attr:`Mistake.step`).
    """
    case = (Case((), "the question as it stands", step=steps[-1].name),)
    return Exercise(predicts=True, reference=lambda: value, cases=case, naming=case, solution=value,
                    steps=tuple(steps), tolerance=(0.0, tolerance), **fields)

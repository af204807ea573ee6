"""What a student's cells find in place of what grading has no use for: checks and pictures."""

import sys
import types

import attention_book

_HIDDEN = "attention_book.exercises"


class Inert:
    """Whatever is asked of it, it gives itself, and does nothing."""

    def __call__(self, *_, **__):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __iter__(self):
        return iter(())

    def __bool__(self):
        return False

    def __repr__(self):
        return "(nothing is shown or checked while an answer is graded)"


class InertModule(types.ModuleType):
    """A module that has every name, each of them inert."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert()


def bare_exercises():
    """Let the checker's tools be imported without the catalogue, which holds right answers."""
    package = types.ModuleType(_HIDDEN)
    package.__path__ = [f"{attention_book.__path__[0]}/exercises"]
    sys.modules[_HIDDEN] = attention_book.exercises = package


def install():
    """Put the stand-ins in place; nothing more of the book can be imported after this."""
    import IPython

    for name in ("figures", "explorables", "source", "exercises"):
        module = InertModule(f"attention_book.{name}")
        module.__path__ = []
        sys.modules[module.__name__] = module
        setattr(attention_book, name, module)
    attention_book.__path__ = []
    IPython.get_ipython = Inert()
    IPython.display.display = Inert()

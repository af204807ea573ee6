"""What every moving figure is: one ES module, alive on a page without Python and beside it.

In a live notebook anywidget keeps the figure and this object in step. A page has no Python: there
the same module is part of the output's HTML, with the state beside it and a picture that shows
before any script has run, in print, and where scripts are not trusted.
"""

import json
from functools import cache
from html import escape
from pathlib import Path

import anywidget
import traitlets

HERE = Path(__file__).parent
LOOK = HERE.parent / "figures" / "css" / "look.css"


@cache
def module(kind):
    """Return the ES module of a figure: what all figures share, then its own file."""
    return _read("shared.js") + "\n" + _read(f"{kind}.js")


@cache
def style():
    """Return the style sheet of all figures, with the book's colours."""
    return LOOK.read_text(encoding="utf-8") + _read("explorable.css")


class Explorable(anywidget.AnyWidget):
    """A moving figure. A kind of figure names its ``kind``, and has traits for its state."""

    kind = ""
    caption = ""
    _caption = traitlets.Unicode().tag(sync=True)

    @traitlets.default("_caption")
    def _shown_caption(self):
        return self.caption

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "kind" in vars(cls):  # not in what traitlets derives from it
            cls._esm, cls._css = module(cls.kind), style()

    def state(self):
        """Return the values that the figure shows, as plain numbers and lists."""
        own = self.traits(sync=True, figure=True)
        return {name: getattr(self, name) for name in sorted(own)}

    def picture(self):
        """Return the :class:`Picture` of the present state, drawn without any script."""
        raise NotImplementedError

    def page(self):
        """Return the figure as HTML for a page without Python."""
        script = module(self.kind).replace("</", "<\\/")
        state = escape(json.dumps(self.state(), separators=(",", ":")))
        before = self.picture()._repr_mimebundle_()["text/html"]
        return (f'<style>{style()}</style>\n<div class="ab-explorable" role="figure" '
                f'aria-label="{escape(self.caption)}" data-explorable="{self.kind}" '
                f'data-state="{state}">\n<p class="ab-caption">{escape(self.caption)}</p>\n'
                f'<div class="ab-before">{before}</div>\n</div>\n'
                f'<script type="module">{script}\nmountAll("{self.kind}", render);\n</script>')

    def __repr__(self):
        return f"Figure: {self.caption}"

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/plain": repr(self), "text/html": self.page()}, metadata


def _read(name):
    return (HERE / name).read_text(encoding="utf-8")

"""The map that opens every chapter: the whole computation, with this chapter's step lit."""

from dataclasses import dataclass
from html import escape

from attention_book.figures.palette import DARK, LIGHT, SYMBOLS, mix
from attention_book.figures.picture import Panel, Picture
from attention_book.validation import complain

CHAPTERS = ("dot products", "scaling", "stable softmax", "weighted values", "causal mask",
            "multi head", "kv cache", "chunked attention", "transformer block",
            "learning attention", "real model")
WIDTH, HEIGHT = 380, 322  # of the drawing; it is shown larger where there is room
SHOWN = 1.15


@dataclass(frozen=True)
class Step:
    """One box of the map: its name, the chapters that build it, its place and its meaning."""

    name: str
    chapters: tuple
    x: int
    y: int
    width: int
    height: int
    meaning: str
    role: str = ""

    def state(self, chapter):
        """Return ``"built"``, ``"here"`` or ``"to come"``."""
        if chapter in self.chapters:
            return "here"
        return "built" if self.chapters[0] < chapter else "to come"


# In the order of the computation. Where its boxes are: Q, K and V stand close together.
STEPS = (
    Step("tokens", (1,), 4, 62, 80, 44, "a vector for each token"),
    Step("Q", (1,), 97, 62, 83, 44, "queries, what each token looks for", "query"),
    Step("K", (1,), 188, 62, 83, 44, "keys, what each token is found by", "key"),
    Step("V", (1,), 279, 62, 83, 44, "values, what each token passes on", "value"),
    Step("cache", (7,), 188, 8, 174, 28, "keys and values kept for later tokens"),
    Step("scores", (1,), 4, 142, 80, 44, "every query times every key"),
    Step("scaled", (2,), 97, 142, 80, 44, "scores over the square root of d"),
    Step("masked", (5,), 190, 142, 80, 44, "scores of the future left out"),
    Step("weights", (3,), 283, 142, 80, 44, "softmax, each row sums to one"),
    Step("chunks", (8,), 4, 208, 266, 28, "the same without storing the scores"),
    Step("mixture", (4,), 283, 270, 80, 44, "weights times values"),
    Step("heads", (6,), 190, 270, 80, 44, "several mixtures at once"),
    Step("block", (9,), 97, 270, 80, 44, "attention and feed-forward"),
    Step("model", (10, 11), 4, 270, 80, 44, "blocks, trained"),
)
ARROWS = (
    "M84 84H92",  # tokens to Q, K, V
    "M138 106V122M230 106V122H44V136",  # Q and K to scores
    "M362 84H374V292H368",  # V to mixture
    "M84 164H92", "M177 164H185", "M270 164H278", "M323 186V264",  # scores to mixture
    "M283 292H275", "M190 292H182", "M97 292H89",  # mixture to model
)
LINKS = ("M230 62V36M320 62V36", "M44 186V208M137 186V208M230 186V208")  # to cache and chunks


def the_map(lit):
    """Draw the map of the whole computation with one chapter's step lit.

    Parameters
    ----------
    lit : str
        The chapter's name: ``"dot products"``, ``"scaling"``, … A file's stem will do, such as
        ``"02_scaling"``.

    Returns
    -------
    Picture
        An SVG. Steps of earlier chapters are solid, those of later ones dashed.

    Raises
    ------
    ValueError
        If there is no such chapter.
    """
    chapter = _chapter(lit)
    alt = _describe(chapter)
    light, dark = (_svg(chapter, alt, theme).encode() for theme in (LIGHT, DARK))
    size = round(WIDTH * SHOWN), round(HEIGHT * SHOWN)
    return Picture((Panel(alt, *size, light, dark, "image/svg+xml"),))


def _chapter(name):
    words = str(name).replace("_", " ").lstrip("0123456789 ").lower()
    if words not in CHAPTERS:
        complain(ValueError, "lit", repr(name), "one of " + ", ".join(map(repr, CHAPTERS)))
    return CHAPTERS.index(words) + 1


def _describe(chapter):
    def those(state):
        return [step.name for step in STEPS if step.state(chapter) == state]

    here = [f"{step.name} ({step.meaning})" for step in STEPS if step.state(chapter) == "here"]
    parts = [
        "Map of the whole computation: tokens → Q, K, V → scores → scaled → masked → weights → "
        "mixture → heads → block → model; a cache keeps K and V, chunks avoid storing the scores.",
        f"You are here, chapter {chapter}, {CHAPTERS[chapter - 1]}: {', '.join(here)}.",
        f"Already built: {', '.join(those('built')) or 'nothing'}.",
        f"Still to come: {', '.join(those('to come')) or 'nothing'}."]
    return " ".join(parts)


def _svg(chapter, alt, theme):
    marked = [step for step in STEPS if step.state(chapter) == "here"][-1]
    arrows = "".join(f'<path d="{arrow}" marker-end="url(#tip)"/>' for arrow in ARROWS)
    links = "".join(f'<path d="{link}" stroke-dasharray="2 3"/>' for link in LINKS)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title desc" '
        'font-family="Helvetica Neue,Arial,Liberation Sans,system-ui,sans-serif" font-size="11" '
        f'text-anchor="middle">\n<title id="title">The whole computation; you are here: '
        f'{CHAPTERS[chapter - 1]}</title>\n<desc id="desc">{escape(alt)}</desc>\n'
        '<defs><marker id="tip" markerWidth="6" markerHeight="6" refX="2" refY="3" orient="auto">'
        f'<path d="M0 0L6 3L0 6z" fill="{theme.masked}"/></marker></defs>\n'
        f'<rect x="-1" width="{WIDTH}" height="{HEIGHT}" fill="{theme.paper}"/>\n'
        f'<g fill="none" stroke="{theme.masked}" stroke-width="1.3">{arrows}{links}</g>\n'
        + _legend(theme)
        + "".join(_box(step, chapter, step is marked, theme) for step in STEPS) + "</svg>\n")


def _box(step, chapter, marked, theme):
    """Return one box; lit ones are inverted, outlined twice, and the last says so in words."""
    state = step.state(chapter)
    ink = {"here": theme.paper, "built": theme.text, "to come": theme.masked}[state]
    numbers = f"chapter {step.chapters[0]}{' on' * (len(step.chapters) > 1)}"
    below = "you are here" if marked else numbers
    x, y = step.x + step.width / 2, step.y + step.height / 2
    name = (f'<tspan font-size="13.5" font-weight="bold">{_symbol(step, state, theme)}{step.name}'
            "</tspan>")
    if step.height < 40:
        text = (f'<text x="{x}" y="{y + 4.5}" fill="{ink}">{name} '
                f'<tspan dx="6">{below}</tspan></text>')
    else:
        text = (f'<text x="{x}" y="{y - 3}" fill="{ink}">{name}</text>'
                f'<text x="{x}" y="{y + 14}" fill="{ink}">{below}</text>')
    return f"{_frame(step, state, theme)}{text}\n"


def _symbol(step, state, theme):
    if not step.role:
        return ""
    inverse = LIGHT if theme is DARK else DARK
    colour = getattr(inverse if state == "here" else theme, step.role)
    return f'<tspan fill="{colour}">{SYMBOLS[step.role]}</tspan> '


def _frame(step, state, theme):
    fill, line = {
        "here": (theme.text, f'stroke="{theme.text}"'),
        "built": (mix(theme.paper, theme.text, 0.1), f'stroke="{theme.text}" stroke-width="1.5"'),
        "to come": (theme.paper, f'stroke="{theme.masked}" stroke-dasharray="4 3"'),
    }[state]
    place = f'x="{step.x}" y="{step.y}" width="{step.width}" height="{step.height}" rx="5"'
    frame = f'<rect {place} fill="{fill}" {line}/>'
    if state == "here":
        frame += (f'<rect x="{step.x + 2.5}" y="{step.y + 2.5}" width="{step.width - 5}" '
                  f'height="{step.height - 5}" rx="3" fill="none" stroke="{theme.paper}"/>')
    return frame


def _legend(theme):
    def swatch(x, y, state, label):
        step = Step("", (0,), x, y, 18, 10, "")
        return (f'{_frame(step, state, theme)}<text x="{x + 26}" y="{y + 9}" fill="{theme.text}" '
                f'text-anchor="start">{label}</text>')

    return (swatch(8, 8, "here", "this chapter") + swatch(8, 27, "built", "built")
            + swatch(84, 27, "to come", "to come") + "\n")

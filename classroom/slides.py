"""Make slides of a chapter: one page that works offline, in any browser and on paper.

    python -m classroom.slides --chapters 5

Arrow keys, space and the buttons turn the pages; printing gives one slide a sheet. Nothing is
written twice: headings, questions, code and figures are the chapter's own.
"""

import argparse
import html
import re
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from nbconvert.filters import Highlight2HTML, markdown2html
from pygments.formatters import HtmlFormatter

from classroom import chapters

sys.path.insert(0, str(chapters.ROOT / "book" / "_ext"))

from attention_site import MATHJAX_PARTS

TARGET = chapters.ROOT / "_build" / "class" / "slides"
LOOK = Path(__file__).with_name("slides.css")
TURN = Path(__file__).with_name("slides.js")
_HIDDEN = {"remove-cell", "check", "solution"}
_BOX = re.compile(r"^> \*\*(Predict|Pitfall|Exercise|In practice)\.\*\*.*(?:\n>.*)*", re.MULTILINE)
_ANSWER = re.compile(r"<details>\s*<summary>.*?</summary>(.*?)</details>", re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\([^)]*\)")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Slide:
    """One slide: the heading it stands under, and its content as HTML."""

    heading: str
    content: str


def main(arguments):
    parser = argparse.ArgumentParser(prog="make slides")
    parser.add_argument("--chapters", default="5")
    asked = parser.parse_args(arguments)
    for path in chapters.choose(asked.chapters):
        made = make_slides(path, TARGET)
        print(f"{made.relative_to(chapters.ROOT)}  open it in a browser")


def make_slides(path, target):
    """Write the slides of a chapter, and the mathematics' program beside them."""
    target.mkdir(parents=True, exist_ok=True)
    source = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    for part in MATHJAX_PARTS:
        place = target / "mathjax" / part
        place.parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, place, dirs_exist_ok=True)
        else:
            shutil.copy2(source / part, place)
    made = target / f"{path.stem}.html"
    made.write_text(page(list(slides(chapters.read(path)))), encoding="utf-8")
    return made


def slides(notebook):
    """Give the slides of a chapter, in its order."""
    heading, before = "", ""
    for cell in notebook["cells"]:
        text = chapters.source(cell)
        if cell["cell_type"] == "markdown":
            for part in re.split(r"^(?=#{1,3} )", text, flags=re.MULTILINE):
                if part.startswith("#"):
                    heading = part.splitlines()[0].strip("# ")
                yield from of_prose(part, heading)
            before = last_paragraph(text)
        elif not chapters.tags(cell) & _HIDDEN and not text.startswith("import numpy"):
            yield from of_code(cell, heading, before)
            before = ""


def of_prose(text, heading):
    """Give the slides of a piece of prose: its opening under a new heading, and its boxes."""
    if text.startswith("# "):
        yield Slide("", rendered(text.partition("**You need**")[0]))
        return
    if text.startswith("#"):
        body = text.partition("\n")[2]
        whole = heading in ("Recap", "In practice")
        opening = body if whole else first_paragraph(body)
        if opening and opening != last_paragraph(text):  # else it stands above the next cell
            yield Slide(heading, rendered(opening))
    for box in _BOX.finditer(text):
        answer = _ANSWER.match(text[box.end():].lstrip())
        folded = (f"<details><summary>Answer</summary>{rendered(answer[1])}</details>"
                  if answer and box[1] == "Predict" else "")
        yield Slide(heading, f'<div class="box">{rendered(box[0])}</div>{folded}')


def of_code(cell, heading, before):
    """Give the slide of a cell: the sentence that leads to it, its code, what it shows."""
    shown = "".join(filter(None, map(output(cell), cell["outputs"])))
    code = "" if chapters.tags(cell) & {"hide-input", "hide-cell"} else highlighted(
        chapters.source(cell))
    if code or shown:
        yield Slide(heading, f"{rendered(before)}{code}{shown}")


def output(cell):
    """Return a function that turns one of a cell's outputs into HTML."""
    def turn(each):
        if each["output_type"] == "stream":
            return f'<pre class="output">{html.escape("".join(each["text"]))}</pre>'
        data = each.get("data", {})
        if "image/png" in data:
            alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
            picture = "".join(data["image/png"]).strip()
            return f'<img alt="{html.escape(alt)}" src="data:image/png;base64,{picture}">'
        if "text/html" in data:
            return "".join(data["text/html"])
        plain = "".join(data.get("text/plain", each.get("traceback", "")))
        return f'<pre class="output">{html.escape(_ANSI.sub("", plain))}</pre>' if plain else ""

    return turn


def first_paragraph(text):
    """Return the first paragraph that is plain prose."""
    return next((part for part in paragraphs(text) if not part.startswith((">", "<", "|"))), "")


def last_paragraph(text):
    """Return the last paragraph, if it leads on to a cell."""
    last = (paragraphs(text) or [""])[-1]
    return "" if last.startswith((">", "<", "|", "#", "- ", "**")) else last


def paragraphs(text):
    return [part.strip() for part in _ANSWER.sub("", text).split("\n\n") if part.strip()]


def rendered(text):
    """Return Markdown as HTML; a link's words stay, since a slide has no other pages."""
    return markdown2html(_LINK.sub(r"\1", text)) if text.strip() else ""


def highlighted(code):
    return Highlight2HTML(pygments_lexer="python")(code)


def page(found):
    """Return the page that holds the slides."""
    sections = "\n".join(
        f'<section id="{number}"><p class="where">{html.escape(slide.heading)}</p>'
        f'<div class="content">{slide.content}</div><p class="number">{number}</p></section>'
        for number, slide in enumerate(found, 1))
    title = re.search(r"<h1[^>]*>(.*?)(?:<a|</h1>)", found[0].content)[1]
    colours = HtmlFormatter(style="default").get_style_defs(".highlight")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{LOOK.read_text(encoding="utf-8")}{colours}</style>
<script>MathJax = {{tex: {{inlineMath: [["$", "$"]]}}}};</script>
<script defer src="mathjax/tex-chtml.js"></script>
</head>
<body>
{sections}
<nav><button id="back" aria-label="Back">←</button><button id="on" aria-label="On">→</button></nav>
<script>{TURN.read_text(encoding="utf-8")}</script>
</body>
</html>
"""


if __name__ == "__main__":
    main(sys.argv[1:])

"""A link to a term of the glossary carries its definition, which terms.js shows on the spot."""

import json
import re
from functools import cache
from pathlib import Path

GLOSSARY = Path(__file__).resolve().parents[1] / "glossary.md"
LINK = re.compile(r'<a class="reference internal" (href="[^"]*glossary\.html#([\w-]+)")')
MARKDOWN_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
FORMULA = re.compile(r"\$([^$]+)\$")
# What stands in formulas of definitions, as plain text.
PLAIN = ((r"\\sqrt\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"√\1"), (r"\\text\{([^{}]*)\}", r"\1"),
         (r"\\(log|exp|max)", r"\1"), (r"\\approx", "≈"), (r"\\cdot", "·"), (r"\^\{?-x\}?", "⁻ˣ"),
         (r"\^2", "²"), (r"[{}]", ""))


def plain(formula):
    """Write a short formula without TeX."""
    text = formula[1]
    for pattern, replacement in PLAIN:
        text = re.sub(pattern, replacement, text)
    return text.replace("-", "−")


def anchor(term):
    return re.sub(r"[^\w\- ]", "", term.lower()).replace(" ", "-")


@cache
def definitions():
    """Return each term's definition as plain text, by the anchor of the term."""
    parts = re.split(r"^## +(.+)$", GLOSSARY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {}
    for term, entry in zip(parts[1::2], parts[2::2], strict=True):
        words = MARKDOWN_LINK.sub(r"\1", entry.strip().split("\n\n")[0])
        words = FORMULA.sub(plain, words).replace("`", "").replace("*", "")
        found[anchor(term)] = [term, " ".join(words.split())]
    return found


def add_definitions(app, pagename, templatename, context, doctree):
    """Mark the links to terms, and put the definitions that a page needs into it."""
    body = context.get("body") or ""
    used = {name: definitions()[name] for _, name in LINK.findall(body) if name in definitions()}
    if not used:
        return
    body = LINK.sub(r'<a class="reference internal term" \1', body)
    text = json.dumps(used, ensure_ascii=False).replace("</", "<\\/")
    context["body"] = f'{body}\n<script type="application/json" id="terms">{text}</script>\n'


def setup(app):
    app.connect("html-page-context", add_definitions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""What a page says to those who search and share it, the theme's repairs, and the 404 page."""

import base64
import os
import re
from html import escape, unescape
from pathlib import Path

from docutils import nodes

LONGEST_DESCRIPTION = 160
UNNAMED = '<summary aria-label="Toggle hidden content">'  # hides what the line itself says
TAG = re.compile(r"<[^>]+>")
PICTURES = "_static/preview"
ICON = Path(__file__).resolve().parents[1] / "_static" / "favicon.svg"
START = "index"  # the site's address without a page
PAPER, TEXT, QUERY, KEY, VALUE = "#FFFFFF", "#1A1D21", "#1F6FB2", "#A8480B", "#16765A"


def description(app, doctree):
    """Return the beginning of a page's prose."""
    text = app.config.html_title
    if doctree is not None:
        paragraphs = [node for node in doctree.findall(nodes.paragraph) if len(node.astext()) > 40]
        prose = [node for node in paragraphs if is_prose(node)]
        text = next((" ".join(node.astext().split()) for node in prose + paragraphs), text)
    if len(text) > LONGEST_DESCRIPTION:
        text = text[: LONGEST_DESCRIPTION - 1].rsplit(" ", 1)[0] + "…"
    return text


def is_prose(paragraph):
    """Tell whether a paragraph is neither an item of a list nor begun by a bold lead word."""
    first = next(child for child in paragraph.children if child.astext())
    return not isinstance(paragraph.parent, nodes.list_item) and not isinstance(first, nodes.strong)


def picture_name(pagename):
    return f"{PICTURES}/{pagename.replace('/', '-')}.png"


def describe_page(app, pagename, templatename, context, doctree):
    """Give the page its description, and what a link to it shows elsewhere."""
    if pagename == START:  # which only leads on
        pagename, doctree = app.config.root_doc, app.env.get_doctree(app.config.root_doc)
    text, title = description(app, doctree), unescape(TAG.sub("", context.get("title") or ""))
    said = {"og:type": "article", "og:site_name": app.config.html_title,
            "og:title": title or app.config.html_title, "og:description": text}
    lines = [f'<meta name="description" content="{escape(text)}" />']
    site, card = os.environ.get("SITE_URL"), "summary"
    if site and doctree is not None:  # a picture's address has to be a whole one
        site, card = site.rstrip("/"), "summary_large_image"
        said["og:url"] = f"{site}/{pagename}.html"
        said["og:image"] = f"{site}/{picture_name(pagename)}"
        said["og:image:alt"] = said["og:title"]
        lines.append(f'<link rel="canonical" href="{escape(said["og:url"])}" />')
    lines.append(f'<meta name="twitter:card" content="{card}" />')
    lines += [f'<meta property="{name}" content="{escape(value)}" />'
              for name, value in said.items()]
    context["metatags"] = "\n".join([context.get("metatags") or "", *lines])


def name_folds(app, pagename, templatename, context, doctree):
    """Let a folded cell's line be called by what it says."""
    if context.get("body"):
        context["body"] = context["body"].replace(UNNAMED, "<summary>")


def draw_previews(app, error):
    """Draw each page's preview, 1200 by 630 pixels: its title and the book's three roles."""
    if error or app.builder.format != "html" or not os.environ.get("SITE_URL"):
        return
    folder = Path(app.outdir) / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    for pagename, title in app.env.titles.items():
        path = Path(app.outdir) / picture_name(pagename)
        draw_preview(title.astext(), app.config.html_title, path)


def draw_preview(title, project, path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor=PAPER)
    figure.text(0.07, 0.62, wrapped(title, 30), fontsize=44, color=TEXT, weight="bold",
                va="center", linespacing=1.25)
    figure.text(0.07, 0.16, project, fontsize=22, color=TEXT)
    axes = figure.add_axes((0.07, 0.27, 0.2, 0.06))
    axes.set_axis_off()
    for place, (mark, colour) in enumerate([("^", QUERY), ("s", KEY), ("o", VALUE)]):
        axes.plot([place], [0], mark, color=colour, markersize=22)
    axes.set_xlim(-0.2, 3)
    figure.savefig(path, facecolor=PAPER)


def wrapped(text, width):
    """Break a title into at most three lines."""
    from textwrap import shorten, wrap

    return "\n".join(wrap(shorten(text, 3 * width, placeholder="…"), width)[:3])


def not_found(app):
    """Add the page that a server shows for an address that is not there."""
    chapters = [(name, title.astext()) for name, title in sorted(app.env.titles.items())
                if name.startswith("notebooks/")]
    yield "404", {"chapters": chapters, "project": app.config.html_title}, "404.html"


def start(app):
    """Add the page at the site's bare address: the builder's own has neither title nor icon."""
    icon = ICON.read_bytes()
    page = {"start": f"{app.config.root_doc}.html", "project": app.config.html_title,
            # The page is left before a browser has fetched an icon.
            "icon": f"data:image/svg+xml;base64,{base64.b64encode(icon).decode()}"}
    yield START, page, "start.html"


def setup(app):
    app.connect("html-page-context", describe_page)
    app.connect("html-collect-pages", start)
    app.connect("html-page-context", name_folds)
    app.connect("html-collect-pages", not_found)
    app.connect("build-finished", draw_previews)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

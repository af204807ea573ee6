"""What the site does with plain Markdown: places to link to, boxes, mathematics.

A notebook stays free of directives; this small Sphinx extension reads the book's conventions.
"""

import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from attention_book import __version__

ANCHOR = re.compile(r"""<a\s+(?:id|name)=["']([^"']+)["']""")
BOXES = {"predict": "predict", "exercise": "exercise", "in practice": "in-practice",
         "pitfall": "pitfall"}
FOLDED = {"tag_solution": ("Show a solution", "Hide the solution"),
          "tag_hide-output": ("Show the verdict", "Hide the verdict")}
BOX_WORD = re.compile(rf"({'|'.join(BOXES)})\b", re.IGNORECASE)
# What a page with mathematics may ask for; the package carries four times as much.
MATHJAX_PARTS = ("tex-chtml.js", "a11y", "input/tex/extensions", "output/chtml/fonts/woff-v2",
                 "sre", "ui")


class Anchors(SphinxTransform):
    """Let links find ``<a id="vaswani2017"></a>``, as they find headings."""

    default_priority = 870  # before MyST resolves the links of the same page

    def apply(self):
        slugs = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
        for node in self.document.findall(nodes.raw):
            for anchor in ANCHOR.findall(node.astext()):
                slugs[anchor] = (node.line or 0, anchor, anchor)
        self.document.myst_slugs = slugs


class Boxes(SphinxTransform):
    """Mark block quotes that begin with a bold Predict, Exercise, In practice or Pitfall."""

    default_priority = 500

    def apply(self):
        for quote in self.document.findall(nodes.block_quote):
            kind = box_kind(quote)
            if kind:
                quote["classes"] += ["box", f"box-{kind}"]


def box_kind(quote):
    """Return the kind of box that a block quote is, or None."""
    node = quote
    for wanted in (nodes.paragraph, nodes.strong):
        node = next((child for child in node.children if child.astext()), None)
        if not isinstance(node, wanted):
            return None
    word = BOX_WORD.match(node.astext())
    return BOXES[word[1].lower()] if word else None


class FoldLabels(SphinxTransform):
    """Let the line that unfolds a solution or a verdict say what it unfolds."""

    default_priority = 500

    def apply(self):
        for cell in self.document.findall(nodes.container):
            for tag in FOLDED.keys() & cell["classes"]:
                cell["prompt_show"], cell["prompt_hide"] = FOLDED[tag]


def show_version(app, config):
    """Say at the foot of every page which version of the book it is."""
    config.html_theme_options["extra_footer"] = f"Version {__version__}"


def copy_mathjax(app, error):
    """Put the parts of MathJax that pages use into the site."""
    if error or app.builder.format != "html":
        return
    source = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for part in MATHJAX_PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy2(source / part, target / part)


def quote_pages(app, pagename, templatename, context, doctree):
    """Let the search quote what pages say, without the theme's own lists and buttons."""
    if pagename == "search":
        app.add_js_file("search_results.js")


def setup(app):
    app.connect("config-inited", show_version)
    app.add_transform(Anchors)
    app.add_transform(Boxes)
    app.add_transform(FoldLabels)
    app.connect("html-page-context", quote_pages)
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

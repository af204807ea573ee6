"""The printed book: where its file is, and the line that offers it once there is one.

A page holds ``<!-- the book as a pdf -->``. The PDF is printed from the site, so a site is built
without it; ``tools/print_book.py`` then puts it there and turns the line into a link. A later build
does the same while the PDF is of the same sources.
"""

import shutil
from pathlib import Path

from proof_pages import fingerprint

FILE = Path(__file__).resolve().parents[2] / "_build" / "pdf" / "attention-book.pdf"
MARK = "<!-- the book as a pdf -->"
OFF = ('<span class="no-pdf">To print the book, run <code class="docutils literal notranslate">'
       "make pdf</code>.</span>")
ON = '<a class="pdf" href="../attention-book.pdf">The whole book as a PDF</a>'


def show_line(app, docname, source):
    """Put the line in place of the mark in a page."""
    source[0] = source[0].replace(MARK, OFF)


def note():
    """Write down of which sources the PDF is."""
    FILE.with_suffix(".sources").write_text(fingerprint("pdf"), encoding="utf-8")


def is_current():
    """Tell whether there is a PDF of the present sources."""
    sources = FILE.with_suffix(".sources")
    return (FILE.exists() and sources.exists()
            and sources.read_text(encoding="utf-8") == fingerprint("pdf"))


def offer_again(app, error):
    if not error and app.builder.format == "html" and is_current():
        offer(Path(app.outdir))


def offer(site):
    """Put the PDF into a site, and its link into the pages that have the line."""
    shutil.copy2(FILE, site / FILE.name)
    for path in sorted((site / "book").glob("*.html")):
        text = path.read_text(encoding="utf-8")
        if OFF in text:
            path.write_text(text.replace(OFF, f"{ON} ({FILE.stat().st_size / 1e6:.0f} MB)."),
                            encoding="utf-8")


def setup(app):
    app.connect("source-read", show_line)
    app.connect("build-finished", offer_again)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

"""What the PDF's own bookmarks say: the words of the headings, below the parts of the book."""

import io
import logging
import re
import sys
from itertools import pairwise

from pypdf import PdfReader
from pypdf.generic import (
    DictionaryObject,
    IndirectObject,
    NameObject,
    NumberObject,
    TextStringObject,
)

logging.getLogger("pypdf").setLevel(logging.ERROR)  # it counts Chromium's objects aloud
START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
ABOUT = {"/Author": "the attention book's contributors", "/Creator": "the attention book"}


def pages_of_places(path):
    """Return the number of the page, from 1, of each place that a link of a PDF leads to."""
    reader = PdfReader(path)
    numbers = {page.indirect_reference.idnum: number
               for number, page in enumerate(reader.pages, start=1)}
    return {name.removeprefix("/"): numbers[place.raw_get("/Page").idnum]
            for name, place in reader.named_destinations.items()}


def name_outline(path, titles, parts):
    """Give the outline the headings' words, and put its chapters below the parts of the book.

    Chromium joins lines, and writes some twice. ``parts`` are pairs of a caption and a number of
    entries of the first level; without a caption they stay there.
    """
    reader = PdfReader(path)
    book = reader.trailer["/Root"].get_object()
    outline = book["/Outlines"].get_object()
    entries = list(entries_of(outline))
    if len(entries) != len(titles):
        sys.exit(f"The outline has {len(entries)} entries for {len(titles)} headings.")
    for entry, title in zip(entries, titles, strict=True):
        entry[NameObject("/Title")] = TextStringObject(title)
        if "/Count" in entry:  # what is below it is folded at first
            entry[NameObject("/Count")] = NumberObject(-abs(entry["/Count"]))
    added = put_below(reader, outline, parts)
    book[NameObject("/PageMode")] = NameObject("/UseOutlines")
    about = reader.trailer["/Info"].get_object()
    about.update({NameObject(key): TextStringObject(text) for key, text in ABOUT.items()})
    append(path, reader, [book, about, outline, *entries, *added])


def entries_of(node):
    """Give the entries of an outline in their order, each before those below it."""
    for entry in children(node):
        yield entry
        yield from entries_of(entry)


def children(node):
    entry = node.get("/First")
    while entry is not None:
        entry = entry.get_object()
        yield entry
        entry = entry.get("/Next")


def put_below(reader, outline, parts):
    """Put runs of an outline's entries below entries of their own; return those."""
    rest, top, added = list(children(outline)), [], []
    for caption, count in parts:
        run, rest = rest[:count], rest[count:]
        if caption:
            part = DictionaryObject({NameObject("/Title"): TextStringObject(caption),
                                     NameObject("/Dest"): run[0]["/Dest"]})
            number = reader.trailer["/Size"] + len(added)
            part.indirect_reference = IndirectObject(number, 0, reader)
            added.append(part)
            link(part, run)
            run = [part]
        top += run
    link(outline, [*top, *rest])
    return added


def link(parent, run):
    """Make entries the children of another, which is open."""
    for entry in run:
        entry[NameObject("/Parent")] = parent.indirect_reference
        entry.pop("/Prev", None)
        entry.pop("/Next", None)
    for before, after in pairwise(run):
        before[NameObject("/Next")] = after.indirect_reference
        after[NameObject("/Prev")] = before.indirect_reference
    parent[NameObject("/First")] = run[0].indirect_reference
    parent[NameObject("/Last")] = run[-1].indirect_reference
    open_below = sum(max(0, entry.get("/Count", 0)) for entry in run)
    parent[NameObject("/Count")] = NumberObject(len(run) + open_below)


def append(path, reader, changed):
    """Write changed objects at the end of a PDF, which then hold: its other 60,000 stay."""
    content = path.read_bytes()
    start = int(START.search(content)[1])
    out, table = io.BytesIO(), []
    for one in changed:
        number = one.indirect_reference.idnum
        table.append(b"%d 1\n%010d 00000 n \n" % (number, len(content) + out.tell()))
        out.write(b"%d 0 obj\n" % number)
        one.write_to_stream(out)
        out.write(b"\nendobj\n")
    trailer = DictionaryObject(reader.trailer)
    size = max(reader.trailer["/Size"], 1 + max(one.indirect_reference.idnum for one in changed))
    trailer[NameObject("/Size")] = NumberObject(size)
    trailer[NameObject("/Prev")] = NumberObject(start)
    place = len(content) + out.tell()
    out.write(b"xref\n" + b"".join(table) + b"trailer\n")
    trailer.write_to_stream(out)
    out.write(b"\nstartxref\n%d\n%%%%EOF\n" % place)
    path.write_bytes(content + out.getvalue())

"""The printed book opens, has an outline, and every link in it leads somewhere."""

import logging
import sys

import pytest
from pypdf import PdfReader
from serving import ROOT, SITE

sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import print_book  # noqa: E402

PDF = SITE / "attention-book.pdf"
WIDE = "x" * 400


@pytest.fixture(scope="module")
def book():
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    assert PDF.exists(), "the suite pdf prints it"
    return PdfReader(PDF)


def entries(outline):
    for one in outline:
        if isinstance(one, list):
            yield from entries(one)
        else:
            yield one


def test_the_outline_has_every_page_in_its_order(book):
    titles = [one.title for one in entries(book.outline)]
    chapters = [page for _, pages in print_book.contents() for page in pages
                if page.startswith("notebooks/")]
    numbered = [title for title in titles if title[0].isdigit() and ". " in title[:4]]
    assert [int(title.split(".")[0]) for title in numbered] == list(range(1, len(chapters) + 1))
    assert {"Glossary", "Notation", "Bibliography"} <= set(titles)
    starts = [book.get_destination_page_number(one) for one in entries(book.outline)]
    assert starts == sorted(starts) and starts[-1] < len(book.pages)


def test_a_chapter_begins_on_its_page_with_its_title(book):
    first = next(one for one in entries(book.outline) if one.title.startswith("5. "))
    text = book.pages[book.get_destination_page_number(first)].extract_text()
    assert " ".join(text.split()).startswith("5. Causal mask: look back, never ahead")


def test_links_lead_to_places_in_the_book_or_to_the_web(book):
    places, inside, outside = book.named_destinations, 0, []
    for page in book.pages:
        for note in page.get("/Annots", ()):
            note = note.get_object()
            if "/Dest" in note:
                inside += 1
                assert note["/Dest"] in places
            else:
                outside.append(note["/A"]["/URI"])
    assert inside > 300
    assert [link for link in outside if not link.startswith("https://")] == []


@pytest.mark.parametrize(("body", "fault"), [
    ("<p>fine</p>", None),
    ('<img src="none.png">', "a picture is missing: none.png"),
    (f'<p style="white-space: nowrap">{WIDE}</p>', "too wide for the page"),
    ('<a href="#gone">x</a>', "a link leads nowhere: #gone"),
    (f"<div class='highlight'><pre>{WIDE}</pre></div>", None)])
def test_what_would_be_lost_on_paper_is_found(browser, body, fault):
    page = browser.new_page(viewport={"width": print_book.WIDTH, "height": 800})
    page.set_content(f"<style>{print_book.STYLE}</style><script>window.typeset = true</script>"
                     f'<article class="bd-article">{body}</article>')
    faults = print_book.faults_of(page)
    page.close()
    assert len(faults) == bool(fault)
    assert all(found.startswith(fault) for found in faults)

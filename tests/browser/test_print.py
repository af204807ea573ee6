"""The printed book opens, has an outline and full pages, and every link in it leads somewhere."""

import logging
import re
import sys

import pytest
from pypdf import PdfReader
from serving import ROOT, SITE

sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import print_book  # noqa: E402

PDF = SITE / "attention-book.pdf"
WIDE = "x" * 400
FOOT = 0.75 * 76  # points below the text, for the page's title and number
TOP = 0.75 * (1122 - 68)
SCREEN = ("Show a solution", "Hide", "Nothing to judge yet", "run this cell again", "▶",
          "folded under", "folded away", "\\_")


@pytest.fixture(scope="module")
def book():
    logging.getLogger("pypdf").setLevel(logging.ERROR)
    assert PDF.exists(), "the suite pdf prints it"
    return PdfReader(PDF)


@pytest.fixture(scope="module")
def sheets(book):
    """Each page's text, what stands at its foot, and the part filled by words and pictures."""
    return [sheet(page) for page in book.pages]


def sheet(page):
    lowest, feet = [TOP], []

    def word(text, matrix, place, font, size):
        if text.strip():
            lowest.append(place[4] * matrix[1] + place[5] * matrix[3] + matrix[5])
            feet.extend([text] if lowest[-1] < FOOT else [])

    def picture(operator, operands, matrix, place):
        if operator == b"Do":
            lowest.append(min(matrix[5], matrix[5] + matrix[3]))

    text = page.extract_text(visitor_text=word, visitor_operand_before=picture)
    filled = (TOP - min(y for y in lowest if y > FOOT)) / (TOP - FOOT)
    return text.removeprefix("".join(feet)), feet, filled


def starts_of(book, level=range(9)):
    """Return the titles of the outline with the pages, from 0, on which they are."""
    return [(one.title, book.get_destination_page_number(one))
            for depth, one in levels(book.outline) if depth in level]


def levels(outline, depth=0):
    for one in outline:
        if isinstance(one, list):
            yield from levels(one, depth + 1)
        else:
            yield depth, one


def test_the_outline_has_every_page_below_its_part_in_its_order(book):
    parts = {caption: len(pages) for caption, pages in print_book.contents() if caption}
    outline = dict(zip([one.title for one in book.outline if not isinstance(one, list)][2:],
                       [one for one in book.outline if isinstance(one, list)][1:], strict=True))
    below = {caption: [one.title for one in pages if not isinstance(one, list)]
             for caption, pages in outline.items()}
    assert {caption: len(titles) for caption, titles in below.items()} == parts
    assert [int(title.split(".")[0]) for title in below["Chapters"]] == [
        *range(1, parts["Chapters"] + 1)]
    assert {"Glossary", "Notation", "Bibliography"} <= {*below["Reference"]}
    starts = [start for _, start in starts_of(book)]
    assert starts == sorted(starts) and starts[-1] < len(book.pages)


def test_a_reader_finds_title_authors_licence_and_the_outline(book):
    assert book.metadata.title == print_book.TITLE and book.metadata.author
    assert book.page_mode == "/UseOutlines"
    first = book.pages[0].extract_text()
    assert {"contributors", "CC-BY-4.0.", "BSD-3-Clause."} <= set(first.split())


def test_the_contents_give_the_pages(book, sheets):
    pages = sum(len(pages) for _, pages in print_book.contents())
    shown = [int(number) for number in re.findall(r"\b(\d+)$", sheets[1][0], re.MULTILINE)]
    starts = {start + 1 for title, start in starts_of(book, range(2)) if title != "Contents"}
    assert set(shown[:pages]) & starts == starts - {2}


def test_exercises_and_solutions_give_each_others_pages(sheets):
    there, back = ([(number, int(other)) for number, (text, *_) in enumerate(sheets, start=1)
                    for other in re.findall(rf"{word} on page (\d+)", text)]
                   for word in ("Solution", "Exercise"))
    assert len(there) > 30
    for (line, to_solution), (solution, exercise) in zip(there, back, strict=True):
        assert to_solution == solution
        assert line - exercise in (0, 1)  # an exercise may go on on the next page


def test_nothing_on_paper_asks_to_be_clicked(sheets):
    found = [(word, number) for number, (text, *_) in enumerate(sheets, start=1)
             for word in SCREEN if word in text]
    assert found == []


def test_pages_are_filled_except_where_a_chapter_ends(book, sheets):
    ends = {start - 1 for _, start in starts_of(book, range(2))} | {len(sheets) - 1}
    empty = [(number + 1, round(filled, 2)) for number, (*_, filled) in enumerate(sheets)
             if filled < 0.25 and number not in ends]
    assert empty == []


def test_below_a_heading_is_room_for_what_it_heads(book):
    low = [(one.title, round(one.top)) for _, one in levels(book.outline) if one.top < FOOT + 45]
    assert low == []


def test_a_chapter_begins_on_its_page_with_its_title(book, sheets):
    page = next(start for title, start in starts_of(book) if title.startswith("5. "))
    text, *_ = sheets[page]
    assert " ".join(text.split()).startswith("5. Causal mask: look back, never ahead")


def test_at_the_foot_are_the_number_and_what_one_reads(book, sheets):
    parts = {caption for caption, _ in print_book.contents()}
    part, title_from = "", {}
    for depth, one in levels(book.outline):
        part = one.title if depth == 0 else part
        if one.title == print_book.TITLE or (depth == 1 and part in parts):
            title_from[book.get_destination_page_number(one)] = one.title
    title = []  # none below the book's title and the contents
    for number, (_, foot, _) in enumerate(sheets):
        title = [title_from[number]] if number in title_from else title
        assert foot == [str(number + 1), *title]


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

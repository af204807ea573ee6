"""What a page of the site is on paper: answers open, solutions at its end, pictures in rows.

``on_paper`` changes the parsed article of a built page; ``paper.css`` dresses what comes out.
"""

import re
from math import ceil

from bs4 import BeautifulSoup

WIDTH = 658  # CSS pixels of text on a page of A4 with the margins of print_book
GAP = 12  # between two pictures of a row
TALLEST = 460  # a picture alone: 122 mm
TALL = 416  # one of several: 110 mm
SMALLEST = 0.55  # of its own size: a picture's letters must remain readable
LONG = 15  # lines or rows: longer output, or a longer table, may go on on the next page
SHORT = 285  # characters, three lines: such a paragraph would leave one alone
# What a page has for the screen alone.
ON_SCREEN = ("script, .launch, .headerlink, .prev-next-footer, .copybtn, .ab-dark, #term-tip, "
             ".tag_hide-input details.hide, .pst-js-only, .toctree-wrapper")
STILL = "On the site this figure moves. "
PHRASES = {  # said of the screen: said of paper
    "A solution is folded under each check": "A solution is at the end of the chapter",
    "Solutions are folded away and": "Solutions stand apart and",
    "Here, folded, below their boxes.": "Here, below their boxes."}
SAID = re.compile("|".join(map(re.escape, PHRASES)))


def on_paper(article):
    """Turn a page's article into what is printed of it; links keep the page's own form."""
    for node in article.select(ON_SCREEN):
        node.decompose()
    for text in article.find_all(string=SAID):
        text.replace_with(SAID.sub(lambda found: PHRASES[found[0]], text))
    for verdict in article.select(".tag_check .verdict"):
        if "not-attempted" in verdict.get_text():
            verdict.find_parent(class_="cell_output").decompose()
    gather_solutions(article)
    for caption in article.select(".ab-caption"):
        caption.insert(0, STILL)
    for figure in article.select(".ab-figure"):
        set_in_rows(figure.select("img[width]"))
    for parameters in article.select("dt.sig .sig-lines"):
        join_lines(parameters)
    open_folds(article)
    keep_together(article)


def gather_solutions(article):
    """Move each exercise's solution, and the verdict on its listing, to the end of the page."""
    cells = article.select("section[id] .tag_solution")
    if not cells:
        return
    end = made('<section id="solutions"><h2>Solutions</h2></section>')
    for cell in cells:
        exercise = cell.find_parent("section")
        there = f"{exercise['id']}-solution"
        title = exercise.find(re.compile("h[1-6]")).decode_contents().strip()
        section = made(f'<section id="{there}" class="solution"><h3>{title}</h3>'
                       f'<p class="to-page">Exercise on page {number_of(exercise["id"])}</p>'
                       "</section>")
        cell.insert_before(made('<p class="to-page">Solution on page '
                                f"{number_of(there)}</p>"))
        for folded in exercise.select(".tag_hide-output details"):
            section.append(made('<p class="ab-lead">The check says of the listing:</p>'))
            section.append(folded.find(class_="cell_output").extract())
            folded.decompose()
        section.append(cell.extract())
        for fold in cell.select("details"):
            fold.summary.decompose()
            fold.unwrap()
        end.append(section)
    article.find("h1").parent.append(end)


def number_of(anchor):
    """Return the number of the page of a place, which is put in once it is known."""
    return f'<a class="page-number" href="#{anchor}">000</a>'


def made(html):
    """Return the element that a piece of HTML describes."""
    return BeautifulSoup(html, "html.parser").find()


def open_folds(article):
    """Put in place of what unfolds on the screen what is in it, under its label."""
    for fold in article.select("details"):
        label = fold.find("summary")
        shown = label.select_one(".collapsed") or label
        text = " ".join(shown.get_text(" ").split())
        label.replace_with(made(f'<p class="label">{text.removeprefix("Show the ")}</p>'))
        fold.name, fold.attrs = "div", {"class": ["opened"]}


def join_lines(parameters):
    """Write a signature that has a parameter a line as one line, without its last comma."""
    for space in (parameters.previous_sibling, parameters.next_sibling,
                  parameters.contents[0], parameters.contents[-1]):
        if not space.strip():
            space.extract()
    last = parameters.contents[-1].contents[-1]
    last.replace_with(last.rstrip(","))
    parameters.unwrap()


def set_in_rows(pictures):
    """Give the pictures of one output one scale, at which they take as few rows as can be."""
    sizes = [(int(one["width"]), int(one["height"])) for one in pictures]
    scales = [scale_in(n_rows, sizes) for n_rows in range(1, len(sizes) + 1)]
    scale = next((one for one in scales if one >= SMALLEST), SMALLEST)
    for picture, (width, _) in zip(pictures, sizes, strict=True):
        picture["style"] = f"width: {int(width * scale)}px"


def scale_in(n_rows, sizes):
    """Return the scale at which pictures of these widths and heights fit so many equal rows."""
    per_row = ceil(len(sizes) / n_rows)
    rows = [sizes[first:first + per_row] for first in range(0, len(sizes), per_row)]
    rooms = [(WIDTH - GAP * len(row)) / sum(width for width, _ in row) for row in rows]
    limit = TALL if len(sizes) > 1 else TALLEST
    return min(1, limit / max(height for _, height in sizes), *rooms)


def keep_together(article):
    """Mark what paper.css must know to break pages well."""
    for line in article.find_all("p"):
        text = line.get_text().strip()
        if text.endswith(":"):
            mark(line, "ab-lead")
        elif len(text) < SHORT:
            mark(line, "ab-short")
    for output in article.select(".cell_output pre"):
        if output.get_text().strip().count("\n") >= LONG:
            mark(output.find_parent(class_="cell"), "ab-long")
    for table in article.select("table"):
        if len(table.select("tbody tr")) <= LONG:
            mark(table, "ab-short")


def mark(node, name):
    node["class"] = [*node.get("class", []), name]

"""Pages on paper: nothing that only a screen can show, solutions at the end, pictures in rows."""

import json
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import paper  # noqa: E402

FOLD = ('<details class="hide"><summary><p class="collapsed">Show the verdict</p>'
        '<p class="expanded">Hide the verdict</p></summary>{}</details>')
OUTPUT = '<div class="cell_output"><div class="verdict">{}</div></div>'
EXERCISE = (
    '<section id="{name}"><h3>Mend <code>it</code></h3><p>Do.</p>'
    '<div class="cell tag_check"><div class="cell_input"><pre>check()</pre></div>{verdict}</div>'
    '<div class="cell tag_solution"><details class="hide"><summary>Show a solution</summary>'
    '<div class="cell_input"><pre>x = {name}</pre></div></details></div></section>')


def on_paper(html):
    article = BeautifulSoup(f"<article><section><h1>One</h1>{html}</section></article>",
                            "html.parser").article
    paper.on_paper(article)
    return article


@pytest.fixture
def exercises():
    return on_paper('<section id="exercises"><h2>Exercises</h2>'
                    + EXERCISE.format(name="a", verdict=OUTPUT.format("a: not-attempted"))
                    + EXERCISE.format(name="b", verdict='<div class="tag_hide-output">'
                                      + FOLD.format(OUTPUT.format("b: wrong")) + "</div>")
                    + '</section><section id="reading"><h2>Further reading</h2></section>')


def test_solutions_stand_at_the_end_with_links_there_and_back(exercises):
    sections = exercises.section.find_all("section", recursive=False)
    assert [one["id"] for one in sections] == ["exercises", "reading", "solutions"]
    ends = sections[-1].find_all("section")
    assert [one["id"] for one in ends] == ["a-solution", "b-solution"]
    assert [one.pre.get_text() for one in ends] == ["x = a", "x = b"]
    assert [one.h3.decode_contents() for one in ends] == ["Mend <code>it</code>"] * 2
    assert [one.p.a["href"] for one in ends] == ["#a", "#b"]
    assert [link["href"] for link in sections[0].select("a.page-number")] == [
        "#a-solution", "#b-solution"]


def test_what_the_check_says_of_a_listing_goes_with_its_solution(exercises):
    assert "not-attempted" not in exercises.get_text()
    assert "b: wrong" not in exercises.find(id="exercises").get_text()
    assert "b: wrong" in exercises.find(id="b-solution").get_text()


def test_nothing_waits_to_be_unfolded(exercises):
    answer = on_paper("<details><summary>Answer</summary><p>Two.</p></details>").div
    assert (answer["class"], answer.p.get_text()) == (["opened"], "Answer")
    for page in (exercises, answer, on_paper(FOLD.format("<p>Wrong.</p>"))):
        assert not page.select("details, summary") and "Show" not in page.get_text()


@pytest.mark.parametrize(("sizes", "widths"), [
    ([(400, 300)], [400]),  # alone: as it is
    ([(400, 736)], [250]),
    ([(300, 300), (300, 300)], [300, 300]),
    ([(520, 400), (520, 400)], [317, 317]),
    ([(535, 532)] * 3, [317] * 3),  # two rows
    ([(200, 260), (400, 520)], [160, 320])])  # one scale, so that they can be compared
def test_pictures_of_an_output_share_rows(sizes, widths):
    images = "".join(f'<img width="{width}" height="{height}">' for width, height in sizes)
    page = on_paper(f'<div class="ab-figure">{images}</div>')
    assert [one["style"] for one in page.select("img")] == [f"width: {one}px" for one in widths]


def test_a_signature_is_one_line():
    page = on_paper('<dl><dt class="sig"><span>f</span><span>(</span>\n<span class="sig-lines">\n'
                    "<span><em>x</em>,</span>\n<span><em>n=1</em>,</span>\n</span>\n"
                    "<span>)</span></dt></dl>")
    assert page.dt.get_text() == "f(x,\nn=1)"


def test_a_line_that_announces_and_a_short_paragraph_are_marked():
    page = on_paper(f"<p>See:</p><p>Seen.</p><p>{'Long. ' * 60}</p>")
    assert [one.get("class") for one in page.find_all("p")] == [["ab-lead"], ["ab-short"], None]


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")),
                         ids=lambda path: path.name[:2])
def test_what_a_chapter_says_of_solutions_holds_on_paper(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    page = on_paper(f"<p>{text}</p>")
    assert "A solution is folded" in text
    assert "A solution is folded" not in page.get_text()

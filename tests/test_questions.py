"""Every question that learners ask leads to the place where a cell measures the answer."""

import json
import re
from pathlib import Path

import pytest

from test_reference_pages import slug

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "book" / "questions.md").read_text(encoding="utf-8")
PARTS = re.split(r"^### +(.+)$", PAGE, flags=re.MULTILINE)
QUESTIONS = dict(zip(PARTS[1::2], PARTS[2::2], strict=True))
CHAPTER = re.compile(r"\]\(\.\./notebooks/(\w+)\.ipynb#([^)]+)\)")


def measured(chapter):
    """Return, for each section of a chapter, how many of its cells show a result."""
    path = ROOT / "notebooks" / f"{chapter}.ipynb"
    counts, place = {}, None
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            for title in re.findall(r"^#+ +(.+)$", "".join(cell["source"]), re.MULTILINE):
                place = slug(title)
                counts[place] = 0
        elif place and cell["outputs"]:
            counts[place] += 1
    return counts


def test_the_list_is_whole():
    assert len(QUESTIONS) >= 20


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_leads_to_a_cell_that_measures_it(question):
    answer = QUESTIONS[question].partition("\n## ")[0]
    places = CHAPTER.findall(answer)
    elsewhere = re.findall(r"\]\((?:other_libraries|using_the_book)\.md#", answer)
    assert places or elsewhere
    for chapter, place in places:
        assert measured(chapter)[place] > 0, f"{chapter}#{place} measures nothing"

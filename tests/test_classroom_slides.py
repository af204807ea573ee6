"""Slides are made of a chapter's own cells: its questions, code and figures, and nothing folded."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom import chapters, slides  # noqa: E402


class Found(HTMLParser):
    """Gathers what a page loads, its pictures, and its text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.asks, self.pictures, self.text, self.inside = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag in ("script", "img", "link", "iframe"):
            self.asks.append(found.get("src") or found.get("href") or "")
        if tag == "img":
            self.pictures.append(found)
        self.inside = tag

    def handle_data(self, data):
        if self.inside not in ("script", "style"):
            self.text.append(data)


@pytest.fixture(scope="module", params=chapters.choose(), ids=lambda path: path.stem)
def made(request, tmp_path_factory):
    path = slides.make_slides(request.param, tmp_path_factory.mktemp("slides"))
    return chapters.read(request.param), path, path.read_text(encoding="utf-8")


def test_questions_and_exercises_are_there(made):
    notebook, _, text = made
    words = "".join(re.sub(r"\W+", "", "".join(Found(text).text)))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            for box in re.findall(r"^> \*\*(?:Predict|Exercise)\.\*\* (\w+ \w+ \w+)",
                                  chapters.source(cell), re.MULTILINE):
                assert re.sub(r"\W+", "", box) in words
    assert text.count("<section") > 20


def test_no_solution_no_check_no_claim(made):
    notebook, _, text = made
    assert "_solution" not in text
    words = "".join(Found(text).text)
    for cell in notebook["cells"]:
        if "claim" in chapters.tags(cell):
            assert chapters.source(cell).splitlines()[-1] not in words


def test_what_is_asked_for_lies_beside_the_page(made):
    _, path, text = made
    for address in Found(text).asks:
        assert not address or address.startswith("data:") or (path.parent / address).is_file()


def test_pictures_are_described(made):
    pictures = Found(made[2]).pictures
    assert all(picture.get("alt") for picture in pictures)


def test_boxes_and_folded_answers():
    text = ("## A\n\nOpening.\n\n> **Predict.** How\n> many?\n\n"
            "<details>\n<summary>x</summary>\n\nTwo.\n</details>\n\nMore.")
    first, second = slides.of_prose(text, "A")
    assert "Opening." in first.content and "More" not in first.content
    assert "many?" in second.content and "<details>" in second.content and "Two." in second.content

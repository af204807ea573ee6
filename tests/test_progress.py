"""The line that says how far a computation is: what passes through it, and what it leaves."""

import pytest

from attention_book import progress


class Line:
    def __init__(self):
        self.texts = []

    def update(self, data, raw):
        assert raw
        self.texts.append(data["text/plain"])


@pytest.fixture
def line(monkeypatch):
    made = Line()

    def display(data, *, raw, display_id):
        assert raw and display_id
        made.texts.append(data["text/plain"])
        return made

    monkeypatch.setattr(progress, "display", display)
    return made


@pytest.mark.parametrize("total", [1, 7, 20, 33, 600])
def test_everything_passes_and_the_line_ends_as_it_began(line, total):
    assert list(progress.with_progress(iter(range(total)), total)) == list(range(total))
    first, *between, last = line.texts
    assert first == last
    assert len(between) == min(total, progress.TIMES) and between[-1] == f"{total} of {total} steps"
    assert "600" not in first  # the same, however many steps there are


def test_it_is_lazy_and_may_end_early(line):
    steps = progress.with_progress((step for step in range(100)), 100)
    assert line.texts == []
    assert [next(steps) for _ in range(30)] == list(range(30))
    assert line.texts[-1] == "30 of 100 steps"
    steps.close()


def test_without_a_place_to_show_it_nothing_fails(monkeypatch):
    monkeypatch.setattr(progress, "display", lambda *args, **options: None)
    assert list(progress.with_progress("abc", 3)) == ["a", "b", "c"]

"""The record of what has passed: a small file that is never needed and never lost."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from attention_book import exercises
from attention_book.exercises import catalogue, check, hint, progress, record

AUTOMATIC = record._AUTOMATIC
right = catalogue()["softmax"].solution


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Stand where a reader's notebook stands: an own folder, and no automatic run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(record, "_AUTOMATIC", ())
    monkeypatch.setattr(record, "_memory", {})
    monkeypatch.setattr(record, "_said", set())
    monkeypatch.setattr(record, "_pending", [])
    return tmp_path


def state(name="softmax"):
    return next(row[2] for row in progress().rows if row[0] == name)


def names_left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_passed_and_what_did_not_is_kept_beside_the_notebook(notebook):
    assert state() == "–"
    check("softmax", lambda x: x)
    assert state() == "✗ 1 try, last: wrong-value"
    check("softmax", right)
    assert state() == "✓ passed, 2 tries"
    check("softmax", lambda x: x / x.sum(axis=-1, keepdims=True))
    assert state() == "✓ passed, 3 tries"
    assert names_left(notebook) == [record.FILE]
    kept = json.loads(Path(record.FILE).read_text(encoding="utf-8"))
    assert kept["exercises"]["softmax"] == {"passed": True, "attempts": 3,
                                            "last": "sum-normalised"}


def test_the_table_has_every_exercise_and_the_count(notebook):
    check("softmax", right)
    text, rows = repr(progress()), progress().rows
    assert [row[0] for row in rows] == [exercise.id for exercise in catalogue()]
    assert f"1 of {len(catalogue())} passed" in text
    assert all(exercise.id in text for exercise in catalogue())
    page = progress()._repr_html_()
    assert page.count("<tr>") == len(rows) + 1 and "1 of" in page


def test_unsolved_stubs_leave_nothing_behind(notebook):
    for exercise in catalogue():
        check(exercise.id, ...)
    assert names_left(notebook) == []


def test_the_page_s_own_solution_does_not_count(notebook):
    def softmax_solution(x):
        return right(x)

    assert check("softmax", softmax_solution).passed
    assert names_left(notebook) == [] and state() == "–"


@pytest.mark.parametrize("variable", ["CI", "PYTEST_CURRENT_TEST"])
def test_an_automatic_run_leaves_nothing_behind(notebook, monkeypatch, variable):
    monkeypatch.setenv(variable, "true")
    monkeypatch.setattr(record, "_AUTOMATIC", AUTOMATIC)
    check("softmax", right)
    assert names_left(notebook) == []
    assert state() == "✓ passed, 1 try"  # but is remembered as long as it runs


@pytest.mark.parametrize("text", ["", "{", "[]", '{"exercises": 3}', "\0\1",
                                  '{"exercises": {"a": 1}}',
                                  '{"exercises": {"softmax": {"passed": true, "attempts": "x"}}}'])
def test_a_damaged_record_is_put_aside_and_said(notebook, text):
    Path(record.FILE).write_text(text, encoding="utf-8")
    assert check("softmax", right).passed
    assert Path(record.ASIDE).read_text(encoding="utf-8") == text
    assert record.ASIDE in repr(progress()) and state() == "✓ passed, 1 try"
    assert record.ASIDE not in repr(progress())  # it is said once
    assert names_left(notebook) == [record.ASIDE, record.FILE]


def test_a_record_is_put_aside_again_when_it_is_damaged_again(notebook):
    for text in ("{", "["):
        Path(record.FILE).write_text(text, encoding="utf-8")
        assert record.ASIDE in repr(progress())
        assert Path(record.ASIDE).read_text(encoding="utf-8") == text
        assert record.ASIDE not in repr(progress())


def test_a_record_put_aside_long_ago_is_no_news(notebook):
    Path(record.ASIDE).touch()
    check("softmax", right)
    assert record.ASIDE not in repr(progress())


GOOD = {"passed": True, "attempts": 4, "last": None}


@pytest.mark.parametrize("change", [
    '"attempts": -5', '"attempts": 0', '"attempts": 1e400', '"attempts": 1e999', '"attempts": NaN',
    f'"attempts": 1{"0" * 30}', f'"attempts": 1{"0" * 5000}', '"attempts": 2.5',
    '"attempts": true', '"attempts": null', '"passed": 3', '"passed": "yes"', '"last": 7',
    f'"last": "{"x" * 500}"', '"last": ["raises"]'], ids=lambda text: text[:24])
def test_an_absurd_entry_is_damage(notebook, change):
    name = change.partition(":")[0]
    old = {'"attempts"': '"attempts": 4', '"passed"': '"passed": true', '"last"': '"last": null'}
    entry = json.dumps(GOOD).replace(old[name], change)
    text = f'{{"exercises": {{"softmax": {entry}, "project": {json.dumps(GOOD)}}}}}'
    Path(record.FILE).write_text(text, encoding="utf-8")
    shown = repr(progress())
    assert record.ASIDE in shown and state() == "–"
    assert Path(record.ASIDE).read_text(encoding="utf-8") == text
    if "0" * 5000 not in change:  # that one cannot be read at all
        assert state("project") == "✓ passed, 4 tries"
    assert check("softmax", right).passed and state() == "✓ passed, 1 try"


def test_a_record_of_deep_brackets_is_damage(notebook):
    Path(record.FILE).write_text("[" * 10**5, encoding="utf-8")
    assert state() == "–" and Path(record.ASIDE).exists()


def test_a_count_stops_where_it_would_be_absurd(notebook):
    entry = GOOD | {"attempts": record.MOST}
    Path(record.FILE).write_text(json.dumps({"exercises": {"softmax": entry}}), encoding="utf-8")
    check("softmax", right)
    check("softmax", right)
    assert state() == f"✓ passed, {record.MOST} tries" and names_left(notebook) == [record.FILE]


def refuse(*_, **__):
    raise PermissionError(13, "Permission denied")


def test_where_nothing_can_be_kept_the_table_says_so_once(notebook, monkeypatch):
    monkeypatch.setattr(record.os, "open", refuse)
    check("softmax", right)
    check("softmax", right)
    shown = repr(progress())
    assert shown.count("cannot be kept") == 1 and "lost when the notebook closes" in shown
    assert "Permission denied" in shown and record.FILE in shown
    assert "cannot be kept" not in repr(progress())
    check("softmax", right)
    assert "cannot be kept" not in repr(progress()) and state() == "✓ passed, 3 tries"


def test_a_folder_that_is_read_only_is_seen_before_anything_is_lost(notebook, monkeypatch):
    monkeypatch.setattr(record.os, "access", lambda path, mode: False)
    assert "lost when the notebook closes" in repr(progress())
    assert "lost" not in repr(progress())


def test_a_folder_that_can_be_written_gets_no_warning(notebook):
    check("softmax", right)
    assert "lost" not in repr(progress())


def test_an_automatic_run_is_told_nothing_of_what_is_not_kept(notebook, monkeypatch):
    monkeypatch.setattr(record, "_AUTOMATIC", AUTOMATIC)
    monkeypatch.setattr(record.os, "access", lambda path, mode: False)
    check("softmax", right)
    assert "lost" not in repr(progress())


def test_a_damaged_record_that_cannot_be_moved_is_said_once(notebook, monkeypatch):
    Path(record.FILE).write_text("{", encoding="utf-8")
    monkeypatch.setattr(record.os, "replace", refuse)
    assert "is damaged" in repr(progress())
    assert "is damaged" not in repr(progress())
    assert names_left(notebook) == [record.FILE]


def test_a_record_that_is_no_text_is_put_aside(notebook):
    Path(record.FILE).write_bytes(b"\xff\xfe\x00")
    assert state() == "–"
    assert Path(record.ASIDE).read_bytes() == b"\xff\xfe\x00"


def test_where_nothing_can_be_written_memory_serves(notebook, monkeypatch):
    monkeypatch.setattr(record.os, "open", refuse)
    assert check("softmax", right).passed
    assert names_left(notebook) == [] and state() == "✓ passed, 1 try"


def test_where_nothing_can_be_read_the_table_says_so(notebook, monkeypatch):
    Path(record.FILE).mkdir()
    assert check("softmax", right).passed
    assert "cannot be read" in repr(progress()) and state() == "✓ passed, 1 try"


def test_a_write_that_fails_half_way_leaves_the_old_record(notebook, monkeypatch):
    check("softmax", right)
    before = Path(record.FILE).read_text(encoding="utf-8")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.os, "replace", full)
    check("softmax", right)
    assert names_left(notebook) == [record.FILE]
    assert Path(record.FILE).read_text(encoding="utf-8") == before
    assert state() == "✓ passed, 2 tries"


def test_two_notebooks_do_not_lose_each_other_s_entries(notebook):
    code = ("import sys; from attention_book.exercises.record import note_result\n"
            "from attention_book.exercises import Result\n"
            "for i in range(25):\n"
            "    note_result(Result(False, 'raises', '', sys.argv[1]))\n"
            "    note_result(Result(True, None, '', 'shared'))\n")
    env = {name: value for name, value in os.environ.items() if name not in AUTOMATIC}
    running = [subprocess.Popen([sys.executable, "-c", code, name], cwd=notebook, env=env)
               for name in ("softmax", "all_scores", "project")]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    kept = json.loads(Path(record.FILE).read_text(encoding="utf-8"))["exercises"]
    assert {name: entry["attempts"] for name, entry in kept.items()} == {
        "softmax": 25, "all_scores": 25, "project": 25, "shared": 75}
    assert names_left(notebook) == [record.FILE]


def test_a_lock_left_by_a_notebook_that_died_is_taken_over(notebook):
    lock = Path(record._LOCK)
    lock.touch()
    os.utime(lock, (time.time() - 60,) * 2)
    check("softmax", right)
    assert names_left(notebook) == [record.FILE]


def test_a_lock_that_is_held_too_long_is_not_waited_for(notebook, monkeypatch):
    monkeypatch.setattr(record, "_PATIENCE", 0.1)
    Path(record._LOCK).touch()
    check("softmax", right)
    assert names_left(notebook) == [record._LOCK]
    assert "(another notebook is writing to it)" in repr(progress())
    assert state() == "✓ passed, 1 try"


def test_a_lock_that_is_let_go_is_waited_for(notebook):
    Path(record._LOCK).touch()
    threading.Timer(0.2, os.unlink, (record._LOCK,)).start()
    check("softmax", right)
    assert names_left(notebook) == [record.FILE]


def test_one_hint_more_at_each_call(monkeypatch):
    monkeypatch.setattr(exercises, "_hints_given", {})
    for position, text in enumerate(catalogue()["softmax"].hints):
        shown = hint("softmax")
        assert text in shown and f"Hint {position + 1} of 3" in shown
    assert "no more" in hint("softmax")
    assert "Hint 1 of 3" in hint("all_scores")  # each exercise counts its own


def test_a_hint_is_shown_without_quotation_marks(monkeypatch):
    monkeypatch.setattr(exercises, "_hints_given", {})
    assert repr(hint("softmax")).startswith("Hint 1 of 3 for softmax: ")


def test_a_hint_for_nothing():
    with pytest.raises(ValueError, match='did you mean "softmax"'):
        hint("soft")

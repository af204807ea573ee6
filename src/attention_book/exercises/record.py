"""What has passed, kept in a small file beside the notebook."""

import contextlib
import errno
import html
import json
import os
import time
from pathlib import Path

FILE = ".attention_book_progress.json"
ASIDE = ".attention_book_progress.damaged.json"
_LOCK = ".attention_book_progress.lock"
_AUTOMATIC = ("CI", "PYTEST_CURRENT_TEST")  # set in the environment of an automatic run
_PATIENCE, _STALE = 2.0, 10.0  # seconds to wait for another notebook; after which it has died
MOST = 10**6  # tries that can be meant; a larger number on file is damage
_LONGEST = 80  # characters of a mistake's name

_memory = {}  # what could not be written, or should not be
_said, _pending = set(), []  # notes for the next table; each is said once


class Progress:
    """The table of all exercises and what has been reached; its repr is that table."""

    def __init__(self, rows, notes):
        self.rows, self.notes = rows, notes

    def __repr__(self):
        width = max(len(row[0]) for row in self.rows)
        chapter_width = max(len(row[1]) for row in self.rows)
        table = [f"{name:<{width}}  {chapter:<{chapter_width}}  {state}"
                 for name, chapter, state in self.rows]
        return "\n".join([*table, *self.notes])

    def _repr_html_(self):
        body = "".join("<tr>" + "".join(f'<td style="text-align:left">{html.escape(cell)}</td>'
                                        for cell in row) + "</tr>" for row in self.rows)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        head = "".join(f'<th style="text-align:left">{name}</th>'
                       for name in ("exercise", "chapter", "state"))
        return f"<table><tr>{head}</tr>{body}</table>{notes}"


def note_result(result):
    """Add one verdict to the record; a notebook with nothing solved leaves no file."""
    if result.diagnosis == "not-attempted":
        return
    try:
        if _may_write():
            with _locked():
                entries = _read()
                _add(entries, result)
                _write(entries)
            return
    except OSError as error:
        _not_kept(error.strerror)
    _add(_memory, result)


def table(exercises):
    """Return the :class:`Progress` of these exercises."""
    entries = _read()
    for name, entry in _memory.items():
        entries[name] = _merged(entries.get(name, {}), entry)
    rows = [(exercise.id, exercise.chapter, _state(entries.get(exercise.id)))
            for exercise in exercises]
    passed = sum(bool(entries.get(exercise.id, {}).get("passed")) for exercise in exercises)
    if _may_write() and not os.access(os.curdir, os.W_OK):
        _not_kept("the folder is read-only")
    notes = [f"{passed} of {len(rows)} passed", *_pending]
    _pending.clear()
    return Progress(rows, notes)


def _state(entry):
    if not entry:
        return "–"
    tries = f"{entry['attempts']} " + ("try" if entry["attempts"] == 1 else "tries")
    return f"✓ passed, {tries}" if entry["passed"] else f"✗ {tries}, last: {entry['last']}"


def _add(entries, result):
    new = {"passed": result.passed, "attempts": 1, "last": result.diagnosis}
    entries[result.exercise] = _merged(entries.get(result.exercise, {}), new)


def _merged(old, new):
    return {"passed": bool(old.get("passed")) or new["passed"],
            "attempts": min(old.get("attempts", 0) + new["attempts"], MOST),
            "last": new["last"]}


def _may_write():
    """Automatic runs leave nothing behind: they keep what they find in memory."""
    return not any(map(os.environ.get, _AUTOMATIC))


def _not_kept(why):
    """Say, once, that what has passed is only remembered."""
    if "not kept" not in _said:
        _said.add("not kept")
        _pending.append(f"Results cannot be kept in {FILE} ({why}): they are lost when the "
                        "notebook closes.")


def _read():
    """Return the sound entries on file; a file in which something is damaged is put aside."""
    try:
        text = Path(FILE).read_text(encoding="utf-8")
        stored = dict(json.loads(text)["exercises"])
    except FileNotFoundError:
        return {}
    except OSError as error:
        _say(f"{FILE} cannot be read ({error.strerror}); this table is from memory.")
        return {}
    except (ValueError, TypeError, KeyError, RecursionError):
        _put_aside({})
        return {}
    entries = {name: entry for name, entry in stored.items() if _is_sound(entry)}
    if len(entries) < len(stored):
        _put_aside(entries)
    return entries


def _is_sound(entry):
    """Tell whether an entry on file can have been written by this module."""
    if type(entry) is not dict or set(entry) != {"passed", "attempts", "last"}:
        return False
    tries, last = entry["attempts"], entry["last"]
    return (type(entry["passed"]) is bool and type(tries) is int and 1 <= tries <= MOST
            and (last is None or (type(last) is str and len(last) <= _LONGEST)))


def _put_aside(entries):
    """Move a damaged file away, and keep what is sound in it."""
    try:
        os.replace(FILE, ASIDE)
        if entries:
            _write(entries)
    except OSError as error:
        _say(f"{FILE} is damaged, and cannot be moved ({error.strerror}).")
    else:
        _pending.append(f"A damaged record was put aside as {ASIDE}.")


def _say(note):
    """Put a note under the next table, unless it has been there before."""
    if note not in _said:
        _pending.append(note)
        _said.add(note)


def _write(entries):
    """Replace the file as a whole, so that a reader never meets half of one."""
    text = json.dumps({"version": 1, "exercises": entries}, indent=1, ensure_ascii=False)
    temporary = Path(f"{FILE}.{os.getpid()}")
    try:
        temporary.write_text(text + "\n", encoding="utf-8")
        os.replace(temporary, FILE)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked():
    """Keep other notebooks from writing between reading and writing."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            os.close(os.open(_LOCK, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            with contextlib.suppress(OSError):
                if time.time() - os.stat(_LOCK).st_mtime > _STALE:
                    os.unlink(_LOCK)
            if time.monotonic() > until:
                raise TimeoutError(errno.ETIMEDOUT, "another notebook is writing to it") from None
            time.sleep(0.01)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(_LOCK)

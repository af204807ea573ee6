"""What a confined process may say: only messages of one form get to the judge."""

import socket
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom import wire  # noqa: E402
from classroom.apart import GoneError, outcome_of, value_of  # noqa: E402

from attention_book.exercises.compare import MOST_VALUES  # noqa: E402

PART = {"shape": [2], "family": "float", "described": "array", "values": True}
RETURNED = {"ended": "returned", "parts": [PART], "returned": "array", "error": None,
            "printed": "", "changed": None, "peak": 0, "several": ""}
RAISED = RETURNED | {"ended": "raised", "parts": [],
                     "error": {"kind": "ValueError", "text": "no", "line": "return 1"}}
VALUES = [np.array([1.0, 2.0])]


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    yield ours, theirs
    ours.close()
    theirs.close()


def test_reports_of_the_right_form():
    outcome = outcome_of(RETURNED | {"changed": 0}, VALUES, 1)
    assert (outcome.ended, outcome.changed) == ("returned", 0)
    assert outcome.parts[0].values.tolist() == [1.0, 2.0]
    assert outcome_of(RAISED, [], 1).error.kind == "ValueError"


@pytest.mark.parametrize("said", [
    RETURNED | {"ended": "passed"}, RETURNED | {"error": RAISED["error"]},
    RETURNED | {"parts": []}, RAISED | {"error": None}, RAISED | {"parts": [PART]},
    RETURNED | {"changed": 1}, RETURNED | {"changed": -1}, RETURNED | {"changed": True},
    RETURNED | {"peak": 0.5}, RETURNED | {"printed": None}, RETURNED | {"parts": [PART, PART]},
    RETURNED | {"parts": [PART | {"family": "right"}]},
    RETURNED | {"parts": [PART | {"shape": [3]}]}, RETURNED | {"parts": [PART | {"shape": [2.0]}]},
    RETURNED | {"parts": [{}]}, {}, None, [RETURNED]])
def test_reports_of_another_form_are_refused(said):
    with pytest.raises(GoneError):
        outcome_of(said, VALUES, 1)


@pytest.mark.parametrize("values", [
    np.array([1, 2]), np.array([True, False]), np.ones(2, np.float32), np.ones((1, 2))])
def test_values_of_another_type_or_shape_are_refused(values):
    with pytest.raises(GoneError):
        outcome_of(RETURNED, [values], 1)


def test_more_values_than_any_result_has_are_refused():
    part = PART | {"shape": [MOST_VALUES + 1]}
    with pytest.raises(GoneError):
        outcome_of(RETURNED | {"parts": [part]}, [np.ones(MOST_VALUES + 1)], 1)


@pytest.mark.parametrize("said", [
    None, [], ["array", 0], ["array", "0"], ["value", 1], ["int", "x"], ["nothing", "other"],
    ["list", [["array", 0]]], ["package", 1]])
def test_values_of_another_form_are_refused(said):
    with pytest.raises(GoneError):
        value_of(said, [])


def test_messages_arrive_as_they_were(pair):
    ours, theirs = pair
    arrays = [np.arange(6.0).reshape(2, 3)[:, ::2], np.ones((0, 2)), np.array(True)]
    wire.send(theirs, {"a": [1]}, arrays)
    message, found = wire.receive(ours)
    assert message == {"a": [1]}
    assert all(np.array_equal(a, b) and a.dtype == b.dtype and a.shape == b.shape
               for a, b in zip(arrays, found, strict=True))


def test_a_message_that_is_too_long_is_refused_before_it_is_read(pair):
    ours, theirs = pair
    theirs.sendall(struct.pack("!II", 10, wire.MOST_BYTES))
    with pytest.raises(wire.BrokenMessageError, match="too long"):
        wire.receive(ours)


@pytest.mark.parametrize("text", [
    b"{", b"[]", b'{"message": 1}', b'{"message": 1, "arrays": [["|O", [1]]]}',
    b'{"message": 1, "arrays": [["<f8", [-1]]]}', b'{"message": 1, "arrays": [["<f8", [true]]]}',
    b'{"message": 1, "arrays": [["<f8", [9]]]}', b'{"message": 1, "arrays": [["<U9", [1]]]}',
    b'{"message": 1, "arrays": [["no", [1]]]}', b"[" * 100_000])
def test_a_message_of_another_form_is_refused(pair, text):
    ours, theirs = pair
    theirs.sendall(struct.pack("!II", len(text), 8) + text + bytes(8))
    with pytest.raises(wire.BrokenMessageError, match="cannot be read"):
        wire.receive(ours)


def test_half_a_message_is_the_end(pair):
    ours, theirs = pair
    theirs.sendall(struct.pack("!II", 10, 0) + b"{")
    theirs.close()
    with pytest.raises(EOFError):
        wire.receive(ours)

"""Messages between the judge and a confined process: JSON and plain arrays, nothing executable."""

import json
import struct

import numpy as np

MOST_BYTES = 2**26  # of one message
_HEAD = struct.Struct("!II")
_KINDS = "biuf"


class BrokenMessageError(Exception):
    """What arrived is no message of this kind."""


def send(connection, message, arrays=()):
    """Send a message and its arrays."""
    arrays = [np.ascontiguousarray(each).reshape(np.shape(each)) for each in arrays]
    forms = [[each.dtype.str, list(each.shape)] for each in arrays]
    text = json.dumps({"message": message, "arrays": forms}).encode()
    body = b"".join(each.tobytes() for each in arrays)
    connection.sendall(_HEAD.pack(len(text), len(body)) + text + body)


def receive(connection):
    """Return the next message and its arrays; raise if it is broken or the other side has gone."""
    text_length, body_length = _HEAD.unpack(_exactly(connection, _HEAD.size))
    if text_length + body_length > MOST_BYTES:
        raise BrokenMessageError("it is too long")
    text, body = _exactly(connection, text_length), _exactly(connection, body_length)
    try:
        found = json.loads(text)
        return found["message"], list(_arrays(found["arrays"], body))
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise BrokenMessageError(f"it cannot be read ({type(error).__name__})") from None


def _arrays(forms, body):
    start = 0
    for name, shape in forms:
        kind = np.dtype(name)
        if kind.kind not in _KINDS or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError
        count = 1
        for n in shape:
            count *= n
        part = body[start : start + count * kind.itemsize]
        yield np.frombuffer(part, kind, count).reshape(shape).copy()
        start += count * kind.itemsize


def _exactly(connection, length):
    parts = []
    while length:
        part = connection.recv(min(length, 2**20))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)

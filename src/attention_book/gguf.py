"""Read a GGUF file: a model's sizes, its vocabulary and its weights, most of them in four bits."""

import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attention_book.validation import complain, describe

MAGIC, VERSIONS, ALIGNMENT = b"GGUF", (2, 3), 32
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?",
           10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
# A block is 32 weights: a scale d, perhaps an offset m, and a small whole number for each.
Q4_1 = np.dtype([("d", "<f2"), ("m", "<f2"), ("halves", "u1", 16)])
Q8_0 = np.dtype([("d", "<f2"), ("whole", "i1", 32)])
F32 = np.dtype("<f4")
LONGEST = 80  # characters of a value, in an error
FORMATS = {0: (F32, 1), 3: (Q4_1, 32), 8: (Q8_0, 32)}  # type: how it is stored, weights in one
DAMAGED = "It is damaged, or not whole: fetch it again."


@dataclass(frozen=True)
class Tensor:
    """One array of weights, as it is stored: ``array()`` makes floats of it.

    Attributes
    ----------
    shape : tuple of int
        As NumPy has it: rows first. (The file lists the lengths the other way round.)
    stored : ndarray
        The numbers, or the blocks of numbers, that the file holds.
    """

    shape: tuple
    stored: np.ndarray

    def array(self):
        """Return the weights, float32, in an array of their own."""
        return TO_FLOATS[self.stored.dtype](self.stored).reshape(self.shape)


def _from_q4_1(blocks):
    """Low halves of the bytes are a block's first 16 weights, high halves the last 16."""
    halves = blocks["halves"]
    whole = np.concatenate([halves & 15, halves >> 4], axis=1)  # (n_blocks, 32)
    weights = blocks["d"].astype(np.float32)[:, None] * whole
    return np.add(weights, blocks["m"].astype(np.float32)[:, None], out=weights)


def _from_q8_0(blocks):
    return blocks["d"].astype(np.float32)[:, None] * blocks["whole"]


TO_FLOATS = {F32: lambda numbers: numbers.astype(np.float32), Q4_1: _from_q4_1, Q8_0: _from_q8_0}


def read_gguf(path):
    """Return what a GGUF file says of its model, and its weights.

    Nothing is converted yet, and the weights stay in the file until they are asked for.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    about : dict
        Sizes and vocabulary: numbers, strings and lists of them under the file's own names.
    tensors : dict of str to Tensor
        The weights.

    Raises
    ------
    TypeError
        If ``path`` is neither a string nor a path.
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a GGUF file, is cut off or inconsistent, or has weights in a format that is
        not F32, Q4_1 or Q8_0. Nothing is set aside for what the file only claims to hold, and no
        two weights may share their bytes.

    Notes
    -----
    The format is described in the file ``docs/gguf.md`` of the project ggml.
    """
    with check_file(path, "the path of a GGUF file").open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < 24:
            complain(ValueError, "path", f"a file of {size} bytes", "a GGUF file", DAMAGED)
        reader = _Reader(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    if reader.take(4) != MAGIC:
        complain(ValueError, "path", f"a file that begins with {bytes(reader.data[:4])!r}",
                 f"a GGUF file, which begins with {MAGIC!r}")
    version = reader.number("I")
    if version not in VERSIONS:
        complain(ValueError, "path", f"GGUF version {version}", "version 2 or 3")
    n_tensors, n_facts = reader.number("Q"), reader.number("Q")
    about = {}
    for _ in range(n_facts):
        name = reader.text()
        if name in about:
            complain(ValueError, "path", f"{short(name)} twice", "each once", DAMAGED)
        about[name] = reader.value(reader.number("I"))
    places = [_place(reader) for _ in range(n_tensors)]
    alignment = about.get("general.alignment", ALIGNMENT)
    if type(alignment) is not int or alignment < 1 or alignment % 8:
        complain(ValueError, "path", f"an alignment of {short(alignment)}",
                 "a multiple of 8 above 0", DAMAGED)
    start = -(-reader.at // alignment) * alignment
    tensors = {}
    for name, shape, kind, offset in places:
        if name in tensors:
            complain(ValueError, "path", f"weights {short(name)} twice", "each once", DAMAGED)
        tensors[name] = _tensor(reader.data, name, shape, kind, start + offset)
    n_bytes = sum(tensor.stored.nbytes for tensor in tensors.values())
    if n_bytes > len(reader.data) - reader.at:  # they would need far more memory than the file
        complain(ValueError, "path", f"weights of {n_bytes} bytes in a file of "
                 f"{len(reader.data)}", "weights that share no bytes", DAMAGED)
    return about, tensors


def short(value):
    """Return a value as it is written in Python, cut off where that is long."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def check_file(path, wanted, cause="", error=FileNotFoundError):
    """Return ``path`` as one, if it is that of a file."""
    if not isinstance(path, str | os.PathLike):
        complain(TypeError, "path", describe(path), "a string or a Path")
    path = Path(path)
    try:
        there = path.is_file()
    except OSError as reason:  # such as a name that is too long
        complain(error, "path", f"{short(str(path))}, {reason.strerror}", wanted, cause)
    if not there:
        what = "a folder" if path.is_dir() else "where there is no file"
        complain(error, "path", f"{path}, {what}", wanted, cause)
    return path


def _place(reader):
    """Read where one tensor is: its name, shape, format and offset."""
    name, n_axes = reader.text(), reader.number("I")
    if not 0 < n_axes <= 4:
        complain(ValueError, "path", f"weights {short(name)} of {n_axes} axes", "1 to 4 axes",
                 DAMAGED)
    lengths = [reader.number("Q") for _ in range(n_axes)]
    return name, tuple(reversed(lengths)), reader.number("I"), reader.number("Q")


def _tensor(data, name, shape, kind, start):
    """Return one tensor, if all of it is in the file."""
    if kind not in FORMATS:
        complain(ValueError, "path", f"weights {short(name)} in format {kind}",
                 "formats 0 (F32), 3 (Q4_1) or 8 (Q8_0)", "This book reads no others.")
    dtype, in_one = FORMATS[kind]
    n_weights = 1
    for length in shape:
        n_weights *= length  # of Python's whole numbers, which do not overflow
    if not n_weights or shape[-1] % in_one:
        complain(ValueError, "path", f"weights {short(name)} of shape {shape}",
                 f"rows of a multiple of {in_one} weights", DAMAGED)
    if start + n_weights // in_one * dtype.itemsize > len(data):
        complain(ValueError, "path", f"a file of {len(data)} bytes",
                 f"one that holds weights {short(name)} of shape {shape}", DAMAGED)
    return Tensor(shape, np.frombuffer(data, dtype, n_weights // in_one, start))


class _Reader:
    """What is read of the file's first part, and where the next piece begins."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        """Return the next ``size`` bytes."""
        if size > len(self.data) - self.at:
            complain(ValueError, "path", f"a file that ends within {size} bytes at {self.at}",
                     "a whole GGUF file", DAMAGED)
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, code):
        return struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}")))[0]

    def text(self):
        raw = self.take(self.number("Q"))
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            complain(ValueError, "path", f"bytes at {self.at} that are no text", "UTF-8", DAMAGED)

    def value(self, kind):
        """Return the next value, of a type that the file names by a number."""
        if kind == STRING:
            return self.text()
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind != ARRAY:
            complain(ValueError, "path", f"a value of type {kind} at {self.at}",
                     "one of the types 0 to 12", DAMAGED)
        kind, n = self.number("I"), self.number("Q")
        if kind in NUMBERS:
            code = NUMBERS[kind]
            return list(struct.unpack(f"<{n}{code}", self.take(n * struct.calcsize(f"<{code}"))))
        if kind != STRING:
            complain(ValueError, "path", f"a list of type {kind} at {self.at}",
                     "a list of numbers or texts", DAMAGED)
        return [self.text() for _ in range(n)]

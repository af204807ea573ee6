"""A GGUF file gives back what was written into it, and a broken one is refused at once."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_book.gguf import read_gguf

CODES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(3, 5)).astype("<f4")
HALVES = RNG.integers(0, 256, size=32, dtype=np.uint8)
WHOLE = RNG.integers(-128, 128, size=64, dtype=np.int8)


def text(value):
    raw = value.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def fact(name, kind, value):
    return text(name) + struct.pack("<I", kind) + plain(kind, value)


def plain(kind, value):
    """Write a value; a list is written with the type of its items, given as a pair."""
    if kind == 8:
        return text(value)
    if kind == 9:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(plain(inner, x) for x in items)
    return struct.pack(f"<{CODES[kind]}", value)


FACTS = [fact("general.architecture", 8, "small"), fact("größe", 4, 7), fact("base", 6, 0.5),
         fact("words", 9, (8, ["a", "", "Ġé"])), fact("types", 9, (5, [1, -3, 2])),
         fact("yes", 7, True), fact("least", 11, -2**63), fact("none", 9, (8, []))]


def q4_1(halves):
    """Two blocks: scales 0.5 and -2, offsets 1 and 0.25."""
    return b"".join(struct.pack("<ee", d, m) + bytes(part)
                    for d, m, part in zip((0.5, -2.0), (1.0, 0.25), np.split(halves, 2),
                                          strict=True))


def q8_0(whole):
    return b"".join(struct.pack("<e", d) + part.tobytes()
                    for d, part in zip((0.5, -2.0), np.split(whole, 2), strict=True))


TENSORS = [("floats", (3, 5), 0, NUMBERS.tobytes()),
           ("four", (2, 32), 3, q4_1(HALVES)), ("eight", (64,), 8, q8_0(WHOLE))]


def written(facts=FACTS, tensors=TENSORS, alignment=32, magic=b"GGUF", version=3):
    head = magic + struct.pack("<IQQ", version, len(tensors), len(facts)) + b"".join(facts)
    data = b""
    for name, shape, kind, raw in tensors:
        head += text(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", length) for length in reversed(shape))
        head += struct.pack("<IQ", kind, len(data))
        data += raw + bytes(-len(raw) % alignment)
    return head + bytes(-len(head) % alignment) + data


@pytest.fixture
def read(tmp_path):
    def function(content):
        path = tmp_path / "model.gguf"
        path.write_bytes(content)
        return read_gguf(path)

    return function


@pytest.mark.parametrize("version", [2, 3])
def test_facts_are_read(read, version):
    about, _ = read(written(version=version))
    assert about == {"general.architecture": "small", "größe": 7, "base": 0.5,
                     "words": ["a", "", "Ġé"], "types": [1, -3, 2], "yes": True,
                     "least": -2**63, "none": []}


def test_floats_have_the_rows_first(read):
    _, tensors = read(written())
    assert tensors["floats"].shape == (3, 5)
    np.testing.assert_array_equal(tensors["floats"].array(), NUMBERS)


def test_four_bits(read):
    """Weight i of a block is in the low half of byte i, weight 16 + i in the high half."""
    _, tensors = read(written())
    wanted = []
    for block, (d, m) in enumerate([(0.5, 1.0), (-2.0, 0.25)]):
        halves = HALVES[16 * block:16 * block + 16].tolist()
        wanted.append([d * (x % 16) + m for x in halves] + [d * (x // 16) + m for x in halves])
    result = tensors["four"].array()
    assert result.dtype == np.float32
    assert result.tolist() == wanted


def test_eight_bits(read):
    _, tensors = read(written())
    wanted = [d * x for d, part in zip((0.5, -2.0), np.split(WHOLE, 2), strict=True)
              for x in part.tolist()]
    assert tensors["eight"].array().tolist() == wanted


def test_an_array_is_its_own(read):
    _, tensors = read(written())
    first = tensors["floats"].array()
    first[:] = 0
    np.testing.assert_array_equal(tensors["floats"].array(), NUMBERS)


def test_another_alignment(read):
    facts = [*FACTS, fact("general.alignment", 4, 8)]
    _, tensors = read(written(facts, alignment=8))
    np.testing.assert_array_equal(tensors["floats"].array(), NUMBERS)


def test_a_file_cut_off_anywhere_is_refused(read):
    whole = written()
    padding = -len(TENSORS[-1][3]) % 32  # what follows the last weights is not missed
    for length in range(len(whole) - padding):
        with pytest.raises(ValueError, match=r"path: got .*; wanted"):
            read(whole[:length])


@given(st.data())
def test_a_damaged_file_is_read_or_refused_and_nothing_else(tmp_path_factory, data):
    content = bytearray(written())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "model.gguf"
    path.write_bytes(content)
    try:
        _, tensors = read_gguf(path)
        for tensor in tensors.values():
            with np.errstate(all="ignore"):
                assert tensor.array().shape == tensor.shape
    except ValueError as error:
        assert str(error).startswith("path: got ")


WRONG = {
    "another file": (written(magic=b"PK\3\4"), "begins with b'PK"),
    "no file to speak of": (b"GGUF", "a file of 4 bytes"),
    "version 1": (written(version=1), "GGUF version 1; wanted version 2 or 3"),
    "a format not known": (written(tensors=[("w", (32,), 12, bytes(64))]),
                           "weights 'w' in format 12; wanted formats 0"),
    "a row that is no whole block": (written(tensors=[("w", (2, 16), 3, bytes(64))]),
                                     r"shape \(2, 16\); wanted rows of a multiple of 32"),
    "a type not known": (written([text("x") + struct.pack("<I", 13)]), "a value of type 13"),
    "lists of lists": (written([fact("x", 9, (9, []))]), "a list of type 9"),
    "no text": (written([struct.pack("<Q", 1) + b"\xff" + struct.pack("<IB", 0, 1)]), "no text"),
    "five axes": (written(tensors=[("w", (1, 1, 1, 1, 32), 0, bytes(128))]), "of 5 axes"),
    **{f"an alignment of {value}": (written([*FACTS, fact("general.alignment", kind, value)]),
                                    f"alignment of {value!r}; wanted a multiple of 8")
       for kind, value in [(4, 0), (4, 1), (4, 12), (5, -8), (7, True), (8, "x")]},
    "a fact twice": (written([*FACTS, FACTS[1]]), "got 'größe' twice"),
    "weights twice": (written(tensors=[*TENSORS, TENSORS[0]]), "weights 'floats' twice"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_read_is_named(read, name):
    content, words = WRONG[name]
    with pytest.raises(ValueError, match=words):
        read(content)


HUGE = {
    "facts": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60) + bytes(64),
    "tensors": b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0) + bytes(64),
    "text": b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**60) + bytes(64),
    "list": written([text("x") + struct.pack("<IIQ", 9, 8, 2**40)]),
    "numbers": written([text("x") + struct.pack("<IIQ", 9, 12, 2**61)]),
    "weights": written(tensors=[("w", (2**40, 2**30), 0, b"")]),
}


def test_weights_that_share_their_bytes_are_refused(read):
    """A small file could otherwise stand for any number of floats."""
    content = bytearray(written(tensors=[(name, (64,), 0, bytes(256)) for name in "abcd"]))
    for name in "bcd":  # whose weights are made those of a
        before = text(name) + struct.pack("<IQ", 1, 64)
        place = content.index(before) + len(before)
        content[place:place + 12] = struct.pack("<IQ", 0, 0)
    with pytest.raises(ValueError, match=r"weights of 1024 bytes in a file of .*share no bytes"):
        read(content[:-768])


def test_a_long_name_is_cut_short_in_the_error(read):
    for content in (written(tensors=[("w" * 10**6, (32,), 12, bytes(64))]),
                    written([*FACTS, fact("general.alignment", 8, "x" * 10**6)])):
        with pytest.raises(ValueError, match="…") as found:
            read(content)
        assert len(str(found.value)) < 300


@pytest.mark.parametrize("name", HUGE)
def test_memory_is_not_set_aside_for_what_is_only_claimed(read, name):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="path: got"):
            read(HUGE[name])
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


NOT_THERE = r"path: got .*gone\.gguf, where there is no file; wanted the path of a GGUF file"


def test_a_file_that_is_not_there(tmp_path):
    for path in (tmp_path / "gone.gguf", str(tmp_path / "gone.gguf")):
        with pytest.raises(FileNotFoundError, match=NOT_THERE):
            read_gguf(path)


def test_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path: got .*, a folder; wanted the path of a GG"):
        read_gguf(tmp_path)


@pytest.mark.parametrize("path, came", [(3, "3"), (None, "None"), (True, "True"), ([], "list"),
                                        (b"model.gguf", "bytes")])
def test_what_is_no_path(path, came):
    with pytest.raises(TypeError, match=f"path: got .*{came}; wanted a string or a Path"):
        read_gguf(path)

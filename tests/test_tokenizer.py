"""Text becomes tokens as the merges say, and tokens become the same text again."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_book.tokenizer import BYTE_OF, SIGN_OF, Tokenizer, merged

MERGES = ["a b", "ab a", "b a", "Ġ ab", "a a", "aba b", "aa b"]


def small(**options):
    letters = [SIGN_OF[byte] for byte in range(256)]
    return Tokenizer([*letters, *(merge.replace(" ", "") for merge in MERGES), "<|end|>"],
                     MERGES, [*[1] * 256, *[1] * len(MERGES), 3], **options)


def merged_slowly(parts, ranks):
    """Look through all neighbours each time, from the left."""
    parts = list(parts)
    while True:
        pairs = [(ranks[pair], i) for i, pair in enumerate(itertools.pairwise(parts))
                 if pair in ranks]
        if not pairs:
            return parts
        _, i = min(pairs)
        parts[i:i + 2] = [parts[i] + parts[i + 1]]


RANKS = {tuple(merge.split(" ")): rank for rank, merge in enumerate(MERGES)}


@given(st.text("abĠc", max_size=30))
def test_merging_is_the_same_as_looking_each_time(text):
    assert merged(text, RANKS) == merged_slowly(text, RANKS)


@pytest.mark.parametrize("text, wanted", [
    ("aab", ["a", "ab"]),  # a b comes before a a
    ("aaa", ["aa", "a"]),  # of two alike, the left one
    ("abab", ["ab", "ab"]), ("ababab", ["ab", "ab", "ab"]),  # ab ab is no merge
    ("abaab", ["aba", "ab"]), ("", []), ("c", ["c"]),
])
def test_merges_by_hand(text, wanted):
    assert merged(text, RANKS) == wanted


def test_every_byte_has_a_sign_of_its_own():
    assert len(set(SIGN_OF.values())) == 256
    assert SIGN_OF[ord(" ")] == "Ġ" and SIGN_OF[ord("\n")] == "Ċ" and SIGN_OF[ord("a")] == "a"
    assert {BYTE_OF[sign]: sign for sign in BYTE_OF} == SIGN_OF


@pytest.mark.parametrize("text, pieces", [
    ("Hello world", ["Hello", "Ġworld"]),
    ("a12 b3", ["a", "1", "2", "Ġb", "3"]),  # digits stand alone
    ("a 7", ["a", "Ġ", "7"]),  # so a space before one does too
    ("it's I'LL", ["it", "'s", "ĠI", "'", "LL"]),
    ("x  y", ["x", "Ġ", "Ġy"]),  # the last space goes with the word
    ("x \n", ["x", "ĠĊ"]),
    ("wow!?", ["wow", "!?"]),
    ("½é", ["Â½", "Ã©"]),
])
def test_pieces(text, pieces):
    """Each piece is one token here, because every one of them is in the vocabulary."""
    letters = [SIGN_OF[byte] for byte in range(256)]
    merges, tokens = [], list(letters)
    for piece in pieces:
        for end in range(2, len(piece) + 1):
            if piece[:end] not in tokens:
                tokens.append(piece[:end])
                merges.append(f"{piece[:end - 1]} {piece[end - 1]}")
    tokenizer = Tokenizer(tokens, merges)
    assert [tokens[i] for i in tokenizer.encode(text)] == pieces


@given(st.text(max_size=40))
def test_text_comes_back(text):
    tokenizer = small()
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_control_tokens():
    tokenizer = small()
    end = len(tokenizer) - 1
    assert tokenizer.control == {"<|end|>": end}
    ids = tokenizer.encode("ab<|end|>ab")
    assert ids == [*tokenizer.encode("ab"), end, *tokenizer.encode("ab")]
    assert tokenizer.decode(ids) == "abab"


def test_bytes_without_a_token_are_left_out():
    tokenizer = Tokenizer(["a", "b"], [])
    assert tokenizer.encode("a-b") == [0, 1]


def test_a_character_over_several_tokens_is_given_whole():
    tokenizer = small()
    ids = tokenizer.encode("a😀b")
    assert len(ids) == 6  # four bytes
    assert list(tokenizer.stream(ids)) == ["a", "", "", "", "😀", "b", ""]
    assert tokenizer.decode(ids[:3]) == "a\N{REPLACEMENT CHARACTER}"


def test_stream_gives_each_as_it_comes():
    tokenizer, asked = small(), []

    def ids():
        for i in tokenizer.encode("ab"):
            asked.append(i)
            yield i

    stream = tokenizer.stream(ids())
    assert not asked
    assert next(stream) == "ab" and len(asked) == 1


@pytest.mark.parametrize("call, error, words", [
    (lambda t: t.encode(None), TypeError, "text: got None; wanted a string"),
    (lambda t: t.encode(b"ab"), TypeError, "text: got a value of type bytes"),
    (lambda t: t.encode("ab\ud800"), ValueError, "text: got half of a character at 2"),
    (lambda t: t.decode([10**6]), ValueError, "ids: got the id 1000000; wanted ids from 0 to 263"),
    (lambda t: t.decode([-1]), ValueError, "ids: got -1"),
    (lambda t: t.decode(None), TypeError, "ids: got None; wanted ids of tokens, one after the ot"),
    (lambda t: t.decode(3), TypeError, r"ids: got 3; wanted .* Write \[3\]"),
    (lambda t: t.decode("ab"), TypeError, "ids: got a value of type str; wanted ids"),
    (lambda t: t.decode([[1, 2]]), TypeError, "ids: got a value of type list"),
    (lambda t: t.stream(None), TypeError, "ids: got None; wanted ids"),
    (lambda t: t.decode([1.5]), TypeError, "ids: got 1.5"),
    (lambda t: Tokenizer(["a"], ["a b"]), ValueError, "merges: got 'a b'; wanted two tokens that"),
    (lambda t: Tokenizer(["a", "b"], ["a b"]), ValueError, "make a third"),
    (lambda t: Tokenizer(["a b"], []).decode([0]), ValueError, "tokens: got 'a b'; wanted .* Ġ"),
    (lambda t: Tokenizer(None, []), TypeError, "tokens: got None; wanted a list of strings"),
    (lambda t: Tokenizer("ab", []), TypeError, "tokens: got a value of type str; wanted a list"),
    (lambda t: Tokenizer(["a", 1], []), TypeError, "tokens: got 1 at 1; wanted a list of strings"),
    (lambda t: Tokenizer([["a"]], []), TypeError, "tokens: got a value of type list at 0"),
    (lambda t: Tokenizer(["a"], None), TypeError, "merges: got None; wanted a list of strings"),
    (lambda t: Tokenizer(["a"], [3]), TypeError, "merges: got 3 at 0; wanted a list of strings"),
    (lambda t: Tokenizer(["a"], [], 3), TypeError, "types: got 3; wanted a list of whole numbers"),
    (lambda t: Tokenizer(["a"], ["a"]), ValueError, "merges: got 'a'"),
    (lambda t: Tokenizer(["a", "a"], []), ValueError, "tokens: got 2 tokens, 1 of them different"),
    (lambda t: Tokenizer(["a", "b"], [], [1]), ValueError, "and 1 types; wanted as many of each"),
])
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call(small())

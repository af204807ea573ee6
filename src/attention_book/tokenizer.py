"""Cut text into tokens as SmolLM2 does, and put it together again: byte-pair encoding."""

import codecs
import heapq
from functools import lru_cache

import regex

from attention_book.validation import check_count, complain, describe

# Digits stand alone; then words with the space before them, numbers, signs, and white space.
DIGIT = regex.compile(r"(\p{N})")
PIECE = regex.compile(r"'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
CONTROL = 3  # the type of a token that stands for no text, such as <|im_end|>


def _signs():
    """Return the character that stands for each byte in a vocabulary; no two are alike.

    Bytes that print as themselves in Latin-1 do so here; the others take characters from 256 on.
    """
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return ({byte: chr(byte) for byte in plain}
            | {byte: chr(256 + place) for place, byte in enumerate(others)})


SIGN_OF = _signs()
BYTE_OF = {sign: byte for byte, sign in SIGN_OF.items()}


class Tokenizer:
    """A vocabulary, and the merges by which it was made.

    Parameters
    ----------
    tokens : list of str
        The vocabulary; a token's place is its id. Bytes are written as the characters that GPT-2
        has for them.
    merges : list of str
        Pairs of tokens, ``"a b"``, which are joined to one; the first first.
    types : list of int, optional
        For each token its type; 3 is a control token.

    Attributes
    ----------
    tokens : list of str
        The vocabulary as given.
    control : dict of str to int
        Control tokens and their ids.

    Raises
    ------
    TypeError
        If an argument is not what is asked for above.
    ValueError
        If a merge is of other than two tokens, or makes something that is no token.

    Notes
    -----
    Byte-pair encoding for words is that of Sennrich et al. (2016), on bytes that of Radford et al.
    (2019).

    Examples
    --------
    >>> tokenizer = Tokenizer(["a", "b", "ab", "Ġ", "Ġab"],
    ...                       ["a b", "Ġ ab"])
    >>> tokenizer.encode("ab ab a")
    [2, 4, 3, 0]
    >>> tokenizer.decode([2, 4, 3, 0])
    'ab ab a'
    """

    def __init__(self, tokens, merges, types=None):
        self.tokens, merges = _strings("tokens", tokens), _strings("merges", merges)
        ones = [1] * len(self.tokens)
        types = ones if types is None else _listed("types", types, "whole numbers")
        ids = {token: i for i, token in enumerate(self.tokens)}
        if len(types) != len(self.tokens) or len(ids) != len(self.tokens):
            complain(ValueError, "tokens", f"{len(self.tokens)} tokens, {len(ids)} of them "
                     f"different, and {len(types)} types", "as many of each")
        self.control = {token: i for token, i in ids.items() if types[i] == CONTROL}
        self._ids = ids
        self._ranks = {}
        for rank, merge in enumerate(merges):
            pair = tuple(merge.split(" "))
            if len(pair) != 2 or any(part not in ids for part in (*pair, "".join(pair))):
                complain(ValueError, "merges", repr(merge[:80]), "two tokens that make a third")
            self._ranks[pair] = rank
        self._encode_piece = lru_cache(1 << 16)(self._encode_piece)  # words come again and again
        longest_first = sorted(self.control, key=len, reverse=True)
        self._control = regex.compile("|".join(map(regex.escape, longest_first)) or r"(?!)")

    def __len__(self):
        return len(self.tokens)

    def encode(self, text):
        """Return the ids of a text's tokens.

        Parameters
        ----------
        text : str
            Control tokens in it, such as ``<|im_end|>``, become their one id. Bytes that the
            vocabulary has no token for are left out, as by other implementations.

        Returns
        -------
        list of int

        Raises
        ------
        TypeError
            If it is not a string.
        ValueError
            If it cannot be written in UTF-8.
        """
        if not isinstance(text, str):
            complain(TypeError, "text", describe(text), "a string")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            complain(ValueError, "text", f"half of a character at {error.start}",
                     "a string that can be written in UTF-8")
        found, at = [], 0
        for match in self._control.finditer(text):
            found += [*self._encode_plain(text[at:match.start()]), self.control[match[0]]]
            at = match.end()
        return found + self._encode_plain(text[at:])

    def _encode_plain(self, text):
        return [token for part in DIGIT.split(text) for piece in PIECE.findall(part)
                for token in self._encode_piece(piece)]

    def _encode_piece(self, piece):
        signs = [SIGN_OF[byte] for byte in piece.encode("utf-8")]
        parts = merged([sign for sign in signs if sign in self._ids], self._ranks)
        return [self._ids[part] for part in parts]

    def decode(self, ids):
        """Return the text of tokens; control tokens are left out.

        Parameters
        ----------
        ids : iterable of int

        Raises
        ------
        TypeError, ValueError
            If there is no such token.
        """
        return "".join(self.stream(ids))

    def stream(self, ids):
        """Give the text of each token as it comes.

        A character of several bytes may be spread over tokens: it is given with the last of them.
        Bytes that make no character become the sign U+FFFD.

        Parameters
        ----------
        ids : iterable of int
            Such as what :meth:`Decoder.generate` gives.

        Returns
        -------
        iterator of str
            Nothing is asked of ``ids`` before its text is, but that they can be gone through.
        """
        if isinstance(ids, str | bytes) or not _is_iterable(ids):
            complain(TypeError, "ids", describe(ids), "ids of tokens, one after the other",
                     f"Write [{ids}]." if isinstance(ids, int) else "")
        return self._stream(ids)

    def _stream(self, ids):
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        for i in ids:
            yield decoder.decode(self.bytes_of(i))
        yield decoder.decode(b"", final=True)

    def bytes_of(self, i):
        """Return the bytes that a token stands for; none for a control token."""
        i = check_count("ids", i)
        if i >= len(self.tokens):
            complain(ValueError, "ids", f"the id {i}", f"ids from 0 to {len(self.tokens) - 1}")
        token = self.tokens[i]
        if token in self.control:
            return b""
        if not BYTE_OF.keys() >= set(token):
            complain(ValueError, "tokens", repr(token), "the characters that stand for bytes",
                     "A space is written Ġ.")
        return bytes(BYTE_OF[sign] for sign in token)


def _is_iterable(things):
    try:
        iter(things)
    except TypeError:
        return False
    return True


def _listed(name, things, what):
    """Return a list of what can be gone through, a text apart."""
    if isinstance(things, str | bytes) or not _is_iterable(things):
        complain(TypeError, name, describe(things), f"a list of {what}")
    return list(things)


def _strings(name, things):
    """Return a list of strings."""
    things = _listed(name, things, "strings")
    for i, thing in enumerate(things):
        if not isinstance(thing, str):
            complain(TypeError, name, f"{describe(thing)} at {i}", "a list of strings")
    return things


def merged(parts, ranks):
    """Join neighbours, those with the lowest rank first, the leftmost of them first.

    Parameters
    ----------
    parts : list of str
        As many as there are bytes.
    ranks : dict of (str, str) to int
        The pairs that may be joined.

    Returns
    -------
    list of str
    """
    parts, after = list(parts), list(range(1, len(parts) + 1))  # a chain of what is left
    before = list(range(-1, len(parts) - 1))
    waiting = []

    def consider(left):
        right = after[left] if left >= 0 else len(parts)
        if right < len(parts) and (parts[left], parts[right]) in ranks:
            pair = parts[left], parts[right]
            heapq.heappush(waiting, (ranks[pair], left, pair))

    for left in range(len(parts) - 1):
        consider(left)
    while waiting:
        _, left, pair = heapq.heappop(waiting)
        right = after[left] if parts[left] is not None else len(parts)
        if right == len(parts) or (parts[left], parts[right]) != pair:
            continue  # one of the two has been joined meanwhile
        parts[left], parts[right] = "".join(pair), None
        after[left] = after[right]
        if after[right] < len(parts):
            before[after[right]] = left
        consider(before[left])
        consider(left)
    return [part for part in parts if part is not None]

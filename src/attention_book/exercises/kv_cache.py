"""The exercises of the chapter on the KV cache."""

import math

import numpy as np

import attention_book
from attention_book.exercises.building_blocks import (
    in_float32,
    reference_product,
    reference_softmax,
    softmax,
    unstable_softmax,
)
from attention_book.exercises.compare import COUNTED
from attention_book.exercises.decode_step import DECODE_STEP
from attention_book.exercises.model import Case, Example, Exercise, Mistake, Step, prediction
from attention_book.exercises.probes import Probe, of_queries_and_keys
from attention_book.exercises.stages import GIVEN, OF_A_CAUSAL_HEAD

CHAPTER = "07_kv_cache"

_rng = np.random.default_rng(7)
_LN3 = math.log(3)
_POSITIONS, _SCALE, _WEIGHTS = "the positions of the queries", "the scale", "the weights"
_SHIFT, _ROW_MAXIMUM = "the shift by the row's maximum", "one maximum for each row"
_MASK, _HIDDEN = "the mask before the softmax", "what stands for a hidden score"
_FILLED, _EMPTY = "the rows that are filled", "what stands for an empty row"


def _draw(*shape):
    return _rng.normal(size=shape).round(3)


def _quarters(*shape):
    return (2 * _rng.normal(size=shape)).round() / 4


# --- scores_computed(n, cached) -------------------------------------------------------------------
def _two_counts(without, with_cache):
    """Return a count by two formulas of n."""
    return lambda n, cached: with_cache(n) if cached else without(n)


def _two_sums(without, with_cache, first=1, further=1):
    """Return a count by two terms, summed over t from ``first`` to ``n + further - 1``."""
    def count(n, cached):
        total = 0
        for t in range(first, n + further):
            total += with_cache(t) if cached else without(t)
        return total

    return count


def _pairs(n):
    return n * (n + 1) // 2


def _pyramid(n):
    return n * (n + 1) * (n + 2) // 6


def _squares(n):
    return n * (n + 1) * (2 * n + 1) // 6


def _solve_scores_computed(n, cached):
    count = 0
    for t in range(1, n + 1):  # t tokens so far
        count += t if cached else t * (t + 1) // 2
    return count


_SCORES_COMPUTED = Exercise(
    id="scores_computed",
    chapter=CHAPTER,
    title="Count the work",
    signature="scores_computed(n, cached)",
    shapes="a whole number, True or False → a whole number",
    prompt="One causal head generates n tokens one by one. At step t it has t tokens, the newest "
           "included. Without a cache, the step is a whole causal pass over all of them; with one, "
           "it computes the newest token's row alone. Write scores_computed(n, cached): how many "
           "dot products of a query and a key are needed over all steps from 1 to n. Those that "
           "the mask hides are not needed. For n = 3 it is 1 + 3 + 6 = 10 without a cache, and "
           "1 + 2 + 3 = 6 with one.",
    hints=("Write down the triangle of a causal mask for 3 tokens. How many entries are True, and "
           "how many of them are in the last row?",
           "A step with a cache is the last row of the triangle; one without is the whole "
           "triangle. What are they for t tokens?",
           "Add up over t = 1 … n, in a loop or by a formula: t(t + 1)/2 in one case, t in the "
           "other."),
    example=Example((3, False), 10.0),
    reference=lambda n, cached: float(sum(
        1 for t in range(1, n + 1) for query in range(t) for key in range(query + 1)
        if query == t - 1 or not cached)),
    tolerance=COUNTED,
    cases=(
        Case((1, True), "a single token", "one step"),
        Case((4, True), "four tokens with a cache", "the steps with a cache"),
        Case((2, False), "two tokens without a cache", "the steps without a cache"),
        Case((7, True), "seven tokens with a cache", "the steps with a cache"),
        Case((7, False), "seven tokens without a cache", "the steps without a cache"),
        Case((29, False), "29 tokens without a cache", "the steps without a cache"),
        Case((29, True), "29 tokens with a cache", "the steps with a cache"),
        Case((0, False), "no token at all", "one step"),
    ),
    naming=tuple(Case((n, cached), f"{n} tokens") for n in (0, 4, 7, 11)
                 for cached in (True, False)),
    mistakes=(
        Mistake(
            id="linear-with-cache",
            seen="With a cache, each token is made to cost the same.",
            question="At step 5, how many keys does the newest query meet?",
            ways=(_two_counts(_pyramid, lambda n: n), _two_sums(_pairs, lambda t: 1),
                  _two_counts(lambda n: n**2, lambda n: n), _two_counts(_pairs, lambda n: n),
                  _two_counts(lambda n: n**3, lambda n: n), _two_counts(_squares, lambda n: n),
                  _two_counts(lambda n: n**3, lambda n: 2 * n),
                  _two_counts(lambda n: n**2, lambda n: 2 * n)),
            step="the steps with a cache",
        ),
        Mistake(
            id="same-either-way",
            seen="The count does not depend on the cache.",
            question="Which rows of the triangle have been computed before, at step 5?",
            ways=tuple(_two_counts(count, count) for count in
                       (_pairs, _pyramid, _squares, lambda n: n, lambda n: n**2, lambda n: n**3,
                        lambda n: n * (n - 1) // 2)),
            step="the steps without a cache",
        ),
        Mistake(
            id="ignores-causality",
            seen="Products that the mask hides are counted too: every query meets every key.",
            question="At step 3 without a cache, how many entries of the mask are True?",
            ways=(_two_counts(_squares, _pairs), _two_sums(lambda t: t * t, lambda t: t),
                  _two_counts(lambda n: n**3, lambda n: n**2),
                  _two_counts(_squares, lambda n: n**2), _two_counts(lambda n: n**3, _pairs)),
            step="the steps without a cache",
        ),
        Mistake(
            id="one-pass-only",
            seen="Without a cache, a single pass over all tokens is counted, not one for each "
                 "step.",
            question="Without a cache, how many passes are there for n tokens?",
            ways=(_two_counts(lambda n: n**2, _pairs),
                  _two_counts(lambda n: n**2, lambda n: n * (n - 1) // 2)),
            step="the steps without a cache",
        ),
        Mistake(
            id="every-step-as-the-last",
            seen="Each step is made to cost as much as the last one, as if all n tokens were there "
                 "from the beginning.",
            question="How many tokens are there at step 2?",
            ways=(_two_counts(lambda n: n * _pairs(n), _pairs),
                  _two_counts(lambda n: n * _pairs(n), lambda n: n**2),
                  _two_counts(_pyramid, lambda n: n**2)),
            step="the steps without a cache",
        ),
        Mistake(
            id="one-step-off",
            seen="One is counted too few or too many: a step, or each token's product with itself.",
            question="How many products does the first token need, and over which t does your sum "
                     "run?",
            ways=(_two_sums(_pairs, lambda t: t, first=0, further=0),
                  _two_sums(_pairs, lambda t: t, further=2),
                  _two_sums(_pairs, lambda t: t, first=2),
                  _two_sums(lambda t: t * (t - 1) // 2, lambda t: t),
                  _two_sums(_pairs, lambda t: t - 1),
                  lambda n, cached: 1 + _two_sums(_pairs, lambda t: t, first=2)(n, cached),
                  lambda n, cached: max(1, _solve_scores_computed(n, cached)),
                  _two_counts(_squares, lambda n: n * (n - 1) // 2)),
            step="one step",
        ),
        Mistake(
            id="cases-swapped",
            seen="The two cases have changed places: a cache makes it more work.",
            question="Should there be more dot products with a cache, or fewer?",
            ways=(_two_counts(_pairs, _pyramid), _two_sums(lambda t: t, _pairs)),
            step="the steps with a cache",
        ),
        Mistake(
            id="values-counted-too",
            seen="Every product is counted twice, as if for keys and for values.",
            question="Is a weight times a value a dot product of a query and a key?",
            ways=(_two_counts(lambda n: 2 * _pyramid(n), lambda n: 2 * _pairs(n)),
                  _two_sums(lambda t: t * (t + 1), lambda t: 2 * t),
                  _two_counts(_pyramid, lambda n: 2 * _pairs(n))),
            step="one step",
        ),
        Mistake(
            id="constant-with-cache",
            seen="With a cache, all steps together are made to cost a single product.",
            question="At step 5, how many keys does the newest query meet?",
            ways=tuple(_two_counts(count, lambda n: 1) for count in
                       (_pyramid, _pairs, lambda n: n, lambda n: n**2)),
            step="the steps with a cache",
        ),
    ),
    variants=(
        _two_counts(_pyramid, _pairs),
        _two_sums(lambda t: t * (t + 1) / 2, lambda t: t),
        lambda n, cached: int(np.arange(1, n + 1).sum() if cached else
                              np.cumsum(np.arange(1, n + 1)).sum()),
        lambda n, cached: sum(len(range(t)) if cached else np.tri(t).sum()
                              for t in range(1, n + 1)),
        lambda n, cached: math.comb(n + 1, 2) if cached else math.comb(n + 2, 3),
    ),
    solution=_solve_scores_computed,
)


# --- predict_step_shape ---------------------------------------------------------------------------
_PREDICT = prediction(
    id="predict_step_shape",
    chapter=CHAPTER,
    title="The scores of one step",
    signature="a shape, such as (9, 9, 9)",
    shapes="(n_heads, n_query, n_key)",
    prompt="A causal layer has 6 query heads of width 4, which share 2 heads of keys and values. "
           "It has read a prompt of 5 tokens, and then decoded 2 tokens one by one, all kept in a "
           "cache. Now it decodes the next token. Which shape (n_heads, n_query, n_key) do the "
           "scores of this step have, over all query heads? Write it down before you run anything.",
    hints=("How many tokens are in the cache before this step, and how many after it?",
           "The work of this step is for one token. How many queries are there in each head?",
           "Sharing saves heads of keys, not tables of scores: every query head has its own."),
    value=(6, 1, 8),
    steps=(Step("tokens in the cache", "5 and 2: 7 before this step"),
           Step("queries", "one token in 6 heads of width 4: (6, 1, 4)"),
           Step("keys", "7 old ones and the new one, in 2 heads: (2, 8, 4)"),
           Step("scores", "each query head with the 8 keys of the head it shares: (6, 1, 8)")),
    mistakes=(
        Mistake(
            id="forgets-current-token",
            seen="The new token's own key is not counted.",
            question="May a position attend to itself? When is its key put into the cache?",
            ways=((6, 1, 7), [6, 1, 7]),
            step="keys",
        ),
        Mistake(
            id="whole-pass",
            seen="There is a row for every token so far, as in a pass without a cache.",
            question="Whose result is not known yet at this step?",
            ways=((6, 8, 8), (6, 7, 7), (6, 7, 8), (2, 8, 8)),
            step="queries",
        ),
        Mistake(
            id="one-table-per-kv-head",
            seen="There is one table of scores for each head of keys.",
            question="Two query heads share their keys. Do they ask the same question?",
            ways=((2, 1, 8), (2, 1, 7), (3, 1, 8), (12, 1, 8)),
            step="scores",
        ),
        Mistake(
            id="new-token-only",
            seen="The new query meets nothing but its own key.",
            question="What are the old keys kept for?",
            ways=((6, 1, 1), (2, 1, 1)),
            step="keys",
        ),
        Mistake(
            id="decoded-together",
            seen="There is a query for each decoded token.",
            question="Two of the three tokens were decoded before. Are their queries still needed?",
            ways=((6, 3, 8), (6, 2, 8), (6, 3, 7), (6, 2, 7)),
            step="queries",
        ),
        Mistake(
            id="prompt-forgotten",
            seen="The tokens of the prompt, or those decoded since, are missing among the keys.",
            question="Which tokens have left keys in the cache?",
            ways=((6, 1, 3), (6, 1, 2), (6, 1, 5), (6, 1, 6)),
            step="tokens in the cache",
        ),
        Mistake(
            id="features-for-keys",
            seen="The last number is the width of a head.",
            question="Over which axis does a dot product sum, and is that axis still there?",
            ways=((6, 1, 4), (6, 8, 4), (2, 8, 4)),
            step="scores",
        ),
        Mistake(
            id="transposed",
            seen="Two of the three numbers have changed places.",
            question="In which order does the question ask for heads, queries and keys?",
            ways=((6, 8, 1), (1, 6, 8), (8, 1, 6), (1, 8, 6), (8, 6, 1)),
            step="scores",
        ),
        Mistake(
            id="heads-added",
            seen="The heads of keys and values are counted beside those of the queries.",
            question="Which heads have scores of their own: those that ask, or those that are "
                     "asked?",
            ways=((8, 1, 8), (8, 1, 7), (10, 1, 8)),
            step="scores",
        ),
        Mistake(
            id="axis-left-out",
            seen="There are fewer than three numbers: heads, queries or keys have no axis.",
            question="Which three lengths does the question ask for?",
            ways=((1, 8), (6, 8), (8,), (1, 7), (6, 7)),
            step="scores",
        ),
    ),
    variants=((6, 1, 8), [6, 1, 8], np.array([6, 1, 8])),
)


# --- cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value) -------------------------
def _sized(factor=2, layers=1, heads=1, width=1, tokens=1, size=1):
    """Return ``factor`` times the product of the arguments, each to the power that is given."""
    def count(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
        return (factor * n_layers**layers * n_kv_heads**heads * d_head**width * n_tokens**tokens
                * bytes_per_value**size)

    return count


def _tokens_counted(count):
    return lambda *sizes: _sized()(*sizes[:3], count(sizes[3]), sizes[4])


def _by_nbytes(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    number = np.zeros((), dtype=f"V{bytes_per_value}")
    keys = np.broadcast_to(number, (n_layers, n_kv_heads, n_tokens, d_head))
    return keys.nbytes + np.broadcast_to(number, keys.shape).nbytes


def _layer_by_layer(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    total = 0
    for _ in range(n_layers):
        for _ in ("keys", "values"):
            total += n_kv_heads * n_tokens * d_head * bytes_per_value
    return total


def _solve_cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value):
    numbers_per_token = 2 * n_kv_heads * d_head  # a key and a value for each head
    return n_layers * n_tokens * numbers_per_token * bytes_per_value


_CACHE_BYTES = Exercise(
    id="cache_bytes",
    chapter=CHAPTER,
    title="What the cache weighs",
    signature="cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value)",
    shapes="five whole numbers → a whole number of bytes",
    prompt="Write cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value): how many "
           "bytes the caches of all layers take when they hold n_tokens tokens. Every layer has a "
           "cache of its own, with n_kv_heads heads; keys and values both have d_head features; "
           "each number takes bytes_per_value bytes. In the example one token of one layer has "
           "1 · 3 features as keys and as many as values: 6 numbers, 24 bytes. Two layers and 5 "
           "tokens make it 240.",
    hints=("Begin with one token, one head, one layer. Which two things are stored for it?",
           "Which of the five arguments can double, so that the memory doubles too?",
           "It is a product of six factors: the five arguments, and one that says how many arrays "
           "a cache holds."),
    example=Example((2, 1, 3, 5, 4), 240.0),
    reference=lambda n_layers, n_kv_heads, d_head, n_tokens, bytes_per_value: math.fsum(
        float(n_tokens * d_head) * bytes_per_value for _ in range(2 * n_layers * n_kv_heads)),
    tolerance=COUNTED,
    cases=(
        Case((1, 1, 1, 1, 1), "one number each", "keys and values"),
        Case((1, 1, 7, 1, 4), "one token, one head", "the features"),
        Case((1, 3, 7, 5, 4), "one layer", "heads and tokens"),
        Case((5, 3, 7, 11, 4), "5 layers, 3 heads of width 7, 11 tokens", "the layers"),
        Case((30, 3, 64, 13, 2), "30 layers, 3 heads of width 64, 13 tokens", "bytes, not numbers"),
        Case((12, 12, 64, 3, 8), "12 layers, 12 heads of width 64, 3 tokens", "bytes, not numbers"),
        Case((3, 5, 2, 0, 4), "an empty cache", "heads and tokens"),
        Case((30, 7, 64, 500, 512), "numbers of 512 bytes: billions of bytes in all",
             "numbers of any size"),
    ),
    naming=(Case((5, 3, 7, 11, 4), "primes"), Case((3, 7, 5, 2, 8), "other primes"),
            Case((7, 2, 3, 13, 1), "one byte"), Case((3, 5, 2, 0, 4), "an empty cache")),
    mistakes=(
        Mistake(
            id="keys-only",
            seen="Only one of keys and values is counted.",
            question="What does a cache keep for each token, besides its key?",
            ways=(_sized(1), _sized(1, layers=0), _sized(1, heads=0), _sized(1, size=0)),
            step="keys and values",
        ),
        Mistake(
            id="one-layer",
            seen="The cache of a single layer is counted.",
            question="Do the layers have the same keys?",
            ways=(_sized(layers=0), lambda *sizes: _layer_by_layer(1, *sizes[1:]),
                  _sized(layers=0, heads=0)),
            step="the layers",
        ),
        Mistake(
            id="one-head",
            seen="The keys and values of a single head are counted.",
            question="How many heads of keys does a layer have?",
            ways=(_sized(heads=0), _sized(heads=0, size=0)),
            step="heads and tokens",
        ),
        Mistake(
            id="bits",
            seen="Bits and bytes are mixed up: the result is eight times too large, or too small.",
            question="In which unit is bytes_per_value given, and in which one is the result "
                     "wanted?",
            ways=(_sized(16), _sized(1 / 4), _sized(8),
                  lambda *sizes: _sized()(*sizes) // 8, _sized(16, size=0)),
            step="bytes, not numbers",
        ),
        Mistake(
            id="one-token",
            seen="The number of tokens has no influence: this is the size for one token.",
            question="How does a cache of twice as many tokens differ?",
            ways=(_sized(tokens=0), _sized(1, tokens=0)),
            step="heads and tokens",
        ),
        Mistake(
            id="quadratic",
            seen="The memory grows with the square of the number of tokens.",
            question="What does the cache gain when one token is added? Does it keep scores?",
            ways=(_sized(tokens=2), _sized(1, tokens=2), _sized(1, width=0, tokens=2)),
            step="heads and tokens",
        ),
        Mistake(
            id="numbers-not-bytes",
            seen="These are numbers, not bytes.",
            question="How much room does one number take?",
            ways=(_sized(size=0), lambda *sizes: _layer_by_layer(*sizes[:4], 1)),
            step="bytes, not numbers",
        ),
        Mistake(
            id="one-feature",
            seen="A key is counted as a single number.",
            question="How many features has the key of one head?",
            ways=(_sized(width=0), _sized(1, width=0)),
            step="the features",
        ),
        Mistake(
            id="queries-too",
            seen="Three or four arrays are counted for each token.",
            question="Which of queries, keys and values are read again by later tokens?",
            ways=(_sized(3), _sized(4)),
            step="keys and values",
        ),
        Mistake(
            id="width-squared",
            seen="The width of a head, or the number of heads, is counted twice.",
            question="For one token, what is the shape of the keys of all heads?",
            ways=(_sized(width=2), _sized(heads=2), _sized(heads=2, width=2),
                  _sized(1, width=2), _sized(1, heads=2)),
            step="the features",
        ),
        Mistake(
            id="one-token-off",
            seen="One token is counted too many or too few.",
            question="How large is a cache that holds no token yet, and one that holds a single "
                     "token?",
            ways=(*(_tokens_counted(count) for count in (lambda n: n - 1, lambda n: n + 1,
                                                         lambda n: max(n, 1))),
                  lambda *sizes: _layer_by_layer(*sizes[:3], sizes[3] or 1, sizes[4])),
            step="heads and tokens",
        ),
        Mistake(
            id="added-not-multiplied",
            seen="A number is added that should be a factor.",
            question="With twice as many tokens, everything that is stored should double. Does it?",
            ways=(lambda n_layers, n_kv_heads, d_head, n_tokens, size:
                  n_layers * n_kv_heads * (d_head + 2) * n_tokens * size,
                  lambda n_layers, n_kv_heads, d_head, n_tokens, size:
                  n_layers * (n_kv_heads + 2) * d_head * n_tokens * size,
                  lambda *sizes: 2 + math.prod(sizes), lambda *sizes: 2 * sum(sizes),
                  lambda *sizes: 2 * math.prod(sizes[1:]) + sizes[0]),
            step="keys and values",
        ),
        Mistake(
            id="larger-unit",
            seen="The result is given in a larger unit than bytes.",
            question="Does the exercise ask for bytes, or for kibibytes or mebibytes?",
            ways=tuple(_sized(2 / unit) for unit in (1000, 1024, 10**6, 2**20, 10**9, 2**30)),
            step="bytes, not numbers",
        ),
    ),
    variants=(
        _sized(),
        _by_nbytes,
        _layer_by_layer,
        lambda *sizes: 2 * math.prod(sizes),
        lambda *sizes: float(np.prod(sizes, dtype=float)) * 2,
    ),
    solution=_solve_cache_bytes,
)


# --- attend_with_past(q, k, v) --------------------------------------------------------------------
def _arguments(n_query, n_key, d_head, d_value):
    return _draw(n_query, d_head), _draw(n_key, d_head), _draw(n_key, d_value)


def _from_scores(rows, columns):
    """Return arguments whose scores are gentle ones plus ``rows[i] + columns[j]``, exactly."""
    q, k = _quarters(len(rows), 4), _quarters(len(columns), 4)
    q[:, 0], k[:, 0] = np.multiply(2, rows), 1
    q[:, 1], k[:, 1] = 1, np.multiply(2, columns)
    return q, k, _draw(len(columns), 3)


_EQUAL = Case((np.zeros((2, 1)), _draw(4, 1), _draw(4, 2)), "equal scores, other values",
              _POSITIONS)
_PAST = Case(_arguments(3, 7, 5, 2), "3 queries and 7 keys", _POSITIONS)
_LONG_PAST = Case(_arguments(2, 11, 3, 5), "2 queries and 11 keys", _POSITIONS)
_NO_PAST = Case(_arguments(5, 5, 3, 2), "as many queries as keys", _WEIGHTS)
_SQUARE = Case(_arguments(5, 5, 5, 5), "all four lengths alike", _WEIGHTS)
_TOWERING = Case(_from_scores([0, 0, 0], [0, 0, 0, 900, 1800]),
                 "hidden scores that tower over the visible ones", _MASK)
_LARGE = Case(_from_scores([1000] * 3, [0] * 5), "large scores", _SHIFT)
_APART = Case(_from_scores([1500, 0, -1500], [0] * 5),
              "rows of scores far apart from one another", _ROW_MAXIMUM)
_DEEP = Case(_from_scores([-20000] * 2, [0, 0, 0, 20000]), "visible scores that are all very low",
             _HIDDEN)


def _offset(further=0, past=lambda n_query, n_key: n_key - n_query):
    """Return the rule by which query i sees keys up to i + past + further."""
    def keep(n_query, n_key):
        return np.tri(n_query, n_key, past(n_query, n_key) + further, dtype=bool)

    return keep


_sees, _backwards = _offset(), _offset(past=lambda n_query, n_key: n_query - n_key)


def _in_cache(n_query, n_key):
    return np.tile(np.arange(n_key) < n_key - n_query, (n_query, 1))


def _before(keep=_sees, fill=-np.inf, weigh=softmax):
    """Return a weighing that fills the scores outside of ``keep`` before the softmax."""
    return lambda s: weigh(np.where(keep(*s.shape), s, fill))


def _after(keep, weigh=softmax):
    return lambda s: np.where(keep(*s.shape), weigh(s), 0)


def _attending(weigh, scale=lambda q, k, v: q.shape[1] ** -0.5):
    """Return attention with one of its steps changed."""
    return lambda q, k, v: weigh(q @ k.T * scale(q, k, v)) @ v


def _query_by_query(seen=lambda i, n_query, n_key: slice(i + 1 + n_key - n_query)):
    """Return attention in a loop over queries, each of which meets ``seen`` of the keys."""
    def attend(q, k, v):
        out = []
        for i, query in enumerate(q):
            keys = seen(i, len(q), len(k))
            out.append(softmax(k[keys] @ query / math.sqrt(len(query))) @ v[keys])
        return out

    return attend


def _empty_gives_zeros(seen):
    """Return the loop over queries, in which one that sees no key finds zeros."""
    def attend(q, k, v):
        out = np.zeros((len(q), v.shape[1]))
        for i, query in enumerate(q):
            keys = seen(i, len(q), len(k))
            if len(k[keys]):
                out[i] = softmax(k[keys] @ query / math.sqrt(len(query))) @ v[keys]
        return out

    return attend


def _zeros_hidden(s, fill=-np.inf, own=False):
    """Return weights with every 0 hidden, but for a query's own key if ``own`` is let off."""
    hidden = np.where(_sees(*s.shape), s, 0) == 0
    if own:
        hidden &= ~np.eye(*s.shape, s.shape[1] - s.shape[0], dtype=bool)
    return softmax(np.where(hidden, fill, s))


def _renormalised(s, least=0.0):
    weights = softmax(s) * _sees(*s.shape)
    return weights / (weights.sum(axis=-1, keepdims=True) + least)


def _one_maximum(s):
    s = np.where(_sees(*s.shape), s, -np.inf)
    return unstable_softmax(s - s.max())


def _zero_for_nan(weigh):
    return lambda s: np.nan_to_num(weigh(s))


def _reference_with_past(q, k, v):
    out = []
    for i, query in enumerate(q):
        end = len(k) - len(q) + i + 1
        s = [math.fsum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query))
             for key in k[:end]]
        out.append(reference_product([reference_softmax(s)], v[:end])[0])
    return out


def _solve_attend_with_past(q, k, v):
    query_positions = np.arange(len(q)) + len(k) - len(q)
    visible = np.arange(len(k)) <= query_positions[:, None]  # (n_query, n_key)
    s = np.where(visible, q @ k.T * q.shape[-1] ** -0.5, -np.inf)
    exponentials = np.exp(s - s.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ v


_FILLS = (-1.0, -5.0, -10.0, -20.0, -100.0, -1e3, -1e4)

_ATTEND_WITH_PAST = Exercise(
    id="attend_with_past",
    chapter=CHAPTER,
    title="Several tokens at once",
    signature="attend_with_past(q, k, v)",
    shapes="(n_query, d_head), (n_key, d_head), (n_key, d_value) → (n_query, d_value), "
           "n_query ≤ n_key",
    prompt="Keys and values hold the whole text so far: what was in the cache, and then the new "
           "tokens. There are queries for the new tokens alone, which are the last n_query "
           "positions. Write attend_with_past(q, k, v), causal attention for them: each sees the "
           "whole past, the new tokens before it, and itself. Scores of any size must come out "
           "right, hidden ones too. You may call your functions of earlier exercises. In the "
           "example all scores are equal.",
    hints=("Write down the mask for 2 queries and 4 keys. Which keys were in the cache?",
           "The new tokens stand at the end of the text. At which position is query 0, if there "
           "are n_key positions?",
           "Query i stands at position i + (n_key − n_query). Everything else is attention as you "
           "know it: scale, mask before the softmax, row maximum, mixture."),
    example=Example((np.zeros((2, 1)), np.array([[1.0], [2], [3], [4]]),
                     np.array([[12.0, 0], [0, 6], [0, 3], [4, 7]])), [[4.0, 3.0], [4.0, 4.0]]),
    reference=_reference_with_past,
    stages=(GIVEN, *OF_A_CAUSAL_HEAD),
    probe=Probe(of_queries_and_keys(3, 5, 2), "the scores", _SCALE, _WEIGHTS, mask=_POSITIONS),
    cases=(
        Case((np.zeros((3, 3)), *_arguments(3, 3, 3, 2)[1:]), "equal scores, no past",
             "the triangle"),
        _EQUAL,
        Case(_arguments(1, 5, 1, 3), "a single query of one feature", _WEIGHTS),
        Case(_arguments(1, 7, 3, 2), "a single query", _SCALE),
        _PAST,
        _LONG_PAST,
        _NO_PAST,
        _SQUARE,
        _TOWERING,
        _LARGE,
        _APART,
        _DEEP,
    ),
    naming=(_PAST, _LONG_PAST, _NO_PAST, _SQUARE, _TOWERING, _LARGE, _APART, _DEEP, _EQUAL),
    mistakes=(
        Mistake(
            id="top-left-aligned",
            seen="The triangle starts at the top left, as if the queries were the first positions.",
            question="One query, the newest token, meets 5 keys. How many of them does your mask "
                     "show it?",
            ways=(_attending(_before(_offset(past=lambda *_: 0))),
                  _query_by_query(lambda i, n_query, n_key: slice(i + 1)),
                  _attending(_before(_offset(past=lambda *_: 0), -1e9))),
            step=_POSITIONS,
        ),
        Mistake(
            id="no-mask",
            seen="Every query sees every key; the new tokens see those that come after them.",
            question="Of 2 new tokens and 4 keys, which key must query 0 not see?",
            ways=(_attending(softmax), _query_by_query(lambda *_: slice(None)),
                  _attending(unstable_softmax)),
            step=_POSITIONS,
        ),
        Mistake(
            id="one-too-few",
            seen="Every query misses the key at its own position.",
            question="How many keys should the last query see, and how many does it see?",
            ways=(_attending(_before(_offset(-1))), _attending(_before(_offset(-1), -1e9)),
                  _query_by_query(lambda i, n_query, n_key: slice(i + n_key - n_query)),
                  _attending(_zero_for_nan(_before(_offset(-1)))),
                  _query_by_query(lambda i, n_query, n_key: slice(max(1, i + n_key - n_query)))),
            step=_POSITIONS,
        ),
        Mistake(
            id="one-too-many",
            seen="Every query sees one key beyond its own position.",
            question="With as many queries as keys, which keys does query 0 see?",
            ways=(_attending(_before(_offset(1))), _attending(_before(_offset(1), -1e9)),
                  _query_by_query(lambda i, n_query, n_key: slice(i + 2 + n_key - n_query))),
            step=_POSITIONS,
        ),
        Mistake(
            id="square-only",
            seen="The mask has a row and a column for each query, or for each key; where their "
                 "numbers differ, this raises an error.",
            question="How many rows must the mask have, and how many columns?",
            ways=(_attending(_before(lambda n_query, n_key: np.tri(n_query, dtype=bool))),
                  _attending(_before(lambda n_query, n_key: np.tri(n_key, dtype=bool))),
                  _attending(_before(lambda n_query, n_key: np.tri(n_key, dtype=bool), -1e9))),
            step=_POSITIONS,
        ),
        Mistake(
            id="shifted-backwards",
            seen="The triangle is moved the wrong way: the more keys there are, the fewer each "
                 "query sees.",
            question="If the past grows by one token, does the newest query see more keys or "
                     "fewer?",
            ways=(_attending(_before(_backwards)), _attending(_before(_backwards, -1e9)),
                  _attending(_zero_for_nan(_before(_backwards))),
                  _query_by_query(lambda i, n_query, n_key: slice(i + 1 + n_query - n_key)),
                  _empty_gives_zeros(lambda i, n_query, n_key: slice(i + 1 + n_query - n_key))),
            step=_POSITIONS,
        ),
        Mistake(
            id="past-ignored",
            seen="The new tokens see one another, and nothing of what was in the cache.",
            question="Which of the keys were there before the new tokens came?",
            ways=(_query_by_query(lambda i, n_query, n_key:
                                  slice(n_key - n_query, i + 1 + n_key - n_query)),
                  lambda q, k, v: _attending(_before())(q, k[-len(q):], v[-len(q):])),
            step=_POSITIONS,
        ),
        Mistake(
            id="past-only",
            seen="The new tokens see what was in the cache, and neither one another nor "
                 "themselves.",
            question="May a new token attend to itself, and to the new ones before it?",
            ways=(_query_by_query(lambda i, n_query, n_key: slice(n_key - n_query)),
                  _attending(_before(_in_cache)), _attending(_before(_in_cache, -1e9)),
                  _attending(_zero_for_nan(_before(_in_cache)))),
            step=_POSITIONS,
        ),
        Mistake(
            id="future-instead-of-past",
            seen="The mask is the wrong way round: queries see what comes after them.",
            question="In np.where(mask, a, b), which of a and b is taken where the mask is True?",
            ways=(_attending(_before(lambda *shape: ~_sees(*shape))),
                  _attending(_before(lambda *shape: ~_sees(*shape), -1e9)),
                  _attending(_before(lambda *shape: ~_offset(-1)(*shape))),
                  _attending(_before(lambda *shape: ~_offset(past=lambda *_: 0)(*shape))),
                  _attending(_zero_for_nan(_before(lambda *shape: ~_sees(*shape))))),
            step=_POSITIONS,
        ),
        Mistake(
            id="past-and-itself",
            seen="The new tokens see what was in the cache, and of the new ones only themselves.",
            question="The second new token stands behind the first one. May it look back at it?",
            ways=(_query_by_query(lambda i, n_query, n_key:
                                  [*range(n_key - n_query), n_key - n_query + i]),
                  _attending(_before(lambda n_query, n_key: _in_cache(n_query, n_key)
                                     | np.eye(n_query, n_key, n_key - n_query, dtype=bool)))),
            step=_POSITIONS,
        ),
        Mistake(
            id="last-row-cut",
            seen="The last query, which sees every key, is given too few of them, or none.",
            question="What is k[:-0], and for which query do you take it?",
            ways=(_query_by_query(lambda i, n_query, n_key: slice(i + 1 - n_query)),
                  _query_by_query(lambda i, n_query, n_key: slice(min(i + 1 - n_query, -1))),
                  _query_by_query(lambda i, n_query, n_key:
                                  slice(min(i + 1 - n_query, -1) if n_key > 1 else None)),
                  _empty_gives_zeros(lambda i, n_query, n_key: slice(i + 1 - n_query))),
            step=_POSITIONS,
        ),
        Mistake(
            id="zero-taken-for-masked",
            seen="A visible score that happens to be 0 is hidden too.",
            question="After np.tril, how can you tell a score that is 0 from a place outside of "
                     "the triangle?",
            ways=(_attending(lambda s: _zeros_hidden(s)),
                  _attending(lambda s: _zeros_hidden(s, -1e9)),
                  _attending(lambda s: np.nan_to_num(_zeros_hidden(s))),
                  _attending(lambda s: _zeros_hidden(s, own=True))),
            step=_HIDDEN,
        ),
        Mistake(
            id="upside-down",
            seen="The queries are counted from the end: query 0 is given the last position.",
            question="Which query is the newest: query 0, or the last one?",
            ways=(_query_by_query(lambda i, n_query, n_key: slice(n_key - i)),
                  _attending(_before(lambda n_query, n_key: np.arange(n_key)
                                     < n_key - np.arange(n_query)[:, None]))),
            step=_POSITIONS,
        ),
        Mistake(
            id="masked-after-softmax",
            seen="Weights are set to 0 after the softmax, so the rows no longer sum to 1.",
            question="What do the weights of row 0 sum to, after your mask?",
            ways=(_attending(_after(_sees)), _attending(_after(_sees, unstable_softmax))),
            step=_MASK,
        ),
        Mistake(
            id="renormalised-too-late",
            seen="Hidden scores take part in the softmax and are taken out afterwards. Where one "
                 "of them towers over the rest, nothing is left to divide by.",
            question="A row has the scores 0 (visible) and 900 (hidden). What is left of the "
                     "visible weight before you divide again?",
            ways=(_attending(_renormalised), _attending(_zero_for_nan(_renormalised)),
                  _attending(lambda s: _renormalised(s, 1e-9))),
            step=_MASK,
        ),
        Mistake(
            id="masked-scores-zero",
            seen="Hidden scores are set to 0, which is a score like any other.",
            question="What is exp(0), and what weight does a score of 0 get?",
            ways=(_attending(_before(fill=0.0)),
                  _attending(lambda s: softmax(s * _sees(*s.shape)))),
            step=_HIDDEN,
        ),
        Mistake(
            id="finite-fill",
            seen="Hidden scores are set to a low number, but not low enough: some of their weight "
                 "survives.",
            question="Is there a row of scores so low that your number is the largest of the row?",
            ways=(*(_attending(_before(fill=fill)) for fill in _FILLS),
                  *(_attending(lambda s, fill=fill: softmax(s + fill * ~_sees(*s.shape)))
                    for fill in _FILLS)),
            step=_HIDDEN,
        ),
        Mistake(
            id="unscaled",
            seen="The scores are not divided by the square root of d_head.",
            question="How does the spread of a dot product grow with the number of features?",
            ways=(_attending(_before(), lambda *_: 1),
                  _attending(_before(weigh=unstable_softmax), lambda *_: 1)),
            step=_SCALE,
        ),
        Mistake(
            id="wrong-scale",
            seen="The scores are scaled, but not by the square root of d_head.",
            question="Over how many features does one dot product of a query and a key run?",
            ways=(_attending(_before(), lambda q, k, v: 1 / q.shape[1]),
                  _attending(_before(), lambda q, k, v: q.shape[1] ** 0.5),
                  _attending(_before(), lambda q, k, v: len(k) ** -0.5),
                  _attending(_before(), lambda q, k, v: len(q) ** -0.5),
                  _attending(_before(), lambda q, k, v: v.shape[1] ** -0.5)),
            step=_SCALE,
        ),
        Mistake(
            id="no-max-shift",
            seen="Gentle scores come out right, but the exponential of a large score overflows.",
            question="Which number can you take from a whole row of scores without changing its "
                     "weights?",
            ways=(_attending(_before(weigh=unstable_softmax)),
                  _attending(_zero_for_nan(_before(weigh=unstable_softmax))),
                  _attending(lambda s: np.exp(s) * _sees(*s.shape)
                             / (np.exp(s) * _sees(*s.shape)).sum(axis=-1, keepdims=True))),
            step=_SHIFT,
        ),
        Mistake(
            id="global-max",
            seen="One maximum serves all rows, so a row far below it underflows to 0/0.",
            question="For the row of the lowest scores, how large is its largest exponential after "
                     "your shift?",
            ways=(_attending(_one_maximum), _attending(_zero_for_nan(_one_maximum))),
            step=_ROW_MAXIMUM,
        ),
        Mistake(
            id="wrong-axis",
            seen="The weights add up to 1 over the queries.",
            question="Which axis of the scores runs over the keys of one query?",
            ways=(_attending(_before(weigh=lambda s: softmax(s, axis=0))),
                  _attending(_before(weigh=lambda s: softmax(s.T).T))),
            step=_WEIGHTS,
        ),
        Mistake(
            id="no-softmax",
            seen="The scores themselves are used as weights; no exponential is taken.",
            question="Can a weight be negative? What do the weights of a row sum to?",
            ways=(_attending(lambda s: s * _sees(*s.shape)),
                  _attending(lambda s: np.where(_sees(*s.shape), s, -np.inf))),
            step=_WEIGHTS,
        ),
    ),
    variants=(
        _query_by_query(),
        _attending(_before()),
        in_float32(_solve_attend_with_past),
        _attending(_before(fill=-1e9)),
        lambda q, k, v: np.einsum("ij,jd->id", softmax(
            np.einsum("if,jf->ij", q, k) / math.sqrt(k.shape[1])
            + np.triu(np.full((len(q), len(k)), -np.inf), 1 + len(k) - len(q))), v),
        lambda q, k, v: attention_book.softmax(
            attention_book.scores(q, k), mask=attention_book.causal_mask(len(q), len(k))) @ v,
        lambda q, k, v: [attention_book.attention(q[i : i + 1], k[:end], v[:end])[0] for i, end in
                         enumerate(range(len(k) - len(q) + 1, len(k) + 1))],
    ),
    solution=_solve_attend_with_past,
    package=((attention_book.chunked_attention, "causal"),
             (attention_book.chunked_attention, "mask")),
)


# --- fault_decode_loop(q, k, v) -------------------------------------------------------------------
def fault_decode_loop(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)  # n rows each
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = len(keys)
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def _step_by_step(seen=lambda t: t + 1, weigh=lambda s, t: softmax(s), room=lambda k: 0 * k,
                  values_too=True):
    """Return the loop with the room's rows [:seen(t)] read, and their scores weighed anew."""
    def loop(q, k, v):
        keys, values, out = room(k), room(v), []
        for t in range(len(q)):
            keys[t], values[t] = k[t], v[t]
            s = keys[: seen(t)] @ q[t] * q.shape[1] ** -0.5
            out.append(weigh(s, t) @ (values[: seen(t)] if values_too else values))
        return np.array(out)

    return loop


def _whole_room(weigh):
    return _step_by_step(lambda t: None, weigh)


def _rows_not_zero(chosen):
    """Return the loop with the rows read that ``chosen`` finds by their not being zero."""
    def loop(q, k, v):
        keys, values, out = 0 * k, 0 * v, []
        for t in range(len(q)):
            keys[t], values[t] = k[t], v[t]
            rows = chosen(keys)
            out.append(softmax(keys[rows] @ q[t] * q.shape[1] ** -0.5) @ values[rows])
        return np.array(out)

    return loop


def _rescaled(factor):
    """Return the loop, mended, with scores multiplied by ``factor(q, t)``, not by 1/√d_head."""
    return lambda q, k, v: np.array([softmax(k[: t + 1] @ q[t] * factor(q, t)) @ v[: t + 1]
                                     for t in range(len(q))])


def _over_the_filled(s, t):
    weights = softmax(s)
    weights[t + 1 :] = 0
    return weights / weights.sum()


def _zero_where_empty(fill):
    return lambda s, t: softmax(np.where(np.arange(len(s)) <= t, s, fill))


def _zero_scores_hidden(fill):
    return lambda s, t: softmax(np.where(s != 0, s, fill))


def _guarded(weigh):
    return lambda s, t: weigh(s, t) if s.size else s


def _mend_decode_loop(q, k, v):
    keys, values = np.zeros(k.shape), np.zeros(v.shape)
    out = np.zeros(v.shape)
    for t in range(len(q)):
        keys[t], values[t] = k[t], v[t]
        n = t + 1  # so many rows are filled
        s = keys[:n] @ q[t] * q.shape[-1] ** -0.5
        exponentials = np.exp(s - s.max())
        out[t] = exponentials / exponentials.sum() @ values[:n]
    return out


def _with_zero_key(n, d_head, d_value):
    q, k, v = _arguments(n, n, d_head, d_value)
    k[1] = 0
    return q, k, v


_LOOP = Case(_arguments(5, 5, 3, 2), "5 tokens", _FILLED)
_LOOP_LONG = Case(_arguments(7, 7, 2, 5), "7 tokens", _FILLED)
_LOOP_SQUARE = Case(_arguments(3, 3, 3, 3), "as many tokens as features", _FILLED)
_LOOP_ZERO_KEY = Case(_with_zero_key(5, 3, 2), "a token whose key is all zeros", _EMPTY)
_LOOP_ONE = Case(_arguments(1, 1, 3, 2), "a single token", "one step")
_LOOP_NEGATIVE = Case(_from_scores([-150] * 4, [0] * 4), "scores that are all negative", _EMPTY)
_LOOP_LOW = Case(_from_scores([-1000] * 4, [0] * 4), "scores that are all very low", _EMPTY)
_LOOP_DEEP = Case(_from_scores([-20000] * 4, [0] * 4), "scores that are even lower", _EMPTY)

_FAULT = Exercise(
    id="fault_decode_loop",
    chapter=CHAPTER,
    title="Mend the loop that decodes",
    signature="fault_decode_loop(q, k, v)",
    shapes="(n, d_head), (n, d_head), (n, d_value) → (n, d_value)",
    prompt="This listing decodes token by token, with room set aside for all positions. Row t of "
           "the result should be what token t finds among the tokens so far, itself included: the "
           "rows of one causal pass. The last row is right, and the others are not. Find the line "
           "at fault and mend it. In the example all scores are 0, so that row t should be the "
           "mean of the values 0 to t.",
    hints=("Print the scores at t = 0 for the example. How many are there, and how many keys have "
           "been written by then?",
           "An empty row holds zeros, so its score is 0. Which share of the weight does a score of "
           "0 get, and to which value does it go?",
           "n should say how many rows are filled at step t, and not how many there is room for."),
    example=Example((np.zeros((3, 1)), np.ones((3, 1)), np.array([[6.0], [0], [3]])),
                    [[6.0], [3.0], [3.0]]),
    reference=_reference_with_past,
    cases=(
        _LOOP_ONE,
        Case(_arguments(3, 3, 1, 1), "three other tokens", _FILLED),
        _LOOP,
        _LOOP_LONG,
        _LOOP_SQUARE,
        _LOOP_ZERO_KEY,
        _LOOP_NEGATIVE,
        _LOOP_LOW,
        _LOOP_DEEP,
    ),
    naming=(_LOOP, _LOOP_LONG, _LOOP_SQUARE, _LOOP_ONE, _LOOP_ZERO_KEY, _LOOP_NEGATIVE, _LOOP_LOW,
            _LOOP_DEEP),
    mistakes=(
        Mistake(
            id="empty-rows-attended",
            seen="Rows that are still empty take part: their scores are 0, and they get a share of "
                 "the weight.",
            question="At the first step, how many scores are there, and what do the weights of the "
                     "filled rows sum to?",
            ways=(fault_decode_loop, _whole_room(lambda s, t: softmax(s)),
                  _whole_room(lambda s, t: np.where(np.arange(len(s)) <= t, softmax(s), 0)),
                  lambda q, k, v: np.tril(softmax(np.tril(q @ k.T) * q.shape[1] ** -0.5)) @ v),
            step=_FILLED,
        ),
        Mistake(
            id="forgets-current-token",
            seen="The newest row is left out; at the first step nothing is left.",
            question="How many rows are filled at step t = 0, after the token's key was written?",
            ways=(_step_by_step(lambda t: t),
                  _step_by_step(lambda t: t, _guarded(lambda s, t: softmax(s))),
                  _step_by_step(lambda t: max(t, 1)), _step_by_step(lambda t: t or None)),
            step=_FILLED,
        ),
        Mistake(
            id="one-too-many",
            seen="One row that is still empty takes part at each step but the last.",
            question="How many rows are filled at step t = 0, and how many do you read?",
            ways=(_step_by_step(lambda t: t + 2),
                  _whole_room(lambda s, t: softmax(np.where(np.arange(len(s)) < t + 2, s,
                                                            -np.inf)))),
            step=_FILLED,
        ),
        Mistake(
            id="only-one-mended",
            seen="Keys and values are read to different lengths, which do not fit.",
            question="How many weights are there at step t = 0, and how many values do they meet?",
            ways=(_step_by_step(values_too=False),
                  lambda q, k, v: np.array([softmax(k @ q[t]) @ v[: t + 1]
                                            for t in range(len(q))])),
            step=_FILLED,
        ),
        Mistake(
            id="renormalised-too-late",
            seen="The weights of empty rows are taken out after the softmax. Where all filled rows "
                 "have very low scores, nothing is left to divide by.",
            question="A filled row has the score −1000, an empty one 0. What is left of the filled "
                     "one's weight before you divide again?",
            ways=(_whole_room(_over_the_filled),
                  _whole_room(lambda s, t: np.nan_to_num(_over_the_filled(s, t)))),
            step=_EMPTY,
        ),
        Mistake(
            id="zero-taken-for-empty",
            seen="A filled row that holds zeros, or whose score happens to be 0, is taken for an "
                 "empty one.",
            question="Can a real key be all zeros? What, then, tells a filled row from an empty "
                     "one?",
            ways=(_whole_room(_zero_scores_hidden(-np.inf)), _whole_room(_zero_scores_hidden(-1e9)),
                  _whole_room(lambda s, t: np.nan_to_num(_zero_scores_hidden(-np.inf)(s, t))),
                  _rows_not_zero(lambda keys: slice(np.count_nonzero(keys.any(axis=1)))),
                  _rows_not_zero(lambda keys: keys.any(axis=1))),
            step=_EMPTY,
        ),
        Mistake(
            id="finite-fill",
            seen="Empty rows are given a low score, but not low enough: some weight is left for "
                 "them.",
            question="Is there a text whose scores are all lower than your number?",
            ways=tuple(_whole_room(_zero_where_empty(fill))
                       for fill in (-1.0, -5.0, -10.0, -20.0, -100.0, -1e3, -1e4)),
            step=_EMPTY,
        ),
        Mistake(
            id="future-seen",
            seen="Keys and values of later tokens are read.",
            question="Which rows of k may step 0 know of?",
            ways=(lambda q, k, v: softmax(q @ k.T * q.shape[1] ** -0.5) @ v,
                  _step_by_step(lambda t: None, room=np.copy),
                  _step_by_step(lambda t: t + 2, room=np.copy)),
            step=_FILLED,
        ),
        Mistake(
            id="newest-row-only",
            seen="Every token finds nothing but its own value.",
            question="Which rows has the loop written before step t, and are they read?",
            ways=(lambda q, k, v: v, lambda q, k, v: _step_by_step(lambda t: 1)(q, k, v) * 0 + v),
            step=_FILLED,
        ),
        Mistake(
            id="no-max-shift",
            seen="The right rows are read, and the shift by the maximum is gone: exponentials of "
                 "very low scores are all 0, those of very large ones infinite.",
            question="What is exp(−1000), and what are the weights of a row of such scores?",
            ways=(_step_by_step(weigh=lambda s, t: unstable_softmax(s)),
                  _step_by_step(weigh=lambda s, t: np.nan_to_num(unstable_softmax(s))),
                  _whole_room(lambda s, t: unstable_softmax(
                      np.where(np.arange(len(s)) <= t, s, -np.inf)))),
            step=_EMPTY,
        ),
        Mistake(
            id="wrong-scale",
            seen="The right rows are read, and the scale of the scores is another one than that of "
                 "the listing.",
            question="The scale was right before. Over how many features does a score sum?",
            ways=(_rescaled(lambda q, t: (t + 1) ** -0.5), _rescaled(lambda q, t: len(q) ** -0.5),
                  _rescaled(lambda q, t: 1), _rescaled(lambda q, t: 1 / q.shape[1])),
            step=_FILLED,
        ),
        Mistake(
            id="fixed-length",
            seen="The same number of rows is read at each step.",
            question="Does the number of filled rows grow in the loop?",
            ways=(_step_by_step(lambda t: 1), _step_by_step(lambda t: 2),
                  _step_by_step(lambda t: -1)),
            step=_FILLED,
        ),
    ),
    variants=(
        _step_by_step(),
        _whole_room(_zero_where_empty(-np.inf)),
        in_float32(_mend_decode_loop),
        lambda q, k, v: _attending(_before())(q, k, v),
        lambda q, k, v: [softmax(k[: t + 1] @ q[t] / math.sqrt(len(q[t]))) @ v[: t + 1]
                         for t in range(len(q))],
        lambda q, k, v: attention_book.attention(q, k, v, mask=np.tri(len(q), dtype=bool)),
    ),
    solution=_mend_decode_loop,
    package=((attention_book.chunked_attention, "causal"),),
    faulty=fault_decode_loop,
)

EXERCISES = (_SCORES_COMPUTED, _PREDICT, _CACHE_BYTES, DECODE_STEP, _ATTEND_WITH_PAST, _FAULT)

"""What is right, found another way: exact arithmetic with mpmath, and plain loops in float64.

Nothing here uses the package, and NumPy only holds the numbers.
"""

import cmath
import math

import mpmath
import numpy as np

mp = mpmath.mp.clone()
mp.prec = 400  # bits: products of any two floats are exact, and so are sums of like sizes

FLOATS = [np.float16, np.float32, np.float64]
if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps:
    FLOATS.append(np.longdouble)


def exact_number(value):
    """One NumPy or Python number, unrounded."""
    if isinstance(value, int | np.integer):
        return mp.mpf(int(value))
    if not np.isfinite(value):
        return mp.mpf(float(value))
    mantissa, exponent = np.frexp(np.longdouble(value))
    return mp.ldexp(int(np.ldexp(mantissa, 120)), int(exponent) - 120)


def exact(values):
    """Nested lists or an array, as an array of unrounded numbers."""
    values = np.asarray(values)
    result = np.empty(values.shape, object)
    for index in np.ndindex(values.shape):
        result[index] = exact_number(values[index])
    return result


def softmax_exact(row, allowed=None):
    """Weights of one row; ``allowed`` says which scores count. Zeros if none does."""
    allowed = [True] * len(row) if allowed is None else allowed
    terms = [mp.exp(x) if may else mp.mpf(0) for x, may in zip(row, allowed, strict=True)]
    total = mp.fsum(terms)
    return [term / total if total else mp.mpf(0) for term in terms]


def log_sum_exp_exact(row):
    return mp.log(mp.fsum(mp.exp(x) for x in row))


def scores_exact(q, k, scale=None):
    """All scores of two matrices, and of each its size: the same sum of absolute values."""
    q, k = exact(q), exact(k)
    factor = 1 / mp.sqrt(q.shape[1]) if scale is None else exact_number(scale)
    pairs = [[[factor * a * b for a, b in zip(qi, kj, strict=True)] for kj in k] for qi in q]
    result = [[mp.fsum(terms) for terms in row] for row in pairs]
    sizes = [[mp.fsum(abs(term) for term in terms) for terms in row] for row in pairs]
    return result, sizes


def attention_exact(q, k, v, mask=None, scale=None):
    """Mixtures of two-dimensional arrays; of each, ``sum(w * abs(v))``; of each row, the largest
    size of its scores."""
    q, k, values = np.asarray(q), np.asarray(k), exact(v)
    allowed = np.ones((len(q), len(k)), bool) if mask is None else np.asarray(mask)
    all_scores, all_sizes = scores_exact(q, k, scale)
    mixtures, magnitudes = [], []
    for row, may in zip(all_scores, allowed, strict=True):
        weights = softmax_exact(row, list(may))
        columns = values.T
        mixtures.append([mp.fsum(w * x for w, x in zip(weights, c, strict=True)) for c in columns])
        magnitudes.append(
            [mp.fsum(w * abs(x) for w, x in zip(weights, c, strict=True)) for c in columns])
    return mixtures, magnitudes, [[max(row, default=mp.mpf(0))] for row in all_sizes]


def assert_within(got, wanted, allowed):
    """Every number of ``got`` is finite and within ``allowed`` of the exact one."""
    got = np.asarray(got)
    wanted, allowed = np.asarray(wanted, object), np.asarray(allowed, object)
    assert got.shape == wanted.shape
    allowed = np.broadcast_to(allowed, got.shape)
    for index in np.ndindex(got.shape):
        assert np.isfinite(got[index]), f"{index}: {got[index]} for {mp.nstr(wanted[index])}"
        error = abs(exact_number(got[index]) - wanted[index])
        assert error <= allowed[index], (
            f"{index}: got {got[index]!r}, wanted {mp.nstr(wanted[index], 25)}: an error of "
            f"{mp.nstr(error)}, allowed {mp.nstr(allowed[index])}")


def epsilon(dtype):
    """The distance from 1 to the next number, exactly."""
    return exact_number(np.finfo(dtype).eps)


def smallest(dtype):
    """The smallest number above zero, exactly."""
    return exact_number(np.finfo(dtype).smallest_subnormal)


def attention_loops(q, k, v, mask=None, scale=None):
    """Attention over any leading axes, one number at a time."""
    q, k, v = (np.asarray(array, np.float64) for array in (q, k, v))
    mask = np.True_ if mask is None else np.asarray(mask)
    n_query, n_key, d_value = q.shape[-2], k.shape[-2], v.shape[-1]
    leading = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2], mask.shape[:-2])
    q, k, v = (np.broadcast_to(a, leading + a.shape[-2:]) for a in (q, k, v))
    mask = np.broadcast_to(mask, (*leading, n_query, n_key))
    result = np.zeros((*leading, n_query, d_value))
    for index in np.ndindex(*leading, n_query):
        sample, i = index[:-1], index[-1]
        seen = [j for j in range(n_key) if mask[(*index, j)]]
        row = [score_loop(q[sample][i], k[sample][j], scale) for j in seen]
        for weight, j in zip(softmax_loop(row), seen, strict=True):
            for c in range(d_value):
                result[(*index, c)] += weight * v[sample][j, c]
    return result


def score_loop(query, key, scale=None):
    total = math.fsum(float(a) * float(b) for a, b in zip(query, key, strict=True))
    return total * scale if scale is not None else total / math.sqrt(len(query) or 1)


def softmax_loop(row):
    terms = [math.exp(x - max(row)) for x in row]
    return [term / math.fsum(terms) for term in terms]


def project_loop(x, w):
    return np.array([[math.fsum(float(a) * float(b) for a, b in zip(row, column, strict=True))
                      for column in w.T] for row in x]).reshape(len(x), w.shape[1])


def causal_attention_loops(x, wq, wk, wv):
    """One sample's causal head: row i is worked out from rows 0 to i alone."""
    rows = [attention_loops(project_loop(x[i:i + 1], wq), project_loop(x[:i + 1], wk),
                            project_loop(x[:i + 1], wv)) for i in range(len(x))]
    return np.concatenate(rows) if rows else np.zeros((0, wv.shape[1]))


def causal_mask_loops(n_query, n_key, window=None):
    """Row by row: the queries are the last positions; each sees itself and what is before it."""
    result = []
    for i in range(n_query):
        position = n_key - n_query + i
        result.append([j <= position and (window is None or position - j < window)
                       for j in range(n_key)])
    return np.array(result, bool).reshape(n_query, n_key)


def rotary_complex(x, positions, base=10000.0):
    """Each pair of features as one complex number, multiplied by a number of length one."""
    x = np.asarray(x, np.float64)
    positions = np.broadcast_to(positions, x.shape[:-1])
    result, d = np.empty_like(x), x.shape[-1]
    for *row, i in np.ndindex(*x.shape[:-1], d // 2):
        pair = complex(x[(*row, 2 * i)], x[(*row, 2 * i + 1)])
        pair *= cmath.exp(1j * float(positions[tuple(row)]) / base ** (2 * i / d))
        result[(*row, 2 * i)], result[(*row, 2 * i + 1)] = pair.real, pair.imag
    return result


def rms_norm_loop(x, gain, eps):
    """Row by row: divided by the root of the mean square."""
    rows = []
    for row in np.asarray(x, np.float64):
        root = math.sqrt(math.fsum(a * a for a in row) / len(row) + eps)
        rows.append([a / root * g for a, g in zip(row, gain, strict=True)])
    return np.array(rows).reshape(np.shape(x))


def feed_forward_loop(x, w_gate, w_up, w_down):
    """SwiGLU of one sample, one number at a time."""
    gate, up = project_loop(x, w_gate), project_loop(x, w_up)
    hidden = [[g / (1 + math.exp(-g)) * u for g, u in zip(*rows, strict=True)]
              for rows in zip(gate, up, strict=True)]
    return project_loop(np.array(hidden).reshape(gate.shape), w_down)


def block_loops(x, w, n_heads, n_kv_heads, base, eps):
    """One sample through a causal block with rotary positions, head by head."""
    n, positions = len(x), np.arange(len(x))
    normed = rms_norm_loop(x, w["attention_gain"], eps)
    joined = []
    for head in range(n_heads):
        q, k, v = (project_loop(normed, np.split(w[name], parts, axis=1)[place])
                   for name, parts, place in (("wq", n_heads, head),
                                              ("wk", n_kv_heads, head * n_kv_heads // n_heads),
                                              ("wv", n_kv_heads, head * n_kv_heads // n_heads)))
        q, k = rotary_complex(q, positions, base), rotary_complex(k, positions, base)
        joined.append(attention_loops(q, k, v, causal_mask_loops(n, n)))
    x = x + project_loop(np.concatenate(joined, axis=1), w["wo"])
    normed = rms_norm_loop(x, w["feed_gain"], eps)
    return x + feed_forward_loop(normed, w["w_gate"], w["w_up"], w["w_down"])

"""Answers of a made-up class: wrong ones that students write, by the mistake that each makes."""

MISTAKES = {
    ("softmax", "no-max-shift"): """
def my_softmax(x):
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)
""",
    ("softmax", "global-max"): """
def my_softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum(axis=-1, keepdims=True)
""",
    ("softmax", "wrong-axis"): """
def my_softmax(x):
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)
""",
    ("log_sum_exp", "no-max-shift"): """
def my_log_sum_exp(x):
    return np.log(np.exp(x).sum(axis=-1))
""",
    ("log_sum_exp", "max-not-added-back"): """
def my_log_sum_exp(x):
    return np.log(np.exp(x - x.max(axis=-1, keepdims=True)).sum(axis=-1))
""",
    ("log_softmax", "log-of-softmax"): """
def my_log_softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.log(e / e.sum(axis=-1, keepdims=True))
""",
    ("temperature_softmax", "multiplied-by-temperature"): """
def my_temperature_softmax(x, temperature):
    return softmax(x * temperature)
""",
    ("temperature_softmax", "ignored"): """
def my_temperature_softmax(x, temperature):
    return softmax(x)
""",
    ("masked_softmax", "masked-after-softmax"): """
def my_masked_softmax(x, mask):
    return softmax(x) * mask
""",
    ("masked_softmax", "nan-on-empty-row"): """
def my_masked_softmax(x, mask):
    hidden = np.where(mask, x, -np.inf)
    e = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
    ("causal_mask", "strictly-past"): """
def my_causal_mask(n):
    return np.tri(n, k=-1, dtype=bool)
""",
    ("causal_mask", "inverted"): """
def my_causal_mask(n):
    return ~np.tri(n, dtype=bool)
""",
    ("rectangular_causal_mask", "top-left-aligned"): """
def my_rectangular_causal_mask(n_query, n_key):
    return np.tri(n_query, n_key, dtype=bool)
""",
    ("sliding_window_mask", "one-too-many"): """
def my_sliding_window_mask(n, window):
    before = np.arange(n)[:, None] - np.arange(n)
    return (before >= 0) & (before <= window)
""",
    ("causal_attention", "no-mask"): """
def my_causal_attention(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    return softmax(s) @ (x @ wv)
""",
    ("causal_attention", "masked-after-softmax"): """
def my_causal_attention(x, wq, wk, wv):
    s = (x @ wq) @ (x @ wk).T / np.sqrt(wq.shape[1])
    return (softmax(s) * np.tri(len(x))) @ (x @ wv)
""",
    ("leaks_future", "always-false"): """
def my_leaks_future(attend, x, rng):
    return False
""",
}

RIGHT_OTHERWISE = {  # right answers, written in another way than the book's
    "softmax": """
def my_softmax(x):
    x = np.asarray(x, dtype=np.float32)
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
    "log_sum_exp": """
import matplotlib.pyplot as plt

def helper(row):
    m = max(row)
    return m + np.log(sum(np.exp(each - m) for each in row))

def my_log_sum_exp(x):
    return np.apply_along_axis(helper, -1, x)
""",
    "causal_mask": """
def my_causal_mask(n):
    return np.array([[j <= i for j in range(n)] for i in range(n)], dtype=bool)
""",
}

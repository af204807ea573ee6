"""What every figure asks of its arguments."""

import numpy as np

from attention_book.validation import check_count, check_floating, check_mask, complain, describe


def check_text(name, text):
    """Return ``text``, which is a string or None."""
    if text is not None and not isinstance(text, str):
        complain(TypeError, name, describe(text), "text")
    return text


def check_labels(name, labels, count):
    """Return ``count`` labels as strings: positions from 0 where ``labels`` is None."""
    if labels is None:
        return [str(position) for position in range(count)]
    if isinstance(labels, str):
        complain(TypeError, name, "one string", f"{count} labels", "Split it: labels.split().")
    labels = [str(label) for label in labels]
    if len(labels) != count:
        complain(ValueError, name, f"{len(labels)} labels", f"{count}, one for each")
    return labels


def check_choice(name, choice, choices):
    """Return ``choice``, one of ``choices``."""
    if choice not in choices:
        complain(ValueError, name, repr(choice), "one of " + ", ".join(map(repr, choices)))
    return choice


def check_vector(name, values, *, count=None, finite=True):
    """Return ``values`` as floats (n,); ``count`` is the length they must have, if any."""
    wanted = "(n,)" if count is None else f"({count},)"
    array = check_floating(name, values, wanted, min_axes=1)
    if array.ndim != 1 or array.size == 0 or count not in (None, array.size):
        complain(ValueError, name, f"shape {array.shape}", f"shape {wanted}, not empty")
    if finite and not np.isfinite(array).all():
        complain(ValueError, name, f"{np.sum(~np.isfinite(array))} values that are not finite",
                 "finite numbers")
    return array.astype(float)


def check_matrix(name, values):
    """Return ``values`` as floats (n_rows, n_columns)."""
    array = check_floating(name, values, "(n_rows, n_columns)")
    if array.ndim != 2 or array.size == 0:
        complain(ValueError, name, f"shape {array.shape}", "shape (n_rows, n_columns), not empty",
                 "Pick one matrix of the batch: values[0]." * (array.ndim > 2))
    return array.astype(float)


def check_allowed(mask, shape):
    """Return ``mask``, True = may attend, in the ``shape`` of the matrix."""
    if mask is None:
        return np.ones(shape, bool)
    return np.broadcast_to(check_mask(mask, shape, "(n_query, n_key)"), shape)


def opening(title):
    """Return the title as the first sentence of a description."""
    return f"{title.rstrip('.')}. " if check_text("title", title) else ""


def number(value, decimals):
    """Return ``value`` with ``decimals`` digits, a true minus sign and no negative zero."""
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "∞" if value > 0 else "−∞"
    text = f"{value:.{decimals}f}"
    return (text[1:] if float(text) == 0 and text[0] == "-" else text).replace("-", "−")


def rough(value):
    """Return ``value`` in three significant digits, or as a whole number if it is one."""
    if not np.isfinite(value) or (value == round(value) and abs(value) < 1e6):
        return number(value, 0)
    power = int(np.floor(np.log10(abs(value))))
    if -4 <= power < 6:
        return number(round(value, 2 - power), max(0, 2 - power))
    return f"{value:.2e}".replace("-", "−")


def digits(values, decimals):
    """Return ``decimals``, or, if it is None, as many as the values need, at most 2."""
    if decimals is not None:
        return check_count("decimals", decimals)
    finite = values[np.isfinite(values)]
    return 0 if (finite == finite.round()).all() else 1 if (finite == finite.round(1)).all() else 2

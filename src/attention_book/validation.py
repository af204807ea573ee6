"""What every module asks of its arguments, and the one form of its errors.

Every complaint reads ``name: got …; wanted …. cause``: the argument, what came, what was
wanted, and, where one is likely, the reason. All of it is raised before any work is done.
"""

import numbers
import operator

import numpy as np

_MOST_BYTES = np.iinfo(np.intp).max


def complain(error, name, got, wanted, cause=""):
    """Raise ``error`` in the one form that all of this package's errors have."""
    raise error(f"{name}: got {got}; wanted {wanted}." + (f" {cause}" if cause else ""))


def describe(value):
    """Say in a few words what ``value`` is: its type, and its shape and dtype if it has them."""
    if isinstance(value, np.ndarray | np.generic):
        return f"shape {value.shape} of {value.dtype}"
    if value is None or isinstance(value, bool | numbers.Number):
        return repr(value)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"a value of type {type(value).__name__}"


def check_floating(name, value, wanted, *, min_axes=2):
    """Return ``value`` as an array of floats: integers become float64, float types are kept.

    Parameters
    ----------
    name : str
        The argument's name, for the error.
    value : array_like
        Numbers, in an array or in nested lists of equal lengths.
    wanted : str
        The shape that was wanted, in the names of the notation, such as ``(..., n_key, d_head)``.
    min_axes : int
        How many axes the array has at least.

    Raises
    ------
    TypeError
        If the values are not real numbers.
    ValueError
        If the lists are ragged, or there are too few axes.
    """
    if (type(value) is np.ndarray and value.dtype.kind == "f" and value.dtype.isnative
            and value.ndim >= min_axes):
        return value  # at once: a decoded token passes here a thousand times
    array = as_array(name, value, f"an array {wanted}")
    if array.dtype.kind == "b":
        complain(TypeError, name, describe(array), f"an array of numbers {wanted}",
                 "Booleans are masks: pass them as mask=.")
    if array.dtype.kind == "c":
        complain(TypeError, name, describe(array), f"an array of real numbers {wanted}",
                 "Take .real if the imaginary part is zero.")
    if array.dtype.kind not in "iuf":
        complain(TypeError, name, describe(array), f"an array of numbers {wanted}")
    if array.ndim < min_axes:
        complain(ValueError, name, f"shape {array.shape}",
                 f"shape {wanted}, at least {min_axes} {'axis' if min_axes == 1 else 'axes'}",
                 f"Give a single vector an axis of its own: {name}[None, :]." * (array.ndim == 1))
    kept = array.dtype.newbyteorder("=") if array.dtype.kind == "f" else np.float64
    return array.astype(kept, copy=False)


def check_mask(mask, shape, wanted, *, kept_axes=(-1, -2), cause=""):
    """Return ``mask`` as a boolean array that broadcasts against scores of ``shape``.

    Along ``kept_axes`` the scores keep their length, so the mask has that length there, or 1; the
    other axes broadcast either way. ``True`` marks a position that may be attended to. A likely
    ``cause`` of a shape that does not fit goes into the error.

    Raises
    ------
    TypeError
        If the mask is not boolean.
    ValueError
        If its shape does not fit.
    """
    mask = as_array("mask", mask, f"a boolean array that broadcasts to {wanted}")
    if mask.dtype != bool:
        complain(TypeError, "mask", describe(mask), "booleans, True = may attend",
                 "A 0/1 array needs mask.astype(bool); an additive mask (0 and −inf) needs "
                 "mask == 0.")
    fits = all(mask.shape[axis] in (1, shape[axis]) for axis in kept_axes if mask.ndim >= -axis)
    try:
        np.broadcast_shapes(mask.shape, shape)
    except ValueError:
        fits = False
    if not fits:
        transposed = mask.shape[-2:] == tuple(shape[-2:])[::-1] != tuple(shape[-2:])
        complain(ValueError, "mask", f"shape {mask.shape}",
                 f"a shape that broadcasts to {wanted} = {tuple(shape)}",
                 "The mask looks transposed: queries run down, keys run across." if transposed else
                 cause or
                 "Each axis of a mask has the scores' length, or 1, or is missing on the left.")
    return mask


def check_attention_mask(mask, q, k, v):
    """Return ``mask``, checked against the scores of ``q``, ``k`` and ``v``."""
    leading = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    return check_mask(mask, (*leading, q.shape[-2], k.shape[-2]), "(..., n_query, n_key)")


def check_broadcast(wanted, **shapes):
    """Return the shape that the named ``shapes`` broadcast to, or say which do not agree."""
    if len(set(shapes.values())) == 1:
        return next(iter(shapes.values()))
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        came = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        complain(ValueError, " and ".join(shapes), came, f"leading axes that broadcast to {wanted}",
                 "Leading axes must be equal, 1, or missing.")


def check_same_length(first, first_length, second, second_length, axis_name, cause=""):
    """Complain unless two arguments agree on the length of the axis called ``axis_name``."""
    if first_length != second_length:
        complain(ValueError, second, f"{axis_name} = {second_length}",
                 f"{axis_name} = {first_length}, as in {first}", cause)


def check_queries_keys(q, k):
    """Return ``q`` (..., n_query, d_head), ``k`` (..., n_key, d_head), checked, in one type."""
    q = check_floating("q", q, "(..., n_query, d_head)")
    k = check_floating("k", k, "(..., n_key, d_head)")
    check_same_length("q", q.shape[-1], "k", k.shape[-1], "d_head",
                      "k looks transposed: its last axis is the features."
                      if k.shape[-2] == q.shape[-1] else
                      "A query and a key are compared feature by feature.")
    check_broadcast("(..., n_query, n_key)", q=q.shape[:-2], k=k.shape[:-2])
    return same_type(q, k)


def check_queries_keys_values(q, k, v):
    """Return ``q``, ``k`` and ``v`` (..., n_key, d_value), checked, in one float type."""
    q, k = check_queries_keys(q, k)
    v = check_floating("v", v, "(..., n_key, d_value)")
    check_same_length("k", k.shape[-2], "v", v.shape[-2], "n_key", "Each key has one value.")
    check_broadcast("(..., n_query, d_value)", q=q.shape[:-2], k=k.shape[:-2], v=v.shape[:-2])
    return same_type(q, k, v)


def check_projection(name, w, x, wanted):
    """Return the weight matrix ``w`` (..., d_model, d), checked against ``x`` (..., n, d_model)."""
    w = check_floating(name, w, wanted)
    check_same_length("x", x.shape[-1], name, w.shape[-2], "d_model",
                      f"{name} looks transposed: rows are x @ {name}, not {name} @ x."
                      if w.shape[-1] == x.shape[-1] else
                      f"Row i of x is projected by x[i] @ {name}.")
    check_broadcast("(..., n, d_head)", x=x.shape[:-2], **{name: w.shape[:-2]})
    return w


def check_head(x, wq, wk, wv):
    """Return ``x`` and the three weight matrices of a head, checked, in one float type."""
    x = check_floating("x", x, "(..., n, d_model)")
    wq = check_projection("wq", wq, x, "(d_model, d_head)")
    wk = check_projection("wk", wk, x, "(d_model, d_head)")
    wv = check_projection("wv", wv, x, "(d_model, d_value)")
    check_same_length("wq", wq.shape[-1], "wk", wk.shape[-1], "d_head",
                      "Queries and keys are compared feature by feature.")
    check_broadcast("(..., n, d_value)", x=x.shape[:-2], wq=wq.shape[:-2], wk=wk.shape[:-2],
                    wv=wv.shape[:-2])
    return same_type(x, wq, wk, wv)


def check_scale(scale, d_head, dtype=np.float64):
    """Return the factor for scores of ``dtype``: ``d_head**-0.5`` where ``scale`` is None.

    It is a float, or a longdouble where the scores are, so that none of their digits is lost.
    """
    number = np.longdouble if dtype == np.longdouble else float
    if scale is None:
        return number(d_head) ** -0.5 if d_head else 1.0  # no features: every score is 0
    if isinstance(scale, np.ndarray) and scale.ndim == 0:
        scale = scale[()]
    if isinstance(scale, bool | np.bool_) or not isinstance(scale, numbers.Real):
        complain(TypeError, "scale", describe(scale), "one real number, or None for d_head**-0.5")
    wanted = f"a finite number that {np.dtype(dtype)} holds"
    try:
        factor = scale if isinstance(scale, np.longdouble) else float(scale)
    except OverflowError:
        complain(ValueError, "scale", "a number beyond every float", wanted)
    if not abs(factor) <= number(np.finfo(dtype).max):
        complain(ValueError, "scale", factor, wanted)
    return number(factor)


def check_positive(name, value):
    """Return ``value`` as a float that is finite and above 0."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        complain(TypeError, name, describe(value), "one real number above 0")
    try:
        number = float(value)
    except OverflowError:
        complain(ValueError, name, "a number beyond every float", "a finite number above 0")
    if not 0 < number < np.inf:
        complain(ValueError, name, number, "a finite number above 0")
    return number


def check_count(name, value, *, least=0):
    """Return ``value`` as an int of at least ``least``."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        complain(TypeError, name, describe(value), f"a whole number, at least {least}")
    if count < least:
        complain(ValueError, name, count, f"a whole number, at least {least}")
    return count


def check_length(name, value, *, least=0):
    """Return ``value`` as an int that an axis of an array of float64 can have for its length."""
    length = check_count(name, value, least=least)
    if length > _MOST_BYTES // 8:
        complain(ValueError, name, f"a number of {length.bit_length()} bits",
                 f"a length that an array can have, at most {_MOST_BYTES // 8}")
    return length


def check_size(name, shape, dtype):
    """Refuse a shape whose array would be larger than anything that has an address."""
    count = np.prod(shape, dtype=object)  # whole numbers of any size
    if count * np.dtype(dtype).itemsize > _MOST_BYTES:
        complain(ValueError, name, f"what needs an array of shape {shape} and type "
                 f"{np.dtype(dtype)}", f"an array of at most {_MOST_BYTES} bytes")


def check_callable(name, value, wanted):
    """Return ``value``, if it can be called."""
    if not callable(value):
        complain(TypeError, name, describe(value), wanted)
    return value


def check_flag(name, value):
    """Return ``value``, if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        complain(TypeError, name, describe(value), "True or False",
                 "An array of booleans is a mask: pass it as mask=.")
    return bool(value)


def check_float_type(name, dtype):
    """Return a floating type as NumPy names it, in this machine's order of bytes."""
    wanted = "a floating type, such as np.float32"
    try:
        found = np.dtype(dtype)
    except TypeError:
        complain(TypeError, name, repr(dtype), wanted)
    if found.kind != "f":
        complain(TypeError, name, found, wanted)
    return found.newbyteorder("=")


def check_axis(axis, n_axes):
    """Return ``axis`` counted from the end (−1 is the last), for an array of ``n_axes`` axes."""
    try:
        if isinstance(axis, bool | np.bool_):
            raise TypeError
        axis = operator.index(axis)
    except TypeError:
        complain(TypeError, "axis", describe(axis), "one whole number")
    if not -n_axes <= axis < n_axes:
        complain(ValueError, "axis", axis,
                 f"one of the {n_axes} axes of x, −{n_axes} to {n_axes - 1}")
    return axis - n_axes if axis >= 0 else axis


def same_type(*arrays):
    """Return the arrays in the float type that holds them all."""
    first = arrays[0].dtype
    if all(array.dtype == first for array in arrays):
        return arrays
    dtype = np.result_type(*(array.dtype for array in arrays))
    return tuple(array.astype(dtype, copy=False) for array in arrays)


def in_working_type(*arrays):
    """Return the arrays in the type to compute in; see :func:`working_type`."""
    return tuple(array.astype(working_type(array.dtype), copy=False) for array in arrays)


def working_type(dtype):
    """Return the float type to compute in: float16 is computed in float32, others as they are."""
    return np.dtype(np.float32) if dtype == np.float16 else np.dtype(dtype)


def as_array(name, value, wanted):
    """Return ``value`` as an array, if it is one or a list that can be one."""
    if value is None:
        complain(TypeError, name, "None", wanted, "Did a function forget to return its result?")
    if isinstance(value, np.ma.MaskedArray):
        complain(TypeError, name, "a masked array, whose mask would be lost", wanted,
                 "Its .data is an array; the complement of its .mask is what mask= asks for.")
    try:
        array = np.asarray(value)
    except ValueError:
        complain(ValueError, name, "rows of different lengths", wanted, "Pad the shorter rows.")
    except Exception as problem:
        complain(TypeError, name, f"{describe(value)} that is no array ({problem})", wanted)
    if array.dtype.kind == "O":
        complain(TypeError, name, f"{describe(value)} holding Python objects", wanted)
    if array.dtype.kind in "SU":
        complain(TypeError, name, "text", wanted)
    return array

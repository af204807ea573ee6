"""The KV cache: keys and values of past positions, kept so that they are computed once."""

import numpy as np

from attention_book.validation import (
    as_array,
    check_count,
    check_float_type,
    check_length,
    check_same_length,
    check_size,
    complain,
    describe,
)


class KVCache:
    """Room for the keys and values of ``capacity`` positions, filled as they come.

    Parameters
    ----------
    n_kv_heads : int
        Number of key and value heads; fewer than the query heads, if those are grouped.
    d_head : int
        Length of a key.
    capacity : int
        How many positions fit in.
    d_value : int, optional
        Length of a value; ``d_head`` if not given.
    batch_shape : tuple of int
        The samples' leading axes.
    dtype : data-type
        The floating type of keys and values.

    Attributes
    ----------
    keys, values : ndarray, (*batch_shape, n_kv_heads, n, d_head) and (..., n, d_value)
        What is stored, oldest first: read-only views of the cache's own memory. Copy what must
        outlive a later :meth:`truncate`.
    capacity, dtype
        As given.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what is asked for above.

    Notes
    -----
    ``len(cache)`` counts the stored positions, whatever they hold. A query is needed for its own
    position alone, so none is kept. Keeping keys and values for fast decoding is described by
    Shazeer (2019), section 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> cache = KVCache(n_kv_heads=1, d_head=2, capacity=4,
    ...                 dtype=np.float64)
    >>> keys, values = cache.append(np.array([[[1.0, 2.0]]]),
    ...                             np.array([[[3.0, 4.0]]]))
    >>> keys, values = cache.append(np.zeros((1, 2, 2)),
    ...                             np.ones((1, 2, 2)))
    >>> len(cache), keys.tolist()
    (3, [[[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]])
    """

    def __init__(self, n_kv_heads, d_head, *, capacity, d_value=None, batch_shape=(),
                 dtype=np.float32):
        n_kv_heads = check_length("n_kv_heads", n_kv_heads, least=1)
        d_head = check_length("d_head", d_head)
        d_value = d_head if d_value is None else check_length("d_value", d_value)
        self.capacity = check_length("capacity", capacity)
        self.dtype = check_float_type("dtype", dtype)
        rows = (*_check_batch_shape(batch_shape), n_kv_heads, self.capacity)
        for width in (d_head, d_value):
            check_size("capacity", (*rows, width), self.dtype)
        self._keys = np.zeros((*rows, d_head), self.dtype)
        self._values = np.zeros((*rows, d_value), self.dtype)
        self._length = 0

    def __len__(self):
        """Return the number of stored positions."""
        return self._length

    def __repr__(self):
        """Return how full it is, and the shapes of what it holds."""
        return (f"KVCache({self._length} of {self.capacity} positions: keys {self.keys.shape}, "
                f"values {self.values.shape}, {self.dtype})")

    @property
    def keys(self):
        """The stored keys, read-only."""
        return _read_only(self._keys[..., :self._length, :])

    @property
    def values(self):
        """The stored values, read-only."""
        return _read_only(self._values[..., :self._length, :])

    def append(self, k, v):
        """Store the keys and values of one or several new positions.

        Parameters
        ----------
        k : array_like, (*batch_shape, n_kv_heads, n_new, d_head)
            Keys, in the cache's own type.
        v : array_like, (*batch_shape, n_kv_heads, n_new, d_value)
            Values.

        Returns
        -------
        keys, values : ndarray
            All that is stored now, as in the attributes: nothing is copied.

        Raises
        ------
        TypeError, ValueError
            If the type or a shape differs, or there is no room. The cache is then unchanged.
        """
        k = self._check("k", k, self._keys, "d_head")
        v = self._check("v", v, self._values, "d_value")
        check_same_length("k", k.shape[-2], "v", v.shape[-2], "n_new", "Each key has one value.")
        stop = self._length + k.shape[-2]
        if stop > self.capacity:
            complain(ValueError, "k", f"n_new = {k.shape[-2]}",
                     f"at most {self.capacity - self._length} positions more: "
                     f"{self._length} of {self.capacity} are taken",
                     "Make the cache with a larger capacity, or truncate it.")
        self._keys[..., self._length:stop, :] = k
        self._values[..., self._length:stop, :] = v
        self._length = stop
        return self.keys, self.values

    def truncate(self, n):
        """Forget all but the first ``n`` positions, to go on from there.

        Parameters
        ----------
        n : int
            How many positions stay, from 0 to ``len(cache)``.

        Raises
        ------
        TypeError, ValueError
            If it is no such number.
        """
        n = check_count("n", n)
        if n > self._length:
            complain(ValueError, "n", n, f"at most the {self._length} positions that are stored")
        self._length = n

    def copy(self):
        """Return a cache with the same content and capacity, which goes its own way from here."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), _keys=self._keys.copy(), _values=self._values.copy())
        return other

    __copy__ = copy  # else copy.copy would share the memory

    def _check(self, name, array, store, features):
        """Return ``array`` if it can be stored: of the store's type and, but for n_new, shape."""
        array = as_array(name, array, f"an array (*batch_shape, n_kv_heads, n_new, {features})")
        if array.dtype.newbyteorder("=") != self.dtype:
            complain(TypeError, name, describe(array), f"{self.dtype}, the cache's own type",
                     f"Convert with .astype, or make the cache with dtype=np.{array.dtype.name}."
                     if array.dtype.kind == "f" else "")
        *leading, _, d = store.shape
        if array.ndim != store.ndim or array.shape != (*leading, array.shape[-2], d):
            complain(ValueError, name, f"shape {array.shape}",
                     f"shape ({''.join(f'{n}, ' for n in leading)}n_new, {d}), that is "
                     f"(*batch_shape, n_kv_heads, n_new, {features})",
                     f"One position needs its axis too: {name}[..., None, :]."
                     if array.shape == (*leading, d) else "")
        return array


def _read_only(view):
    view.flags.writeable = False
    return view


def _check_batch_shape(batch_shape):
    if not isinstance(batch_shape, tuple | list):
        complain(TypeError, "batch_shape", describe(batch_shape), "a tuple of whole numbers",
                 "One batch axis is written (3,).")
    return tuple(check_length("batch_shape", n) for n in batch_shape)

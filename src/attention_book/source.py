"""Show the package's own code in a chapter, so that no listing is a copy that can go stale."""

import ast
import inspect
import textwrap


def show_source(function):
    """Print the code of ``function`` without its docstring: what the reader should read.

    Parameters
    ----------
    function : callable
        A function written in Python.

    Raises
    ------
    TypeError
        If there is no Python source for it.

    Examples
    --------
    >>> from attention_book import causal_mask
    >>> show_source(causal_mask)
    def causal_mask(n_query, n_key=None):
        query_positions, key_positions = _positions(n_query, n_key)
        return key_positions <= query_positions
    """
    text = textwrap.dedent(inspect.getsource(function))
    body = ast.parse(text).body[0].body
    lines = text.splitlines()
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        del lines[body[0].lineno - 1 : body[0].end_lineno]
    print("\n".join(lines))

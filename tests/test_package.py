"""The package as a whole: its names, its order, its docstrings, and what it leaves alone."""

import ast
import builtins
import doctest
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import attention_book

FOLDER = Path(attention_book.__file__).parent
ORDER = ["validation", "dot_products", "stable_softmax", "masks", "single_head", "multi_head",
         "kv_cache", "chunked", "positions", "block_parts", "sampling",
         "decoder_checks", "transformer", "losses", "backward", "optimiser", "decoder_backward",
         "training", "head_scores"]
CHECKS = {"validation", "decoder_checks"}  # without a public name
PUBLIC = ["scores", "softmax", "log_softmax", "log_sum_exp", "causal_mask", "sliding_window_mask",
          "padding_mask", "attention", "causal_attention", "split_heads", "merge_heads",
          "repeat_kv", "multi_head_attention", "KVCache", "chunked_attention", "rotary", "rms_norm",
          "silu", "feed_forward", "choose_token", "block", "Decoder",
          "next_token_loss", "next_token_loss_backward", "linear_backward", "softmax_backward",
          "attention_backward", "rms_norm_backward", "feed_forward_backward",
          "loss_and_gradients", "Adam", "train", "repeated_tokens", "text_windows",
          "attention_weights", "without_heads", "induction_score", "previous_token_score"]
SIGNATURES = {
    "scores": "(q, k, *, scale=None)",
    "softmax": "(x, axis=-1, *, mask=None)",
    "log_softmax": "(x, axis=-1, *, mask=None)",
    "log_sum_exp": "(x, axis=-1, *, mask=None)",
    "causal_mask": "(n_query, n_key=None)",
    "sliding_window_mask": "(n_query, n_key=None, *, window)",
    "padding_mask": "(lengths, n_key)",
    "attention": "(q, k, v, *, mask=None, scale=None, return_weights=False)",
    "causal_attention": "(x, wq, wk, wv)",
    "split_heads": "(x, n_heads)",
    "merge_heads": "(x)",
    "repeat_kv": "(x, n_repeats)",
    "multi_head_attention": "(x, wq, wk, wv, wo, *, n_heads, n_kv_heads=None, mask=None, "
                            "rotate=None, cache=None, attend=attention)",
    "KVCache": "(n_kv_heads, d_head, *, capacity, d_value=None, batch_shape=(), "
               "dtype=<class 'numpy.float32'>)",
    "chunked_attention": "(q, k, v, *, causal=False, mask=None, scale=None, query_chunk=1024, "
                         "key_chunk=256, workers=None)",
    "rotary": "(x, positions, base=10000.0)",
    "rms_norm": "(x, gain, eps=1e-05)",
    "silu": "(x)",
    "feed_forward": "(x, w_gate, w_up, w_down)",
    "block": "(x, weights, *, n_heads, n_kv_heads=None, eps=1e-05, mask=None, rotate=None, "
             "cache=None, attend=attention)",
    "Decoder": "(embedding, blocks, gain, output=None, *, n_heads, n_kv_heads=None, n_context, "
               "base=10000.0, eps=1e-05)",
    "next_token_loss": "(logits, tokens)",
    "next_token_loss_backward": "(logits, tokens)",
    "linear_backward": "(x, w, grad)",
    "softmax_backward": "(p, grad)",
    "attention_backward": "(q, k, v, grad, *, mask=None, scale=None)",
    "rms_norm_backward": "(x, gain, grad, eps=1e-05)",
    "feed_forward_backward": "(x, w_gate, w_up, w_down, grad)",
    "loss_and_gradients": "(decoder, tokens)",
    "Adam": "(rate=0.001, *, beta_mean=0.9, beta_square=0.999, eps=1e-08)",
    "train": "(decoder, batches, optimiser)",
    "repeated_tokens": "(rng, n_samples, n, *, n_vocab, periods)",
    "text_windows": "(rng, tokens, n_samples, n)",
    "attention_weights": "(decoder, tokens, *, off=())",
    "without_heads": "(decoder, heads, attend=attention)",
    "induction_score": "(weights, period)",
    "previous_token_score": "(weights)",
    "choose_token": "(logits, *, rng=None, temperature=1.0, top_k=None)",
}


def source_of(module):
    return (FOLDER / f"{module}.py").read_text(encoding="utf-8")


def run_python(code):
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_public_names_in_the_order_of_the_book():
    assert attention_book.__all__ == PUBLIC
    where = [ORDER.index(getattr(attention_book, name).__module__.rpartition(".")[2])
             for name in PUBLIC]
    assert {ORDER[place] for place in where} == set(ORDER) - CHECKS


@pytest.mark.parametrize("name", PUBLIC)
def test_signatures(name):
    signature = str(inspect.signature(getattr(attention_book, name)))
    assert re.sub(r"<function (\w+) at \w+>", r"\1", signature) == SIGNATURES[name]


def test_no_module_is_named_like_a_function():
    stems = {path.stem for path in FOLDER.iterdir()} - {"__init__"}
    assert set(ORDER) <= stems
    assert not stems & {function.name for module in ORDER for function in functions_of(module)}


@pytest.mark.parametrize("module", ORDER)
def test_a_module_imports_numpy_and_modules_above_it_only(module):
    standard = {"numbers", "operator"}
    if module == "chunked":  # the one with threads
        standard |= {"concurrent.futures", "contextlib", "functools", "os", "threading"}
    if module == "training":  # which reads the story
        standard |= {"pathlib"}
    above = {f"attention_book.{name}" for name in ORDER[:ORDER.index(module)]}
    for node in ast.walk(ast.parse(source_of(module))):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= {"numpy", *standard}
        if isinstance(node, ast.ImportFrom):
            more = {"threadpoolctl"} if module == "chunked" else set()
            assert node.module in above | standard | more and node.level == 0


def test_importing_the_package_loads_neither_matplotlib_nor_ipython():
    loaded = run_python("import sys, attention_book; print(*sorted(sys.modules))").split()
    assert "attention_book.single_head" in loaded and "numpy" in loaded
    assert not {"matplotlib", "IPython", "scipy", "threadpoolctl"} & set(loaded)
    ours = {name for name in loaded if name.startswith("attention_book.")}
    assert ours == {f"attention_book.{name}" for name in ORDER}


def test_importing_prints_nothing_and_leaves_numpy_as_it_was():
    assert run_python("import numpy as np; before = np.geterr(), np.get_printoptions()\n"
                      "import attention_book\n"
                      "assert before == (np.geterr(), np.get_printoptions())") == ""


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_have_every_section(name):
    subject = getattr(attention_book, name)
    text = inspect.getdoc(subject)
    second = "Attributes" if inspect.isclass(subject) else "Returns"
    assert len(text.splitlines()[0]) < 100 and text.splitlines()[1] == ""
    places = [text.find(f"\n{section}\n{'-' * len(section)}\n")
              for section in ("Parameters", second, "Raises", "Examples")]
    assert -1 not in places and places == sorted(places)
    parameters = text[places[0]:places[1]]
    for parameter in inspect.signature(subject).parameters:
        assert parameter in parameters


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_give_what_they_say(name):
    function = getattr(attention_book, name)
    names = dict(vars(import_module(function.__module__)))
    test, = doctest.DocTestFinder(recurse=False).find(function, name, globs=names)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert result.failed == 0 and result.attempted > 0


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_examples_fit_the_column_of_the_reference(path):
    """At 1280 pixels the page shows 68 characters of code beside its two lists of contents."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef
    module = ast.parse(path.read_text(encoding="utf-8"))
    texts = [ast.get_docstring(node) or "" for node in ast.walk(module)
             if isinstance(node, kinds)]
    examples = [text.partition("\nExamples\n--------\n")[2] for text in texts]
    assert [line for text in examples for line in text.splitlines() if len(line) > 68] == []


def functions_of(module):
    return [node for node in ast.walk(ast.parse(source_of(module)))
            if isinstance(node, ast.FunctionDef)]


def code_lines(nodes):
    """The lines that hold code: no blank ones, comments or docstrings."""
    text = ast.unparse(ast.Module([node for node in nodes if not is_docstring(node)], []))
    return text.splitlines()


def is_docstring(node):
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str))


def body_lines(function):
    """Lines of source from the first statement after the docstring to the last."""
    body = [node for node in function.body if not is_docstring(node)]
    return body[-1].end_lineno - body[0].lineno + 1


@pytest.mark.parametrize("module", ORDER)
def test_functions_and_modules_are_short(module):
    for function in functions_of(module):
        assert body_lines(function) < 25, function.name
        assert len(code_lines(function.body)) < 25, function.name
    documentation = sum(node.end_lineno - node.lineno + 1
                        for node in ast.walk(ast.parse(source_of(module))) if is_docstring(node))
    filled = [line for line in source_of(module).splitlines()
              if line.strip() and not line.strip().startswith("#")]
    assert len(filled) - documentation < 200


@pytest.mark.parametrize("module", ORDER)
def test_nothing_prints_warns_or_shadows_a_builtin(module):
    tree = ast.parse(source_of(module))
    called = {node.func.id for node in ast.walk(tree)
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"print", "input", "open", "exec", "eval"}
    used = {getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(tree)}
    assert not used & {"warnings", "random", "default_rng"}  # what draws comes from the caller
    names = {function.name for function in functions_of(module)}
    names |= {argument.arg for function in functions_of(module) for argument in function.args.args}
    assert not names & set(dir(builtins))


def test_every_function_says_what_it_does_or_is_private():
    for module in ORDER:
        for function in functions_of(module):
            assert ast.get_docstring(function) or function.name.startswith("_")

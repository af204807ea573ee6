"""Check what the chapter on learning says: gradients against PyTorch, and trainings over seeds.

    python tools/verify_training.py           in an environment of its own, made on first use
    python tools/verify_training.py --store   only store the checkpoints of the moving figure
"""

import argparse
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "tests" / "training_reference" / "requirements.txt"
ENVIRONMENT = ROOT / "_build" / "training_environment"
PROOF = ROOT / "_build" / "proof" / "training.json"
CHECKPOINTS = ROOT / "src" / "attention_book" / "explorables" / "training_checkpoints.json"
SEEDS = {"full": range(8), "browser": range(4)}
STORED_SEED, STORED_AT = 4, (0, 60, 120, 180, 200, 220, 240, 280, 340, 440, 600)
WITHIN = 1e-10  # float64 against float64, relative to the largest number of a gradient


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", action="store_true", help="store the figure's checkpoints")
    parser.add_argument("--here", action="store_true", help="use the packages of this Python")
    arguments = parser.parse_args()
    if arguments.store:
        return store_checkpoints()
    if not arguments.here:
        return start_over()
    apart = compare_with_torch()
    runs = [result for name, seeds in SEEDS.items() for result in trainings(name, seeds)]
    PROOF.parent.mkdir(parents=True, exist_ok=True)
    PROOF.write_text(json.dumps({"apart": apart, "runs": runs}, indent=1) + "\n",
                     encoding="utf-8")
    held = all(result["holds"] for result in runs) and max(apart.values()) <= WITHIN
    print("everything that the chapter says holds" if held else "NOT EVERYTHING HOLDS", flush=True)
    return int(not held)


def start_over():
    """Run this file again where PyTorch is at hand."""
    python = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = ENVIRONMENT / "ready"
    if not ready.exists() or ready.stat().st_mtime < REQUIREMENTS.stat().st_mtime:
        print("Installing PyTorch for the comparison: once.", flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.check_call([*install, "-r", REQUIREMENTS])
        subprocess.check_call([*install, "numpy>=2.0"])
        ready.touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    return subprocess.call([python, __file__, "--here"], env=environment)


def compare_with_torch():
    """Return how far each backward pass, and each gradient of a decoder, is from PyTorch's."""
    import numpy as np
    import torch

    import attention_book as ab

    rng = np.random.default_rng(0)

    def graph(forward, arrays, grad):
        """Return PyTorch's gradients of ``sum(grad * forward(*arrays))``."""
        tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
        (forward(*tensors) * torch.tensor(grad)).sum().backward()
        return [tensor.grad.numpy() for tensor in tensors]

    x, gain, grad = rng.normal(size=(2, 5, 7)), rng.normal(size=7), rng.normal(size=(2, 5, 7))
    q, k, v = (rng.normal(size=shape) for shape in ((2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 4)))
    w_gate, w_up, w_down = (rng.normal(size=shape) for shape in ((7, 3), (7, 3), (3, 7)))
    mixed = rng.normal(size=(2, 3, 5, 4))
    mask = ab.causal_mask(5, 11)
    functional = torch.nn.functional
    pairs = {
        "softmax": ([ab.softmax_backward(ab.softmax(x), grad)],
                    graph(lambda x: x.softmax(-1), [x], grad)),
        "attention": (ab.attention_backward(q, k, v, mixed, mask=mask),
                      graph(lambda q, k, v: functional.scaled_dot_product_attention(
                          q, k, v, torch.tensor(mask)), [q, k, v], mixed)),
        "linear": (ab.linear_backward(x, w_gate, grad[..., :3]),
                   graph(torch.matmul, [x, w_gate], grad[..., :3])),
        "RMS norm": (ab.rms_norm_backward(x, gain, grad),
                     graph(lambda x, gain: functional.rms_norm(x, (7,), gain, 1e-5),
                           [x, gain], grad)),
        "feed-forward": (ab.feed_forward_backward(x, w_gate, w_up, w_down, grad),
                         graph(lambda x, a, b, c: (functional.silu(x @ a) * (x @ b)) @ c,
                               [x, w_gate, w_up, w_down], grad)),
        "decoder": whole_decoder(rng),
    }
    apart = {}
    for name, (ours, theirs) in pairs.items():
        apart[name] = max(float(abs(a - b).max() / abs(b).max())
                          for a, b in zip(ours, theirs, strict=True))
        print(f"{name:14} apart from PyTorch by {apart[name]:.1e}", flush=True)
    return apart


def whole_decoder(rng):
    """Return our gradients of a whole decoder, and PyTorch's of the same written there."""
    import numpy as np
    import torch

    from attention_book import Decoder, loss_and_gradients
    from attention_book.decoder_backward import named_weights, with_weights

    drawn = Decoder.untrained(rng, n_vocab=11, d_model=12, n_layers=2, n_heads=3, d_feed=5,
                              n_context=16, base=50.0, tied=False, dtype=np.float64)
    decoder = with_weights(drawn, {name: w + 0.3 * rng.normal(size=w.shape)
                                   for name, w in named_weights(drawn).items()})
    tokens = rng.integers(0, 11, (3, 7))
    _, gradients = loss_and_gradients(decoder, tokens)
    w = {name: torch.tensor(array, requires_grad=True)
         for name, array in named_weights(decoder).items()}
    functional, ids = torch.nn.functional, torch.tensor(tokens)
    angles = torch.arange(7.0, dtype=torch.float64)[:, None] * 50.0 ** (
        -torch.arange(0, 4, 2, dtype=torch.float64) / 4)
    turn = torch.polar(torch.ones_like(angles), angles)

    def heads(x):
        return x.reshape(3, 7, 3, 4).transpose(1, 2)

    def rotated(x):
        pairs = torch.view_as_complex(heads(x).reshape(3, 3, 7, 2, 2).contiguous())
        return torch.view_as_real(pairs * turn).reshape(3, 3, 7, 4)

    x = w["embedding"][ids]
    for i in range(2):
        b = {name.removeprefix(f"blocks.{i}."): array for name, array in w.items()}
        normed = functional.rms_norm(x, (12,), b["attention_gain"], 1e-5)
        mixed = functional.scaled_dot_product_attention(
            rotated(normed @ b["wq"]), rotated(normed @ b["wk"]), heads(normed @ b["wv"]),
            is_causal=True)
        x = x + mixed.transpose(1, 2).reshape(3, 7, 12) @ b["wo"]
        normed = functional.rms_norm(x, (12,), b["feed_gain"], 1e-5)
        x = x + (functional.silu(normed @ b["w_gate"]) * (normed @ b["w_up"])) @ b["w_down"]
    logits = functional.rms_norm(x, (12,), w["gain"], 1e-5) @ w["output"]
    functional.cross_entropy(logits[:, :-1].reshape(-1, 11), ids[:, 1:].reshape(-1)).backward()
    return list(gradients.values()), [w[name].grad.numpy() for name in gradients]


def trainings(name, seeds):
    """Train with a preset once for each seed; yield whether the chapter's claims hold."""
    for seed in seeds:
        start = time.perf_counter()
        found = {**repeats(name, seed), **text(name, seed)}
        found |= {"preset": name, "seed": seed, "seconds": round(time.perf_counter() - start, 1)}
        found["holds"] = claims(found)
        print(json.dumps(found), flush=True)
        yield found


def claims(found):
    """Tell whether the sentences of the chapter hold, each with its margin."""
    return (found["loss_at_first"] > 3 and found["early"] > 2.7 and found["learnt"] < 0.8
            and found["fall"] <= 240 and found["without_one_back"] > 1
            and found["without_second_layer"] > 2.5
            and found["without_induction"] < found["without_one_back"]
            and found["one_back"] > 0.5 and found["induction"] > 0.6
            and max(found["one_back_before"], found["induction_before"]) < 0.2
            and found["text_first"] > 3 and found["text_learnt"] < 1.5
            and found["text_unseen"] > found["text_learnt"] + 0.2)


def repeats(name, seed, watch=None):
    """Train on repeated sequences; return losses and scores of heads, before and after."""
    import numpy as np

    from attention_book import Adam, Decoder, repeated_tokens, train
    from attention_book.training import PRESETS

    preset, rng = PRESETS[name]["repeats"], np.random.default_rng(seed)
    n, n_vocab = preset["n"], preset["model"]["n_vocab"]
    model = Decoder.untrained(rng, **preset["model"])
    new = repeated_tokens(np.random.default_rng(1000 + seed), 64, n, n_vocab=n_vocab,
                          periods=n // 2)
    found = dict(zip(("loss_at_first", "one_back_before", "induction_before"),
                     measured(model, new), strict=True))
    batches = (repeated_tokens(rng, preset["n_samples"], n, n_vocab=n_vocab,
                               periods=preset["periods"]) for _ in range(preset["steps"]))
    if watch:
        watch(0, model, new)
    losses = []
    for steps, _, after in train(model, batches, Adam(preset["rate"])):
        model = after
        if steps % 20 == 0:
            losses.append(measured(model, new)[0])
        if watch:
            watch(steps, model, new)
    found |= dict(zip(("learnt", "one_back", "induction"), measured(model, new), strict=True))
    high, low = (sum(loss > bound for loss in losses) for bound in (2.5, 1))
    return found | {"early": losses[4], "fall": 20 * (low - high), **without(model, new)}


def measured(model, new):
    """Return the loss where it can be known, and the best scores in block 0 and in block 1."""
    from attention_book import (
        attention_weights,
        induction_score,
        next_token_loss,
        previous_token_score,
    )

    period = new.shape[1] // 2
    weights = attention_weights(model, new).mean(axis=1)  # (2, n_heads, n, n), over the samples
    loss = next_token_loss(model.logits(new)[:, period:], new[:, period:])
    scores = previous_token_score(weights[0]).max(), induction_score(weights[1], period).max()
    return tuple(round(float(value), 3) for value in (loss, *scores))


def without(model, new):
    """Return the loss with some heads switched off: the best one of each layer, or a layer."""
    from attention_book import (
        attention_weights,
        induction_score,
        next_token_loss,
        previous_token_score,
        without_heads,
    )

    period = new.shape[1] // 2
    weights = attention_weights(model, new).mean(axis=1)
    two = [(0, int(previous_token_score(weights[0]).argmax())),
           (1, int(induction_score(weights[1], period).argmax()))]

    def loss(heads):
        logits = model.logits(new, attend=without_heads(model, heads))
        return round(next_token_loss(logits[:, period:], new[:, period:]), 2)

    return {"without_one_back": loss(two[:1]), "without_induction": loss(two[1:]),
            "without_second_layer": loss([(1, head) for head in range(4)])}


def text(name, seed):
    """Train on the story; return the loss on what was learnt and on its end, held back."""
    import numpy as np

    from attention_book import Adam, Decoder, next_token_loss, text_windows, train
    from attention_book.training import PRESETS, read_story

    preset, rng, story = PRESETS[name]["text"], np.random.default_rng(seed), read_story()
    characters = sorted(set(story))
    ids = np.array([characters.index(character) for character in story])
    learnt, unseen = ids[:2880], ids[2880:]
    model = Decoder.untrained(rng, n_vocab=len(characters), **preset["model"])
    batches = (text_windows(rng, learnt, preset["n_samples"], preset["n"])
               for _ in range(preset["steps"]))
    losses = []
    for _, loss, after in train(model, batches, Adam(preset["rate"])):
        losses.append(loss)
        model = after
    pieces = [part[:len(part) // 48 * 48].reshape(-1, 48)[:20] for part in (learnt, unseen)]
    found = [next_token_loss(model.logits(part), part) for part in pieces]
    return dict(zip(("text_first", "text_learnt", "text_unseen"),
                    (round(value, 3) for value in (losses[0], *found)), strict=True))


def store_checkpoints():
    """Store loss and attention patterns of one training, for the figure that shows them."""
    import numpy as np

    from attention_book import attention_weights, next_token_loss, repeated_tokens

    shown = repeated_tokens(np.random.default_rng(5), 1, 16, n_vocab=26, periods=8)
    curve, patterns = [], []

    def watch(steps, model, new):
        if steps % 20 == 0:
            period = new.shape[1] // 2
            loss = next_token_loss(model.logits(new)[:, period:], new[:, period:])
            curve.append(round(loss, 3))
        if steps in STORED_AT:
            patterns.append(attention_weights(model, shown)[:, 0])

    repeats("full", STORED_SEED, watch)
    last, period = patterns[-1], 8
    back, rows = np.diagonal(last[0], -1, 1, 2).mean(-1), np.arange(period, 16)
    heads = [int(back.argmax()), int(last[1][:, rows, rows - period + 1].mean(-1).argmax())]
    stored = [[[[round(100 * float(w)) for w in row[:i + 1]] for i, row in enumerate(weights[head])]
               for weights, head in zip(pattern, heads, strict=True)] for pattern in patterns]
    rows = {"text": "".join(chr(ord("a") + token) for token in shown[0]), "period": period,
            "every": 20, "heads": heads, "losses": curve, "steps": list(STORED_AT)}
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in rows.items()]
    lines.append(' "weights": [\n' + ",\n".join("  " + json.dumps(one, separators=(",", ":"))
                                                for one in stored) + "]")
    CHECKPOINTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"stored {len(stored)} checkpoints in {CHECKPOINTS.relative_to(ROOT)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

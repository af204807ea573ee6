"""Measure what the book says about speed and memory, against PyTorch and against plain products.

    python benchmarks/run.py              in an environment of its own, made on first use
    python benchmarks/run.py --here       with what this Python has; --rounds 5 for a quick look

Writes _build/proof/benchmarks.json and prints a table in Markdown. Every figure but memory is a
ratio of two times taken in turn, in one run. Nothing here decides whether a test passes.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

from timing import compare, machine, peak_memory, summary, version

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / "_build" / "benchmark_environment"
PROOF = ROOT / "_build" / "proof" / "benchmarks.json"
THREADS = 2  # on either side of every comparison with PyTorch


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--here", action="store_true", help="use the packages of this Python")
    parser.add_argument("--rounds", type=int, default=21, help="how often each pair is timed")
    arguments = parser.parse_args()
    if arguments.rounds < 2:
        parser.error("--rounds needs at least 2")
    if not arguments.here:
        return start_over(["--here", "--rounds", str(arguments.rounds)])
    result = {"machine": machine(), "threads": THREADS, "rows": []}
    for row in rows(arguments.rounds):
        print(f"{row['work']}, {row['against']}: {figure(row)}", file=sys.stderr, flush=True)
        result["rows"].append(row)
    PROOF.parent.mkdir(parents=True, exist_ok=True)
    PROOF.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(markdown(result))
    return 0


def start_over(arguments):
    """Run this file again with PyTorch at hand, or without it where it cannot be installed."""
    python = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = ENVIRONMENT / "ready"
    if not ready.exists():
        print("Installing PyTorch for the comparison: once.", file=sys.stderr, flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        same = [f"{name}=={version(name)}" for name in ("numpy", "threadpoolctl") if version(name)]
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        listed = ["-r", ROOT / "benchmarks" / "requirements.txt", *same]
        if subprocess.call([*install, *listed]) == 0:
            ready.touch()
    if not ready.exists():
        print("It cannot be installed here: its rows are left out.", file=sys.stderr, flush=True)
        python = sys.executable
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUTF8": "1"}
    return subprocess.call([python, __file__, *arguments], env=environment)


def rows(rounds):
    """Give one row of the table after the other."""
    import numpy as np
    import work

    rng = np.random.default_rng(0)
    for n in (4096, 8192):
        q, k, v = work.heads(rng, n)
        ours = work.chunked(q, k, v, THREADS)
        if version("torch"):
            yield times(f"chunked attention, causal, n {n}", "PyTorch's fused kernel", ours,
                        work.fused(q, k, v, THREADS), rounds, at_most=1.25)
        yield times(f"chunked attention, causal, n {n}", "its matrix products alone", ours,
                    work.products(q, k, v, THREADS), rounds)
        yield times(f"chunked attention, causal, n {n}", "the same and the exponentials", ours,
                    work.products(q, k, v, THREADS, exponentials=True), rounds)
        if n == 4096:
            yield times(f"dense attention head by head, n {n}", "chunked attention",
                        work.dense(q, k, v), ours, max(3, rounds // 3), at_least=6)
    for n in (4096, 16384):
        yield memory(f"chunked attention, causal, n {n}: extra memory at its peak",
                     work.chunked(*work.heads(rng, n), THREADS), peak_memory, at_most=16)
    yield times("a decoding step at 4096 past tokens", "its two products with keys and values",
                *work.decode(rng, 4096), rounds, repeats=20, at_most=1.5)
    yield times("the same, of a whole layer", "its six matrix products",
                *work.whole_step(rng, 4096), rounds, repeats=20)
    cached, anew = work.generation(rng, 512)
    yield times("512 tokens, one layer, without a cache", "with it", anew, cached,
                max(3, rounds // 7), at_least=12)


def times(work, against, ours, theirs, rounds, *, repeats=1, at_most=None, at_least=None):
    """Compare two calls: how many times as long does the first take?"""
    first, second = compare(ours, theirs, rounds, repeats)
    ratios = [a / b for a, b in zip(first, second, strict=True)]
    return {"work": work, "against": against, "unit": "times as long", **summary(ratios),
            "seconds": [summary(first)["median"], summary(second)["median"]],
            "at_most": at_most, "at_least": at_least}


def memory(work, call, measure, at_most):
    """Measure memory, which does not vary: two runs."""
    mebibytes = [measure(call) / 2**20 for _ in range(2)]
    return {"work": work, "against": "the result alone", "unit": "MiB", **summary(mebibytes),
            "seconds": None, "at_most": at_most, "at_least": None}


def figure(row):
    """Write one figure with its quartiles."""
    low, high = row["quartiles"]
    return f"{row['median']:.2f} ({low:.2f}–{high:.2f}) {row['unit']}"


def wanted(row):
    """Write what a figure should reach, and whether it does."""
    if row["at_most"] is not None:
        return f"at most {row['at_most']}: " + ("yes" if row["median"] <= row["at_most"] else "no")
    if row["at_least"] is not None:
        return f"at least {row['at_least']}: " + (
            "yes" if row["median"] >= row["at_least"] else "no")
    return ""


def markdown(result):
    """Write the table, and under it the machine."""
    lines = ["| measured | against | median (quartiles) | seconds | wanted |",
             "| --- | --- | --- | --- | --- |"]
    for row in result["rows"]:
        seconds = " / ".join(f"{s:.3g}" for s in row["seconds"]) if row["seconds"] else ""
        lines.append(f"| {row['work']} | {row['against']} | {figure(row)} | {seconds} "
                     f"| {wanted(row)} |")
    facts = ", ".join(f"{name} {value}" for name, value in result["machine"].items() if value)
    return "\n".join([*lines, "", f"8 heads of 64 features, float32, {THREADS} threads a side; "
                      f"{facts}."])


if __name__ == "__main__":
    sys.exit(main())

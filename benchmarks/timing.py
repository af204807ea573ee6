"""Comparing two ways to do the same: turn by turn, in one process, as medians of ratios."""

import os
import platform
import statistics
import time
import tracemalloc
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import numpy as np

PAUSE = 0.02  # seconds, for the threads of one side to go to sleep before the other's turn


def compare(ours, theirs, rounds, repeats=1):
    """Time both in turn, ``rounds`` times; return seconds of each, and their ratios.

    A ratio is taken of the two times of one round, so that a machine that slows down slows both.
    Who goes first changes from round to round. What is run first of all is not counted.
    """
    seconds = {ours: [], theirs: []}
    for way in (ours, theirs):
        way()
    for turn in range(rounds):
        for way in (ours, theirs) if turn % 2 else (theirs, ours):
            time.sleep(PAUSE)
            start = time.perf_counter()
            for _ in range(repeats):
                way()
            seconds[way].append((time.perf_counter() - start) / repeats)
    return seconds[ours], seconds[theirs]


def summary(ratios):
    """Return the median and the quartiles of some ratios."""
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return {"median": middle, "quartiles": [low, high], "rounds": len(ratios)}


def peak_memory(work):
    """Return the most bytes in use at once while ``work`` runs, beyond its result."""
    work()  # what is made once and kept does not count
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        result = work()
        return tracemalloc.get_traced_memory()[1] - before - result.nbytes
    finally:
        tracemalloc.stop()


def machine():
    """Say on what the figures were measured, and when."""
    versions = {name: version(name) for name in ("numpy", "torch", "threadpoolctl")}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: found for name, found in versions.items() if found},
        "blas": np.show_config(mode="dicts")["Build Dependencies"]["blas"].get("version", ""),
        "simd": simd(),
    }


def version(name):
    """Return the version of an installed package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def processor():
    """Return the processor's name."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def simd():
    """Return the vector instructions that NumPy found here."""
    return " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))

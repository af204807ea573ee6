"""The tables of the page "How this book is proved", from what the checks have written."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from attention_book import __version__

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "matplotlib", "scipy", "mpmath", "jupyterlab", "jupyter-book", "sphinx",
            "nbval", "hypothesis", "playwright", "jupyterlite-core", "jupyterlite-pyodide-kernel")


def head(first, *others):
    """Return the first two lines of a table whose other columns hold numbers."""
    return f"| {' | '.join((first, *others))} |", "| --- |" + " ---: |" * len(others)


def day(when):
    """Write a time as a day and a minute."""
    return when[:16].replace("T", " ") + " UTC"


def seconds(number):
    return f"{number:.0f} s" if number < 100 else f"{number / 60:.1f} min"


def summary(load, run):
    """Write a line for each kind of check: what came of it and when, or how to run it."""
    lines = ["| checked | result | when |", "| --- | --- | --- |"]
    for name, (what, result) in GLANCE.items():
        content = load(name)
        lines.append(f"| {what} | {result(content)} | {day(content['when'])} |" if content
                     else f"| {what} | not in this build: `{run[name]}` | |")
    return "\n".join(lines)


def notebooks_glance(content):
    rows = content["notebooks"].values()
    held, compared, claims = (sum(row[key] for row in rows)
                              for key in ("held", "compared", "claims"))
    return (f"{len(content['notebooks'])} chapters: {held} of {compared} cells as stored, "
            f"{claims} claims")


def suites_glance(content):
    verdicts = [row["verdict"] for row in content["suites"]]
    return f"{verdicts.count('passed')} of {len(verdicts)} passed"


def exercises_glance(content):
    total = {key: sum(row[key] for row in content["exercises"])
             for key in ("ways", "rejected", "named", "variants", "accepted")}
    return (f"{len(content['exercises'])} exercises: of {total['ways']:,} wrong answers "
            f"{total['rejected']:,} rejected and {total['named']:,} named, of "
            f"{total['variants']} right ones {total['accepted']} accepted")


def benchmarks_glance(content):
    aims = [aim(row).endswith("reached") for row in content["rows"] if aim(row)]
    return f"{sum(aims)} of {len(aims)} aims reached"


def model_glance(content):
    same = sum(row["same"] for row in content["texts"])
    return f"{same} of {len(content['texts'])} texts the same"


def training_glance(content):
    held = sum(run["holds"] for run in content["runs"])
    return f"{held} of {len(content['runs'])} trainings as the chapter says"


def libraries_glance(content):
    same = content["calls"] - content["different"]
    return f"{same} of {content['calls']} calls as shown"


def notebooks(content):
    """Write a line for each chapter, and their sum."""
    rows = content["notebooks"]
    lines = list(head("chapter", "cells compared", "of them as stored", "times, not compared",
                      "claims", "run time"))
    for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")):
        link = f"[{int(path.stem[:2])} {title(path.stem)}](../notebooks/{path.name})"
        row = rows.get(path.stem)
        lines.append(line(link, row) if row else f"| {link} | not checked in this build | | | | |")
    sums = {key: sum(row[key] for row in rows.values())
            for key in ("compared", "held", "measured", "claims", "seconds")}
    lines.append(line("all", sums))
    return "\n".join([*lines, "", f"Run on {day(content['when'])}."])


def line(first, row):
    return (f"| {first} | {row['compared']} | {row['held']} | {row['measured']} | {row['claims']} "
            f"| {seconds(row['seconds'])} |")


def title(name):
    """Return a chapter's title, up to its colon."""
    text = (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    first = "".join(json.loads(text)["cells"][0]["source"])
    return first.partition("\n")[0].lstrip("# ").partition(":")[0]


def suites(content):
    """Write the verdict of each suite of checks."""
    lines = ["| suite | what it shows | verdict | time | when |",
             "| --- | --- | --- | ---: | --- |"]
    lines += [f"| `{row['name']}` | {row['proves']} | {row['verdict']} | {seconds(row['seconds'])} "
              f"| {day(row['when'])} |" for row in content["suites"]]
    return "\n".join(lines)


def benchmarks(content):
    """Write the measured ratios, what they should reach, and on what machine."""
    lines = ["| measured | against | median (quartiles) | aim |", "| --- | --- | --- | --- |"]
    for row in content["rows"]:
        low, high = row["quartiles"]
        lines.append(f"| {row['work']} | {row['against']} | {row['median']:.2f} ({low:.2f}–"
                     f"{high:.2f}) {row['unit']} | {aim(row)} |")
    machine = content["machine"]
    packages = ", ".join(f"{name} {machine[key]}" for key, name in (
        ("python", "Python"), ("numpy", "NumPy"), ("torch", "PyTorch")) if machine.get(key))
    return "\n".join([*lines, "", f"Measured on {machine['date']}: {machine['processor']}, "
                      f"{machine['processors']} processors, {machine['system']}, {packages}; "
                      f"{content['threads']} threads on either side."])


def aim(row):
    """Write what a figure should reach, and whether it does."""
    for key, words, sign in (("at_most", "at most", 1), ("at_least", "at least", -1)):
        if row[key] is not None:
            reached = sign * (row[key] - row["median"]) >= 0
            return f"{words} {row[key]}: {'reached' if reached else 'missed'}"
    return ""


def model(content):
    """Say how the real model compares with an independent implementation."""
    texts = content["texts"]
    same = sum(row["same"] for row in texts)
    decode = content["decode"]
    return (f"{same} of {len(texts)} texts, the longest of {max(row['tokens'] for row in texts)} "
            f"tokens, gave the same tokens, the same continuation, and logits at most "
            f"{max(row['apart'] for row in texts):.1e} apart. A token with the cache took "
            f"{decode['ratio']:.2f} times as long as there. Run on {day(content['when'])}.")


def training(content):
    """Say how the gradients compare with PyTorch's, and in how many trainings the claims held."""
    held = sum(run["holds"] for run in content["runs"])
    return (f"The gradients differ from PyTorch's by at most {max(content['apart'].values()):.1e}, "
            f"relative to the largest of each. What the chapter says of its models held in {held} "
            f"of {len(content['runs'])} trainings, with other seeds among them. Run on "
            f"{day(content['when'])}.")


def libraries(content):
    """Say how many calls of other libraries gave what the page about them shows."""
    same = content["calls"] - content["different"]
    packages = ", ".join(f"{name} {number}" for name, number in content["versions"].items())
    return (f"{same} of {content['calls']} calls gave what the page shows. Run on "
            f"{day(content['when'])} with {packages}.")


def versions():
    """Write the versions that this build was made with."""
    lines = ["| package | version |", "| --- | --- |", f"| this book | {__version__} |",
             f"| Python | {platform.python_version()} |"]
    for name in PACKAGES:
        try:
            lines.append(f"| {name} | {version(name)} |")
        except PackageNotFoundError:
            lines.append(f"| {name} | not installed |")
    return "\n".join(lines)


GLANCE = {
    "notebooks": ("[stored outputs](#every-output-compared)", notebooks_glance),
    "suites": ("[suites of checks](#the-suites-of-checks)", suites_glance),
    "exercises": ("[checks of the exercises](#the-exercises-checks-checked)", exercises_glance),
    "benchmarks": ("[speed and memory](#speed-and-memory)", benchmarks_glance),
    "model": ("[the real model](#the-real-model-against-another-implementation), "
              "against transformers", model_glance),
    "training": ("[training](#training-against-another-implementation), against PyTorch "
                 "and with other seeds", training_glance),
    "libraries": ("[other libraries](#other-libraries)", libraries_glance),
}
TABLES = {"notebooks": notebooks, "suites": suites, "benchmarks": benchmarks, "model": model,
          "training": training, "libraries": libraries}

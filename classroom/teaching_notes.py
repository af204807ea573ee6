"""Notes on one chapter's exercises, for teachers: the mistakes to expect, and what to ask."""

from attention_book.exercises import catalogue


def notes(chapter, exercise_ids):
    """Return the notes on a chapter as Markdown: each exercise with the mistakes it names."""
    title = chapter.partition("_")[2].replace("_", " ")
    found = [f"# Notes on {title}", "",
             "What `check` can tell students about each exercise. Ask the question before you give "
             "an answer away.", ""]
    for name in exercise_ids:
        found += on_exercise(catalogue()[name])
    return "\n".join(found)


def on_exercise(exercise):
    """Return the lines on one exercise."""
    lines = [f"## {exercise.title}", "", f"`{exercise.id}`: {exercise.prompt}", "",
             "| mistake | what it does | ask |", "| --- | --- | --- |"]
    lines += [f"| `{mistake.id}` | {cell(mistake.seen)} | {cell(mistake.question)} |"
              for mistake in exercise.mistakes]
    hints = [f"{number}. {hint}" for number, hint in enumerate(exercise.hints, 1)]
    return [*lines, "", "Hints, as `hint` gives them:", "", *hints, ""]


def cell(text):
    """Return text as it may stand in a table's cell."""
    return " ".join(text.split()).replace("|", "\\|")

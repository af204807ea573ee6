"""The rules for a chapter's exercises: stub, check and solution."""

import ast

from notebook_reading import bound, called, cells, data, source, tags, tree


def exercise_cells(notebook, exercises):
    """Each exercise has a stub, then its check, then a solution; the stub stays unsolved."""
    code = cells(notebook)
    for exercise in exercises:
        found = [number for number, cell in enumerate(code) if checks(cell, exercise)]
        if len(found) != 1 or found[0] == 0 or found[0] + 1 == len(code):
            yield f"{exercise.id}: {len(found)} cells with the tag check call its check"
            continue
        stub, check, solution = code[found[0] - 1 : found[0] + 2]
        yield from parts(exercise, stub, check, solution)
        yield from unsolved(exercise, check, solution)
    for tag in ("exercise", "check", "solution"):
        if len(cells(notebook, tag=tag)) != len(exercises):
            yield f"{len(cells(notebook, tag=tag))} cells '{tag}' for {len(exercises)} exercises"


FOLDED = {"outputs_hidden": True, "source_hidden": True}


def parts(exercise, stub, check, solution):
    """The three cells have their tags and their names; the solution is folded."""
    answer = checked_name(check)
    if "exercise" not in tags(stub) or answer not in bound(tree(stub)):
        yield f"{exercise.id}: no stub before its check that defines {answer}"
    if "solution" not in tags(solution) or f"{exercise.id}_solution" not in bound(tree(solution)):
        yield f"{exercise.id}: no solution after its check that defines {exercise.id}_solution"
    if answer in bound(tree(solution)) | bound(tree(check)):
        yield f"{exercise.id}: its check or its solution binds the learner's own name"
    if solution["metadata"].get("jupyter") != FOLDED or "hide-cell" not in tags(solution):
        yield f"{exercise.id}: its solution is not folded (hide-cell and {FOLDED})"
    if source(solution).startswith(f"{exercise.id}_solution"):
        yield f"{exercise.id}: the first line of its solution, which is not folded, is the answer"
    if exercise.faulty and "hide-output" not in tags(check):
        yield f"{exercise.id}: the verdict on its listing is not folded (hide-output)"


def unsolved(exercise, check, solution):
    """The stored verdicts say that the stub is unsolved, and that the solution is none."""
    texts = [data(output).get("text/plain", "") for output in check["outputs"]]
    unsolved = "✗ {}: " if exercise.faulty else "○ {}: not-attempted"
    if not any(text.startswith(unsolved.format(exercise.id)) for text in texts):
        yield f"{exercise.id}: its check does not find the stub unsolved: {texts}"
    texts = [data(output).get("text/plain", "") for output in solution["outputs"]]
    if any(text.startswith(("✗", "○")) for text in texts):
        yield f"{exercise.id}: its solution does not pass"


def check_calls(cell):
    return [node for node in ast.walk(tree(cell))
            if isinstance(node, ast.Call) and called(node) == "check" and len(node.args) == 2]


def checks(cell, exercise):
    """Whether this is the cell that checks an exercise."""
    return "check" in tags(cell) and any(
        ast.unparse(call.args[0]) == repr(exercise.id) for call in check_calls(cell))


def checked_name(cell):
    """Return the learner's own name, which the check is given."""
    return ast.unparse(check_calls(cell)[0].args[1])

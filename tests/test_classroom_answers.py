"""Answers judged in a confined process: the verdicts are the notebook's, and no trick gets a pass.

The class that is made up in ``test_classroom_class.py`` has every fault of a file; here are single
answers, and what only some chapters have.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom import chapters, grading, isolation, judge, submissions  # noqa: E402
from classroom.apart import Confined, GoneError, Nursery  # noqa: E402
from classroom.hidden_inputs import hidden_cases  # noqa: E402
from classroom.made_up_answers import MISTAKES, RIGHT_OTHERWISE  # noqa: E402

from attention_book.exercises import catalogue, check  # noqa: E402
from attention_book.exercises.judging import judge as judge_here  # noqa: E402

IMPORTS = "import numpy as np\nfrom attention_book import chunked_attention, softmax"
FUNCTIONS = [exercise for exercise in catalogue() if not exercise.predicts]
WORKING = """
def my_chunked_attention(q, k, v, chunk):
    m = np.full(len(q), -np.inf)
    l, acc = np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for start in range(0, len(k), chunk):
        s = q @ k[start:start + chunk].T / np.sqrt(q.shape[1])
        new = np.maximum(m, s.max(axis=1))
        e, old = np.exp(s - new[:, None]), np.exp(m - new)
        l = l * old + e.sum(axis=1)
        acc = acc * old[:, None] + e @ v[start:start + chunk]
        m = new
    return acc / l[:, None]
"""
WHOLE_TABLE = """
def my_chunked_attention(q, k, v, chunk):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v
"""
NO_MEMORY_SEEN = "import tracemalloc\ntracemalloc.get_traced_memory = lambda: (0, 0)\n"


@pytest.fixture(scope="module")
def nursery():
    with Nursery() as started:
        yield started


@pytest.fixture
def graded(nursery):
    """Return a function that grades cells as the answer to one exercise."""
    def grade(exercise_id, *cells):
        stem = catalogue()[exercise_id].chapter
        tasks = [task for task in grading.all_tasks()[stem] if task.id == exercise_id]
        reading = submissions.Reading(cells=[IMPORTS, *cells])
        [found], _ = judge.grade_cells(nursery, reading, tasks, grading.page_of(stem), seed=1)
        return found

    return grade


def in_a_notebook(exercise_id, text):
    """Return what ``check`` says of an answer in the notebook."""
    names = {}
    exec(f"{IMPORTS}\n{text}", names)
    return check(exercise_id, names[chapters.answer_name(exercise_id)])


@pytest.mark.parametrize(("exercise_id", "mistake"), MISTAKES)
def test_a_mistake_has_the_name_that_check_gives_it(graded, exercise_id, mistake):
    text = MISTAKES[exercise_id, mistake]
    found = graded(exercise_id, text)
    said = in_a_notebook(exercise_id, text)
    assert (found["passed"], found["diagnosis"]) == (False, mistake)
    assert (said.diagnosis, said.message) == (mistake, found["message"])


@pytest.mark.parametrize("exercise_id", RIGHT_OTHERWISE)
def test_another_right_answer_passes(graded, exercise_id):
    assert graded(exercise_id, RIGHT_OTHERWISE[exercise_id])["passed"]


@pytest.mark.parametrize("path", chapters.choose(), ids=lambda path: path.stem)
def test_the_books_own_solutions_have_full_marks(nursery, path):
    from classroom.made_up_class import solved

    cells = [chapters.source(cell) for cell in solved(path.stem)["cells"]
             if cell["cell_type"] == "code"]
    grades, _ = judge.grade_cells(nursery, submissions.Reading(cells=cells),
                                  grading.all_tasks()[path.stem], grading.page_of(path.stem), 1)
    assert [each for each in grades if not each["passed"]] == []


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.id)
def test_right_answers_pass_on_hidden_inputs(exercise):
    from dataclasses import replace

    for seed in (1, 2, 3):
        cases = hidden_cases(exercise, seed)
        moved = replace(exercise, example=None, cases=tuple(cases), package=())
        for answer in (exercise.solution, *exercise.variants):
            result = judge_here(moved, answer)
            assert result.passed, result


def test_hidden_inputs_are_others():
    for exercise in FUNCTIONS:
        own, hidden = exercise.cases, hidden_cases(exercise, 1)
        arrays = [[repr([np.asarray(arg).tolist() for arg in case.args]) for case in cases]
                  for cases in (own, hidden)]
        functions = any(callable(arg) for case in own for arg in case.args)
        assert functions or arrays[0] != arrays[1], exercise.id
        assert hidden_cases(exercise, 1)[0].note == "another input"


def test_same_seed_makes_the_same_hidden_inputs():
    exercise = catalogue()["softmax"]
    made = [[case.args[0].tolist() for case in hidden_cases(exercise, seed)] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


# --- Memory, which a student's code could report as it likes ---
def test_chunks_in_little_memory_pass(graded):
    assert graded("chunked_attention", WORKING)["passed"]


def test_whole_table_is_named(graded):
    assert graded("chunked_attention", WHOLE_TABLE)["diagnosis"] == "full-score-matrix"


def test_whole_table_that_hides_its_memory_is_named(graded):
    found = graded("chunked_attention", NO_MEMORY_SEEN + WHOLE_TABLE)
    assert found["diagnosis"] == "full-score-matrix"


# --- Answers about a function, which is asked in the judge's own process ---
def test_verdicts_by_the_order_of_the_questions_fail(graded):
    exercise = catalogue()["leaks_future"]
    known = [bool(exercise.solution(*case.args)) for case in exercise.judging]
    text = (f"_known = iter({known!r} * 9)\n\n\ndef my_leaks_future(attend, x, rng):\n"
            "    for t in range(1, len(x)):\n        y = x.copy()\n        y[t:] += 9\n"
            "        attend(y)\n    attend(x)\n    return next(_known)")
    assert not graded("leaks_future", text)["passed"]


def test_a_function_asked_too_much_is_an_error_of_the_answer(graded):
    found = graded("leaks_future", "def my_leaks_future(attend, x, rng):\n"
                   "    return bool(attend(np.zeros((2, 2, 2, 2)))[5])")
    assert found["diagnosis"] == "raises"


def test_each_of_several_functions_is_asked(graded):
    found = graded("block", "def my_block(x, attend, feed_forward, norm):\n"
                   "    x = x + attend(norm(x))\n    return norm(x + feed_forward(x))")
    assert not found["passed"] and found["diagnosis"] != "raises"


# --- The package ---
@pytest.mark.parametrize("text", [
    "my_softmax = softmax",
    "def my_softmax(x):\n    return softmax(x)",
    "import sys\n\n\ndef my_softmax(x):\n    sys.setprofile(None)\n    return softmax(x)",
    "import attention_book as b\n\n\ndef my_softmax(x):\n    return np.exp(b.log_softmax(x))"])
def test_calls_of_the_package_are_told(graded, text):
    assert graded("softmax", text)["diagnosis"] == "calls-the-package"


def test_functions_of_earlier_exercises_may_be_called(graded):
    text = "def my_temperature_softmax(x, temperature):\n    return softmax(x / temperature)"
    assert graded("temperature_softmax", text)["passed"]


# --- What is said where nothing could be judged ---
def test_a_cell_that_does_not_run_is_quoted(graded):
    found = graded("softmax", "def my_softmax(x)\n    return x")
    assert found["diagnosis"] == "raises"
    assert "expected ':', at `def my_softmax(x)`" in " ".join(found["message"].split())


def test_a_prediction_is_judged_here(graded):
    assert graded("predict_score_shape", "predict_score_shape = (7, 5)")["passed"]
    assert graded("predict_score_shape", "predict_score_shape = [7, 5.0]")["passed"]
    assert not graded("predict_score_shape", "predict_score_shape = (5, 7)")["passed"]


@pytest.mark.parametrize("value", [
    "object()", "lambda: 1", "[[[[[[1]]]]]]", "10**400", "np.array([object()])", "(x for x in 'a')",
    "'7, 5' * 400", "float('nan')", "{'a': 1}", "type('A', (), {'__eq__': lambda *_: True})()"])
def test_odd_predictions_fail_with_a_reason(graded, value):
    found = graded("predict_score_shape", f"predict_score_shape = {value}")
    assert not found["passed"] and found["diagnosis"] and "Question: " in found["message"]


# --- The exchange itself ---
@pytest.mark.parametrize("text", [
    "import os; os.write(3, b'x' * 100)", "import os; os.close(3)",
    "import os; os.write(3, b'\\xff' * 8)", "import os; os.dup2(1, 3)"])
def test_a_broken_exchange_is_no_pass(graded, text):
    found = graded("softmax", f"def my_softmax(x):\n    {text}\n    return softmax(x)")
    assert found["diagnosis"] in ("ended-the-process", "too-slow")


@pytest.mark.parametrize("said", ["[]", "{}", "1.5", '"x"', "null", "99"])
def test_a_false_word_on_the_cell_that_runs_is_no_failure_of_the_grader(graded, said):
    text = ("import os, struct\n"
            f"text = b'{{\"message\": {{\"cell\": {said}}}, \"arrays\": []}}'\n"
            "os.write(3, struct.pack('!II', len(text), 0) + text)\nos._exit(0)")
    assert graded("softmax", text)["diagnosis"] in ("ended-the-process", "too-slow", "no-answer")


def test_a_report_of_another_form_is_refused(nursery):
    with Confined(nursery) as confined, pytest.raises(GoneError):
        confined.define([[1, "a = 1", False]], {"a": [["no_such_module", "x", None]]})


# --- Confinement ---
TRIED = """
import os, resource, socket, sys, threading
sys.path.insert(0, sys.argv[1])
from classroom import isolation
readable = isolation.readable_paths()
if os.getuid() == 0:
    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
attempts = {
    "read": lambda: open(sys.argv[2], encoding="utf-8"),
    "write": lambda: open("/tmp/new", "w", encoding="utf-8"),
    "list": lambda: os.listdir("/tmp"),
    "connect": lambda: socket.socket(),
    "fork": lambda: os.fork(),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "signal": lambda: os.kill(os.getppid(), 0),
    "chmod": lambda: os.chmod(sys.argv[2], 0),
    "limits": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU),
}
for name in ("read", "list", "connect"):
    attempts[name]()  # allowed until now
isolation.confine(readable)
for name, attempt in attempts.items():
    try:
        attempt()
        print(name, "allowed")
    except OSError as error:
        print(name, "refused")
thread = threading.Thread(target=lambda: print("thread works")); thread.start(); thread.join()
os.kill(os.getpid(), 0); print("self works")
"""


def test_what_a_confined_process_may_do_without_root():
    with tempfile.NamedTemporaryFile() as secret:  # where anyone may look
        os.chmod(secret.name, 0o644)
        answer = subprocess.run([sys.executable, "-c", TRIED, str(ROOT), secret.name], text=True,
                                encoding="utf-8", capture_output=True, check=True)
    said = dict(line.split() for line in answer.stdout.splitlines())
    assert said.pop("thread") == said.pop("self") == "works"
    assert set(said.values()) == {"refused"} and len(said) == 9


def test_machines_that_cannot_confine_are_named(monkeypatch):
    assert isolation.missing() == []
    monkeypatch.setattr(isolation, "landlock_version", lambda: -1)
    assert "Linux 5.13" in isolation.missing()[0]
    monkeypatch.setattr(isolation.sys, "platform", "darwin")
    assert "no Landlock" in isolation.missing()[0]

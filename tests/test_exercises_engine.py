"""What the engine does with answers of every kind, and that it leaves nothing changed."""

import asyncio
import contextlib
import cProfile
import functools
import gc
import os
import signal
import sys
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import attention_book
from attention_book.exercises import Exercise, Mistake, Result, catalogue, check, findings
from attention_book.exercises.guard import Runner
from attention_book.exercises.judging import judge
from attention_book.exercises.limits import MemoryLimit, Watch
from attention_book.exercises.model import Case, Example, Watched
from attention_book.exercises.naming import twins
from attention_book.exercises.verdicts import lines, number

right = catalogue()["softmax"].solution
rng = np.random.default_rng(7)
WIDTH = 6.0  # seconds within which even an endless answer must be judged


def diagnosis(answer, exercise_id="softmax"):
    result = check(exercise_id, answer)
    assert result.passed is (result.diagnosis is None)
    return result.diagnosis


# --- answers that are none ------------------------------------------------------------------------
def stub(x): ...


def stub_that_raises(x):
    raise NotImplementedError


def half_a_stub(x):
    shifted = ...
    return np.exp(shifted) / 2


@pytest.mark.parametrize("answer", [None, ..., NotImplemented, stub, stub_that_raises, half_a_stub,
                                    lambda x: ..., lambda x: NotImplemented])
def test_not_attempted(answer):
    result = check("softmax", answer)
    assert result.diagnosis == "not-attempted"
    assert 'hint("softmax")' in result.message


def test_one_of_several_results_missing_is_not_attempted():
    assert diagnosis(lambda x, wq, wk, wv: (x @ wq, x @ wk, None), "project") == "not-attempted"


@pytest.mark.parametrize("answer", [np.ones(3), "softmax", 3, [1, 2], right(np.ones(3)), {}, 1j])
def test_a_value_where_a_function_is_wanted(answer):
    result = check("softmax", answer)
    hint = "quotation marks" if isinstance(answer, str) else "without parentheses"
    assert result.diagnosis == "not-a-function"
    assert hint in " ".join(result.message.split())


class NoArray:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")

    @property
    def __class__(self):
        raise RuntimeError("no class")

    def __getattr__(self, name):
        raise RuntimeError("no attributes")


class NoArrayButCallable(NoArray):
    def __call__(self, x):
        return right(x)


def test_a_value_that_refuses_every_question():
    message = check("softmax", NoArray()).message
    assert "A value of type NoArray was handed in" in message
    assert check("softmax", NoArrayButCallable()).passed
    assert diagnosis(NoArray(), "predict_shifted_softmax") == "raises"


@pytest.mark.parametrize("answer", [right, print, dict])
def test_a_function_where_a_value_is_wanted(answer):
    assert diagnosis(answer, "predict_shifted_softmax") == "not-a-value"


def prints(x):
    print(right(x))


def displays(x):
    sys.stdout.write("[0.125 0.25 0.625]\n")


@pytest.mark.parametrize("answer", [prints, displays])
def test_prints_instead_of_returning(answer, capsys):
    result = check("softmax", answer)
    assert result.diagnosis == "prints-instead-of-returning"
    assert "0.125" in result.message
    assert capsys.readouterr().out == ""


def test_returning_none_after_printing_nothing_else_than_space_is_not_attempted():
    assert diagnosis(lambda x: print()) == "not-attempted"


def test_an_answer_that_closes_what_print_writes_to_is_judged_too():
    def closes(a, b):
        sys.stdout.close()
        return a @ b

    assert check("dot_product", closes).passed


def test_a_right_answer_that_also_prints_passes(capsys):
    def chatty(x):
        print("x" * 10**6)
        return right(x)

    assert diagnosis(chatty) is None
    assert capsys.readouterr().out == ""


# --- results of the wrong form --------------------------------------------------------------------
class EqualToEverything:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = None

    def __array__(self, dtype=None, copy=None):
        return np.ones(3)


class EqualArray(np.ndarray):
    def __eq__(self, other):
        return np.ones(self.shape, dtype=bool)

    def __sub__(self, other):
        return np.zeros(self.shape)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return np.zeros(self.shape)


@pytest.mark.parametrize(("answer", "wanted"), [
    (lambda x: right(x).sum(axis=-1), "wrong-shape"),
    (lambda x: right(x)[..., None], "wrong-shape"),
    (lambda x: np.matrix(right(x)), "wrong-shape"),
    (lambda x: [[1.0], [1.0, 2.0]], "wrong-shape"),
    (lambda x: (right(x), x), "wrong-shape"),
    (lambda x: np.broadcast_to(1.0, (10**6, 10**6)), "wrong-shape"),
    (lambda x: [], "wrong-shape"),
    (lambda x: (value for value in right(x)), "wrong-dtype"),
    (lambda x: map(float, right(x)), "wrong-dtype"),
    (lambda x: right(x).astype(object), "wrong-dtype"),
    (lambda x: right(x).astype(np.float16), "wrong-dtype"),
    (lambda x: right(x) + 0j, "wrong-dtype"),
    (lambda x: right(x) > 0.2, "wrong-dtype"),
    (lambda x: "0.125 0.25 0.625", "wrong-dtype"),
    (lambda x: [str(value) for value in right(x)], "wrong-dtype"),
    (lambda x: {0: right(x)}, "wrong-dtype"),
    (lambda x: right, "wrong-dtype"),
    (lambda x: b"1", "wrong-dtype"),
    (lambda x: x * np.nan, "not-finite"),
    (lambda x: np.full(x.shape, np.inf), "not-finite"),
    (lambda x: (100 * right(x)).astype(int), "wrong-dtype"),
    (lambda x: right(x) + 0.001, "wrong-value"),
    (lambda x: right(x)[..., ::-1], "wrong-value"),
    (lambda x: EqualToEverything(), "wrong-value"),
    (lambda x: np.ones(x.shape).view(EqualArray), "wrong-value"),
])
def test_results_of_the_wrong_form_or_value(answer, wanted):
    assert diagnosis(answer) == wanted


async def coroutine(x):
    return x


def generator(x):
    yield from x


@pytest.mark.parametrize("answer", [coroutine, generator])
def test_an_unfinished_function_warns_of_nothing(answer, recwarn):
    result = check("softmax", answer)
    assert result.diagnosis == "wrong-dtype"
    assert not recwarn.list


@pytest.mark.parametrize("answer", [
    lambda x: right(x).tolist(), lambda x: tuple(right(x)), lambda x: list(right(x)),
    lambda x: right(x).view(EqualArray), lambda x: right(x).astype(np.float32),
    lambda x: right(x).astype(np.longdouble), lambda x: np.asfortranarray(right(x)),
    lambda x: right(x[..., ::-1])[..., ::-1], lambda x: np.ma.masked_array(right(x)),
])
def test_other_forms_of_a_right_result_pass(answer):
    assert diagnosis(answer) is None


@pytest.mark.parametrize(("values", "family", "words"), [
    ([1.0, np.cos(np.pi / 2)], "float", "got 0.5, wanted 0"),
    ([0.0, 6e-17], "float", "got 0.5, wanted 6e-17"),
    ([1.0, 0.0], "bool", "got True, wanted False")])
def test_what_rounding_leaves_of_a_zero_is_called_zero(values, family, words):
    part = SimpleNamespace(family=family, values=np.array(values))
    exercise = SimpleNamespace(predicts=False)
    assert findings._apart(exercise, 0.5, part.values[1], part) == words


def test_the_first_difference_is_told():
    result = check("softmax", lambda x: right(x) + (x == x[..., -1:]) * 0.25)
    assert "index 2: got 0.875, wanted 0.625" in result.message
    assert "the example on the page" in result.message


def test_the_step_of_the_first_failing_case_is_told():
    def down_the_columns_of_three_axes(x):
        return right(x) if x.ndim < 3 else right(x)[::-1]

    result = check("softmax", down_the_columns_of_three_axes)
    assert "Step: the last axis" in result.message
    assert "Input: scores with three axes; x of shape (2, 3, 5)" in result.message


# --- exceptions -----------------------------------------------------------------------------------
def names_nothing(x):
    largest = x.max()
    return np.exp(x - larges) / largest  # noqa: F821


class Unprintable(BaseException):
    def __str__(self):
        raise ValueError


def raises_unprintable(x):
    raise Unprintable


class Refuses:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")


def recurses(x):
    return recurses(x)


@pytest.mark.parametrize(("answer", "said"), [
    (names_nothing, "`return np.exp(x - larges) / largest  # noqa: F821`"),
    (raises_unprintable, "Unprintable"),
    (lambda x: Refuses(), "no array"),
    (lambda x: [Refuses()], "no array"),
    (recurses, "RecursionError"),
    (lambda x: sys.exit(3), "SystemExit: 3"),
    (lambda x, y: x, "Can it be called as softmax(x)?"),
    (lambda: 1, "Can it be called as softmax(x)?"),
    (lambda x: object() + x, "TypeError"),
    (lambda x: next(iter(())), "StopIteration"),
])
def test_raises(answer, said):
    result = check("softmax", answer)
    assert result.diagnosis == "raises"
    assert " ".join(said.split()) in " ".join(result.message.split())


def test_an_interrupt_that_the_answer_raises_itself_is_an_exception():
    def interrupts(x):
        raise KeyboardInterrupt

    assert diagnosis(interrupts) == "raises"


def test_an_exception_shows_no_address():
    def addressed(x):
        raise ValueError(f"bad {object()}")

    message = check("softmax", addressed).message
    assert "0x…" in message and check("softmax", addressed).message == message


def test_a_huge_allocation_is_refused():
    if not sys.platform.startswith("linux"):
        assert MemoryLimit().__enter__()._saved is None
        return
    result = check("softmax", lambda x: np.zeros((10**6, 10**5)))
    assert result.diagnosis == "raises" and "MemoryError" in result.message


def test_memory_that_grows_little_by_little_is_stopped():
    if not sys.platform.startswith("linux"):
        return

    def hoards(x):
        kept = []
        while True:
            kept.append(np.empty(10**7))

    assert "MemoryError" in check("softmax", hoards).message


# --- time -----------------------------------------------------------------------------------------
def endless(x):
    while True:
        pass


def endless_on_one_line(x):
    while True: pass  # noqa: E701


def endless_past_bare_except(x):
    while True:
        try:  # noqa: SIM105
            np.exp(x)
        except:  # noqa: E722
            pass


def endless_past_two(x):
    while True:
        try:
            while True:
                try:  # noqa: SIM105
                    sum(x)
                except BaseException:
                    pass
        except:  # noqa: E722
            continue


def endless_in_finally(x):
    while True:
        try:
            sum(x)
        finally:
            continue  # noqa: B012


def endless_that_keeps(x):
    kept = []
    while True:
        try:
            np.exp(x)
        except BaseException as error:
            kept.append(error)


def endless_with_suppress(x):
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(0.001)


ENDLESS = [endless, endless_on_one_line, endless_past_bare_except, endless_past_two,
           endless_in_finally, endless_that_keeps, endless_with_suppress]


@pytest.fixture
def impatient(monkeypatch):
    """Shorten the limits, so that the suite need not wait them out."""
    monkeypatch.setattr("attention_book.exercises.judging.JUDGING_SECONDS", 0.5)
    monkeypatch.setattr("attention_book.exercises.judging.NAMING_SECONDS", 0.25)


def in_a_thread(function, *args):
    """Run where no signal arrives, as in the browser: the trace function must do the work."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function(*args)), daemon=True)
    thread.start()
    thread.join(3 * WIDTH)
    assert found, "the answer was not ended"
    return found[0]


@pytest.mark.parametrize("answer", ENDLESS)
def test_an_endless_loop_is_ended_by_the_alarm(answer, impatient):
    assert diagnosis(answer) == "too-slow"


@pytest.mark.parametrize("answer", ENDLESS)
def test_an_endless_loop_is_ended_where_no_signal_arrives(answer, impatient):
    assert in_a_thread(diagnosis, answer) == "too-slow"
    assert sys.gettrace() is None or "coverage" in str(type(sys.gettrace()))


def test_an_endless_loop_takes_less_than_six_seconds():
    started = time.monotonic()
    assert diagnosis(endless_past_two) == "too-slow"
    assert time.monotonic() - started < WIDTH


def test_a_loop_that_ends_only_with_other_inputs(impatient):
    def endless_for_matrices(x):
        while np.ndim(x) > 1:
            pass
        return np.exp(x)  # wrong already for the example: it is the naming that hangs

    started = time.monotonic()
    assert diagnosis(endless_for_matrices) == "wrong-value"
    assert time.monotonic() - started < WIDTH


def test_an_alarm_in_a_clean_up_is_not_reported_and_rings_again(impatient):
    class Slow:
        def __del__(self):
            while True:
                pass

    def endless(x):
        while True:
            Slow()

    assert diagnosis(endless) == "too-slow"
    gc.collect()  # the warning of an exception that could not be raised would come now


def test_an_answer_that_swallows_the_alarm_and_returns_is_still_too_slow(impatient):
    def late(x):
        with contextlib.suppress(BaseException):
            while True:
                pass
        return right(x)

    assert diagnosis(late) == "too-slow"


def test_one_long_call_in_compiled_code_is_too_slow_once_it_returns(impatient):
    assert diagnosis(functools.partial(sum, range(2 * 10**6))) == "too-slow"


def test_right_answers_pass_where_no_signal_arrives():
    assert in_a_thread(diagnosis, right) is None
    loops = catalogue()["softmax"].variants[0]
    assert in_a_thread(diagnosis, loops) is None


@pytest.mark.parametrize("answer", [endless, endless_past_bare_except, endless_past_two])
def test_a_real_interrupt_interrupts(answer):
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        check("softmax", answer)
    assert time.monotonic() - started < 3  # well before the time limit
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)) == handlers


def test_an_interrupt_between_two_runs_waits_until_everything_is_put_back():
    reached = []
    with pytest.raises(KeyboardInterrupt), Watch():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        reached.append(True)
    assert reached and signal.getsignal(signal.SIGINT) is signal.default_int_handler


# --- nothing stays changed ------------------------------------------------------------------------
def changes_everything(x):
    sys.setrecursionlimit(sys.getrecursionlimit() + 1000)
    sys.stdout = sys.stderr = sys.stdin = None
    np.seterr(all="raise")
    np.set_printoptions(precision=1)
    warnings.simplefilter("error")
    sys.settrace(lambda *_: None)
    sys.setprofile(lambda *_: None)
    for number_ in (signal.SIGINT, signal.SIGALRM):
        signal.signal(number_, signal.SIG_IGN)
    np.exp = np.allclose = np.asarray = np.abs = lambda *_: np.ones(x.shape)
    np.linalg.norm = None
    return np.exp(x)


def snapshot():
    resource = sys.modules.get("resource")
    return {
        "recursion": sys.getrecursionlimit(),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "errors": np.geterr(),
        "printing": np.get_printoptions(),
        "filters": list(warnings.filters),
        "tracing": (sys.gettrace(), sys.getprofile()),
        "handlers": (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM)),
        "timer": signal.getitimer(signal.ITIMER_REAL),
        "numpy": (np.exp, np.allclose, np.asarray, np.abs, np.linalg.norm),
        "memory": resource and resource.getrlimit(resource.RLIMIT_AS),
    }


MEMORY_AT_FIRST = snapshot()["memory"]


@pytest.mark.parametrize("answer", [changes_everything, right, recurses, names_nothing,
                                    raises_unprintable, endless_past_two, stub])
def test_everything_is_as_before(answer, impatient):
    before = snapshot()
    check("softmax", answer)
    assert snapshot() == before
    assert before["memory"] == MEMORY_AT_FIRST


def test_a_running_timer_goes_on():
    rung = []
    saved = signal.signal(signal.SIGALRM, lambda *_: rung.append(True))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        assert diagnosis(right) is None
        deadline = time.monotonic() + 5
        while not rung and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, saved)
    assert rung


def test_a_profiler_in_use_is_left_in_use():
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        assert diagnosis(right) is None
        assert sys.version_info >= (3, 12) or sys.getprofile() is profiler
    finally:
        profiler.disable()


def test_numpy_patched_before_the_check_does_not_reach_the_judge(monkeypatch):
    monkeypatch.setattr(np, "exp", lambda x: np.ones(np.shape(x)))
    monkeypatch.setattr(np, "asarray", lambda *_, **__: np.zeros(3))
    monkeypatch.setattr(np, "allclose", lambda *_, **__: True)
    assert diagnosis(lambda x: np.exp(x) / 3) != "calls-the-package"
    assert diagnosis(lambda x: np.ones(x.shape)) == "wrong-value"
    loops = catalogue()["softmax"].variants[0]
    assert diagnosis(loops) is None
    assert np.allclose(1, 2) is True  # the learner's own patch is the learner's


def test_an_answer_that_patches_numpy_does_not_pass():
    def cheats(x):
        np.exp = np.asarray = np.array = np.abs = lambda *_, **__: np.ones(x.shape)
        return np.ones(x.shape)

    assert diagnosis(cheats) == "wrong-value"


def test_a_check_within_an_answer_is_judged_too():
    inner = []

    def asks(x):
        inner.append(check("predict_shifted_softmax", [0.125, 0.25, 0.625]).passed)
        return right(x)

    assert diagnosis(asks) is None and all(inner)


def test_check_works_inside_a_running_event_loop():
    async def in_a_notebook():
        return check("softmax", right).passed

    assert asyncio.run(in_a_notebook())


# --- general ids ----------------------------------------------------------------------------------
def in_place(x):
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


def reshapes_its_argument(x):
    result = right(x)
    x.shape = (x.size,)
    return result


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("answer", [in_place, reshapes_its_argument])
def test_mutates_input(answer):
    result = check("softmax", answer)
    assert result.diagnosis == "mutates-input" and " x " in result.message


def test_the_second_of_two_arguments_is_named():
    def writes_to_k(q, k):
        scores = q @ k.T
        k[0] = 0
        return scores

    assert "but k no longer" in check("all_scores", writes_to_k).message


PAGE = catalogue()["softmax"].example


def by_comparing(x):
    return PAGE.value if x.shape == (3,) and np.allclose(x, PAGE.args[0]) else x


def by_table(x):
    return {PAGE.args[0].tobytes(): PAGE.value}[x.tobytes()]


@pytest.mark.parametrize("answer", [lambda x: PAGE.value, lambda x: np.array([0.12, 0.25, 0.63]),
                                    by_comparing, by_table])
def test_hard_coded(answer):
    assert diagnosis(answer) == "hard-coded"


@pytest.mark.parametrize("answer", [lambda x: [0.1, 0.3, 0.6], lambda x: right(x) ** 1.0001])
def test_wrong_answers_that_are_not_hard_coded(answer):
    assert diagnosis(answer) == "wrong-value"


def test_an_answer_for_one_row_alone_is_not_hard_coded():
    assert diagnosis(lambda x: right(x) if x.ndim == 1 else x) == "wrong-value"


@pytest.mark.parametrize(("exercise_id", "answer"), [
    ("softmax", attention_book.softmax),
    ("softmax", lambda x: attention_book.softmax(x)),
    ("softmax", lambda x: attention_book.softmax(x, axis=-1).copy()),
    ("log_softmax", attention_book.log_softmax),
    ("log_sum_exp", lambda x: attention_book.log_sum_exp(x)),
    ("masked_softmax", lambda x, mask: attention_book.softmax(x, mask=mask)),
    ("all_scores", attention_book.scores),
    ("all_scores", lambda q, k: attention_book.scores(q, k, scale=1.0)),
])
def test_calls_the_package(exercise_id, answer):
    assert diagnosis(answer, exercise_id) == "calls-the-package"


@pytest.mark.parametrize(("exercise_id", "answer"), [
    ("masked_softmax", lambda x, mask: attention_book.softmax(np.where(mask, x, -np.inf))),
    ("log_softmax", lambda x: x - attention_book.log_sum_exp(x)[..., None]),
    ("temperature_softmax", lambda x, t: attention_book.softmax(x / t)),
])
def test_functions_of_earlier_exercises_may_be_called(exercise_id, answer):
    assert diagnosis(answer, exercise_id) is None


def test_a_wrong_use_of_the_package_is_named_as_the_mistake_it_is():
    assert diagnosis(lambda x: attention_book.softmax(x, axis=0)) == "wrong-axis"


# --- a second fault does not hide the first -------------------------------------------------------
@pytest.mark.parametrize(("exercise_id", "answer", "wanted"), [
    ("softmax", lambda x: np.exp(x) / (np.exp(x).sum(axis=-1, keepdims=True) + 1e-9),
     "no-max-shift"),
    ("temperature_softmax", lambda x, t: np.exp(x * t) / np.exp(x * t).sum(-1, keepdims=True),
     "multiplied-by-temperature"),
    ("masked_softmax", lambda x, mask: right(np.where(mask, x, -47.0)), "finite-fill"),
    ("log_sum_exp", lambda x: np.log(np.exp(x).sum(axis=-1) + 1e-12), "no-max-shift"),
])
def test_a_mistake_is_named_beside_a_second_fault(exercise_id, answer, wanted):
    assert diagnosis(answer, exercise_id) == wanted


@pytest.mark.parametrize("answer", [
    lambda x: x * np.nan, lambda x: 0 * x, lambda x: 0 * x + 1, lambda x: right(x) + 1e-3,
    lambda x: right(x)[..., ::-1], lambda x: rng.random(x.shape), lambda x: right(x) ** 2,
    lambda x: right(x) if abs(x).max() < 3 else 1 / 0,
])
def test_what_is_in_no_catalogue_gets_no_catalogued_name(answer):
    names = {mistake.id for mistake in catalogue()["softmax"].mistakes}
    assert diagnosis(answer) not in names | {None}


# --- exercises of other forms ---------------------------------------------------------------------
def toy(**fields):
    """Declare a small exercise of its own: the double of a row."""
    usual = {
        "id": "toy", "chapter": "none", "title": "Double", "signature": "toy(x)", "shapes": "",
        "prompt": "", "hints": ("", "", ""), "variants": (), "solution": lambda x: 2 * x,
        "reference": lambda x: 2 * x, "example": Example((np.array([1.0, 2.0]),), [2, 4]),
        "cases": (Case((np.array([3.0, 5.0]),), "another", "doubling"),),
        "naming": (Case((np.array([3.0, 5.0]),), "another"),),
        "mistakes": (Mistake("halved", "Halved.", "Why?", (lambda x: x / 2,)),),
    }
    return Exercise(**(usual | fields))


def test_memory_is_measured_where_a_case_limits_it():
    big = np.arange(1000.0)
    cases = (Case((big,), "a long row", "doubling", memory=50_000),)
    stores = Mistake("stores-a-matrix", "A matrix.", "How large?",
                     (lambda x: 2 * (np.eye(len(x)) @ x),))
    exercise = toy(cases=(*toy().cases, *cases), naming=cases, mistakes=(stores,))
    assert judge(exercise, lambda x: x + x).passed
    other = judge(exercise, lambda x: 2 * (np.outer(x, np.ones(len(x))))[:, 0])
    assert other.diagnosis == "stores-a-matrix"
    unnamed = judge(toy(cases=(*toy().cases, *cases)), stores.ways[0])
    assert unnamed.diagnosis == "too-much-memory"


GROWS = Case((np.arange(142.0),), "a row and its half", "doubling", memory=0.4 * 71 * 142,
             half=(np.arange(71.0),))


def kept_per_number(x):
    rows = [[number] * 30 for number in x]
    return np.array([2 * row[0] for row in rows])


def table_of_booleans(x):
    seen = np.tri(len(x), dtype=bool)
    return 2 * x * seen.any(axis=1)


def test_memory_that_grows_with_the_square_is_told_from_a_large_share_for_each_number():
    [whole], exercise = GROWS.args, toy(cases=(*toy().cases, GROWS))
    with Runner(exercise, 1.0) as runner:  # of the whole row, the list takes more
        peaks = [runner.run(answer, Case((whole,), "", memory=0)).peak
                 for answer in (kept_per_number, table_of_booleans)]
    assert peaks[0] > peaks[1]
    assert judge(exercise, kept_per_number).passed
    assert judge(exercise, table_of_booleans).diagnosis == "too-much-memory"
    only_half = judge(exercise, lambda x: 2 * x if len(x) != 71 else 1 / 0)
    assert only_half.diagnosis == "raises"


@pytest.mark.parametrize("length", [71, 142])
@pytest.mark.parametrize(("answer", "named"),
                         [(kept_per_number, None), (table_of_booleans, "too-much-memory")])
def test_what_another_thread_takes_meanwhile_is_not_counted(answer, named, length):
    runs = []

    def interrupted(x):
        runs.append(len(x))
        if runs.count(length) == 1:  # in one of the runs on this input
            other = threading.Thread(target=lambda: bytearray(10**6))
            other.start()
            other.join()
        return answer(x)

    assert judge(toy(cases=(*toy().cases, GROWS)), interrupted).diagnosis == named


def test_a_table_kept_for_the_next_run_is_counted():
    @functools.cache
    def seen(n):
        return np.tri(n, dtype=bool)

    result = judge(toy(cases=(*toy().cases, GROWS)), lambda x: 2 * x * seen(len(x)).any(axis=1))
    assert result.diagnosis == "too-much-memory"


def test_measuring_leaves_the_buffers_of_numpy_as_they_were():
    before = np.getbufsize()
    case = Case((np.arange(9.0),), "a row", "doubling", memory=50_000)
    sizes = []
    judge(toy(cases=(case,)), lambda x: sizes.append(np.getbufsize()) or 2 * x)
    assert before == np.getbufsize() == sizes[0] > sizes[-1]


def test_mistakes_that_differ_in_memory_alone_are_no_twins():
    cases = (Case((np.arange(1000.0),), "a long row", "doubling", memory=50_000),)
    light = Mistake("tripled", "Tripled.", "Why?", (lambda x: 3 * x,))
    heavy = Mistake("tripled-in-a-matrix", "Tripled.", "Why?", (lambda x: 3 * np.eye(1000) @ x,))
    exercise = toy(cases=cases, naming=cases, mistakes=(light, heavy))
    assert twins(exercise) == []
    again = Mistake("added", "Tripled.", "Why?", (lambda x: x + x + x,))
    exercise = toy(cases=cases, naming=cases, mistakes=(light, heavy, again))
    assert twins(exercise) == [("tripled", "added")]


def test_calls_of_a_function_argument_tell_mistakes_apart():
    x = np.arange(6.0).reshape(3, 2)

    def reads(args, calls):
        return [np.array_equal(call[0], args[1]) for call in calls]

    cases = (Case((Watched(np.sin), x), "sine", "calls"), Case((Watched(np.cos), x), "cosine", "c"))
    exercise = toy(
        signature="toy(f, x)", example=None, cases=cases, naming=cases, observe=reads,
        reference=lambda f, x: bool(np.allclose(f(x), np.sin(x))),
        mistakes=(Mistake("never-asks", "No call.", "Why?", (lambda f, x: True,)),
                  Mistake("asks-elsewhere", "Another x.", "Why?",
                          (lambda f, x: bool(f(x + 1) is not None),))),
    )
    assert judge(exercise, lambda f, x: np.allclose(f(x), np.sin(x))).passed
    assert judge(exercise, lambda f, x: 1 == 1).diagnosis == "never-asks"
    assert judge(exercise, lambda f, x: len(f(2 * x)) > 0).diagnosis == "asks-elsewhere"
    assert judge(exercise, lambda f, x: not f(x).any()).diagnosis == "wrong-value"


def test_a_generator_argument_starts_afresh_for_every_answer():
    cases = (Case((np.random.default_rng(5),), "a generator", "drawing"),)
    exercise = toy(signature="toy(rng)", example=None, cases=cases, naming=cases,
                   reference=lambda rng: np.float64(rng.random()),
                   mistakes=(Mistake("second", "Second.", "Why?",
                                     (lambda rng: [rng.random(), rng.random()][1],)),))
    for _ in range(2):
        assert judge(exercise, lambda rng: rng.random()).passed
        assert judge(exercise, lambda rng: rng.random(2)[1]).diagnosis == "second"


def test_whole_numbers_and_booleans_are_wanted_as_such():
    count = toy(reference=len, example=None)
    assert judge(count, lambda x: x.shape[0]).passed
    assert judge(count, lambda x: np.int32(len(x))).passed
    assert judge(count, lambda x: float(len(x))).diagnosis == "wrong-dtype"
    assert judge(count, lambda x: True).diagnosis == "wrong-dtype"
    whether = toy(reference=lambda x: x > 4, example=None)
    assert judge(whether, lambda x: [False, True]).passed
    assert judge(whether, lambda x: [0, 1]).diagnosis == "wrong-dtype"


def test_several_results_are_compared_by_name():
    exercise = toy(reference=lambda x: (x, 2 * x), parts=("once", "twice"), example=None)
    assert judge(exercise, lambda x: [x, x + x]).passed
    result = judge(exercise, lambda x: (x, 3 * x))
    assert "twice, index 0: got 9, wanted 6" in result.message
    assert judge(exercise, lambda x: x).diagnosis == "wrong-shape"
    assert judge(exercise, lambda x: (x,)).diagnosis == "wrong-shape"
    assert "once, twice" in judge(exercise, lambda x: {}).message


def test_infinities_that_are_right_are_right():
    exercise = toy(reference=lambda x: np.where(x > 4, np.inf, -np.inf), example=None)
    assert judge(exercise, lambda x: np.where(x > 4, np.inf, -np.inf)).passed
    assert judge(exercise, lambda x: np.where(x > 4, 1e308, -1e308)).diagnosis == "wrong-value"


# --- arguments of check ---------------------------------------------------------------------------
def test_an_unknown_id_lists_what_exists_and_what_is_near():
    with pytest.raises(ValueError, match=r'got "softmx"; did you mean "softmax"\? .*all_scores'):
        check("softmx", right)


def test_an_id_near_nothing_gets_no_guess():
    with pytest.raises(ValueError) as caught:
        check("zzz", right)
    assert "mean" not in str(caught.value)


def test_arguments_in_the_wrong_order():
    with pytest.raises(TypeError, match="exercise_id: got a value of type function"):
        check(right, "softmax")


@pytest.mark.parametrize(("exercise_id", "said"), [("softmax", "your function"),
                                                   ("predict_shifted_softmax", "your prediction")])
def test_a_missing_answer(exercise_id, said):
    with pytest.raises(TypeError, match=f"answer: got nothing; wanted {said}"):
        check(exercise_id)


# --- words ----------------------------------------------------------------------------------------
def test_a_result_is_true_if_it_passed():
    assert check("softmax", right) and not check("softmax", stub)
    assert Result(True, None, "fine") == Result(True, None, "fine")


@pytest.mark.parametrize(("value", "text"), [
    (np.float64(1 / 3), "0.3333"), (1e-7, "1e-07"), (np.nan, "nan"), (-np.inf, "-inf"),
    (np.bool_(True), "True"), (12, "12"), (2.0**60, "1.15e+18"),
])
def test_numbers_are_rounded(value, text):
    assert number(value) == text


def test_empty_lines_are_left_out():
    assert lines(("Seen", "this"), ("Step", ""), ("Input", None)) == "Seen: this"


def test_the_engine_works_without_ipython_and_without_resource(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    monkeypatch.setattr("attention_book.exercises.limits.resource", None)
    assert MemoryLimit().__enter__()._saved is None
    assert diagnosis(right) is None


@pytest.mark.parametrize("junk", ["?", [], 123_456_789.0], ids=repr)
@pytest.mark.parametrize("exercise", [each for each in catalogue() if each.predicts],
                         ids=lambda exercise: exercise.id)
def test_an_unknown_prediction_is_not_told_the_working(exercise, junk):
    message = check(exercise.id, junk).message
    assert "here your prediction leaves" not in message

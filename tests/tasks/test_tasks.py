import numpy as np
import pytest
from scipy.integrate import solve_ivp

from evoke import tasks
from evoke.tasks import languages

# Input, and after each of its symbols what may follow.
STRINGS = {
    1: ("Sabc", ["a", "ab", "c", "T"]),
    2: ("Saabbcc", ["a", "ab", "ab", "b", "c", "c", "T"]),
    3: ("Saaabbbccc", ["a", "ab", "ab", "ab", "b", "b", "c", "c", "c", "T"]),
    4: ("Saaaabbbbcccc", ["a", "ab", "ab", "ab", "ab", "b", "b", "b", "c", "c", "c", "c", "T"]),
}


def spell_inputs(X):
    assert np.all(np.abs(X) == 1.0)
    assert np.all((X > 0).sum(axis=1) == 1)
    return "".join("Sabc"[k] for k in X.argmax(axis=1))


def spell_targets(y):
    return ["".join("abcT"[k] for k in np.flatnonzero(row)) for row in y]


def legal(X):
    """Decisions of a perfect recogniser: it counts what it has read, and knows nothing else."""
    read = np.cumsum(X > 0, axis=0)
    a, b, c = read[:, 1], read[:, 2], read[:, 3]
    decisions = np.column_stack(
        [b + c == 0, (a > b) & (c == 0), (a == b) & (a > c), (a > 0) & (a == b) & (b == c)]
    )
    return np.where(decisions, 0.5, -0.5)


class Counter:
    """Right, but for the outputs that `spoil(n, decisions)` changes."""

    def __init__(self, spoil=lambda n, decisions: None):
        self.spoil = spoil
        self.seen = []

    def decision_function(self, X):
        result = []
        for x in X:
            n = (len(x) - 1) // 3
            self.seen.append(n)
            result.append(legal(x))
            self.spoil(n, result[-1])
        return result


@pytest.mark.parametrize("n", STRINGS)
def test_strings_spelled_out(n):
    (X,), (y,) = tasks.anbncn([n])
    inputs, targets = STRINGS[n]
    assert spell_inputs(X) == inputs
    assert spell_targets(y) == targets
    assert X.shape == y.shape == (3 * n + 1, 4)
    assert X.dtype == np.float64
    assert y.dtype == np.int64


def test_a_number_means_all_up_to_it():
    X, y = tasks.anbncn(4)
    assert [spell_inputs(x) for x in X] == [STRINGS[n][0] for n in (1, 2, 3, 4)]
    assert [spell_targets(t) for t in y] == [STRINGS[n][1] for n in (1, 2, 3, 4)]


def test_any_numbers_in_any_order():
    X, y = tasks.anbncn(np.array([3, 1]))
    assert [spell_inputs(x) for x in X] == ["Saaabbbccc", "Sabc"]
    assert len(y) == 2
    assert tasks.anbncn(np.int64(2))[0][1].shape == (7, 4)
    assert tasks.anbncn([]) == ([], [])


@pytest.mark.parametrize(
    "call",
    [
        tasks.anbncn,
        lambda n: tasks.anbncn([1, n]),
        lambda n: tasks.anbncn_accepted(None, n),
        lambda n: tasks.anbncn_accepts(None, n),
        lambda n: tasks.anbncn_margins(None, n),
    ],
)
@pytest.mark.parametrize(
    "n, error",
    [(0, ValueError), (-3, ValueError), (2.0, TypeError), ("2", TypeError), (None, TypeError), (True, TypeError)],
)
def test_bad_numbers(call, n, error):
    with pytest.raises(error):
        call(n)


@pytest.mark.parametrize("test_max", [1, 2, 39, 40])
def test_perfect_model_reaches_the_end_of_the_test(test_max):
    model = Counter()
    assert tasks.anbncn_accepted(model, test_max) == test_max
    assert model.seen == list(range(1, test_max + 1))


@pytest.mark.parametrize("rows_at_once", [1, 4, 11, 100, 65536])
@pytest.mark.parametrize("k", [1, 2, 7, 29, 30])
def test_the_first_rejected_string_counts(monkeypatch, rows_at_once, k):
    monkeypatch.setattr(languages, "ROWS_AT_ONCE", rows_at_once)

    def fail(n, decisions):
        if n == k:
            decisions[:] = -decisions

    assert tasks.anbncn_accepted(Counter(fail), 30) == k - 1
    assert tasks.anbncn_accepted(Counter(fail), k) == k - 1
    if k > 1:
        assert tasks.anbncn_accepted(Counter(fail), k - 1) == k - 1


@pytest.mark.parametrize("output", range(4))
@pytest.mark.parametrize("step", [0, 1, 5, 6, 10, 15])
def test_one_wrong_output_at_one_step_rejects(step, output):
    def fail(n, decisions):
        if n == 5:
            decisions[step, output] *= -1.0

    assert tasks.anbncn_accepted(Counter(fail), 9) == 4


def test_a_decision_of_zero_says_no():
    def blur_no(n, decisions):
        decisions[decisions < 0] = 0.0

    def blur_yes(n, decisions):
        decisions[decisions > 0] = 0.0

    assert tasks.anbncn_accepted(Counter(blur_no), 9) == 9
    assert tasks.anbncn_accepted(Counter(blur_yes), 9) == 0


def test_nan_rejects():
    def fail(n, decisions):
        if n == 3:
            decisions[decisions > 0] = np.nan

    assert tasks.anbncn_accepted(Counter(fail), 9) == 2
    margins, accepted = tasks.anbncn_margins(Counter(fail), 9)
    assert np.flatnonzero(np.isnan(margins)).tolist() == np.flatnonzero(~accepted).tolist() == [2]


@pytest.mark.parametrize("rows_at_once", [1, 11, 65536])
def test_margins_are_the_least_decisions_on_the_right_side(monkeypatch, rows_at_once):
    monkeypatch.setattr(languages, "ROWS_AT_ONCE", rows_at_once)

    def bend(n, decisions):
        decisions *= 2 * n
        if n == 2:
            decisions[3, 1] = 0.25  # the right b, hardly
        if n == 4:
            decisions[0, 3] = 1.5  # the end, at once
        if n == 5:
            decisions[decisions < 0] = 0.0  # which says no

    margins, accepted = tasks.anbncn_margins(Counter(bend), 6)
    assert margins.tolist() == [1.0, 0.25, 3.0, -1.5, 0.0, 6.0]
    assert accepted.tolist() == [True, True, True, False, True, True]


@pytest.mark.parametrize("rows_at_once", [1, 4, 10, 11, 12, 31, 50])
def test_batches_hold_every_string_once_and_few_rows(monkeypatch, rows_at_once):
    monkeypatch.setattr(languages, "ROWS_AT_ONCE", rows_at_once)
    batches = []

    class Recorder(Counter):
        def decision_function(self, X):
            batches.append([len(x) for x in X])
            return super().decision_function(X)

    model = Recorder()
    assert tasks.anbncn_accepted(model, 12) == 12
    assert model.seen == list(range(1, 13))
    for batch, following in zip(batches, [*batches[1:], [np.inf]], strict=True):
        assert sum(batch) <= rows_at_once or len(batch) == 1
        assert sum(batch) + following[0] > rows_at_once


class Reader:
    """A reader that keeps the pieces and answers from all that it has read."""

    def __init__(self, wrong=None):
        self.pieces = []
        self.wrong = wrong

    def stream(self):
        return self

    def decision_function(self, X):
        begin = sum(map(len, self.pieces))
        self.pieces.append(X)
        decisions = legal(np.concatenate(self.pieces))[begin:]
        if self.wrong is not None and begin <= self.wrong[0] < begin + len(X):
            decisions[self.wrong[0] - begin, self.wrong[1]] *= -1.0
        return decisions


@pytest.mark.parametrize("rows_at_once", [1, 2, 7, 30, 31, 32, 1000])
def test_pieces_of_a_single_string_join_up(monkeypatch, rows_at_once):
    monkeypatch.setattr(languages, "ROWS_AT_ONCE", rows_at_once)
    reader = Reader()
    assert tasks.anbncn_accepts(reader, 10)
    np.testing.assert_array_equal(np.concatenate(reader.pieces), tasks.anbncn([10])[0][0])
    assert all(1 <= len(piece) <= rows_at_once for piece in reader.pieces)


@pytest.mark.parametrize("step", range(31))
@pytest.mark.parametrize("output", range(4))
def test_a_single_string_is_rejected_at_any_error(monkeypatch, step, output):
    monkeypatch.setattr(languages, "ROWS_AT_ONCE", 7)
    reader = Reader((step, output))
    assert not tasks.anbncn_accepts(reader, 10)
    assert sum(map(len, reader.pieces[:-1])) <= step  # and nothing is read behind the error


def test_a_huge_single_string():
    reader = Reader()
    n = 50_000
    assert tasks.anbncn_accepts(reader, n)
    assert len(reader.pieces) > 1
    assert sum(map(len, reader.pieces)) == 3 * n + 1
    assert not tasks.anbncn_accepts(Reader((3 * n, 3)), n)


# ---- superimposed sines


def test_the_two_sines_of_the_paper():
    x = np.arange(1, 1001)
    y = tasks.superimposed_sines()
    np.testing.assert_allclose(y, np.sin(0.2 * x) + np.sin(0.311 * x), rtol=0, atol=1e-13)
    split = tasks.SINES_SPLIT
    assert (split.washout, split.train_end, split.validation_end, split.test_end) == (100, 400, 700, 1000)
    assert y[split.validation_end : split.test_end].var() == pytest.approx(0.949, abs=5e-4)


@pytest.mark.parametrize("n_waves", range(1, 9))
def test_every_wave_adds_its_frequency(n_waves):
    y = tasks.superimposed_sines(n_waves, 50, start=-3)
    less = tasks.superimposed_sines(n_waves - 1, 50, start=-3) if n_waves > 1 else 0.0
    frequency = (0.2, 0.311, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97)[n_waves - 1]
    np.testing.assert_allclose(y - less, np.sin(frequency * np.arange(-3, 47)), atol=1e-13)


def test_sines_begin_anywhere():
    whole = tasks.superimposed_sines(3, 100)
    np.testing.assert_array_equal(tasks.superimposed_sines(3, 40, start=61), whole[60:])
    assert tasks.superimposed_sines(2, 0).shape == (0,)


@pytest.mark.parametrize("arguments, error", [((0,), ValueError), ((9,), ValueError), ((2.0,), TypeError),
                                              ((2, -1), ValueError), ((2, 5.0), TypeError)])  # fmt: skip
def test_bad_arguments_of_sines(arguments, error):
    with pytest.raises(error, match=r"n_(waves|steps) must be"):
        tasks.superimposed_sines(*arguments)


# ---- Mackey-Glass


def by_method_of_steps(history, tau, n_delays):
    """The solution on n_delays intervals of one delay each, as a function of time: SciPy at a tight tolerance."""
    pieces = [lambda t: np.full_like(t, history)]
    for k in range(n_delays):
        before, start = pieces[-1], k * tau
        solution = solve_ivp(
            lambda t, x, before=before: 0.2 * before(t - tau) / (1 + before(t - tau) ** 10) - 0.1 * x,
            (start, start + tau), [pieces[-1](np.array(start)) if k else history], rtol=1e-11, atol=1e-12,
            dense_output=True,
        )  # fmt: skip
        pieces.append(lambda t, sol=solution.sol: sol(t)[0])
    return lambda t: pieces[1 + min(int(t // tau), n_delays - 1)](np.array(float(t)))


@pytest.mark.parametrize("tau, step", [(17.0, 0.1), (17.0, 0.5), (3.5, 0.05), (0.5, 0.5)])
def test_mackey_glass_solves_its_equation(tau, step):
    n = int(4 * tau)
    x = tasks.mackey_glass(n, tau, step=step, n_discard=0, random_state=3)
    history = np.random.default_rng(3).uniform(1.1, 1.3)
    exact = by_method_of_steps(history, tau, 4)
    # the fourth order: at half a unit of time the error is 625 times that at a tenth
    np.testing.assert_allclose(x, [exact(t) for t in range(1, n + 1)], rtol=0, atol=2e-4 * step**4 + 1e-9)


def test_mackey_glass_is_chaotic_at_17_and_repeats_at_a_seed():
    x = tasks.mackey_glass(1500)
    assert x.shape == (1500,)
    assert 0.2 < x.min() < 0.5 and 1.2 < x.max() < 1.4
    np.testing.assert_array_equal(x, tasks.mackey_glass(1500, random_state=0))
    np.testing.assert_array_equal(x[100:], tasks.mackey_glass(1400, n_discard=1100))
    assert np.abs(x - tasks.mackey_glass(1500, random_state=1)).max() > 0.1
    assert np.ptp(tasks.mackey_glass(50, tau=2.0)) < 1e-6  # a short delay comes to rest
    assert tasks.mackey_glass(0).shape == (0,)


@pytest.mark.parametrize(
    "more, error, name",
    [
        (dict(tau=0.0), ValueError, "tau"), (dict(tau=-17.0), ValueError, "tau"), (dict(tau=17.03), ValueError, "tau"),
        (dict(tau=np.nan), ValueError, "tau"), (dict(tau=np.inf), ValueError, "tau"),
        (dict(step=0.3), ValueError, "step"), (dict(step=0.0), ValueError, "step"), (dict(step=2), ValueError, "step"),
        (dict(step=np.nan), ValueError, "step"), (dict(n_discard=-1), ValueError, "n_discard"),
        (dict(n_discard=1.0), TypeError, "n_discard"),
    ],
)  # fmt: skip
def test_bad_arguments_of_mackey_glass(more, error, name):
    with pytest.raises(error, match=f"^{name} must be"):
        tasks.mackey_glass(10, **more)


# ---- scores and baseline


class Constant:
    """Continues with the last value it has read."""

    def generate(self, n_steps, context):
        return np.full(n_steps, context[-1])


def test_nrmse84():
    series = tasks.mackey_glass(400, random_state=0)
    starts = [100, 150, 316]
    off = [series[start - 1] - series[start + 83] for start in starts]
    assert tasks.nrmse84(Constant(), series, starts) == pytest.approx(np.sqrt(np.mean(np.square(off))) / series.std())
    assert tasks.nrmse84(Constant(), np.tile([0.0, 1.0], 100), [10, 11]) == 0.0  # a period that divides 84
    for bad in ([], [0], [317], [1.5]):
        with pytest.raises((ValueError, TypeError), match="starts"):
            tasks.nrmse84(Constant(), series, bad)
    with pytest.raises(ValueError, match="vary"):
        tasks.nrmse84(Constant(), np.ones(200), [10])


def test_nrmse():
    true = np.array([1.0, 2.0, 3.0, 6.0])
    assert tasks.nrmse(true, true) == 0.0
    assert tasks.nrmse(true, np.full(4, true.mean())) == pytest.approx(1.0)
    assert tasks.nrmse(true, true + 0.5) == pytest.approx(0.5 / true.std())
    both = np.column_stack([true, 10 * true])
    off = both + [0.5, 0.0]
    assert tasks.nrmse(both, off) == pytest.approx(np.sqrt(0.25 / (101 * true.var())))
    # the paper's 0.021 over the 300 test points
    test = tasks.superimposed_sines()[700:]
    assert tasks.nrmse(test, test + np.sqrt(0.021 / 300)) == pytest.approx(8.6e-3, abs=5e-5)


@pytest.mark.parametrize("true, predicted", [([1.0, 2.0], [1.0]), ([], []), ([3.0, 3.0], [3.0, 1.0]),
                                             ([[1.0], [2.0]], [1.0, 2.0])])  # fmt: skip
def test_refused_scores(true, predicted):
    with pytest.raises(ValueError, match=r"^true "):
        tasks.nrmse(true, predicted)


@pytest.mark.parametrize("n_waves, limit", [(2, 1e-12), (5, 1e-11), (8, 1e-10)])
def test_a_linear_window_is_exact_on_sines(n_waves, limit):
    y = tasks.superimposed_sines(n_waves)
    values = tasks.linear_window(y, 400, 300)
    assert values.shape == (300,)
    assert tasks.nrmse(y[400:700], values) < limit


def test_a_linear_window_by_hand():
    y = np.random.default_rng(0).normal(size=40)
    rows = np.array([y[t - 3 : t] for t in range(3, 30)])
    weights = np.linalg.pinv(rows) @ y[3:30]
    known = y[:30].tolist()
    for _ in range(10):
        known.append(float(np.dot(known[-3:], weights)))
    np.testing.assert_allclose(tasks.linear_window(y, 30, 10, order=3), known[30:], atol=1e-12)
    np.testing.assert_array_equal(tasks.linear_window(y[:30], 30, 10, order=3), tasks.linear_window(y, 30, 10, order=3))
    assert tasks.linear_window(y, 30, 0, order=3).shape == (0,)


@pytest.mark.parametrize(
    "arguments",
    [(np.zeros((5, 2)), 5, 1, 2), ([1.0, np.nan, 2.0], 3, 1, 1), (np.zeros(50), 40, 1), (np.zeros(50), 51, 1),
     (np.zeros(50), 45, -1), (np.zeros(50), 45, 1, 0)],
)  # fmt: skip
def test_refused_windows(arguments):
    with pytest.raises(ValueError, match=r"^(series|n_train|n_test|order) must be"):
        tasks.linear_window(*arguments)


@pytest.mark.parametrize("start", [np.nan, 1j, np.inf, 1e300, True, "x", None, 10**30, [1, 2], {}])
def test_sines_need_a_number_to_start_from(start):
    with pytest.raises((ValueError, TypeError), match=r"^start must be"):
        tasks.superimposed_sines(2, 5, start)


@pytest.mark.parametrize(
    "name, value",
    [
        *[(name, value) for name in ("tau", "step") for value in ("x", None, [], {}, 1j, 1e300, 10**30, np.zeros(2))],
        *[("random_state", value) for value in (-1, 1.5, np.nan, "x", {}, 1j, np.float32(1.0))],
        *[(name, value) for name in ("n_steps", "n_discard") for value in (10**30, 10**8, 1.5, None)],
        ("step", 1e-300), ("step", 5e-324), ("step", 1e-9),
    ],
)  # fmt: skip
def test_mackey_glass_names_what_makes_no_sense(name, value):
    with pytest.raises((ValueError, TypeError), match=name):
        tasks.mackey_glass(**({"n_steps": 5} | {name: value}))


@pytest.mark.parametrize("n", ["", "12", b"1", {}, {1: 2}, 1.5, None, 10**30, 10**5, [10**8], [10**30], np.array(2)])
def test_strings_are_asked_for_by_numbers_that_fit_in_memory(n):
    with pytest.raises((ValueError, TypeError), match=r"^n(\[0\])? must"):
        tasks.anbncn(n)


@pytest.mark.parametrize("test_max", [0, -1, 1.5, "x", None, True, 10**30])
def test_accepted_names_test_max(test_max):
    with pytest.raises((ValueError, TypeError), match=r"^test_max must be"):
        tasks.anbncn_accepted(None, test_max)
    with pytest.raises((ValueError, TypeError), match=r"^test_max must be"):
        tasks.anbncn_margins(None, test_max)


@pytest.mark.parametrize("call", [tasks.anbncn_accepted, tasks.anbncn_accepts, tasks.anbncn_margins])
def test_accepted_names_what_is_no_model(call):
    with pytest.raises(TypeError, match=r"^model must have the method \w+, got 3"):
        call(3, 5)


@pytest.mark.parametrize("bad", ["x", ["a", "b"], {}, 1j, [1.0, np.nan], [1.0, np.inf], [[1], [1, 2]]])
def test_scores_and_windows_name_what_holds_no_numbers(bad):
    with pytest.raises((ValueError, TypeError), match=r"^true "):
        tasks.nrmse(bad, [1.0, 2.0])
    with pytest.raises((ValueError, TypeError), match=r"^predicted "):
        tasks.nrmse([1.0, 2.0], bad)
    with pytest.raises((ValueError, TypeError), match=r"^series "):
        tasks.linear_window(bad, 50, 5)


def test_steps_in_single_precision():
    expected = tasks.mackey_glass(5, 17.0, step=0.1)
    np.testing.assert_array_equal(tasks.mackey_glass(5, np.float32(17.0), step=np.float32(0.1)), expected)
    np.testing.assert_array_equal(tasks.superimposed_sines(2, 3, np.float16(1.0)), tasks.superimposed_sines(2, 3, 1))

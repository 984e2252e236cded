import numpy as np
import pytest

from evoke import tasks

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
    monkeypatch.setattr(tasks, "ROWS_AT_ONCE", rows_at_once)

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


@pytest.mark.parametrize("rows_at_once", [1, 4, 10, 11, 12, 31, 50])
def test_batches_hold_every_string_once_and_few_rows(monkeypatch, rows_at_once):
    monkeypatch.setattr(tasks, "ROWS_AT_ONCE", rows_at_once)
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
    monkeypatch.setattr(tasks, "ROWS_AT_ONCE", rows_at_once)
    reader = Reader()
    assert tasks.anbncn_accepts(reader, 10)
    np.testing.assert_array_equal(np.concatenate(reader.pieces), tasks.anbncn([10])[0][0])
    assert all(1 <= len(piece) <= rows_at_once for piece in reader.pieces)


@pytest.mark.parametrize("step", range(31))
@pytest.mark.parametrize("output", range(4))
def test_a_single_string_is_rejected_at_any_error(monkeypatch, step, output):
    monkeypatch.setattr(tasks, "ROWS_AT_ONCE", 7)
    reader = Reader((step, output))
    assert not tasks.anbncn_accepts(reader, 10)
    assert len(reader.pieces) == step // 7 + 1  # and nothing is read behind the error


def test_a_huge_single_string():
    reader = Reader()
    n = 50_000
    assert tasks.anbncn_accepts(reader, n)
    assert len(reader.pieces) > 1
    assert sum(map(len, reader.pieces)) == 3 * n + 1
    assert not tasks.anbncn_accepts(Reader((3 * n, 3)), n)

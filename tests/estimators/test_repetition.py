"""What is skipped is what would have been read, to the last bit."""

import numpy as np
import pytest

from evoke import EvokeClassifier, tasks
from evoke._core.lstm import Network
from evoke.estimators import repetition
from evoke.exceptions import ParameterError
from evoke.reproduce import PRESETS

UNITS = 2.0 * np.eye(4) - 1.0


@pytest.fixture(scope="module", params=range(4))
def model(request):
    return EvokeClassifier(**PRESETS["tuned"] | {"n_generations": 25}, random_state=request.param).fit(
        *tasks.anbncn(10)
    )


def both(model, parts):
    """Decisions and states, skipped and step by step."""
    skipping, slow = model.stream(), model.stream()
    n_read = 0
    for x, times in parts:
        found = list(skipping.repeat(x, times))
        n_read += sum(len(values) for values, _ in found)
        signs = np.concatenate([np.tile(values, (count, 1)) for values, count in found]) > 0
        np.testing.assert_array_equal(signs, slow.decision_function(np.tile(x, (times, 1))) > 0)
        a, b = skipping.transform(UNITS[:1]), slow.transform(UNITS[:1])
        np.testing.assert_array_equal(a.view(np.int64), b.view(np.int64))
    return n_read


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 70, 1000, 20011])
def test_a_letter_many_times(model, n):
    both(model, [(UNITS[k : k + 1], n) for k in (1, 2, 3, 1)])


@pytest.mark.parametrize("period", [(1, 2), (1, 2, 3), (3, 1, 1, 2)])
def test_a_period_of_several_letters(model, period):
    both(model, [(UNITS[list(period)], 3000), (UNITS[1:2], 500)])


def test_most_of_it_is_skipped():
    model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))
    assert both(model, [(UNITS[k : k + 1], 30_000) for k in (1, 2, 3)]) < 3000


def made(genome, gate_bias=(1000.0, 1000.0, 1000.0)):
    """States of a network that counts by what its genome says, skipped and step by step."""
    return [Network(np.array(genome), "lstm", gate_bias)]


def walk(networks, rows, times, skip, monkeypatch, start=0.0):
    if not skip:
        monkeypatch.setattr(repetition, "LONGEST_CYCLE", 0)
    states = [np.zeros((1, 2, n.n_cells)) for n in networks]
    states[0][0, 0] = start
    found = list(repetition.read_repeatedly(networks, states, rows, times, lambda phi, radius: True))
    monkeypatch.undo()
    return states[0], sum(len(phi) for phi, _ in found), sum(len(phi) * count for phi, count in found)


@pytest.mark.parametrize("z", [0.3, 1.0, -2.0, 1e-3, 20.0, 1e-200, 1e-40, -3e-150])
@pytest.mark.parametrize("start", [0.0, 50.0, -1234.5, 2.0**30 - 777.25, 1e-120])
def test_any_increment(z, start, monkeypatch):
    networks = made([[z, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    rows = np.ones((1, 1))
    fast, n_read, n = walk(networks, rows, 20_000, True, monkeypatch, start)
    slow, n_slow, n_all = walk(networks, rows, 20_000, False, monkeypatch, start)
    np.testing.assert_array_equal(fast.view(np.int64), slow.view(np.int64))
    assert n == n_all == n_slow == 20_000
    assert n_read <= n


def test_a_leak_is_never_skipped(monkeypatch):
    networks = made([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]], (1000.0, 36.0, 1000.0))
    fast, n_read, _ = walk(networks, np.ones((1, 1)), 5000, True, monkeypatch, 2.0**45)
    slow, _, _ = walk(networks, np.ones((1, 1)), 5000, False, monkeypatch, 2.0**45)
    np.testing.assert_array_equal(fast, slow)


def test_several_cells_and_letters(monkeypatch):
    rng = np.random.default_rng(0)
    n_skipped = 0
    for _ in range(150):
        H, P = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        genome = rng.normal(0, 300.0, (H, 4 * (2 + H))) * (rng.random((H, 4 * (2 + H))) < 0.7)
        rows = rng.choice([-1.0, 1.0], (P, 2))
        networks = made(genome, (0.0, 1.5, -1.5))
        start = rng.choice([0.0, 100.0, -3000.0, 1e-90], H)
        fast, n_read, n = walk(networks, rows, 2000, True, monkeypatch, start)
        slow, _, _ = walk(networks, rows, 2000, False, monkeypatch, start)
        np.testing.assert_array_equal(fast.view(np.int64), slow.view(np.int64))
        n_skipped += n_read < n
    assert n_skipped > 50


@pytest.mark.parametrize("times", [0, -1, 1.5, None, 2**53 + 1])
def test_bad_times(model, times):
    with pytest.raises(ParameterError, match=r"^times must"):
        model.stream().repeat(UNITS[:1], times)


def test_models_of_several_kinds_give_all_steps():
    X, y = tasks.anbncn(4)
    scaled = {"scale": "standard", "readout": "landmarks"}
    for extra in ({"kernel": "linear"}, scaled, {"readout": "lssvm"}, {"cell": "evolino"}):
        model = EvokeClassifier(**extra, n_generations=2, random_state=0).fit(X, y)
        both(model, [(UNITS[1:2], 200), (UNITS[1:3], 150)])

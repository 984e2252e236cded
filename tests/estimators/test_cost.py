"""The cost of a fit is known before it begins, and what does not fit into memory is refused."""

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.estimators import cost
from evoke.estimators.cost import in_bytes

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(900, 2)), RNG.normal(size=900)
SEQUENCES, LABELS = RNG.normal(size=(40, 12, 1)), np.arange(40) % 2


@pytest.mark.parametrize(
    ("estimator", "data", "n_networks", "matrix"),
    [
        (EvokeRegressor(readout="lssvm", C=1.0, gamma=1.0), (X, y), 10_000, 8 * 450**2),
        (EvokeRegressor(readout="svm", C=1.0, gamma=1.0), (X, y), 10_000, 2 * 8 * 450**2),
        (EvokeRegressor(readout="lssvm", C=1.0, gamma=1.0, refit=True), (X, y), 10_000, 8 * 900**2),
        (EvokeRegressor(readout="pinv", n_generations=3), (X, y), 600, 0),
        (EvokeRegressor(readout="landmarks"), (X, y), 2_400, 0),
        (EvokeClassifier(), (SEQUENCES, LABELS), 800, 4 * 8 * 40**2),
        (EvokeClassifier(validation="loo", n_generations=1), ([X[:450], X[450:]], [y[:450] > 0, y[450:] > 0]), 200,
         4 * 8 * 900**2),
    ],
)  # fmt: skip
def test_networks_bytes_and_seconds(estimator, data, n_networks, matrix):
    found = estimator.estimate_cost(*data)
    assert found.n_networks == n_networks
    assert matrix < found.memory < matrix + 2**30
    assert 0.0 < found.seconds < 3600.0
    assert str(n_networks) in str(found)
    assert not hasattr(estimator, "fitted_")


def test_memory_of_a_machine_on_landmarks():
    """That of the features of chosen steps, and no more of a step than its target, weight and numbers."""
    X = np.zeros((200_000, 50), dtype=np.float32)
    X[::2] = 1.0
    y = np.arange(len(X), dtype=np.float64)
    found = EvokeRegressor(n_cells=2, n_networks=4).estimate_cost(X, y)
    assert 8 * 70_000 * 8 < found.memory < 8 * 70_000 * 8 * 2 + 64 * len(X) + 2**26
    many = EvokeClassifier(n_networks=4).estimate_cost(np.zeros((4000, 3, 1)), np.arange(4000) % 2)
    assert 4000 * 4 * 3 * 7 * 8 < many.memory < 2**30


def test_what_does_not_fit_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(cost, "available", lambda: 2.0**20)
    evaluated = []
    for estimator, data in (
        (EvokeRegressor(readout="lssvm", C=1.0, gamma=1.0, callbacks=[lambda *_: evaluated.append(1)]), (X, y)),
        (EvokeForecaster(readout="lssvm", n_generations=1), (y,)),
    ):
        with pytest.raises(MemoryError, match=r"this fit will take about .* MiB of memory, and 1 MiB are available"):
            estimator.fit(*data)
    assert not evaluated
    assert np.isnan(EvokeRegressor(readout="lssvm", C=1.0, gamma=1.0).estimate_cost(X, y).seconds)


@pytest.mark.parametrize(("n", "text"), [(0, "0 bytes"), (1536, "1.5 KiB"), (3 * 2**30, "3 GiB"), (2**45, "32 TiB")])
def test_bytes_for_people(n, text):
    assert in_bytes(n) == text

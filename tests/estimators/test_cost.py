"""The cost of a fit is known before it begins, and what does not fit into memory is refused."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.estimators import base, cost, landmark_fit
from evoke.estimators.cost import in_bytes
from evoke.evolution.run import evolve
from evoke.exceptions import ParameterError

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
        with pytest.raises(MemoryError, match=r"this fit to 900 steps will take about .* MiB of memory, and 1 MiB are"):
            estimator.fit(*data)
    assert not evaluated
    assert np.isnan(EvokeRegressor(readout="lssvm", C=1.0, gamma=1.0).estimate_cost(X, y).seconds)


SMALL = {"n_generations": 1, "subpopulation_size": 4, "random_state": 0}
LEAST_SQUARES = {"readout": "lssvm", "C": 1.0, "gamma": 1.0, "n_trials": 1, **SMALL}


@pytest.mark.parametrize(("estimator", "data", "n"), [
    (EvokeRegressor(**LEAST_SQUARES), (X, y), 900),
    (EvokeRegressor(**LEAST_SQUARES, validation=KFold(2)), (X, y), 900),
    (EvokeForecaster(**LEAST_SQUARES), (y,), 900),
    (EvokeClassifier(**SMALL), (SEQUENCES, LABELS), 480),
    (EvokeClassifier(validation="loo", **SMALL), ([X[:150], X[150:300]], [y[:150] > 0, y[150:300] > 0]), 300),
    (EvokeRegressor(readout="landmarks", **SMALL), (X, y), 900),
])  # fmt: skip
def test_a_limit_of_memory_is_kept_or_refused_before_any_work(estimator, data, n):
    evaluated = []
    estimator = clone(estimator).set_params(max_memory=40_000, callbacks=[lambda *_: evaluated.append(1)])
    refused = rf"this fit to {n:,} steps will take about .* of memory, and max_memory is 39.1 KiB; use"
    with pytest.raises(MemoryError, match=refused):
        estimator.fit(*data)
    assert not evaluated
    limited = estimator.set_params(max_memory=2**30).fit(*data)
    np.testing.assert_array_equal(limited.genome_, estimator.set_params(max_memory=None).fit(*data).genome_)


def test_fewer_threads_work_where_all_would_take_too_much(monkeypatch):
    model = EvokeRegressor(**LEAST_SQUARES, n_cells=2)
    alone, both = (model.set_params(n_jobs=n).estimate_cost(X, y).memory for n in (1, 2))
    seen = []
    monkeypatch.setattr(base, "evolve", lambda run, n_jobs, **more: (seen.append(n_jobs), evolve(run, **more)))
    for limit, jobs in ((both, 2), (both - 1, 1), (alone, 1), (None, 2)):
        model.set_params(max_memory=limit).fit(X, y)
        assert seen.pop() == jobs
    with pytest.raises(MemoryError, match="max_memory"):
        model.set_params(max_memory=alone - 1).fit(X, y)


def test_fewer_rows_choose_a_machine_where_memory_is_small(monkeypatch):
    kept = []

    def noted(self):
        kept.append([len(rows) for rows in chosen_rows(self)])
        return chosen_rows(self)

    chosen_rows = landmark_fit._Fit._chosen_rows
    monkeypatch.setattr(landmark_fit._Fit, "_chosen_rows", noted)
    model = EvokeRegressor(readout="landmarks", n_landmarks=4, n_cells=20, **SMALL | {"subpopulation_size": 40})
    estimates = []
    long, sums = np.tile(X, (30, 1)), np.tile(y, 30)
    for limit in (None, 2**31, 2**29, 450_000_000):
        model.set_params(max_memory=limit)
        estimates.append(model.estimate_cost(long, sums).memory)
        assert limit is None or estimates[-1] <= limit
        model.fit(long, sums)
    assert kept[0] == kept[1] > kept[2] > kept[3]
    assert estimates[0] == estimates[1] > estimates[2] > estimates[3]


@pytest.mark.parametrize("value", [0, 1.5, "2GB", True])
def test_a_limit_is_a_number_of_bytes(value):
    with pytest.raises(ParameterError, match="max_memory must be None or an integer from 1"):
        EvokeRegressor(max_memory=value).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "data"),
    [
        ({}, (y[:200].cumsum(),)),
        ({"n_networks": 8, "difference": ()}, (X, X)),
        ({"readout": "landmarks", "n_landmarks": 200}, (y.cumsum(),)),
        ({"season": 60, "n_networks": 8, "difference": ()}, (y.cumsum(),)),
        ({"readout": "ridge", "n_networks": 8}, (np.concatenate([y] * 20).cumsum(),)),  # in blocks of steps
    ],
)
@pytest.mark.filterwarnings("ignore:the forecast leaves")
def test_memory_of_rolling_origins(parameters, data):
    model = EvokeForecaster(**parameters, random_state=0)
    cost = model.estimate_cost(*data)
    assert cost.n_networks == parameters.get("n_networks", 4 if "readout" in parameters else 40)
    assert str(cost).startswith(f"{cost.n_networks} networks, ") and str(cost).endswith("iB")
    assert np.isnan(cost.seconds) and not hasattr(model, "fitted_")
    tracemalloc.start()
    try:
        model.fit(*data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.8 * peak < cost.memory < 3.0 * peak + 2**23


def test_memory_hardly_grows_with_the_steps_of_a_series():
    few, many = (EvokeForecaster().estimate_cost(np.zeros(n)).memory for n in (10**5, 10**6))
    assert many < few + 16 * 8 * 10**6 < 2**30


def test_a_forecast_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(cost, "available", lambda: 2.0**20)
    monkeypatch.setattr("evoke.forecasting.model.RollingModel.fit", None)
    with pytest.raises(MemoryError, match=r"this fit to 900 steps will take .* MiB of memory, and 1 MiB are available"):
        EvokeForecaster().fit(y)
    monkeypatch.undo()
    with pytest.raises(MemoryError, match=r"this fit to 900 steps will take .*, and max_memory is 2 MiB; use"):
        EvokeForecaster(max_memory=2**21).fit(y)


@pytest.mark.parametrize(("n", "text"), [(0, "0 bytes"), (1536, "1.5 KiB"), (3 * 2**30, "3 GiB"), (2**45, "32 TiB")])
def test_bytes_for_people(n, text):
    assert in_bytes(n) == text

"""Parameters of the estimators that no memory or number could hold are refused before any work."""

from fractions import Fraction

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke._validation.parameters import check_gate_bias, check_not_negative, check_positive

SERIES = np.sin(np.arange(40.0))
SEQUENCES, LABELS = [np.ones((3, 1)), np.zeros((4, 1)), np.ones((5, 1)), np.zeros((2, 1))], [0, 1, 0, 1]


def fit(estimator, **parameters):
    if estimator is EvokeForecaster:
        return estimator(**parameters).fit(SERIES)
    return estimator(**parameters).fit(SEQUENCES, LABELS)


@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeForecaster, EvokeRegressor])
@pytest.mark.parametrize(
    "name, value",
    [
        *[(name, 10**6 + 1) for name in ("n_cells", "subpopulation_size", "n_trials")],
        ("n_generations", 10**9 + 1),
        *[(name, 10**30) for name in ("n_cells", "subpopulation_size", "n_trials", "n_generations")],
        *[(name, 1e308) for name in ("weight_range", "mutation_scale", "burst_scale")],
        *[(name, 10**400) for name in ("weight_range", "mutation_scale", "burst_scale", "C", "gamma", "tol")],
        ("n_cells", 20_000), ("gate_bias", (0.0, 10**400, 0.0)),
    ],
)  # fmt: skip
def test_what_is_too_large_is_refused_by_name(estimator, name, value):
    # what is possible, but not in this memory, is refused with what helps
    error, match = (ValueError, name) if value != 20_000 else ((ValueError, MemoryError), "n_cells|fewer .*cells")
    with pytest.raises(error, match=match):
        fit(estimator, **{name: value})


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), Fraction(1, 2)])
def test_real_numbers_of_any_type(value):
    assert check_positive("C", value) == check_not_negative("epsilon", value) == 0.5
    assert check_gate_bias([value, 0, value]) == (0.5, 0.0, 0.5)


@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeForecaster, EvokeRegressor])
@pytest.mark.parametrize("name", ["verbose", "warm_start", "refit"])
@pytest.mark.parametrize("value", [np.ones(2), "x", None, 1.5])
def test_flags_are_named(estimator, name, value):
    with pytest.raises(ValueError, match=name):
        fit(estimator, **{name: value})


@pytest.mark.parametrize("name", ["warm_start", "refit"])
def test_flags_are_true_or_false(name):
    with pytest.raises(ValueError, match=f"^{name} must be True or False, got 2$"):
        fit(EvokeClassifier, **{name: 2})


def test_horizons_beyond_all_memory():
    small = {"n_cells": 1, "subpopulation_size": 2, "n_trials": 1, "n_generations": 1, "random_state": 0}
    model = fit(EvokeForecaster, **small)
    for n_steps in (10**9 + 1, 10**30):
        with pytest.raises(ValueError, match=r"^n_steps must be at most"):
            model.generate(n_steps)
    for fh in (10**9 + 1, [1, 10**12], 10**30, [[1], [1, 2]]):
        with pytest.raises(ValueError, match=r"^fh(\[[01]\])? must be "):
            model.predict(fh)


def test_a_readout_that_is_listed_but_not_made_is_not_taken_for_another(monkeypatch):
    monkeypatch.setattr(EvokeClassifier, "_readouts", ("svm", "lasso"))
    with pytest.raises(ValueError, match="the estimators make no readout 'lasso'"):
        fit(EvokeClassifier, readout="lasso")

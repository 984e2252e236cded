"""Evolution in single precision: what it changes, and what stays in double."""

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeRegressor, load
from evoke.evolution.problem import in_precision
from evoke.exceptions import ParameterError
from evoke.lstm import forward

SMALL = {"n_cells": 3, "n_generations": 3, "subpopulation_size": 4, "n_trials": 2, "random_state": 0}


def data(per_step, kind):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 2)) for length in rng.integers(5, 12, 24)]
    values = [np.cumsum(x[:, 0]) for x in X]
    if kind is EvokeClassifier:
        values = [(value > 0).astype(int) for value in values]
    return X, values if per_step else np.array([value[-1] for value in values])


CASES = [
    pytest.param(kind, per_step, own, id=f"{kind.__name__}-{'steps' if per_step else 'sequences'}-{own}")
    for kind in (EvokeClassifier, EvokeRegressor)
    for per_step, own in [
        (False, {}), (True, {}), (True, {"validation": "loo"}), (True, {"C": "evolve"}),
        (True, {"readout": "landmarks"}),
    ]
]


@pytest.mark.parametrize("kind, per_step, own", CASES)
def test_networks_are_judged_in_single_precision_and_the_model_is_in_double(kind, per_step, own, tmp_path):
    X, y = data(per_step, kind)
    double, single = (kind(**SMALL, **own, dtype=dtype).fit(X, y) for dtype in ("float64", "float32"))
    again = kind(**SMALL, **own, dtype="float32", n_jobs=2).fit(X, y)
    # the same first network, whose errors differ in their last digits
    assert single.history_[0]["best_fitness"] == pytest.approx(double.history_[0]["best_fitness"], rel=1e-3)
    assert single.fitted_.run.digest != double.fitted_.run.digest
    assert single.best_fitness_ == again.best_fitness_
    np.testing.assert_array_equal(single.genome_, again.genome_)
    assert single.genome_.dtype == np.float64
    predicted = np.concatenate(single.predict(X), axis=None)
    np.testing.assert_array_equal(predicted, np.concatenate(again.predict(X), axis=None))
    single.save(tmp_path / "model.evk")
    loaded = load(tmp_path / "model.evk")
    assert loaded.dtype == "float32"
    np.testing.assert_array_equal(np.concatenate(loaded.predict(X), axis=None), predicted)


def test_transform_is_the_forward_pass_in_double():
    X, y = data(True, EvokeClassifier)
    model = EvokeClassifier(**SMALL, dtype="float32").fit(X, y)
    for phi, x in zip(model.transform(X), X, strict=True):
        np.testing.assert_array_equal(phi, forward(model.genome_, x, gate_bias=model.fitted_.network.gate_bias))


@pytest.mark.parametrize("value", ["float16", "double", None, np.float32, 32])
def test_any_other_precision_is_refused(value):
    X, y = data(True, EvokeClassifier)
    with pytest.raises(ParameterError, match="dtype"):
        EvokeClassifier(**SMALL, dtype=value).fit(X, y)


def test_weights_beyond_the_range_of_single_precision_have_no_finite_error():
    X, y = data(False, EvokeClassifier)
    model = EvokeClassifier(**SMALL).fit(X, y)
    networks = in_precision("float32", model.fitted_.network)
    assert networks.genome.dtype == np.float32 and np.isfinite(networks.genome).all()
    with pytest.raises(ValueError, match="no network had a finite error"):
        EvokeClassifier(**SMALL | {"n_generations": 1}, weight_range=1e100, dtype="float32").fit(X, y)


def test_wide_networks_from_end_to_end():
    rng = np.random.default_rng(1)
    X, y = [rng.normal(size=(4, 1000)) for _ in range(12)], np.arange(12) % 2
    for x, label in zip(X, y, strict=True):
        x[:, label] += 30.0
    small = {"n_cells": 100, "n_generations": 1, "subpopulation_size": 2, "n_trials": 1, "n_networks": 2}
    for dtype in ("float64", "float32"):
        model = EvokeClassifier(**small, random_state=0, dtype=dtype).fit(X, y)
        assert model.score(X, y) == 1.0

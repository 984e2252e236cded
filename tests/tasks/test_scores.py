"""Scores: those of scikit-learn, for values and weights of any size, and only for targets that can be compared."""

import datetime
import errno
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load, svm
from evoke.metrics import accuracy, r_squared
from evoke.sequences import from_frame

TINY = dict(n_cells=2, n_generations=1, subpopulation_size=2, n_trials=1, random_state=0)
RNG = np.random.default_rng(0)
X = [RNG.normal(size=(n, 2)) for n in (5, 7, 9, 4)]
VALUES = [x[:, 0] for x in X]
LABELS = [(x[:, 0] > 0).astype(int) for x in X]


@pytest.mark.parametrize("unit", [5e-324 * 2**60, 1e-300, 1e-160, 1.0, 1e160, 1e300, 1e307])
@pytest.mark.parametrize("shape", [(20,), (20, 3)])
def test_r_squared_in_any_unit(shape, unit):
    true = RNG.uniform(-1.0, 1.0, size=shape)
    predicted, weights = true + RNG.normal(scale=0.1, size=shape), RNG.uniform(size=20)
    expected = r2_score(true, predicted, sample_weight=weights)
    assert r_squared(true * unit, predicted * unit, weights) == pytest.approx(expected, rel=1e-9)
    assert r_squared(true * unit, predicted * unit, weights * 1e308) == pytest.approx(expected, rel=1e-9)
    assert r_squared(true, predicted, weights) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("value", [0.0, 1e-300, 3.0, -1.7e308])
def test_r_squared_of_what_does_not_vary(value):
    constant = np.full(5, value)
    assert r_squared(constant, constant) == 1.0
    assert r_squared(constant, np.append(constant[1:], 1e-200)) == 0.0


def test_r_squared_that_no_number_can_hold():
    assert r_squared(np.array([1e-200, -1e-200]), np.array([1e200, 0.0])) == -np.inf
    assert r_squared(np.array([-1.7e308, 1.7e308]), np.array([1.7e308, -1.7e308])) == -3.0


def test_weights_of_an_accuracy_may_be_huge():
    assert accuracy(np.array([True, True, False, True]), np.full(4, 1e308)) == 0.75


def test_scores_of_estimators_in_any_unit():
    regressor = EvokeRegressor(**TINY, readout="pinv")
    expected = regressor.fit(X, VALUES).score(X, VALUES)
    huge = [y * 2.0**500 for y in VALUES]
    assert regressor.fit(X, huge).score(X, huge) == pytest.approx(expected, rel=1e-6)
    series = np.sin(np.arange(30.0))
    forecaster = EvokeForecaster(**TINY).fit(series)
    assert np.isfinite(forecaster.score(series))
    assert -np.inf < forecaster.score(series * 1e160) < 1.0
    assert forecaster.score(series, sample_weight=np.full(30, 1e308)) == pytest.approx(forecaster.score(series))
    classifier = EvokeClassifier(**TINY).fit(X, LABELS)
    assert classifier.score(X, LABELS, sample_weight=np.full(4, 1e308)) == classifier.score(X, LABELS)


@pytest.mark.parametrize("machine", [svm.SVR(C=1.0), svm.LSSVR(C=1.0)])
def test_scores_of_machines(machine):
    rows, y = np.concatenate(X), np.concatenate(VALUES)
    machine.fit(rows, y)
    assert machine.score(rows, y) == pytest.approx(r2_score(y, machine.predict(rows)))
    assert machine.score(rows, y[:, None]) == machine.score(rows, pd.Series(y)) == machine.score(rows, y)
    weights = RNG.uniform(size=len(y))
    expected = r2_score(y, machine.predict(rows), sample_weight=weights)
    assert machine.score(rows, y, sample_weight=weights) == pytest.approx(expected)
    assert machine.score(rows, y * 1e300) == pytest.approx(1 - ((y**2).sum() / ((y - y.mean()) ** 2).sum()))
    with pytest.raises(ValueError, match=r"y has shape \(24,\), but X has 25 rows; each needs a target"):
        machine.score(rows, y[:-1])
    with pytest.raises(ValueError, match="y contains NaN"):
        machine.score(rows, np.where(y > 0, np.nan, y))
    pair = machine.fit(rows, np.column_stack([y, rows[:, 1]]))
    with pytest.raises(ValueError, match=r"y has shape \(25,\), but the predictions have shape \(25, 2\)"):
        pair.score(rows, y)


def test_labels_that_cannot_be_compared_are_not_scored():
    model = EvokeClassifier(**TINY).fit(X, LABELS)
    assert 0.0 <= model.score(X, [y + 7 for y in LABELS]) == 0.0  # labels that were not learned are wrong
    with pytest.raises(ValueError, match=r"y contains NaN: y\[1\] is nan at step 2"):
        model.score(X, [np.where((np.arange(len(y)) == 2) & (len(y) == 7), np.nan, y) for y in LABELS])
    with pytest.raises(ValueError, match="y has labels of dtype <U1, but the model has classes of dtype int64"):
        model.score(X, [np.full(len(y), "a") for y in LABELS])


def test_values_to_be_scored_must_be_numbers():
    model = EvokeRegressor(**TINY).fit(X, VALUES)
    with pytest.raises(ValueError, match=r"y contains NaN or infinity: y\[0\] is nan at step 0"):
        model.score(X, [y * np.nan for y in VALUES])
    with pytest.raises(ValueError, match=r"y must hold numbers, got dtype <U1: 'a' at y\[0\], step 0"):
        model.score(X, [np.full(len(y), "a") for y in VALUES])


def test_huge_values_of_several_outputs_are_no_infinity():
    with pytest.raises(ValueError, match="no network had a finite error: the data are too large"):
        EvokeRegressor(**TINY).fit(X, [np.full((len(x), 2), 1e308) * np.sign(x) for x in X])


def test_labels_without_an_order():
    with pytest.raises(ValueError, match=re.escape("y has labels that have no order, such as {'a'}")):
        EvokeClassifier(**TINY).fit(X, [{"a"}, {"b"}, {"a"}, {"b"}])
    days = [datetime.date(2020, 1, 1 + k % 2) for k in range(4)]
    assert list(EvokeClassifier(**TINY).fit(X, days).classes_) == days[:2]
    with pytest.raises(ValueError, match="y has 1 class, 'a'; at least two are needed"):
        EvokeClassifier(**TINY).fit(X, ["a"] * 4)


@pytest.mark.parametrize(
    "odd, got",
    [(None, "NoneType None"), (5, "int 5"), ({0: 1}, "dict {0: 1}"), (np.array(5), "shape ()")],
)
def test_what_is_no_container_is_named(odd, got):
    with pytest.raises(ValueError, match=re.escape(f"a 3-D array or a 2-D array, got {got}")):
        EvokeClassifier(**TINY).fit(odd, LABELS)


def test_what_an_iterator_gives_is_named():
    with pytest.raises(ValueError, match=re.escape("X[0] must be 2-D (steps, columns), got shape ()")):
        EvokeClassifier(**TINY).fit(iter("a"), LABELS)


@pytest.mark.parametrize("names", [(["s"], "y"), ("s", [["y"]]), ({}, None)])
def test_names_of_columns_that_are_none(names):
    frame = pd.DataFrame({"s": [1, 1, 2], "x": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    with pytest.raises(ValueError, match="sequence and target must be names of columns"):
        from_frame(frame, *names)


@pytest.mark.parametrize("path", [0, 5, True, None, b"model.evk", ["model.evk"]])
def test_paths_that_are_none(path):
    with pytest.raises(TypeError, match="path must be a path, got"):
        load(path)
    with pytest.raises(TypeError, match="path must be a path, got"):
        svm.SVC().fit(X[0], LABELS[0]).save(path)


def test_a_missing_folder_is_named_with_the_file(tmp_path):
    path = tmp_path / "missing" / "model.evk"
    with pytest.raises(FileNotFoundError) as caught:
        svm.SVC().fit(X[0], LABELS[0]).save(path)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(path))

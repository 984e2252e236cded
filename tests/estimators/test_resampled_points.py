"""Points of the sequences themselves, which the readout reads beside the pooled features of the networks."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import evoke
from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.callbacks import Checkpoint
from evoke.exceptions import ParameterError
from evoke.inspection import permutation_importance
from evoke.lstm import forward
from oracle import pooled as oracle

POOL = ("mean", "std")
LIMIT = 3.0
SETTINGS = {
    "n_cells": 2, "gate_bias": (0.0, 0.0, 0.0), "n_generations": 2, "subpopulation_size": 10, "pool": POOL,
    "n_networks": 3, "differences": False, "n_points": 5, "random_state": 0,
}  # fmt: skip


def ragged(n=20, seed=0, shortest=1):
    """Sequences of different lengths, whose value is where their first column begins."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(length, 2)) * (1.0, 5.0) + (0.0, 7.0) for length in shortest + np.arange(n) % 9]
    return X, np.array([x[0, 0] for x in X])


X, VALUES = ragged()
LABELS = (VALUES > 0).astype(int)
X_NEW, VALUES_NEW = ragged(seed=1)


def classifier(**settings):
    return EvokeClassifier(**(SETTINGS | settings)).fit(X, LABELS)


def points(X, n_points, washout=0):
    """So many points of each column of each sequence, by NumPy."""
    at = np.linspace(0.0, 1.0, n_points)
    rows = []
    for x in (np.asarray(x)[washout:] for x in X):
        steps = np.linspace(0.0, 1.0, len(x)) if len(x) > 1 else [0.0]
        rows.append(np.concatenate([np.interp(at, steps, column) for column in x.T]))
    return np.array(rows)


def limited(features, reference):
    """In deviations of the reference, and not beyond the limit."""
    deviation = reference.std(axis=0)
    inverse = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 1e-9)
    return np.clip((features - reference.mean(axis=0)) * inverse, -LIMIT, LIMIT)


@pytest.mark.parametrize("washout, n_points", [(0, 5), (0, 1), (0, 40), (2, 6)])
@pytest.mark.parametrize("scale", ["standard", None])
def test_the_readout_reads_the_points_beside_the_features_of_the_networks(washout, n_points, scale):
    X, _ = ragged(shortest=1 + washout)
    X_new, _ = ragged(seed=1, shortest=1 + washout)
    assert min(map(len, X)) == washout + 1
    settings = SETTINGS | {"washout": washout, "n_points": n_points, "scale": scale, "C": 10.0, "gamma": 0.01}
    model = EvokeClassifier(**settings).fit(X, LABELS)
    rows = np.concatenate(X)
    mean, deviation = (rows.mean(axis=0), rows.std(axis=0)) if scale else (0.0, 1.0)

    def read(X):
        inputs = [(x - mean) / deviation for x in X]
        with_bias = [np.hstack([x, np.ones((len(x), 1))]) for x in inputs]
        of_networks = [
            [oracle.pooled(phi[washout:], POOL) for phi in forward(genome, with_bias, gate_bias=(0.0, 0.0, 0.0))]
            for genome in model.genome_
        ]
        return np.hstack(of_networks), points(inputs, n_points, washout)

    (pooled, of_X), (new, of_new) = read(X), read(X_new)
    if scale:
        # all points together weigh as much as sqrt(3) of the three networks
        n_read = [np.count_nonzero(part.std(axis=0) > 1e-9) for part in (pooled, of_X)]
        weight = np.sqrt(n_read[0] / np.sqrt(3) / n_read[1])
        new, of_new = limited(new, pooled), weight * limited(of_new, of_X)
        pooled, of_X = limited(pooled, pooled), weight * limited(of_X, of_X)
        np.testing.assert_allclose(pooled.shape[1] / np.sqrt(3), weight**2 * n_read[1])
    A, B = np.hstack([pooled, of_X]), np.hstack([new, of_new])
    assert A.shape[1] == 3 * 2 * 2 + 2 * n_points

    def K(rows):
        return np.exp(-0.01 * ((rows[:, None] - A) ** 2).sum(axis=-1))

    targets = np.where(LABELS == 1, 1.0, -1.0)
    coef, bias = oracle.machine(K(A), targets, np.full(len(X), 0.1))
    np.testing.assert_allclose(model.readout_.support_vectors, A, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(X_new), K(B) @ coef + bias, rtol=1e-6, atol=1e-8)


def test_networks_are_judged_by_their_own_features():
    with_points, without = classifier(), classifier(n_points=0)
    np.testing.assert_array_equal(with_points.genome_, without.genome_)
    assert with_points.history_ == without.history_
    for found, expected in zip(with_points.transform(X_NEW), without.transform(X_NEW), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert with_points.get_feature_names_out().tolist() == without.get_feature_names_out().tolist()
    assert not np.array_equal(with_points.decision_function(X_NEW), without.decision_function(X_NEW))


def test_points_are_of_X_and_not_of_its_changes():
    model = classifier(differences=(1, 2))
    assert model.readout_.support_vectors.shape == (len(X), 3 * 2 * 2 + 5 * 2)
    np.testing.assert_array_equal(
        model.readout_.support_vectors[:, -10:] / model.fitted_.pooling.weight,
        classifier().readout_.support_vectors[:, -10:] / classifier().fitted_.pooling.weight,
    )


def test_units_do_not_matter():
    units, shift = np.array([1e-6, 1e3]), np.array([5.0, 1.7e9])
    X, _ = ragged(shortest=2)
    X = [x.round(3) for x in X]  # of which so large an offset leaves all
    X_new = [x.round(3) for x in X_NEW]
    expected = EvokeRegressor(**SETTINGS).fit(X, VALUES)
    found = EvokeRegressor(**SETTINGS).fit([x * units + shift * units for x in X], VALUES)
    np.testing.assert_allclose(
        found.predict([x * units + shift * units for x in X_new]), expected.predict(X_new), rtol=1e-6, atol=1e-6
    )
    found = EvokeRegressor(**SETTINGS).fit([x * units for x in X], VALUES)
    np.testing.assert_allclose(found.predict([x * units for x in X_new]), expected.predict(X_new), rtol=1e-9, atol=1e-9)


def test_a_column_that_does_not_vary_says_nothing():
    constant = [np.hstack([x, np.full((len(x), 1), 1.7e9)]) for x in X]
    changed = [np.hstack([x, np.full((len(x), 1), -3.0)]) for x in X]
    model = EvokeClassifier(**SETTINGS).fit(constant, LABELS)
    np.testing.assert_array_equal(model.decision_function(constant), model.decision_function(changed))
    nothing = [np.ones((3, 1))] * 6
    assert np.isfinite(EvokeRegressor(**SETTINGS).fit(nothing, np.arange(6.0)).predict(nothing)).all()


def test_they_help_where_a_value_at_one_step_counts():
    settings = SETTINGS | {"pool": ("std",), "n_generations": 1, "readout": "ridge"}
    X = np.random.default_rng(0).normal(size=(200, 30, 1))
    y = X[:, 7, 0]
    with_points, without = (
        EvokeRegressor(**(settings | {"n_points": n_points})).fit(X[:100], y[:100]).score(X[100:], y[100:])
        for n_points in (30, 0)
    )
    assert with_points > 0.99
    assert without < 0.2


@pytest.mark.parametrize("washout", [0, 3])
@pytest.mark.parametrize("differences", [False, (1, 4)])
def test_a_stream_says_what_the_model_says_of_the_sequence_so_far(washout, differences):
    X, _ = ragged(shortest=1 + washout)
    x = np.random.default_rng(2).normal(size=(23, 2))
    model = EvokeClassifier(**(SETTINGS | {"washout": washout, "differences": differences})).fit(X, LABELS)
    reader = model.stream()
    piecewise = np.concatenate([reader.decision_function(part) for part in np.split(x, [5, 6, 8])])
    for t in range(washout, len(x)):
        np.testing.assert_array_equal(piecewise[t], model.decision_function([x[: t + 1]])[0])
    reader.reset()
    np.testing.assert_array_equal(reader.decision_function(x), piecewise)
    reader.reset()
    assert [reader.step(row) for row in x] == model.classes_[(piecewise > 0).astype(int)].tolist()
    regressor = EvokeRegressor(**(SETTINGS | {"washout": washout})).fit(X, VALUES)
    np.testing.assert_array_equal(regressor.stream().predict(x)[-1], regressor.predict([x])[0])


@pytest.mark.parametrize("estimator, y", [(EvokeClassifier, LABELS), (EvokeRegressor, VALUES)])
@pytest.mark.parametrize("scale", ["standard", None])
def test_files_pickles_and_threads_give_the_same_bits(estimator, y, scale, tmp_path):
    model = estimator(**(SETTINGS | {"scale": scale})).fit(X, y)
    expected = model.predict(X_NEW)
    model.save(tmp_path / "model.evk")
    again = evoke.load(tmp_path / "model.evk")
    again.save(tmp_path / "again.evk")
    for other in (again, evoke.load(tmp_path / "again.evk"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X_NEW), expected)
        np.testing.assert_array_equal(other.stream().predict(X_NEW[8]), model.stream().predict(X_NEW[8]))
        assert other.get_params() == model.get_params()
    threads = estimator(**(SETTINGS | {"n_jobs": 2, "scale": scale})).fit(X, y)
    np.testing.assert_array_equal(threads.predict(X_NEW), expected)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X_NEW), expected)


def test_a_file_that_was_edited_is_refused(tmp_path):
    model = classifier()
    for name, value, message in (
        ("points", type(model.fitted_.pooling.points)(4, 2), "support_vectors must have shape"),
        ("weight", -1.0, "_points_weight must be a positive finite number, got -1.0"),
        ("mean", np.ones(2), "_pool_mean must have shape"),
    ):
        broken = pickle.loads(pickle.dumps(model))
        object.__setattr__(broken.fitted_.pooling, name, value)
        with pytest.raises(ValueError, match=message):
            broken.save(tmp_path / "model.evk")
    assert not list(tmp_path.iterdir())


def test_checkpoints_and_warm_starts(tmp_path):
    expected = classifier(n_generations=4).decision_function(X_NEW)
    callbacks = [Checkpoint(tmp_path / "run.evk", every=1)]
    classifier(n_generations=2, callbacks=callbacks)
    with pytest.raises(ValueError, match="of another fit: n_points=5 instead of 6"):
        classifier(n_generations=4, callbacks=callbacks, n_points=6)
    np.testing.assert_array_equal(classifier(n_generations=4, callbacks=callbacks).decision_function(X_NEW), expected)
    model = classifier(n_points=0, warm_start=True)
    model.set_params(n_points=5).fit(X, LABELS)  # the networks do not depend on it
    np.testing.assert_array_equal(model.decision_function(X_NEW), expected)


def test_decisions_on_sequences_that_were_left_out_are_by_machines_that_read_points():
    model = classifier(C=10.0, gamma=0.01)
    A = model.readout_.support_vectors
    K = np.exp(-0.01 * ((A[:, None] - A) ** 2).sum(axis=-1))
    expected = oracle.leave_one_out(K, np.where(LABELS == 1, 1.0, -1.0), np.full(len(X), 0.1))
    np.testing.assert_allclose(model.loo_decision_function_, expected, rtol=1e-6, atol=1e-8)


def test_importance():
    model = EvokeRegressor(**(SETTINGS | {"pool": ("std",), "n_points": 12})).fit(X * 3, np.tile(VALUES, 3))
    importance = permutation_importance(model, X, VALUES, random_state=0).importances_mean
    assert importance[0] > importance[1]


@pytest.mark.parametrize("estimator, y", [(EvokeClassifier, LABELS), (EvokeRegressor, VALUES)])
def test_what_it_cannot_be(estimator, y):
    for value in (-1, 2.5, "all", None):
        with pytest.raises(ParameterError, match="n_points must be an integer of at least 0"):
            estimator(n_points=value).fit(X, y)
    for other in ({"validation": "half"}, {"validation": 0.5}, {"readout": "svm"}):
        with pytest.raises(ParameterError, match=r"n_points=3 must come with validation='loo'(, got|: )"):
            estimator(n_points=3, **other).fit(X, y)
    steps = [np.arange(len(x)) % 2 for x in X]
    for validation in ("loo", "auto"):
        with pytest.raises(ValueError, match="n_points=3 is for whole sequences: y must have one target a sequence"):
            estimator(n_points=3, validation=validation).fit(X, steps)
    with pytest.raises(TypeError, match="n_points"):
        EvokeForecaster(n_points=3)

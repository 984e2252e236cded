"""Sequences whose steps have targets, left out one by one."""

import numpy as np
import pytest

import evoke
from evoke import EvokeClassifier, EvokeRegressor
from evoke.callbacks import Checkpoint
from evoke.exceptions import ParameterError
from oracle import evaluation
from oracle import pooled as oracle

TINY = {"n_cells": 3, "n_generations": 3, "subpopulation_size": 5, "n_trials": 2, "validation": "loo",
        "random_state": 0}  # fmt: skip


def data(seed=0, n=6):
    """Sequences of different lengths, two with a common beginning; labels and values that depend on the last steps."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(length), 2)) for length in rng.integers(3, 9, n)]
    X[1] = np.concatenate([X[0][:2], X[1]])
    return X, [(x[:, 0].cumsum() > 0).astype(int) for x in X], [x[:, 1].cumsum() for x in X]


X, LABELS, VALUES = data()
BLOCK = np.repeat(np.arange(len(X)), [len(x) for x in X])


def retrained(model, y, weights=None, washout=0):
    """Decisions on the steps of the fit by readouts without their sequence, by the book, and which steps count."""
    phi = np.concatenate(model.transform(X))
    counted = np.concatenate([np.arange(len(x)) >= washout for x in X])
    weights = np.ones(len(phi)) if weights is None else weights
    counted &= weights > 0
    phi, kernel = phi[counted], model.readout_.kernel
    K = phi @ phi.T
    if kernel.name == "rbf":
        K = np.exp(-kernel.gamma * (np.diag(K)[:, None] + np.diag(K) - 2 * K))
    return oracle.leave_out_blocks(K, y[counted], 1 / (model.C * weights[counted]), BLOCK[counted]), counted


@pytest.mark.parametrize("readout", [{"readout": "lssvm", "gamma": 0.3}, {"readout": "ridge"},
                                     {"readout": "lssvm", "kernel": "linear"}, {"gamma": 2.0}])  # fmt: skip
@pytest.mark.parametrize("washout", [0, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fitness_is_the_error_of_readouts_without_each_sequence(readout, washout, weighted):
    weights = np.random.default_rng(5).uniform(0.5, 2.0, len(BLOCK)) if weighted else np.ones(len(BLOCK))
    if weighted:
        weights[::4] = 0.0
    settings = TINY | readout | {"C": 10.0, "washout": washout}
    given = np.split(weights, np.flatnonzero(np.diff(BLOCK)) + 1)
    more = {"sample_weight": given} if weighted else {}
    y = np.where(np.concatenate(LABELS) == 1, 1.0, -1.0)
    for objective in "hinge", "squared", "count":
        model = EvokeClassifier(**settings, objective=objective).fit(X, LABELS, **more)
        decisions, counted = retrained(model, y, weights, washout)
        error = evaluation.error(objective, True, y[None, counted], decisions[None], weights[counted])
        np.testing.assert_allclose(model.best_fitness_, error, rtol=1e-8)
    values = np.concatenate(VALUES)
    model = EvokeRegressor(**settings).fit(X, VALUES, **more)
    decisions, counted = retrained(model, values, weights, washout)
    error = weights[counted] @ (values[counted] - decisions) ** 2
    np.testing.assert_allclose(model.best_fitness_, error, rtol=1e-8)
    assert all(record["train_error"] == 0 for record in model.history_)


@pytest.mark.parametrize("readout", ["lssvm", "ridge"])
def test_the_readout_is_trained_on_all_steps(readout):
    model = EvokeRegressor(**TINY, readout=readout, C=5.0, gamma=0.5).fit(X, VALUES)
    phi = np.concatenate(model.transform(X))
    K = phi @ phi.T
    if readout == "lssvm":
        K = np.exp(-0.5 * (np.diag(K)[:, None] + np.diag(K) - 2 * K))
    coef, bias = oracle.machine(K, np.concatenate(VALUES), np.full(len(phi), 0.2))
    np.testing.assert_allclose(np.concatenate(model.predict(X)), K @ coef + bias, rtol=1e-7, atol=1e-9)
    assert model.fitted_.pooling is None
    assert [len(answer) for answer in model.predict(X)] == [len(x) for x in X]


def test_C_and_gamma_are_found():
    model = EvokeRegressor(**TINY).fit(X, VALUES)
    stated = EvokeRegressor(**TINY, readout="lssvm", C="auto", gamma="auto").fit(X, VALUES)
    assert model.history_ == stated.history_
    assert model.get_params() == EvokeRegressor(**TINY).get_params()
    phi = np.concatenate(model.transform(X))
    found = []
    for width in 0.3, 1.0, 3.0:
        K = oracle.kernel_matrix(phi, "rbf", width)
        for C in 1.0, 10.0, 100.0, 1000.0:
            decisions = oracle.leave_out_blocks(K, np.concatenate(VALUES), np.full(len(phi), 1 / C), BLOCK)
            found.append(((np.concatenate(VALUES) - decisions) ** 2).sum())
    np.testing.assert_allclose(model.best_fitness_, min(found), rtol=1e-8)


def test_several_classes_and_outputs():
    three = [np.digitize(x[:, 0], [-0.5, 0.5]) for x in X]
    model = EvokeClassifier(**TINY).fit(X, three)
    assert {*np.concatenate(model.predict(X))} <= {0, 1, 2}
    several = [np.column_stack([x[:, 0] > 0, x[:, 1] > 0]).astype(int) for x in X]
    assert EvokeClassifier(**TINY).fit(X, several).predict(X)[0].shape == (len(X[0]), 2)
    # one of the classes is in a single sequence: when that is left out, nothing is known of it
    rare = [np.full(len(x), int(k == 3)) for k, x in enumerate(X)]
    assert EvokeClassifier(**TINY, objective="count").fit(X, rare).best_fitness_ >= len(X[3])


def test_threads_files_checkpoints_and_warm_starts_give_the_same_bits(tmp_path):
    expected = EvokeClassifier(**TINY | {"n_generations": 4}).fit(X, LABELS)
    answer = np.concatenate(expected.decision_function(X))
    expected.save(tmp_path / "model.evk")
    callbacks = [Checkpoint(tmp_path / "run.evk", every=1)]
    EvokeClassifier(**TINY | {"n_generations": 2}, callbacks=callbacks).fit(X, LABELS)
    warm = EvokeClassifier(**TINY | {"n_generations": 1}, warm_start=True).fit(X, LABELS)
    others = [
        evoke.load(tmp_path / "model.evk"), EvokeClassifier(**TINY | {"n_generations": 4}, n_jobs=2).fit(X, LABELS),
        EvokeClassifier(**TINY | {"n_generations": 4}, callbacks=callbacks).fit(X, LABELS),
        warm.set_params(n_generations=3).fit(X, LABELS),
    ]  # fmt: skip
    for other in others:
        np.testing.assert_array_equal(np.concatenate(other.decision_function(X)), answer)
        assert other.history_ == expected.history_
    other_X, other_labels, _ = data(1)
    warm.fit(other_X, other_labels)  # the best network is judged anew
    assert warm.n_evaluations_ == 70


def test_there_are_no_probabilities_of_steps():
    model = EvokeClassifier(**TINY).fit(X, LABELS)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "loo_decision_function_")


@pytest.mark.parametrize("estimator, y", [(EvokeClassifier, LABELS), (EvokeRegressor, VALUES)])
def test_what_cannot_be(estimator, y):
    message = "validation='loo' leaves out whole sequences, and X has n_samples=1 with a weight; of a single one"
    for X_, y_ in ((X[0], y[0]), ([X[0]], [y[0]]), (X[0][None], y[0][None])):
        with pytest.raises(ValueError, match=message):
            estimator(**TINY).fit(X_, y_)
    with pytest.raises(ValueError, match=message):
        estimator(**TINY).fit(X, y, sample_weight=np.eye(len(X))[0])
    with pytest.raises(ValueError, match="X_val and y_val have no part"):
        estimator(**TINY).fit(X, y, X_val=X, y_val=y)
    for name, value in {"pool": ("mean",), "n_networks": 2, "differences": True, "scale": "standard"}.items():
        with pytest.raises(ValueError, match=rf"{name}=.* is for whole sequences: y must have one target a sequence"):
            estimator(**TINY, **{name: value}).fit(X, y)
    for name, value in {"readout": "svm", "kernel": "poly", "C": "evolve", "gamma": "evolve"}.items():
        with pytest.raises(ParameterError, match=f"^{name} must be "):
            estimator(**TINY | {"readout": "lssvm", name: value}).fit(X, y)

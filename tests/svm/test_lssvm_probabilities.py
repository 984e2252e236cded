"""Probabilities of the least-squares classifier, from exact leave-one-out decisions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import estimator_checks_generator

import evoke
from evoke._core.loo import fit_gram
from evoke.svm import LSSVC
from helpers.machines import problem

KERNELS = [{"gamma": 0.5}, {"kernel": "linear"}, {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0}]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_of_machines_without_the_row(kernel, n_classes, weighted):
    X, y = problem(1, n=25, n_classes=n_classes)
    weights = np.random.default_rng(0).integers(0, 3, len(X)) + 1.0 * (np.arange(len(X)) < 20) if weighted else None
    model = LSSVC(C=3.0, probability=True, **kernel).fit(X, y, weights)
    used = np.ones(len(X)) if weights is None else weights
    for i in range(len(X)):
        without = np.where(np.arange(len(X)) == i, 0.0, used)
        expected = clone(model).set_params(probability=False).fit(X, y, without).decision_function(X[i : i + 1])[0]
        found = model.loo_decision_function_[i]
        assert_allclose(found, np.where(used[i] > 0.0, expected, np.nan), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_most_probable_class_is_that_of_predict(kernel, n_classes):
    X, y = problem(2, n=80, n_classes=n_classes)
    labels = np.array(["d", "a", "c", "b"])[y]
    model = LSSVC(C=10.0, probability=True, class_weight="balanced", **kernel).fit(X, labels)
    new = np.random.default_rng(1).normal(size=(500, 3))
    found = model.predict_proba(new)
    assert found.shape == (500, n_classes)
    assert_allclose(found.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(new))
    plain = LSSVC(C=10.0, class_weight="balanced", **kernel).fit(X, labels)
    assert_allclose(model.decision_function(new), plain.decision_function(new), rtol=1e-8, atol=1e-8)


def test_as_good_as_cross_validated_ones():
    """Log-loss on rows that were left out, beside scikit-learn's temperature of cross-validated decisions."""
    X, y = load_iris(return_X_y=True)
    X = X / X.std(axis=0)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:75], order[75:]
    ours = LSSVC(gamma=0.1, probability=True).fit(X[train], y[train])
    theirs = CalibratedClassifierCV(LSSVC(gamma=0.1), ensemble=False).fit(X[train], y[train])
    losses = [log_loss(y[test], model.predict_proba(X[test])) for model in (ours, theirs)]
    assert losses[0] < losses[1]


def test_only_where_asked_for():
    X, y = problem(3)
    model = LSSVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "loo_decision_function_")
    model.set_params(probability=True)
    with pytest.raises(NotFittedError, match=r"^predict_proba needs a fit with probability=True$"):
        model.predict_proba(X)
    model.fit(X, y)
    assert model.predict_proba(X).shape == (60, 2)
    assert not hasattr(model.set_params(probability=False).fit(X, y), "loo_decision_function_")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_files(n_classes, tmp_path):
    X, y = problem(4, n_classes=n_classes)
    weights = np.arange(60) % 7.0
    model = LSSVC(probability=True).fit(X, y, weights)
    model.save(tmp_path / "model.evk")
    again = evoke.load(tmp_path / "model.evk")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_array_equal(again.loo_decision_function_, model.loo_decision_function_)
    model.loo_decision_function_ = model.loo_decision_function_[:, np.newaxis]
    with pytest.raises(ValueError, match=r"loo_decision_function_ must have shape"):
        model.save(tmp_path / "model.evk")


def test_scikit_learn_checks():
    for estimator, check in estimator_checks_generator(LSSVC(probability=True)):
        # one weight of 2 leaves out two rows at once, and gamma='scale' is of the rows
        if check.func.__name__ != "check_sample_weight_equivalence_on_dense_data":
            check(estimator)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((3, 4), (1, 3), (3,)), r"gram must be square with at least one row, got shape \(3, 4\)"),
        (((0, 0), (1, 0), (0,)), r"gram must be square with at least one row, got shape \(0, 0\)"),
        (((3, 3), (0, 3), (3,)), r"targets must have shape \(n_outputs, 3\), got \(0, 3\)"),
        (((3, 3), (1, 2), (3,)), r"targets must have shape \(n_outputs, 3\), got \(1, 2\)"),
        (((3, 3), (1, 3), (4,)), r"ridge must have shape \(3,\), got \(4,\)"),
    ],
)
def test_shapes_that_do_not_fit(shapes, message):
    with pytest.raises(ValueError, match=message):
        fit_gram(*map(np.ones, shapes))


def test_a_matrix_that_is_not_positive_definite():
    assert fit_gram(-np.eye(3), np.ones((1, 3)), np.full(3, 0.5)) is None

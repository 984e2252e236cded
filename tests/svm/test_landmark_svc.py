"""Classes separated on landmarks: the minimum, the machine on all rows, weights, probabilities, files, limits."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import evoke
from evoke.svm import SVC, LandmarkLSSVC, LandmarkSVC, _chosen
from oracle import svm


def rings(seed, n=600, n_classes=2, noise=0.05):
    """Rows of the plane and which ring they lie in."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    radius = np.hypot(*X.T) + noise * rng.normal(size=n)
    return X, np.digitize(radius, np.linspace(0.0, 1.2, n_classes + 1)[1:-1])


def least(K, G, signs, weights, C):
    """The least squared hinge loss with its penalty, in coordinates in which the penalty is that of the length."""
    values, vectors = np.linalg.eigh(G)
    rows = np.hstack([K @ (vectors / np.sqrt(values)), np.ones((len(K), 1))])
    price = np.append(np.full(len(G), 1.0 / C), 0.0)

    def of(point):
        return weights @ np.maximum(1.0 - signs * (rows @ point), 0.0) ** 2 + price @ point**2

    point = np.zeros(len(price))
    for _ in range(1000):
        within = signs * (rows @ point) < 1.0
        system = rows[within].T @ (weights[within, np.newaxis] * rows[within]) + np.diag(price)
        step = np.linalg.solve(system, rows[within].T @ (weights * signs)[within]) - point
        parts = [part for part in 0.5 ** np.arange(40.0) if of(point + part * step) < of(point) * (1.0 - 1e-14)]
        if not parts:
            return of(point)
        point = point + parts[0] * step
    raise AssertionError("the oracle has not converged")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_each_class_has_the_minimum(n_classes, C):
    for seed in range(10):
        X, y = rings(seed, n_classes=n_classes)
        weights = np.random.default_rng(seed).uniform(0.2, 2.0, len(X))
        machine = LandmarkSVC(C=C, gamma=2.0, n_landmarks=20, class_weight={0: 2.0}, random_state=seed)
        model = machine.fit(X, y, weights)
        parameters, places = (model.kernel_.name, model.kernel_.gamma, 0.0, 1), model.support_vectors_
        K, G = svm.kernel(X, places, *parameters), svm.kernel(places, places, *parameters)
        all_weights = weights * np.where(y == 0, 2.0, 1.0)
        for k, coef in enumerate(model.dual_coef_):
            signs = np.where(y == (1 if n_classes == 2 else k), 1.0, -1.0)
            slack = np.maximum(1.0 - signs * (K @ coef + model.intercept_[k]), 0.0)
            reached = all_weights @ slack**2 + coef @ G @ coef / C
            # what a last step of at most 1e-4 may leave
            assert reached <= least(K, G, signs, all_weights, C) * 1.001
        assert model.fit_status_ == 0


def test_the_linear_form_is_that_of_scikit_learn():
    X, _ = rings(2)
    y = X @ [1.0, -2.0] + 0.3 * np.random.default_rng(2).normal(size=len(X)) > 0.2
    ours = LandmarkSVC(C=2.0, kernel="linear").fit(X, y)
    # with a price of ours of c'c / C where theirs is c'c / 2, and a constant that is all but free
    theirs = LinearSVC(C=2.0 / 2.0, dual=False, tol=1e-10, max_iter=100_000, intercept_scaling=1e3).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=0.01)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=0.01)


def test_where_classes_hardly_overlap_it_is_better_than_least_squares():
    X, y = rings(3, n=4000, n_classes=4, noise=0.01)
    rows, true = rings(4, n=4000, n_classes=4, noise=0.01)
    shared = {"n_landmarks": 60, "random_state": 0}
    squares, hinge = (machine(**shared).fit(X, y).score(rows, true) for machine in (LandmarkLSSVC, LandmarkSVC))
    exact = SVC(C=100.0, gamma=3.0).fit(X, y).score(rows, true)
    assert hinge > squares + 0.01
    assert hinge > exact - 0.01


def test_a_weight_of_two_is_the_row_twice():
    X, y = rings(5)
    twice = np.concatenate([np.arange(len(X)), np.flatnonzero(y == 1)])
    shared = {"C": 10.0, "kernel": "linear"}
    weighted = LandmarkSVC(**shared).fit(X, y, np.where(y == 1, 2.0, 1.0))
    assert_allclose(weighted.coef_, LandmarkSVC(**shared).fit(X[twice], y[twice]).coef_, rtol=1e-3, atol=1e-9)
    rows = [LandmarkSVC(gamma=1.0, C=1.0, n_landmarks=9).fit(X, y, (np.arange(600) % 2) * 1.0).support_]
    assert (rows[0] % 2 == 1).all()


def test_probabilities_are_calibrated():
    X, y = rings(6, n=3000, n_classes=3, noise=0.1)
    rows, true = rings(7, n=3000, n_classes=3, noise=0.1)
    model = LandmarkSVC(n_landmarks=50, probability=True, random_state=0).fit(X, y)
    found = model.predict_proba(rows)
    assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(rows))
    assert abs(found.max(axis=1).mean() - model.score(rows, true)) < 0.05


def test_files_and_copies(tmp_path):
    X, y = rings(8, n_classes=3)
    model = LandmarkSVC(n_landmarks=20, random_state=0, probability=True).fit(X, y)
    model.save(tmp_path / "model.evk")
    for again in evoke.load(tmp_path / "model.evk"), copy.deepcopy(model), pickle.loads(pickle.dumps(model)):
        assert again.get_params() == model.get_params()
        assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.fit_status_ == 0


def test_passes_that_are_too_few_are_said(monkeypatch):
    monkeypatch.setattr(_chosen, "PASSES", 2)
    X, y = rings(9, noise=0.01)
    with pytest.warns(ConvergenceWarning, match=r"stopped before its optimum, at C=100.0; scale X or lower C"):
        model = LandmarkSVC(C=100.0, gamma=2.0, n_landmarks=20, random_state=0).fit(X, y)
    assert model.fit_status_ == 1


def test_few_rows():
    for n in range(2, 9):
        X, y = np.arange(n)[:, None] * 1.0, np.arange(n) % 2
        model = LandmarkSVC(random_state=0).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()

"""Support vector machines: solutions and certificates, parity with scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as Reference

from evoke.svm import SVC, SVR, solve
from helpers.machines import CONSTANTS, both_solvers, boxes, problem
from oracle import svm as oracle

KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2},
}


def gram(model, X):
    gamma = {"auto": 1.0 / X.shape[1], "scale": 1.0 / (X.shape[1] * X.var())}.get(model.gamma, model.gamma)
    return oracle.kernel(X, X, model.kernel, gamma, model.coef0, model.degree)


def signed(model, n):
    """beta of a model of two classes over all rows."""
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


def objective(model, X, y):
    return oracle.dual_objective(gram(model, X), signed(model, len(X)), 2.0 * y - 1.0)


# --- solve ---


@pytest.mark.parametrize("name", KERNELS)
@both_solvers
def test_solution_and_certificate_agree_with_the_oracle(solver, name):
    parameters = {**CONSTANTS, **KERNELS[name]}
    X, y = problem(1)
    target, lower, upper = boxes(y, C=2.0)
    found = solve(X, target, lower, upper, epsilon=0.0, solver=solver, **parameters)
    beta, bias = found.beta[0], found.bias[0]
    assert found.solver == solver
    assert found.converged[0]
    assert (lower <= beta).all() and (beta <= upper).all()
    assert abs(beta.sum()) < 1e-12
    K = oracle.kernel(X, X, parameters["kernel"], parameters["gamma"], parameters["coef0"], parameters["degree"])
    assert_allclose(found.objective[0], oracle.dual_objective(K, beta, target), rtol=1e-12)
    assert_allclose(found.gap[0], oracle.duality_gap(K, beta, bias, target, lower, upper), atol=1e-11)
    assert_allclose(found.violation[0], oracle.violation(K, beta, target, lower, upper), atol=1e-12)
    assert_allclose(bias, oracle.bias(K, beta, target, lower, upper), atol=1e-12)
    assert found.violation[0] <= (1e-4 if solver == "native" else 1e-3)


@pytest.mark.parametrize("seed", range(20))
@both_solvers
def test_tiny_problems_reach_the_enumerated_optimum(solver, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, 2))
    y = np.array([0, 1, *rng.integers(0, 2, 3)])
    target, lower, upper = boxes(y, C=10.0 ** rng.uniform(-2, 2))
    found = solve(X, target, lower, upper, epsilon=0.0, solver=solver, **CONSTANTS)
    K = oracle.kernel(X, X, "rbf", 0.5)
    best = oracle.dual_objective(K, oracle.solve(K, target, lower, upper), target)
    assert best - found.gap[0] - 1e-9 <= found.objective[0] <= best + 1e-9


@both_solvers
def test_several_targets_equal_one_by_one(solver):
    X, y = problem(2, n_classes=3)
    parts = [boxes((y == k).astype(int)) for k in range(3)]
    together = solve(X, *map(np.array, zip(*parts, strict=True)), epsilon=0.0, solver=solver, **CONSTANTS)
    for k, part in enumerate(parts):
        alone = solve(X, *part, epsilon=0.0, solver=solver, **CONSTANTS)
        for name in ("beta", "bias", "gap", "objective", "violation", "n_iter", "converged"):
            assert_array_equal(getattr(together, name)[k], getattr(alone, name)[0])


@both_solvers
def test_a_target_of_one_class_only(solver):
    """All coefficients are zero and the constant is the label."""
    X, _ = problem(3)
    for label in (0, 1):
        found = solve(X, *boxes(np.full(len(X), label)), epsilon=0.0, solver=solver, **CONSTANTS)
        assert not found.beta.any()
        assert found.bias[0] == 2 * label - 1
        assert found.converged[0]


@both_solvers
def test_boxes_of_zero_width_take_no_part(solver):
    X, y = problem(4)
    target, lower, upper = boxes(y)
    keep = np.arange(len(X)) % 3 > 0
    found = solve(X, target, lower * keep, upper * keep, epsilon=0.0, solver=solver, **CONSTANTS)
    without = solve(X[keep], target[keep], lower[keep], upper[keep], epsilon=0.0, solver=solver, **CONSTANTS)
    assert not found.beta[0, ~keep].any()
    assert_allclose(found.beta[0, keep], without.beta[0], atol=1e-3)
    assert_allclose(found.objective, without.objective, rtol=1e-6)


@both_solvers
def test_regression(solver):
    X, _ = problem(5)
    target = np.sin(2.0 * X[:, 0])
    bound = np.full(len(X), 10.0)
    found = solve(X, target, -bound, bound, epsilon=0.05, solver=solver, **CONSTANTS)
    K = oracle.kernel(X, X, "rbf", 0.5)
    assert_allclose(
        found.gap[0], oracle.duality_gap(K, found.beta[0], found.bias[0], target, -bound, bound, 0.05), atol=1e-11
    )
    assert found.gap[0] <= 1e-3 * found.objective[0]
    assert np.abs(K @ found.beta[0] + found.bias[0] - target).max() < 0.06


@both_solvers
def test_constant_regression_target_has_no_support_vectors(solver):
    X, _ = problem(5)
    bound = np.ones(len(X))
    found = solve(X, np.full(len(X), 3.0), -bound, bound, epsilon=0.1, solver=solver, **CONSTANTS)
    assert not found.beta.any()
    assert found.bias[0] == 3.0


def test_little_memory_for_the_kernel_matrix():
    X, y = problem(6, n=600)
    found = [solve(X, *boxes(y), epsilon=0.0, solver="native", cache_size=m, **CONSTANTS) for m in (200, 0.02, 1e-9)]
    for other in found[1:]:
        assert other.converged[0]
        assert_allclose(other.objective, found[0].objective, rtol=1e-4)


def test_little_memory_leaves_room_for_newton_steps(recwarn):
    # without them SMO runs into max_iter here, whatever the kernel matrix
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1499, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=1499)
    little, much = (SVR(kernel="linear", C=1e3, cache_size=size).fit(X, y) for size in (0.01, 200))
    assert not recwarn.list
    assert_array_equal(little.n_iter_, much.n_iter_)
    assert_allclose(little.predict(X), much.predict(X), rtol=1e-9)


# --- parity with scikit-learn ---


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(0, 2**32), st.integers(4, 80), st.integers(1, 5), st.floats(-3, 4), st.floats(-2, 1))
def test_certified_and_not_worse_than_libsvm(seed, n, d, log_c, log_gamma):
    X, y = problem(seed, n, d)
    X = np.tanh(X)
    parameters = {"C": 10.0**log_c, "gamma": 10.0**log_gamma, "tol": 1e-4}
    ours, theirs = SVC(**parameters).fit(X, y), Reference(**parameters).fit(X, y)
    beta, target = signed(ours, n), 2.0 * y - 1.0
    _, lower, upper = boxes(y, parameters["C"])
    assert (lower <= beta).all() and (beta <= upper).all()
    assert abs(beta.sum()) <= 1e-12 * parameters["C"] * n
    K = gram(ours, X)
    a, b = objective(ours, X, y), objective(theirs, X, y)
    gap = oracle.duality_gap(K, beta, ours.intercept_[0], target, lower, upper)
    assert_allclose(ours.dual_gap_[0], gap, atol=1e-9 * max(1.0, a))
    # No feasible point is above the dual by more than its gap, and the solver stops where the gap is tol of the dual.
    assert gap <= 1e-4 * max(1.0, a)
    assert a + gap >= b - 1e-12 * abs(b)
    assert oracle.violation(K, beta, target, lower, upper) <= 1e-4
    assert ours.fit_status_ == theirs.fit_status_ == 0


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("name", KERNELS)
def test_attributes_and_decisions_equal_those_of_sklearn(name, n_classes):
    X, y = problem(7, n=25 * n_classes, n_classes=n_classes)
    rows, _ = problem(8, n=200)
    for shape in ("ovr", "ovo"):
        parameters = dict(C=1.5, tol=1e-10, decision_function_shape=shape, **KERNELS[name])
        ours, theirs = SVC(**parameters).fit(X, y), Reference(**parameters).fit(X, y)
        for attribute in ("classes_", "support_", "n_support_", "support_vectors_", "class_weight_", "shape_fit_"):
            expected = getattr(theirs, attribute)
            assert_array_equal(getattr(ours, attribute), expected)
            assert getattr(getattr(ours, attribute), "dtype", None) == getattr(expected, "dtype", None)
        assert ours.n_features_in_ == 3
        assert ours.n_iter_.shape == theirs.n_iter_.shape
        if name != "linear":  # with fewer dimensions than free support vectors the coefficients are not unique
            assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-5)
        assert ours.dual_coef_.shape == theirs.dual_coef_.shape
        assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
        assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=1e-4)
        assert_array_equal(ours.predict(rows), theirs.predict(rows))


@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_by_name(gamma):
    X, y = problem(9)
    X *= 3.0
    ours, theirs = SVC(gamma=gamma, tol=1e-6).fit(X, y), Reference(gamma=gamma, tol=1e-6).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)


def test_gamma_of_rows_without_variance():
    """ "scale" is 1."""
    rows = np.array([[1.0, 1.0], [2.0, 1.0]])
    X, y = np.ones((6, 2)), [0, 1, 1, 0, 1, 1]
    ours, theirs = SVC().fit(X, y), SVC(gamma=1.0).fit(X, y)
    assert_array_equal(ours.decision_function(rows), theirs.decision_function(rows))
    assert ours.dual_coef_.any()


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3, 1e6, 1e8])
def test_any_C(C):
    """On nearly constant features, as the cells of a network give them."""
    X, y = problem(10, n=80)
    X = np.tanh(0.1 * X)
    parameters = {"C": C, "gamma": 0.3, "tol": 1e-3}
    ours, theirs = SVC(**parameters).fit(X, y), Reference(**parameters, max_iter=200_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(X, y)
    a, b = objective(ours, X, y), objective(theirs, X, y)
    assert ours.fit_status_ == 0
    assert ours.dual_gap_[0] <= 1e-3 * max(1.0, a)
    assert a + ours.dual_gap_[0] >= b
    if C >= 1e6:  # here LIBSVM is far from the optimum when it meets its limit
        assert theirs.fit_status_ == 1
        assert a > 1.01 * b


def test_indefinite_kernel():
    """A negative coef0 makes no inner product; what is found is stationary."""
    X, y = problem(7)
    model = SVC(kernel="poly", gamma=1.0, coef0=-0.5, degree=2, tol=1e-4).fit(X, y)
    target, lower, upper = boxes(y)
    assert oracle.violation(gram(model, X), signed(model, len(X)), target, lower, upper) <= 1e-4


def test_votes_tie():
    """Of classes with equally many votes the first wins, as in LIBSVM; the decision function has its own tie rule."""
    turn = 2.0 * np.pi * np.arange(3) / 3.0
    X = np.column_stack([np.cos(turn), np.sin(turn)])
    X, y = np.concatenate([X, 0.9 * X]), np.tile([0, 1, 2], 2)
    parameters = {"kernel": "linear", "C": 10.0, "tol": 1e-8}
    ours, theirs = SVC(**parameters).fit(X, y), Reference(**parameters).fit(X, y)
    # Around the centre each class wins one of its two pairs in some order: compare on a fine grid.
    rows = np.stack(np.meshgrid(*[np.linspace(-0.05, 0.05, 21) + 1e-4] * 2), axis=-1).reshape(-1, 2)
    assert_array_equal(ours.predict(rows), theirs.predict(rows))
    ours.intercept_[:] = 0.0, -0.0, 0.0
    ours.dual_coef_[:] = 0.0
    assert_array_equal(ours.predict(rows[:1]), [2])  # every pair is tied and votes for its second class
    assert_array_equal(ours.decision_function(rows[:1]), [[2.0, 1.0, 0.0]])
    ours.intercept_[:] = 1.0, -1.0, 1.0  # 0 beats 1, 2 beats 0, 1 beats 2
    assert_array_equal(ours.predict(rows[:1]), [0])


@both_solvers
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 0.2, 2: 5.0}])
def test_class_weight(class_weight, solver):
    X, y = problem(11, n=90, n_classes=3)
    X, y = X[20:], y[20:]
    parameters = {"C": 2.0, "gamma": 0.5, "class_weight": class_weight, "tol": 1e-5}
    ours, theirs = SVC(solver=solver, **parameters).fit(X, y), Reference(**parameters).fit(X, y)
    assert_array_equal(ours.class_weight_, theirs.class_weight_)
    atol = 1e-4 if solver == "native" else 2e-3
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=atol)


@both_solvers
def test_weights_are_repeated_rows(solver):
    X, y = problem(12, n_classes=3)
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    parameters = {"C": 2.0, "gamma": 0.5, "tol": 1e-6, "solver": solver}
    weighted = SVC(**parameters).fit(X, y, weights)
    repeated = SVC(**parameters).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert not np.isin(weighted.support_, np.flatnonzero(weights == 0)).any()
    assert_array_equal(X[weighted.support_], weighted.support_vectors_)
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=2e-3)
    theirs = Reference(C=2.0, gamma=0.5, tol=1e-6).fit(X, y, weights)
    assert_array_equal(weighted.support_vectors_, theirs.support_vectors_)  # their support_ does not count all rows
    assert_allclose(weighted.dual_coef_, theirs.dual_coef_, atol=2e-3)


def test_weights_of_any_size():
    X, y = problem(13)
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(X))
    ours, theirs = (cls(C=2.0, gamma=0.5, tol=1e-7).fit(X, y, weights) for cls in (SVC, Reference))
    assert_array_equal(ours.support_, theirs.support_)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-5)
    with pytest.raises(ValueError, match=r"sample_weight.*native"):
        SVC(solver="thundersvm").fit(X, y, weights)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(59), r"sample_weight has shape \(59,\), but X has 60 rows; each needs a weight"),
        (np.ones((60, 1)), r"sample_weight has shape \(60, 1\), but X has 60 rows"),
        (np.full(60, -1.0), r"sample_weight must be finite and not negative: sample_weight is -1\.0 at row 0"),
        (np.full(60, np.nan), "sample_weight must be finite and not negative: sample_weight is nan at row 0"),
        (np.full(60, np.inf), "sample_weight must be finite and not negative: sample_weight is inf at row 0"),
        (np.zeros(60), "sample_weight is zero for all of X"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        SVC().fit(*problem(14), weights)


def test_a_class_without_weight():
    X, y = problem(14, n_classes=3)
    with pytest.raises(ValueError, match=r"sample_weight is zero for all rows of class 2: it cannot be learned"):
        SVC().fit(X, y, y < 2)
    with pytest.raises(ValueError, match=r"class_weight of class 1 must be a positive finite number, got 0\.0"):
        SVC(class_weight={1: 0.0}).fit(X, y)

import copy
import pickle
import signal
import subprocess
import sys
import threading
import warnings

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as Reference
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, estimator_checks_generator

from evoke import _thundersvm
from evoke.exceptions import SolverWarning
from evoke.svm import LSSVC, LSSVR, SVC, SVR, _lssvm, _svc, _svr, solve
from oracle import svm as oracle

thundersvm = pytest.param(
    "thundersvm",
    marks=pytest.mark.skipif(not _thundersvm.available(), reason="the ThunderSVM library is not here"),
)
both_solvers = pytest.mark.parametrize("solver", ["native", thundersvm])
PLAIN = (np.ndarray, int, float, str, tuple, dict, type(None))  # what a fitted model is made of
KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2},
}
CONSTANTS = {"kernel": "rbf", "gamma": 0.5, "coef0": 0.0, "degree": 3, "tol": 1e-4, "max_iter": -1}


def problem(seed, n=60, d=3, n_classes=2):
    """Rows and overlapping classes, each of which occurs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.argsort(np.argsort(np.sin(2.0 * X[:, 0]) + 0.5 * rng.normal(size=n))) * n_classes // n
    return X, y


def boxes(y, C=1.0):
    """Targets and bounds of a C-SVC with labels 0 and 1."""
    return 2.0 * y - 1.0, np.where(y == 1, 0.0, -C), np.where(y == 1, C, 0.0)


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
        (np.ones(59), r"sample_weight has shape \(59,\)"),
        (np.ones((60, 1)), "sample_weight has shape"),
        (np.full(60, -1.0), r"sample_weight holds -1\.0"),
        (np.full(60, np.nan), "sample_weight contains NaN"),
        (np.full(60, np.inf), "sample_weight contains infinity"),
        (np.zeros(60), "sample_weight is zero for all rows of class .*0"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        SVC().fit(*problem(14), weights)


def test_a_class_without_weight():
    X, y = problem(14, n_classes=3)
    with pytest.raises(ValueError, match=r"sample_weight is zero for all rows of class .*2"):
        SVC().fit(X, y, y < 2)
    with pytest.raises(ValueError, match=r"class_weight of class .*1.* is 0"):
        SVC(class_weight={1: 0.0}).fit(X, y)


# --- ThunderSVM's known faults ---


@both_solvers
@pytest.mark.parametrize("seed", range(20))
def test_constant_where_no_support_vector_is_free(solver, seed):
    """ThunderSVM gives it the wrong sign; all coefficients at the bound come with a small C."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) + rng.normal(size=2)
    y = np.arange(30) % 2
    model, theirs = SVC(C=1e-3, gamma=0.5, solver=solver).fit(X, y), Reference(C=1e-3, gamma=0.5).fit(X, y)
    assert_array_equal(np.abs(model.dual_coef_), np.full((1, 30), 1e-3))
    assert_allclose(model.intercept_, theirs.intercept_, atol=1e-9)
    assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-9)


@pytest.mark.skipif(not _thundersvm.available(), reason="the ThunderSVM library is not here")
def test_what_thundersvm_cannot_train_is_trained_by_the_native_solver():
    X, y = problem(15)
    parameters = {**CONSTANTS, "gamma": 1e9}
    with pytest.warns(SolverWarning, match=r"1 of 1 .*the Gaussian kernel is too narrow"):
        found = solve(X, *boxes(y), epsilon=0.0, solver="thundersvm", **parameters)
    native = solve(X, *boxes(y), epsilon=0.0, solver="native", **parameters)
    assert_array_equal(found.beta, native.beta)


@pytest.mark.skipif(not _thundersvm.available(), reason="the ThunderSVM library is not here")
def test_large_C_is_finished_by_the_native_solver():
    X, y = problem(15)
    target, lower, upper = boxes(y, C=1e6)
    with pytest.warns(SolverWarning, match="ThunderSVM did not reach the optimum of 1 of 1"):
        found = solve(X, target, lower, upper, epsilon=0.0, solver="thundersvm", **CONSTANTS)
    native = solve(X, target, lower, upper, epsilon=0.0, solver="native", **CONSTANTS)
    assert found.converged[0] and found.n_iter[0] > 0
    assert issubclass(SolverWarning, ConvergenceWarning)
    assert_allclose(found.objective, native.objective, rtol=1e-4)


@both_solvers
@pytest.mark.parametrize("offset", [0.0, 10.0, 1000.0, 1e4])
def test_offset_features(solver, offset):
    X, y = problem(16)
    moved = (X + offset) - offset  # what is left of X by rounding
    parameters = {"C": 10.0, "gamma": 0.5, "tol": 1e-5, "solver": solver}
    at_zero, far = SVC(**parameters).fit(moved, y), SVC(**parameters).fit(X + offset, y)
    assert_allclose(far.decision_function(X + offset), at_zero.decision_function(moved), atol=5e-3)


LABELS = {
    "strings": ["no", "yes", "maybe"],
    "objects": np.array(["no", "yes", "maybe"], dtype=object),
    "negative": [-3, -1, -2],
    "reals": [0.5, 1.5, 1.75],
    "huge": [2**24, 2**24 + 1, 2**60],
    "bool": [False, True],
    "reversed": [1, 0],
}


@both_solvers
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind(kind, solver):
    """Sorted, neither merged nor split, given back as they came; whichever comes first in y."""
    names = np.asarray(LABELS[kind])
    X, codes = problem(17, n_classes=len(names))
    y = names[codes]
    model = SVC(C=10.0, gamma=1.0, solver=solver).fit(X, y)
    assert_array_equal(model.classes_, np.unique(names))
    predicted = model.predict(X)
    assert predicted.dtype == y.dtype
    assert (predicted == y).mean() > 0.8
    if len(names) == 2:
        decision = model.decision_function(X)
        assert decision.shape == (len(X),)
        assert_array_equal(predicted == model.classes_[1], decision > 0.0)
    else:
        assert model.decision_function(X).shape == (len(X), len(names))


@pytest.mark.parametrize(
    "names",
    [
        np.array([3, 3, -1]), np.array([-1, 7], dtype=np.int8), np.array([255, 0], dtype=np.uint8), np.array([2, 1, 0]),
        np.array([5, 6, 5], dtype=">i4"), np.array(["b", "a"]), np.array(["a", "bcd"], dtype="<U7"),
        np.array([True, False]), np.array([2**63, 0], dtype=np.uint64),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_that_need_no_validation(names):
    """They take a short cut, with the same end."""
    X, _ = problem(17)
    y = np.resize(names, len(X)).astype(names.dtype)
    quick, slow = SVC(gamma=0.5, tol=1e-10).fit(X, y), SVC(gamma=0.5, tol=1e-10).fit(X.tolist(), y)
    assert vars(quick).keys() == vars(slow).keys()
    for name, value in vars(slow).items():
        assert_array_equal(getattr(quick, name), value, err_msg=name)
    theirs = Reference(gamma=0.5, tol=1e-10).fit(X, y)
    assert_array_equal(quick.classes_, theirs.classes_)
    assert quick.classes_.dtype == theirs.classes_.dtype
    assert_array_equal(quick.n_support_, theirs.n_support_)
    assert_allclose(quick.decision_function(X), theirs.decision_function(X), atol=1e-4)


@both_solvers
def test_order_of_the_rows_changes_nothing_but_rounding(solver):
    X, y = problem(18, n_classes=3)
    parameters = {"C": 10.0, "gamma": 0.5, "tol": 1e-4, "solver": solver}
    straight = SVC(**parameters).fit(X, y).decision_function(X)
    for order in (np.arange(len(X))[::-1], np.random.default_rng(0).permutation(len(X))):
        shuffled = SVC(**parameters).fit(X[order], y[order]).decision_function(X)
        assert_allclose(shuffled, straight, atol=2e-3)


@both_solvers
@pytest.mark.parametrize("label", [0, "a"])
def test_single_class(label, solver):
    X, _ = problem(19)
    with pytest.raises(ValueError, match="number of classes has to be greater than one; got 1 class: .*" + str(label)):
        SVC(solver=solver).fit(X, [label] * len(X))


def test_single_class_of_one_fold_spares_the_others():
    X, y = problem(19, n=30)
    y = np.sort(y)
    y[20:] = 1
    folds = [(np.arange(20, 30), np.arange(20)), (np.arange(30), np.arange(30))]
    with pytest.warns(FitFailedWarning, match="1 fits failed"):
        scores = cross_val_score(SVC(), X, y, cv=folds)
    assert np.isnan(scores[0]) and scores[1] > 0.5


@both_solvers
def test_all_rows_equal(solver):
    X = np.full((10, 2), 7.0)
    y = np.array([0, 1] * 4 + [1, 1])
    model = SVC(gamma=0.5, solver=solver).fit(X, y)
    assert_array_equal(model.predict(X), np.ones(10))
    balanced = SVC(gamma=0.5, solver=solver).fit(X[:8], y[:8])
    assert_allclose(balanced.decision_function(X), 0.0, atol=1e-12)


@both_solvers
def test_two_rows(solver):
    model = SVC(kernel="linear", C=10.0, solver=solver).fit([[-1.0], [1.0]], [0, 1])
    assert_allclose(model.dual_coef_, [[-0.5, 0.5]], rtol=1e-6)
    assert_allclose(model.decision_function([[-1.0], [0.25]]), [-1.0, 0.25], rtol=1e-6)


@both_solvers
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(bad, solver):
    X, y = problem(20)
    spoiled = X.copy()
    spoiled[3, 1] = bad
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
        SVC(solver=solver).fit(spoiled, y)
    with pytest.raises(ValueError, match=r"y contains (NaN|infinity)"):
        SVC(solver=solver).fit(X, np.where(np.arange(len(y)) == 3, bad, y))
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
        SVC(solver=solver).fit(X, y).predict(spoiled)


@both_solvers
@pytest.mark.parametrize(
    ("name", "value"),
    [("C", value) for value in (0, 0.0, -1, np.nan, np.inf)]
    + [("gamma", value) for value in (0, 0.0, -1.0, np.nan, np.inf, "nope")]
    + [("tol", value) for value in (0, -1e-3, np.nan, np.inf)]
    + [("degree", -1), ("coef0", np.nan), ("coef0", np.inf), ("max_iter", 0), ("max_iter", -2)]
    + [("cache_size", 0), ("kernel", "nope"), ("kernel", "precomputed"), ("kernel", None)]
    + [("decision_function_shape", "nope"), ("class_weight", "nope")],
)
def test_bad_parameters(name, value, solver):
    X, y = problem(21)
    with pytest.raises(ValueError, match=f"{name}.*{value}"):
        SVC(**{"solver": solver, name: value}).fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [("C", "1"), ("C", None), ("gamma", None), ("tol", "x"), ("degree", 2.5), ("max_iter", 1.5), ("coef0", "0")],
)
def test_parameters_of_wrong_type(name, value):
    with pytest.raises(TypeError, match=name):
        SVC(**{name: value}).fit(*problem(21))


def test_unknown_solver():
    with pytest.raises(ValueError, match="solver == 'nope'"):
        SVC(solver="nope").fit(*problem(21))


def test_missing_library(monkeypatch, tmp_path):
    monkeypatch.setenv("EVOKE_THUNDERSVM_LIB", str(tmp_path / "absent.so"))
    with pytest.raises(_thundersvm.ThunderSVMError, match=r"absent\.so"):
        SVC(solver="thundersvm").fit(*problem(21))


def test_real_targets_are_refused_where_they_hardly_repeat():
    X, _ = problem(22)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        SVC().fit(X, X[:, 0])


@pytest.mark.parametrize(
    "parameters", [{"kernel": "poly", "gamma": 1.0, "degree": 9}, {"kernel": "linear", "gamma": 1.0}]
)
def test_kernel_that_overflows(parameters):
    X, y = problem(23)
    with pytest.raises(ValueError, match=r"kernel overflows: kernel='(poly|linear)'.*scale X"):
        SVC(**parameters).fit(1e155 * X, y)
    model = SVC(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="kernel overflows on X"):
        model.predict(np.full((1, 3), 1e308))


def test_gamma_of_rows_that_overflow():
    X, y = problem(23)
    with pytest.raises(ValueError, match="gamma == 'scale' needs the variance of X"):
        SVC().fit(1e200 * X, y)
    assert SVC(gamma=0.5).fit(1e200 * X, y).score(1e200 * X, y) == 1.0


# --- what scikit-learn expects ---


CANNOT_PASS = {
    "check_sample_weight_equivalence_on_dense_data": "it asks for 1e-7 where the solver is asked for tol=1e-3, and "
    "gamma='scale' is of the rows and not of their weights, as in scikit-learn"
}
CHECKS = list(estimator_checks_generator(SVC(), expected_failed_checks=CANNOT_PASS, mark="xfail"))


@pytest.mark.parametrize(
    "estimator, check", CHECKS, ids=lambda value: getattr(getattr(value, "func", None), "__name__", None)
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


def test_weights_at_a_tolerance_that_the_check_can_see():
    check_sample_weight_equivalence_on_dense_data("SVC", SVC(gamma=0.05, tol=1e-10))


def test_params_are_kept_as_they_came():
    model = SVC(C=np.float32(2.0), kernel=np.str_("rbf"), solver=np.str_("native"), class_weight={0: 1, 1: 2})
    before = model.get_params()
    assert model.fit(*problem(24)) is model
    assert model.get_params() == before
    assert clone(model).get_params() == before


def test_names_of_an_earlier_fit_are_forgotten():
    X, y = problem(24)
    model = SVC(gamma=0.5).fit(X, y)
    model.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    model.fit(X[:, :2], y)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 3 features, but SVC is expecting 2"):
        model.predict(X)


def test_shapes_that_do_not_fit():
    X, y = problem(24)
    for rows, labels, message in (
        (X, y[:-1], "inconsistent numbers of samples"),
        (X[0], y, "Expected 2D array"),
        (X[:0], y[:0], "0 sample"),
        (X[:, :0], y, "0 feature"),
        (X, np.stack([y, y], axis=1), "y should be a 1d array"),
        (X, np.array(1), "y should be a 1d array|Singleton array"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            SVC().fit(rows, labels)


def test_a_model_keeps_the_kernel_of_its_fit():
    X, y = problem(24)
    model = SVC(gamma=0.5).fit(X, y)
    expected = model.decision_function(X)
    model.set_params(kernel="linear", gamma=3.0, degree=7)
    assert_array_equal(model.decision_function(X), expected)


@pytest.mark.parametrize("machine", [SVC, SVR, LSSVC, LSSVR])
def test_a_fit_that_fails_leaves_the_model_of_the_last_one(machine, monkeypatch):
    X, y = problem(24, n_classes=3)
    model = machine(gamma=0.5).fit(X, y)
    expected = model.predict(X)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    for module, name in (_svc, "solve_each"), (_svr, "solve_each"), (_lssvm._readout, "fit_readout"):
        monkeypatch.setattr(module, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(gamma="scale", kernel="linear").fit(-X[:30], y[:30] == 0)
    assert_array_equal(model.predict(X), expected)


def test_not_fitted():
    for method in (SVC().predict, SVC().decision_function):
        with pytest.raises(NotFittedError):
            method([[0.0]])


@both_solvers
def test_copies_and_files(solver, tmp_path):
    X, y = problem(25, n_classes=3)
    model = SVC(gamma=0.5, solver=solver).fit(X, y)
    expected = model.decision_function(X)
    joblib.dump(model, tmp_path / "model")
    copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")
    assert all(isinstance(value, PLAIN) for value in vars(model).values())
    del model
    for again in copies:
        assert_array_equal(again.decision_function(X), expected)
    program = "import joblib, sys; m = joblib.load(sys.argv[1]); print(m.predict(m.support_vectors_).tolist())"
    run = [sys.executable, "-c", program, str(tmp_path / "model")]
    found = subprocess.run(run, check=True, capture_output=True, text=True)
    assert found.stdout.strip() == str(copies[0].predict(copies[0].support_vectors_).tolist())


@both_solvers
def test_grid_search_in_two_processes_and_pipelines(solver):
    X, y = problem(26)
    pipeline = make_pipeline(StandardScaler(), SVC(gamma=0.5, solver=solver))
    grid = {"svc__C": [0.1, 10.0]}
    alone, two = (GridSearchCV(pipeline, grid, cv=3, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert_array_equal(alone.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert_array_equal(alone.decision_function(X), two.decision_function(X))


def test_one_against_rest():
    X, y = problem(27, n_classes=3)
    assert OneVsRestClassifier(SVC(C=10.0, gamma=1.0)).fit(X, y).score(X, y) > 0.8


@both_solvers
def test_threads_give_the_same_bits(solver):
    problems = [problem(seed, n=100, n_classes=3) for seed in range(8)]

    def fit(X, y):
        return SVC(gamma=0.5, solver=solver).fit(X, y).decision_function(X)

    expected = [fit(*each) for each in problems]
    found = joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(fit)(*each) for each in problems)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


def test_predictions_of_one_model_in_threads():
    X, y = problem(28, n=100, n_classes=3)
    model = SVC(gamma=0.5).fit(X, y)
    expected, found = model.decision_function(X), []
    threads = [threading.Thread(target=lambda: found.append(model.decision_function(X))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for one in found:
        assert_array_equal(one, expected)


@both_solvers
def test_layouts_and_dtypes_give_the_same_bits(solver):
    X, y = problem(29, n=50)
    X = X.astype(np.float32).astype(np.float64)
    expected = SVC(gamma=0.5, solver=solver).fit(X, y)
    decisions = expected.decision_function(X)
    read_only = X.copy()
    read_only.flags.writeable = False
    variants = [
        np.asfortranarray(X),
        np.ascontiguousarray(X[::-1])[::-1],
        np.repeat(X, 2, axis=1)[:, ::2],
        X.astype(np.float32),
        read_only,
        X.tolist(),
    ]
    for variant in variants:
        before = np.array(variant)
        model = SVC(gamma=0.5, solver=solver).fit(variant, y)
        assert_array_equal(model.dual_coef_, expected.dual_coef_)
        assert_array_equal(model.intercept_, expected.intercept_)
        assert_array_equal(model.decision_function(variant), decisions)
        assert_array_equal(np.array(variant), before)
    whole = np.arange(20).reshape(10, 2) % 7
    assert_array_equal(
        SVC(gamma=0.5, solver=solver).fit(whole, y[:10]).dual_coef_,
        SVC(gamma=0.5, solver=solver).fit(whole.astype(float), y[:10]).dual_coef_,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_decision_does_not_depend_on_its_batch(n_classes):
    X, y = problem(30, n_classes=n_classes)
    model = SVC(gamma=0.5).fit(X, y)
    together = model.decision_function(X)
    for size in (1, 3, 8, 11):
        parts = [model.decision_function(X[i : i + size]) for i in range(0, len(X), size)]
        assert_array_equal(np.concatenate(parts), together)
    assert model.predict(X[:1]).shape == (1,)


@pytest.mark.parametrize("labels", [[0, 1], [0, 1, 2]])
def test_no_support_vectors(labels):
    """With a tolerance that zero coefficients satisfy."""
    X = np.arange(6.0).reshape(6, 1)
    model = SVC(tol=10.0).fit(X, np.resize(labels, 6))
    assert model.support_vectors_.shape == (0, 1)
    assert model.dual_coef_.shape == (len(labels) - 1, 0)
    assert_array_equal(model.n_support_, np.zeros(len(labels)))
    assert model.predict(X).shape == (6,)
    if len(labels) == 2:
        assert_array_equal(model.decision_function(X), np.full(6, model.intercept_[0]))


def test_limit_of_steps():
    X, y = problem(31, n_classes=3)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 5 steps \(max_iter=5\)"):
        model = SVC(C=100.0, gamma=0.5, max_iter=5).fit(X, y)
    assert model.fit_status_ == 1
    assert model.n_iter_.max() == 5
    assert (model.dual_gap_ > 1.0).any()
    assert SVC(C=100.0, gamma=0.5).fit(X, y).fit_status_ == 0


def test_interrupt():
    program = """
import numpy as np
from evoke.svm import SVC
rng = np.random.default_rng(0)
model = SVC(C=1e8, gamma=0.1, tol=1e-12)
X, y = rng.normal(size=(3000, 5)), rng.integers(0, 2, 3000)
print("begin", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", hasattr(model, "support_"), model.set_params(C=1.0, tol=1e-3).fit(X[:50], y[:50]).fit_status_)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "begin\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=5)
        finally:
            process.kill()
    assert out == "interrupted False 0\n"


FOUR_ROWS, TWO_LABELS = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
machines = pytest.mark.parametrize("machine", [SVC, SVR, LSSVC, LSSVR])


@machines
@pytest.mark.parametrize("weights", ["x", 2.0, ["a"] * 4, {}, np.ones(4, complex), [[1], [1, 2]]])
def test_weights_that_are_not_numbers_are_named(machine, weights):
    with pytest.raises((ValueError, TypeError), match=r"^sample_weight "):
        machine().fit(FOUR_ROWS, TWO_LABELS, sample_weight=weights)


@machines
@pytest.mark.parametrize("rows", [{"a": [1.0]}, (row for row in FOUR_ROWS), [["a"]] * 4, object(), FOUR_ROWS + 1j])
def test_rows_that_are_not_numbers_are_named(machine, rows):
    with pytest.raises((ValueError, TypeError), match=r"^X "):
        machine().fit(rows, TWO_LABELS)
    with pytest.raises((ValueError, TypeError), match=r"^X "):
        machine().fit(FOUR_ROWS, TWO_LABELS).predict(rows)


@machines
@pytest.mark.parametrize("labels", [[1, "a", 1, "a"], np.array([1, "a", 1, "a"], dtype=object)])
def test_mixed_labels_are_named(machine, labels):
    with pytest.raises((ValueError, TypeError), match=r"^y "):
        machine().fit(FOUR_ROWS, labels)


@pytest.mark.parametrize("machine", [SVC, LSSVC])
@pytest.mark.parametrize("weight", ["x", None, np.nan, np.ones(2), 0.0, -1])
def test_class_weight_that_is_no_positive_number_is_named(machine, weight):
    with pytest.raises(ValueError, match=r"^class_weight of class 0 is"):
        machine(class_weight={0: weight}).fit(FOUR_ROWS, TWO_LABELS)


@machines
def test_parameters_in_single_precision(machine):
    names = {"coef0", "C", "gamma", "tol", "epsilon", "cache_size"} & set(machine().get_params())
    single, double = ({name: kind(0.5) for name in names} for kind in (np.float32, float))
    queries = FOUR_ROWS + 0.25
    expected = machine(kernel="poly", **double).fit(FOUR_ROWS, TWO_LABELS).predict(queries)
    assert_array_equal(machine(kernel="poly", **single).fit(FOUR_ROWS, TWO_LABELS).predict(queries), expected)

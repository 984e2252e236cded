"""Support vector machines on ThunderSVM: its known faults."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC as Reference

from evoke.exceptions import SolverWarning
from evoke.svm import SVC, _thundersvm, solve
from helpers.machines import CONSTANTS, both_solvers, boxes, problem


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
    with pytest.raises(ValueError, match=f"y has 1 class, {label!r}; at least two are needed"):
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
    with pytest.raises(ValueError, match=r"solver must be one of \('auto', 'native', 'thundersvm'\), got 'nope'"):
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
    uses = {"poly": r" with gamma=1.0, coef0=0.0, degree=9", "linear": ""}[parameters["kernel"]]
    message = rf"kernel overflows: kernel='(poly|linear)'{uses} on X with values up to .*; scale X"
    with pytest.raises(ValueError, match=message):
        SVC(**parameters).fit(1e155 * X, y)
    model = SVC(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(np.full((1, 3), 1e308))


def test_gamma_of_rows_that_overflow():
    X, y = problem(23)
    with pytest.raises(ValueError, match="gamma == 'scale' needs the variance of X"):
        SVC().fit(1e200 * X, y)
    assert SVC(gamma=0.5).fit(1e200 * X, y).score(1e200 * X, y) == 1.0

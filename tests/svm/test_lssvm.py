import copy
import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, estimator_checks_generator

from evoke._core.kernel import Kernel
from evoke.svm import LSSVC, LSSVR
from oracle import svm as oracle

PLAIN = (np.ndarray, int, float, str, tuple, dict, type(None), Kernel)  # what a fitted model is made of
KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2},
}
both = pytest.mark.parametrize("machine", [LSSVC, LSSVR])


def problem(seed, n=60, d=3, n_classes=2):
    """Rows, a wave and classes made of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    wave = np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=n)
    return X, wave, np.argsort(np.argsort(wave)) * n_classes // n


def gram(model, X, Z=None):
    gamma = 1.0 / (X.shape[1] * X.var()) if model.gamma == "scale" else model.gamma
    return oracle.kernel(X, X if Z is None else Z, model.kernel, gamma, model.coef0, model.degree)


def bordered(K, Y, C, weights=1.0):
    """Coefficients (k, n) and constants (k,) of targets (k, n) from [K + I / (C w), 1; 1', 0] [coef; b] = [y; 0]."""
    n = len(K)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K + np.diag(np.full(n, 1.0 / (C * np.broadcast_to(weights, n))))
    system[n, n] = 0.0
    solution = np.linalg.solve(system, np.column_stack([Y, np.zeros(len(Y))]).T)
    return solution[:n].T, solution[n]


# --- the linear system ---


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_the_bordered_system_is_solved(name, C):
    X, y, _ = problem(1)
    model = LSSVR(C=C, **KERNELS[name]).fit(X, y)
    coef, bias = bordered(gram(model, X), y[np.newaxis], C)
    assert_allclose(model.dual_coef_, coef, rtol=1e-6, atol=1e-8 * np.abs(coef).max())
    assert_allclose(model.intercept_, bias, rtol=1e-6, atol=1e-8)
    assert_array_equal(model.support_vectors_, X)
    assert_array_equal(model.support_, np.arange(len(X)))
    assert abs(model.dual_coef_.sum()) < 1e-9 * np.abs(coef).sum()
    rows = problem(2)[0]
    assert_allclose(model.predict(rows), gram(model, rows, X) @ coef[0] + bias[0], atol=1e-8)
    # Each coefficient is C times the error of its row.
    assert_allclose(model.dual_coef_[0], C * (y - model.predict(X)), atol=1e-6 * np.abs(coef).max())


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 4), st.integers(1, 3), st.floats(-3, 6))
def test_any_shape(seed, n, d, n_outputs, log_c):
    rng = np.random.default_rng(seed)
    X, Y, weights = rng.normal(size=(n, d)), rng.normal(size=(n, n_outputs)), rng.uniform(0.1, 3.0, n)
    C = 10.0**log_c
    model = LSSVR(C=C, gamma=0.5).fit(X, Y, weights)
    coef, bias = bordered(gram(model, X), Y.T, C, weights)
    assert model.dual_coef_.shape == (n_outputs, n)
    assert_allclose(model.dual_coef_, coef, atol=1e-7 * max(1.0, np.abs(coef).max()))
    assert_allclose(model.intercept_, bias, atol=1e-7)
    assert model.predict(X).shape == (n, n_outputs)
    assert (model.residual_ < 1e-8 * max(1.0, np.abs(coef).max())).all()


def test_outputs_equal_one_by_one():
    X, y, _ = problem(3)
    Y = np.column_stack([y, np.cos(X[:, 1])])
    together = LSSVR(C=100.0, gamma=0.5).fit(X, Y)
    for k in range(2):
        alone = LSSVR(C=100.0, gamma=0.5).fit(X, Y[:, k])
        assert_array_equal(alone.dual_coef_[0], together.dual_coef_[k])
        assert_array_equal(alone.intercept_[0], together.intercept_[k])
        assert alone.predict(X).shape == (len(X),)
    assert LSSVR().fit(X, Y[:, :1]).predict(X).shape == (len(X), 1)


def test_constant_target_and_one_row():
    X, _, _ = problem(4)
    model = LSSVR().fit(X, np.full(len(X), 3.0))
    assert_allclose(model.dual_coef_, 0.0, atol=1e-12)
    assert_allclose(model.predict(X), 3.0, rtol=1e-12)
    assert_allclose(LSSVR().fit([[1.0]], [-4.0]).predict([[1.0], [7.0]]), -4.0, rtol=1e-12)


def test_ridge_regression_with_a_linear_kernel():
    """In the primal: w minimises |w|^2 / 2 + C / 2 |y - Xw - b|^2 with a free constant."""
    X, y, _ = problem(5)
    model = LSSVR(kernel="linear", C=3.0).fit(X, y)
    centred = X - X.mean(axis=0)
    w = np.linalg.solve(centred.T @ centred + np.eye(3) / 3.0, centred.T @ (y - y.mean()))
    assert_allclose(model.dual_coef_[0] @ X, w, rtol=1e-9)
    assert_allclose(model.intercept_, y.mean() - X.mean(axis=0) @ w, atol=1e-10)


def test_large_C_interpolates():
    X, y, _ = problem(6, n=30)
    for C in (1e8, 1e12, 1e300):
        model = LSSVR(C=C, gamma=2.0).fit(X, y)
        assert_allclose(model.predict(X), y, atol=1e-7)


@pytest.mark.parametrize("C", [1.0, 1e8])
def test_duplicates_that_contradict_one_another(C):
    """Each pair comes to the mean of its values."""
    X = np.repeat(problem(7, n=15)[0], 2, axis=0)
    model = LSSVR(C=C, gamma=5.0).fit(X, np.tile([0.0, 1.0], 15))
    assert_allclose(model.predict(X), 0.5, atol=1e-6)


@both
def test_C_too_large_for_the_rows(machine):
    X = np.repeat(problem(7, n=15)[0], 2, axis=0)
    y = np.tile([0, 1], 15)
    with pytest.raises(ValueError, match=r"singular to working precision: C=1e\+18 is too large .* lower it"):
        machine(C=1e18, gamma=0.5).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"only to a residual of .* C=100000000000000\.0 is too large"):
        model = machine(C=1e14, gamma=0.5).fit(X, y)
    # The residual tells how wrong it is: the exact values are the means of the pairs.
    values = model.predict(X) if machine is LSSVR else model.decision_function(X)
    error = np.abs(values - (0.5 if machine is LSSVR else 0.0)).max()
    assert error > 1e-3
    assert 0.1 * error < model.residual_[0] < 10.0 * error


# --- classification ---


@pytest.mark.parametrize("name", KERNELS)
def test_two_classes(name):
    X, _, y = problem(8)
    labels = np.array(["no", "yes"])[y]
    model = LSSVC(C=10.0, **KERNELS[name]).fit(X, labels)
    coef, bias = bordered(gram(model, X), 2.0 * y[np.newaxis] - 1.0, 10.0)
    assert_array_equal(model.classes_, ["no", "yes"])
    assert model.dual_coef_.shape == (1, len(X))
    assert_allclose(model.dual_coef_, coef, rtol=1e-6, atol=1e-8)
    assert_allclose(model.intercept_, bias, atol=1e-9)
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    assert_array_equal(model.predict(X), np.where(decision > 0.0, "yes", "no"))
    assert model.score(X, labels) > 0.6


def test_several_classes_are_each_against_the_rest():
    X, _, y = problem(9, n=90, n_classes=3)
    model = LSSVC(C=10.0, gamma=0.5).fit(X, y)
    decisions = model.decision_function(X)
    assert decisions.shape == (90, 3)
    for k in range(3):
        alone = LSSVC(C=10.0, gamma=0.5).fit(X, y == k)
        assert_array_equal(model.dual_coef_[k], alone.dual_coef_[0])
        assert_allclose(decisions[:, k], alone.decision_function(X), atol=1e-12)
    assert_allclose(decisions.sum(axis=1), -1.0, atol=1e-9)  # the targets of a row sum to 1 - 2
    assert_array_equal(model.predict(X), decisions.argmax(axis=1))


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.2, 2: 5.0}])
def test_class_weight(class_weight):
    X, _, y = problem(10, n=90, n_classes=3)
    X, y = X[20:], np.array([10, 11, 12])[y][20:]
    if isinstance(class_weight, dict):
        class_weight = {10 + k: weight for k, weight in class_weight.items()}
    model = LSSVC(C=2.0, gamma=0.5, class_weight=class_weight).fit(X, y)
    factors = model.class_weight_
    if class_weight == "balanced":
        assert_allclose(factors, len(y) / (3.0 * np.bincount(y)[10:]))
    else:
        assert_array_equal(factors, [0.2, 1.0, 5.0])
    weighted = LSSVC(C=2.0, gamma=0.5).fit(X, y, factors[y - 10])
    assert_allclose(model.dual_coef_, weighted.dual_coef_, rtol=1e-12)
    with pytest.raises(ValueError, match=r"class_weight of class 11 must be a positive finite number, got 0\.0"):
        LSSVC(class_weight={11: 0.0}).fit(X, y)


LABELS = {
    "strings": ["no", "yes", "maybe"],
    "objects": np.array(["no", "yes", "maybe"], dtype=object),
    "negative": [-3, -1, -2],
    "reals": [0.5, 1.5, 1.75],
    "huge": [2**24, 2**24 + 1, 2**60],
    "bool": [False, True],
    "reversed": [1, 0],
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind(kind):
    names = np.asarray(LABELS[kind])
    X, _, codes = problem(11, n_classes=len(names))
    y = names[codes]
    model = LSSVC(C=100.0, gamma=1.0).fit(X, y)
    assert_array_equal(model.classes_, np.unique(names))
    predicted = model.predict(X)
    assert predicted.dtype == y.dtype
    assert (predicted == y).mean() > 0.8


def test_single_class():
    with pytest.raises(ValueError, match="y has 1 class, 7; at least two are needed"):
        LSSVC().fit([[0.0], [1.0]], [7, 7])


# --- weights ---


@both
def test_weights_are_repeated_rows(machine):
    X, wave, y = problem(12, n_classes=3)
    y = y if machine is LSSVC else wave
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = machine(C=2.0, gamma=0.5).fit(X, y, weights)
    repeated = machine(C=2.0, gamma=0.5).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert_array_equal(weighted.support_, np.flatnonzero(weights))
    assert_array_equal(weighted.support_vectors_, X[weights > 0])
    decide = "decision_function" if machine is LSSVC else "predict"
    assert_allclose(getattr(weighted, decide)(X), getattr(repeated, decide)(X), atol=1e-10)


@both
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(59), r"sample_weight has shape \(59,\), but X has 60 rows; each needs a weight"),
        (np.full(60, -1.0), r"sample_weight must be finite and not negative: sample_weight is -1\.0 at row 0"),
        (np.full(60, np.nan), "sample_weight must be finite and not negative: sample_weight is nan at row 0"),
        (np.zeros(60), "sample_weight is zero for all of X"),
        (np.full(60, 1e-320), "sample_weight is out of the range"),
    ],
)
def test_bad_weights(machine, weights, message):
    X, _, y = problem(13)
    with pytest.raises(ValueError, match=message):
        machine().fit(X, y, weights)


def test_a_class_without_weight():
    X, _, y = problem(13, n_classes=3)
    with pytest.raises(ValueError, match=r"sample_weight is zero for all rows of class 2: it cannot be learned"):
        LSSVC().fit(X, y, y < 2)


# --- bad input ---


@both
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(bad, machine):
    X, _, y = problem(14)
    spoiled = X.copy()
    spoiled[3, 1] = bad
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
        machine().fit(spoiled, y)
    with pytest.raises(ValueError, match=r"y contains (NaN|infinity)"):
        machine().fit(X, np.where(np.arange(len(y)) == 3, bad, y))
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
        machine().fit(X, y).predict(spoiled)


@both
@pytest.mark.parametrize(
    ("name", "value"),
    [("C", value) for value in (0, -1, np.nan, np.inf, 10**400, 1e-320)]
    + [("gamma", value) for value in (0, -1.0, np.nan, np.inf, "nope")]
    + [("degree", -1), ("coef0", np.nan), ("coef0", np.inf), ("kernel", "nope"), ("kernel", None)],
)
def test_bad_parameters(name, value, machine):
    X, _, y = problem(15)
    refused = rf"^{name} must .*, got {re.escape(repr(value)[:20])}"
    with pytest.raises(ValueError, match=rf"{refused}|^C=1e-320 times .* is out of the range of float64$"):
        machine(**{name: value}).fit(X, y)


@both
@pytest.mark.parametrize(("name", "value"), [("C", "1"), ("C", None), ("gamma", None), ("degree", 2.5)])
def test_parameters_of_wrong_type(name, value, machine):
    X, _, y = problem(15)
    with pytest.raises(TypeError, match=name):
        machine(**{name: value}).fit(X, y)


def test_overflow():
    X, y, _ = problem(16)
    with pytest.raises(ValueError, match=r"kernel overflows: kernel='poly'.*scale X"):
        LSSVR(kernel="poly", gamma=1.0, degree=9).fit(1e155 * X, y)
    with pytest.raises(ValueError, match="the targets or C are too large"):
        LSSVR(C=1e10).fit(X, 1e305 * y)
    assert_allclose(LSSVR().fit(X, 1e150 * y).predict(X), 1e150 * LSSVR().fit(X, y).predict(X), rtol=1e-9)


# --- what scikit-learn expects ---


CANNOT_PASS = {
    "check_sample_weight_equivalence_on_dense_data": "gamma='scale' is of the rows and not of their weights, as in "
    "scikit-learn"
}
CHECKS = [
    pair
    for machine in (LSSVC, LSSVR)
    for pair in estimator_checks_generator(machine(), expected_failed_checks=CANNOT_PASS, mark="xfail")
]


@pytest.mark.parametrize(
    "estimator, check",
    CHECKS,
    ids=lambda value: getattr(getattr(value, "func", None), "__name__", type(value).__name__),
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


@both
def test_weights_with_a_given_gamma(machine):
    check_sample_weight_equivalence_on_dense_data(machine.__name__, machine(gamma=0.05))


@both
def test_params_are_kept_as_they_came(machine):
    X, _, y = problem(17)
    model = machine(C=np.float32(2.0), degree=np.int8(2), kernel=np.str_("poly"))
    before = model.get_params()
    assert model.fit(X, y) is model
    assert model.get_params() == before
    assert clone(model).get_params() == before


@both
def test_not_fitted(machine):
    with pytest.raises(NotFittedError):
        machine().predict([[0.0]])


@both
def test_copies(machine):
    X, _, y = problem(18, n_classes=3)
    model = machine(gamma=0.5).fit(X, y)
    expected = model.predict(X)
    assert all(isinstance(value, PLAIN) for value in vars(model).values())
    copies = copy.deepcopy(model), pickle.loads(pickle.dumps(model))
    del model
    for again in copies:
        assert_array_equal(again.predict(X), expected)


def test_the_model_does_not_change_with_the_rows_it_was_given():
    X, y, _ = problem(18)
    rows = X.copy()
    model = LSSVR(gamma=0.5).fit(rows, y)
    expected = model.predict(X)
    rows[:] = 0.0
    assert_array_equal(model.predict(X), expected)


@both
def test_layouts_give_the_same_bits(machine):
    X, _, y = problem(19)
    X = X.astype(np.float32).astype(np.float64)
    expected = machine(gamma=0.5).fit(X, y)
    for variant in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.astype(np.float32), X.tolist()):
        for targets in (y, y.astype(float), np.repeat(y, 2)[::2], y.tolist()):
            model = machine(gamma=0.5).fit(variant, targets)
            assert_array_equal(model.dual_coef_, expected.dual_coef_)
            assert_array_equal(model.predict(variant), expected.predict(X))


def test_grid_search():
    X, y, _ = problem(20)
    grid = GridSearchCV(LSSVR(gamma=0.5), {"C": [1e-4, 10.0]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"C": 10.0}

"""Kernels that are given: a matrix, or a function of two sets of rows."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import svm as reference
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

import evoke
from evoke.exceptions import ParameterError
from evoke.svm import LSSVC, LSSVR, SVC, SVR, Kernel, solve
from helpers.machines import problem

GAMMA = 0.5
EXACT = {"tol": 1e-9}
MACHINES = [(SVC, EXACT), (SVR, EXACT), (LSSVC, {}), (LSSVR, {})]
machines = pytest.mark.parametrize(("machine", "parameters"), MACHINES)


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=GAMMA)


def outcome(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def three_ways(machine, parameters, X, y, weights=None):
    """The machine of the built-in kernel, of its matrix and of a function."""
    return (
        machine(gamma=GAMMA, **parameters).fit(X, y, weights),
        machine(kernel="precomputed", **parameters).fit(gaussian(X, X), y, weights),
        machine(kernel=gaussian, **parameters).fit(X, y, weights),
    )


@machines
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_machine_as_with_the_kernel_built_in(machine, parameters, n_classes, weighted):
    X, y = problem(1, n=70, n_classes=n_classes)
    new = X[:9] + 0.1
    weights = np.random.default_rng(0).integers(0, 4, len(X)) * 1.0 if weighted else None
    built_in, matrix, function = three_ways(machine, parameters, X, y, weights)
    expected = outcome(built_in, new)
    assert_allclose(outcome(matrix, gaussian(new, X)), expected, rtol=1e-6, atol=1e-6)
    assert_allclose(outcome(function, new), expected, rtol=1e-6, atol=1e-6)
    assert_array_equal(matrix.support_, built_in.support_)
    assert_array_equal(function.support_vectors_, built_in.support_vectors_)
    assert matrix.support_vectors_.shape == (0, 0)
    assert_array_equal(matrix.predict(gaussian(new, X)), machine(**matrix.get_params()).fit(
        gaussian(X, X), y, weights).predict(gaussian(new, X)))  # fmt: skip
    if hasattr(built_in, "dual_gap_"):
        assert_allclose(matrix.dual_gap_, built_in.dual_gap_, atol=1e-7)
        assert_allclose(function.dual_gap_, built_in.dual_gap_, atol=1e-7)


@pytest.mark.parametrize(("machine", "theirs"), [(SVC, reference.SVC), (SVR, reference.SVR)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_same_numbers_as_scikit_learn(machine, theirs, n_classes):
    """With a kernel that neither has."""
    X, y = problem(2, n=80, n_classes=n_classes)
    new, weights = X[:11] - 0.2, np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    for kernel, rows, queries in (
        ("precomputed", laplacian_kernel(X), laplacian_kernel(new, X)),
        (laplacian_kernel, X, new),
    ):
        ours, other = (kind(kernel=kernel, **EXACT).fit(rows, y, weights) for kind in (machine, theirs))
        assert_array_equal(ours.support_, other.support_)
        assert_allclose(ours.dual_coef_, other.dual_coef_, atol=1e-5)
        assert_allclose(ours.intercept_, other.intercept_, atol=1e-5)
        assert_allclose(outcome(ours, queries), outcome(other, queries), atol=1e-5)


def test_a_matrix_of_many_rows():
    """So many that rows would be computed on demand, in working sets."""
    X, y = problem(3, n=1600)
    built_in, matrix, _ = three_ways(SVC, {"tol": 1e-6}, X, y)
    assert_allclose(matrix.decision_function(gaussian(X[:50], X)), built_in.decision_function(X[:50]), atol=1e-4)
    assert matrix.fit_status_ == 0


@machines
def test_cross_validation_takes_rows_and_columns(machine, parameters):
    X, y = problem(4)
    expected = cross_val_score(machine(gamma=GAMMA, **parameters), X, y, cv=3)
    assert_allclose(
        cross_val_score(machine(kernel="precomputed", **parameters), gaussian(X, X), y, cv=3), expected, rtol=1e-6
    )


@pytest.mark.parametrize("machine", [SVC, LSSVC, SVR, LSSVR])
def test_scikit_learn_checks_of_a_matrix(machine):
    beyond = {"check_sample_weight_equivalence_on_dense_data"}  # it asks for 1e-7, the solver for tol=1e-3
    if machine in (LSSVC, LSSVR):
        beyond.add("check_estimators_dtypes")  # it rounds the matrix to integers, which leaves no kernel
    for estimator, check in estimator_checks_generator(machine(kernel="precomputed"), mark=None):
        if check.func.__name__ in beyond:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            check(estimator)


@machines
def test_a_file_holds_the_machine_of_a_matrix(machine, parameters, tmp_path):
    X, y = problem(5, n_classes=3)
    gram = gaussian(X, X)
    model = machine(kernel="precomputed", **parameters).fit(gram, y)
    model.save(tmp_path / "model.evk")
    again = evoke.load(tmp_path / "model.evk")
    assert again.kernel_ == "precomputed"
    assert_array_equal(outcome(again, gram), outcome(model, gram))
    model.support_ = model.support_ + len(X)
    with pytest.raises(ValueError, match=r"^support_ must hold columns of X, of which there are 60$"):
        model.save(tmp_path / "model.evk")


@machines
def test_a_file_cannot_hold_a_function(machine, parameters, tmp_path):
    X, y = problem(6)
    model = machine(kernel=gaussian, **parameters).fit(X, y)
    for now in (gaussian, "rbf"):
        model.set_params(kernel=now)
        with pytest.raises(TypeError, match=r"^kernel is <function gaussian.*, which a model file cannot hold"):
            model.save(tmp_path / "model.evk")
    assert list(tmp_path.iterdir()) == []
    assert_array_equal(outcome(pickle.loads(pickle.dumps(model)), X), outcome(model, X))


@machines
def test_a_matrix_that_is_none_is_refused(machine, parameters):
    X, y = problem(7)
    gram = gaussian(X, X)
    model = machine(kernel="precomputed", **parameters)
    with pytest.raises(ValueError, match=r"^X must be a square matrix with kernel='precomputed' .*, got shape \(60, 3"):
        model.fit(X, y)
    spoiled = gram.copy()
    spoiled[3, 5] = np.nan
    with pytest.raises(ValueError, match=r"^X contains NaN or infinity: nan at row 3, column 5$"):
        model.fit(spoiled, y)
    spoiled[3, 5] = 0.75
    with pytest.raises(ValueError, match=r"^X must be symmetric .*, but has 0.75 at row 3, column 5 and .* at row 5,"):
        model.fit(spoiled, y)
    model.fit(gram, y)
    with pytest.raises(ValueError, match=r"^X has 3 features, .* 60 features .*: with kernel='precomputed' a column"):
        model.predict(X)


@machines
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda A, B: gaussian(A, B)[:-1], r"^kernel\(X, X\) must have shape \(60, 60\), got \(59, 60\)$"),
        (lambda A, B: 1.0, r"^kernel\(X, X\) must have shape \(60, 60\), got \(\)$"),
        (lambda A, B: gaussian(A, B).astype(str), r"^kernel\(X, X\) must hold numbers, got dtype <U32"),
        (lambda A, B: np.log(gaussian(A, B) - 1.0), r"^kernel\(X, X\) contains NaN or infinity: .* at row 0, column 0"),
        (lambda A, B: A[:, :1] - B[:, 0], r"^kernel\(X, X\) must be symmetric, but has .* at row \d+, column \d+ and "),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_function_that_makes_no_matrix_is_refused(machine, parameters, kernel, message):
    with pytest.raises(ValueError, match=message):
        machine(kernel=kernel, **parameters).fit(*problem(8))


@machines
def test_a_function_that_fails_later_is_named(machine, parameters):
    X, y = problem(9)
    model = machine(kernel=lambda A, B: gaussian(A, B) if A is B else A, **parameters).fit(X, y)
    n_support = len(model.support_)
    message = rf"^kernel\(X, support_vectors_\) must have shape \(60, {n_support}\), got \(60, 3\)$"
    with pytest.raises(ParameterError, match=message):
        model.predict(X)


@pytest.mark.parametrize("machine", [SVC, SVR])
@pytest.mark.parametrize("kernel", ["precomputed", gaussian])
def test_thundersvm_has_kernels_of_its_own_only(machine, kernel):
    X, y = problem(10)
    message = "^solver must be 'auto' or 'native' where kernel is 'precomputed' or a function, got 'thundersvm'"
    with pytest.raises(ParameterError, match=message):
        machine(kernel=kernel, solver="thundersvm").fit(gaussian(X, X), y)


def test_rounding_is_no_asymmetry():
    X, y = problem(11)
    rounded = gaussian(X, X) * (1.0 + 1e-7 * np.random.default_rng(0).uniform(-1, 1, (60, 60)))
    found = SVC(kernel="precomputed").fit(rounded, y)
    even = SVC(kernel="precomputed").fit(0.5 * rounded + 0.5 * rounded.T, y)
    assert_array_equal(found.dual_coef_, even.dual_coef_)


def test_a_matrix_with_negative_eigenvalues():
    """As of elastic distances: the support vector machines end, the least-squares ones say what is wrong."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 50))
    matrix, y = A + A.T, rng.integers(0, 2, 50)
    model = SVC(kernel="precomputed", max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(matrix, y)
    assert np.isfinite(model.dual_coef_).all()
    with pytest.raises(ValueError, match=r"the kernel matrix with 1 / C on its diagonal has eigenvalues that are"):
        LSSVC(kernel="precomputed").fit(matrix, y)


@machines
def test_a_constant_moves_the_intercept_only(machine, parameters):
    """So minus a distance will do, which is positive definite only for coefficients that sum to zero."""
    X, y = problem(19)
    gram = gaussian(X, X)
    expected = machine(kernel="precomputed", **parameters).fit(gram, y)
    found = machine(kernel="precomputed", **parameters).fit(gram - 5.0, y)
    assert_allclose(outcome(found, gram - 5.0), outcome(expected, gram), atol=1e-6)
    assert_allclose(found.intercept_, expected.intercept_, atol=1e-6)
    squared = -np.sum((X[:, np.newaxis] - X) ** 2, axis=2)
    distant, linear = machine(kernel="precomputed", **parameters), machine(kernel="linear", **parameters)
    distant.fit(0.5 * squared, y), linear.fit(X, y)
    assert_allclose(outcome(distant, 0.5 * squared), outcome(linear, X), atol=1e-6)


def test_solve_takes_a_matrix_and_a_function():
    X, y = problem(12)
    options = {"gamma": GAMMA, "coef0": 0.0, "degree": 3, "epsilon": 0.0, "tol": 1e-9, "max_iter": -1,
               "solver": "native"}  # fmt: skip
    target = np.where(y, 1.0, -1.0)
    boxes = np.minimum(target, 0.0), np.maximum(target, 0.0)
    expected = solve(X, target, *boxes, kernel="rbf", **options)
    for rows, kernel in ((gaussian(X, X), "precomputed"), (X, gaussian)):
        found = solve(rows, target, *boxes, kernel=kernel, **options)
        assert_allclose(found.beta, expected.beta, atol=1e-6)
        assert_allclose(found.objective, expected.objective, rtol=1e-9)
    with pytest.raises(ValueError, match="X must be a square matrix with kernel='precomputed'"):
        solve(X, target, *boxes, kernel="precomputed", **options)


def test_calibration_by_scikit_learn():
    """Probabilities of SVC, as its documentation says."""
    X, y = problem(13, n=90)
    found = [
        CalibratedClassifierCV(machine, cv=3, ensemble=False).fit(rows, y).predict_proba(rows)
        for machine, rows in (
            (reference.SVC(gamma=GAMMA, **EXACT), X),
            (SVC(gamma=GAMMA, **EXACT), X),
            (SVC(kernel="precomputed", **EXACT), gaussian(X, X)),
        )
    ]
    assert_allclose(found[1], found[0], atol=1e-5)
    assert_allclose(found[2], found[0], atol=1e-5)


# --- weights of the features ---


@pytest.mark.parametrize(("machine", "theirs"), [(SVC, reference.SVC), (SVR, reference.SVR)])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_weights_of_the_features_are_those_of_scikit_learn(machine, theirs, n_classes):
    X, y = problem(14, n=90, n_classes=n_classes)
    ours, other = (kind(kernel="linear", **EXACT).fit(X, y) for kind in (machine, theirs))
    assert ours.coef_.shape == other.coef_.shape
    assert_allclose(ours.coef_, other.coef_, atol=1e-5)
    with pytest.raises(ValueError, match="read-only"):
        ours.coef_[0, 0] = 1.0


@machines
@pytest.mark.parametrize("n_classes", [2, 4])
def test_decisions_are_weights_times_features(machine, parameters, n_classes):
    X, y = problem(15, n_classes=n_classes)
    if "decision_function_shape" in machine().get_params():
        parameters = parameters | {"decision_function_shape": "ovo"}
    model = machine(kernel="linear", **parameters).fit(X, y)
    decisions = outcome(model, X).reshape(len(X), -1)
    assert_allclose(X @ model.coef_.T + model.intercept_, decisions, atol=1e-9)


@pytest.mark.parametrize("machine", [SVR, LSSVR])
def test_weights_of_several_outputs(machine):
    X, y = problem(16)
    model = machine(kernel="linear").fit(X, np.stack([y, X[:, 0]], axis=1))
    assert model.coef_.shape == (2, 3)
    assert_allclose(X @ model.coef_.T + model.intercept_, model.predict(X), atol=1e-9)


@machines
@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed", gaussian])
def test_other_kernels_have_no_weights_of_the_features(machine, parameters, kernel):
    X, y = problem(17)
    model = machine(kernel=kernel, **parameters)
    assert not hasattr(model, "coef_")
    model.fit(gaussian(X, X), y)
    with pytest.raises(AttributeError, match=r"^coef_ is only available with kernel='linear', not with "):
        model.coef_  # noqa: B018
    model.set_params(kernel="linear")  # of the next fit
    assert not hasattr(model, "coef_")


def test_the_linear_kernel_needs_no_gamma():
    """Whose "scale" would overflow."""
    X, y = problem(18)
    assert SVC(kernel="linear", C=1e-300).fit(1e153 * X, y).kernel_ == Kernel("linear")

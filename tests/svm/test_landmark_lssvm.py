"""Machines on landmarks: that of least squares, the choice of its parameters, blocks of rows, manners."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, estimator_checks_generator

import evoke
from evoke._core.kernel import Kernel
from evoke.svm import LSSVC, LSSVR, LandmarkLSSVC, LandmarkLSSVR, LandmarkSVC
from oracle import landmarks as oracle
from oracle import svm

KERNELS = {
    "rbf": {"kernel": "rbf", "gamma": 0.5},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0, "degree": 2},
}
each = pytest.mark.parametrize("machine", [LandmarkLSSVC, LandmarkLSSVR, LandmarkSVC])
every_kernel = pytest.mark.parametrize("name", KERNELS)


def problem(seed, n=300, d=3, n_classes=2):
    """Rows, a wave and classes made of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    wave = np.sin(2.0 * X[:, 0]) + 0.3 * rng.normal(size=n)
    return X, wave, np.argsort(np.argsort(wave)) * n_classes // n


def wanted(model, X, Y, weights, rows):
    """What the oracle says on rows with the landmarks, the kernel and the C of a model."""
    parameters = model.kernel_.name, model.kernel_.gamma, model.kernel_.coef0, model.kernel_.degree
    Z = model.support_vectors_
    shift = X.mean(axis=0) if model.kernel_.name == "linear" else 0.0
    K, gram = svm.kernel(X - shift, Z, *parameters), svm.kernel(Z, Z, *parameters)
    coef, intercept = oracle.solve(K, gram, Y, weights, model.C_)
    return svm.kernel(rows - shift, Z, *parameters) @ coef + intercept


# --- the machine ---


@every_kernel
@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
def test_the_machine_is_that_of_the_oracle(name, C):
    X, y, _ = problem(1)
    Y, weights = np.column_stack([y, np.cos(X[:, 1])]), np.random.default_rng(1).uniform(0.2, 2.0, len(X))
    model = LandmarkLSSVR(C=C, n_landmarks=20, random_state=0, **KERNELS[name]).fit(X, Y, weights)
    rows = problem(2)[0]
    assert_allclose(model.predict(rows), wanted(model, X, Y, weights, rows), atol=1e-6)
    if name == "linear":
        assert_array_equal(model.support_vectors_, np.eye(3))
        assert_array_equal(model.support_, np.arange(3))
        assert_allclose(rows @ model.coef_.T + model.intercept_, model.predict(rows), atol=1e-12)
    else:
        assert_array_equal(model.support_vectors_, X[model.support_])
        assert len(set(model.support_)) == len(model.support_) == 20
    assert model.C_ == C


@every_kernel
@pytest.mark.parametrize("weighted", [False, True])
def test_with_all_rows_it_is_the_exact_machine(name, weighted):
    X, y, codes = problem(3, n=60, n_classes=3)
    weights = np.random.default_rng(3).integers(0, 3, 60).astype(float) if weighted else None
    shared, rows = {"C": 10.0, **KERNELS[name]}, problem(4)[0]
    exact = LSSVR(**shared).fit(X, y, weights).predict(rows)
    assert_allclose(LandmarkLSSVR(**shared).fit(X, y, weights).predict(rows), exact, atol=1e-6)
    exact = LSSVC(class_weight="balanced", **shared).fit(X, codes, weights).decision_function(rows)
    model = LandmarkLSSVC(class_weight="balanced", **shared).fit(X, codes, weights)
    assert_allclose(model.decision_function(rows), exact, atol=1e-6)
    assert_array_equal(model.predict(rows), model.classes_[exact.argmax(axis=1)])


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 4), st.integers(1, 3), st.integers(1, 50))
def test_any_shape(seed, n, d, n_outputs, n_landmarks):
    rng = np.random.default_rng(seed)
    X, Y, weights = rng.normal(size=(n, d)), rng.normal(size=(n, n_outputs)), rng.uniform(0.1, 3.0, n)
    model = LandmarkLSSVR(C=10.0, gamma=0.5, n_landmarks=n_landmarks, random_state=seed).fit(X, Y, weights)
    assert model.dual_coef_.shape == (n_outputs, min(n, n_landmarks))
    K, gram = (svm.kernel(rows, model.support_vectors_, "rbf", 0.5, 0.0, 1) for rows in (X, model.support_vectors_))

    def price(coef, intercept):
        return (weights[:, None] * (K @ coef + intercept - Y) ** 2).sum() + np.trace(coef.T @ gram @ coef) / 10.0

    # landmarks that lie close together leave directions that rounding decides: the oracle does without them
    least = price(*oracle.solve(K, gram, Y, weights, 10.0, rcond=1e-10))
    assert price(model.dual_coef_.T, model.intercept_) <= least * (1.0 + 1e-6) + 1e-9
    found = LandmarkLSSVR(n_landmarks=n_landmarks, random_state=0).fit(X, Y, weights)
    assert np.isfinite(found.predict(X)).all()


def test_outputs_are_those_of_one_by_one():
    X, y, codes = problem(5, n_classes=3)
    Y = np.column_stack([y, np.cos(X[:, 1])])
    shared = {"C": 100.0, "gamma": 0.5, "n_landmarks": 30, "random_state": 0}
    together = LandmarkLSSVR(**shared).fit(X, Y)
    for k in range(2):
        alone = LandmarkLSSVR(**shared).fit(X, Y[:, k])
        assert_allclose(alone.dual_coef_[0], together.dual_coef_[k], rtol=1e-9)  # but for the rounding of y's mean
        assert alone.predict(X).shape == (len(X),)
    several = LandmarkLSSVC(**shared).fit(X, codes)
    for k in range(3):
        alone = LandmarkLSSVC(**shared).fit(X, codes == k)
        assert_array_equal(alone.decision_function(X), several.decision_function(X)[:, k])


def test_units_and_offsets_of_y_and_offsets_of_X_change_nothing():
    X, y, _ = problem(6)
    shared = {"C": 10.0, "gamma": 0.5, "n_landmarks": 30, "random_state": 0}
    expected = LandmarkLSSVR(**shared).fit(X, y).predict(X)
    assert_allclose((LandmarkLSSVR(**shared).fit(X, 1e-6 * y + 1e3).predict(X) - 1e3) / 1e-6, expected, atol=1e-6)
    line = LandmarkLSSVR(C=10.0, kernel="linear").fit(X, y).predict(X)
    assert_allclose(LandmarkLSSVR(C=10.0, kernel="linear").fit(X + 1e8, y).predict(X + 1e8), line, atol=1e-6)


def test_constant_targets_constant_rows_and_one_row():
    X, y, _ = problem(7)
    of_zeros = LandmarkLSSVR(kernel="poly", random_state=0).fit(np.zeros((300, 2)), y)
    assert_allclose(of_zeros.predict([[0.0, 0.0]]), y.mean(), atol=1e-6)
    for model in LandmarkLSSVR(random_state=0), LandmarkLSSVR(kernel="linear"), LandmarkLSSVR(kernel="poly"):
        assert_allclose(clone(model).fit(X, np.full(len(X), 3.0)).predict(X), 3.0, rtol=1e-9)
        assert_allclose(clone(model).fit(np.full((300, 2), 5.0), y).predict([[5.0, 5.0]]), y.mean(), atol=1e-6)
        assert_allclose(clone(model).fit([[1.0]], [-4.0]).predict([[1.0]]), -4.0, rtol=1e-9)


def test_rows_without_weight_are_no_rows():
    X, y, codes = problem(8)
    weights = np.arange(len(X)) % 2 * 1.5
    for machine, targets in (LandmarkLSSVR, y), (LandmarkLSSVC, codes):
        model = machine(n_landmarks=20, random_state=0).fit(X, targets, weights)
        odd = machine(n_landmarks=20, random_state=0).fit(X[1::2], targets[1::2], weights[1::2])
        assert_allclose(model.dual_coef_, odd.dual_coef_, rtol=1e-9)
        assert_array_equal(model.support_, 2 * odd.support_ + 1)
        assert model.C_ == odd.C_


# --- the choice of gamma and C ---


def test_what_is_chosen_is_as_good_as_the_best_of_the_grid():
    X, y, _ = problem(9, n=1500)
    rows, values, _ = problem(10, n=1500)
    model = LandmarkLSSVR(n_landmarks=100, random_state=0).fit(X, y)
    mean = 2.0 * X.var(axis=0).sum() * 1500 / 1499
    scores = {
        (gamma, C): LandmarkLSSVR(n_landmarks=100, gamma=gamma, C=C, random_state=0).fit(X, y).score(rows, values)
        for gamma in np.array([0.1, 0.3, 1.0, 3.0, 10.0]) / mean for C in (0.01, 1.0, 100.0, 1e4, 1e6)
    }  # fmt: skip
    assert any(np.isclose(model.kernel_.gamma, gamma, rtol=1e-12) for gamma, _ in scores)
    assert model.score(rows, values) > max(scores.values()) - 0.01
    assert min(scores.values()) < max(scores.values()) - 0.1


def test_one_of_both_may_be_given():
    X, y, _ = problem(11)
    model = LandmarkLSSVR(gamma=0.7, random_state=0).fit(X, y)
    assert model.kernel_.gamma == 0.7
    assert model.C_ in (0.01, 1.0, 100.0, 1e4, 1e6)
    model = LandmarkLSSVR(C=3.0, random_state=0).fit(X, y)
    assert model.C_ == 3.0


def test_seeds():
    X, y, _ = problem(12)
    models = [LandmarkLSSVR(n_landmarks=20, random_state=seed).fit(X, y) for seed in (0, 0, np.random.RandomState(3))]
    assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    # of few rows all are looked at, and with gamma and C given nothing is left to chance
    given = [LandmarkLSSVR(C=1.0, gamma=1.0, random_state=seed).fit(X, y).dual_coef_ for seed in (0, 1)]
    assert_array_equal(*given)


# --- rows that come in blocks ---


@each
def test_arrays_on_disk_and_of_any_kind_give_the_same_bits(machine, tmp_path):
    X, _, codes = problem(13, n=9000, d=2)
    X = X.astype(np.float32)
    model = machine(n_landmarks=30, random_state=0)
    expected = clone(model).fit(X.astype(float), codes)
    values = expected.predict(X.astype(float))
    X.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", np.float32, "r", shape=X.shape)
    for rows in X, mapped, np.asfortranarray(X), X[::-1].copy()[::-1], X.astype(object):
        found = clone(model).fit(rows, codes)
        assert_array_equal(found.dual_coef_, expected.dual_coef_)
        assert_array_equal(found.predict(rows), values)


@each
def test_threads_give_the_same_bits(machine):
    X, _, codes = problem(14, n=30_000, d=2)
    one, two = (machine(n_landmarks=40, random_state=0, n_jobs=n_jobs).fit(X, codes) for n_jobs in (None, 2))
    assert_array_equal(one.dual_coef_, two.dual_coef_)
    assert_array_equal(one.predict(X), two.predict(X))


@each
@pytest.mark.parametrize("at", [0, 4095, 4096, 8999])
def test_what_is_odd_is_named_by_its_row(machine, at):
    X, _, codes = problem(15, n=9000, d=2)
    fitted = machine(n_landmarks=5, random_state=0).fit(X, codes)
    X[at, 1] = np.nan
    message = rf"X contains NaN or infinity: nan at row {at}, column 1"
    with pytest.raises(ValueError, match=message):
        machine(n_landmarks=5, random_state=0).fit(X, codes)
    with pytest.raises(ValueError, match=message):
        fitted.predict(X)


def test_few_rows_of_many_are_looked_at_first(monkeypatch):
    from evoke.svm import _chosen

    monkeypatch.setattr(_chosen, "MOST_ROWS", 200)
    X, y, _ = problem(16, n=9000, d=2)
    models = [LandmarkLSSVR(n_landmarks=30, random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    assert_array_equal(models[0].support_, models[1].support_)
    assert (models[0].support_ != models[2].support_).any()
    for model in models:
        assert_array_equal(model.support_vectors_, X[model.support_])
        assert_allclose(model.predict(X), wanted(model, X, y[:, None], np.ones(9000), X)[:, 0], atol=1e-4)


# --- what cannot be ---


@each
def test_what_overflows_is_named(machine):
    X, _, codes = problem(17)
    with pytest.raises(ValueError, match=r"gamma='auto' needs distances between the rows of X, .* scale X"):
        machine().fit(X * 1e200, codes)
    for kernel in ({"kernel": "linear"}, {"kernel": "poly", "gamma": 1.0}):
        with pytest.raises(ValueError, match="the kernel overflows: kernel="):
            machine(**kernel).fit(X * 1e200, codes)
    with pytest.raises(ValueError, match="the kernel overflows: kernel='poly'"):
        machine(kernel="poly", gamma=1.0).fit(X, codes).predict(np.full((1, 3), 1e200))
    with pytest.raises(ValueError, match="C=1e-300 times class_weight and sample_weight is out of the range"):
        machine(C=1e-300).fit(X, codes, np.full(len(X), 1e-300))


def test_labels():
    X, _, codes = problem(18)
    model = LandmarkLSSVC(n_landmarks=20, random_state=0).fit(X, np.array(["no", "yes"])[codes])
    assert set(model.predict(X)) == {"no", "yes"}
    assert model.score(X, np.array(["no", "yes"])[codes]) > 0.8
    assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)
    with pytest.raises(ValueError, match="y has 1 class"):
        LandmarkLSSVC().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="sample_weight is zero for all rows of class 1"):
        LandmarkLSSVC().fit(X, codes, (codes == 0).astype(float))


# --- probabilities ---


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"gamma": 0.5, "C": 1.0}])
def test_probabilities_are_calibrated(n_classes, settings):
    X, _, codes = problem(19, n=3000, n_classes=n_classes)
    rows, _, true = problem(20, n=3000, n_classes=n_classes)
    model = LandmarkLSSVC(n_landmarks=50, probability=True, random_state=0, **settings).fit(X, codes)
    found = model.predict_proba(rows)
    assert found.shape == (3000, n_classes)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(rows))
    assert abs(found.max(axis=1).mean() - model.score(rows, true)) < 0.05


def test_probabilities_must_be_asked_for():
    X, _, codes = problem(21)
    model = LandmarkLSSVC(n_landmarks=5, random_state=0).fit(X, codes)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotFittedError, match="predict_proba needs a fit with probability=True"):
        model.set_params(probability=True).predict_proba(X)
    with pytest.raises(NotFittedError):
        LandmarkLSSVC(probability=True).predict_proba(X)
    assert hasattr(model.fit(X, codes), "_slope")
    assert not hasattr(model.set_params(probability=False).fit(X, codes), "_slope")


# --- manners ---


def test_files_and_copies(tmp_path):
    X, y, codes = problem(22, n_classes=3)
    models = [
        LandmarkLSSVC(n_landmarks=20, random_state=0, probability=True).fit(X, codes),
        LandmarkLSSVR(n_landmarks=20, random_state=0).fit(X, np.column_stack([y, -y])),
        LandmarkLSSVR(kernel="linear").fit(X, y),
    ]
    for model in models:
        model.save(tmp_path / "model.evk")
        for again in evoke.load(tmp_path / "model.evk"), copy.deepcopy(model), pickle.loads(pickle.dumps(model)):
            assert again.get_params() == model.get_params()
            assert_array_equal(again.predict(X), model.predict(X))
            assert again.C_ == model.C_
            assert again.kernel_ == model.kernel_
        if hasattr(model, "predict_proba"):
            assert_array_equal(evoke.load(tmp_path / "model.evk").predict_proba(X), model.predict_proba(X))
    models[0].C_ = 0.0
    with pytest.raises(ValueError, match=r"C_ must be a positive finite number, got 0\.0"):
        models[0].save(tmp_path / "model.evk")


def test_a_fit_that_fails_leaves_the_model_of_the_last_one():
    X, y, _ = problem(23)
    model = LandmarkLSSVR(n_landmarks=20, random_state=0).fit(X, y)
    expected = model.predict(X)
    with pytest.raises(ValueError):
        model.fit(X * np.nan, y)
    assert_array_equal(model.predict(X), expected)


def test_grid_search():
    X, _, codes = problem(24)
    found = GridSearchCV(LandmarkLSSVC(random_state=0), {"n_landmarks": [1, 30]}, cv=3).fit(X, codes)
    assert found.best_params_ == {"n_landmarks": 30}


CANNOT_PASS = {
    "check_sample_weight_equivalence_on_dense_data": "landmarks, gamma and C are chosen on rows, not on their weights"
}
CHECKS = [
    pair for model in (LandmarkLSSVC(), LandmarkLSSVR(), LandmarkSVC())
    for pair in estimator_checks_generator(model, expected_failed_checks=CANNOT_PASS, mark="xfail")
]  # fmt: skip


@pytest.mark.parametrize(
    "estimator, check", CHECKS, ids=lambda value: getattr(getattr(value, "func", None), "__name__", None)
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        check(estimator)


@each
def test_weights_where_nothing_is_chosen(machine):
    check_sample_weight_equivalence_on_dense_data(machine.__name__, machine(gamma=0.05, C=1.0))


def test_a_kernel_in_a_model_is_one_of_ours():
    X, y, _ = problem(25, n=20)
    model = LandmarkLSSVR(random_state=0).fit(X, y)
    assert type(model.kernel_) is Kernel
    assert isinstance(model.C_, float)

"""Support vector machines: what scikit-learn expects of them."""

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
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data, estimator_checks_generator

from evoke._core.kernel import Kernel
from evoke.svm import LSSVC, LSSVR, SVC, SVR, LandmarkLSSVC, LandmarkLSSVR, LandmarkSVC, _lssvm, _svc, _svr
from helpers.machines import both_solvers, problem

PLAIN = (np.ndarray, int, float, str, tuple, dict, type(None), Kernel)  # what a fitted model is made of


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
        (X, y[:-1], r"y has shape \(59,\), but X has 60 rows; each needs a target"),
        (X[0], y, r"X must be a 2-D array, got shape \(3,\)"),
        (X[:0], y[:0], "0 sample"),
        (X[:, :0], y, "0 feature"),
        (X, np.stack([y, y], axis=1), r"y must be 1-D, got shape \(60, 2\)"),
        (X, np.array(1), r"y has shape \(\), but X has 60 rows"),
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

    for module, name in (_svc, "solve_each"), (_svr, "solve_each"), (_lssvm.core_readout, "fit_readout"):
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
machines = pytest.mark.parametrize("machine", [SVC, SVR, LSSVC, LSSVR, LandmarkLSSVC, LandmarkLSSVR, LandmarkSVC])


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


@pytest.mark.parametrize("machine", [SVC, LSSVC, LandmarkLSSVC, LandmarkSVC])
@pytest.mark.parametrize("weight", ["x", None, np.nan, np.ones(2), 0.0, -1])
def test_class_weight_that_is_no_positive_number_is_named(machine, weight):
    with pytest.raises(ValueError, match=r"^class_weight of class 0 must be a positive finite number, got "):
        machine(class_weight={0: weight}).fit(FOUR_ROWS, TWO_LABELS)


@machines
def test_parameters_in_single_precision(machine):
    names = {"coef0", "C", "gamma", "tol", "epsilon", "cache_size"} & set(machine().get_params())
    single, double = ({name: kind(0.5) for name in names} for kind in (np.float32, float))
    queries = FOUR_ROWS + 0.25
    expected = machine(kernel="poly", **double).fit(FOUR_ROWS, TWO_LABELS).predict(queries)
    assert_array_equal(machine(kernel="poly", **single).fit(FOUR_ROWS, TWO_LABELS).predict(queries), expected)

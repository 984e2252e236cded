"""A fit of a support vector machine takes effect as a whole or not at all."""

import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from evoke.svm import LSSVC, LSSVR, SVC, SVR
from helpers.machines import problem

machines = pytest.mark.parametrize("machine", [SVC, SVR, LSSVC, LSSVR])


def unchanged(model, before):
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@machines
@pytest.mark.parametrize(
    ("X", "y", "options"),
    [
        (np.ones((2, 5)), [0, np.nan], {}),
        (np.ones((2, 5)), None, {}),
        (np.ones((2, 5)), [0, 1, 1], {}),
        (np.ones((2, 5)), [0, 1], {"sample_weight": [1, -1]}),
        (np.ones((2, 5)), [0, 1], {"sample_weight": [1e-320, 1e-320]}),
        (np.outer([1e200, -1e200], np.ones(5)), [0, 1], {}),
    ],
)
def test_a_fit_that_is_refused_leaves_the_model_as_it_was(machine, X, y, options):
    model = machine(gamma="scale").fit(np.eye(2), [0, 1])
    before = dict(vars(model))
    with pytest.raises(ValueError):
        model.fit(X, y, **options)
    unchanged(model, before)
    with pytest.raises(ValueError, match=f"X has 5 features, but {machine.__name__} is expecting 2 features"):
        model.predict(np.ones((1, 5)))


@machines
def test_a_fit_that_is_refused_keeps_the_names_of_features(machine):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.eye(2), columns=["a", "b"])
    model = machine(gamma=1.0).fit(frame, [0, 1])
    before = dict(vars(model))
    with pytest.raises(ValueError):
        model.fit(frame.rename(columns={"a": "c"}), [0, np.inf])
    unchanged(model, before)
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert not hasattr(model.fit(np.eye(2), [0, 1]), "feature_names_in_")


def test_a_warning_that_is_an_error_leaves_the_model_as_it_was():
    X, y = problem(31)
    model = SVC(C=100.0, gamma=0.5, max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            model.fit(X, y)
    assert not hasattr(model, "support_")


@machines
def test_a_thread_that_predicts_sees_the_model_of_one_fit(machine):
    """The models differ in their number of features, of support vectors and, of classifiers, of classes."""
    model, rows = machine(gamma=0.5), np.zeros((1, 2))
    fits = [(np.eye(2), [0, 1]), (np.random.default_rng(0).normal(size=(9, 3)), np.arange(9) % 3)]
    expected = machine(gamma=0.5).fit(*fits[0]).predict(rows)
    model.fit(*fits[0])
    stop, found, errors = threading.Event(), [], []

    def predict():
        while not stop.is_set():
            try:
                found.append(model.predict(rows))
            except ValueError as error:
                errors.append(str(error))

    thread = threading.Thread(target=predict)
    thread.start()
    for _ in range(400):
        for fit in fits:
            model.fit(*fit)
    stop.set()
    thread.join()
    assert set(errors) <= {f"X has 2 features, but {machine.__name__} is expecting 3 features as input."}
    for one in found:
        assert_array_equal(one, expected)

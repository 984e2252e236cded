"""The same mistake in the data is met with the same words by the machines and by the estimators of sequences.

What is a step of a sequence to an estimator is a row to a machine, and a machine takes only one kind of X.
"""

import warnings

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeRegressor
from evoke.svm import LSSVC, LSSVR, SVC, SVR

TINY = {"n_cells": 2, "n_generations": 1, "subpopulation_size": 4, "n_trials": 1, "random_state": 0}
CLASSIFIERS, REGRESSORS = (EvokeClassifier, SVC, LSSVC), (EvokeRegressor, SVR, LSSVR)
X = np.random.default_rng(0).normal(size=(12, 2))
Y = (X[:, 0] > 0).astype(int)


def with_one(values, index, value, dtype=None):
    values = np.array(values, dtype=dtype)
    values[index] = value
    return values


def refusal(call):
    """What the call is refused with, in the words of an estimator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError)) as found:
            call()
    text = str(found.value).replace("a list of 2-D arrays, a 3-D array or a 2-D array", "a 2-D array")
    return type(found.value), text.replace("12 steps", "12 rows").replace("step", "row")


def make(kind):
    return kind(**TINY) if kind.__name__.startswith("Evoke") else kind()


BAD_X = {
    "NaN": (with_one(X, (3, 1), np.nan), ValueError, "X contains NaN or infinity: nan at row 3, column 1"),
    "infinity": (with_one(X, (3, 1), -np.inf), ValueError, "X contains NaN or infinity: -inf at row 3, column 1"),
    "None": (None, ValueError, "X must be a 2-D array, got NoneType None. Reshape your data"),
    "dict": ({"a": 1}, ValueError, "X must be a 2-D array, got dict {'a': 1}. Reshape your data"),
    "set": ({1}, ValueError, "X must be a 2-D array, got set {1}. Reshape your data"),
    "text": ("abc", ValueError, "X must be a 2-D array, got str 'abc'. Reshape your data"),
    "one dimension": (X[:, 0], ValueError, "X must be a 2-D array, got shape (12,). Reshape your data"),
    "texts": (np.full((12, 2), "abc"), ValueError, "X must hold numbers, got dtype <U3: 'abc' at row 0, column 0"),
    "complex": (X + 1j, ValueError, "X is complex. Complex data not supported"),
    "dates": (X.astype("M8[s]"), ValueError, "X must hold numbers, got dtype datetime64[s]"),
    "masked": (np.ma.array(X, mask=X > 0), ValueError, "X has masked values; every value is needed"),
    "an object": (with_one(X, (3, 1), {}, object), TypeError, "X must hold numbers: float() argument must be"),
    "no rows": (X[:0], ValueError, "X has 0 sample(s) (shape=(0, 2)) while a minimum of 1 is required."),
    "no columns": (X[:, :0], ValueError, "X has 0 feature(s) (shape=(12, 0)) while a minimum of 1 is required."),
}


@pytest.mark.parametrize("what", BAD_X)
@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_rows(kind, what):
    rows, error, words = BAD_X[what]
    fitted = make(kind).fit(X, Y)
    said = {refusal(call) for call in (
        lambda: make(kind).fit(rows, Y), lambda: fitted.predict(rows), lambda: fitted.score(rows, Y),
    )}  # fmt: skip
    assert len(said) == 1 and said == {refusal(lambda: make(EvokeRegressor).fit(rows, Y))}
    (found, text), = said
    assert issubclass(found, error) and text.startswith(words)


BAD_WEIGHTS = {
    "negative": (with_one(np.ones(12), 4, -1.0), "must be finite and not negative: sample_weight is -1.0 at row 4"),
    "NaN": (with_one(np.ones(12), 4, np.nan), "must be finite and not negative: sample_weight is nan at row 4"),
    "infinity": (with_one(np.ones(12), 4, np.inf), "must be finite and not negative: sample_weight is inf at row 4"),
    "None among them": ([None] * 12, "must be finite and not negative: sample_weight is None at row 0"),
    "few": (np.ones(5), "has shape (5,), but X has 12 rows; each needs a weight"),
    "number": (1.0, "has shape (), but X has 12 rows; each needs a weight"),
    "dict": ({}, "has shape (), but X has 12 rows; each needs a weight"),
    "zero": (np.zeros(12), "is zero for all of X"),
    "text": (["a"] * 12, "must hold numbers, got dtype <U1: 'a' at row 0"),
}


@pytest.mark.parametrize("what", BAD_WEIGHTS)
@pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)
def test_weights(kind, what):
    weights, words = BAD_WEIGHTS[what]
    fitted = make(kind).fit(X, Y)
    for call in (
        lambda: make(kind).fit(X, Y, sample_weight=weights), lambda: fitted.score(X, Y, sample_weight=weights)
    ):
        found, text = refusal(call)
        assert issubclass(found, ValueError) and text == f"sample_weight {words}"


OF_ANY = {
    "None": (None, "this estimator requires y to be passed, but the target y is None"),
    "few": (Y[:5], "y has shape (5,), but X has 12 rows; each needs a target"),
    "number": (1, "y has shape (), but X has 12 rows; each needs a target"),
    "mixed": ([1, "a"] * 6, "y mixes text with other labels: ['int', 'str']"),
}
TO_LEARN = {
    "one class": (np.zeros(12, int), "y has 1 class, 0; at least two are needed"),
    "one class of text": (np.array(["a"] * 12), "y has 1 class, 'a'; at least two are needed"),
    "None for all": ([None] * 12, "y has missing labels: y is None at row 0"),
    "NaN": (with_one(Y, 3, np.nan, float), "y contains NaN or infinity: y is nan at row 3"),
    "dicts": ([{}] * 12, "y mixes labels that have no order: '<' not supported between instances of 'dict' and 'dict'"),
    "sets": ([{1}, {2}] * 6, "y has labels that have no order, such as {1}"),
    "objects": (np.array([1, "a"] * 6, object), "y mixes labels that have no order: '<' not supported"),
    "dates": (Y.astype("M8[s]"), "y holds labels of dtype datetime64[s]; they must be numbers, strings or booleans"),
    "times": (Y.astype("m8[s]"), "y holds labels of dtype timedelta64[s]; they must be numbers, strings or booleans"),
    "complex": (Y + 1j, "y holds labels of dtype complex128; they must be numbers, strings or booleans"),
    "a regression": (X[:, 0], "Unknown label type: continuous. y holds fractions that hardly repeat"),
}
TO_SCORE = {
    "None for all": ([None] * 12, "y contains NaN: y is None at row 0"),
    "NaN": (with_one(Y, 3, np.nan, float), "y contains NaN: y is nan at row 3"),
    "of another kind": (["a", "b"] * 6, "y has labels of dtype <U1, but the model has classes of dtype int64"),
}


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_labels(kind):
    fitted = make(kind).fit(X, Y)
    for cases, call in (OF_ANY | TO_LEARN, make(kind).fit), (OF_ANY | TO_SCORE, fitted.score):
        for what, (labels, words) in cases.items():
            error, text = refusal(lambda call=call, labels=labels: call(X, labels))
            assert issubclass(error, ValueError) and text.startswith(words), (what, text)


VALUES = {
    "None for all": ([None] * 12, "y contains NaN or infinity: y is None at row 0"),
    "infinity": (with_one(Y, 3, np.inf, float), "y contains NaN or infinity: y is inf at row 3"),
    "dicts": ([{}] * 12, "y must hold numbers: float() argument must be a string or a real number, not 'dict'"),
    "text": (["a"] * 12, "y must hold numbers, got dtype <U1"),
    "dates": (Y.astype("M8[s]"), "y must hold numbers, got dtype datetime64[s]"),
    "complex": (Y + 1j, "y is complex. Complex data not supported"),
}


@pytest.mark.parametrize("kind", REGRESSORS)
def test_values(kind):
    fitted = make(kind).fit(X, Y)
    for what, (values, words) in (OF_ANY | VALUES).items():
        for call in make(kind).fit, fitted.score:
            error, text = refusal(lambda call=call, values=values: call(X, values))
            assert issubclass(error, ValueError) and text.startswith(words), (what, text)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_weights_of_classes(kind):
    for weights, words in (
        ({5: 1}, "class_weight has 5, which is none of the classes [0, 1]"),
        ({np.int64(5): 1, 0: 1}, "class_weight has 5, which is none of the classes [0, 1]"),
        ({np.int64(0): -1}, "class_weight of class 0 must be a positive finite number, got -1"),
    ):
        error, text = refusal(lambda weights=weights: make(kind).set_params(class_weight=weights).fit(X, Y))
        assert issubclass(error, ValueError) and text == words


@pytest.mark.parametrize("kind", [SVC, LSSVC])
def test_a_class_without_weight_is_shown_as_the_user_knows_it(kind):
    for labels, shown in (Y, "0"), (np.where(Y == 1, "yes", "no"), "'no'"), (Y == 1, "False"):
        words = f"sample_weight is zero for all rows of class {shown}: it cannot be learned"
        assert refusal(lambda labels=labels: kind().fit(X, labels, Y)) == (ValueError, words)


@pytest.mark.parametrize("kind", [SVC, LSSVC])
def test_scores_count_by_weight(kind):
    model = kind().fit(X, Y)
    truth = np.where(np.arange(12) < 3, 1 - Y, Y)
    right = model.predict(X) == truth
    assert model.score(X, truth) == right.mean()
    weights = np.arange(12.0)
    assert model.score(X, truth.tolist(), weights) == pytest.approx(np.average(right, weights=weights), rel=1e-15)

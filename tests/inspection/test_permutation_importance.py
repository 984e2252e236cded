"""The importance of features: what is exchanged, what is scored, in which containers, and what is refused."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.exceptions import ParameterError
from evoke.inspection import permutation_importance

TINY = {"n_cells": 2, "n_generations": 2, "random_state": 0}


def whole(n=24, n_features=3, equal=False):
    """Sequences whose second feature says what their label is."""
    rng, y = np.random.default_rng(0), np.arange(n) % 2
    X = [rng.normal(size=(12 if equal else 8 + i % 5, n_features)) for i in range(n)]
    for x, label in zip(X, y, strict=True):
        x[:, 1] += 3 * label
    return X, y


def echoes(lengths):
    """Each target is the sign of the first of two features at this step and the one before."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 2)) for length in lengths]
    return X, [(x[:, 0] + 0.5 * np.roll(x[:, 0], 1) > 0).astype(int) for x in X]


class Recorder(ClassifierMixin, BaseEstimator):
    """Knows the targets by heart, keeps what it is asked."""

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(np.concatenate([np.atleast_1d(part) for part in y])), []
        return self

    def predict(self, X):
        self.seen_.append(X)
        return np.array([int(np.mean(x[:, 0]) > 0) for x in X])


# ---- what is exchanged


def columns(X, k):
    return [np.asarray(x)[:, k] for x in X]


def test_whole_courses_change_places_and_nothing_else():
    X, y = [np.column_stack([np.arange(5) + 10 * i, np.full(5, -i)]) for i in range(6)], np.arange(6) % 2
    model = Recorder().fit(X, y)
    result = permutation_importance(model, X, y, n_repeats=3, random_state=0)
    assert result.importances.shape == (2, 3)
    first, *exchanged = model.seen_
    assert len(exchanged) == 6
    np.testing.assert_array_equal(first, X)
    for k, x in enumerate(exchanged):
        changed, same = divmod(k, 3)[0], 1 - divmod(k, 3)[0]
        np.testing.assert_array_equal(columns(x, same), columns(X, same))
        assert sorted(map(tuple, columns(x, changed))) == sorted(map(tuple, columns(X, changed)))
        assert any((a != b).any() for a, b in zip(columns(x, changed), columns(X, changed), strict=True))


def test_courses_of_other_lengths_are_cut_or_begin_again():
    lengths = [2, 5, 3, 7]
    X, y = [np.arange(length)[:, None] + 10.0 * i for i, length in enumerate(lengths)], [0, 1, 0, 1]
    model = Recorder().fit(X, y)
    permutation_importance(model, X, y, n_repeats=8, random_state=0)
    for x in model.seen_:
        taken = [int(part[0, 0] // 10) for part in x]
        assert sorted(taken) == [0, 1, 2, 3]
        for part, source, length in zip(x, taken, lengths, strict=True):
            np.testing.assert_array_equal(part[:, 0], np.resize(X[source][:, 0], length))


@pytest.mark.parametrize("block_length, n_blocks", [(None, 10), (25, 4), (30, 3), (1, 100)])
def test_blocks_of_a_single_sequence(block_length, n_blocks):
    seen = []

    def score(model, X, y):
        seen.append(np.concatenate(X)[:, 0])
        return 0.0

    X, y = np.arange(100.0)[:, None], np.arange(100) % 2
    model = EvokeClassifier(**TINY).fit(X, y)
    permutation_importance(model, X, y, scoring=score, block_length=block_length, n_repeats=20, random_state=0)
    np.testing.assert_array_equal(seen[0], X[:, 0])
    jumps = {int(step) for x in seen for step in np.flatnonzero(np.diff(x) != 1) + 1}
    assert jumps >= {k * 100 // n_blocks for k in range(1, n_blocks)}
    for x in seen:
        # a seam is where a block begins, or where one that is too short begins again
        assert np.count_nonzero(np.diff(x) != 1) <= 2 * n_blocks


# ---- what it finds


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss_of_decisions"])
def test_the_feature_that_matters(equal, scoring):
    X, y = whole(equal=equal)
    X = np.stack(X) if equal else X
    model = EvokeClassifier(n_cells=2, subpopulation_size=30, n_networks=5, random_state=0).fit(X, y)
    if scoring == "neg_log_loss_of_decisions":
        def scoring(model, X, y):
            return -np.log1p(np.exp(-(2 * y - 1) * model.decision_function(X))).mean()
    result = permutation_importance(model, X, y, scoring=scoring, random_state=0)
    assert result.importances_mean.argmax() == 1
    assert result.importances_mean[1] > 5 * np.abs(result.importances_mean[[0, 2]]).max()
    np.testing.assert_array_equal(result.importances_mean, result.importances.mean(axis=1))
    np.testing.assert_array_equal(result.importances_std, result.importances.std(axis=1))


@pytest.mark.parametrize("lengths", [[60], [20, 30, 25]])
@pytest.mark.parametrize("scoring", [None, "accuracy", "balanced_accuracy"])
def test_targets_of_steps(lengths, scoring):
    X, y = echoes(lengths)
    model = EvokeClassifier(n_cells=5, n_generations=10, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    result = permutation_importance(model, X, y, scoring=scoring, random_state=0)
    assert result.importances_mean[0] > 3 * abs(result.importances_mean[1])
    flat = {"X": np.concatenate(X), "y": np.concatenate(y), "lengths": lengths}
    again = permutation_importance(model, **flat, scoring=scoring, random_state=0)
    np.testing.assert_allclose(again.importances, result.importances, rtol=1e-12, atol=1e-12)
    if len(lengths) == 1:
        again = permutation_importance(model, X[0], y[0], scoring=scoring, random_state=0)
        np.testing.assert_allclose(again.importances, result.importances, rtol=1e-12, atol=1e-12)


def test_a_regressor_and_its_scores():
    X, labels = whole()
    y = np.array([x[:, 1].mean() for x in X])
    model = EvokeRegressor(n_cells=2, subpopulation_size=30, n_networks=5, random_state=0).fit(X, y)
    found = permutation_importance(model, X, y, scoring=["r2", "neg_mean_absolute_error"], random_state=0)
    assert set(found) == {"r2", "neg_mean_absolute_error"}
    np.testing.assert_allclose(found["r2"].importances, permutation_importance(model, X, y, random_state=0).importances)
    y = [np.cumsum(x[:, 1]) for x in X]
    model = EvokeRegressor(**TINY).fit(X, y)
    assert permutation_importance(model, X, y, scoring="r2", random_state=0).importances_mean.argmax() == 1
    X, y = np.stack([x[:8] for x in X]), np.stack([x[:8] for x in y])
    a, b = (permutation_importance(model, X, y, scoring=scoring, random_state=0) for scoring in (None, "r2"))
    np.testing.assert_allclose(a.importances, b.importances)


# ---- containers, seeds, jobs


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_data_frames(library, scoring):
    frame = pytest.importorskip(library).DataFrame
    X, y = whole()
    model = EvokeClassifier(**TINY, subpopulation_size=10, n_networks=2).fit(X, y)
    expected = permutation_importance(model, X, y, random_state=0).importances
    frames = [frame(dict(zip("abc", x.T, strict=True))) for x in X]
    found = permutation_importance(model.fit(frames, y), frames, y, scoring=scoring, random_state=0)
    np.testing.assert_array_equal(found.importances, expected)  # and no warning of names that are missing


def test_a_data_frame_with_lengths():
    pd = pytest.importorskip("pandas")
    X, y = echoes([10, 14])
    frame, labels = pd.DataFrame(np.concatenate(X), columns=["a", "b"]), np.concatenate(y)
    model = EvokeClassifier(**TINY).fit(frame, labels, lengths=[10, 14])
    expected = permutation_importance(model, frame, labels, lengths=[10, 14], random_state=0)
    found = permutation_importance(model, frame, labels, lengths=[10, 14], scoring="accuracy", random_state=0)
    np.testing.assert_allclose(found.importances, expected.importances, atol=1e-12)


def test_searches_and_pipelines():
    X, y = whole(equal=True)
    X = np.stack(X)
    model = EvokeClassifier(**TINY, subpopulation_size=10, n_networks=2)
    search = GridSearchCV(make_pipeline(model), {"evokeclassifier__C": [1.0]}, cv=2).fit(X, y)
    expected = permutation_importance(model.fit(X, y).set_params(C=1.0).fit(X, y), X, y, random_state=0)
    found = permutation_importance(search, X, y, random_state=0)
    np.testing.assert_array_equal(found.importances, expected.importances)


@pytest.mark.parametrize("per_step", [False, True])
@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_jobs_change_nothing(per_step, scoring):
    X, y = echoes([12, 15, 9]) if per_step else whole(n=10)
    settings = {} if per_step else {"subpopulation_size": 10, "n_networks": 2}
    model = EvokeClassifier(**TINY, **settings).fit(X, y)
    one, two = (
        permutation_importance(model, X, y, scoring=scoring, random_state=0, n_jobs=n_jobs) for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(one.importances, two.importances)
    with parallel_config("loky"):
        two = permutation_importance(model, X, y, scoring=scoring, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(one.importances, two.importances)


@pytest.mark.parametrize(
    "seed", [0, 2**70, lambda: np.random.default_rng(0), lambda: np.random.RandomState(0), np.random.SeedSequence(3)]
)
def test_seeds(seed):
    X, y = whole(n=10)
    model = EvokeClassifier(**TINY, subpopulation_size=10, n_networks=2).fit(X, y)
    a, b = (
        permutation_importance(model, X, y, random_state=seed() if callable(seed) else seed).importances
        for _ in range(2)
    )
    np.testing.assert_array_equal(a, b)


# ---- what it refuses


def test_what_it_refuses():
    X, y = whole(n=6)
    model = EvokeClassifier(**TINY, subpopulation_size=4, n_networks=1)
    with pytest.raises(NotFittedError):
        permutation_importance(model, X, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"^X has n_samples=1 sequences of 8 steps: nothing to exchange$"):
        permutation_importance(model, X[:1], y[:1])
    with pytest.raises(ValueError, match="y has 5 targets, X has 6 sequences"):
        permutation_importance(model, X, y[:5])
    with pytest.raises(ParameterError, match="model must be a classifier or regressor of sequences, got EvokeForecas"):
        permutation_importance(EvokeForecaster(**TINY).fit(np.sin(np.arange(40.0))), X, y)
    X, y = echoes([9])
    model = EvokeClassifier(**TINY).fit(X, y)
    with pytest.raises(ValueError, match=r"nothing to exchange, lower block_length$"):
        permutation_importance(model, X, y, block_length=9)

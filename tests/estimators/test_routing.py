"""`lengths` and `sample_weight` on their way through scikit-learn: metadata routing, pipelines, searches, folds."""

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor

TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
LENGTHS = [3, 7, 4, 6, 5, 8, 9, 3]
X = [np.random.default_rng(k).normal(size=(length, 2)) for k, length in enumerate(LENGTHS)]
Y = {EvokeClassifier: [np.where(x[:, 0] > 0, "up", "down") for x in X], EvokeRegressor: [x.sum(axis=1) for x in X]}
FLAT = np.concatenate(X)
WEIGHTS = np.array([1, 2, 3, 1, 2, 3, 1, 2])
FOLDS = KFold(2)

both = pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def scaled():
    mean, scale = FLAT.mean(axis=0), FLAT.std(axis=0)
    return [(x - mean) / scale for x in X]


@both
def test_lengths_go_through_a_pipeline_without_routing(estimator):
    y = np.concatenate(Y[estimator])
    name = estimator.__name__.lower()
    pipeline = make_pipeline(StandardScaler(), estimator(**TINY)).fit(FLAT, y, **{f"{name}__lengths": LENGTHS})
    expected = estimator(**TINY).fit(scaled(), Y[estimator])
    np.testing.assert_array_equal(pipeline[-1].genome_, expected.genome_)
    np.testing.assert_array_equal(pipeline.predict(FLAT, lengths=LENGTHS), np.concatenate(expected.predict(scaled())))


@both
def test_lengths_are_routed_through_a_pipeline(estimator, routing):
    y = np.concatenate(Y[estimator])
    model = estimator(**TINY).set_fit_request(lengths=True, sample_weight=True).set_predict_request(lengths=True)
    model.set_score_request(lengths=True).set_transform_request(lengths=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, model).fit(FLAT, y, lengths=LENGTHS, sample_weight=WEIGHTS)
    expected = estimator(**TINY).fit(scaled(), Y[estimator], sample_weight=WEIGHTS)
    np.testing.assert_array_equal(pipeline[-1].genome_, expected.genome_)
    predicted = np.concatenate(expected.predict(scaled()))
    np.testing.assert_array_equal(pipeline.predict(FLAT, lengths=LENGTHS), predicted)
    assert pipeline.score(FLAT, y, lengths=LENGTHS) == expected.score(scaled(), Y[estimator])
    phi = np.concatenate(expected.transform(scaled()))
    np.testing.assert_array_equal(pipeline.transform(FLAT, lengths=LENGTHS), phi)


@both
def test_lengths_are_heard_by_both_halves_of_fit_transform(estimator):
    y = np.concatenate(Y[estimator])
    expected = np.concatenate(estimator(**TINY).fit(X, Y[estimator]).transform(X))
    np.testing.assert_array_equal(estimator(**TINY).fit_transform(FLAT, y, lengths=LENGTHS), expected)
    weighted = estimator(**TINY).fit_transform(X, Y[estimator], sample_weight=WEIGHTS)
    expected = estimator(**TINY).fit(X, Y[estimator], sample_weight=WEIGHTS).transform(X)
    for phi, same in zip(weighted, expected, strict=True):
        np.testing.assert_array_equal(phi, same)


def test_activations_feed_the_next_step(routing):
    first = EvokeClassifier(**TINY).set_fit_request(lengths=True).set_transform_request(lengths=True)
    last = EvokeRegressor(**TINY).set_fit_request(lengths=True)
    y = np.concatenate([labels == "up" for labels in Y[EvokeClassifier]]).astype(int)
    pipeline = make_pipeline(first, last).fit(FLAT, y, lengths=LENGTHS)
    labels = np.split(y, np.cumsum(LENGTHS)[:-1])
    phi = EvokeClassifier(**TINY).fit(X, labels).transform(X)
    np.testing.assert_array_equal(pipeline[-1].genome_, EvokeRegressor(**TINY).fit(phi, labels).genome_)


def test_what_is_not_requested_is_not_dropped_in_silence(routing):
    y = np.concatenate(Y[EvokeClassifier])
    with pytest.raises(UnsetMetadataPassedError, match="lengths"):
        make_pipeline(StandardScaler(), EvokeClassifier(**TINY)).fit(FLAT, y, lengths=LENGTHS)


# ---- folds: sequences in a list can be taken apart, the rows of a 2-D array cannot


@both
def test_weights_follow_their_sequences_into_the_folds(estimator, routing):
    y = Y[estimator]
    model = estimator(**TINY).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scores = cross_val_score(model, X, y, cv=FOLDS, params={"sample_weight": WEIGHTS})
    for score, (train, test) in zip(scores, FOLDS.split(X), strict=True):
        alone = estimator(**TINY).fit([X[i] for i in train], [y[i] for i in train], sample_weight=WEIGHTS[train])
        assert score == alone.score([X[i] for i in test], [y[i] for i in test], sample_weight=WEIGHTS[test])
    search = GridSearchCV(model, {"C": [1.0, 10.0]}, cv=FOLDS, n_jobs=2).fit(X, y, sample_weight=WEIGHTS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = estimator(**TINY, C=search.best_params_["C"]).fit(X, y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(search.best_estimator_.genome_, best.genome_)


@both
def test_weights_follow_their_sequences_without_routing(estimator):
    y = Y[estimator]
    steps = [np.full(len(x), weight) for x, weight in zip(X, WEIGHTS, strict=True)]
    scores = [cross_val_score(estimator(**TINY), X, y, cv=FOLDS, params={"sample_weight": weights}, error_score="raise")
              for weights in (WEIGHTS, steps)]  # fmt: skip
    np.testing.assert_array_equal(*scores)
    assert (scores[0] != cross_val_score(estimator(**TINY), X, y, cv=FOLDS)).any()


@both
def test_folds_of_a_2d_array_say_what_to_do_instead(estimator):
    y = np.concatenate(Y[estimator])
    hint = r"lengths sum to 45, but X has .* pass a list of sequences: np\.split\(X, np\.cumsum\(lengths\)\[:-1\]\)"
    with pytest.raises(ValueError, match=hint):
        cross_val_score(estimator(**TINY), FLAT, y, cv=3, params={"lengths": LENGTHS}, error_score="raise")
    cut = np.cumsum(LENGTHS)[:-1]
    scores = cross_val_score(estimator(**TINY), np.split(FLAT, cut), np.split(y, cut), cv=FOLDS)
    np.testing.assert_array_equal(scores, cross_val_score(estimator(**TINY), X, Y[estimator], cv=FOLDS))


@both
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ragged_lists_go_through_searches_and_pipelines(estimator, n_jobs):
    centre = FunctionTransformer(lambda sequences: [x - x.mean(axis=0) for x in sequences])
    pipeline = make_pipeline(FunctionTransformer() if n_jobs == 2 else centre, estimator(**TINY))
    name = estimator.__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__n_cells": [2, 3]}, cv=FOLDS, n_jobs=n_jobs).fit(X, Y[estimator])
    assert [len(p) for p in search.predict(X)] == LENGTHS
    assert search.score(X, Y[estimator]) == search.best_estimator_.score(X, Y[estimator])
    found = cross_validate(pipeline, X, Y[estimator], cv=FOLDS, return_estimator=True)
    assert np.isfinite(found["test_score"]).all() and len(found["estimator"]) == 2


def test_stratified_folds_of_one_label_a_sequence():
    y = np.array(["a", "b"] * 4)
    scores = cross_val_score(EvokeClassifier(**TINY), X, y, cv=2, error_score="raise")
    assert scores.shape == (2,)
    predicted = cross_val_predict(EvokeClassifier(**TINY), X, y, cv=2)
    assert predicted.shape == (8,) and set(predicted) <= {"a", "b"}


def test_series_in_folds(routing):
    series = [np.sin(np.arange(length) / 3) for length in (20, 30, 25, 22)]
    model = EvokeForecaster(**TINY).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scores = cross_val_score(model, series, cv=FOLDS, params={"sample_weight": [1, 2, 3, 4]}, error_score="raise")
    alone = EvokeForecaster(**TINY).fit(series[2:], sample_weight=[3, 4])
    assert scores[0] == alone.score(series[:2], sample_weight=[1, 2])

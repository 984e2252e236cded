"""What is held out to judge networks by: halves that are shuffled."""

import warnings

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.estimators.split import half_of_each
from evoke.exceptions import ParameterError
from helpers.problems import posed

TINY = {
    "n_cells": 2, "n_generations": 1, "subpopulation_size": 4, "n_trials": 1, "readout": "svm", "C": 10.0,
    "random_state": 0,
}  # fmt: skip


def numbered(n, length=3):
    """Sequences whose rows say which they are."""
    return [np.arange(10.0 * k, 10.0 * k + length)[:, None] for k in range(n)]


def held_out(model, *data, **more):
    """The rows that networks are trained on, and those that they are judged by."""
    problem = posed(model, *data, **more)
    return [sorted(problem.segments.rows[points.rows, 0].tolist()) for points in (problem.train, problem.validation)]


# ---------------------------------------------------------------- "stratified"


@pytest.mark.parametrize("counts", [(4, 4), (5, 3, 1), (3, 3, 3, 3), (1, 1, 2), (9,), (2, 1), (1, 7, 1, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_half_of_each_class(counts, seed):
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    held = half_of_each(classes, rng)
    for k, count in enumerate(counts):
        assert held[classes == k].sum() in (count // 2, (count + 1) // 2 if count > 1 else 0)
    # over all classes the halves differ by those that have a single member, and one
    assert 0 <= len(classes) - 2 * held.sum() <= sum(count == 1 for count in counts) + 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_classes_with_one_member_each_are_halved_as_if_they_were_one(n):
    assert half_of_each(np.arange(n), np.random.default_rng(0)).sum() == n // 2


def test_every_member_is_held_out_as_often():
    classes = np.repeat([0, 1], [5, 8])
    share = np.mean([half_of_each(classes, np.random.default_rng(k)) for k in range(2000)], axis=0)
    np.testing.assert_allclose(share[:5], 0.4, atol=0.05)
    np.testing.assert_allclose(share[5:], 0.5, atol=0.05)


def test_sequences_that_are_sorted_by_class():
    labels = np.repeat(["a", "b", "c"], 4)
    model = EvokeClassifier(**TINY, validation="stratified")
    parts = held_out(model, numbered(12), labels)
    numbers = [(np.array(part) // 10).astype(int) for part in parts]
    assert sorted(np.concatenate(numbers)) == list(range(12))
    for part in numbers:
        assert sorted(labels[part]) == ["a", "a", "b", "b", "c", "c"]
    assert parts == held_out(model, numbered(12), labels)
    others = [held_out(model.set_params(random_state=seed), numbered(12), labels) for seed in range(1, 9)]
    assert any(other != parts for other in others)
    # the paper's halves have different classes
    with pytest.warns(UserWarning, match=r"the held-out part has class\(es\) \['c'\]"):
        held_out(EvokeClassifier(**TINY, validation="half"), numbered(12), labels)


@pytest.mark.parametrize("stated", [
    {"readout": "svm"}, {"readout": "pinv"}, {"kernel": "poly"}, {"solver": "native"}, {"C": "evolve"},
])  # fmt: skip
def test_a_classifier_that_cannot_leave_out_one_by_one_is_stratified(stated):
    few = {name: TINY[name] for name in ("n_cells", "n_generations", "subpopulation_size", "n_trials", "random_state")}
    X, labels = [np.random.default_rng(k).normal(size=(4, 2)) for k in range(8)], np.repeat(["a", "b"], 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = EvokeClassifier(**few, **stated).fit(X, labels)
        expected = EvokeClassifier(**few, **stated, validation="stratified").fit(X, labels)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert model.history_ == expected.history_
    assert model.validation == "auto"
    # values have no classes, and what is given is held out
    y = np.arange(8.0)
    regressors = [EvokeRegressor(**few, **stated, validation=v).fit(X, y) for v in ("auto", "half")]
    assert regressors[0].history_ == regressors[1].history_
    given = [EvokeClassifier(**few, **stated, validation=v).fit(X, labels, X_val=X, y_val=labels)
             for v in ("auto", "half", "stratified")]  # fmt: skip
    assert given[0].history_ == given[1].history_ == given[2].history_


def test_steps_of_several_sequences_stay_together():
    X = numbered(6, 4)
    train, validated = held_out(EvokeClassifier(**TINY, validation="stratified"), X, [[0, 1, 0, 1]] * 6)
    assert len(train) == len(validated) == 12
    assert {int(row) // 10 for row in train}.isdisjoint(int(row) // 10 for row in validated)


def test_the_steps_of_a_single_sequence():
    x, labels = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    parts = held_out(EvokeClassifier(**TINY, validation="stratified", washout=2), x, labels)
    assert sorted(parts[0] + parts[1]) == list(range(2, 12))
    assert [np.bincount(labels[np.array(part, dtype=int)]).tolist() for part in parts] == [[1, 2, 2], [1, 2, 2]]


def test_values_are_shuffled():
    parts = held_out(EvokeRegressor(**TINY, validation="stratified"), numbered(10, 1), np.arange(10.0))
    assert [len(part) for part in parts] == [5, 5]
    assert parts[0] not in (list(range(0, 50, 10)), list(range(50, 100, 10)))


def test_what_has_no_weight_is_in_neither_half():
    weights = np.array([1.0, 0.0] * 6)
    model = EvokeClassifier(**TINY, validation="stratified")
    parts = held_out(model, numbered(12, 1), np.repeat([0, 1, 2], 4), sample_weight=weights)
    assert sorted(parts[0] + parts[1]) == list(range(0, 120, 20))
    assert [sorted(row // 40 for row in part) for part in parts] == [[0, 1, 2], [0, 1, 2]]


@pytest.mark.parametrize("seed", [0, np.random.SeedSequence(5), None])
def test_a_run_that_is_continued_has_the_same_halves(seed):
    X, labels = [np.random.default_rng(k).normal(size=(4, 2)) for k in range(8)], np.repeat(["a", "b"], 4)
    model = EvokeClassifier(**(TINY | {"random_state": seed, "warm_start": True}), validation="stratified")
    first = model.fit(X, labels).history_
    assert model.fit(X, labels).history_[:1] == first
    assert model.fitted_.run.first == 0  # its records are of the same data


def test_a_class_with_one_sequence_each_is_told_of():
    model = EvokeClassifier(**TINY, validation="stratified")
    with pytest.warns(UserWarning, match="X needs more sequences with them; or pass X_val and y_val$"):
        model.fit(numbered(3), ["a", "b", "c"])


def test_too_little_to_divide():
    for estimator in EvokeClassifier, EvokeRegressor:
        with pytest.raises(ValueError, match="too few to hold out validation='stratified'; pass X_val and y_val"):
            estimator(**TINY, validation="stratified", washout=3).fit(np.ones((4, 1)), [0, 1, 0, 1])


def test_two_halves_take_two_weights():
    for estimator in EvokeClassifier, EvokeRegressor:
        with pytest.raises(ValueError, match=r"^sample_weight is zero for all but 1 of the sequences: 'stratified'"):
            estimator(**TINY, validation="stratified").fit(numbered(4), [0, 1, 0, 1], sample_weight=[0, 1, 0, 0])


def test_a_series_is_not_shuffled():
    demand = "validation must be 'rolling', 'half' or a number between 0 and 1, got 'stratified'"
    with pytest.raises(ParameterError, match=demand):
        EvokeForecaster(validation="stratified").fit(np.arange(9.0))

"""Splitters of scikit-learn as `validation`."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)

import evoke
from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.callbacks import Checkpoint
from evoke.estimators.fitted import Pooling
from evoke.evolution.evaluation import WorkQueue, evaluate, fit_readout
from evoke.evolution.problem import SplitProblem
from evoke.exceptions import ParameterError
from helpers.problems import posed
from oracle import pooled as oracle

WHOLE = {"subpopulation_size": 8, "n_networks": 3, "random_state": 0}


def waves(n=20, seed=0):
    """Sequences whose label is how fast they swing, sorted by it, and whose value is how far."""
    rng = np.random.default_rng(seed)
    labels, values = np.arange(n) * 2 // n, rng.uniform(0.5, 2.0, n)
    X = [value * np.sin((0.3 + 0.5 * label) * np.arange(rng.integers(9, 14))[:, None] + rng.uniform(0, 6, 2))
         for label, value in zip(labels, values, strict=True)]  # fmt: skip
    return X, np.array(["slow", "fast"])[labels], values


X, LABELS, VALUES = waves()
GROUPS = np.random.default_rng(1).integers(0, 4, len(X))


def retrained(model, y, block):
    """Decisions (n,) on the sequences of the fit by readouts that are trained without their block, by the book."""
    fitted = model.fitted_
    features = fitted.pooling.features(fitted.network, fitted.inputs(fitted.read(X)))
    kernel = fitted.readout.kernel
    K = features @ features.T
    if kernel.name == "rbf":
        K = np.exp(-kernel.gamma * (np.diag(K)[:, None] + np.diag(K) - 2 * K))
    return oracle.leave_out_blocks(K, y, np.full(len(X), 1 / model.C), block)


SPLITTERS = {
    "folds": KFold(3), "shuffled": KFold(4, shuffle=True, random_state=5), "stratified": StratifiedKFold(3),
    "groups": GroupKFold(3), "given": PredefinedSplit(np.arange(20) % 3), "halves": KFold(2),
}  # fmt: skip


@pytest.mark.parametrize("splitter", SPLITTERS.values(), ids=SPLITTERS)
@pytest.mark.parametrize("readout", ["lssvm", "ridge"])
def test_test_parts_are_decided_by_readouts_that_have_not_seen_them(splitter, readout):
    settings = WHOLE | {"readout": readout, "C": 10.0, "validation": splitter}
    groups = GROUPS if isinstance(splitter, GroupKFold) else None
    block = np.empty(len(X), dtype=int)
    for k, (_, held) in enumerate(splitter.split(X, LABELS, groups)):
        block[held] = k
    model = EvokeClassifier(**settings).fit(X, LABELS, groups=groups)
    expected = retrained(model, np.where(LABELS == "slow", 1.0, -1.0), block)
    np.testing.assert_allclose(model.loo_decision_function_, expected, rtol=1e-7, atol=1e-9)
    assert model.predict_proba(X).shape == (20, 2)
    assert isinstance(model.fitted_.pooling, Pooling)
    if splitter is SPLITTERS["stratified"]:
        splitter = KFold(3)
        settings["validation"], block = splitter, np.repeat(np.arange(3), (7, 7, 6))
    regressor = EvokeRegressor(**settings, scale=None).fit(X, VALUES, groups=groups)
    np.testing.assert_allclose(regressor.loo_prediction_, retrained(regressor, VALUES, block), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("splitter", [LeaveOneOut(), KFold(20), KFold(20, shuffle=True, random_state=0)])
def test_folds_of_one_are_leave_one_out_to_the_same_bits(splitter):
    expected = EvokeClassifier(**WHOLE, validation="loo").fit(X, LABELS)
    model = EvokeClassifier(**WHOLE, validation=splitter).fit(X, LABELS)
    np.testing.assert_array_equal(model.loo_decision_function_, expected.loo_decision_function_)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    assert model.history_ == expected.history_


def test_the_order_of_folds_does_not_matter():
    fold = np.arange(20) % 3
    models = [EvokeClassifier(**WHOLE, validation=PredefinedSplit(f)).fit(X, LABELS) for f in (fold, (fold + 1) % 3)]
    np.testing.assert_array_equal(models[0].loo_decision_function_, models[1].loo_decision_function_)


def test_sequences_without_weight_have_no_part():
    weights = np.ones(20)
    weights[[2, 11]] = 0.0
    kept = np.flatnonzero(weights)
    model = EvokeClassifier(**WHOLE, validation=GroupKFold(3)).fit(X, LABELS, sample_weight=weights, groups=GROUPS)
    some = EvokeClassifier(**WHOLE, validation=GroupKFold(3)).fit([X[i] for i in kept], LABELS[kept],
                                                                 groups=GROUPS[kept])  # fmt: skip
    np.testing.assert_array_equal(model.loo_decision_function_[kept], some.loo_decision_function_)
    assert np.isnan(model.loo_decision_function_[[2, 11]]).all()
    np.testing.assert_array_equal(model.predict_proba(X), some.predict_proba(X))


def test_threads_and_several_outputs():
    several = [np.array([[a == "slow", v > 1]]).astype(int) for a, v in zip(LABELS, VALUES, strict=True)]
    models = [EvokeClassifier(**WHOLE, validation=KFold(4), n_jobs=n).fit(X, several) for n in (1, 2)]
    np.testing.assert_array_equal(models[0].loo_decision_function_, models[1].loo_decision_function_)
    assert models[0].loo_decision_function_.shape == (20, 2)


def test_of_many_sequences_some_of_each_fold_are_judged(monkeypatch):
    monkeypatch.setattr("evoke.estimators.sequence.MOST_JUDGED", 8)
    judged = []
    monkeypatch.setattr("evoke.estimators.base.evolve", lambda run, **_more: judged.append(run.problem))
    # every other one: in the order of the targets alone all that are judged would be of one fold
    for fold, sizes in ((np.arange(20) % 2, [4, 4]), (np.arange(20) % 4, [2, 2, 2, 2]), (np.arange(20) < 19, [19, 1])):
        with pytest.raises(ValueError, match="no network had a finite error"):
            EvokeClassifier(**WHOLE, validation=PredefinedSplit(fold)).fit(X, LABELS)
        assert np.diff(judged[-1].blocks).tolist() == sizes
        assert len(judged[-1].points.rows) == sum(sizes) == judged[-1].inputs.n_sequences


@pytest.mark.parametrize("splitter, message", [
    (ShuffleSplit(3, random_state=0), r"validation must hold out each sequence once, as KFold does, not X\[\d+\] \d t"),
    (TimeSeriesSplit(3), r"validation must hold out each sequence once, as KFold does, not X\[0\] 0 times, got TimeS"),
    (PredefinedSplit([-1] + [0, 1] * 9 + [0]), r"not X\[0\] 0 times, got PredefinedSplit"),
])  # fmt: skip
@pytest.mark.parametrize("estimator, y", [(EvokeClassifier, LABELS), (EvokeRegressor, VALUES)])
def test_splits_that_leave_out_some_not_at_all_or_twice(estimator, y, splitter, message):
    with pytest.raises(ParameterError, match=message):
        estimator(**WHOLE, validation=splitter).fit(X, y)


class Given:
    """A splitter of somebody else, which gives what it was given."""

    def __init__(self, *splits):
        self.splits = splits

    def split(self, X, y=None, groups=None):
        yield from self.splits

    def get_n_splits(self, X=None, y=None, groups=None):
        return len(self.splits)


def test_a_splitter_of_somebody_else():
    mask = np.arange(20) < 8
    model = EvokeClassifier(**WHOLE, validation=Given((~mask, mask), (mask, ~mask))).fit(X, LABELS)
    expected = EvokeClassifier(**WHOLE, validation=PredefinedSplit(mask)).fit(X, LABELS)
    np.testing.assert_array_equal(model.loo_decision_function_, expected.loo_decision_function_)


ALL = np.arange(20)


@pytest.mark.parametrize("splits, message", [
    ([], "validation must give a split, got"),
    ([(ALL[:10], ALL[8:])], "validation must give two parts of 20 different indices in every split, not "),
    ([(ALL[:10], ALL[10:] + 1)], "validation must give two parts of 20 different indices"),
    ([(ALL[:10] - 1, ALL[10:])], "validation must give two parts of 20 different indices"),
    ([(ALL[:10] / 2, ALL[10:])], "validation must give two parts of 20 different indices"),
    ([(ALL[[1, 1, 2]], ALL[10:])], "validation must give two parts of 20 different indices"),
    ([(ALL, [])], "validation must give two parts of 20 different indices"),
    ([3], "validation must give two parts of 20 different indices in every split, not 3"),
    ([(ALL[:9], ALL[10:]), (ALL[10:], ALL[:10])], "validation must train on all that it does not hold out, as KFold"),
])  # fmt: skip
def test_splits_that_cannot_be(splits, message):
    with pytest.raises(ParameterError, match=message):
        EvokeClassifier(**WHOLE, validation=Given(*splits)).fit(X, LABELS)


@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])
@pytest.mark.parametrize("value", [5, KFold, "KFold", [([0], [1])], X])
def test_what_is_no_splitter(estimator, value):
    demand = r"^validation must be .*, 'stratified', 'loo', a number between 0 and 1 or a splitter such as KFold\(5\),"
    with pytest.raises(ParameterError, match=demand):
        estimator(validation=value).fit(X, VALUES > 1)


def test_what_does_not_go_with_a_splitter():
    model = EvokeClassifier(**WHOLE, validation=KFold(3))
    with pytest.raises(ValueError, match=r"validation=KFold\(.*\) divides X; X_val and y_val have no part"):
        model.fit(X, LABELS, X_val=X, y_val=LABELS)
    with pytest.raises(ValueError, match=r"groups must have shape \(20,\), one a sequence, got \(19,\)"):
        model.fit(X, LABELS, groups=GROUPS[1:])
    with pytest.raises(ValueError, match="groups are for validation with a splitter of scikit-learn"):
        EvokeClassifier(**WHOLE).fit(X, LABELS, groups=GROUPS)
    with pytest.raises(ValueError, match=r"^validation=GroupKFold\(.*: The 'groups' parameter should not be None"):
        model.set_params(validation=GroupKFold(3)).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"^validation=GroupKFold\(.* cannot split 20 samples: "):
        model.fit(X, LABELS, groups=[None, *GROUPS[1:]])
    with pytest.raises(ValueError, match=r"^validation=StratifiedKFold\(.* cannot split 20 samples: .*n_splits=11"):
        model.set_params(validation=StratifiedKFold(11)).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"^validation=StratifiedKFold\(.* cannot split 20 samples: "):
        EvokeRegressor(**WHOLE, validation=StratifiedKFold(2)).fit(X, VALUES)
    with pytest.raises(ParameterError, match="validation must be "):
        EvokeForecaster(validation=KFold(3)).fit(VALUES)


# ---------------------------------------------------------------- where the readout is trained for each split


ONE = {"n_cells": 3, "n_generations": 3, "subpopulation_size": 5, "n_trials": 2, "C": 10.0, "gamma": 0.5,
       "random_state": 0}  # fmt: skip
STEPS = [(x[:, 0] > 0).astype(int) for x in X]
AS_VALUES = [x[:, 1].cumsum() for x in X]


def problem_of(estimator, X, y, train, held):
    """What is posed where the parts are given."""
    return posed(
        estimator, [X[i] for i in train], [y[i] for i in train], X_val=[X[i] for i in held], y_val=[y[i] for i in held]
    )


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
@pytest.mark.parametrize("estimator, y", [(EvokeClassifier, STEPS), (EvokeRegressor, AS_VALUES)])
@pytest.mark.parametrize("splitter", [KFold(3), ShuffleSplit(2, random_state=0)])
def test_the_fitness_is_the_mean_over_the_splits(readout, estimator, y, splitter):
    settings = ONE | {"readout": readout, "tol": 1e-10}
    model, splits = estimator(**settings, validation=splitter).fit(X, y), list(splitter.split(X))
    problems = [problem_of(estimator(**settings), X, y, *split) for split in splits]
    errors = np.mean([evaluate(problem, model.genome_[None])[0] for problem in problems], axis=0)
    record = next(r for r in model.history_ if r["best_fitness"] == model.best_fitness_)
    names = ("train_error", "validation_error", "wrong_train", "wrong_validation")
    names = names if estimator is EvokeClassifier else names[:2]  # values are hardly met to the last bit
    np.testing.assert_allclose([record[name] for name in names], errors[: len(names)], rtol=1e-7)
    np.testing.assert_allclose(model.best_fitness_, errors[:2].sum(), rtol=1e-7)
    # the readout has learned from all that is in the training part of a split
    trained = np.unique(np.concatenate([train for train, _ in splits]))
    assert isinstance(splitter, ShuffleSplit) == (len(trained) < 20)
    whole = problem_of(estimator(**settings), X, y, trained, range(20))
    expected = fit_readout(whole, model.genome_).decide(np.concatenate(model.transform(X)))
    np.testing.assert_allclose(model.fitted_.decide(model.fitted_.read(X)), expected, rtol=1e-6, atol=1e-6)


def test_a_single_split_is_what_is_given_as_held_out():
    fold = np.where(np.arange(20) % 3 == 0, 0, -1)
    train, held = np.flatnonzero(fold), np.flatnonzero(fold == 0)
    given = EvokeClassifier(**ONE).fit(*([of[i] for i in train] for of in (X, STEPS)),
                                       *(None, *([of[i] for i in held] for of in (X, STEPS))))  # fmt: skip
    for refit in False, True:
        model = EvokeClassifier(**ONE, validation=PredefinedSplit(fold), refit=refit).fit(X, STEPS)
        np.testing.assert_array_equal(model.genome_, given.genome_)
        np.testing.assert_allclose(model.best_fitness_, given.best_fitness_, rtol=1e-9)
        same = np.allclose(np.concatenate(model.decision_function(X)), np.concatenate(given.decision_function(X)))
        assert same != refit


def test_one_target_a_sequence_with_a_readout_that_is_not_left_out():
    settings = ONE | {"readout": "svm"}
    model = EvokeClassifier(**settings, validation=StratifiedKFold(4)).fit(X, LABELS)
    assert model.fitted_.pooling is None
    splits = StratifiedKFold(4).split(X, LABELS)
    errors = [evaluate(problem_of(EvokeClassifier(**settings), X, LABELS, *split), model.genome_[None])
              for split in splits]  # fmt: skip
    np.testing.assert_allclose(model.best_fitness_, np.mean(errors, axis=0)[0, :2].sum(), rtol=1e-7)
    grouped = EvokeClassifier(**settings, validation=GroupKFold(3)).fit(X, LABELS, groups=GROUPS)
    given = EvokeClassifier(**settings, validation=Given(*GroupKFold(3).split(X, LABELS, GROUPS))).fit(X, LABELS)
    assert grouped.history_ == given.history_


def test_parameters_that_evolve_have_their_own_in_every_split():
    settings = ONE | {"readout": "lssvm", "C": "evolve", "gamma": "evolve"}
    model = EvokeRegressor(**settings, validation=KFold(2)).fit(X, AS_VALUES)
    again = EvokeRegressor(**settings, validation=KFold(2), n_jobs=2).fit(X, AS_VALUES)
    assert model.history_ == again.history_
    assert model.readout_.gamma == model.history_[-1]["gamma"]
    np.testing.assert_array_equal(np.concatenate(model.predict(X)), np.concatenate(again.predict(X)))


@pytest.mark.parametrize("splitter", [TimeSeriesSplit(3), KFold(4), GroupKFold(3)])
def test_the_steps_of_a_single_sequence(splitter):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 2))
    y, groups = (x[:, 0] + np.roll(x[:, 0], 1) > 0).astype(int), rng.integers(0, 5, 40)
    kept = np.ones(40)
    kept[[9, 30]] = 0.0
    steps = np.flatnonzero(kept)[6:]  # after the washout, with a weight
    more = {"groups": groups} if isinstance(splitter, GroupKFold) else {}
    model = EvokeClassifier(**ONE, validation=splitter, washout=6).fit(x, y, sample_weight=kept, **more)
    expected = []
    for train, held in splitter.split(steps, y[steps], groups[steps] if more else None):
        weights, held_weights = np.zeros(40), np.zeros(40)
        weights[steps[train]] = held_weights[steps[held]] = 1.0
        given = EvokeClassifier(**ONE, washout=6)
        posed = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("evoke.estimators.base.evolve", lambda run, _p=posed, **_more: _p.append(run.problem))
            with pytest.raises(ValueError, match="no network had a finite error"):
                given.fit(x, y, X_val=x, y_val=y, sample_weight=weights, sample_weight_val=held_weights)
        expected.append(evaluate(posed[0], model.genome_[None])[0, :2].sum())
    np.testing.assert_allclose(model.best_fitness_, np.mean(expected), rtol=1e-7)


def test_a_queue_for_several_splits():
    problem = problem_of(EvokeClassifier(**ONE), X, STEPS, range(10), range(10, 20))
    parts = SplitProblem((problem, replace(problem, train=problem.validation, validation=problem.train)))
    genomes = np.random.default_rng(0).normal(size=(9, 3, 20))
    queue = WorkQueue(9, 1)
    each = [evaluate(part, genomes) for part in parts.parts]
    np.testing.assert_array_equal(evaluate(parts, genomes, queue), np.mean(each, axis=0))
    stopped = WorkQueue(9, 1)
    stopped.stop[0] = 1
    assert np.isnan(evaluate(parts, genomes, stopped)).all()
    assert parts.digest != SplitProblem(parts.parts[::-1]).digest


def test_a_class_that_a_split_does_not_teach_is_told_of():
    labels = np.repeat(["a", "b", "c", "d"], 5)
    with pytest.warns(UserWarning, match=r"the held-out part has class\(es\) \['a'\], which .*: networks are judged by "
                                         r"readouts that were not taught them. validation=KFold.* divides the data so"):
        EvokeClassifier(**ONE, readout="svm", validation=KFold(4)).fit(X, labels)


def test_the_final_readout_that_fails_is_that_of_the_first_split(monkeypatch):
    fit, calls = fit_readout, []

    def fails_on_all(problem, genome, points=None):
        calls.append(points)
        if points is not None:
            raise ValueError("too many")
        return fit(problem, genome)

    monkeypatch.setattr("evoke.estimators.fit.fit_readout", fails_on_all)
    with pytest.warns(UserWarning, match="trained on the training part of the first split alone: too many"):
        EvokeClassifier(**ONE, validation=KFold(3)).fit(X, STEPS)
    assert calls[-1] is None


def test_labels_of_steps_cannot_be_stratified_by_sequence():
    with pytest.raises(ValueError, match=r"validation=StratifiedKFold\(.* cannot split sequences whose steps have"):
        EvokeClassifier(**ONE, validation=StratifiedKFold(3)).fit(X, STEPS)
    with pytest.raises(ValueError, match="n_splits=21"):
        EvokeClassifier(**ONE, validation=KFold(21)).fit(X, STEPS)


# ---------------------------------------------------------------- files, checkpoints, searches


@pytest.mark.parametrize("splitter", [
    KFold(3, shuffle=True, random_state=np.random.RandomState(4)), StratifiedKFold(3), GroupKFold(2), LeaveOneOut(),
    LeaveOneGroupOut(), LeavePOut(2), PredefinedSplit([0, 1, 1, -1]), ShuffleSplit(3, test_size=0.25),
    StratifiedShuffleSplit(2), StratifiedGroupKFold(2), TimeSeriesSplit(3, gap=1),
])  # fmt: skip
def test_files_hold_splitters(splitter, tmp_path):
    model = EvokeClassifier(**WHOLE).fit(X, LABELS)
    model.set_params(validation=splitter).save(tmp_path / "model.evk")
    again = evoke.load(tmp_path / "model.evk").validation
    assert type(again) is type(splitter)
    np.testing.assert_equal(decoded(again), decoded(splitter))


def decoded(splitter):
    """Its attributes, random states as what they draw next."""
    return {name: value.randint(2**31) if isinstance(value, np.random.RandomState) else value
            for name, value in vars(splitter).items()}  # fmt: skip


def test_files_hold_no_splitters_of_somebody_else(tmp_path):
    model = EvokeClassifier(**WHOLE, validation=Given((ALL[:9], ALL[9:]), (ALL[9:], ALL[:9]))).fit(X, LABELS)
    with pytest.raises(TypeError, match=r"validation is <.*Given'>, which a model file cannot hold"):
        model.save(tmp_path / "model.evk")


@pytest.mark.parametrize("settings, y, without", [(WHOLE, LABELS, "loo"), (ONE, STEPS, "stratified")])
def test_a_checkpoint_continues_to_the_same_end(settings, y, without, tmp_path):
    settings = settings | {"validation": KFold(3, shuffle=True, random_state=1)}
    expected = EvokeClassifier(**settings | {"n_generations": 4}).fit(X, y)
    callbacks = [Checkpoint(tmp_path / "run.evk", every=1)]
    EvokeClassifier(**settings | {"n_generations": 2}, callbacks=callbacks).fit(X, y)
    resumed = EvokeClassifier(**settings | {"n_generations": 4}, callbacks=callbacks).fit(X, y)
    assert resumed.history_ == expected.history_
    other = settings | {"validation": KFold(3, shuffle=True, random_state=2), "n_generations": 5}
    with pytest.raises(ValueError, match="is of another fit: other data"):
        EvokeClassifier(**other, callbacks=callbacks).fit(X, y)
    with pytest.raises(ValueError, match="is of another fit: validation="):
        EvokeClassifier(**other | {"validation": without}, callbacks=callbacks).fit(X, y)


def test_a_search_takes_splitters_as_values():
    grid = {"validation": [KFold(2), StratifiedKFold(2), "loo"]}
    search = GridSearchCV(EvokeClassifier(**WHOLE), grid, cv=StratifiedKFold(2)).fit(X, LABELS)
    assert clone(search.best_estimator_).get_params()["C"] == "auto"
    assert len(search.cv_results_["mean_test_score"]) == 3


@pytest.mark.parametrize("estimator, y", [(EvokeClassifier, LABELS), (EvokeRegressor, VALUES)])
def test_groups_of_a_search_are_for_its_own_splitter_unless_they_are_asked_for(estimator, y):
    with sklearn.config_context(enable_metadata_routing=True):
        plain = cross_val_score(estimator(**WHOLE), X, y, cv=GroupKFold(2), params={"groups": GROUPS})
        model = estimator(**WHOLE, validation=GroupKFold(2)).set_fit_request(groups=True)
        grouped = cross_val_score(model, X, y, cv=GroupKFold(2), params={"groups": GROUPS})
    for k, (train, held) in enumerate(GroupKFold(2).split(X, y, GROUPS)):
        parts = [X[i] for i in train], y[train]
        expected = estimator(**WHOLE).fit(*parts).score([X[i] for i in held], y[held])
        assert plain[k] == expected
        model = estimator(**WHOLE, validation=GroupKFold(2)).fit(*parts, groups=GROUPS[train])
        assert grouped[k] == model.score([X[i] for i in held], y[held])

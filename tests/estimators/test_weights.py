"""Weights of steps, of sequences and of classes: a whole number is as many repetitions, in training and in judging."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import compute_class_weight

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.evolution.problem import merge_points

TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
RNG = np.random.default_rng(7)
X = [RNG.normal(size=(length, 2)) for length in (3, 7, 1, 4, 6, 2, 5, 8)]
VALUES = [x[:, 0] - x[:, 1] for x in X]
LABELS = [np.where(v > 0, "up", "down") for v in VALUES]
THREE = [np.digitize(v, [-0.5, 0.5]) for v in VALUES]
SEVERAL = [(x > 0).astype(int) for x in X]
LAST = np.array([labels[-1] for labels in LABELS])
X_VAL, Y_VAL = X[5:], {"labels": LABELS[5:], "three": THREE[5:], "several": SEVERAL[5:], "values": VALUES[5:]}
WHOLE = np.array([2, 1, 3, 0, 1])  # of the five sequences to train on
READOUTS = ["svm", "lssvm", "pinv"]


def classifier(**parameters):
    return EvokeClassifier(**{**TINY, **parameters})


def regressor(**parameters):
    return EvokeRegressor(**{**TINY, **parameters})


def forecaster(**parameters):
    return EvokeForecaster(**{**TINY, **parameters})


def repeat(sequences, times):
    return [sequence for sequence, n in zip(sequences, times, strict=True) for _ in range(n)]


def assert_same_model(a, b):
    np.testing.assert_array_equal(a.genome_, b.genome_)
    assert [r["best_fitness"] for r in a.history_] == [r["best_fitness"] for r in b.history_]
    for name in ("support_vectors", "dual_coef", "intercept"):
        np.testing.assert_array_equal(getattr(a.readout_, name), getattr(b.readout_, name))


# ---- weights are repetitions


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("make, kind, y", [(classifier, "labels", LABELS), (classifier, "three", THREE),
                                           (classifier, "several", SEVERAL), (regressor, "values", VALUES)])
def test_weights_of_sequences_are_repetitions(make, kind, y, readout):
    held_out = dict(X_val=X_VAL, y_val=Y_VAL[kind])
    model = make(readout=readout).fit(X[:5], y[:5], sample_weight=WHOLE, **held_out)
    repeated = make(readout=readout).fit(repeat(X[:5], WHOLE), repeat(y[:5], WHOLE), **held_out)
    assert_same_model(model, repeated)
    # one a step is the same
    steps = [np.full(len(x), w) for x, w in zip(X, WHOLE, strict=False)]
    assert_same_model(make(readout=readout).fit(X[:5], y[:5], sample_weight=steps, **held_out), repeated)


@pytest.mark.parametrize("objective", ["count", "hinge", "squared"])
def test_weights_of_what_is_held_out_are_repetitions(objective):
    for make, y in ((classifier, LABELS), (regressor, VALUES)):
        weighted = make(objective=objective).fit(X[:5], y[:5], X_val=X[5:], y_val=y[5:], sample_weight_val=[3, 0, 1])
        repeated = make(objective=objective).fit(X[:5], y[:5], X_val=repeat(X[5:], [3, 0, 1]),
                                                 y_val=repeat(y[5:], [3, 0, 1]))
        assert_same_model(weighted, repeated)
        assert weighted.history_ == repeated.history_


def test_weights_of_one_label_a_sequence_are_repetitions():
    held_out = dict(X_val=X_VAL, y_val=LAST[5:])
    model = classifier().fit(X[:5], LAST[:5], sample_weight=WHOLE, **held_out)
    assert_same_model(model, classifier().fit(repeat(X[:5], WHOLE), np.repeat(LAST[:5], WHOLE), **held_out))


def test_the_held_out_half_takes_its_weights_along():
    weights = [2, 2, 2, 2, 3, 3, 3, 3]
    model = classifier().fit(X, LABELS, sample_weight=weights)
    by_hand = classifier().fit(X[:4], LABELS[:4], X_val=X[4:], y_val=LABELS[4:], sample_weight=[2] * 4,
                               sample_weight_val=[3] * 4)
    assert_same_model(model, by_hand)
    double = repeat(X, [2] * 8)
    assert_same_model(classifier().fit(X, LABELS, sample_weight=[2] * 8),
                      classifier().fit(double, repeat(LABELS, [2] * 8)))


@pytest.mark.parametrize("validation", ["loo", "stratified"])
def test_sequences_without_weight_might_as_well_not_be_there(validation):
    weights = np.array([1, 0, 2, 1, 1, 0, 1, 1, 0, 2, 1, 1])
    kept, y = weights > 0, np.tile([0, 1], 6)
    long = [RNG.normal(size=(9, 2)) + label for label in y]
    few = dict(n_generations=2, subpopulation_size=4, random_state=0, validation=validation)
    model = EvokeClassifier(**few).fit(long, y, sample_weight=weights)
    others = [x for x, keep in zip(long, kept, strict=True) if keep]
    without = EvokeClassifier(**few).fit(others, y[kept], sample_weight=weights[kept])
    np.testing.assert_allclose(model.decision_function(long), without.decision_function(long), rtol=1e-9)


@pytest.mark.parametrize("mode", ["teacher", "free"])
@pytest.mark.parametrize("readout", READOUTS)
def test_weights_of_series_are_repetitions(readout, mode):
    series = [np.sin(np.arange(length) / k) for k, length in enumerate((30, 25, 20, 15), start=1)]
    more = dict(readout=readout, validation_mode=mode, washout=2, C=100.0, tol=1e-10)
    model = forecaster(**more).fit(series[:3], y_val=series[3:], sample_weight=[2, 0, 1])
    repeated = forecaster(**more).fit([series[0], series[0], series[2]], y_val=series[3:])
    if mode == "teacher":
        assert_same_model(model, repeated)
    else:  # series that are cut for a free run are not merged: the sums are taken in another order
        np.testing.assert_array_equal(model.genome_, repeated.genome_)
        assert model.best_fitness_ == pytest.approx(repeated.best_fitness_, rel=1e-8)
    np.testing.assert_allclose(model.generate(5), repeated.generate(5), rtol=1e-9)


def test_in_a_free_run_steps_without_weight_stay_in_their_place():
    y = np.sin(np.arange(40.0))
    weights = np.ones(40)
    weights[[25, 30, 31]] = 0.0
    model = forecaster(validation_mode="free", n_generations=1, C=100.0).fit(y, sample_weight=weights)
    run = model.generate(20, context=y[:20])
    trained_on = model.predict_one_step(y)[:20]
    expected = ((trained_on - y[:20]) ** 2).sum() + (weights[20:] * (run - y[20:]) ** 2).sum()
    assert model.best_fitness_ == pytest.approx(expected, rel=1e-9)


def test_steps_may_have_weights_of_their_own():
    weights = [RNG.integers(0, 4, len(x)).astype(float) for x in X]
    model = regressor(readout="pinv", n_generations=1).fit(X[:4], VALUES[:4], X_val=X[4:], y_val=VALUES[4:],
                                                           sample_weight=weights[:4], sample_weight_val=weights[4:])
    phi = [np.column_stack([part, np.ones(len(part))]) for part in model.transform(X)]
    first, y, w = np.concatenate(phi[:4]), np.concatenate(VALUES[:4]), np.concatenate(weights[:4])
    coefficients = np.linalg.lstsq(np.sqrt(w)[:, None] * first, np.sqrt(w) * y)[0]
    errors = np.concatenate(weights) * (np.concatenate(phi) @ coefficients - np.concatenate(VALUES)) ** 2
    np.testing.assert_allclose(np.concatenate(model.predict(X)), np.concatenate(phi) @ coefficients, atol=1e-9)
    assert model.best_fitness_ == pytest.approx(errors.sum(), rel=1e-8)


def test_the_least_squares_machine_weighs_every_row():
    w = RNG.uniform(0.1, 3.0, 4)
    model = regressor(readout="lssvm", C=50.0, n_generations=1).fit(X[:4], [v[-1] for v in VALUES[:4]], X_val=X[4:],
                                                                    y_val=[v[-1] for v in VALUES[4:]], sample_weight=w)
    phi = np.array([part[-1] for part in model.transform(X[:4])])
    K = np.exp(-0.25 * ((phi[:, None] - phi) ** 2).sum(axis=-1))
    system = np.block([[K + np.diag(1 / (50.0 * w)), np.ones((4, 1))], [np.ones((1, 4)), np.zeros((1, 1))]])
    alpha = np.linalg.solve(system, [*(v[-1] for v in VALUES[:4]), 0.0])
    np.testing.assert_allclose(model.predict(X[:4]), K @ alpha[:4] + alpha[4], atol=1e-9)


@pytest.mark.parametrize("make, y", [(classifier, LABELS), (regressor, VALUES)])
def test_weights_mirror_every_container(make, y):
    equal, targets = [x[:4] for x in X if len(x) >= 4], [t[:4] for t in y if len(t) >= 4]
    per_step = [np.arange(4.0) + k for k in range(len(equal))]
    expected = make().fit(equal, targets, sample_weight=per_step)
    flat, ends, lengths = np.concatenate(equal), np.concatenate(targets), [4] * len(equal)
    assert_same_model(make().fit(np.array(equal), np.array(targets), sample_weight=np.array(per_step)), expected)
    assert_same_model(make().fit(flat, ends, lengths=lengths, sample_weight=np.concatenate(per_step)), expected)
    of_sequences = make().fit(equal, targets, sample_weight=[1, 2, 1, 2, 3])
    assert_same_model(make().fit(flat, ends, lengths=lengths, sample_weight=[1, 2, 1, 2, 3]), of_sequences)
    assert_same_model(make().fit(np.array(equal), np.array(targets), sample_weight=[1, 2, 1, 2, 3]), of_sequences)
    weights = np.arange(4.0)
    assert_same_model(make().fit(equal[0], targets[0], sample_weight=weights),
                      make().fit([equal[0]], [targets[0]], sample_weight=[weights]))


def test_wrong_decisions_count_by_their_weight():
    model = classifier(objective="count").fit(X, LABELS, sample_weight=[np.full(len(x), 0.25) for x in X])
    record = model.history_[-1]
    assert record["wrong_train"] + record["wrong_validation"] == record["generation_best"]
    wrong = sum((p != t).sum() for p, t in zip(model.predict(X), LABELS, strict=True))
    assert model.best_fitness_ == 0.25 * wrong
    assert 4 * record["wrong_train"] == round(4 * record["wrong_train"])
    assert isinstance(classifier().fit(X, LABELS).history_[0]["wrong_train"], int)


def test_merged_points_have_the_sum_of_the_weights():
    points = merge_points(np.array([4, 2, 4]), np.array([[1.0], [1.0], [1.0]]), np.array([0.5, 2.0, 0.25]))
    assert points.rows.tolist() == [2, 4] and points.weights.tolist() == [2.0, 0.75]


def test_score():
    weights = [RNG.uniform(size=len(x)) for x in X]
    flat = np.concatenate(weights)
    model = classifier().fit(X, LABELS)
    assert model.score(X, LABELS, sample_weight=weights) == pytest.approx(
        accuracy_score(np.concatenate(LABELS), np.concatenate(model.predict(X)), sample_weight=flat))
    model = regressor(washout=0).fit(X, VALUES)
    expected = r2_score(np.concatenate(VALUES), np.concatenate(model.predict(X)), sample_weight=flat)
    assert model.score(X, VALUES, sample_weight=weights) == pytest.approx(expected)
    series = [np.sin(np.arange(30.0)), np.cos(np.arange(20.0))]
    model = forecaster(washout=5).fit(series)
    predicted = [p[5:] for p in model.predict_one_step(series)]
    expected = r2_score(np.concatenate([s[5:] for s in series]), np.concatenate(predicted),
                        sample_weight=np.repeat([1.0, 3.0], [25, 15]))
    assert model.score(series, sample_weight=[1, 3]) == pytest.approx(expected)


# ---- classes


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("y, weights", [(LABELS, {"up": 3.0}), (LABELS, {"up": 1, "down": 0.5}), (THREE, {1: 4, 2: 2})])
def test_class_weights_are_weights_of_their_steps(y, weights, readout):
    model = classifier(class_weight=weights, readout=readout).fit(X, y)
    steps = [[weights.get(label, 1.0) for label in labels.tolist()] for labels in y]
    assert_same_model(model, classifier(readout=readout).fit(X, y, sample_weight=steps))
    both = classifier(class_weight=weights, readout=readout).fit(X, y, sample_weight=[2] * 8)
    assert_same_model(both, classifier(readout=readout).fit(X, y, sample_weight=[2 * np.array(w) for w in steps]))


@pytest.mark.parametrize("y", [LABELS, THREE])
def test_balanced_is_what_scikit_learn_calls_so(y):
    classes, flat = np.unique(np.concatenate(y)), np.concatenate(y)
    weights = compute_class_weight("balanced", classes=classes, y=flat)
    by_hand = dict(zip(classes.tolist(), weights.tolist(), strict=True))
    assert_same_model(classifier(class_weight="balanced").fit(X, y), classifier(class_weight=by_hand).fit(X, y))


def test_balanced_counts_the_steps_behind_the_washout_by_their_weights():
    cut = [labels[2:] for labels in LABELS]
    long = [k for k in range(8) if len(X[k]) > 2]
    sums = {label: sum((w + 1) * (cut[k] == label).sum() for w, k in enumerate(long)) for label in ("up", "down")}
    by_hand = {label: sum(sums.values()) / (2 * n) for label, n in sums.items()}
    data = [X[k] for k in long], [LABELS[k] for k in long]
    weights = np.arange(len(long)) + 1
    assert_same_model(classifier(class_weight="balanced", washout=2).fit(*data, sample_weight=weights),
                      classifier(class_weight=by_hand, washout=2).fit(*data, sample_weight=weights))


def test_class_weights_hold_for_what_is_held_out_too():
    model = classifier(class_weight={"up": 3}, objective="count").fit(X[:5], LABELS[:5], X_val=X_VAL, y_val=LABELS[5:])
    wrong = [(p != t) * np.where(t == "up", 3, 1) for p, t in zip(model.predict(X), LABELS, strict=True)]
    assert model.best_fitness_ == np.concatenate(wrong).sum()
    sequences = classifier(class_weight={"up": 3}).fit(X[:5], LAST[:5], X_val=X_VAL, y_val=LAST[5:])
    by_hand = np.where(LAST == "up", 3, 1)
    assert_same_model(sequences, classifier().fit(X[:5], LAST[:5], X_val=X_VAL, y_val=LAST[5:],
                                                  sample_weight=by_hand[:5], sample_weight_val=by_hand[5:]))


def test_a_rare_class_is_heard():
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(1, 1)) for _ in range(60)]
    rare = [int(x[0, 0] + rng.normal() > 2.2) for x in rows]
    assert sum(rare) == 6
    plain = classifier(C=1.0).fit(rows, rare)
    balanced = classifier(C=1.0, class_weight="balanced").fit(rows, rare)
    found = [model.predict(rows)[np.array(rare) == 1].mean() for model in (plain, balanced)]
    assert found[0] < found[1]


# ---- refused


def without(k, value):
    steps = [np.ones(len(x)) for x in X]
    steps[k][-1] = value
    return steps


@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, 2], r"sample_weight has 2 weights, X has 8 sequences"),
        ([np.ones(len(x)) for x in X[:4]], r"sample_weight has 4 sequences, X has 8"),
        ([np.ones(3)] * 8, r"sample_weight\[1\] has shape \(3,\), but X\[1\] has 7 steps"),
        ([np.ones((len(x), 2)) for x in X], "sample_weight has 2 columns"),
        (without(1, -1.0), r"sample_weight must be finite and not negative: sample_weight\[1\] is -1.0 at step 6"),
        (without(0, np.nan), r"not negative: sample_weight\[0\] is nan at step 2"),
        ([1, 1, np.inf, 1, 1, 1, 1, 1], r"not negative: sample_weight\[2\] is inf"),
        ([0] * 8, "sample_weight is zero for all of X"),
        ([1] * 4 + [0] * 4, "sample_weight is zero for all that is held out for validation"),
        ([0] * 4 + [1] * 4, "sample_weight is zero for all that is trained on"),
        (list("abcdefgh"), r"sample_weight must hold numbers, got dtype <U1: 'a' at sample_weight\[0\]"),
        (["1"] * 8, r"sample_weight must hold numbers, got dtype <U1: '1' at sample_weight\[0\]"),
        (1.0, "sample_weight must hold one weight a step or one a sequence, got 1.0"),
        ([1e308] * 8, r"C=100\.0 times class_weight and sample_weight is out of the range of float64"),
    ],
)
@pytest.mark.parametrize("make, y", [(classifier, LABELS), (regressor, VALUES)])
def test_refused_weights(make, y, weights, message):
    with pytest.raises(ValueError, match=message):
        make().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: classifier().fit(X, LAST, sample_weight=without(0, 2)), "one weight a step, but y has one target"),
        (lambda: classifier().fit(X, LABELS, sample_weight_val=[1] * 8), "sample_weight_val goes with X_val and y_val"),
        (lambda: classifier().fit(X, LABELS, X_val=X_VAL, y_val=LABELS[5:], sample_weight_val=[0] * 3),
         "sample_weight_val is zero for all of X_val"),
        (lambda: classifier().fit(X, LABELS, X_val=X_VAL, y_val=LABELS[5:], sample_weight_val=[1] * 8),
         "sample_weight_val has 8 weights, X_val has 3 sequences"),
        (lambda: classifier().fit(np.concatenate(X), np.concatenate(LABELS), lengths=[len(x) for x in X],
                                  sample_weight=without(0, 1)), "sample_weight is not an array of numbers"),
        (lambda: forecaster().fit(np.arange(9.0), sample_weight_val=[1]), "sample_weight_val goes with y_val"),
        (lambda: forecaster().fit(np.arange(9.0), sample_weight=[1] * 8),
         r"sample_weight has shape \(8,\), but y has 9 steps; each needs a weight"),
        (lambda: forecaster().fit(np.arange(9.0), sample_weight=[0] * 9), "sample_weight is zero for all of y$"),
        (lambda: forecaster().fit([np.arange(9.0)] * 2, sample_weight=[1]), "sample_weight has 1 weights, y has 2"),
        (lambda: forecaster().fit(np.arange(9.0), y_val=np.arange(4.0), sample_weight_val=[1]), "y_val has 4 steps"),
        (lambda: forecaster().fit(np.arange(9.0)).score(np.arange(9.0), sample_weight=[1]), "y has 9 steps"),
        (lambda: regressor().fit(X[1], VALUES[1], sample_weight=[1]), "X has 7 steps; each needs a weight"),
        (lambda: regressor().fit(X[1], X[1]).score(X[1], X[1], sample_weight=np.ones((7, 0))), "one weight a step"),
        (lambda: classifier(class_weight="balanced").fit(X, SEVERAL), "class_weight needs one label a step"),
        (lambda: classifier(class_weight={"left": 2}).fit(X, LABELS), "class_weight"),
        (lambda: classifier(solver="thundersvm").fit(X, LABELS, sample_weight=np.pi + np.arange(8)), "thundersvm"),
    ],
)  # fmt: skip
def test_refused_pairs(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("value", ["balance", 3, [1, 2], {"up": 0}, {"up": -1.0}, {"up": np.nan}, {"up": "2"}])
def test_refused_class_weights_are_named_before_any_work(value, monkeypatch):
    monkeypatch.setattr("evoke.estimators.base.evolve", None)
    with pytest.raises(ValueError, match="class_weight"):
        classifier(class_weight=value).fit(X, LABELS)


@pytest.mark.parametrize("readout", ["svm", "lssvm"])
def test_class_weights_of_no_class_are_named(readout):
    with pytest.raises(ValueError, match="class_weight has 'zz', which is none of the classes"):
        classifier(class_weight={"zz": 3}, readout=readout).fit(X, LABELS)
    of_another_fold = {**dict.fromkeys(np.unique(np.concatenate(LABELS)), 1), "zz": 3}
    classifier(class_weight=of_another_fold, readout=readout).fit(X, LABELS)

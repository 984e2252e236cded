import copy
import inspect
import os
import pickle
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from evoke import ESP, EvokeClassifier, tasks
from evoke.lstm import forward

TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)


def tiny(**parameters):
    return EvokeClassifier(**{**TINY, **parameters})


def ragged(*lengths, n_columns=2, seed=7):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(length, n_columns)) for length in lengths]


# Ragged sequences with a label each, and equal ones with a label a step.
RAGGED = ragged(3, 7, 1, 4, 6, 2, 5, 8, 3, 9)
ONES = np.array(["a", "b", "a", "b", "b", "a", "b", "a", "a", "b"])
EQUAL = ragged(5, 5, 5, 5)
STEPS = [(x[:, 0] > 0).astype(int) for x in EQUAL]


@pytest.fixture(scope="module")
def per_sequence():
    return tiny().fit(RAGGED, ONES)


@pytest.fixture(scope="module")
def per_step():
    return tiny().fit(EQUAL, STEPS)


@pytest.fixture(scope="module")
def three_classes():
    return tiny().fit(EQUAL, [np.arange(5) % 3] * 4)


def assert_same_model(a, b):
    """Two models with the same bits."""
    np.testing.assert_array_equal(a.genome_, b.genome_)
    assert a.history_ == b.history_
    for name in ("support_vectors", "dual_coef", "intercept"):
        np.testing.assert_array_equal(getattr(a.readout_, name), getattr(b.readout_, name))


# ---- manners of scikit-learn


def test_the_order_of_the_parameters():
    assert list(inspect.signature(EvokeClassifier).parameters) == [
        "n_cells", "cell", "gate_bias", "weight_range", "n_generations", "subpopulation_size", "n_trials",
        "mutation_scale", "burst_patience", "burst_scale", "credit", "objective", "readout", "kernel", "gamma", "C",
        "class_weight", "tol", "solver", "washout", "validation", "random_state", "n_jobs", "callbacks", "warm_start",
        "verbose", "refit",
    ]  # fmt: skip


def test_parameters_are_stored_as_they_are_and_survive_fit():
    bias, seed = [0.0, 1.0, -1.0], np.random.SeedSequence(1)
    model = tiny(gate_bias=bias, random_state=seed)
    before = model.get_params()
    assert model.gate_bias is bias and model.random_state is seed
    assert model.fit(EQUAL, STEPS) is model
    assert model.get_params() == before and model.gate_bias is bias
    copied = clone(model)
    assert {**copied.get_params(), "random_state": seed} == before
    assert not any(name.endswith("_") for name in vars(copied))


def test_fit_learns_the_documented_attributes(per_step):
    assert per_step.genome_.shape == (3, 4 * (2 + 3))
    assert per_step.n_features_in_ == 2
    assert per_step.classes_.tolist() == [0, 1]
    assert len(per_step.history_) == 2
    assert per_step.n_evaluations_ == 2 * 4 * 2
    assert per_step.best_fitness_ == min(record["generation_best"] for record in per_step.history_)
    assert per_step.readout_.converged.all()


def test_grid_search_cross_validation_and_pipeline():
    model = tiny(validation=0.25)  # half of a fold would not have both classes
    search = GridSearchCV(model, {"C": [1.0, 10.0], "n_cells": [2, 3]}, cv=2, n_jobs=2).fit(RAGGED, ONES)
    assert set(search.predict(RAGGED)) <= {"a", "b"}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert cross_val_score(tiny(), EQUAL, STEPS, cv=KFold(2)).shape == (2,)
    centred = make_pipeline(FunctionTransformer(lambda X: [x - 1.0 for x in X]), tiny()).fit(RAGGED, ONES)
    np.testing.assert_array_equal(centred.decision_function(RAGGED),
                                  tiny().fit([x - 1.0 for x in RAGGED], ONES).decision_function(
                                      [x - 1.0 for x in RAGGED]))


CANNOT_PASS = {
    "check_classifiers_train": "A list holds one sequence an element, so X.tolist() of a 2-D array is not that array.",
    "check_transformer_data_not_an_array": "A list holds one sequence an element; this one holds the rows of one.",
    "check_supervised_y_2d": "A single column of targets is the same as none and needs no warning.",
    "check_methods_sample_order_invariance": "The rows of a 2-D X are the steps of one sequence and have an order.",
    "check_methods_subset_invariance": "What the network says of a step depends on the steps before it.",
    "check_sample_weight_equivalence_on_dense_data": "A step that is repeated or left out changes all steps behind it; "
    "the equivalence holds for sequences, see test_weights.py.",
}


CHECKS = list(
    estimator_checks_generator(
        EvokeClassifier(n_cells=2, n_generations=1, subpopulation_size=4, n_trials=1, random_state=0),
        expected_failed_checks=CANNOT_PASS,
        mark="xfail",
    )
)


@pytest.mark.parametrize(
    "estimator, check", CHECKS, ids=lambda value: getattr(getattr(value, "func", None), "__name__", None)
)
@pytest.mark.filterwarnings("ignore")
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_fit_transform(per_step):
    for phi, expected in zip(tiny().fit_transform(EQUAL, STEPS), per_step.transform(EQUAL), strict=True):
        np.testing.assert_array_equal(phi, expected)


def test_a_fold_with_a_single_class_fails_alone():
    y = np.array(["a"] * 5 + ["b"] * 5)
    with pytest.warns(Warning, match="fits failed"):
        scores = cross_val_score(tiny(), RAGGED, y, cv=[(np.arange(5), np.arange(5, 10)),
                                                        (np.array([2, 5, 3, 6, 4, 7]), np.array([0, 9]))])
    np.testing.assert_array_equal(np.isnan(scores), [True, False])


def test_not_fitted():
    model = tiny()
    for call in (model.predict, model.decision_function, model.transform):
        with pytest.raises(NotFittedError):
            call(EQUAL)
    with pytest.raises(NotFittedError):
        model.score(EQUAL, STEPS)
    with pytest.raises(NotFittedError):
        model.stream()


# ---- containers


def test_every_container_gives_the_same(per_step):
    expected = np.array(per_step.decision_function(EQUAL))
    cube, flat = np.array(EQUAL), np.concatenate(EQUAL)
    objects = np.empty(4, dtype=object)
    objects[:] = EQUAL
    for X, y in ((tuple(EQUAL), tuple(STEPS)), (objects, STEPS), (cube, np.array(STEPS)), (cube, STEPS)):
        model = tiny().fit(X, y)
        assert_same_model(model, per_step)
        np.testing.assert_array_equal(np.array(model.decision_function(X)), expected)
    model = tiny().fit(flat, np.concatenate(STEPS), lengths=[5] * 4)
    assert_same_model(model, per_step)
    np.testing.assert_array_equal(model.decision_function(flat, lengths=[5] * 4), expected.ravel())


def test_output_mirrors_input(per_step, three_classes):
    for model, last in ((per_step, ()), (three_classes, (3,))):
        decisions = model.decision_function(RAGGED)
        assert [d.shape for d in decisions] == [(len(x), *last) for x in RAGGED]
        assert [p.shape for p in model.predict(RAGGED)] == [(len(x),) for x in RAGGED]
        assert [phi.shape for phi in model.transform(RAGGED)] == [(len(x), 3) for x in RAGGED]
        assert model.decision_function(np.array(EQUAL)).shape == (4, 5, *last)
        assert model.predict(np.array(EQUAL)).shape == (4, 5)
        assert model.transform(np.array(EQUAL)).shape == (4, 5, 3)
        assert model.decision_function(EQUAL[0]).shape == (5, *last)
        assert model.predict(np.concatenate(EQUAL), lengths=[8, 12]).shape == (20,)


def test_a_2d_array_is_one_sequence(per_step):
    assert tiny().fit(EQUAL[0], [0, 1, 0, 1, 0]).predict(EQUAL[0]).shape == (5,)
    np.testing.assert_array_equal(per_step.decision_function(EQUAL[1]), per_step.decision_function(EQUAL)[1])
    cut = per_step.decision_function(np.concatenate(EQUAL[:2]), lengths=[5, 5])
    np.testing.assert_array_equal(cut[5:], per_step.decision_function(EQUAL)[1])
    assert not np.array_equal(per_step.decision_function(np.concatenate(EQUAL[:2]))[5:], cut[5:])


def test_sequences_of_one_step():
    X = [np.array([[1.0, 2.0]]), np.array([[2.0, 1.0]])] * 2
    model = tiny().fit(X, [[0], [1]] * 2)
    assert [p.shape for p in model.predict(X)] == [(1,)] * 4
    assert tiny().fit(X, [0, 1] * 2).predict(X).shape == (4,)


def test_state_is_reset_between_sequences(per_sequence, per_step):
    for model in (per_sequence, per_step):
        together = model.decision_function(RAGGED)
        for x, expected in zip(RAGGED, together, strict=True):
            np.testing.assert_array_equal(model.decision_function([x])[0], expected)
        for again, expected in zip(model.decision_function(RAGGED[::-1])[::-1], together, strict=True):
            np.testing.assert_array_equal(again, expected)


@pytest.mark.parametrize("change", [
    lambda x: x.astype(np.float32), lambda x: x.astype(np.int64), lambda x: x.astype(bool), np.asfortranarray,
    lambda x: x[::-1].copy()[::-1], lambda x: x.tolist(), lambda x: x.astype(object),
])  # fmt: skip
def test_dtype_and_layout_change_nothing(change):
    X = [(x > 0).astype(float) for x in EQUAL]
    expected = tiny().fit(X, STEPS)
    changed = [change(x) for x in X]
    for x in changed:
        if isinstance(x, np.ndarray):
            x.flags.writeable = False
    assert_same_model(tiny().fit(changed, STEPS), expected)
    np.testing.assert_array_equal(np.array(expected.decision_function(changed)), expected.decision_function(X))


# ---- labels


LABELS = {
    "strings": ["no", "yes"],
    "objects": np.array(["x", "yy"], dtype=object),
    "bool": [False, True],
    "negative": [-7, -2],
    "fractions": [0.5, 1.5],
    "floats": [1.0, 2.0],
    "uint8": np.array([3, 200], dtype=np.uint8),
    "beyond float32": [2**24, 2**24 + 1],
    "beyond float64": [2**53, 2**53 + 1],
    "three strings": ["a", "b", "cc"],
    "three fractions": [-1.5, 0.25, 7.0],
    "five": [5, 1, 4, 2, 3],
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("first", [0, 1])
def test_labels_keep_their_kind(name, first):
    labels = np.asarray(LABELS[name])
    index = (np.arange(20) + first) % len(labels)
    X = [x + 0.1 for x in ragged(*[3] * 20, seed=1)]
    model = tiny().fit(X, labels[index])
    assert model.classes_.dtype == labels.dtype
    assert model.classes_.tolist() == sorted(labels.tolist())
    predicted = model.predict(X)
    assert predicted.dtype == labels.dtype and predicted.shape == (20,)
    assert set(predicted.tolist()) <= set(labels.tolist())
    steps = tiny().fit(X, [labels[(k + np.arange(3)) % len(labels)] for k in range(20)])
    assert steps.predict(X)[0].dtype == labels.dtype
    assert steps.classes_.tolist() == model.classes_.tolist()
    assert 0.0 <= steps.score(X, steps.predict(X)) == 1.0


def test_the_labels_do_not_matter():
    expected = tiny().fit(EQUAL, STEPS)
    for labels in (["no", "yes"], [-1, 1], [2**53, 2**53 + 1]):
        assert_same_model(tiny().fit(EQUAL, [np.array(labels)[y] for y in STEPS]), expected)


def test_the_sign_says_the_second_class(per_sequence, per_step):
    d = per_sequence.decision_function(RAGGED)
    assert d.shape == (10,)
    assert (d > 0).any() and (d <= 0).any()
    np.testing.assert_array_equal(per_sequence.predict(RAGGED), np.where(d > 0, "b", "a"))
    for decisions, labels in zip(per_step.decision_function(EQUAL), per_step.predict(EQUAL), strict=True):
        np.testing.assert_array_equal(labels, decisions > 0)
    # the names of the classes, not their places in y, decide the sign
    swapped = tiny().fit(RAGGED, np.where(ONES == "a", "z", "y"))
    np.testing.assert_array_equal(swapped.predict(RAGGED) == "z", swapped.decision_function(RAGGED) > 0)


def test_of_several_classes_the_largest_decision_wins(three_classes):
    for decisions, labels in zip(three_classes.decision_function(EQUAL), three_classes.predict(EQUAL), strict=True):
        np.testing.assert_array_equal(labels, decisions.argmax(axis=1))


def test_several_outputs():
    y = [np.array([[1, 0], [0, 0], [1, 1], [0, 1], [1, 0]])] * 4
    model = tiny().fit(EQUAL, y)
    assert model.classes_.tolist() == [0, 1]
    predicted, decisions = model.predict(EQUAL), model.decision_function(EQUAL)
    np.testing.assert_array_equal(np.array(predicted), (np.array(decisions) > 0).astype(int))
    right = np.mean([(p == t).all(axis=1) for p, t in zip(predicted, y, strict=True)])
    assert model.score(EQUAL, y) == pytest.approx(right)
    for kind in (bool, float, np.uint8):
        assert_same_model(tiny().fit(EQUAL, [t.astype(kind) for t in y]), model)
    with pytest.raises(ValueError, match="y must be of the kind"):
        model.score(EQUAL, STEPS)


def test_several_outputs_a_sequence():
    y = np.random.default_rng(0).integers(0, 2, (10, 3))
    model = tiny().fit(RAGGED, y[:, None, :])
    decisions = model.decision_function(RAGGED)
    assert decisions.shape == (10, 3)
    np.testing.assert_array_equal(model.predict(RAGGED), decisions > 0)
    for phi, row in zip(model.transform(RAGGED), decisions, strict=True):
        np.testing.assert_array_equal(model.readout_.decide(phi[-1:])[0], row)
    assert model.score(RAGGED, y[:, None, :]) == (model.predict(RAGGED) == y).all(axis=1).mean()
    assert_same_model(tiny().fit(RAGGED, [row[None] for row in y.astype(bool)]), model)
    cube = np.array([x[:1].repeat(3, axis=0) for x in RAGGED])
    assert_same_model(tiny().fit(cube, y[:, None, :]), tiny().fit(list(cube), list(y[:, None, :])))
    with pytest.raises(ValueError, match=r"y\[0\] has shape .* several targets for each sequence are y\[:, None, :\]"):
        tiny().fit(RAGGED, np.tile(y, 3))
    with pytest.raises(ValueError, match=r"10 sequences of 3 steps; several targets for each sequence are"):
        tiny().fit(cube, y[:, :2])


@pytest.mark.parametrize(
    "y, message",
    [
        ([[0, 0, 0, 0, 0]] * 4, r"y has 1 class, .*0"),
        (["a"] * 4, r"y has 1 class, .*'a'"),
        ([np.zeros(5), np.array([0, 1, np.nan, 1, 0]), np.zeros(5), np.zeros(5)], r"y\[1\] is nan at step 2"),
        ([0.0, 1.0, np.inf, 1.0], r"y contains NaN or infinity: y\[2\] is inf"),
        (np.array(["a", None, "b", "a"], dtype=object), r"y mixes labels"),
        (np.array(["a", 3, "b", "a"], dtype=object), r"y mixes labels"),
        (np.array([1, float("nan"), 2, 1], dtype=object), r"y contains NaN or infinity: y\[1\]"),
        ([0.1, 0.2, 0.3, 0.4], "Unknown label type: continuous"),
        ([1j, 2, 1j, 2], "y holds labels of dtype complex128"),
        (np.array(["2020", "2021", "2020", "2021"], dtype="M8[Y]"), "y holds labels of dtype datetime64"),
        ([np.full((5, 2), 2)] * 4, r"y with several columns must hold only 0 and 1: y\[0\] is \[2 2\] at step 0"),
        ([np.zeros((5, 2)), *[np.full((5, 2), np.nan)] * 3], r"only 0 and 1: y\[1\] is \[nan nan\] at step 0"),
        ([np.array([["0", "1"]] * 5)] * 4, "y with several columns must hold only 0 and 1, got dtype <U1"),
        (STEPS[:3], "y has 3 sequences, X has 4"),
    ],
)
def test_refused_labels(y, message):
    with pytest.raises(ValueError, match=message):
        tiny().fit(EQUAL, y)


def test_parameters_set_after_fit_do_not_change_the_model(per_step):
    model, x = copy.deepcopy(per_step), EQUAL[0]
    bias = np.array([0.0, 1.5, -1.5])
    given = tiny(gate_bias=bias).fit(EQUAL, STEPS)
    bias[:] = 3.0
    model.set_params(cell="evolino", gate_bias=(1.0, 1.0, 1.0), n_cells=9, kernel="linear", gamma=7.0, washout=2)
    for changed in (model, given):
        np.testing.assert_array_equal(changed.decision_function(x), per_step.decision_function(x))
        np.testing.assert_array_equal(changed.stream().transform(x), per_step.transform(x))


def test_score(per_sequence, per_step):
    assert per_sequence.score(RAGGED, ONES) == np.mean(per_sequence.predict(RAGGED) == ONES)
    right = np.concatenate(per_step.predict(EQUAL)) == np.concatenate(STEPS)
    assert per_step.score(EQUAL, STEPS) == right.mean()
    assert per_step.score(np.array(EQUAL), np.array(STEPS)) == right.mean()
    assert per_step.score(np.concatenate(EQUAL), np.concatenate(STEPS), lengths=[5] * 4) == right.mean()
    for model, X, y in ((per_step, EQUAL, [0, 1, 0, 1]), (per_sequence, EQUAL, STEPS)):
        with pytest.raises(ValueError, match="y must be of the kind"):
            model.score(X, y)


def test_transform_is_the_forward_pass(per_step):
    for phi, expected in zip(per_step.transform(RAGGED), forward(per_step.genome_, RAGGED), strict=True):
        np.testing.assert_array_equal(phi, expected)


def test_with_a_label_a_sequence_the_last_step_decides(per_sequence):
    phi = np.array([phi[-1] for phi in per_sequence.transform(RAGGED)])
    np.testing.assert_array_equal(per_sequence.decision_function(RAGGED), per_sequence.readout_.decide(phi)[:, 0])


# ---- readouts in closed form


def test_least_squares_svm():
    model = tiny(readout="lssvm", C=50.0, gamma=0.7, washout=1).fit(EQUAL, STEPS)
    phi = np.concatenate([phi[1:] for phi in model.transform(EQUAL[:2])])
    target = np.concatenate([2.0 * y[1:] - 1.0 for y in STEPS[:2]])
    K = np.exp(-0.7 * ((phi[:, None] - phi[None]) ** 2).sum(axis=2))
    system = np.block([[K + np.eye(8) / 50.0, np.ones((8, 1))], [np.ones((1, 8)), np.zeros((1, 1))]])
    *alpha, b = np.linalg.solve(system, [*target, 0.0])
    x = model.transform(EQUAL[3])
    expected = np.exp(-0.7 * ((x[:, None] - phi[None]) ** 2).sum(axis=2)) @ alpha + b
    np.testing.assert_allclose(model.decision_function(EQUAL[3]), expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(model.predict(EQUAL[3]), expected > 0)


def test_pseudoinverse():
    y = [np.arange(5) % 3] * 4
    model = tiny(readout="pinv").fit(EQUAL, y)
    phi, target = np.concatenate(model.transform(EQUAL[:2])), np.concatenate(y[:2])[:, None] == np.arange(3)
    weights = np.linalg.pinv(np.column_stack([phi, np.ones(10)])) @ np.where(target, 1.0, -1.0)
    expected = np.column_stack([model.transform(EQUAL[3]), np.ones(5)]) @ weights
    np.testing.assert_allclose(model.decision_function(EQUAL[3]), expected, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(model.predict(EQUAL[3]), expected.argmax(axis=1))


# ---- bad parameters and inputs


BAD = {
    "n_cells": [0, -1, 2.0, "3", None, True],
    "cell": ["gru", None, 1, ["lstm"], np.array(["lstm", "gru"])],
    "gate_bias": [(0.0, 1.0), 1.0, None, (0.0, 1.0, np.nan), ("a", "b", "c"), "abc", [[1.0], 2.0, 3.0], (1j, 0.0, 0.0)],
    "weight_range": [0.0, -1.0, np.nan, np.inf, "5", None],
    "n_generations": [0, -2, 1.5, None],
    "subpopulation_size": [1, 0, 4.0, None],
    "n_trials": [0, 1.0, None],
    "mutation_scale": [0.0, -0.1, np.nan, np.inf, "1", None],
    "burst_patience": [0, -1, 1.5, "5"],
    "burst_scale": [0.0, -1.0, np.nan, np.inf, "1"],
    "credit": ["worst", None],
    "objective": ["mse", None],
    "readout": ["ridge", None],
    "kernel": ["laplace", None],
    "gamma": [0.0, -1.0, np.nan, np.inf, "scale", None],
    "C": [0.0, -1.0, np.nan, np.inf, "1", None],
    "tol": [0.0, -1.0, np.nan, np.inf, None],
    "solver": ["libsvm", None],
    "washout": [-1, 1.0, None],
    "validation": [0.0, 1.0, 1.5, -0.1, np.nan, "third", None, True],
    "random_state": [-1, 1.5, "0", True],
    "n_jobs": [0, 1.5, "2", True],
    "callbacks": [3, [3], print],
}


@pytest.mark.parametrize("name, value", [(name, value) for name, values in BAD.items() for value in values])
def test_bad_parameters_are_named_before_any_work(name, value, monkeypatch):
    monkeypatch.setattr("evoke.sequence_estimator.as_sequences", lambda *_: pytest.fail("the data were looked at"))
    with pytest.raises(ValueError, match=f"^{name} must be "):
        tiny(**{name: value}).fit(EQUAL, STEPS)


def test_parameters_may_be_scalars_of_numpy():
    parameters = dict(cell=np.str_("lstm"), kernel=np.str_("rbf"), objective=np.str_("hinge"), solver=np.str_("auto"),
                      n_cells=np.int32(3), C=np.float32(100), n_generations=np.uint8(2), validation=np.float64(0.5),
                      random_state=np.int64(0), gate_bias=np.array([0.0, 1.5, -1.5]))  # fmt: skip
    assert_same_model(tiny(**parameters).fit(EQUAL, STEPS), tiny().fit(EQUAL, STEPS))


@pytest.mark.parametrize(
    "X, message",
    [
        ([np.ones((3, 3))], "X has 3 features, but EvokeClassifier is expecting 2 features"),
        ([np.ones((3, 2)), np.array([[1.0, np.nan]])], r"X\[1\] contains NaN or infinity"),
        ([], "X is empty"),
        (np.ones(3), "X must be a list"),
    ],
)
def test_bad_input_to_a_fitted_model(per_step, X, message):
    for call in (per_step.predict, per_step.decision_function, per_step.transform):
        with pytest.raises(ValueError, match=message):
            call(X)


def test_a_fit_that_fails_leaves_the_model_as_it_was(per_step):
    model = copy.deepcopy(per_step)
    for X, y in ((ragged(3, 3, n_columns=4), [0, 0]), (EQUAL, [[7, 7, 7, 7, 7]] * 4), (EQUAL, ["u", "v", "u"]),
                 (ragged(4), [list("abca")])):  # fmt: skip
        with pytest.raises(ValueError):
            model.set_params(washout=0 if len(X) > 1 else 4).fit(X, y)
    assert vars(model).keys() == vars(per_step).keys()
    assert_same_model(model, per_step)
    np.testing.assert_array_equal(np.array(model.predict(EQUAL)), per_step.predict(EQUAL))


def test_without_a_single_finite_error_there_is_no_model(monkeypatch):
    monkeypatch.setattr("evoke.parallel.evaluate", lambda _problem, genomes, _stop: np.full((len(genomes), 4), np.nan))
    model = tiny()
    with pytest.raises(ValueError, match=r"no network had a finite error: the data are too large, scale them$"):
        model.fit(EQUAL, STEPS)
    assert not hasattr(model, "genome_")


# ---- what is held out, washout


def train_and_validation(monkeypatch, model, *data, **more):
    """Unique rows and weights of the problem that a fit poses."""
    posed = []

    def pose(run, **_more):
        posed.append(run.problem)
        raise InterruptedError

    monkeypatch.setattr("evoke.base.evolve", pose)
    with pytest.raises(InterruptedError):
        model.fit(*data, **more)
    (problem,) = posed
    parts = problem.train, problem.validation
    return problem, [sorted(problem.runs.rows[points.rows, 0].tolist()) for points in parts]


NUMBERED = [np.arange(10.0 * k, 10.0 * k + 4)[:, None] for k in range(5)]
BOTH = [[0, 1, 0, 1]] * 5


@pytest.mark.parametrize("validation, n_train", [("half", 2), (0.5, 2), (0.2, 4), (0.01, 4), (0.6, 2), (0.99, 1)])
def test_the_last_sequences_are_held_out(monkeypatch, validation, n_train):
    _, (train, held_out) = train_and_validation(monkeypatch, tiny(validation=validation), NUMBERED, BOTH)
    assert train == np.concatenate(NUMBERED[:n_train])[:, 0].tolist()
    assert held_out == np.concatenate(NUMBERED[n_train:])[:, 0].tolist()


def test_of_a_single_sequence_the_last_steps_are_held_out(monkeypatch):
    x, y = np.arange(10.0)[:, None], np.arange(10) % 2
    for X, labels in ((x, y), ([x], [y]), (x[None], y[None])):
        _, parts = train_and_validation(monkeypatch, tiny(), X, labels)
        assert parts == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    _, parts = train_and_validation(monkeypatch, tiny(validation=0.2, washout=3), x, y)
    assert parts == [[3, 4, 5, 6, 7, 8], [9]]


def test_washout_counts_in_every_sequence(monkeypatch):
    X = [x[:length] for x, length in zip(NUMBERED, (4, 3, 4, 3, 4), strict=True)]
    y = [[0, 1, 0, 1][: len(x)] for x in X]
    _, parts = train_and_validation(monkeypatch, tiny(washout=2), X, y)
    assert parts == [[2, 3, 12], [22, 23, 32, 42, 43]]
    monkeypatch.undo()
    model = tiny(washout=2).fit(X, y)
    assert [len(p) for p in model.predict(X)] == [4, 3, 4, 3, 4]
    with pytest.raises(ValueError, match=r"washout=3 leaves nothing of X\[1\], which has 3 steps"):
        tiny(washout=3).fit(X, y)
    assert tiny(washout=2).fit(X, [0, 1, 0, 1, 0]).predict(X).shape == (5,)


def test_one_label_a_sequence_uses_the_last_steps(monkeypatch):
    _, parts = train_and_validation(monkeypatch, tiny(), NUMBERED, [0, 1, 0, 1, 0])
    assert parts == [[3, 13], [23, 33, 43]]


def test_sequences_to_hold_out_may_be_given(monkeypatch):
    held_out = [x + 100 for x in NUMBERED[:2]]
    for X_val, y_val in ((held_out, BOTH[:2]), (np.array(held_out), np.array(BOTH[:2])), (held_out[0], BOTH[0])):
        problem, parts = train_and_validation(monkeypatch, tiny(), NUMBERED, BOTH, X_val=X_val, y_val=y_val)
        assert parts[0] == np.concatenate(NUMBERED)[:, 0].tolist()
        assert parts[1] == np.ravel(X_val).tolist()
    assert problem.validation.targets.tolist() == [[-1, 1, -1, 1]]


@pytest.mark.parametrize(
    "X_val, y_val, message",
    [
        (NUMBERED, None, "X_val and y_val go together"),
        (None, BOTH, "X_val and y_val go together"),
        (ragged(3), [[0, 1, 0]], "X_val has 2 columns, expected 1"),
        (NUMBERED, BOTH[:2], "y_val has 2 sequences"),
        (NUMBERED, [0, 1, 0, 1, 0], "y_val must be of the same kind as y"),
        (NUMBERED, [np.zeros((4, 2))] * 5, "y_val must be of the same kind as y"),
        (NUMBERED, [[0, 1, 2, 1]] * 5, r"y_val has labels that y does not have: \[2\]"),
        (NUMBERED, [list("abab")] * 5, "y_val has labels"),
        ([np.full((2, 1), np.nan)], [[0, 1]], r"X_val\[0\] contains NaN"),
    ],
)
def test_refused_validation_data(X_val, y_val, message):
    with pytest.raises(ValueError, match=message):
        tiny().fit(NUMBERED, BOTH, X_val=X_val, y_val=y_val)


def test_too_little_to_hold_out():
    with pytest.raises(ValueError, match="too few to hold out validation='half'; pass X_val and y_val"):
        tiny(washout=1).fit([np.ones((2, 1))], [[0, 1]])


# ---- randomness and parallelism


def seeds():
    return [0, 5, np.int64(5), np.random.SeedSequence(5), np.random.default_rng(5), np.random.RandomState(5)]


@pytest.mark.parametrize("k", range(6))
def test_every_kind_of_seed_repeats(k):
    first, again = (tiny(random_state=seeds()[k]).fit(EQUAL, STEPS) for _ in range(2))
    assert_same_model(first, again)
    other = tiny(random_state=1).fit(EQUAL, STEPS)
    assert not np.array_equal(first.genome_, other.genome_)


def test_without_a_seed_every_fit_is_another():
    a, b = (tiny(random_state=None).fit(EQUAL, STEPS) for _ in range(2))
    assert not np.array_equal(a.genome_, b.genome_)


def test_the_global_generator_is_neither_read_nor_touched(per_step):
    np.random.seed(3)
    np.random.random(100)
    before = np.random.get_state()
    assert_same_model(tiny().fit(EQUAL, STEPS), per_step)
    tiny(random_state=None).fit(EQUAL, STEPS)
    after = np.random.get_state()
    np.testing.assert_array_equal(before[1], after[1])
    assert before[2:] == after[2:]


MANY = dict(subpopulation_size=12, n_trials=3)  # several blocks of networks


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_the_number_of_jobs_changes_nothing(n_jobs):
    expected = tiny(**MANY).fit(RAGGED, ONES)
    model = tiny(**MANY, n_jobs=n_jobs).fit(RAGGED, ONES)
    assert_same_model(model, expected)
    np.testing.assert_array_equal(model.decision_function(RAGGED), expected.decision_function(RAGGED))


def test_processes_change_nothing():
    expected = tiny(**MANY).fit(RAGGED, ONES)
    with parallel_config(backend="loky", n_jobs=2):
        assert_same_model(tiny(**MANY).fit(RAGGED, ONES), expected)


def test_fits_in_threads_do_not_disturb_each_other():
    models = [tiny(random_state=k) for k in range(4)]
    expected = [tiny(random_state=k).fit(EQUAL, STEPS) for k in range(4)]
    threads = [threading.Thread(target=model.fit, args=(EQUAL, STEPS)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model, same in zip(models, expected, strict=True):
        assert_same_model(model, same)


# ---- copies and files


def test_pickle_and_deepcopy(per_step):
    d = np.array(per_step.decision_function(EQUAL))
    for copied in (pickle.loads(pickle.dumps(per_step)), copy.deepcopy(per_step)):
        np.testing.assert_array_equal(np.array(copied.decision_function(EQUAL)), d)
        stream = copied.stream()
        del copied
        np.testing.assert_array_equal(stream.decision_function(EQUAL[0]), d[0])
    np.testing.assert_array_equal(np.array(per_step.decision_function(EQUAL)), d)


def test_a_model_of_another_process(per_step, tmp_path):
    joblib.dump(per_step, tmp_path / "model")
    code = (
        "import sys, joblib, numpy as np; model = joblib.load(sys.argv[1]);"
        "X = np.load(sys.argv[2]); np.save(sys.argv[3], model.decision_function(X))"
    )
    files = [str(tmp_path / name) for name in ("model", "X.npy", "d.npy")]
    np.save(files[1], np.array(EQUAL))
    subprocess.run([sys.executable, "-W", "error", "-c", code, *files], check=True)
    np.testing.assert_array_equal(np.load(files[2]), per_step.decision_function(EQUAL))


def test_a_model_is_made_of_plain_values(per_step):
    def plain(value):
        if isinstance(value, dict):
            return all(map(plain, value.values()))
        if isinstance(value, (list, tuple)):
            return all(map(plain, value))
        if hasattr(value, "__dict__") and not isinstance(value, np.ndarray):
            return plain(vars(value))
        return value is None or isinstance(value, (str, int, float, np.ndarray, np.generic))

    assert plain(vars(per_step))


def test_an_unpickled_model_goes_on(per_step):
    straight = tiny(n_generations=4).fit(EQUAL, STEPS)
    model = pickle.loads(pickle.dumps(per_step)).set_params(warm_start=True).fit(EQUAL, STEPS)
    assert_same_model(model, straight)


# ---- warm start


@pytest.mark.parametrize("more", [{}, {"n_jobs": 2}, {"burst_patience": 1}, {"credit": "mean"}])
def test_going_on_equals_one_run(more):
    straight = tiny(n_generations=6, **more).fit(EQUAL, STEPS)
    model = tiny(n_generations=3, warm_start=True, **more)
    halfway = model.fit(EQUAL, STEPS).history_
    model.fit(EQUAL, STEPS)
    assert_same_model(model, straight)
    assert len(halfway) == 3 and model.n_evaluations_ == straight.n_evaluations_
    model.set_params(warm_start=False, n_generations=6).fit(EQUAL, STEPS)
    assert_same_model(model, straight)


def test_on_other_data_the_best_network_is_judged_anew():
    model = tiny(warm_start=True, n_generations=1, objective="count").fit(EQUAL, STEPS)
    genome = model.genome_
    opposite = [np.arange(5) % 2 for _ in EQUAL]
    model.fit(EQUAL, opposite)
    errors = [sum((p != t).sum() for p, t in zip(model.predict(EQUAL), opposite, strict=True))]
    assert model.best_fitness_ == errors[0]
    assert model.genome_.shape == genome.shape


@pytest.mark.parametrize("name, value", [("n_cells", 2), ("subpopulation_size", 5), ("mutation_scale", 0.5)])
def test_the_population_cannot_go_on_with_other_parameters(name, value):
    model = tiny(warm_start=True).fit(EQUAL, STEPS)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match="warm_start cannot go on from the last fit"):
        model.set_params(**{name: value}).fit(EQUAL, STEPS)
    assert_same_model(model, before)
    model.set_params(warm_start=False).fit(EQUAL, STEPS)


# ---- callbacks, interrupts, output


def test_callbacks_are_called_every_generation_and_may_stop():
    seen = []

    def callback(record, esp):
        assert isinstance(esp, ESP)
        seen.append(record)
        return record["generation"] == 2

    model = tiny(n_generations=5, callbacks=[callback]).fit(EQUAL, STEPS)
    assert seen == model.history_ and len(seen) == 2
    assert_same_model(model, tiny(n_generations=2).fit(EQUAL, STEPS))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_keeps_the_best_so_far(kind, n_jobs):
    def callback(record, _esp):
        if record["generation"] == 2:
            raise kind

    model = tiny(n_generations=5, callbacks=(callback,), n_jobs=n_jobs)
    with pytest.raises(kind):
        model.fit(EQUAL, STEPS)
    assert_same_model(model, tiny(n_generations=2).fit(EQUAL, STEPS))
    assert model.score(EQUAL, STEPS) >= 0.5
    model.set_params(callbacks=None, warm_start=True, n_generations=3).fit(EQUAL, STEPS)
    assert_same_model(model, tiny(n_generations=5).fit(EQUAL, STEPS))


def test_an_interrupt_before_the_first_generation_leaves_nothing_behind(monkeypatch):
    def interrupt(*_args):
        raise KeyboardInterrupt

    model = tiny()
    with monkeypatch.context() as patch:
        patch.setattr("evoke.parallel.evaluate", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(EQUAL, STEPS)
    with pytest.raises(NotFittedError):
        model.predict(EQUAL)
    model.fit(EQUAL, STEPS)


def test_silence(capfd):
    model = tiny(n_jobs=2).fit(EQUAL, STEPS)
    model.predict(EQUAL)
    assert capfd.readouterr() == ("", "")
    tiny(verbose=1).fit(EQUAL, STEPS)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert [line.split()[:2] for line in captured.err.splitlines()] == [["generation", "1"], ["generation", "2"]]


def test_importing_writes_no_file(tmp_path):
    code = "import evoke; evoke.EvokeClassifier, evoke.ESP, evoke.tasks, evoke.svm"
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, env=environment,
                            capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


# ---- the stateful reader


def test_a_stream_reads_in_any_pieces(per_step, three_classes):
    x = ragged(20, seed=2)[0]
    for model in (per_step, three_classes):
        whole = model.decision_function(x)
        stream = model.stream()
        for cuts in ([8], [1, 2, 19], []):
            np.testing.assert_array_equal(
                np.concatenate([stream.decision_function(piece) for piece in np.split(x, cuts)]), whole
            )
            stream.reset()
        np.testing.assert_array_equal(np.concatenate([stream.transform(x[:8]), stream.transform(x[8:])]),
                                      model.transform(x))
        stream.reset()
        np.testing.assert_array_equal([stream.step(u) for u in x], model.predict(x))


def test_predict_and_streams_do_not_disturb_each_other(per_step):
    x, whole = EQUAL[0], per_step.decision_function(EQUAL[0])
    one, other = per_step.stream(), per_step.stream()
    first = one.decision_function(x[:2])
    other.decision_function(EQUAL[1])
    np.testing.assert_array_equal(per_step.decision_function(x), whole)
    np.testing.assert_array_equal(np.concatenate([first, one.decision_function(x[2:])]), whole)
    # with a label a sequence the reader still decides at every step
    assert tiny().fit(RAGGED, ONES).stream().predict(x).shape == (5,)


@pytest.mark.parametrize("x", [np.ones((3, 3)), np.ones(2), np.ones((1, 3, 2)), [[np.nan, 1.0]], np.ones((0, 2)), [],
                               EQUAL, RAGGED, 1.0, None])
def test_a_stream_refuses_what_it_cannot_read_and_keeps_its_state(per_step, x):
    stream = per_step.stream()
    start = stream.decision_function(EQUAL[0][:2])
    with pytest.raises(ValueError, match="X"):
        stream.predict(x)
    np.testing.assert_array_equal(np.concatenate([start, stream.decision_function(EQUAL[0][2:])]),
                                  per_step.decision_function(EQUAL[0]))


# ---- learning


def test_it_learns_a_context_sensitive_language():
    X, y = tasks.anbncn(6)
    model = EvokeClassifier(n_generations=30, subpopulation_size=20, n_trials=3, random_state=0,
                            callbacks=[lambda record, _esp: record["wrong_train"] + record["wrong_validation"] == 0])
    model.fit(X, y)
    assert (model.history_[-1]["wrong_train"], model.history_[-1]["wrong_validation"]) == (0, 0)
    assert model.history_[0]["generation_best"] > model.best_fitness_


@pytest.mark.parametrize("objective", ["count", "hinge", "squared"])
@pytest.mark.parametrize("cell", ["lstm", "evolino"])
def test_it_remembers_a_first_symbol(cell, objective):
    rng = np.random.default_rng(0)
    X = [np.vstack([[(-1.0) ** k, 0.0], np.column_stack([np.zeros(4), 0.5 * rng.normal(size=4)])]) for k in range(12)]
    y = ["minus" if x[0, 0] < 0 else "plus" for x in X]
    model = tiny(cell=cell, objective=objective, n_generations=40, subpopulation_size=10).fit(X, y)
    assert model.score(X, y) == 1.0


def test_thundersvm_gives_the_decisions_of_the_native_solver():
    thundersvm = pytest.importorskip("evoke._thundersvm")
    if not thundersvm.info().get("available", False):
        pytest.skip("ThunderSVM is not available")
    X = [np.array([[v, 1.0]]) for v in np.linspace(-2, 2, 24)[np.random.default_rng(0).permutation(24)]]
    y = [int(x[0, 0] > 0) for x in X]
    native = tiny(C=1.0, n_generations=1).fit(X, y)
    other = tiny(C=1.0, n_generations=1, solver="thundersvm").fit(X, y)
    np.testing.assert_array_equal(other.genome_, native.genome_)
    np.testing.assert_allclose(other.decision_function(X), native.decision_function(X), atol=5e-3)

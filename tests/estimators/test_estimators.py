"""EvokeClassifier: manners of scikit-learn, containers, bad parameters and inputs."""

import copy
import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from evoke import EvokeClassifier
from helpers.classifiers import EQUAL, ONES, RAGGED, STEPS, assert_same_model, ragged, tiny


@pytest.fixture(scope="module")
def per_sequence():
    return tiny().fit(RAGGED, ONES)


@pytest.fixture(scope="module")
def per_step():
    return tiny().fit(EQUAL, STEPS)


@pytest.fixture(scope="module")
def three_classes():
    return tiny().fit(EQUAL, [np.arange(5) % 3] * 4)


# ---- manners of scikit-learn


def test_the_order_of_the_parameters():
    assert list(inspect.signature(EvokeClassifier).parameters) == [
        "n_cells", "cell", "gate_bias", "weight_range", "n_generations", "subpopulation_size", "n_trials",
        "mutation_scale", "burst_patience", "burst_scale", "credit", "objective", "readout", "kernel", "gamma", "C",
        "class_weight", "tol", "solver", "washout", "validation", "random_state", "n_jobs", "callbacks", "warm_start",
        "verbose", "refit", "pool", "n_networks", "differences", "scale", "max_seconds", "n_points",
        "n_landmarks", "fit_samples", "search", "dtype", "n_islands", "migrate_every",
        "n_restarts", "max_memory",
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
    "readout": ["forest", None],
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
    monkeypatch.setattr("evoke.estimators.sequence.as_sequences", lambda *_: pytest.fail("the data were looked at"))
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
    failing = lambda _problem, genomes, _team: np.full((len(genomes), 4), np.nan)  # noqa: E731
    monkeypatch.setattr("evoke.evolution.workers.evaluate", failing)
    model = tiny()
    with pytest.raises(ValueError, match=r"no network had a finite error: the data are too large, scale them$"):
        model.fit(EQUAL, STEPS)
    assert not hasattr(model, "genome_")

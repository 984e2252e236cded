"""EvokeClassifier: labels, readouts, what is held out, the stateful reader, learning."""

import copy

import numpy as np
import pandas as pd
import pytest
from numpy.dtypes import StringDType

from evoke import EvokeClassifier, load, tasks
from evoke.lstm import forward
from helpers.classifiers import EQUAL, ONES, RAGGED, STEPS, assert_same_model, ragged, tiny
from helpers.problems import posed


@pytest.fixture(scope="module")
def per_sequence():
    return tiny(validation="half").fit(RAGGED, ONES)


@pytest.fixture(scope="module")
def per_step():
    return tiny().fit(EQUAL, STEPS)


@pytest.fixture(scope="module")
def three_classes():
    return tiny().fit(EQUAL, [np.arange(5) % 3] * 4)


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
    model = tiny(validation="half").fit(RAGGED, y[:, None, :])
    decisions = model.decision_function(RAGGED)
    assert decisions.shape == (10, 3)
    np.testing.assert_array_equal(model.predict(RAGGED), decisions > 0)
    for phi, row in zip(model.transform(RAGGED), decisions, strict=True):
        np.testing.assert_array_equal(model.readout_.decide(phi[-1:])[0], row)
    assert model.score(RAGGED, y[:, None, :]) == (model.predict(RAGGED) == y).all(axis=1).mean()
    assert_same_model(tiny(validation="half").fit(RAGGED, [row[None] for row in y.astype(bool)]), model)
    cube = np.array([x[:1].repeat(3, axis=0) for x in RAGGED])
    of_list = tiny(validation="half").fit(list(cube), list(y[:, None, :]))
    assert_same_model(tiny(validation="half").fit(cube, y[:, None, :]), of_list)
    with pytest.raises(ValueError, match=r"y\[0\] has shape .* several targets for each sequence are y\[:, None, :\]"):
        tiny(validation="half").fit(RAGGED, np.tile(y, 3))
    with pytest.raises(ValueError, match=r"10 sequences of 3 steps; several targets for each sequence are"):
        tiny(validation="half").fit(cube, y[:, :2])


@pytest.mark.parametrize(
    "y, message",
    [
        ([[0, 0, 0, 0, 0]] * 4, r"y has 1 class, .*0"),
        (["a"] * 4, r"y has 1 class, .*'a'"),
        ([np.zeros(5), np.array([0, 1, np.nan, 1, 0]), np.zeros(5), np.zeros(5)], r"y\[1\] is nan at step 2"),
        ([0.0, 1.0, np.inf, 1.0], r"y contains NaN or infinity: y\[2\] is inf"),
        (np.array(["a", None, "b", "a"], dtype=object), r"y has missing labels: y\[1\] is None"),
        (["a", float("nan"), "b", "a"], r"y has missing labels: y\[1\] is nan"),
        ([["a", "b"] * 2 + ["a"], [*"abab", pd.NA], *[["a"] * 5] * 2], r"missing labels: y\[1\] is <NA> at step 4"),
        (np.array(["a", np.nan, "b", "a"], StringDType(na_object=np.nan)), r"y has missing labels: y\[1\] is nan"),
        (np.array(["a", None, "b", "a"], StringDType(na_object=None)), r"y has missing labels: y\[1\] is None"),
        ([b"a", "a", "b", "b"], r"y mixes text with other labels: \['bytes', 'str'\]"),
        (["a", "a\0", "b", "b"], r"y has 'a\\x00', which NumPy cannot tell from"),
        ([[b"a", b"a\0", b"b", b"b", b"b"]] * 4, r"y\[0\] has b'a\\x00', which NumPy cannot tell from"),
        ([[b"a"] * 5, *[["a"] * 5] * 3], r"y\[1\] has dtype <U1, y\[0\] has dtype \|S1"),
        (np.array(["a", 3, "b", "a"], dtype=object), r"y mixes labels"),
        (np.array([1, float("nan"), 2, 1], dtype=object), r"y has missing labels: y\[1\] is nan"),
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


def test_integers_beside_fractions_stay_apart(tmp_path):
    X, labels = [x[:3] for x in EQUAL[:3]], [2**53, 2**53 + 1, 0.5]
    for y in ([labels] * 3, labels):
        model, of_objects = (tiny().fit(X, given, X_val=X, y_val=given) for given in (y, np.array(y, dtype=object)))
        assert_same_model(model, of_objects)
        model.save(tmp_path / "model")
        assert load(tmp_path / "model").classes_.tolist() == sorted(labels)


def test_integers_beside_fractions_of_another_sequence_stay_apart():
    y = [[2**53, 2**53 + 1, 3, 3, 3], [0.5, 3, 3, 3, 3], *[[3] * 5] * 2]
    with pytest.warns(UserWarning, match="held-out part"):
        assert tiny().fit(EQUAL[::-1], y[::-1]).classes_.tolist() == [0.5, 3, 2**53, 2**53 + 1]


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


# ---- what is held out, washout


def train_and_validation(model, *data, **more):
    """Unique rows and weights of the problem that a fit poses."""
    problem = posed(model, *data, **more)
    parts = problem.train, problem.validation
    return problem, [sorted(problem.segments.rows[points.rows, 0].tolist()) for points in parts]


NUMBERED = [np.arange(10.0 * k, 10.0 * k + 4)[:, None] for k in range(5)]
BOTH = [[0, 1, 0, 1]] * 5


@pytest.mark.parametrize("validation, n_train", [("half", 2), (0.5, 2), (0.2, 4), (0.01, 4), (0.6, 2), (0.99, 1)])
def test_the_last_sequences_are_held_out(validation, n_train):
    _, (train, held_out) = train_and_validation(tiny(validation=validation), NUMBERED, BOTH)
    assert train == np.concatenate(NUMBERED[:n_train])[:, 0].tolist()
    assert held_out == np.concatenate(NUMBERED[n_train:])[:, 0].tolist()


def test_of_a_single_sequence_the_last_steps_are_held_out():
    x, y = np.arange(10.0)[:, None], np.arange(10) % 2
    for X, labels in ((x, y), ([x], [y]), (x[None], y[None])):
        _, parts = train_and_validation(tiny(), X, labels)
        assert parts == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    _, parts = train_and_validation(tiny(validation=0.2, washout=3), x, y)
    assert parts == [[3, 4, 5, 6, 7, 8], [9]]


def test_washout_counts_in_every_sequence():
    X = [x[:length] for x, length in zip(NUMBERED, (4, 3, 4, 3, 4), strict=True)]
    y = [[0, 1, 0, 1][: len(x)] for x in X]
    _, parts = train_and_validation(tiny(washout=2), X, y)
    assert parts == [[2, 3, 12], [22, 23, 32, 42, 43]]
    model = tiny(washout=2).fit(X, y)
    assert [len(p) for p in model.predict(X)] == [4, 3, 4, 3, 4]
    with pytest.raises(ValueError, match=r"washout=3 leaves nothing of X\[1\], which has 3 steps"):
        tiny(washout=3).fit(X, y)
    assert tiny(washout=2).fit(X, [0, 1, 0, 1, 0]).predict(X).shape == (5,)


def test_one_label_a_sequence_uses_the_last_steps():
    _, parts = train_and_validation(tiny(validation="half"), NUMBERED, [0, 1, 0, 1, 0])
    assert parts == [[3, 13], [23, 33, 43]]


def test_sequences_to_hold_out_may_be_given():
    held_out = [x + 100 for x in NUMBERED[:2]]
    for X_val, y_val in ((held_out, BOTH[:2]), (np.array(held_out), np.array(BOTH[:2])), (held_out[0], BOTH[0])):
        problem, parts = train_and_validation(tiny(), NUMBERED, BOTH, X_val=X_val, y_val=y_val)
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


def test_a_step_of_a_stream_is_one(per_step):
    with pytest.raises(ValueError, match=r"x must be one step, got shape \(22, 2\)"):
        per_step.stream().step(np.ones((22, 2)))


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
    thundersvm = pytest.importorskip("evoke.svm._thundersvm")
    if not thundersvm.info().get("available", False):
        pytest.skip("ThunderSVM is not available")
    X = [np.array([[v, 1.0]]) for v in np.linspace(-2, 2, 24)[np.random.default_rng(0).permutation(24)]]
    y = [int(x[0, 0] > 0) for x in X]
    native = tiny(C=1.0, n_generations=1, solver="native").fit(X, y)
    other = tiny(C=1.0, n_generations=1, solver="thundersvm").fit(X, y)
    np.testing.assert_array_equal(other.genome_, native.genome_)
    np.testing.assert_allclose(other.decision_function(X), native.decision_function(X), atol=5e-3)

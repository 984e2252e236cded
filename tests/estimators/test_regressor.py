import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import estimator_checks_generator

from evoke import EvokeClassifier, EvokeRegressor
from oracle import lstm

TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, validation="half", random_state=0)


def tiny(**parameters):
    return EvokeRegressor(**{**TINY, **parameters})


rng = np.random.default_rng(3)
RAGGED = [rng.normal(size=(length, 2)) for length in (3, 7, 1, 4, 6, 2, 5, 8)]
ONES = rng.normal(size=8)
EQUAL = [rng.normal(size=(6, 2)) for _ in range(4)]
STEPS = [np.cumsum(x[:, 0]) for x in EQUAL]
PAIRS = [np.column_stack([np.cumsum(x[:, 0]), x[:, 1] ** 2]) for x in EQUAL]


@pytest.fixture(scope="module")
def per_step():
    return tiny().fit(EQUAL, STEPS)


@pytest.fixture(scope="module")
def per_sequence():
    return tiny().fit(RAGGED, ONES)


def assert_same_model(a, b):
    """Two models with the same bits."""
    np.testing.assert_array_equal(a.genome_, b.genome_)
    assert a.history_ == b.history_
    for name in ("support_vectors", "dual_coef", "intercept"):
        np.testing.assert_array_equal(getattr(a.readout_, name), getattr(b.readout_, name))


def activations(model, x):
    """Activations by the oracle in NumPy."""
    return lstm.forward(model.genome_, x, model.cell, model.gate_bias)[0]


def rbf(x, z, gamma):
    return np.exp(-gamma * ((x[:, None] - z[None]) ** 2).sum(axis=2))


# ---- against readouts of NumPy and scikit-learn, on the activations of the oracle


@pytest.mark.parametrize("cell, bias", [("evolino", (0.0, 0.0, 0.0)), ("lstm", (0.5, 1.0, -1.0))])
@pytest.mark.parametrize("washout", [0, 2])
def test_least_squares_svm(cell, bias, washout):
    model = tiny(readout="lssvm", C=30.0, gamma=0.7, washout=washout, cell=cell, gate_bias=bias).fit(EQUAL, PAIRS)
    phi = np.concatenate([activations(model, x)[washout:] for x in EQUAL[:2]])
    target = np.concatenate([y[washout:] for y in PAIRS[:2]])
    n = len(phi)
    system = np.block([[rbf(phi, phi, 0.7) + np.eye(n) / 30.0, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.vstack([target, np.zeros(2)]))

    def expected(x):
        return rbf(activations(model, x), phi, 0.7) @ solution[:-1] + solution[-1]

    for x, values in zip(EQUAL, model.predict(EQUAL), strict=True):
        np.testing.assert_allclose(values, expected(x), rtol=0, atol=1e-10)
    errors = [((expected(x) - y)[washout:] ** 2).sum() for x, y in zip(EQUAL, PAIRS, strict=True)]
    assert model.best_fitness_ == pytest.approx(sum(errors), rel=1e-9)


def test_pseudoinverse():
    model = tiny(readout="pinv").fit(EQUAL, PAIRS)
    phi = np.concatenate([activations(model, x) for x in EQUAL[:2]])
    weights = np.linalg.pinv(np.column_stack([phi, np.ones(12)])) @ np.concatenate(PAIRS[:2])
    for x, values in zip(EQUAL, model.predict(EQUAL), strict=True):
        np.testing.assert_allclose(values, np.column_stack([activations(model, x), np.ones(6)]) @ weights, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_support_vector_regression(kernel):
    parameters = dict(C=20.0, epsilon=0.1, gamma=0.7, tol=1e-9, kernel=kernel)
    model = tiny(**parameters, weight_range=2.0).fit(EQUAL, STEPS)
    phi = np.concatenate([activations(model, x) for x in EQUAL[:2]])
    machine = SVR(**parameters).fit(phi, np.concatenate(STEPS[:2]))
    for x, values in zip(EQUAL, model.predict(EQUAL), strict=True):
        np.testing.assert_allclose(values, machine.predict(activations(model, x)), atol=1e-5)
    assert model.readout_.converged.all()
    weights = np.abs(model.readout_.dual_coef)
    assert ((weights > 0) & (weights < 20.0)).any()  # some points lie on the tube, so its width shows


@pytest.mark.parametrize("objective", ["squared", "hinge", "count"])
def test_the_fitness_is_the_error_on_both_parts(objective):
    model = tiny(objective=objective, epsilon=0.2, washout=1, C=1.0).fit(EQUAL, PAIRS)
    off = np.abs(np.array(model.predict(EQUAL)) - PAIRS)[:, 1:]
    beyond = np.maximum(0.0, off - 0.2)
    if objective == "count":
        # support vectors within the tube's edge are off by 0.2 and a rounding error
        assert (off > 0.2 + 1e-2).sum() <= model.best_fitness_ <= (off > 0.2 - 1e-2).sum()
    else:
        assert model.best_fitness_ == pytest.approx((off**2 if objective == "squared" else beyond).sum(), rel=1e-6)
    assert model.best_fitness_ > 0


def test_one_value_a_sequence_is_read_off_the_last_step(per_sequence):
    machine = SVR(C=100.0, epsilon=1e-3, gamma=0.25, tol=1e-9)
    model = tiny(tol=1e-9).fit(RAGGED, ONES)
    last = np.array([activations(model, x)[-1] for x in RAGGED])
    np.testing.assert_allclose(model.predict(RAGGED), machine.fit(last[:4], ONES[:4]).predict(last), atol=1e-4)
    assert per_sequence.predict(RAGGED).shape == (8,)


# ---- targets


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
def test_a_constant_target(readout):
    y = [np.full(6, 3.0)] * 4
    model = tiny(readout=readout).fit(EQUAL, y)
    np.testing.assert_allclose(np.array(model.predict(EQUAL)), 3.0, rtol=0, atol=1e-3)
    if readout == "svm":
        assert len(model.readout_.support_vectors) == 0
        assert np.unique(model.predict(RAGGED[1])).size == 1
    assert model.score(EQUAL, y) in (0.0, 1.0)
    assert model.score(EQUAL, model.predict(EQUAL)) == 1.0


def test_several_outputs_are_as_many_regressions():
    # the network is that of the first generation's only draw, so that the outputs do not compete for it
    one = dict(n_generations=1, subpopulation_size=2, n_trials=1, weight_range=1e-300, readout="lssvm")
    both = tiny(**one).fit(EQUAL, PAIRS)
    assert both.n_outputs_ == 2
    for k in range(2):
        alone = tiny(**one).fit(EQUAL, [y[:, k] for y in PAIRS])
        assert alone.n_outputs_ == 1
        np.testing.assert_allclose(np.array(both.predict(EQUAL))[:, :, k], alone.predict(EQUAL), atol=1e-12)


def test_several_values_a_sequence():
    X = [np.random.default_rng(k).normal(size=(3 + k % 4, 2)) for k in range(8)]
    y = np.array([[x[0, 0], x[-1, 1]] for x in X])
    model = tiny()
    predicted = model.fit(X, y[:, None, :]).predict(X)
    assert predicted.shape == (8, 2)
    for phi, row in zip(model.transform(X), predicted, strict=True):
        np.testing.assert_array_equal(model.readout_.decide(phi[-1:])[0], row)
    assert model.score(X, y[:, None, :]) == pytest.approx(r2_score(y, predicted))
    weighted = clone(model).fit(X, y[:, None, :], sample_weight=[1, 0, 2, 1, 1, 1, 0, 3])
    assert weighted.predict(X).shape == (8, 2)


def test_a_single_column_is_the_same_as_none(per_step):
    model = tiny().fit(EQUAL, [y[:, None] for y in STEPS])
    assert_same_model(model, per_step)
    assert model.predict(EQUAL)[0].shape == (6,)


@pytest.mark.parametrize("kind", [np.int32, np.float32, bool, object])
def test_dtypes_of_targets(kind):
    y = [(t > 0).astype(kind) for t in STEPS]
    assert_same_model(tiny().fit(EQUAL, y), tiny().fit(EQUAL, [t.astype(float) for t in y]))


@pytest.mark.parametrize(
    "y, message",
    [
        ([np.array([0, 1, np.nan, 1, 0, 1])] * 4, r"y contains NaN or infinity: y\[0\] is nan at step 2"),
        ([np.zeros(6), np.full(6, np.inf), np.zeros(6), np.zeros(6)], r"y\[1\] is inf at step 0"),
        ([np.zeros((6, 2)), *[np.full((6, 2), np.nan)] * 3], r"y\[1\] is \[nan nan\] at step 0"),
        ([1.0, 2.0, np.nan, 4.0], r"y\[2\] is nan"),
        ([1j, 2, 1, 2], "y is complex"),
        (["a", "b", "c", "d"], r"y must hold numbers, got dtype <U1: 'a' at y\[0\]"),
        (["1", "2", "3", "4"], r"y must hold numbers, got dtype <U1: '1' at y\[0\]"),
        ([*STEPS[:2], STEPS[2].astype(str), STEPS[3]], r"y\[2\] has dtype"),
        ([*STEPS[:2], np.array([1.0, "2", 3, 4, 5, 6], dtype=object), STEPS[3]], r"object: '2' at y\[2\], step 1"),
        ([1.0, {}, 2.0, 3.0], r"y must hold numbers: .* not 'dict': {} at y\[1\]"),
        (np.array([1.0, None, 2.0, 3.0], dtype=object), r"y contains NaN or infinity: y\[1\] is None"),
        (STEPS[:3], "y has 3 sequences, X has 4"),
        ([y[:5] for y in STEPS], r"y\[0\] has shape \(5,\), but X\[0\] has 6 steps"),
    ],
)
def test_refused_targets(y, message):
    with pytest.raises(ValueError, match=message):
        tiny().fit(EQUAL, y)


# ---- containers, washout, held-out data


def test_every_container_gives_the_same(per_step):
    expected = np.array(per_step.predict(EQUAL))
    cube, flat = np.array(EQUAL), np.concatenate(EQUAL)
    for X, y in ((tuple(EQUAL), STEPS), (cube, np.array(STEPS)), (cube.tolist(), np.array(STEPS).tolist())):
        model = tiny().fit(X, y)
        assert_same_model(model, per_step)
        np.testing.assert_array_equal(np.array(model.predict(X)), expected)
    model = tiny().fit(flat, np.concatenate(STEPS), lengths=[6] * 4)
    assert_same_model(model, per_step)
    np.testing.assert_array_equal(model.predict(flat, lengths=[6] * 4), expected.ravel())


def test_output_mirrors_input(per_step):
    pairs = tiny().fit(EQUAL, PAIRS)
    for model, last in ((per_step, ()), (pairs, (2,))):
        assert [p.shape for p in model.predict(RAGGED)] == [(len(x), *last) for x in RAGGED]
        assert model.predict(np.array(EQUAL)).shape == (4, 6, *last)
        assert model.predict(EQUAL[0]).shape == (6, *last)
        assert model.predict(np.concatenate(EQUAL), lengths=[8, 16]).shape == (24, *last)
        assert [phi.shape for phi in model.transform(RAGGED)] == [(len(x), 3) for x in RAGGED]


def test_sequences_do_not_disturb_each_other(per_step, per_sequence):
    for model in (per_step, per_sequence):
        for x, expected in zip(RAGGED, model.predict(RAGGED), strict=True):
            np.testing.assert_array_equal(model.predict([x])[0], expected)


def test_transform_is_the_forward_pass(per_step):
    for x, phi in zip(RAGGED, per_step.transform(RAGGED), strict=True):
        np.testing.assert_allclose(phi, activations(per_step, x), rtol=0, atol=1e-13)


def test_what_is_washed_out_does_not_matter():
    spoiled = [np.concatenate([[1e6, -1e6], y[2:]]) for y in STEPS]
    model = tiny(washout=2).fit(EQUAL, STEPS)
    assert_same_model(tiny(washout=2).fit(EQUAL, spoiled), model)
    assert model.score(EQUAL, spoiled) == model.score(EQUAL, STEPS)
    assert not np.array_equal(tiny(washout=1).fit(EQUAL, spoiled).genome_, model.genome_)
    with pytest.raises(ValueError, match=r"washout=6 leaves nothing of X\[0\], which has 6 steps"):
        tiny(washout=6).fit(EQUAL, STEPS)


def test_sequences_to_hold_out_may_be_given(per_step):
    given = tiny().fit(EQUAL[:2], STEPS[:2], X_val=EQUAL[2:], y_val=STEPS[2:])
    assert_same_model(given, per_step)
    with pytest.raises(ValueError, match="y_val must be of the same kind as y"):
        tiny().fit(EQUAL, STEPS, X_val=EQUAL, y_val=PAIRS)
    with pytest.raises(ValueError, match="X_val and y_val go together"):
        tiny().fit(EQUAL, STEPS, y_val=STEPS)


def test_of_a_single_sequence_the_last_steps_are_held_out():
    x, y = np.concatenate(EQUAL), np.concatenate(STEPS)
    model = tiny(validation=0.25, readout="lssvm").fit(x, y)
    np.testing.assert_array_equal(model.readout_.support_vectors, model.transform(x)[:18])


# ---- score


def test_score_is_the_mean_of_r2_over_outputs():
    model = tiny().fit(EQUAL, PAIRS)
    predicted, true = np.concatenate(model.predict(EQUAL)), np.concatenate(PAIRS)
    r2 = 1 - ((true - predicted) ** 2).sum(axis=0) / ((true - true.mean(axis=0)) ** 2).sum(axis=0)
    for X, y in ((EQUAL, PAIRS), (np.array(EQUAL), np.array(PAIRS))):
        assert model.score(X, y) == pytest.approx(r2.mean())
    assert model.score(np.concatenate(EQUAL), true, lengths=[6] * 4) == pytest.approx(r2.mean())


def test_score_of_one_value_a_sequence(per_sequence, per_step):
    predicted = per_sequence.predict(RAGGED)
    r2 = 1 - ((ONES - predicted) ** 2).sum() / ((ONES - ONES.mean()) ** 2).sum()
    assert per_sequence.score(RAGGED, ONES) == pytest.approx(r2)
    for model, X, y in ((per_step, EQUAL, np.zeros(4)), (per_sequence, EQUAL, STEPS), (per_step, EQUAL, PAIRS)):
        with pytest.raises(ValueError, match="y must be of the kind"):
            model.score(X, y)


# ---- manners


def test_the_order_of_the_parameters():
    of_the_classifier = list(inspect.signature(EvokeClassifier).parameters)
    parameters = list(inspect.signature(EvokeRegressor).parameters)
    of_the_classifier[of_the_classifier.index("class_weight")] = "epsilon"
    assert parameters == of_the_classifier


CANNOT_PASS = {
    "check_regressors_train": "A list holds one sequence an element, so X.tolist() of a 2-D array is not that array.",
    "check_transformer_data_not_an_array": "A list holds one sequence an element; this one holds the rows of one.",
    "check_methods_sample_order_invariance": "The rows of a 2-D X are the steps of one sequence and have an order.",
    "check_methods_subset_invariance": "What the network says of a step depends on the steps before it.",
    "check_sample_weight_equivalence_on_dense_data": "A step that is repeated or left out changes all steps behind it; "
    "the equivalence holds for sequences, see test_weights.py.",
}


CHECKS = list(
    estimator_checks_generator(
        EvokeRegressor(n_cells=2, n_generations=1, subpopulation_size=4, n_trials=1, random_state=0),
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


def test_grid_search_and_clone(per_step):
    assert clone(per_step).get_params() == per_step.get_params()
    search = GridSearchCV(tiny(), {"C": [1.0, 10.0], "readout": ["svm", "lssvm", "pinv"]}, cv=2).fit(EQUAL, STEPS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    "name, value",
    [("epsilon", -1e-9), ("epsilon", np.nan), ("epsilon", np.inf), ("epsilon", None), ("C", 0.0), ("C", -1.0),
     ("readout", "forest"), ("washout", -1), ("objective", "mse"), ("validation", 0.0), ("n_jobs", 0)],
)  # fmt: skip
def test_bad_parameters_are_named_before_any_work(name, value, monkeypatch):
    monkeypatch.setattr("evoke.estimators.sequence.as_sequences", lambda *_: pytest.fail("the data were looked at"))
    with pytest.raises(ValueError, match=f"^{name} must be "):
        tiny(**{name: value}).fit(EQUAL, STEPS)


def test_a_tube_without_width_and_any_capacity():
    for C in (1e-3, 1e8):
        assert np.isfinite(tiny(epsilon=0, C=C).fit(EQUAL, STEPS).score(EQUAL, STEPS))


def test_not_fitted():
    for call in (tiny().predict, tiny().transform):
        with pytest.raises(NotFittedError):
            call(EQUAL)
    with pytest.raises(NotFittedError):
        tiny().stream()


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_number_of_jobs_changes_nothing(n_jobs, readout):
    many = dict(subpopulation_size=12, n_trials=3, readout=readout)
    assert_same_model(tiny(**many, n_jobs=n_jobs).fit(EQUAL, PAIRS), tiny(**many).fit(EQUAL, PAIRS))


def test_seeds(per_step):
    assert_same_model(tiny().fit(EQUAL, STEPS), per_step)
    assert not np.array_equal(tiny(random_state=1).fit(EQUAL, STEPS).genome_, per_step.genome_)


def test_copies(per_step):
    for copied in (pickle.loads(pickle.dumps(per_step)), copy.deepcopy(per_step)):
        np.testing.assert_array_equal(np.array(copied.predict(EQUAL)), per_step.predict(EQUAL))


def test_going_on_equals_one_run():
    model = tiny(warm_start=True).fit(EQUAL, STEPS).fit(EQUAL, STEPS)
    assert_same_model(model, tiny(n_generations=4).fit(EQUAL, STEPS))


def test_a_stream_gives_the_values(per_step):
    pairs = tiny().fit(EQUAL, PAIRS)
    for model in (per_step, pairs):
        whole, stream = model.predict(RAGGED[1]), model.stream()
        np.testing.assert_array_equal([stream.step(x) for x in RAGGED[1]], whole)
        stream.reset()
        parts = [stream.predict(RAGGED[1][:3]), stream.predict(RAGGED[1][3:])]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_thundersvm_gives_the_values_of_the_native_solver():
    thundersvm = pytest.importorskip("evoke.svm._thundersvm")
    if not thundersvm.info().get("available", False):
        pytest.skip("ThunderSVM is not available")
    one = dict(C=1.0, epsilon=0.05, n_generations=1)
    native, other = (tiny(**one, solver=solver).fit(EQUAL, STEPS) for solver in ("native", "thundersvm"))
    np.testing.assert_array_equal(other.genome_, native.genome_)
    np.testing.assert_allclose(np.array(other.predict(EQUAL)), native.predict(EQUAL), atol=5e-3)


# ---- learning


def test_it_remembers_what_it_read():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(24, 15, 1))
    y = np.zeros((24, 15))
    y[:, 2:] = X[:, :-2, 0]
    model = EvokeRegressor(washout=2, n_generations=20, subpopulation_size=20, n_trials=3, random_state=0)
    model.fit(X[:16], y[:16])
    assert model.score(X[16:], y[16:]) > 0.9
    assert model.history_[0]["generation_best"] > model.best_fitness_

import copy
import dataclasses
import pickle
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import estimator_checks_generator

from evoke import EvokeForecaster, EvokeRegressor, tasks
from oracle import lstm

# the paper's way, which stands behind "auto" where a parameter of the evolution is stated
TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, C=1e4, random_state=0, cell="evolino",
            readout="lssvm", gamma=0.25)  # fmt: skip


def tiny(**parameters):
    return EvokeForecaster(**{**TINY, **parameters})


rng = np.random.default_rng(5)
WAVE = tasks.superimposed_sines(2, 60)
PAIR = np.column_stack([WAVE, np.cos(np.arange(60) / 3)])
DRIVE = rng.normal(size=(100, 2))
DRIVEN = np.convolve(DRIVE[:60, 0], [1.0, 0.5, 0.25])[:60]
RAGGED = [WAVE[:20], WAVE[5:17], WAVE[10:40], WAVE[3:12]]


@pytest.fixture(scope="module")
def alone():
    return tiny(washout=5).fit(WAVE)


@pytest.fixture(scope="module")
def pair():
    return tiny(washout=5).fit(PAIR)


@pytest.fixture(scope="module")
def driven():
    return tiny().fit(DRIVEN, DRIVE[:60])


def assert_same_model(a, b):
    """Two models with the same bits."""
    np.testing.assert_array_equal(a.genome_, b.genome_)
    assert a.history_ == b.history_
    for name in ("support_vectors", "dual_coef", "intercept"):
        np.testing.assert_array_equal(getattr(a.readout_, name), getattr(b.readout_, name))


# ---- the oracle: teacher forcing, readouts and free runs, step by step in NumPy


def told(model, y, X=None, state=None):
    """Activations (T, H) of the network that is told the series (T, n_outputs), and the state it ends in."""
    external = np.empty((len(y), 0)) if X is None else X
    inputs = np.column_stack([external, model.feedback_scale * np.vstack([np.zeros(y.shape[1]), y[:-1]])])
    return lstm.forward(model.genome_, inputs, model.cell, model.gate_bias, state)


def rbf(x, z, gamma):
    return np.exp(-gamma * ((x[:, None] - z[None]) ** 2).sum(axis=2))


def fitted(model, phi, y):
    """The readout phi -> values, trained on activations and targets."""
    if model.readout == "pinv":
        weights = np.linalg.pinv(np.column_stack([phi, np.ones(len(phi))])) @ y
        return lambda x: np.column_stack([x, np.ones(len(x))]) @ weights
    n, one = len(phi), np.ones((len(phi), 1))
    system = np.block([[rbf(phi, phi, model.gamma) + np.eye(n) / model.C, one], [one.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.vstack([y, np.zeros((1, y.shape[1]))]))
    return lambda x: rbf(x, phi, model.gamma) @ solution[:-1] + solution[-1]


def run_free(model, readout, n_steps, state, last, X=None):
    values = []
    for t in range(n_steps):
        u = np.concatenate([[] if X is None else X[t], model.feedback_scale * last])
        state = lstm.step(model.genome_, u, state, model.cell, model.gate_bias)
        last = readout(state[1][None])[0]
        values.append(last)
    return np.array(values)


SETTINGS = [
    dict(readout="lssvm"),
    dict(readout="lssvm", gamma=0.6, feedback_scale=0.8, washout=7, cell="lstm", gate_bias=(0.5, 1.0, -1.0)),
    dict(readout="pinv", washout=4),
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("X", [None, DRIVE])
def test_one_series_by_hand(settings, X):
    model = tiny(**settings).fit(PAIR, None if X is None else X[:60])
    external = None if X is None else X[:60]
    phi, state = told(model, PAIR, external)
    cut = model.washout + (60 - model.washout) // 2
    readout = fitted(model, phi[model.washout : cut], PAIR[model.washout : cut])
    np.testing.assert_allclose(model.transform(PAIR, external), phi, atol=1e-12)
    np.testing.assert_allclose(model.predict_one_step(PAIR, external), readout(phi), atol=1e-7)
    off = (readout(phi) - PAIR)[model.washout :]
    assert model.best_fitness_ == pytest.approx((off**2).sum(), rel=1e-5)
    ahead = None if X is None else X[60:70]
    expected = run_free(model, readout, 10, state, PAIR[-1], ahead)
    np.testing.assert_allclose(model.generate(10, X=ahead), expected, atol=1e-6)


@pytest.mark.parametrize("n_cells", [TINY["n_cells"], 60])  # side by side, and too large for it
@pytest.mark.parametrize("X", [None, DRIVE])
def test_free_validation_by_hand(X, n_cells):
    external = None if X is None else X[:60]
    settings = dict(washout=6, validation=1 / 3, n_cells=n_cells, gamma=0.5 / n_cells)
    model = tiny(**settings, validation_mode="free").fit(PAIR, external)
    readout = fitted(model, *(part[6:42] for part in (told(model, PAIR, external)[0], PAIR)))
    _, state = told(model, PAIR[:42], None if X is None else X[:42])
    values = run_free(model, readout, 18, state, PAIR[41], None if X is None else X[42:60])
    train = readout(told(model, PAIR, external)[0])[6:42] - PAIR[6:42]
    best = model.history_[-1]["best_fitness"]
    assert best == pytest.approx((train**2).sum() + ((values - PAIR[42:]) ** 2).sum(), rel=1e-5)
    assert best != pytest.approx(tiny(**settings).fit(PAIR, external).best_fitness_, rel=1e-3)


@pytest.mark.parametrize("washout", [0, 1, 5])
def test_free_validation_of_whole_series_begins_behind_the_washout(washout):
    model = tiny(washout=washout, validation_mode="free").fit(RAGGED)
    y = [part[:, None] for part in RAGGED]
    phi = [told(model, part)[0] for part in y]
    train = [np.concatenate([part[washout:] for part in parts[:2]]) for parts in (phi, y)]
    readout = fitted(model, *train)
    expected = ((readout(train[0]) - train[1]) ** 2).sum()
    for part in y[2:]:
        start = max(1, washout)
        _, state = told(model, part[:start])
        values = run_free(model, readout, len(part) - start, state, part[start - 1])
        expected += ((values - part[start:]) ** 2).sum()
    assert model.best_fitness_ == pytest.approx(expected, rel=1e-5)


def test_series_held_out_are_judged_whole():
    for mode in ("teacher", "free"):
        whole = tiny(washout=2, validation_mode=mode).fit(RAGGED[:2], y_val=RAGGED[2:])
        split = tiny(washout=2, validation_mode=mode).fit(RAGGED)
        assert_same_model(whole, split)
        # what follows is the last series of y, not of y_val
        assert not np.array_equal(whole.generate(3), split.generate(3))
    one = tiny(washout=2).fit(WAVE[:20], y_val=WAVE[20:])
    assert_same_model(one, tiny(washout=2).fit([WAVE[:20], WAVE[20:]]))


def test_it_is_a_regression_on_the_values_before(alone):
    X = 0.3 * np.concatenate([[0.0], WAVE[:-1]])[:, None]
    same = EvokeRegressor(**TINY, washout=5).fit(X, WAVE)
    assert_same_model(same, alone)
    np.testing.assert_array_equal(same.predict(X), alone.predict_one_step(WAVE))


def test_the_split_of_the_paper():
    y, split = tasks.superimposed_sines(), tasks.SINES_SPLIT
    model = tiny(washout=split.washout, n_generations=1).fit(y[: split.validation_end])
    phi = model.transform(y[: split.validation_end])
    np.testing.assert_array_equal(model.readout_.support_vectors, phi[split.washout : split.train_end])


# ---- free runs


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
@pytest.mark.parametrize("y, X", [(WAVE, None), (PAIR, None), (DRIVEN, DRIVE), (PAIR, DRIVE)])
def test_generating_is_a_stream_fed_with_its_own_answers(readout, y, X):
    model = tiny(readout=readout, C=10.0).fit(y, None if X is None else X[:60])
    stream = model.stream()
    for t in range(60):
        answer = stream.step(np.zeros(model.n_outputs_) if t == 0 else y[t - 1], None if X is None else X[t])
    np.testing.assert_allclose(np.atleast_1d(model.predict_one_step(y, None if X is None else X[:60])[-1]), answer)
    values, last = [], y[-1]
    for t in range(60, 100):
        last = stream.step(last, None if X is None else X[t])
        values.append(last)
    values = np.array(values) if y.ndim == 2 else np.array(values)[:, 0]
    ahead = None if X is None else X[60:]
    np.testing.assert_array_equal(model.generate(40, X=ahead), values)
    np.testing.assert_array_equal(model.generate(40, X=ahead), values)
    np.testing.assert_array_equal(model.generate(40, context=y, X=X), values)
    np.testing.assert_array_equal(model.generate(7, X=None if X is None else X[60:67]), values[:7])


def test_a_stream_can_begin_again(alone):
    stream = alone.stream()
    first = [stream.step(value) for value in WAVE[:5]]
    stream.reset()
    np.testing.assert_array_equal([stream.step(value) for value in WAVE[:5]], first)
    assert first[0].shape == (1,)


@pytest.mark.parametrize("value, message", [
    ([10**400], "y must be 1 finite number(s), got ["), ("a", "y must be 1 finite number(s), got 'a'"),
    ("1.5", "y must be 1 finite number(s), got '1.5'"), (["1.5"], "y must be 1 finite number(s), got ['1.5']"),
    (b"1", "y must be 1 finite number(s), got b'1'"), (1j, "y must be 1 finite number(s), got 1j"),
    ([1j], "y must be 1 finite number(s), got [1j]"), (True, "y must be 1 finite number(s), got True"),
    (np.False_, "y must be 1 finite number(s), got False"), (10**400, "y must be 1 finite number(s), got 1000"),
    (10**5000, "y must be 1 finite number(s), got an integer of 16610 bits"),
    (np.datetime64(1, "s"), "y must be 1 finite number(s), got np.date"),
    (np.ma.array([1.0], mask=[1]), "y has masked values"),
], ids=lambda _: "")  # fmt: skip
def test_a_step_of_a_stream_is_refused_by_its_name(alone, value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as error:
        alone.stream().step(value)
    assert len(str(error.value)) < 100


@pytest.mark.parametrize("value", [1, np.float32(1), np.int8(1), np.array(1.0), [1], [True], Fraction(1), Decimal(1)])
def test_a_step_of_a_stream_may_be_any_number(alone, value):
    np.testing.assert_array_equal(alone.stream().step(value), alone.stream().step(1.0))


@pytest.mark.filterwarnings("ignore:context has n_samples")
@given(cut=st.integers(1, 59), n=st.integers(0, 20))
def test_a_context_is_told_and_then_continued(alone, cut, n):
    stream = alone.stream()
    for value in np.concatenate([[0.0], WAVE[: cut - 1]]):
        stream.step(value)
    values, last = [], WAVE[cut - 1]
    for _ in range(n):
        last = stream.step(last)[0]
        values.append(last)
    np.testing.assert_array_equal(alone.generate(n, context=WAVE[:cut]), values)
    np.testing.assert_array_equal(alone.generate(n, context=WAVE[:cut, None]), values)


def test_shapes_mirror_the_series(alone, pair):
    column = tiny(washout=5).fit(WAVE[:, None])
    assert_same_model(column, alone)
    for model, last in ((alone, ()), (column, (1,)), (pair, (2,))):
        for n in (0, 1, 20):
            assert model.generate(n).shape == (n, *last)
        assert model.predict(4).shape == (1, *last)
        assert model.predict([1, 4, 2]).shape == (3, *last)
    assert alone.predict_one_step(WAVE).shape == (60,)
    assert column.predict_one_step(WAVE[:, None]).shape == (60, 1)
    assert [p.shape for p in alone.predict_one_step(RAGGED)] == [part.shape for part in RAGGED]
    assert [phi.shape for phi in alone.transform(RAGGED)] == [(len(part), 3) for part in RAGGED]
    assert (pair.n_outputs_, pair.n_features_in_, pair.genome_.shape) == (2, 0, (3, 4 * 5))


def test_the_last_series_is_continued():
    model = tiny().fit(RAGGED)
    np.testing.assert_array_equal(model.generate(5), model.generate(5, context=RAGGED[-1]))
    assert not np.array_equal(model.generate(5), model.generate(5, context=RAGGED[0]))


def test_horizons(alone, driven):
    ahead = alone.generate(9)
    np.testing.assert_array_equal(alone.predict(9), ahead[8:])
    np.testing.assert_array_equal(alone.predict(np.arange(1, 10)), ahead)
    np.testing.assert_array_equal(alone.predict([5, 1, 5]), ahead[[4, 0, 4]])
    np.testing.assert_array_equal(driven.predict([1, 4], X=DRIVE[60:64]), driven.generate(4, X=DRIVE[60:64])[[0, 3]])
    for fh in (0, -1, [], 1.5, "1", None, {1}, np.array(3)):
        with pytest.raises(ValueError, match=r"^fh must be an integer of at least 1, got"):
            alone.predict(fh)
    for fh in ([1, 0], [1, [1, 2]], [1, True], np.array([1.0, 2.0])):
        with pytest.raises(ValueError, match=r"^fh\[[01]\] must be an integer of at least 1, got"):
            alone.predict(fh)


def test_external_inputs_are_used(driven):
    ahead = driven.generate(5, X=DRIVE[60:65])
    other = DRIVE[60:65].copy()
    other[3] += 1.0
    changed = driven.generate(5, X=other)
    np.testing.assert_array_equal(changed[:3], ahead[:3])
    assert (changed[3:] != ahead[3:]).all()
    assert (driven.n_features_in_, driven.genome_.shape) == (2, (3, 4 * 6))
    assert driven.generate(0, X=DRIVE[:0]).shape == (0,)
    assert driven.generate(0, context=DRIVEN, X=DRIVE[:60]).shape == (0,)


def test_a_constant_series_goes_on():
    for readout in ("svm", "lssvm", "pinv"):
        model = tiny(readout=readout, washout=10).fit(np.full(40, 3.0))
        np.testing.assert_allclose(model.generate(30), 3.0, atol=1e-2)
        assert model.score(np.full(40, 3.0)) in (0.0, 1.0)


def test_a_run_that_diverges_says_where(alone):
    model = copy.copy(alone)
    readout = dataclasses.replace(alone.readout_, dual_coef=np.full_like(alone.readout_.dual_coef, 1e308))
    model.fitted_ = dataclasses.replace(alone.fitted_, readout=readout)
    with pytest.raises(FloatingPointError, match="the free run diverges: its output is not finite at step 0"):
        model.generate(10)


@pytest.mark.parametrize("mode", ["teacher", "free"])
@pytest.mark.parametrize("y, C", [(WAVE * 1e300, 1e4), (WAVE, 1e300)])
def test_what_no_network_can_learn_is_an_error(mode, y, C):
    with pytest.raises(ValueError, match=r"no network had a finite error: .* scale them, or lower C"):
        tiny(C=C, validation_mode=mode).fit(y)


def test_free_validation_with_thundersvm():
    thundersvm = pytest.importorskip("evoke.svm._thundersvm")
    if not thundersvm.info().get("available", False):
        pytest.skip("ThunderSVM is not available")
    native, other = (
        tiny(readout="svm", C=1.0, n_generations=1, validation_mode="free", solver=solver, epsilon=0.05).fit(WAVE)
        for solver in ("native", "thundersvm")
    )
    np.testing.assert_array_equal(other.genome_, native.genome_)
    assert other.best_fitness_ == pytest.approx(native.best_fitness_, rel=1e-2)


# ---- manners


def test_containers(alone):
    for y in (list(WAVE), WAVE.astype(object), WAVE[::-1].copy()[::-1], tuple(WAVE.tolist())):
        assert_same_model(tiny(washout=5).fit(y), alone)
    several = tiny().fit(RAGGED)
    objects = np.empty(4, dtype=object)
    objects[:] = RAGGED
    for y in (objects, tuple(RAGGED), [part.tolist() for part in RAGGED], [part[:, None] for part in RAGGED]):
        assert_same_model(tiny().fit(y), several)


def test_series_do_not_disturb_each_other(alone):
    for part, expected in zip(RAGGED, alone.predict_one_step(RAGGED), strict=True):
        np.testing.assert_array_equal(alone.predict_one_step(part), expected)


def test_what_is_washed_out_is_heard_but_not_judged():
    model = tiny(washout=3).fit(RAGGED)
    phi = np.concatenate([part[3:] for part in model.transform(RAGGED[:2])])
    np.testing.assert_array_equal(model.readout_.support_vectors, phi)
    true = np.concatenate([part[3:] for part in RAGGED])
    predicted = np.concatenate([part[3:] for part in model.predict_one_step(RAGGED)])
    assert model.score(RAGGED) == pytest.approx(1 - ((true - predicted) ** 2).sum() / ((true - true.mean()) ** 2).sum())


def test_score_is_the_mean_over_outputs(pair):
    true, predicted = PAIR[5:], pair.predict_one_step(PAIR)[5:]
    r2 = 1 - ((true - predicted) ** 2).sum(axis=0) / ((true - true.mean(axis=0)) ** 2).sum(axis=0)
    assert pair.score(PAIR) == pytest.approx(r2.mean())


@pytest.mark.parametrize(
    "y, message",
    [
        (None, "y must be a series, got None"),
        (3.0, r"y must be a series .* got float 3.0"),
        ((x for x in WAVE), "y must be a series .* got generator"),
        (np.zeros((2, 3, 4)), r"y must be a series .* got shape \(2, 3, 4\)"),
        ([], "y has 0 sample"),
        ([WAVE, PAIR], r"y\[1\] must be \(T,\) or \(T, n_outputs\) like the others, got shape \(60, 2\)"),
        ([PAIR, np.zeros((5, 3))], r"y\[1\] has 3 columns, y\[0\] has 2"),
        ([WAVE, []], r"y\[1\] is empty"),
        ([WAVE, 3.0], r"y\[1\] must be"),
        (np.array([1.0, np.nan, 2.0]), "y contains NaN or infinity: nan at step 1"),
        ([WAVE, np.array([1.0, np.inf])], r"y\[1\] contains NaN or infinity: inf at step 1"),
        (["a", "b"], "y must hold numbers, got dtype <U1: 'a' at step 0"),
        (["1"] * 12, "y must hold numbers, got dtype <U1: '1' at step 0"),
        ([1.0, {}, 2.0], r"y must hold numbers: .* not 'dict': {} at step 1"),
        ([1j, 2j], "y is complex"),
        ([1.0], r"y has 1 sequence\(s\) with n_samples=1 steps after the washout: too few .*; pass y_val"),
    ],
)
def test_refused_series(y, message):
    with pytest.raises(ValueError, match=message):
        tiny().fit(y)


def test_series_no_longer_than_the_washout(alone):
    for length in (4, 5):
        with pytest.raises(ValueError, match=f"washout=5 leaves nothing of y, which has {length} steps"):
            tiny(washout=5).fit(WAVE[:length])
        with pytest.raises(ValueError, match=f"washout=5 leaves nothing of y, which has {length} steps"):
            alone.score(WAVE[:length])
    with pytest.raises(ValueError, match=r"washout=12 leaves nothing of y\[1\], which has 12 steps"):
        tiny(washout=12).fit(RAGGED)
    with pytest.raises(ValueError, match="washout=5 leaves nothing of y_val, which has 3 steps"):
        tiny(washout=5).fit(WAVE, y_val=WAVE[:3])
    with pytest.raises(ValueError, match="validation_mode='free' needs"):
        tiny(validation_mode="free").fit([WAVE, WAVE[:1]])


@pytest.mark.parametrize(
    "y, X, message",
    [
        (WAVE, DRIVE, r"X has 100 steps, y has 60"),
        (WAVE, DRIVE[:60, 0], r"X must be a list of 2-D arrays"),
        (WAVE, [DRIVE[:60]], r"X must be an array \(T, n_features\), like y"),
        (RAGGED, DRIVE, r"X must be a list of arrays \(T_i, n_features\), like y"),
        (RAGGED, [DRIVE[:20]], "X has 1 sequences, y has 4"),
        (RAGGED, [DRIVE[:20], DRIVE[:12], DRIVE[:31], DRIVE[:9]], r"X\[2\] has 31 steps, y\[2\] has 30"),
        (WAVE, np.full((60, 1), np.nan), "X contains NaN"),
    ],
)
def test_refused_external_inputs(y, X, message):
    with pytest.raises(ValueError, match=message):
        tiny().fit(y, X)


@pytest.mark.parametrize(
    "more, message",
    [
        (dict(X_val=DRIVE[:60]), "X_val goes with y_val"),
        (dict(y_val=DRIVEN), r"X_val is missing: the model has 2 external input\(s\)"),
        (dict(y_val=DRIVEN, X_val=DRIVE[:60, :1]), "X_val has 1 columns, expected 2"),
        (dict(y_val=PAIR, X_val=DRIVE[:60]), "y_val must be of the same kind as y"),
        (dict(y_val=DRIVEN[:, None], X_val=DRIVE[:60]), "y_val must be of the same kind as y"),
        (dict(y_val=DRIVEN, X_val=DRIVE[:50]), "X_val has 50 steps, y_val has 60"),
        (dict(y_val=[np.nan], X_val=DRIVE[:1]), "y_val contains NaN"),
    ],
)
def test_refused_validation_data(more, message):
    with pytest.raises(ValueError, match=message):
        tiny().fit(DRIVEN, DRIVE[:60], **more)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (dict(n_steps=-1), "n_steps must be an integer of at least 0, got -1"),
        (dict(n_steps=2.0), "n_steps must be"),
        (dict(n_steps=None), "n_steps must be"),
        (dict(n_steps=True), "n_steps must be"),
        (dict(n_steps=3, context=[1.0, np.nan]), "context contains NaN or infinity: nan at step 1"),
        (dict(n_steps=3, context=PAIR), "context has 2 columns, but the model was trained with 1"),
        (dict(n_steps=3, context=RAGGED), "context must be one series, got a list"),
        (dict(n_steps=3, context=[]), "context has 0 sample"),
        (dict(n_steps=3, X=DRIVE[:3]), "X must be None: the model has no external inputs"),
    ],
)
def test_refused_requests(alone, arguments, message):
    with pytest.raises(ValueError, match=message):
        alone.generate(**arguments)


def test_refused_external_inputs_of_a_free_run(driven):
    for arguments, message in (
        (dict(n_steps=3), r"X is missing: the model has 2 external input\(s\)"),
        (dict(n_steps=3, X=DRIVE[:4]), "X has 4 steps, what is generated has 3"),
        (dict(n_steps=0, X=DRIVE[:4]), "X has 4 steps, what is generated has 0"),
        (dict(n_steps=3, X=DRIVE[:3, :1]), "X has 1 columns, expected 2"),
        (dict(n_steps=3, context=DRIVEN, X=DRIVE[:3]), "X has 3 steps, context with what is generated has 63"),
        (dict(n_steps=3, X=np.full((3, 2), np.inf)), "X contains NaN or infinity"),
    ):
        with pytest.raises(ValueError, match=message):
            driven.generate(**arguments)
    for call in (driven.predict_one_step, driven.transform, driven.score):
        with pytest.raises(ValueError, match="X is missing"):
            call(DRIVEN)
        with pytest.raises(ValueError, match="y has 2 columns, but the model was trained with 1"):
            call(PAIR, DRIVE[:60])


def test_a_stream_refuses_what_it_cannot_read_and_keeps_its_state(driven):
    stream, untouched = driven.stream(), driven.stream()
    two = [0.0, 0.0]
    for y, x in ((np.nan, two), ([1, 2], two), ("a", two), (None, two), (1.0, None), (1.0, 0.0), (1.0, [0, np.inf])):
        with pytest.raises(ValueError, match=r"^[xy] must be"):
            stream.step(y, x)
    np.testing.assert_array_equal(stream.step(1.0, [1.0, 0.0]), untouched.step(1.0, [1.0, 0.0]))


@pytest.mark.parametrize(
    "name, value",
    [("epsilon", -1e-9), ("C", 0.0), ("C", -1.0), ("feedback_scale", 0.0), ("feedback_scale", np.inf),
     ("validation_mode", "open"), ("validation_mode", None), ("washout", -1), ("readout", "ridge")],
)  # fmt: skip
def test_bad_parameters_are_named_before_any_work(name, value, monkeypatch):
    monkeypatch.setattr("evoke.estimators.forecaster.as_series", lambda *_: pytest.fail("the data were looked at"))
    with pytest.raises(ValueError, match=f"^{name} must be "):
        tiny(**{name: value}).fit(WAVE)


def test_parameters_set_after_fit_do_not_change_the_model(alone):
    model = copy.deepcopy(alone).set_params(
        feedback_scale=2.0, washout=20, cell="lstm", gate_bias=(1, 1, 1), n_cells=9, gamma=3.0
    )
    np.testing.assert_array_equal(model.generate(5), alone.generate(5))
    np.testing.assert_array_equal(model.predict_one_step(WAVE), alone.predict_one_step(WAVE))
    assert model.score(WAVE) == alone.score(WAVE)


def test_a_fit_that_fails_leaves_the_model_as_it_was(alone):
    model = copy.deepcopy(alone)
    for y in ([np.nan, 1.0], WAVE[:3], [WAVE, PAIR]):
        with pytest.raises(ValueError):
            model.fit(y)
    assert_same_model(model, alone)
    np.testing.assert_array_equal(model.generate(5), alone.generate(5))


def test_an_interrupt_keeps_the_best_so_far():
    def interrupt(record, _esp):
        if record["generation"] == 2:
            raise KeyboardInterrupt

    model = tiny(n_generations=5, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.fit(WAVE)
    finished = tiny(n_generations=2).fit(WAVE)
    assert_same_model(model, finished)
    np.testing.assert_array_equal(model.generate(5), finished.generate(5))


SECOND_ARGUMENT = "The check passes a 1-D y as the second argument of fit, which are the external inputs of the series."
CANNOT_PASS = dict.fromkeys([
    "check_fit_score_takes_y", "check_estimators_overwrite_params", "check_dont_overwrite_parameters",
    "check_estimators_fit_returns_self", "check_readonly_memmap_input", "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit", "check_estimators_dtypes", "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array", "check_sample_weights_list", "check_all_zero_sample_weights_error",
    "check_sample_weights_shape", "check_sample_weights_not_overwritten", "check_dtype_object",
    "check_sample_weight_equivalence_on_dense_data", "check_pipeline_consistency", "check_estimators_nan_inf",
    "check_estimators_pickle", "check_f_contiguous_array_estimator", "check_transformer_data_not_an_array",
    "check_transformer_general", "check_transformer_preserve_dtypes", "check_methods_sample_order_invariance",
    "check_methods_subset_invariance", "check_fit2d_1sample", "check_fit2d_1feature", "check_dict_unchanged",
    "check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in", "check_fit2d_predict1d",
], SECOND_ARGUMENT)  # fmt: skip
CHECKS = list(estimator_checks_generator(tiny(), expected_failed_checks=CANNOT_PASS, mark="xfail"))


@pytest.mark.parametrize(
    "estimator, check", CHECKS, ids=lambda value: getattr(getattr(value, "func", None), "__name__", None)
)
@pytest.mark.filterwarnings("ignore")
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_not_fitted():
    model = tiny()
    for call in (lambda: model.generate(1), lambda: model.predict(1), lambda: model.predict_one_step(WAVE),
                 lambda: model.transform(WAVE), lambda: model.score(WAVE), model.stream):  # fmt: skip
        with pytest.raises(NotFittedError):
            call()


def test_grid_search_over_several_series():
    search = GridSearchCV(tiny(washout=2), {"C": [1.0, 1e6], "feedback_scale": [0.1, 1.0]}, cv=2).fit(RAGGED)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = tiny(washout=2, **search.best_params_).fit(RAGGED)
    np.testing.assert_array_equal(search.best_estimator_.generate(3), best.generate(3))


def test_clone_and_inputs_stay_as_they_are(alone):
    assert clone(alone).get_params() == alone.get_params()
    y, X = DRIVEN.copy(), DRIVE[:60].copy()
    y.flags.writeable = X.flags.writeable = False
    model = tiny().fit(y, X)
    model.generate(3, context=y, X=DRIVE[:63])
    np.testing.assert_array_equal(y, DRIVEN)
    np.testing.assert_array_equal(X, DRIVE[:60])


@pytest.mark.parametrize("mode", ["teacher", "free"])
@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_number_of_jobs_changes_nothing(mode, n_jobs):
    many = dict(subpopulation_size=12, n_trials=3, washout=5, validation_mode=mode)
    model, expected = tiny(**many, n_jobs=n_jobs).fit(PAIR), tiny(**many).fit(PAIR)
    assert_same_model(model, expected)
    np.testing.assert_array_equal(model.generate(5), expected.generate(5))


def test_seeds(alone):
    assert_same_model(tiny(washout=5).fit(WAVE), alone)
    assert not np.array_equal(tiny(washout=5, random_state=1).fit(WAVE).genome_, alone.genome_)


def test_copies(alone, driven):
    for copied in (pickle.loads(pickle.dumps(alone)), copy.deepcopy(alone)):
        np.testing.assert_array_equal(copied.generate(5), alone.generate(5))
    copied = pickle.loads(pickle.dumps(driven))
    np.testing.assert_array_equal(copied.generate(5, X=DRIVE[:5]), driven.generate(5, X=DRIVE[:5]))


@pytest.mark.parametrize("mode", ["teacher", "free"])
def test_going_on_equals_one_run(mode):
    model = tiny(warm_start=True, validation_mode=mode).fit(WAVE).fit(WAVE)
    assert_same_model(model, tiny(n_generations=4, validation_mode=mode).fit(WAVE))


# ---- learning


@pytest.mark.parametrize("mode", ["teacher", "free"])
def test_it_continues_two_sines(mode):
    y, split = tasks.superimposed_sines(), tasks.SINES_SPLIT
    model = EvokeForecaster(washout=split.washout, C=1e10, mutation_scale=0.003, n_generations=8, subpopulation_size=12,
                            n_trials=2, validation_mode=mode, random_state=0)  # fmt: skip
    model.fit(y[: split.validation_end])
    error = model.generate(300) - y[split.validation_end :]
    assert (error**2).sum() < 0.003  # what the paper reports of PI-Evolino; 0.021 of Evoke

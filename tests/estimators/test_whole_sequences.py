"""Estimators that pool activations over whole sequences, leave each out in turn and join several networks."""

import pickle

import numpy as np
import pytest

import evoke
from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.callbacks import Checkpoint
from evoke.exceptions import ParameterError
from evoke.lstm import forward
from oracle import pooled as oracle

NO_BIAS = (0.0, 0.0, 0.0)
POOL = ("last", "mean", "std", "max", "min", "positive", "change", "thirds")
SETTINGS = {
    "n_cells": 3, "cell": "lstm", "gate_bias": NO_BIAS, "n_generations": 2, "subpopulation_size": 10, "n_trials": 1,
    "readout": "lssvm", "C": "auto", "gamma": "auto", "validation": "loo", "pool": POOL, "n_networks": 3,
    "differences": True, "scale": "standard", "random_state": 0,
}  # fmt: skip


def waves(n=24, seed=0, n_features=2):
    """Sequences of different lengths, whose label is how fast they swing, and whose value is how far."""
    rng = np.random.default_rng(seed)
    labels, values, X = np.arange(n) % 3, rng.uniform(0.5, 2.0, n), []
    for label, value in zip(labels, values, strict=True):
        t = np.arange(rng.integers(12, 30))[:, None]
        phase = rng.uniform(0, 6.3, n_features)
        X.append(value * np.sin((0.3 + 0.5 * label) * t + phase) + 0.05 * rng.normal(size=(len(t), n_features)))
    return X, labels, values


X, LABELS, VALUES = waves()
X_NEW, LABELS_NEW, VALUES_NEW = waves(seed=1)


def classifier(**settings):
    return EvokeClassifier(**(SETTINGS | settings)).fit(X, LABELS)


def test_it_learns_what_it_has_not_seen():
    settings = SETTINGS | {"n_networks": 10, "subpopulation_size": 40, "n_generations": 1}
    X, labels, values = waves(90)
    assert EvokeClassifier(**settings).fit(X, labels).score(X_NEW, LABELS_NEW) > 0.9
    assert EvokeRegressor(**settings).fit(X, values).score(X_NEW, VALUES_NEW) > 0.9


def prepared(X, model):
    """The inputs of the networks, by the book."""
    columns = [np.hstack([x, np.diff(x, axis=0, prepend=x[:1])]) for x in map(np.asarray, X)]
    rows = np.concatenate([np.hstack([x, np.diff(x, axis=0, prepend=x[:1])]) for x in model[0]])
    return [np.hstack([(c - rows.mean(axis=0)) / rows.std(axis=0), np.ones((len(c), 1))]) for c in columns]


@pytest.mark.parametrize("readout", ["lssvm", "ridge"])
def test_the_fitness_is_the_error_of_machines_trained_without_each_sequence(readout):
    model = classifier(readout=readout, n_networks=1, C=3.0, gamma=0.02, objective="squared")
    (genome,) = model.genome_
    phi = forward(genome, prepared(X, (X,)), gate_bias=NO_BIAS)
    features = oracle.standardised(np.array([oracle.pooled(a, POOL) for a in phi]))

    def kernel(F):
        K = F @ F.T
        return K if readout == "ridge" else np.exp(-0.02 * (np.diag(K)[:, None] + np.diag(K) - 2 * K))

    K = kernel(features)
    targets = np.where(LABELS == np.arange(3)[:, None], 1.0, -1.0)
    ridge = np.full(len(X), 1 / 3.0)
    decisions = np.array([oracle.leave_one_out(K, y, ridge) for y in targets])
    error = (np.maximum(0, 1 - targets * decisions) ** 2).sum()
    np.testing.assert_allclose(model.best_fitness_, error, rtol=1e-7)
    record = model.history_[-1]
    assert record["validation_error"] >= record["train_error"] == 0.0
    # decisions on the training data are those of the machine of all sequences, which reads limited features
    K = kernel(np.clip(features, -3.0, 3.0))
    assert (np.abs(features) > 3.0).any()
    coef, bias = np.array([np.append(*oracle.machine(K, y, ridge)) for y in targets]).T[:-1], None
    bias = np.array([oracle.machine(K, y, ridge)[1] for y in targets])
    np.testing.assert_allclose(model.decision_function(X), K @ coef + bias, rtol=1e-6, atol=1e-8)


def test_networks_are_judged_on_300_sequences_and_read_on_all():
    X, labels, _ = waves(700)
    shuffled = np.random.default_rng(1).permutation(700)
    X, labels = [X[i][:12] for i in shuffled], labels[shuffled]  # of one length, which draws depend on
    order = np.argsort(-labels, kind="stable")  # +1 and -1 of the first class lead: its sequences come last
    few = np.sort(order[np.arange(300) * 700 // 300])
    assert np.bincount(labels[few]).tolist() == [100, 100, 100]
    settings = SETTINGS | {"n_generations": 1, "differences": False, "scale": None, "C": 3.0, "gamma": 0.1}
    model = EvokeClassifier(**settings).fit(X, labels)
    alone = EvokeClassifier(**settings).fit([X[i] for i in few], labels[few])
    np.testing.assert_array_equal(model.genome_, alone.genome_)
    assert model.best_fitness_ == alone.best_fitness_
    assert len(model.readout_.support_vectors) == 700 == len(model.loo_decision_function_)
    assert np.isfinite(model.loo_decision_function_).all()


def test_a_cell_starts_with_the_changes_of_at_most_two_lags():
    model = EvokeRegressor(**(SETTINGS | {"differences": (1, 2, 4), "n_generations": 1, "subpopulation_size": 30}))
    model.fit(X, VALUES)
    cells = model.genome_.reshape(-1, 4, 9 + 3)  # inputs: two columns, the changes of each since 1, 2, 4 steps, and 1
    read = cells[:, :, 2:8].reshape(-1, 4, 3, 2) != 0.0
    of_lag = read[:, 0, :, 0]
    assert (read == of_lag[:, None, :, None]).all()
    assert {*of_lag.sum(axis=1).tolist()} == {0, 1, 2}
    assert of_lag.any(axis=0).all()
    assert (cells[:, :, [0, 1, *range(8, 12)]] != 0.0).all()


@pytest.mark.parametrize("lags", [(3, 1), (1,), (2, 40), ()])
def test_networks_read_the_changes_since_so_many_steps(lags):
    ragged = [np.random.default_rng(n).normal(size=(n, 2)) for n in (1, 5, 2, 12, 3)]
    columns = []
    for x in ragged:
        changes = [[x[t] - x[t - lag] if t >= lag else np.zeros(2) for t in range(len(x))] for lag in lags]
        columns.append(np.hstack([x, *changes]))
    rows = np.concatenate(columns)
    rows = np.divide(rows - rows.mean(axis=0), rows.std(axis=0), out=np.zeros_like(rows), where=rows.std(axis=0) > 0)
    model = EvokeRegressor(**(SETTINGS | {"differences": lags})).fit(ragged, np.arange(5.0))
    inputs = np.split(np.hstack([rows, np.ones((len(rows), 1))]), np.cumsum([len(x) for x in ragged])[:-1])
    for network, genome in enumerate(model.genome_):
        for found, expected in zip(model.transform(ragged), forward(genome, inputs, gate_bias=NO_BIAS), strict=True):
            np.testing.assert_allclose(found[:, 3 * network : 3 * network + 3], expected, rtol=0, atol=1e-12)


def test_several_networks_are_read_by_one_readout():
    model = classifier()
    assert model.genome_.shape == (3, 3, 4 * (5 + 3))
    phi = [forward(g, prepared(X_NEW, (X,)), gate_bias=NO_BIAS) for g in model.genome_]
    for k, activations in enumerate(model.transform(X_NEW)):
        np.testing.assert_allclose(activations, np.hstack([of[k] for of in phi]), rtol=0, atol=1e-12)
    assert len(model.get_feature_names_out()) == 9
    # no two of them are alike, and the best comes first
    alone = classifier(n_networks=1)
    np.testing.assert_array_equal(alone.genome_[0], model.genome_[0])
    assert alone.best_fitness_ == model.best_fitness_
    for a in range(3):
        for b in range(a):
            assert 2 * (model.genome_[a] == model.genome_[b]).all(axis=1).sum() <= 3


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_units_do_not_matter(scale, offset):
    units, shift = np.array([scale, 3.0]), np.array([0.0, offset])
    expected = classifier()
    found = EvokeClassifier(**SETTINGS).fit([x * units + shift for x in X], LABELS)
    np.testing.assert_allclose(
        found.decision_function([x * units + shift for x in X_NEW]), expected.decision_function(X_NEW), rtol=1e-8,
        atol=1e-8,
    )  # fmt: skip
    y = EvokeRegressor(**SETTINGS).fit(X, VALUES)
    y_in_units = EvokeRegressor(**SETTINGS).fit(X, (VALUES + offset) * scale)
    np.testing.assert_allclose(y_in_units.predict(X_NEW) / scale - offset, y.predict(X_NEW), rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [-1000, -540, 540, 1000])
def test_units_whose_squares_leave_the_range_of_float64_do_not_matter(exponent):
    expected, found = classifier(), EvokeClassifier(**SETTINGS).fit([np.ldexp(x, exponent) for x in X], LABELS)
    np.testing.assert_array_equal(
        found.decision_function([np.ldexp(x, exponent) for x in X_NEW]), expected.decision_function(X_NEW)
    )
    y = EvokeRegressor(**SETTINGS).fit(X, VALUES)
    y_in_units = EvokeRegressor(**SETTINGS).fit(X, np.ldexp(VALUES, exponent))
    np.testing.assert_array_equal(np.ldexp(y_in_units.predict(X_NEW), -exponent), y.predict(X_NEW))


def test_targets_whose_readout_leaves_the_range_of_float64_are_refused():
    with pytest.raises(ValueError, match=r"^y is too large"):
        EvokeRegressor(**SETTINGS).fit(X, np.ldexp(VALUES, 1023))


def test_a_feature_that_does_not_vary_says_nothing():
    constant = [np.hstack([x, np.full((len(x), 1), 1.7e9)]) for x in X]
    model = EvokeClassifier(**SETTINGS).fit(constant, LABELS)
    changed = [np.hstack([x, np.full((len(x), 1), -3.0)]) for x in X]
    np.testing.assert_array_equal(model.predict(constant), model.predict(changed))


@pytest.mark.parametrize("estimator, y", [(EvokeClassifier, LABELS), (EvokeRegressor, VALUES)])
def test_files_pickles_and_threads_give_the_same_bits(estimator, y, tmp_path):
    model = estimator(**SETTINGS).fit(X, y)
    expected = model.predict(X_NEW)
    model.save(tmp_path / "model.evk")
    again = evoke.load(tmp_path / "model.evk")
    again.save(tmp_path / "again.evk")
    for other in (again, evoke.load(tmp_path / "again.evk"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X_NEW), expected)
        assert other.get_params() == model.get_params()
    threads = estimator(**(SETTINGS | {"n_jobs": 2})).fit(X, y)
    np.testing.assert_array_equal(threads.predict(X_NEW), expected)


def test_a_checkpoint_continues_to_the_same_end(tmp_path):
    expected = classifier(n_generations=4)
    callbacks = [Checkpoint(tmp_path / "run.evk", every=1)]
    classifier(n_generations=2, callbacks=callbacks)
    resumed = classifier(n_generations=4, callbacks=callbacks)
    assert resumed.history_ == expected.history_
    np.testing.assert_array_equal(resumed.decision_function(X_NEW), expected.decision_function(X_NEW))


def test_a_warm_start_continues_to_the_same_end():
    expected = classifier(n_generations=4)
    model = classifier(n_generations=1, warm_start=True)
    model.set_params(n_generations=3).fit(X, LABELS)
    np.testing.assert_array_equal(model.decision_function(X_NEW), expected.decision_function(X_NEW))
    # on other data the hall of fame is judged anew
    model.fit(X_NEW, LABELS_NEW)
    assert model.n_evaluations_ == 70
    with pytest.raises(ValueError, match="warm_start cannot continue"):
        model.set_params(n_networks=5).fit(X, LABELS)


def test_weights():
    weights = np.ones(len(X))
    weights[::5] = 0.0
    kept = np.flatnonzero(weights)
    some = EvokeClassifier(**SETTINGS).fit([X[i] for i in kept], LABELS[kept])
    model = EvokeClassifier(**SETTINGS).fit(X, LABELS, sample_weight=weights)
    np.testing.assert_array_equal(model.decision_function(X_NEW), some.decision_function(X_NEW))
    balanced = classifier(class_weight="balanced")
    np.testing.assert_array_equal(balanced.predict(X_NEW), classifier().predict(X_NEW))  # the classes are as frequent
    some = ({"n_networks": 1, "C": 0.1, "gamma": 0.01, "n_generations": 1} | {"class_weight": weight} for weight in (
        None, {0: 100.0},
    ))  # fmt: skip
    plain, heavy = ((classifier(**settings).predict(X_NEW) == 0).sum() for settings in some)
    assert heavy > plain
    with pytest.raises(ValueError, match="n_samples=1 sequences with a weight"):
        EvokeClassifier(**SETTINGS).fit(X, LABELS, sample_weight=np.eye(len(X))[0])


def test_the_washout_does_not_count():
    model = classifier(washout=5, differences=False)
    cut = [np.concatenate([x[:5], x[5:]]) for x in X_NEW]
    np.testing.assert_array_equal(model.predict(cut), model.predict(X_NEW))
    with pytest.raises(ValueError, match=r"washout=12 leaves nothing of X\[\d+\], which has 12 steps"):
        classifier(washout=12)
    with pytest.raises(ValueError, match=r"washout=5 leaves nothing of X\[0\], which has 5 steps"):
        model.predict([x[:5] for x in X_NEW])


def test_several_outputs_at_once():
    several = np.column_stack([LABELS > 0, VALUES > 1.2]).astype(int)[:, None]
    model = EvokeClassifier(**SETTINGS).fit(X, list(several))
    assert model.predict(X_NEW).shape == (len(X_NEW), 2)
    model = EvokeRegressor(**SETTINGS).fit(X, list(np.column_stack([VALUES, -VALUES])[:, None]))
    np.testing.assert_allclose(model.predict(X_NEW)[:, 0], -model.predict(X_NEW)[:, 1], atol=1e-8)


def test_two_classes_and_arrays():
    arrays = np.stack([x[:12] for x in X])
    model = EvokeClassifier(**SETTINGS).fit(arrays, np.where(LABELS > 0, "fast", "slow"))
    assert model.decision_function(arrays).shape == (len(X),)
    assert set(model.predict(arrays)) <= {"fast", "slow"}


@pytest.mark.parametrize("setting, message", [
    ({"readout": "svm"}, "readout must be 'lssvm' or 'ridge' with validation='loo', got 'svm'"),
    ({"kernel": "poly"}, r"kernel must be one of \('linear', 'rbf'\), got 'poly'"),
    ({"pool": ()}, r"pool must be 'last' or a tuple of some of .*, each once, got \(\)"),
    ({"pool": "mean"}, r"pool must be 'last' or a tuple of some of .*'mean', .*, got 'mean'"),
    ({"scale": True}, r"scale must be 'auto', 'standard' or None, got True"),
    ({"pool": ("mean", "mean")}, "each once"),
    ({"pool": ("median",)}, "got .*median"),
    ({"pool": "mean"}, "got 'mean'"),
    ({"n_networks": 0}, "n_networks must be an integer of at least 1, got 0"),
    ({"scale": "minmax"}, "scale must be 'auto', 'standard' or None, got 'minmax'"),
    ({"differences": "yes"}, "differences must be True, False or a sequence of integers .* each once, got 'yes'"),
    ({"differences": (1, 0)}, r"differences must be .* integers of at least 1, each once, got \(1, 0\)"),
    ({"differences": (2, 2)}, r"differences must be .* each once, got \(2, 2\)"),
    ({"C": "evolves"}, "C must be 'auto', 'evolve' or a positive finite number, got 'evolves'"),
    ({"gamma": -1}, "gamma must be 'auto', 'evolve' or a positive finite number, got -1"),
])  # fmt: skip
@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])
def test_what_parameters_cannot_be(estimator, setting, message):
    with pytest.raises(ParameterError, match=message):
        estimator(**(SETTINGS | setting)).fit(X, LABELS)


@pytest.mark.parametrize("setting", [
    {"pool": ("mean",)}, {"n_networks": 2}, {"differences": True}, {"scale": "standard"},
    {"readout": "ridge"},
])  # fmt: skip
@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])
def test_what_needs_leave_one_out(estimator, setting):
    (name,) = setting
    with pytest.raises(ParameterError, match=rf"{name}=.* must come with validation='loo', got 'half'"):
        estimator(**setting, validation="half").fit(X, LABELS)


@pytest.mark.parametrize(("setting", "y", "held_out", "why"), [
    ({"readout": "svm"}, LABELS, {}, "readout='svm'"), ({"gamma": "evolve"}, LABELS, {}, "gamma='evolve'"),
    ({"solver": "native"}, LABELS, {}, "solver='native'"), ({"kernel": "poly"}, LABELS, {}, "kernel='poly'"),
    ({}, LABELS, {"X_val": X_NEW, "y_val": LABELS}, "X_val"),
])  # fmt: skip
def test_an_error_says_what_rules_leave_one_out_out(setting, y, held_out, why):
    with pytest.raises(ParameterError) as caught:
        EvokeClassifier(**setting, n_networks=2).fit(X, y, **held_out)
    assert str(caught.value) == f"n_networks=2 must come with validation='loo': {why} rules it out"


@pytest.mark.parametrize("setting", [
    {"pool": ("mean",)}, {"n_networks": 2}, {"differences": True}, {"scale": "standard"}, {"n_points": 3},
])  # fmt: skip
def test_targets_of_steps_have_no_use_for_what_is_of_whole_sequences(setting):
    """Not even with leave-one-out, so the error does not send there."""
    steps = [np.arange(len(x)) % 2 for x in X]
    for validation in ("auto", "loo"):
        with pytest.raises(ValueError, match="is for whole sequences: y must have one target a sequence"):
            EvokeClassifier(**setting, validation=validation).fit(X, steps)


def test_the_forecaster_has_no_whole_sequences():
    with pytest.raises(ParameterError, match="validation must "):
        EvokeForecaster(validation="loo").fit(VALUES)


def test_what_data_cannot_be():
    with pytest.raises(ValueError, match="y must have one target a sequence"):
        EvokeClassifier(**SETTINGS).fit(X, [np.arange(len(x)) % 2 for x in X])
    with pytest.raises(ValueError, match="X_val and y_val have no part"):
        EvokeClassifier(**SETTINGS).fit(X, LABELS, X_val=X_NEW, y_val=LABELS_NEW)


@pytest.mark.parametrize("washout", [0, 4])
@pytest.mark.parametrize("differences", [True, False, (1, 7, 3), (4,)])
def test_a_stream_says_what_the_model_says_of_the_sequence_so_far(washout, differences):
    pool = POOL[:-1]
    model = classifier(washout=washout, differences=differences, pool=pool)
    reader, x = model.stream(), X_NEW[0]
    piecewise = np.concatenate([reader.decision_function(x[:5]), reader.decision_function(x[5:6]),
                                reader.decision_function(x[6:])])  # fmt: skip
    reader.reset()
    np.testing.assert_array_equal(reader.decision_function(x), piecewise)
    for t in range(washout, len(x)):
        np.testing.assert_array_equal(piecewise[t], model.decision_function([x[: t + 1]])[0])
    reader.reset()
    activations = np.vstack([reader.transform(x[:3]), reader.transform(x[3:])])
    np.testing.assert_array_equal(activations, model.transform([x])[0])
    reader.reset()
    assert [reader.step(row) for row in x] == model.classes_[piecewise.argmax(axis=1)].tolist()
    regressor = EvokeRegressor(**(SETTINGS | {"pool": pool})).fit(X, VALUES)
    np.testing.assert_array_equal(regressor.stream().predict(x)[-1], regressor.predict([x])[0])


def test_a_stream_of_thirds():
    model, x = classifier(pool=("thirds", "mean")), X_NEW[0]
    reader = model.stream()
    with pytest.raises(ValueError, match="thirds of a sequence are not known before its end"):
        reader.predict(x)


# ---------------------------------------------------------------- what "auto" stands for


def test_the_defaults_of_whole_sequences():
    tiny = {"subpopulation_size": 8, "random_state": 0}
    model = EvokeClassifier(**tiny).fit(X, LABELS)
    stated = EvokeClassifier(
        **tiny, n_cells=3, gate_bias=NO_BIAS, n_generations=4, n_trials=1, objective="squared", readout="lssvm",
        gamma="auto", C="auto", validation="loo", pool=POOL[:-1], n_networks=100, differences=(1, 2, 4, 8, 16, 32),
        scale="standard",
    ).fit(X, LABELS)  # fmt: skip
    np.testing.assert_array_equal(model.decision_function(X_NEW), stated.decision_function(X_NEW))
    assert model.get_params() == EvokeClassifier(**tiny).get_params()
    regressor = EvokeRegressor(**tiny).fit(X, VALUES)
    stated = EvokeRegressor(
        **tiny, n_cells=3, cell="lstm", weight_range=5.0, n_generations=4, n_trials=1, readout="lssvm", gamma="auto",
        C="auto", validation="loo", pool=POOL[:-1], n_networks=100, differences=(1, 2, 4, 8, 16, 32), scale="standard",
    ).fit(X, VALUES)  # fmt: skip
    np.testing.assert_array_equal(regressor.predict(X_NEW), stated.predict(X_NEW))


def test_the_defaults_of_steps_are_those_of_the_paper():
    tiny = {"n_generations": 1, "subpopulation_size": 4, "n_trials": 1, "random_state": 0}
    y = [np.arange(len(x)) % 2 for x in X]
    stated = EvokeClassifier(
        **tiny, n_cells=5, gate_bias=(0.0, 1.5, -1.5), objective="hinge", readout="svm", gamma=0.25, C=100.0,
        validation="half",
    ).fit(X, y)  # fmt: skip
    model = EvokeClassifier(**tiny).fit(X, y)
    for found, expected in zip(model.decision_function(X), stated.decision_function(X), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert model.fitted_.run.esp.state_dict()["subpopulation_size"] == 4


@pytest.mark.parametrize("setting", [
    {"readout": "svm"}, {"readout": "pinv"}, {"validation": "half"}, {"validation": 0.3}, {"solver": "native"},
    {"kernel": "poly"},
])  # fmt: skip
def test_what_is_stated_can_ask_for_the_last_step_alone(setting):
    tiny = {"n_generations": 1, "subpopulation_size": 4, "n_trials": 1, "random_state": 0}
    for estimator, y in (EvokeClassifier, LABELS), (EvokeRegressor, VALUES):
        assert estimator(**tiny, **setting).fit(X, y).fitted_.pooling is None
        held_out = estimator(**tiny).fit(X, y, X_val=X_NEW, y_val=y)
        assert held_out.fitted_.pooling is None


def test_an_interrupted_fit_keeps_its_model():
    def interrupt(record, _esp):
        raise KeyboardInterrupt

    model = EvokeClassifier(**(SETTINGS | {"callbacks": [interrupt]}))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, LABELS)
    np.testing.assert_array_equal(model.predict(X_NEW), classifier(n_generations=1).predict(X_NEW))


def test_a_file_that_was_edited_is_refused(tmp_path):
    model = classifier()
    for name in ("mean", "inverse"):
        broken = pickle.loads(pickle.dumps(model))
        object.__setattr__(broken.fitted_.pooling, name, np.ones(2))
        with pytest.raises(ValueError, match=f"_pool_{name} must have shape"):
            broken.save(tmp_path / "model.evk")
    assert not list(tmp_path.iterdir())

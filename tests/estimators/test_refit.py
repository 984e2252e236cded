"""The readout that is trained once more on everything."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
from evoke.callbacks import Checkpoint
from evoke.evolution.evaluation import fit_readout
from evoke.svm import LSSVC, LSSVR, SVC, SVR

TINY = dict(n_cells=3, n_generations=3, subpopulation_size=4, n_trials=2, gamma=0.5, C=50.0, validation="half",
            random_state=0)  # fmt: skip
rng = np.random.default_rng(3)
X = [rng.normal(size=(length, 2)) for length in (9, 7, 8, 6, 9, 8)]
ONES = np.array(["a", "b", "a", "b", "a", "b"])
LABELS = [(x[:, 0] > 0).astype(int) for x in X]
VALUES = [np.cumsum(x[:, 0]) for x in X]
WAVE = np.sin(np.arange(50.0)) + 0.3 * rng.normal(size=50)
WAVES = [WAVE[:15], WAVE[15:32], WAVE[32:]]
# Estimator, what it is fitted to
FITS = {
    "labels of steps": (EvokeClassifier, X, LABELS),
    "labels of sequences": (EvokeClassifier, X, ONES),
    "values of steps": (EvokeRegressor, X, VALUES),
    "values of sequences": (EvokeRegressor, X, ONES == "a"),
    "one sequence": (EvokeRegressor, X[0], VALUES[0]),
    "series": (EvokeForecaster, WAVE),
    "several series": (EvokeForecaster, WAVES),
}


def tiny(estimator, *watching, **parameters):
    return estimator(**{**TINY, "callbacks": list(watching) or None, "refit": True, **parameters})


def assert_same_evolution(a, b):
    np.testing.assert_array_equal(a.genome_, b.genome_)
    assert a.history_ == b.history_
    assert (a.best_fitness_, a.n_evaluations_) == (b.best_fitness_, b.n_evaluations_)
    assert a.fitted_.run.digest == b.fitted_.run.digest
    ours, theirs = a.fitted_.run.esp.state_dict(), b.fitted_.run.esp.state_dict()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


def same_readout(a, b):
    names = ("support_vectors", "dual_coef", "intercept")
    return all(np.array_equal(getattr(a.readout_, name), getattr(b.readout_, name)) for name in names)


def assert_same_model(a, b):
    assert_same_evolution(a, b)
    assert same_readout(a, b)


def by_hand(model, X, y, weights=None):
    """Decision values on all rows by a machine that is trained on the rows after the washout."""
    phi = model.transform(X)
    phi = [phi] if isinstance(phi, np.ndarray) else phi
    y = y if isinstance(y, list) else [y]
    taught, targets = (np.concatenate([part[model.fitted_.washout :] for part in parts]) for parts in (phi, y))
    if model.readout == "pinv":
        solve = np.linalg.pinv(np.column_stack([taught, np.ones(len(taught))]), rcond=1e-10)
        return np.column_stack([np.concatenate(phi), np.ones(sum(map(len, phi)))]) @ (solve @ targets)
    machine = {"svm": SVR, "lssvm": LSSVR}[model.readout]
    more = {"epsilon": model.epsilon, "tol": model.tol} if model.readout == "svm" else {}
    machine = machine(kernel="rbf", gamma=model.gamma, C=model.C, **more).fit(taught, targets, weights)
    return machine.predict(np.concatenate(phi))


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
@pytest.mark.parametrize("kind", FITS)
def test_only_the_readout_differs(kind, readout):
    estimator, *data = FITS[kind]
    model, without = (tiny(estimator, readout=readout, refit=refit).fit(*data) for refit in (True, False))
    assert_same_evolution(model, without)
    assert not same_readout(model, without)


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
@pytest.mark.parametrize("mode", ["teacher", "free"])
@pytest.mark.parametrize("y", [WAVE, WAVES], ids=["one", "several"])
@pytest.mark.parametrize("washout", [0, 4])
def test_a_forecaster_learns_from_all_behind_the_washout(washout, y, mode, readout):
    model = tiny(EvokeForecaster, washout=washout, readout=readout, validation_mode=mode, tol=1e-9).fit(y)
    told = model.predict_one_step(y)
    told = told if isinstance(told, np.ndarray) else np.concatenate(told)
    np.testing.assert_allclose(told, by_hand(model, y, y), rtol=1e-6, atol=1e-6)


def test_a_forecaster_of_several_outputs_and_inputs():
    y, drive = np.column_stack([WAVE, WAVE[::-1]]), rng.normal(size=(50, 1))
    model = tiny(EvokeForecaster, washout=3, readout="lssvm").fit(y, drive)
    phi = model.transform(y, drive)
    for column in (0, 1):
        machine = LSSVR(kernel="rbf", gamma=0.5, C=50.0).fit(phi[3:], y[3:, column])
        np.testing.assert_allclose(model.predict_one_step(y, drive)[:, column], machine.predict(phi), rtol=1e-8)


@pytest.mark.parametrize("readout", ["svm", "lssvm", "pinv"])
def test_a_regressor_learns_from_all(readout):
    model = tiny(EvokeRegressor, readout=readout, washout=2, tol=1e-9).fit(X, VALUES)
    np.testing.assert_allclose(np.concatenate(model.predict(X)), by_hand(model, X, VALUES), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("readout, machine", [("svm", SVC), ("lssvm", LSSVC)])
@pytest.mark.parametrize("class_weight", [None, {"a": 3.0}])
def test_a_classifier_of_sequences_learns_from_all(class_weight, readout, machine):
    model = tiny(EvokeClassifier, readout=readout, tol=1e-9, class_weight=class_weight).fit(X, ONES)
    last = np.array([phi[-1] for phi in model.transform(X)])
    more = {"tol": 1e-9} if machine is SVC else {}
    expected = machine(kernel="rbf", gamma=0.5, C=50.0, class_weight=class_weight, **more).fit(last, ONES)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(last), rtol=1e-6)


def test_weights_count_in_the_held_out_part():
    weights = rng.uniform(0.5, 2.0, size=50)
    weights[[10, 45]] = 0.0
    model = tiny(EvokeForecaster, readout="lssvm").fit(WAVE, sample_weight=weights)
    np.testing.assert_allclose(model.predict_one_step(WAVE), by_hand(model, WAVE, WAVE, weights), rtol=1e-8)
    assert len(model.readout_.support_vectors) == 48
    weights[45] = 1e308
    with pytest.raises(ValueError, match="out of the range of float64"):
        tiny(EvokeForecaster, readout="lssvm").fit(WAVE, sample_weight=weights)


@pytest.mark.parametrize("estimator, data, held_out", [
    (EvokeClassifier, (X, LABELS), {"X_val": X[:2], "y_val": LABELS[:2]}),
    (EvokeRegressor, (X, VALUES), {"X_val": X[:2], "y_val": VALUES[:2]}),
    (EvokeForecaster, (WAVE,), {"y_val": WAVE[:20]}),
])  # fmt: skip
def test_what_is_given_to_be_held_out_stays_so(estimator, data, held_out):
    model, without = (tiny(estimator, refit=refit).fit(*data, **held_out) for refit in (True, False))
    assert_same_model(model, without)


@pytest.mark.parametrize("kind", FITS)
def test_a_warm_start_equals_one_run(kind):
    estimator, *data = FITS[kind]
    straight = tiny(estimator, n_generations=6).fit(*data)
    assert_same_model(tiny(estimator, warm_start=True).fit(*data).fit(*data), straight)
    late = tiny(estimator, warm_start=True, refit=False).fit(*data).set_params(refit=True).fit(*data)
    assert_same_model(late, straight)


@pytest.mark.parametrize("kind", FITS)
def test_save_load_and_going_on(tmp_path, kind):
    estimator, *data = FITS[kind]
    model = tiny(estimator).fit(*data)
    model.save(tmp_path / "model.evk")
    loaded = load(tmp_path / "model.evk")
    assert loaded.refit is True
    assert_same_model(loaded, model)
    straight = tiny(estimator, n_generations=6).fit(*data)
    assert_same_model(loaded.set_params(warm_start=True).fit(*data), straight)


@pytest.mark.parametrize("kind", FITS)
def test_the_model_in_a_checkpoint_is_refitted_too(tmp_path, kind):
    estimator, *data = FITS[kind]
    halfway = tmp_path / "copy.evk"
    path = tmp_path / "run.evk"

    def copy(record, _esp):
        if record["generation"] == 3:
            halfway.write_bytes(path.read_bytes())

    model = tiny(estimator, Checkpoint(path, every=2), copy, n_generations=4).fit(*data)
    assert_same_model(load(path), model)
    assert_same_model(load(halfway), tiny(estimator, n_generations=2).fit(*data))


def test_a_checkpoint_goes_on_with_another_refit(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run.evk")
    tiny(EvokeRegressor, checkpoint, refit=False).fit(X, VALUES)
    straight = tiny(EvokeRegressor).fit(X, VALUES)
    assert_same_model(tiny(EvokeRegressor, checkpoint).fit(X, VALUES), straight)  # no generation is left to do
    again = tiny(EvokeRegressor, checkpoint, n_generations=5).fit(X, VALUES)
    assert_same_model(again, tiny(EvokeRegressor, n_generations=5).fit(X, VALUES))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", FITS)
def test_an_interrupted_run_is_refitted(kind, n_jobs):
    def interrupt(record, _esp):
        if record["generation"] == 2:
            raise KeyboardInterrupt

    estimator, *data = FITS[kind]
    model = tiny(estimator, interrupt, n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert_same_model(model, tiny(estimator, n_generations=2).fit(*data))


def test_a_refit_that_fails_leaves_the_readout_of_the_run():
    """Sequences that are held out and nearly those trained on: a kernel matrix without an inverse at this C."""
    y = np.array([1.0, 2.0, 0.0, 1.5, 2.5, 0.5])
    close = [X[i % 3] * (1 + 1e-9 * (i > 2)) for i in range(6)]
    model = tiny(EvokeRegressor, readout="lssvm", C=1e30)
    with pytest.warns(UserWarning, match="refit=True is left out, .*: the kernel matrix is singular") as caught:
        model.fit(close, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert_same_model(model, clone(model).set_params(refit=False).fit(close, y))


def test_the_held_out_part_may_have_values_of_its_own():
    with pytest.warns(UserWarning, match=r"has class\(es\) \[2\].*judged by readouts that were not taught them"):
        model = tiny(EvokeClassifier, gamma=50.0, C=1e6).fit(X, [0, 1, 0, 1, 2, 2])
    np.testing.assert_array_equal(model.predict(X), [0, 1, 0, 1, 2, 2])


def test_a_readout_that_is_not_finite_is_left_out():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(12, 1)), np.r_[random.normal(size=11), 1e300]
    model = EvokeRegressor(objective="count", readout="lssvm", C=1e10, refit=True, n_cells=2, n_generations=2,
                           subpopulation_size=4, n_trials=2, random_state=0)  # fmt: skip
    with pytest.warns(UserWarning, match="refit=True is left out"):
        model.fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_a_readout_whose_decisions_overflow_is_left_out(monkeypatch):
    def overflowing(problem, genome, *final):
        readout = fit_readout(problem, genome, *final)
        return replace(readout, dual_coef=np.full_like(readout.dual_coef, 1e308)) if final else readout

    X = np.random.default_rng(0).normal(size=(20, 1))
    settings = dict(readout="lssvm", n_cells=2, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
    expected = EvokeRegressor(**settings).fit(X, X[:, 0]).predict(X)
    monkeypatch.setattr("evoke.estimators.fit.fit_readout", overflowing)
    with pytest.warns(UserWarning, match="refit=True is left out.*decisions that are not finite"):
        model = EvokeRegressor(**settings, refit=True).fit(X, X[:, 0])
    np.testing.assert_array_equal(model.predict(X), expected)

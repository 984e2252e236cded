"""C and gamma that evolve with the network."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load, tasks
from evoke._core import evaluate as core
from evoke._core.dispatch import apply
from evoke._core.kernel import Kernel
from evoke.callbacks import Checkpoint, HistoryLog
from evoke.esp import ESP
from evoke.evolution.evaluation import WorkQueue, evaluate, fit_readout
from evoke.evolution.evolved import Evolved, as_genomes
from evoke.evolution.problem import FreeRun, Objective, Problem, merge_points
from evoke.exceptions import ParameterError
from evoke.readouts import LSSVMReadout, PinvReadout, SVMReadout
from evoke.sequences.containers import as_sequences
from evoke.sequences.prefixes import share_prefixes
from evoke.sequences.series import segments_with_free_ends

N_CELLS = 3
NAMES = [("C",), ("gamma",), ("C", "gamma")]
READOUTS = {
    "svm": SVMReadout(Kernel("rbf", 0.5), C=2.0, tol=1e-6),
    "svm, poly": SVMReadout(Kernel("poly", 0.5, 1.0, 2), C=2.0, tol=1e-6),
    "svr": SVMReadout(Kernel("rbf", 0.5), C=2.0, epsilon=0.1, tol=1e-6, regression=True),
    "lssvm": LSSVMReadout(Kernel("rbf", 0.5), C=20.0),
}


class Unfused(SVMReadout):
    """The same readout without its short cut through the core."""

    @property
    def fused(self):
        return False


def steps(readout, names, seed=0):
    """A problem with two outputs at random, whose points have weights."""
    rng = np.random.default_rng(seed)
    X = as_sequences([rng.normal(size=(length, 1)) for length in (6, 8, 5, 7)])
    targets = rng.choice([-1.0, 1.0], (len(X.rows), 2))
    segments, cut = share_prefixes(X), X.offsets[2]
    weights = rng.uniform(0.5, 2.0, len(X.rows))
    parts = [
        merge_points(segments.row_of[part], targets[part], weights[part])
        for part in (slice(None, cut), slice(cut, None))
    ]
    regression = getattr(readout, "regression", False)
    objective = Objective("squared", regression=regression)
    return Problem(
        segments, *parts, "lstm", (0.0, 1.5, -1.5), readout, objective, evolved=Evolved(N_CELLS, readout.name, names)
    )


def free(readout, names):
    """A problem whose networks are judged by a free run."""
    y = tasks.superimposed_sines(2, 30)[:, None]
    inputs = as_sequences([np.concatenate([np.zeros((1, 1)), 0.3 * y[:-1]])])
    segments, ends, validation = segments_with_free_ends(inputs, np.arange(20, 30))
    parts = [merge_points(segments.row_of[:20], y[:20]), merge_points(validation, y[20:])]
    return Problem(
        segments, *parts, "evolino", (0.0, 0.0, 0.0), readout, Objective("squared", regression=True),
        FreeRun(ends, 0.3), Evolved(N_CELLS, readout.name, names),
    )  # fmt: skip


def candidates(p, n, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(n, N_CELLS * 4 * (p.n_inputs + N_CELLS)))
    return np.concatenate([weights, rng.uniform(-3.0, 3.0, (n, len(p.evolved.names)))], axis=1)


def alone(p, genome):
    """The problem of one network in which nothing evolves but its weights, and these."""
    n = len(p.evolved.names)
    values = dict(zip(p.evolved.names, apply("exp", genome[-n:]), strict=True))
    old = p.readout.kernel
    kernel = Kernel(old.name, values.get("gamma", old.gamma), old.coef0, old.degree)
    readout = replace(p.readout, kernel=kernel, C=values.get("C", p.readout.C))
    return replace(p, readout=readout, evolved=None), genome[:-n].reshape(1, N_CELLS, -1)


# ---------------------------------------------------------------- evaluation


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
@pytest.mark.parametrize("readout", READOUTS)
def test_each_network_has_the_errors_of_its_own_readout(readout, names):
    p = steps(READOUTS[readout], names)
    genomes = candidates(p, 21)
    errors = evaluate(p, genomes)
    expected = np.concatenate([evaluate(*alone(p, genome)) for genome in genomes])
    np.testing.assert_array_equal(errors, expected)
    fixed = evaluate(replace(p, evolved=None), p.evolved.weights(genomes))
    assert (errors[:, 0] != fixed[:, 0]).all()  # they do make a difference


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
@pytest.mark.parametrize("readout", ["svr", "lssvm"])
def test_free_runs_have_the_errors_of_their_own_readouts(readout, names):
    p = free(READOUTS[readout], names)
    genomes = candidates(p, 13)
    expected = np.concatenate([evaluate(*alone(p, genome)) for genome in genomes])
    np.testing.assert_array_equal(evaluate(p, genomes), expected)
    assert np.isfinite(expected).any()


@pytest.mark.parametrize("make", [steps, free])
def test_the_core_agrees_with_the_plain_way(make):
    p = make(READOUTS["svr"], ("C", "gamma"))
    genomes = candidates(p, 9)
    plain = evaluate(replace(p, readout=Unfused(**vars(p.readout))), genomes)
    np.testing.assert_allclose(evaluate(p, genomes)[:, :2], plain[:, :2], rtol=1e-4)


def test_slices_threads_and_order_do_not_matter():
    p = steps(READOUTS["svm"], ("C", "gamma"))
    genomes = candidates(p, 30)
    whole = evaluate(p, genomes)
    for cut in (1, 8, 11):
        np.testing.assert_array_equal(np.concatenate([evaluate(p, genomes[:cut]), evaluate(p, genomes[cut:])]), whole)
    np.testing.assert_array_equal(evaluate(p, genomes[::-1]), whole[::-1])
    queue = WorkQueue(30, 3)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: evaluate(p, genomes, queue), range(3)))
    np.testing.assert_array_equal(queue.errors, whole)
    np.testing.assert_array_equal(evaluate(pickle.loads(pickle.dumps(p)), genomes), whole)
    assert p.readout == READOUTS["svm"]  # its kernel is not written to


def test_the_readout_of_a_network_has_its_values():
    p = steps(READOUTS["lssvm"], ("C", "gamma"))
    genome = candidates(p, 1)[0]
    one, weights = alone(p, genome)
    fitted, expected = fit_readout(p, genome), fit_readout(one, weights[0])
    assert fitted.kernel == one.readout.kernel != p.readout.kernel
    np.testing.assert_array_equal(fitted.dual_coef, expected.dual_coef)


def test_values_beyond_the_limits_are_the_limits():
    evolved = Evolved(1, "svm", ("C", "gamma"))
    values = evolved.values(np.array([[0.0, -1e9, 1e300], [0.0, 1e9, 0.0]]))
    np.testing.assert_array_equal(values["C"], evolved.limits("C"))
    np.testing.assert_array_equal(values["gamma"], [evolved.limits("gamma")[1], 1.0])


def test_networks_start_within_the_range_evenly_in_the_logarithm():
    evolved = Evolved(1, "svm", ("C", "gamma"))
    drawn = evolved.values(evolved.start(np.random.default_rng(0), (10000, 2)))
    assert drawn["C"].min() >= 1.0 and drawn["C"].max() <= 1e4
    assert np.median(drawn["C"]) == pytest.approx(100.0, rel=0.2)
    assert drawn["gamma"].min() >= 0.01 and drawn["gamma"].max() <= 100.0


def test_the_digest_knows_what_evolves():
    digests = {steps(READOUTS["svm"], names).digest for names in NAMES}
    assert len(digests | {replace(steps(READOUTS["svm"], ("C",)), evolved=None).digest}) == 4


@pytest.mark.parametrize("own, message", [
    (np.ones((2, 2)), r"own must have shape \(3, 2\), got \(2, 2\)"),
    (np.array([[1.0, 1.0], [1.0, np.nan], [1.0, 1.0]]), r"own\[1, 1\] must be a positive finite number, got nan"),
    (np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]]), r"own\[2, 0\] must be a positive finite number, got 0.0"),
])  # fmt: skip
def test_the_core_refuses_what_no_readout_can_have(own, message):
    p = steps(READOUTS["svm"], ("C",))
    networks = p.networks(candidates(p, 3))
    with pytest.raises(ValueError, match=message):
        core.evaluate(networks, p.segments, p.train, p.validation, p.readout, p.objective, own=own)
    with pytest.raises(ValueError, match="the readout 'pinv' has neither C nor gamma"):
        core.evaluate(networks, p.segments, p.train, p.validation, PinvReadout(), p.objective, own=np.ones((3, 2)))


def test_chromosomes_of_several_lengths_become_one_array():
    esp = ESP([8, 8, 2], subpopulation_size=4, n_trials=2, random_state=0)
    genomes = as_genomes(esp.ask())
    assert genomes.shape == (8, 18)
    np.testing.assert_array_equal(genomes[:, 16:], esp.ask()[2])
    equal = np.zeros((3, 2, 4))
    assert as_genomes(equal) is equal


# ---------------------------------------------------------------- estimators


STRINGS, LABELS = tasks.anbncn(4)
SERIES = tasks.superimposed_sines(2, 60)
TINY = {
    "n_cells": 2, "n_generations": 6, "subpopulation_size": 8, "n_trials": 2, "random_state": 0, "burst_patience": 1,
}  # fmt: skip
FITS = {
    "classifier": (EvokeClassifier, (STRINGS, LABELS), {"readout": "svm"}),
    "classifier of sequences": (EvokeClassifier, (STRINGS * 2, [0, 1] * 4), {}),
    "regressor": (EvokeRegressor, (SERIES[:-1, None], SERIES[1:]), {"readout": "lssvm"}),
    "forecaster": (EvokeForecaster, (SERIES,), {"washout": 5}),
    "forecaster, free": (
        EvokeForecaster, (SERIES,), {"validation_mode": "free", "readout": "svm", "validation": 0.3, "C": 10.0},
    ),
}  # fmt: skip
EVOLVED = {" ".join(names): dict.fromkeys(names, "evolve") for names in NAMES}


def fit(name, **more):
    estimator, data, parameters = FITS[name]
    return estimator(**(TINY | parameters | more)).fit(*data)


def readout_of(name):
    estimator, _, parameters = FITS[name]
    return parameters.get("readout", "lssvm" if estimator is EvokeForecaster else "svm")


def assert_same(a, b):
    assert [*a.history_] == [*b.history_]
    np.testing.assert_array_equal(a.genome_, b.genome_)
    for name in ("support_vectors", "dual_coef", "intercept"):
        np.testing.assert_array_equal(getattr(a.readout_, name), getattr(b.readout_, name))
    assert a.readout_.kernel == b.readout_.kernel
    mine, theirs = a.fitted_.run.esp.state_dict(), b.fitted_.run.esp.state_dict()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("evolved", EVOLVED)
@pytest.mark.parametrize("name", FITS)
def test_the_readout_and_the_history_show_what_was_found(name, evolved):
    model = fit(name, **EVOLVED[evolved])
    found = model.history_[-1]
    best = as_genomes(model.fitted_.run.esp.best)
    for parameter in EVOLVED[evolved]:
        assert found[parameter] > 0
        pairs = {(record["best_fitness"], record[parameter]) for record in model.history_}
        assert len(pairs) == len({fitness for fitness, _ in pairs})  # those of the best network so far
    for parameter, logarithm in zip(EVOLVED[evolved], best[-len(EVOLVED[evolved]) :], strict=True):
        limits = Evolved(2, readout_of(name), ()).limits(parameter)
        assert found[parameter] == np.clip(apply("exp", logarithm), *limits)
    if "gamma" in found:
        assert model.readout_.gamma == found["gamma"]
    np.testing.assert_array_equal(model.genome_.ravel(), best[: -len(EVOLVED[evolved])])
    assert any(record["burst"] for record in model.history_)
    assert model.get_params()[evolved.split()[0]] == "evolve"


@pytest.mark.parametrize("name", FITS)
def test_the_values_found_give_the_same_fitness_without_evolution(name):
    model = fit(name, C="evolve", gamma="evolve")
    found = {parameter: model.history_[-1][parameter] for parameter in ("C", "gamma")}
    estimator, data, parameters = FITS[name]
    more = {"readout": readout_of(name), "warm_start": False, "n_generations": 1} | found
    if name == "classifier of sequences":
        more["validation"] = "half"
    seen = []
    plain = estimator(**(TINY | parameters | more), callbacks=[_keep(seen)])
    plain.fit(*data)
    fitness = evaluate(seen[0].problem, model.genome_[None])[0, :2].sum()
    assert fitness == model.best_fitness_


class _keep:
    """Notes the run that it watches."""

    def __init__(self, seen):
        self.seen = seen

    def watch(self, run):
        from contextlib import nullcontext

        self.seen.append(run)
        return nullcontext(lambda record, esp: None)


@pytest.mark.parametrize("name", FITS)
def test_jobs_warm_starts_and_files_keep_the_bits(name, tmp_path):
    more = {"C": "evolve", "gamma": "evolve"}
    straight = fit(name, **more)
    assert_same(fit(name, n_jobs=2, **more), straight)
    half = fit(name, n_generations=3, **more)
    half.save(tmp_path / "half.evk")
    for model in (half, load(tmp_path / "half.evk")):
        assert_same(model.set_params(warm_start=True).fit(*FITS[name][1]), straight)
    straight.save(tmp_path / "whole.evk")
    assert_same(load(tmp_path / "whole.evk"), straight)
    assert_same(pickle.loads(pickle.dumps(straight)), straight)


@pytest.mark.parametrize("name", FITS)
def test_a_checkpoint_goes_on_to_the_same_bits(name, tmp_path):
    more = {"C": "evolve", "gamma": "evolve"}
    straight = fit(name, **more)
    watching = [Checkpoint(tmp_path / "run.evk", every=2)]
    fit(name, n_generations=3, callbacks=watching, **more)
    assert_same(fit(name, callbacks=watching, **more), straight)
    with pytest.raises(ValueError, match="is of another fit: C="):
        fit(name, callbacks=watching, C=10.0, gamma="evolve")


def test_a_warm_start_with_something_else_that_evolves_is_refused():
    model = fit("classifier", C="evolve")
    with pytest.raises(ValueError, match="2 cells and 4 inputs and an evolved C or gamma: the parameters and X now"):
        model.set_params(warm_start=True, C=10.0).fit(STRINGS, LABELS)
    with pytest.raises(ValueError, match="give 2 cells and 4 inputs and an evolved C and gamma"):
        model.set_params(C="evolve", gamma="evolve").fit(STRINGS, LABELS)


def test_a_warm_start_on_other_data_judges_the_best_anew():
    model = fit("classifier", C="evolve", gamma="evolve", warm_start=True)
    model.fit(*tasks.anbncn(5))
    assert model.fitted_.run.first == 6 and len(model.history_) == 12


def test_a_log_has_the_values(tmp_path):
    path = tmp_path / "log.csv"
    model = fit("classifier", gamma="evolve", callbacks=[HistoryLog(path)])
    assert path.read_text().splitlines()[0].endswith(",burst,gamma")
    assert float(path.read_text().splitlines()[-1].split(",")[-1]) == model.history_[-1]["gamma"]


def test_refit_keeps_the_values():
    model = fit("regressor", C="evolve", gamma="evolve", refit=True)
    assert model.readout_.gamma == model.history_[-1]["gamma"]


@pytest.mark.parametrize("estimator, data, parameters, message", [
    (EvokeForecaster, (SERIES,), {"readout": "pinv", "C": "evolve"},
     "C must be a number with readout='pinv', which has none that could evolve, got 'evolve'"),
    (EvokeForecaster, (SERIES,), {"kernel": "linear", "gamma": "evolve"},
     "gamma must be a number with kernel='linear', which has none that could evolve, got 'evolve'"),
    (EvokeClassifier, (STRINGS, LABELS), {"readout": "pinv", "gamma": "evolve"},
     "gamma must be a number with readout='pinv', which has none that could evolve, got 'evolve'"),
    (EvokeClassifier, (STRINGS * 2, [0, 1] * 4), {"validation": "loo", "C": "evolve"},
     "C must be a number or 'auto', by leave-one-out, with validation='loo', got 'evolve'"),
    (EvokeRegressor, (STRINGS, [len(x) for x in STRINGS]), {"validation": "loo", "gamma": "evolve"},
     "gamma must be a number or 'auto', by leave-one-out, with validation='loo', got 'evolve'"),
    (EvokeForecaster, (SERIES,), {"C": "evolves"},
     "C must be 'auto', 'evolve' or a positive finite number, got 'evolves'"),
    (EvokeClassifier, (STRINGS, LABELS), {"gamma": "evolves"},
     "gamma must be 'auto', 'evolve' or a positive finite number, got 'evolves'"),
])  # fmt: skip
def test_what_cannot_evolve_is_refused(estimator, data, parameters, message):
    with pytest.raises(ParameterError) as error:
        estimator(**(TINY | parameters)).fit(*data)
    assert str(error.value) == message


def test_a_linear_kernel_may_have_a_C_that_evolves():
    assert fit("classifier", kernel="linear", C="evolve").history_[-1]["C"] > 0


@pytest.mark.parametrize("weight", [1e-306, 1e306])
def test_weights_must_leave_room_for_every_C(weight):
    weights = [np.full(len(x), weight) for x in STRINGS]
    with pytest.raises(ValueError, match=r"C=.* times class_weight and sample_weight is out of the range of float64"):
        EvokeClassifier(**TINY, C="evolve").fit(STRINGS, LABELS, sample_weight=weights)

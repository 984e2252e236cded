"""Restarts: successive halving of searches, the same on any workers, runs that go on."""

import copy
from contextlib import contextmanager
from math import ceil, log2

import numpy as np
import pytest
from joblib import parallel_config

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
from evoke.callbacks import Checkpoint, EarlyStopping, HistoryLog
from evoke.cmaes import CMAES
from evoke.esp import ESP
from evoke.evolution.evaluation import evaluate
from evoke.evolution.evolved import as_genomes
from evoke.evolution.restarts import Restarts
from evoke.exceptions import ParameterError
from evoke.persistence.values import decode, encode
from helpers.subpopulations import assert_same, sphere
from helpers.watched import CLASSES, VALUES, Stop, X, assert_same_model, cut, read_log, stop_at, tiny

WAVE = np.sin(np.arange(40.0))
FITS = {"classifier": (EvokeClassifier, X, CLASSES), "regressor": (EvokeRegressor, X, VALUES),
        "forecaster": (EvokeForecaster, WAVE)}  # fmt: skip
SEARCHES = {
    "esp": lambda random_state: ESP([3, 3], subpopulation_size=8, n_trials=2, random_state=random_state),
    "cmaes": lambda random_state: CMAES([3, 3], population_size=16, random_state=random_state),
}


def restarts(search="esp", n=5, budget=16 * 20, report_every=3):
    return Restarts.make(SEARCHES[search], n, budget, report_every, 0)


def fit(name="classifier", *watching, **parameters):
    estimator, *data = FITS[name]
    return tiny(*watching, estimator=estimator, **{"n_restarts": 5, "n_generations": 20} | parameters).fit(*data)


def seed(k):
    return 0 if k == 0 else np.random.SeedSequence(0, spawn_key=(10, k))


def halved(best, halve_after):
    """The searches that go on in each generation, by the best fitness (n_generations, n_searches) of all."""
    going, halving, found = [*range(best.shape[1])], halve_after, []
    for generation, row in enumerate(best, start=1):
        found.append(going)
        if generation == halving:
            ranked = sorted(going, key=lambda k: (row[k], k))
            going, halving = sorted(ranked[: ceil(len(going) / 2)]), 2 * halving
    return found


# ---- halving


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("search", ["esp", "cmaes"])
@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_the_worse_half_of_fits_from_other_seeds_is_given_up(name, search, n):
    model = fit(name, n_restarts=n, search=search)
    alone = [fit(name, n_restarts=1, search=search, random_state=seed(k)) for k in range(n)]
    n_generations = len(alone[0].history_)
    best = np.array([[record["best_fitness"] for record in other.history_] for other in alone]).T
    going = halved(best, max(1, n_generations // 2 ** ceil(log2(n))))
    assert len(going[-1]) == 1
    winner = alone[going[-1][0]]
    np.testing.assert_array_equal(model.genome_, winner.genome_)
    assert model.best_fitness_ == winner.best_fitness_
    assert len(model.history_) == n_generations
    networks = 0
    for generation, (record, those) in enumerate(zip(model.history_, going, strict=True)):
        records = [alone[k].history_[generation] for k in those]
        networks += sum(alone[k].history_[0]["n_evaluations"] for k in those)
        assert record["n_evaluations"] == networks
        assert record["best_fitness"] == min(other["best_fitness"] for other in records)
        assert record["generation_best"] == min(other["generation_best"] for other in records)
        assert record["burst"] == any(other["burst"] for other in records)
    assert model.n_evaluations_ == networks
    assert networks <= (1 + ceil(log2(n)) / 2) * winner.n_evaluations_


@pytest.mark.parametrize("n_generations", [1, 2, 3])
def test_a_budget_that_is_too_small_to_halve_so_often_keeps_the_best(n_generations):
    model = fit(n_restarts=8, n_generations=n_generations)
    alone = [fit(n_restarts=1, n_generations=n_generations, random_state=seed(k)) for k in range(8)]
    best = np.array([[record["best_fitness"] for record in other.history_] for other in alone]).T
    going = halved(best, 1)
    assert len(going[-1]) > 1
    assert model.best_fitness_ == min(best[-1, k] for k in going[-1])
    assert len(model.history_) == n_generations


@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize("search", ["esp", "cmaes"])
def test_the_estimate_counts_the_networks_of_all(n, search):
    model = tiny(n_restarts=n, n_generations=20, search=search)
    assert model.estimate_cost(X, CLASSES).n_networks == model.fit(X, CLASSES).n_evaluations_
    model.set_params(warm_start=True, n_generations=3)
    left = model.estimate_cost(X, CLASSES).n_networks
    before = model.n_evaluations_
    assert left == model.fit(X, CLASSES).n_evaluations_ - before


def test_searches_that_have_found_nothing_are_given_up_first():
    engine = restarts(n=4, budget=16 * 4)  # halved after 1 and 2
    engine.ask()
    fitness = np.full(engine.n_networks, np.inf)
    fitness[3 * 16] = 5.0
    engine.tell(fitness)
    assert engine.numbers == [0, 3]
    assert engine.best_fitness == 5.0
    assert engine.n_evaluations == 4 * 16
    engine.ask()
    engine.tell(np.full(engine.n_networks, np.inf))
    assert (engine.numbers, engine.n_evaluations, engine.n_networks) == ([3], 6 * 16, 16)


# ---- states


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("generation", [0, 2, 3, 11])
def test_a_state_goes_on_to_the_same_bits(search, asked, generation):
    engine = restarts(search)
    for _ in range(generation):
        engine.tell(sphere(engine.ask()))
    if asked:
        engine.ask()
    others = [restarts(search), restarts(search)]
    for _ in range(20):
        others[1].tell(sphere(others[1].ask()))  # one search is left
    arrays = {}
    for other in others:
        other.load_state_dict(engine.state_dict())
    if not asked:
        others.append(decode(encode(engine, "engine", arrays), arrays))
    for other in others:
        assert_same(engine, other)
    for _ in range(15):
        for each in (engine, *others):
            each.tell(sphere(each.ask()))
    for other in others:
        assert_same(engine, other)
    assert len(engine.engines) == 1


@pytest.mark.parametrize("name, value, message", [
    ("n_restarts", 3, "state.'n_restarts'. is 3, but this object has 5"),
    ("numbers", np.array([1, 0, 2, 3, 4]), "state.'numbers'. must be different integers from 0 to 4, in order"),
    ("numbers", np.array([0, 1, 2, 3, 5]), "state.'numbers'. must be at most 4"),
    ("numbers", np.array([0, 1]), "state has the wrong keys"),
    ("halve_after", 0, "state.'halve_after'. must be an integer of at least 1"),
    ("search1.weights", np.zeros(3), "state.'weights'. must have shape"),
    ("search1.generation", 5, "state.'search1.generation'. must be 2"),
])  # fmt: skip
def test_a_spoilt_state_changes_nothing(name, value, message):
    engine = restarts(budget=16 * 40)
    for _ in range(2):
        engine.tell(sphere(engine.ask()))
    state = engine.state_dict()
    with pytest.raises(ValueError, match=message):
        engine.load_state_dict(state | {name: value})
    fresh = restarts(budget=16 * 40)
    fresh.load_state_dict(state)
    assert_same(engine, fresh)


@pytest.mark.parametrize("spoil", [
    lambda state: state | {"searches": []},
    lambda state: state | {"searches": [None]},
    lambda state: state | {"searches": state["searches"][:2]},
    lambda state: state | {"numbers": [0, 0, 1, 2, 3]},
    lambda state: state | {"numbers": [-1, 0, 1, 2, 3]},
    lambda state: state | {"n_restarts": 1},
    lambda state: state | {"halve_after": 0},
    lambda state: state | {"report_every": 0},
    lambda state: state | {"n_given_up": -1},
])  # fmt: skip
def test_a_spoilt_file_is_refused(spoil):
    arrays = {}
    ((kind, state),) = encode(restarts(), "restarts", arrays).items()
    with pytest.raises(ValueError, match=r"must"):
        decode({kind: spoil(state)}, arrays)


# ---- on workers


class Watch:
    """A callback that keeps the run."""

    @contextmanager
    def watch(self, run):
        self.run, self.begin = run, copy.deepcopy(run.esp)
        yield lambda record, esp: None


@pytest.mark.parametrize("more", [{}, {"C": "evolve", "gamma": "evolve"}, {"search": "cmaes", "C": "evolve"}])
def test_epochs_are_generations_by_ask_and_tell(more):
    watch = Watch()
    model = fit("classifier", watch, **more)
    engine, problem = watch.begin, watch.run.problem
    for _ in model.history_:
        engine.tell(evaluate(problem, as_genomes(engine.ask()))[:, :2].sum(axis=1))
    assert_same(engine, model.fitted_.run.esp)


@pytest.mark.parametrize("search", ["esp", "cmaes"])
def test_neither_workers_nor_reports_change_anything(search):
    model = fit(search=search)
    for n_jobs in (2, 3):
        assert_same_model(fit(search=search, n_jobs=n_jobs, migrate_every=4), model)
        with parallel_config("loky", n_jobs=n_jobs):
            assert_same_model(fit(search=search, migrate_every=1000), model)


# ---- runs that go on


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("search", ["esp", "cmaes"])
def test_a_run_that_was_cut_goes_on_to_the_same_bits(tmp_path, name, search):
    parameters = {"search": search, "migrate_every": 4}
    straight, path = fit(name, **parameters), tmp_path / "run.evk"
    for generation in (1, 3, 7):  # before, between and after halvings
        with pytest.raises(Stop):
            fit(name, Checkpoint(path, every=1), stop_at(generation), **parameters)
    for model in (fit(name, Checkpoint(path), **parameters, n_jobs=2), load(path)):
        assert_same_model(model, straight)


def test_an_interrupt_keeps_the_best_network_so_far():
    model = cut(tiny(n_restarts=5, n_generations=20, migrate_every=2), 4, KeyboardInterrupt)
    assert len(model.history_) == 4  # halvings were due after 2 and 4
    assert len(model.fitted_.run.esp.engines) == 2
    assert model.best_fitness_ == model.history_[-1]["best_fitness"]
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("name", FITS)
def test_a_warm_start_and_a_file_go_on_as_the_first_fit_began(tmp_path, name):
    watch = EarlyStopping(target=1e9)  # ends the run with its first report
    fit(name, watch).save(tmp_path / "model.evk")
    model = load(tmp_path / "model.evk")
    assert len(model.history_) == 2
    model.set_params(callbacks=None, warm_start=True, n_generations=18).fit(*FITS[name][1:])
    assert_same_model(model, fit(name))


def test_a_warm_start_on_other_data_judges_all_searches_anew():
    model = fit("classifier", EarlyStopping(target=1e9), warm_start=True)
    assert len(model.fitted_.run.esp.engines) == 3
    model.set_params(n_generations=1).fit(X, [1 - y for y in CLASSES])
    assert model.history_[-1]["best_fitness"] == model.best_fitness_


@pytest.mark.parametrize("changed", [{"n_restarts": 2}, {"n_restarts": 1}, {"n_restarts": 1, "n_islands": 2}])
def test_a_warm_start_with_other_restarts_is_refused(changed):
    model = fit(n_generations=2, warm_start=True).set_params(**changed)
    with pytest.raises(ValueError, match="warm_start cannot continue the last fit"):
        model.fit(X, CLASSES)


def test_callbacks_see_each_generation_and_end_a_run_with_a_report(tmp_path):
    model = fit("classifier", HistoryLog(tmp_path / "log.csv"))
    assert read_log(tmp_path / "log.csv") == model.history_
    assert len(model.history_) == 20
    assert len(fit(max_seconds=1e-9).history_) == 2
    assert len(fit(max_seconds=1e-9, migrate_every=1).history_) == 1


# ---- what is refused


@pytest.mark.parametrize("parameters, data, message", [
    ({"n_islands": 2}, (X, CLASSES), "n_restarts must be 1 with n_islands=2, got 3"),
    ({"readout": "landmarks"}, (X, CLASSES), "n_restarts must be 1 where readout='landmarks'"),
    ({"validation": "loo"}, (X, [0, 1, 0, 1]), "n_restarts must be 1 where whole sequences are left out"),
    ({"n_restarts": 10_001}, (X, CLASSES), "n_restarts must be at most 10000, got 10001"),
])  # fmt: skip
def test_restarts_are_for_one_network(parameters, data, message):
    with pytest.raises(ParameterError, match=message):
        tiny(**{"n_restarts": 3} | parameters).fit(*data)


def test_whole_sequences_are_read_by_one_network():
    assert tiny(n_restarts=2).fit(X, [0, 1, 0, 1]).genome_.ndim == 2


def test_a_forecaster_evolves_one_network():
    assert EvokeForecaster(n_restarts=2, n_generations=2, subpopulation_size=4, random_state=0).fit(WAVE).history_
    with pytest.raises(ParameterError, match="n_restarts=2 must come with validation='half'"):
        EvokeForecaster(n_restarts=2, validation="rolling").fit(WAVE)

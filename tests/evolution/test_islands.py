"""Islands: migration along the ring, one epoch on any workers, runs that go on."""

import copy
import pickle
from contextlib import contextmanager

import numpy as np
import pytest
from joblib import parallel_config

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load
from evoke.callbacks import Checkpoint, EarlyStopping, HistoryLog
from evoke.esp import ESP
from evoke.evolution import archipelago
from evoke.evolution.evaluation import evaluate
from evoke.evolution.evolved import as_genomes
from evoke.evolution.islands import Islands
from evoke.evolution.records import of_several
from evoke.exceptions import ParameterError
from evoke.persistence.values import decode, encode
from helpers.subpopulations import assert_same, members_used, sphere
from helpers.watched import CLASSES, VALUES, Stop, X, assert_same_model, read_log, stop_at, tiny

WAVE = np.sin(np.arange(40.0))
FITS = {"classifier": (EvokeClassifier, X, CLASSES), "regressor": (EvokeRegressor, X, VALUES),
        "forecaster": (EvokeForecaster, WAVE)}  # fmt: skip
ESPS = {"subpopulation_size": 8, "n_trials": 2, "burst_patience": 2}


def islands(n=3, migrate_every=2, lengths=(3, 3), **parameters):
    return Islands.make(lambda random_state: ESP(lengths, random_state=random_state, **ESPS | parameters), n,
                        migrate_every, 0)  # fmt: skip


def fit(name, *watching, **parameters):
    estimator, *data = FITS[name]
    settings = {"n_islands": 3, "migrate_every": 2, "n_generations": 7} | parameters
    return tiny(*watching, estimator=estimator, **settings).fit(*data)


# ---- migration


@pytest.mark.parametrize("burst_patience", [None, 1])
def test_the_best_of_each_takes_the_places_of_the_last_of_the_next(burst_patience):
    ring = islands(migrate_every=3, burst_patience=burst_patience)
    alone = copy.deepcopy(ring.engines)
    for generation in range(1, 4):
        networks = ring.ask()
        fitness = sphere(networks) if generation == 1 else np.full(len(networks), 1e3)  # no better, so that 1 bursts
        fitness += np.arange(len(fitness)) * 1e-9
        used = []
        for island, own, part in zip(alone, np.split(networks, 3), np.split(fitness, 3), strict=True):
            used.append(members_used(island, own))
            np.testing.assert_array_equal(island.ask(), own)
            island.tell(part)
        ring.tell(fitness)
        if generation < 3:
            for island, own in zip(ring.engines, alone, strict=True):
                assert_same(island, own)
    for k, (island, own) in enumerate(zip(ring.engines, alone, strict=True)):
        comes = alone[k - 1]
        for i in range(2):
            expected = own.subpopulations[i].copy()
            scores = [np.split(fitness, 3)[k][used[k][i] == member].min() for member in range(8)]
            last = 7 if burst_patience else int(np.argsort(scores, kind="stable")[-1])
            expected[last] = comes.best[i]
            np.testing.assert_array_equal(island.subpopulations[i], expected)
        better = min(comes, own, key=lambda esp: esp.best_fitness)
        np.testing.assert_array_equal(island.best, better.best)
        assert island.best_fitness == better.best_fitness
    assert ring.best_fitness == min(esp.best_fitness for esp in alone)
    assert ring.bursts == sorted(burst for esp in alone for burst in esp.bursts)
    assert bool(ring.bursts) == (burst_patience == 1)
    assert ring.n_evaluations == 3 * sum(esp.n_networks for esp in alone)


def test_an_island_takes_nobody_in_but_after_tell():
    esp = ESP([3, 3], random_state=0, **ESPS)
    for _ in range(2):
        with pytest.raises(ValueError, match="take_in was called, but not between tell and ask"):
            esp.take_in(np.zeros((2, 3)), 0.0)
        esp.tell(sphere(esp.ask()))
        state = esp.state_dict()
        esp.take_in(np.zeros((2, 3)), np.inf)  # no best network
        assert esp.best_fitness == state["best_fitness"] > 0
        esp.take_in(np.zeros((2, 3)), 0.0)
        assert esp.best_fitness == 0.0
        assert sum((part == 0).all(axis=1).any() for part in esp.subpopulations) == 2
        esp.load_state_dict(state)


def test_islands_whose_networks_all_fail_send_nobody():
    ring = islands(migrate_every=1)
    fitness = np.full(ring.n_networks, np.inf)
    for _ in range(3):
        ring.ask()
        ring.tell(fitness)
    assert ring.best is None
    assert ring.hall == []
    assert not (ring.best_fitness < np.inf)
    ring.ask()
    fitness[-1] = 1.0  # a network of the last island, which the first one has now too
    ring.tell(fitness)
    assert [island.best_fitness for island in ring.engines] == [1.0, np.inf, 1.0]
    assert ring.hall_fitness == [1.0, 1.0]


def test_the_first_island_is_the_search_without_others():
    ring, esp = islands(), ESP([3, 3], random_state=0, **ESPS)
    assert_same(ring.engines[0], esp)
    seeds = {island.state_dict()["entropy"] for island in ring.engines}
    assert len(seeds) == 3
    one, other = (Islands.make(lambda random_state: ESP([2], random_state=random_state), 2, 1, seed)
                  for seed in (np.random.default_rng(3), np.random.default_rng(3)))  # fmt: skip
    assert_same(one, other)


# ---- states


@pytest.mark.parametrize("lengths", [(3, 3), (3, 2)])
@pytest.mark.parametrize("asked", [False, True])
def test_a_state_goes_on_to_the_same_bits(lengths, asked):
    ring = islands(lengths=lengths)
    for _ in range(3):
        ring.tell(sphere(ring.ask()))
    if asked:
        ring.ask()
    other = islands(lengths=lengths)
    other.load_state_dict(ring.state_dict())
    assert_same(ring, other)
    for _ in range(4):
        for engine in (ring, other):
            engine.tell(sphere(engine.ask()))
        assert_same(ring, other)


@pytest.mark.parametrize("name, value, message", [
    ("migrate_every", 3, "state.'migrate_every'. is 3, but this object has 2"),
    ("island1.weights", np.zeros(3), "state.'weights'. must have shape"),
    ("island1.generation", 5, "state.'island1.generation'. must be 2"),
])  # fmt: skip
def test_a_spoilt_state_changes_nothing(name, value, message):
    ring = islands()
    for _ in range(2):
        ring.tell(sphere(ring.ask()))
    state = ring.state_dict()
    with pytest.raises(ValueError, match=message):
        ring.load_state_dict(state | {name: value})
    fresh = islands()
    fresh.load_state_dict(state)
    assert_same(ring, fresh)


def test_the_best_of_each_island_is_judged_anew():
    ring = islands(migrate_every=10)
    ring.tell(sphere(ring.ask()))
    order = np.argsort([island.best_fitness for island in ring.engines])
    ring.judge_best_anew([3.0, 1.0, np.inf])
    assert [ring.engines[k].best_fitness for k in order] == [3.0, 1.0, np.inf]
    assert ring.hall_fitness == [1.0, 3.0]
    np.testing.assert_array_equal(ring.best, ring.engines[order[1]].best)


# ---- epochs


class Watch:
    """A callback that keeps the run."""

    @contextmanager
    def watch(self, run):
        self.run, self.begin = run, copy.deepcopy(run.esp)
        yield lambda record, esp: None


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("more", [{}, {"C": "evolve", "gamma": "evolve"}, {"readout": "lssvm", "credit": "mean"}])
def test_epochs_are_generations_by_ask_and_tell(name, more):
    watch = Watch()
    model = fit(name, watch, **more)
    ring, problem = watch.begin, watch.run.problem
    for _ in range(7):
        ring.tell(evaluate(problem, as_genomes(ring.ask()))[:, :2].sum(axis=1))
    assert_same(ring, model.fitted_.run.esp)
    assert [record["generation"] for record in model.history_] == [*range(1, 8)]
    assert [record["n_evaluations"] for record in model.history_] == [24 * k for k in range(1, 8)]
    best = [record["best_fitness"] for record in model.history_]
    assert best == sorted(best, reverse=True)
    assert best[-1] == model.best_fitness_ == ring.best_fitness


@pytest.mark.parametrize("name", FITS)
def test_the_number_of_workers_changes_nothing(name):
    model = fit(name, C="evolve")
    for n_jobs in (2, 3):
        assert_same_model(fit(name, n_jobs=n_jobs, C="evolve"), model)
        with parallel_config("loky", n_jobs=n_jobs):
            assert_same_model(fit(name, C="evolve"), model)


class Elsewhere:
    """Workers as other processes are: what they get and give is pickled. It counts the problems that are sent."""

    def __init__(self):
        self.sent = []

    @contextmanager
    def others(self, workers, in_time):
        yield self

    def results(self, call, items):
        self.sent.append(call.args[1] is not None)
        for k, item in enumerate(items):
            yield k, pickle.loads(pickle.dumps(call(*pickle.loads(pickle.dumps((item,))))))


def test_a_worker_is_sent_the_problem_once_and_again_when_it_has_lost_it(monkeypatch):
    elsewhere, kept = Elsewhere(), {}
    monkeypatch.setattr(archipelago, "others", elsewhere.others)
    monkeypatch.setattr(archipelago, "_kept", kept)

    def forget(record, _esp):
        if record["generation"] == 4:
            kept.clear()

    with parallel_config("loky", n_jobs=2):
        model = fit("classifier", forget)
    # four epochs; before the third the problem is lost
    assert elsewhere.sent == [True, False, False, True, False]
    monkeypatch.undo()
    assert_same_model(model, fit("classifier"))


def test_a_worker_keeps_few_problems(monkeypatch):
    kept = {}
    monkeypatch.setattr(archipelago, "_kept", kept)
    monkeypatch.setattr(archipelago, "evolve", lambda evaluate, problem, engines, n: ([problem], [[]]))
    for k in range(6):
        assert archipelago.evolve_there(str(k), k, 1, None) == (k, [])
    assert [*kept] == ["2", "3", "4", "5"]
    assert archipelago.evolve_there("1", None, 1, None) is None
    assert archipelago.evolve_there("3", None, 1, None) == (3, [])


def test_records_of_several():
    names = ("generation", "n_evaluations", "best_fitness", "generation_best", "generation_median", "train_error",
             "burst", "C")  # fmt: skip
    records = [dict(zip(names, values, strict=True)) for values in (
        (2, 16, 1.0, 4.0, 7.0, 3.0, False, 10.0), (2, 16, 2.0, 3.0, 5.0, 2.0, True, 20.0),
        (2, 16, 5.0, 9.0, 9.0, 8.0, False, 30.0),
    )]  # fmt: skip
    assert of_several(records) == dict(zip(names, (2, 48, 1.0, 3.0, 7.0, 2.0, True, 10.0), strict=True))


# ---- runs that go on


@pytest.mark.parametrize("name", FITS)
def test_a_run_that_was_cut_goes_on_to_the_same_bits(tmp_path, name):
    straight, path = fit(name), tmp_path / "run.evk"
    for generation in (1, 4):
        with pytest.raises(Stop):
            fit(name, Checkpoint(path, every=3), stop_at(generation))
        assert len(load(path).history_) == generation + generation % 2  # the epoch is whole
    for model in (fit(name, Checkpoint(path), n_jobs=2), load(path)):
        assert_same_model(model, straight)


def test_checkpoints_are_written_in_time(tmp_path):
    path, seen = tmp_path / "run.evk", []

    def look(record, _esp):
        seen.append(len(load(path).history_) if path.exists() else 0)

    fit("classifier", Checkpoint(path, every=3), look)
    assert seen == [0, 0, 4, 4, 6, 6, 6]
    assert len(load(path).history_) == 7


@pytest.mark.parametrize("name", FITS)
def test_a_warm_start_and_a_file_go_on(tmp_path, name):
    fit(name, n_generations=3).save(tmp_path / "model.evk")
    model = load(tmp_path / "model.evk").set_params(warm_start=True, n_generations=4)
    model.fit(*FITS[name][1:])
    assert_same_model(model, fit(name))


def test_a_warm_start_on_other_data_judges_all_islands_anew():
    model = fit("classifier", n_generations=2, warm_start=True)
    other = [1 - y for y in CLASSES]
    model.set_params(n_generations=1).fit(X, other)
    assert len(model.history_) == 3
    assert model.history_[-1]["best_fitness"] == model.best_fitness_


@pytest.mark.parametrize("changed", [{"n_islands": 2}, {"n_islands": 1}, {"migrate_every": 3}])
def test_a_warm_start_with_other_islands_is_refused(changed):
    model = fit("classifier", n_generations=2, warm_start=True).set_params(**changed)
    with pytest.raises(ValueError, match="warm_start cannot continue the last fit"):
        model.fit(X, CLASSES)


def test_callbacks_see_each_generation_and_end_a_run_with_its_epoch(tmp_path):
    model = fit("classifier", HistoryLog(tmp_path / "log.csv"), EarlyStopping(target=1e9))
    assert len(model.history_) == 2
    assert read_log(tmp_path / "log.csv") == model.history_
    assert len(fit("classifier", max_seconds=1e-9).history_) == 2


# ---- what is refused


@pytest.mark.parametrize("parameters, data, message", [
    ({"search": "cmaes"}, (X, CLASSES), "n_islands must be 1 with search='cmaes'"),
    ({"readout": "landmarks"}, (X, CLASSES), "n_islands must be 1 where readout='landmarks'"),
    ({"validation": "loo"}, (X, [0, 1, 0, 1]), "n_islands must be 1 where whole sequences are left out"),
    ({"n_islands": 10_001}, (X, CLASSES), "n_islands must be at most 10000, got 10001"),
])  # fmt: skip
def test_islands_are_for_one_network_by_esp(parameters, data, message):
    with pytest.raises(ParameterError, match=message):
        tiny(**{"n_islands": 2} | parameters).fit(*data)


def test_whole_sequences_are_read_by_one_network():
    assert tiny(n_islands=2).fit(X, [0, 1, 0, 1]).genome_.ndim == 2


def test_a_forecaster_evolves_one_network():
    assert EvokeForecaster(n_islands=2, n_generations=1, subpopulation_size=4, random_state=0).fit(WAVE).history_
    with pytest.raises(ParameterError, match="n_islands=2 must come with validation='half'"):
        EvokeForecaster(n_islands=2, validation="rolling").fit(WAVE)


OTHER = {}  # arrays of an island of another size


@pytest.mark.parametrize("spoil", [
    lambda state: state | {"islands": state["islands"][:1]},
    lambda state: state | {"migrate_every": 0},
    lambda state: state | {"islands": [state["islands"][0], None]},
    lambda state: state | {"islands": [state["islands"][0], encode(ESP([2]), "other", OTHER)]},
])  # fmt: skip
def test_a_spoilt_file_is_refused(spoil):
    arrays = {}
    ((kind, state),) = encode(islands(), "islands", arrays).items()
    assert_same(decode({kind: state}, dict(arrays)), islands())
    with pytest.raises(ValueError, match=r"islands|migrate_every"):
        decode({kind: spoil(state)}, arrays | OTHER)

"""Evolutions that end when their time is up. The clock is one that the tests set."""

import itertools
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config

import evoke
from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor
from evoke.callbacks import Checkpoint, HistoryLog
from evoke.evolution import evaluation, run
from evoke.evolution.evaluation import evaluate
from helpers.watched import CLASSES, TINY, VALUES, X, assert_same_model, read_log, tiny

SERIES = np.sin(0.3 * np.arange(60))
RNG = np.random.default_rng(1)
WHOLE = [RNG.normal(size=(length, 2)) + label for label, length in zip([0, 1] * 6, range(8, 20), strict=True)]
LABELS = np.array([0, 1] * 6)


@pytest.fixture
def clock(monkeypatch):
    """Moves on by a second whenever it is read."""
    seconds = itertools.count()
    for module in (run, evaluation):
        monkeypatch.setattr(module, "monotonic", lambda: float(next(seconds)))


def whole(**parameters):
    settings = {"n_cells": 2, "n_networks": 3, "subpopulation_size": 40, "random_state": 0}
    return EvokeClassifier(**(settings | parameters))


@pytest.mark.parametrize(
    "estimator, data",
    [(EvokeClassifier, (X, CLASSES)), (EvokeRegressor, (X, VALUES)), (EvokeForecaster, (SERIES,))],
)
def test_the_run_ends_before_the_next_generation(clock, estimator, data):
    model = estimator(**TINY, max_seconds=2.5).fit(*data)  # the clock is read once at the start
    assert len(model.history_) == 3
    assert_same_model(model, estimator(**(TINY | {"n_generations": 3})).fit(*data))


@pytest.mark.parametrize("n_generations", [1, 6])
def test_the_first_generation_is_completed(n_generations):
    model = tiny(max_seconds=1e-9, n_generations=n_generations).fit(X, CLASSES)
    assert_same_model(model, tiny(n_generations=1).fit(X, CLASSES))


def test_enough_time_changes_nothing():
    assert_same_model(tiny(max_seconds=1e9).fit(X, CLASSES), tiny().fit(X, CLASSES))
    assert_same_model(whole(max_seconds=1e9).fit(WHOLE, LABELS), whole().fit(WHOLE, LABELS))


def test_with_a_warm_start():
    model = tiny(max_seconds=1e-9, warm_start=True)
    for _ in range(3):
        model.fit(X, CLASSES)
    assert_same_model(model, tiny(n_generations=3).fit(X, CLASSES))


def test_with_a_checkpoint_and_a_log(tmp_path):
    path, log, seen = tmp_path / "run.evk", tmp_path / "run.csv", []
    watching = [Checkpoint(path), HistoryLog(log), lambda record, _esp: seen.append(record["generation"])]
    tiny(*watching, max_seconds=1e-9).fit(X, CLASSES)
    model = tiny(*watching, max_seconds=1e-8).fit(X, CLASSES)  # another time does not make another run
    assert seen == [1, 2]
    assert read_log(log) == model.history_
    assert_same_model(evoke.load(path), tiny(n_generations=2).fit(X, CLASSES))
    assert_same_model(tiny(*watching).fit(X, CLASSES), tiny().fit(X, CLASSES))


# ---- whole sequences, whose first generation is cut


def test_networks_that_are_not_evaluated_in_time_rank_last(clock):
    fitness = []

    class Watching:
        @contextmanager
        def watch(self, run):
            fitness.extend(evaluate(run.problem, run.esp.ask())[:, 1])
            yield lambda record, esp: None

    model = whole(max_seconds=4.5, callbacks=[Watching()]).fit(WHOLE, LABELS)
    (record,) = model.history_
    assert record["n_evaluations"] == model.n_evaluations_ == 24
    assert record["best_fitness"] == min(fitness[:24])
    assert record["generation_median"] == np.median(fitness[:24])
    assert len(model.fitted_.networks) == 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_at_least_one_network_is_evaluated(n_jobs, tmp_path):
    model = whole(max_seconds=1e-9, n_jobs=n_jobs, n_generations=4).fit(WHOLE, LABELS)
    assert len(model.history_) == 1
    assert 0 < model.n_evaluations_ < 40
    model.save(tmp_path / "cut.evk")
    assert_same_model(evoke.load(tmp_path / "cut.evk"), model)
    model.predict(WHOLE)


def test_in_processes():
    with parallel_config("loky", n_jobs=2):
        model = whole(max_seconds=1e-9).fit(WHOLE, LABELS)
    assert 0 < model.n_evaluations_ < 40


def test_later_generations_are_whole(tmp_path):
    model = whole(max_seconds=1e-9, n_generations=1, warm_start=True).fit(WHOLE, LABELS)
    n_evaluations = model.n_evaluations_
    model.fit(WHOLE, LABELS)
    assert model.n_evaluations_ == n_evaluations + 40
    assert [record["n_evaluations"] for record in model.history_] == [n_evaluations, n_evaluations + 40]
    checkpoint = Checkpoint(tmp_path / "run.evk")
    whole(max_seconds=1e-9, callbacks=[checkpoint]).fit(WHOLE, LABELS)
    resumed = whole(n_generations=2, callbacks=[checkpoint]).fit(WHOLE, LABELS)
    assert len(resumed.history_) == 2 and resumed.n_evaluations_ < 80


@pytest.mark.parametrize("name", ["classifier", "regressor", "forecaster", "checkpoint"])
def test_files_of_before_have_no_limit(name):
    assert evoke.load(Path(__file__).parents[1] / "bits" / "models" / f"{name}.evk").max_seconds is None

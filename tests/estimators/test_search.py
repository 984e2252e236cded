"""The parameter `search`: the estimators with CMA-ES in place of ESP."""

import copy

import numpy as np
import pytest

from evoke import EvokeClassifier, EvokeForecaster, EvokeRegressor, load, tasks
from evoke.callbacks import Checkpoint
from evoke.cmaes import CMAES
from evoke.exceptions import ParameterError
from helpers.watched import CLASSES, VALUES, Stop, X, assert_same_model, cut, stop_at, tiny

WAVE = np.sin(np.arange(40.0))
FITS = {"classifier": (EvokeClassifier, X, CLASSES), "regressor": (EvokeRegressor, X, VALUES),
        "forecaster": (EvokeForecaster, WAVE)}  # fmt: skip
MORE = [{}, {"C": "evolve", "gamma": "evolve"}, {"readout": "lssvm", "n_cells": 6}]


def fit(name, *watching, **parameters):
    estimator, *data = FITS[name]
    settings = {"search": "cmaes", "n_generations": 12} | parameters
    return tiny(*watching, estimator=estimator, **settings).fit(*data)


@pytest.mark.parametrize("name", FITS)
def test_it_judges_as_many_networks_as_esp(name):
    esp, cmaes = fit(name, search="esp"), fit(name)
    assert isinstance(cmaes.fitted_.run.esp, CMAES)
    size = cmaes.fitted_.run.esp.n_networks
    n = cmaes.genome_.size
    assert size == 4 + int(3 * np.log(n))
    assert esp.n_evaluations_ == 12 * 8 <= cmaes.n_evaluations_ < 12 * 8 + size
    assert cmaes.n_evaluations_ == len(cmaes.history_) * size
    assert cmaes.history_[-1]["best_fitness"] == cmaes.best_fitness_ <= cmaes.history_[0]["best_fitness"]


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("more", MORE)
def test_the_number_of_jobs_changes_nothing(name, more):
    assert_same_model(fit(name, **more), fit(name, n_jobs=3, **more))


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("more", MORE)
def test_a_run_that_was_cut_goes_on_to_the_same_bits(tmp_path, name, more):
    straight, path = fit(name, **more), tmp_path / "run.evk"
    for generation in (2, 3):
        with pytest.raises(Stop):
            fit(name, Checkpoint(path, every=2), stop_at(generation), **more)
        assert len(load(path).history_) == generation
    for model in (fit(name, Checkpoint(path), n_jobs=2, **more), load(path)):
        assert_same_model(model, straight)


@pytest.mark.parametrize("name", FITS)
def test_a_file_goes_on_where_it_ended(tmp_path, name):
    model = fit(name, **MORE[1])
    model.save(tmp_path / "model.evk")
    for again in (load(tmp_path / "model.evk"), copy.deepcopy(model)):
        assert_same_model(again, model)
        data = FITS[name][1:]
        a, b = (m.set_params(warm_start=True).fit(*data) for m in (copy.deepcopy(model), again))
        assert_same_model(a, b)
        assert len(a.history_) == 2 * len(model.history_)


def test_an_interrupt_keeps_whole_generations():
    straight = tiny(search="cmaes", n_generations=12).fit(X, CLASSES)
    model = cut(tiny(search="cmaes", n_generations=12), 3, KeyboardInterrupt)
    assert model.history_ == straight.history_[:3]
    assert model.fitted_.run.esp.generation == 3
    model.predict(X)


@pytest.mark.parametrize("names", [("C",), ("C", "gamma")])
def test_what_evolves_with_the_network_starts_in_its_own_range(names):
    settings = dict.fromkeys(names, "evolve")
    model = fit("classifier", **settings, weight_range=0.01, n_generations=1)
    state = model.fitted_.run.esp.state_dict()
    n_cells = model.genome_.shape[0]
    np.testing.assert_allclose(state["step_size"][:n_cells], 0.01 / np.sqrt(3.0))
    # logarithms, even between those of 1 and 1e4 for C, of 0.01 and 100 for gamma
    assert state["step_size"][n_cells] == pytest.approx(np.log(1e4) / np.sqrt(12.0))
    assert np.all(state["initial"][: model.genome_.size] == 0.0)
    np.testing.assert_allclose(np.exp(state["initial"][model.genome_.size :]), [100.0, 1.0][: len(names)], rtol=1e-12)
    assert set(names) < set(model.history_[-1])


def test_a_fit_of_the_other_search_cannot_go_on():
    model = fit("classifier").set_params(warm_start=True, search="esp")
    with pytest.raises(ValueError, match="warm_start cannot continue the last fit: search='cmaes' made it"):
        model.fit(X, CLASSES)


def test_a_checkpoint_of_the_other_search_is_refused(tmp_path):
    fit("classifier", Checkpoint(tmp_path / "run.evk"))
    with pytest.raises(ValueError, match="search='cmaes' instead of 'esp'"):
        fit("classifier", Checkpoint(tmp_path / "run.evk"), search="esp")


def test_other_data_are_judged_anew_after_a_warm_start():
    model = fit("classifier").set_params(warm_start=True)
    other = [1 - labels for labels in CLASSES]
    n = len(model.history_)
    model.fit(X, other)
    assert len(model.history_) == 2 * n and model.fitted_.run.first == n


@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])
def test_whole_sequences_are_read_by_one_network_or_by_those_of_esp(estimator):
    labels = np.array([0, 1, 0, 1])
    model = tiny(estimator=estimator, search="cmaes").fit(X, labels)
    assert model.fitted_.pooling is None and model.genome_.ndim == 2
    with pytest.raises(ParameterError, match="search must be 'esp' where whole sequences are left out"):
        tiny(estimator=estimator, search="cmaes", validation="loo").fit(X, labels)
    with pytest.raises(ParameterError, match="search='cmaes' rules it out"):
        tiny(estimator=estimator, search="cmaes", n_networks=3).fit(X, labels)


@pytest.mark.parametrize("estimator", [EvokeClassifier, EvokeRegressor])
def test_landmarks_are_read_by_the_networks_of_esp(estimator):
    with pytest.raises(ParameterError, match="search must be 'esp' where readout='landmarks' reads steps"):
        tiny(estimator=estimator, search="cmaes", readout="landmarks").fit(X, CLASSES)


def test_steps_of_sequences_that_are_left_out():
    model = tiny(search="cmaes", validation="loo", n_generations=10).fit(X, CLASSES)
    assert model.best_fitness_ < model.history_[0]["best_fitness"]


def test_a_forecaster_that_names_it_evolves_a_network():
    model = EvokeForecaster(search="cmaes", n_cells=2, n_generations=1, random_state=0).fit(WAVE)
    assert model.genome_.ndim == 2
    with pytest.raises(ParameterError, match="search='cmaes' must come with validation='half'"):
        EvokeForecaster(search="cmaes", validation="rolling").fit(WAVE)


def test_it_learns_better_than_esp_on_as_many_networks():
    strings = tasks.anbncn(6)
    esp, cmaes = (
        np.median([
            EvokeClassifier(search=search, readout="pinv", n_generations=8, random_state=k).fit(*strings).best_fitness_
            for k in range(3)
        ])
        for search in ("esp", "cmaes")
    )  # fmt: skip
    assert cmaes < esp

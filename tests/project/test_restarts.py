"""The study of restarts: its budgets, its runs, its page and its file."""

import numpy as np
import pytest

from evoke import EvokeRegressor
from harness import restarts, restarts_page
from harness.restarts import BUDGETS, METHODS, TASKS, Restarted, generations, networks
from harness.results import FOLDER, Results
from harness.searches import Task
from studies import restarts as study


@pytest.mark.parametrize("n", [1, 2, 4, 5, 8])
@pytest.mark.parametrize("n_generations", [1, 2, 7, 20])
def test_networks_are_those_that_are_judged(n, n_generations):
    X = np.random.default_rng(0).normal(size=(30, 1))
    model = EvokeRegressor(
        n_cells=2, readout="pinv", subpopulation_size=4, n_trials=1, n_restarts=n, n_generations=n_generations,
        random_state=0,
    )  # fmt: skip
    assert model.fit(X, np.cumsum(X)).n_evaluations_ == 4 * networks(n, n_generations)


@pytest.mark.parametrize("method", METHODS)
def test_no_more_networks_than_the_budget(method):
    budget = METHODS[method].budget
    n = generations(METHODS[method])
    assert networks(METHODS[method].n_restarts, n) <= budget or METHODS[method].search == "cmaes"
    assert n >= budget // 6


def test_one_run(monkeypatch):
    u = np.random.default_rng(0).uniform(size=(60, 1))
    model = EvokeRegressor(n_cells=2, readout="pinv", subpopulation_size=4, n_trials=2)
    task = Task(lambda seed: (model, (u, np.cumsum(u)), lambda fitted: np.inf), "its own")
    monkeypatch.setitem(restarts.TASKS, "tiny", task)
    monkeypatch.setitem(restarts.METHODS, "few", Restarted("esp", 2, 6))
    made = restarts.measure("tiny", "few", 0)
    assert made["networks"] == 8 * 6 and made["fitness"] > 0.0 and made["error"] is None


def test_tasks_are_posed():
    for task in TASKS.values():
        model, data, error = task.pose(0)
        assert hasattr(model, "fit") and data and callable(error)


def test_page_compares_with_one_search(tmp_path):
    found = Results()
    found.head = {"seeds": 8, "machine": {"processor": "p", "cores": 2, "evoke": "1"}}
    for name in TASKS:
        for method, restarted in METHODS.items():
            for seed in range(8):
                found.runs.append({
                    "part": "restarts", "set": name, "method": method, "seed": seed, "load": 1.0, "networks": 100,
                    "fitness": (seed + 1) / restarted.n_restarts, "error": None if restarted.n_restarts == 8 else 0.5,
                })  # fmt: skip
    restarts_page.write(found, tmp_path)
    text = (tmp_path / "restarts.md").read_text()
    assert "| flag | ESP | 1 | 100 | 4.5 | 0.5 |  |  |" in text
    assert "| flag | ESP | 8 | 100 | 0.562 | inf | 8 of 8 | 0.0078 |" in text
    assert f"- flag, CMA-ES, {BUDGETS[0]} generations: 2, 4, 8" in text
    assert "Several are worse:\n\n- none" in text


@pytest.mark.skipif(not study.RESULTS.exists(), reason="nothing has been measured")
def test_the_page_is_that_of_the_results():
    found = Results(study.RESULTS)
    expected = {(t, m, seed) for t in TASKS for m in METHODS for seed in range(found.head["seeds"])}
    assert {(run["set"], run["method"], run["seed"]) for run in found.runs} == expected
    assert restarts_page.page(found) == (FOLDER.parent / "restarts.md").read_text()

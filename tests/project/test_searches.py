"""The study of searches: its engines, its callback, its page and its file."""

import numpy as np
import pytest

from evoke import EvokeRegressor
from harness import searches, searches_page
from harness.results import FOLDER, Results
from harness.searches import BUDGETS, METHODS, TASKS, Drawn, Local, Task, Watch
from studies import searches as study


def sphere(genomes):
    return ((np.asarray(genomes) - 1.0) ** 2).sum(axis=(1, 2))


def test_a_local_search_goes_on_from_the_best():
    drawn, local = (kind((4, 4), 2.0, 0) for kind in (Drawn, Local))
    for search in (drawn, local):
        for _ in range(100):
            search.tell(sphere(search.ask()))
    assert np.abs(drawn.ask()).max() <= 2.0 and drawn.ask().shape == (20, 2, 4)
    assert local.best_fitness < 0.05 < 0.5 < drawn.best_fitness


@pytest.mark.parametrize("method", METHODS)
def test_one_run(method, monkeypatch):
    u = np.random.default_rng(0).uniform(size=(60, 1))
    model = EvokeRegressor(n_cells=2, readout="pinv", subpopulation_size=4, n_trials=2)
    data = u, np.cumsum(u[:, 0])
    task = Task(lambda seed: (model, data, lambda fitted: float(fitted.best_fitness_)), "its own", 300)
    monkeypatch.setattr(searches, "BUDGETS", (40, 120, 300))
    monkeypatch.setitem(searches.TASKS, "tiny", task)
    made = searches.measure("tiny", method, 0)
    assert made["fitness"] == made["error"] == sorted(made["fitness"], reverse=True)
    assert len(made["fitness"]) == 3 and "networks" not in made
    assert made["fitness"] == searches.measure("tiny", method, 0)["fitness"]


def test_the_networks_are_counted_until_the_strings_are_learned(monkeypatch):
    monkeypatch.setattr(searches, "BUDGETS", (200, 400, 600))
    watch = Watch(Task(lambda seed: None, "", searches.MOST_STRINGS), lambda model: float(model > 0.3))
    fitness = [1.9, 0.9, 0.9, 0.2, 0.2, 0.1]
    run = type("Run", (), {"model": lambda self: self.lowest})()
    engine = type("Engine", (), {"n_networks": 100})()
    with watch.watch(run) as look:
        ends = []
        for k, run.lowest in enumerate(fitness):
            ends.append(look({"n_evaluations": 100 * (k + 1), "best_fitness": run.lowest}, engine))
    assert watch.learned == 400 and ends == [False] * 5 + [True]
    assert (watch.fitness, watch.error) == ([0.9, 0.2, 0.1], [1.0, 0.0, 0.0])


def test_tasks_are_posed():
    for task in TASKS.values():
        model, data, error = task.pose(0)
        assert hasattr(model, "fit") and data and callable(error)


def results():
    found = Results()
    found.head = {"seeds": 2, "machine": {"processor": "p", "cores": 2, "evoke": "1"}}
    for k, method in enumerate(METHODS):
        for name in TASKS:
            for seed in range(2):
                values = [(k + 1) / n for n in BUDGETS]
                found.runs.append({
                    "part": "searches", "set": name, "method": method, "seed": seed, "load": 1.0,
                    "fitness": values, "error": [*values[:2], None],
                    "networks": None if k == 3 else 100 * (k + seed + 1),
                })  # fmt: skip
    return found


def test_page_compares_medians(tmp_path):
    searches_page.write(results(), tmp_path)
    text = (tmp_path / "searches.md").read_text()
    assert "| two sines, pinv | 400 | **0.0025** | 0.005 | 0.0075 | 0.01 | 0 of 2 | 0.5 |" in text
    assert "| ESP | 200 | 200 | 200 | 0 of 2 |" in text
    assert "| random | > 10,000 | > 10,000 | > 10,000 | 2 of 2 |" in text


@pytest.mark.skipif(not study.RESULTS.exists(), reason="nothing has been measured")
def test_the_page_is_that_of_the_results():
    found = Results(study.RESULTS)
    expected = {(t, m, seed) for t in TASKS for m in METHODS for seed in range(found.head["seeds"])}
    assert {(run["set"], run["method"], run["seed"]) for run in found.runs} == expected
    assert searches_page.page(found) == (FOLDER.parent / "searches.md").read_text()

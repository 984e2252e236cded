"""What the study `restarts` compares: one search, and several by successive halving, on as many networks in all."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke import EvokeClassifier
from harness.memory_sets import flag
from harness.results import Part
from harness.searches import TASKS as SEARCHED
from harness.searches import Task, finite

BUDGETS = (12, 30)  # generations of ESP
COUNTS = (1, 2, 4, 8)
LAG, N_TRAIN, N_TEST = 20, 40, 200


def flags(seed: int) -> Any:
    """Whether the first step was +1 or -1, after steps of noise; of whole sequences."""
    rng = np.random.default_rng(seed)
    pairs = [flag(LAG, rng) for _ in range(N_TRAIN + N_TEST)]
    X, y = [x for x, _ in pairs], np.array([label for _, label in pairs])

    def error(model: Any) -> float:
        return float((model.predict(X[N_TRAIN:]) != y[N_TRAIN:]).mean())

    settings = {"n_cells": 3, "subpopulation_size": 40, "n_trials": 5, "pool": "last"}
    model = EvokeClassifier(**settings, readout="svm", C=100.0, gamma=0.25, validation="stratified")
    return model, (X[:N_TRAIN], y[:N_TRAIN]), error


TASKS = {
    "two sines, pinv": SEARCHED["two sines, pinv"], "a^n b^n c^n": SEARCHED["a^n b^n c^n"],
    "flag": Task(flags, "share of wrong decisions"),
}  # fmt: skip


@dataclass(frozen=True)
class Restarted:
    """So many searches of a kind on as many networks in all as one has in so many generations."""

    search: str
    n_restarts: int
    budget: int
    package: str | None = None
    seeded: bool = True


METHODS = {
    f"{search}, {n}, {budget}": Restarted(search, n, budget)
    for budget in BUDGETS
    for search in ("esp", "cmaes")
    for n in COUNTS
}


def networks(n_restarts: int, n_generations: int) -> int:
    """Networks of searches that are halved, in generations of one: the rule of `n_restarts`."""
    halving, going, total = max(1, n_generations >> (n_restarts - 1).bit_length()), n_restarts, 0
    for generation in range(1, n_generations + 1):
        total += going
        if generation == halving:
            going, halving = -(-going // 2), 2 * halving
    return total


def generations(method: Restarted) -> int:
    """The largest `n_generations` with which the searches judge no more networks than the budget."""
    if method.search == "cmaes":  # whose generations are smaller
        return int(method.budget / (1.0 + np.log2(method.n_restarts) / 2.0))
    return max(n for n in range(1, method.budget + 1) if networks(method.n_restarts, n) <= method.budget)


def measure(name: str, method: str, seed: int) -> dict[str, Any]:
    task, restarted = TASKS[name], METHODS[method]
    model, data, error = task.pose(seed)
    model.set_params(
        search=restarted.search, n_restarts=restarted.n_restarts, n_generations=generations(restarted),
        random_state=seed,
    )  # fmt: skip
    begin = time.perf_counter()
    model.fit(*data)
    try:
        wrong = error(model)
    except FloatingPointError:  # a free run that diverges
        wrong = np.inf
    return {
        "networks": model.n_evaluations_, "fitness": finite(model.best_fitness_), "error": finite(wrong),
        "seconds": time.perf_counter() - begin,
    }  # fmt: skip


RESTARTS = Part(tuple(TASKS), METHODS, measure)

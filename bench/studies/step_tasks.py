"""Targets at 600 steps: the defaults with either search, on tasks that neither was tuned to.

    python bench/study.py step_tasks [--json FILE] [--first 50] [--seeds 6]

Networks are evolved on 600 steps and scored on 3,000 others: accuracy of classes, R^2 of values. Prints a table:
medians, and in how many runs CMA-ES ended with the lower fitness and with the better score. `--json` keeps every run;
what the file has already is not measured again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

from evoke import EvokeClassifier, EvokeRegressor
from harness.machine import describe
from harness.report import markdown_table

N_TRAIN, N_TEST = 600, 3000
Sequence = tuple[np.ndarray, np.ndarray]


def delayed(rng: np.random.Generator, n: int) -> Sequence:
    """The sign of a product of two inputs, four and two steps ago."""
    x = rng.normal(size=(n, 2))
    return x, (np.r_[np.zeros(4), x[:-4, 0]] * np.r_[np.zeros(2), x[:-2, 1]] > 0).astype(int)


def since(rng: np.random.Generator, n: int) -> Sequence:
    """Whether the last pulse is more than eight steps ago."""
    pulses, waited, so_far = rng.uniform(size=n) < 0.15, np.zeros(n), 0
    for t in range(n):
        so_far = 0 if pulses[t] else so_far + 1
        waited[t] = so_far
    return pulses[:, None] * 1.0, (waited > 8).astype(int)


def toggle(rng: np.random.Generator, n: int) -> Sequence:
    """A state that one input turns over and the other clears."""
    pulses, state, y = (rng.uniform(size=(n, 2)) < 0.1) * 1.0, 0, np.zeros(n, int)
    for t in range(n):
        state = 0 if pulses[t, 1] else state ^ int(pulses[t, 0])
        y[t] = state
    return pulses, y


def hmm(rng: np.random.Generator, n: int) -> Sequence:
    """Three hidden states that seldom change, behind noise."""
    state, y = 0, np.zeros(n, int)
    for t in range(n):
        if rng.uniform() < 0.05:
            state = int(rng.integers(3))
        y[t] = state
    return np.array([-0.7, 0.0, 0.7])[y][:, None] + rng.normal(size=(n, 1)), y


def maxi(rng: np.random.Generator, n: int) -> Sequence:
    """Whether the largest of the last eight inputs is above 1.3."""
    x = rng.normal(size=(n, 1))
    return x, (np.array([x[max(0, t - 7) : t + 1].max() for t in range(n)]) > 1.3).astype(int)


def leaky(rng: np.random.Generator, n: int) -> Sequence:
    """A leaky sum of one input and the hyperbolic tangent of another."""
    x = rng.normal(size=(n, 2))
    return x, lfilter([1], [1, -0.9], x[:, 0]) * 0.3 + np.tanh(x[:, 1])


def ar2(rng: np.random.Generator, n: int) -> Sequence:
    """A linear resonance."""
    x = rng.normal(size=(n, 1))
    return x, lfilter([1], [1, -1.6, 0.9], x[:, 0])


def volt(rng: np.random.Generator, n: int) -> Sequence:
    """A Volterra series of delays one and three."""
    x = rng.uniform(-1, 1, size=(n, 1))
    old, last = np.r_[np.zeros(3), x[:-3, 0]], np.r_[np.zeros(1), x[:-1, 0]]
    return x, old * last + 0.5 * old**2


def friction(rng: np.random.Generator, n: int) -> Sequence:
    """The drag of a body that is pushed."""
    pushed, y, speed = lfilter([0.3], [1, -0.7], rng.normal(size=n)), np.zeros(n), 0.0
    for t in range(n):
        speed += 0.5 * (np.tanh(3 * pushed[t]) - speed)
        y[t] = speed * abs(speed) + 0.1 * pushed[t]
    return pushed[:, None], y


TASKS: dict[str, Callable[[np.random.Generator, int], Sequence]] = {
    task.__name__: task for task in (delayed, since, toggle, hmm, maxi, leaky, ar2, volt, friction)
}
SEARCHES = ("esp", "cmaes")


def measured(task: str, seed: int, search: str) -> dict[str, float]:
    """Score and fitness of a run."""
    rng = np.random.default_rng(seed * 100 + len(task))
    (X, y), (X_test, y_test) = (TASKS[task](rng, n) for n in (N_TRAIN, N_TEST))
    estimator = EvokeClassifier if y.dtype.kind == "i" else EvokeRegressor
    model = estimator(search=search, random_state=seed, n_jobs=1).fit([X], [y])
    return {"score": float(model.score([X_test], [y_test])), "fit": float(model.best_fitness_)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", type=Path)
    parser.add_argument("--first", type=int, default=50, help="the first seed")
    parser.add_argument("--seeds", type=int, default=6)
    options = parser.parse_args(arguments)
    runs = json.loads(options.json.read_text())["runs"] if options.json and options.json.exists() else []
    found = {(run["task"], run["seed"], run["search"]): run for run in runs}
    seeds = range(options.first, options.first + options.seeds)
    for seed in seeds:
        for task in TASKS:
            for search in SEARCHES:
                if (task, seed, search) not in found:
                    run = {"task": task, "seed": seed, "search": search} | measured(task, seed, search)
                    found[task, seed, search] = run
                    if options.json:
                        kept = {"machine": describe(), "runs": list(found.values())}
                        options.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    rows = []
    for task in TASKS:
        score, fit = (
            np.array([[found[task, seed, search][key] for seed in seeds] for search in SEARCHES])
            for key in ("score", "fit")
        )
        rows.append({
            "task": task, **dict(zip(SEARCHES, (f"{value:.3f}" for value in np.median(score, axis=1)), strict=True)),
            "cmaes fitter": f"{(fit[1] < fit[0]).sum()} of {len(seeds)}",
            "cmaes better": f"{(score[1] > score[0]).sum()} of {len(seeds)}",
        })  # fmt: skip
    print(markdown_table(rows))

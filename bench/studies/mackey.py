"""The Mackey-Glass series, as long as one likes: `EvokeForecaster` as it comes, beside an echo state network.

    python bench/study.py mackey [--json FILE] [--steps 1000,10000,100000] [--seeds 5] [--methods NAME;...]

Each seed is a series of its own, by another history, and other random networks. A method learns from so many steps. Its
error one step ahead is taken over the 2,600 steps that follow, and NRMSE84 from 25 starts among them (see
`evoke.tasks.nrmse84`); both are in units of the deviation of the series. The echo state network has 500 units, reads
them with a constant and the last value by ridge regression, and is the best of its settings by the error of free runs
at the end of what it learns from. Prints a table: medians, and in brackets the quartiles. Times are those of the
processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from evoke import EvokeForecaster, tasks
from harness.echo import Reservoir, Settings
from harness.machine import describe
from harness.report import markdown_table

N_TEST, BETWEEN, AHEAD, WASHOUT, UNITS = 2600, 100, 84, 100, 500
LEAST_SQUARES = {"washout": 100, "n_generations": 5, "n_cells": 10}
FIGURES = ("one step ahead", "NRMSE84", "CPU seconds of fit", "of a free run")


class EchoState:
    """A reservoir that reads the last value, and whose readout says by how much the next one differs."""

    def __init__(self, seed: int, radii=(0.8, 1.1), leaks=(0.3, 1.0), scales=(0.3, 1.0), penalties=(1e-10, 1e-7)):
        self.seed, self.settings, self.penalties = seed, list(product(radii, leaks, scales)), penalties

    def fit(self, y: np.ndarray) -> EchoState:
        self.mean, self.deviation = float(y.mean()), float(y.std())
        values = (y - self.mean) / self.deviation
        n = len(values) - 10 * AHEAD
        best = np.inf
        for radius, leak, scale in self.settings:
            reservoir = Reservoir(1, Settings(radius, leak, scale), self.seed, UNITS)
            rows = self._rows(reservoir, values)
            for penalty in self.penalties:
                weights = self._trained(rows[:n], values[: n + 1], penalty)
                origins = range(n, len(values) - AHEAD, AHEAD)
                far = [self._free(reservoir, weights, rows[o - 1], values[o - 1])[-1] - values[o + AHEAD - 1]
                       for o in origins]  # fmt: skip
                error = float(np.mean(np.square(far)))
                if error < best:
                    best, self.reservoir, self.penalty = error, reservoir, penalty
        self.weights = self._trained(self._rows(self.reservoir, values), values, self.penalty)
        return self

    def predict_one_step(self, y: np.ndarray) -> np.ndarray:
        values = (y - self.mean) / self.deviation
        rows = self._rows(self.reservoir, values[:-1])
        said = np.concatenate([[0.0], values[:-1] + rows @ self.weights])
        return said * self.deviation + self.mean

    def generate(self, n_steps: int, context: np.ndarray) -> np.ndarray:
        values = (context[-1000:] - self.mean) / self.deviation  # the state forgets what is further back
        row = self._rows(self.reservoir, values)[-1]
        said = self._free(self.reservoir, self.weights, row, values[-1], n_steps)
        return said * self.deviation + self.mean

    def _rows(self, reservoir: Reservoir, values: np.ndarray) -> np.ndarray:
        states = reservoir.run(values[:, None])
        return np.column_stack([states, values, np.ones(len(values))])

    def _trained(self, rows: np.ndarray, values: np.ndarray, penalty: float) -> np.ndarray:
        X, change = rows[WASHOUT : len(values) - 1], np.diff(values)[WASHOUT:]
        return np.linalg.solve(X.T @ X + penalty * len(X) * np.eye(X.shape[1]), X.T @ change)

    def _free(self, reservoir: Reservoir, weights: np.ndarray, row: np.ndarray, value: float, n_steps: int = AHEAD):
        state, said = row[: len(reservoir.bias)], np.empty(n_steps)
        for t in range(n_steps):
            value = value + float(np.concatenate([state, [value, 1.0]]) @ weights)
            said[t] = value = float(np.clip(value, -5.0, 5.0))
            state = reservoir.step(state, np.array([value]))
        return said


METHODS: dict[str, Callable[[int], Any]] = {
    "evoke": lambda seed: EvokeForecaster(random_state=seed),
    "evoke, ridge readouts": lambda seed: EvokeForecaster(readout="ridge", random_state=seed),
    "evoke, one evolved network": lambda seed: EvokeForecaster(**LEAST_SQUARES, random_state=seed),
    "echo state network": EchoState,
}
MOST_STEPS = {"evoke, one evolved network": 1000, "echo state network": 10_000}  # beyond, minutes and gigabytes


def measured(method: Callable[[int], Any], n_steps: int, seed: int) -> dict[str, float]:
    """Errors of a method on the series of one seed, and the time it takes."""
    y = tasks.mackey_glass(n_steps + N_TEST, random_state=seed)
    begin = time.process_time()
    model = method(seed).fit(y[:n_steps])
    fitted = time.process_time()
    error = np.asarray(model.predict_one_step(y))[n_steps:] - y[n_steps:]
    starts = range(n_steps, len(y) - AHEAD, BETWEEN)
    run = time.process_time()
    far = tasks.nrmse84(model, y, starts)
    end = time.process_time()
    return {
        "one step ahead": float(np.sqrt(np.mean(error**2)) / y.std()), "NRMSE84": far,
        "CPU seconds of fit": fitted - begin, "of a free run": (end - run) / len(starts),
    }  # fmt: skip


def shown(values: list[float]) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{middle:.2g} [{low:.2g}, {high:.2g}]"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write all figures to this file")
    parser.add_argument("--steps", default="1000,10000,100000", help="to learn from")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default=";".join(METHODS), help="by name, with semicolons")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rows, kept = [], []
    for n_steps in map(int, options.steps.split(",")):
        for name in options.methods.split(";"):
            if n_steps > MOST_STEPS.get(name, n_steps):
                continue
            found = [measured(METHODS[name], n_steps, seed) for seed in range(options.seeds)]
            kept += [{"method": name, "steps": n_steps, "seed": seed} | one for seed, one in enumerate(found)]
            figures = {figure: shown([one[figure] for one in found]) for figure in FIGURES}
            rows.append({"method": name, "steps": f"{n_steps:,}"} | figures)
            print(*rows[-1].values(), sep="  ", file=sys.stderr, flush=True)
    print(markdown_table(rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"At most {peak:.2g} GiB of memory, series and packages included.")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": describe(), "figures": kept}, file, indent=1)

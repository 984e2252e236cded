"""Methods on a task, each in a process of its own, so that its memory can be measured."""

from __future__ import annotations

import importlib
import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import programs
from harness.report import Table, installed, skipped

# (seeds, quick) -> runs, each with seed, result and seconds, and the number of parameters of a model
Method = Callable[[list[int], bool], tuple[list[dict[str, Any]], int]]

# argv: module, method, number of seeds
PROGRAM = """
import importlib, json, sys, warnings
from threadpoolctl import threadpool_limits
warnings.simplefilter("ignore")
method = importlib.import_module(sys.argv[1]).METHODS[sys.argv[2]][0]
with threadpool_limits(1):
    print(json.dumps(method(list(range(int(sys.argv[3]))), False)))
"""


def apart(module: str, method: str, n_seeds: int) -> dict[str, Any]:
    """A row of the table: the method in a process of its own."""
    lines, megabytes = programs.printed_and_peak(PROGRAM, module, method, str(n_seeds))
    runs, n_parameters = json.loads(lines[-1])
    return row(method, runs, n_parameters, megabytes)


def here(module: str, method: str) -> dict[str, Any]:
    """A row of the quick table: the smallest amount of work, in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs, n_parameters = importlib.import_module(module).METHODS[method][0]([0, 1], True)
    return row(method, runs, n_parameters, "-")


def row(method: str, runs: list[dict[str, Any]], n_parameters: int, megabytes: float | str) -> dict[str, Any]:
    results = [np.inf if run["result"] is None else float(run["result"]) for run in runs]  # None: it diverged
    return {
        "method": method, "seeds": len(runs), "median": float(np.median(results)), "least": min(results),
        "most": max(results), "seconds per run": float(np.median([run["seconds"] for run in runs])),
        "MB": megabytes, "parameters": n_parameters,
    }  # fmt: skip


def timed(seed: int, run: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """The beginning of a run's record, and what `run` returned."""
    begin = time.perf_counter()
    value = run()
    return {"seed": seed, "seconds": time.perf_counter() - begin}, value


def seeded(name: str) -> bool:
    """Whether the result of the method of this name depends on the seed."""
    return name.startswith(("evoke", "reservoirpy"))


def size_of(model: Any) -> int:
    """Numbers that a fitted estimator of evoke decides by: weights of the network, support vectors, coefficients."""
    readout = model.readout_
    parts = (model.genome_, readout.support_vectors, readout.dual_coef, readout.intercept)
    return int(sum(np.size(part) for part in parts))


def size_of_machine(machine: Any) -> int:
    """The same for a machine of scikit-learn."""
    return machine.support_vectors_.size + machine.dual_coef_.size + machine.intercept_.size


def size_of_reservoir(reservoir: Any, readout: Any) -> int:
    """The same for an echo state network of reservoirpy: weights that are not zero, and those that were trained."""
    return int(reservoir.W.nnz + reservoir.Win.nnz + readout.Wout.size + readout.bias.size)


def table(
    module: str, title: str, note: str, methods: dict[str, tuple[Method, int, str | None]], quick: bool,
    best: Callable[..., Any],
) -> Table:  # fmt: skip
    """A row for each method (function, seeds, package that it needs), and who is best, by `max` or `min`."""
    found = Table(title, notes=[note])
    for name, (_, n_seeds, package) in methods.items():
        if package is not None and not installed(package):
            found.notes.append(skipped(name, package))
        else:
            found.rows.append(here(module, name) if quick else apart(module, name, n_seeds))
    median = best(row["median"] for row in found.rows)
    leaders = "; ".join(row["method"] for row in found.rows if row["median"] == median)
    found.notes.append(f"Best: {leaders}: median {median:.4g}.")
    return found

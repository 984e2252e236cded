"""Methods on a task of the paper, each in a process of its own, so that its memory can be told."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from memory import PRINT_PEAK
from report import Table, installed, skipped

# (seeds, quick) -> runs, each with seed, result and seconds, and the number of parameters of a model
Method = Callable[[list[int], bool], tuple[list[dict[str, Any]], int]]

# argv: folder of the benchmarks, module, method, number of seeds
PROGRAM = """
import importlib, json, sys, warnings
sys.path.insert(0, sys.argv[1])
from threadpoolctl import threadpool_limits
warnings.simplefilter("ignore")
method = importlib.import_module(sys.argv[2]).METHODS[sys.argv[3]][0]
with threadpool_limits(1):
    print(json.dumps(method(list(range(int(sys.argv[4]))), False)))
"""


def apart(module: str, method: str, n_seeds: int) -> dict[str, Any]:
    """A row of the table: the method in a process of its own."""
    command = [sys.executable, "-c", PROGRAM + PRINT_PEAK, str(Path(__file__).parent), module, method, str(n_seeds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    (runs, n_parameters), peak = map(json.loads, done.stdout.splitlines()[-2:])
    return row(method, runs, n_parameters, peak * 1.024 / 1e3)


def here(module: str, method: str) -> dict[str, Any]:
    """A row of the quick table: the least that there is to do, in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs, n_parameters = importlib.import_module(module).METHODS[method][0]([0, 1], True)
    return row(method, runs, n_parameters, "-")


def row(method: str, runs: list[dict[str, Any]], n_parameters: int, megabytes: float | str) -> dict[str, Any]:
    results = [np.inf if run["result"] is None else float(run["result"]) for run in runs]  # None: it diverged
    return {
        "method": method, "seeds": len(runs), "median": float(np.median(results)), "least": min(results),
        "most": max(results), "seconds a run": float(np.median([run["seconds"] for run in runs])),
        "MB": megabytes, "parameters": n_parameters,
    }  # fmt: skip


def timed(seed: int, run: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """Start of a run's record, and what the run gave."""
    begin = time.perf_counter()
    value = run()
    return {"seed": seed, "seconds": time.perf_counter() - begin}, value


def size_of(model: Any) -> int:
    """Numbers that a fitted estimator of evoke decides by: weights of the network, support vectors, coefficients."""
    readout = model.readout_
    parts = (model.genome_, readout.support_vectors, readout.dual_coef, readout.intercept)
    return int(sum(np.size(part) for part in parts))


def size_of_reservoir(reservoir: Any, readout: Any) -> int:
    """The same of an echo state network of reservoirpy: weights that are not zero, and those that were trained."""
    return int(reservoir.W.nnz + reservoir.Win.nnz + readout.Wout.size + readout.bias.size)


def table(module: str, title: str, note: str, methods: dict[str, tuple[Method, int, str | None]], quick: bool) -> Table:
    """A row for each method: (function, seeds, package that it needs)."""
    found = Table(title, notes=[note])
    for name, (_, n_seeds, package) in methods.items():
        if package is not None and not installed(package):
            found.notes.append(skipped(name, package))
        else:
            found.rows.append(here(module, name) if quick else apart(module, name, n_seeds))
    return found

"""Runs of an experiment over seeds: several at a time, failures listed, Ctrl-C heard, the result in one form."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils.validation import check_scalar

from evoke.config import show_config
from evoke.estimators.base import BaseEvoke
from evoke.evolution.run import Callback
from evoke.evolution.workers import in_threads, spread
from evoke.exceptions import WorkerLostError

__all__ = ["Interrupted", "Progress", "carry_out", "check_arguments", "finite", "quartiles"]

# Called with what is known of a run after each of its generations and at its end.
Progress = Callable[[dict[str, Any]], Any]

# One run, from its seed and the callbacks of its model.
OneRun = Callable[[int, list[Callback]], dict[str, Any]]

# More threads than this help no machine, and the system may refuse them.
MOST_THREADS = 256


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a reproduction.

    Attributes
    ----------
    result : dict
        What the experiment would have returned, with the runs finished so far and the best so far of the others.
    """

    def __init__(self, result: dict[str, Any]):
        super().__init__("interrupted")
        self.result = result


class _Stop(Exception):
    """Leaves a run in a worker thread, which Ctrl-C does not reach."""


def check_arguments(
    runs: Any, seed: Any, preset: Any, solver: Any, readout: Any, n_jobs: Any, n_generations: Any
) -> None:
    """The arguments that all experiments have.

    Raises
    ------
    TypeError, ValueError
        One of them is out of range.
    """
    check_scalar(runs, "runs", Integral, min_val=1)
    check_scalar(seed, "seed", Integral, min_val=0)
    check_scalar(n_jobs, "n_jobs", Integral)
    if n_jobs == 0:
        raise ValueError("n_jobs == 0, must be at least 1, or negative to leave processors free")
    if n_generations is not None:
        check_scalar(n_generations, "n_generations", Integral, min_val=1)
    for name, value, choices in (
        ("preset", preset, ("paper", "tuned")),
        ("solver", solver, ("auto", "native", "thundersvm")),
        ("readout", readout, ("svm", "lssvm", "pinv")),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    if solver == "thundersvm" and readout != "svm":
        raise ValueError(f"solver='thundersvm' trains readout='svm' only, got readout={readout!r}")


def carry_out(
    head: dict[str, Any],
    one: OneRun,
    model: BaseEvoke,
    statistics: Callable[[list[dict[str, Any]]], dict[str, Any]],
    *,
    runs: int,
    seed: int,
    n_jobs: int,
    progress: Progress | None,
    **settings: Any,
) -> dict[str, Any]:
    """Run an experiment with the seeds ``seed, ..., seed + runs - 1``.

    Parameters
    ----------
    head : dict
        The first entries of the result: what the experiment is.
    one : OneRun
    model : BaseEvoke
        A model with the parameters of the runs.
    statistics : callable
        Further entries of the result, from the finished runs.
    runs, seed, n_jobs, progress
        As in the experiments.
    **settings
        Other arguments of the experiment, for the record.

    Returns
    -------
    dict
        ``runs``, ``unfinished``, the statistics, ``config``, ``seconds``, ``interrupted``.

    Raises
    ------
    RuntimeError
        ``solver="thundersvm"`` and the library cannot be used.
    Interrupted
        On Ctrl-C, carrying the result so far.
    """
    config = {
        "runs": runs, "seed": seed, **settings, "n_jobs": n_jobs, "parameters": reported(model), **show_config("dict"),
    }  # fmt: skip
    if model.solver == "thundersvm" and not config["thundersvm"]["available"]:
        raise RuntimeError(f"solver='thundersvm': {config['thundersvm']['error']}")
    entries: dict[int, dict[str, Any]] = {}
    seeds = range(seed, seed + runs)
    begin = time.perf_counter()
    interrupted = False
    try:
        (_in_threads if in_threads(n_jobs) else _on_backend)(one, seeds, n_jobs, entries, progress or _no_progress)
    except KeyboardInterrupt:
        interrupted = True
    finished, unfinished = _separated([dict(entry) for entry in entries.values()])
    result = head | {"runs": finished, "unfinished": unfinished} | statistics(finished)
    result |= {"config": config, "seconds": time.perf_counter() - begin, "interrupted": interrupted}
    if interrupted:
        raise Interrupted(result)
    return result


def _in_threads(one: OneRun, seeds: range, n_jobs: int, entries: dict[int, dict[str, Any]], progress: Progress) -> None:
    """Runs in threads, whose `entries` are kept up to date."""
    stop = threading.Event()

    def run(seed: int) -> None:
        entry = entries[seed] = _begun(seed)
        begin = time.perf_counter()

        def watch(record: dict[str, Any], esp: Any) -> None:
            if stop.is_set():
                raise _Stop
            entry.update(
                fitness=finite(record["best_fitness"]), generations=record["generation"],
                evaluations=record["n_evaluations"], seconds=time.perf_counter() - begin, genome=esp.best,
            )  # fmt: skip
            progress(entry)

        try:
            entry.update(_outcome(one, [watch], seed))
        except _Stop:
            return
        progress(entry)

    try:
        n_threads = min(n_jobs, len(seeds), MOST_THREADS)
        Parallel(n_jobs=n_threads, backend="threading")(delayed(run)(seed) for seed in seeds)
    except KeyboardInterrupt:
        stop.set()
        raise


def _on_backend(one: OneRun, seeds: range, n_jobs: int, entries: dict[int, dict[str, Any]], progress: Progress) -> None:
    """Runs on the joblib backend in force, of which nothing is known until they end."""
    try:
        for k, outcome in spread(partial(_outcome, one, []), seeds, n_jobs):
            entries[seeds[k]] = _begun(seeds[k]) | outcome
            progress(entries[seeds[k]])
    except WorkerLostError as error:
        for seed in seeds:
            entries.setdefault(seed, _begun(seed) | _failed(error))


def _begun(seed: int) -> dict[str, Any]:
    return {"seed": seed, "status": "running", "fitness": None, "generations": 0, "evaluations": 0, "seconds": 0.0}


def _outcome(one: OneRun, callbacks: list[Callback], seed: int) -> dict[str, Any]:
    """How a run ended. One that fails must not take the others with it: it is listed with its reason."""
    try:
        return {**one(seed, callbacks), "status": "finished"}
    except _Stop:
        raise
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> dict[str, Any]:
    return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


def _no_progress(_entry: dict[str, Any]) -> None:
    pass


def reported(model: BaseEvoke) -> dict[str, Any]:
    """The parameters that a result can depend on, in a form that JSON has."""
    left_out = ("random_state", "n_jobs", "callbacks", "warm_start", "verbose")
    parameters = {name: value for name, value in model.get_params().items() if name not in left_out}
    return parameters | {"gate_bias": list(model.gate_bias)}


def _separated(entries: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Runs that are finished, and the others with the reason and the best network so far."""
    runs, unfinished = [], []
    for entry in sorted(entries, key=lambda entry: entry["seed"]):
        status, genome = entry.pop("status"), entry.pop("genome", None)
        if status == "finished":
            runs.append(entry)
        else:
            unfinished.append(
                {"reason": "interrupted"}
                | entry
                | {"status": "failed" if status == "failed" else "interrupted"}
                | {"genome": None if genome is None else genome.tolist()}
            )
    return runs, unfinished


def finite(value: float) -> float | None:
    """JSON has no infinity."""
    return float(value) if math.isfinite(value) else None


def quartiles(values: list[float]) -> NDArray[np.float64]:
    """First quartile, median and third quartile of values that may be infinite."""
    with np.errstate(invalid="ignore"):
        between = np.percentile(values, [25, 50, 75])
    # next to an infinite value NumPy's interpolation gives NaN, even where no interpolation is needed
    return np.where(np.isnan(between), np.percentile(values, [25, 50, 75], method="higher"), between)

"""The runs of an experiment, one for each seed: several at a time, with failures and interrupts in the result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from joblib import Parallel, delayed

from evoke._core.readout import READOUTS
from evoke._validation.parameters import check_callable, check_choice, check_integer, check_n_jobs
from evoke.config import show_config
from evoke.estimators.base import BaseEvoke
from evoke.evolution.run import Callback
from evoke.evolution.workers import in_threads, spread
from evoke.exceptions import ParameterError, WorkerLostError
from evoke.reproduce._statistics import finite
from evoke.reproduce.presets import SINES_PRESETS

__all__ = ["Interrupted", "Progress", "carry_out", "check_run", "check_runs", "timed_fit"]

# Called with what is known about a run after each of its generations and at its end.
Progress = Callable[[dict[str, Any]], Any]

# Performs one run, given its seed and the callbacks of its model, and returns its entry in the result.
RunOne = Callable[[int, list[Callback]], dict[str, Any]]

# More threads do not help on any machine, and the system may refuse to start them.
MOST_THREADS = 256


class Interrupted(KeyboardInterrupt):
    """Raised when Ctrl-C interrupts an experiment.

    Attributes
    ----------
    result : dict
        What the experiment would have returned, with the runs that are finished and the best networks so far of those
        that are not.
    """

    def __init__(self, result: dict[str, Any]):
        super().__init__("interrupted")
        self.result = result


class _Stop(Exception):
    """Ends a run in a worker thread, where Ctrl-C does not raise KeyboardInterrupt."""


MOST_RUNS = 1_000_000


def check_runs(runs: Any, n_jobs: Any, progress: Any) -> None:
    """Check the arguments for several runs of an experiment.

    Raises
    ------
    ParameterError
        One of them is out of range.
    """
    check_integer("runs", runs, 1, MOST_RUNS)
    check_n_jobs(n_jobs, optional=False)
    check_callable("progress", progress)


def check_run(seed: Any, preset: Any, solver: Any, readout: Any, n_generations: Any) -> None:
    """Check the arguments that one run of any experiment has.

    Raises
    ------
    ParameterError
        One of them is out of range.
    """
    check_integer("seed", seed, 0)
    if n_generations is not None:
        check_integer("n_generations", n_generations, 1)
    check_choice("preset", preset, tuple(SINES_PRESETS))
    check_choice("solver", solver, ("auto", "native", "thundersvm"))
    check_choice("readout", readout, READOUTS)
    if solver == "thundersvm" and readout != "svm":
        raise ParameterError(f"solver='thundersvm' only trains readout='svm', got readout={readout!r}")


def timed_fit(model: BaseEvoke, *data: Any, **held_out: Any) -> dict[str, Any]:
    """Fit the model; return the entries that all runs have: what the evolution achieved and what it took."""
    begin = time.perf_counter()
    model.fit(*data, **held_out)
    seconds = time.perf_counter() - begin
    return {
        "fitness": finite(model.best_fitness_), "generations": len(model.history_),
        "evaluations": int(model.n_evaluations_), "seconds": seconds,
    }  # fmt: skip


def carry_out(
    experiment: dict[str, Any],
    run_one: RunOne,
    model: BaseEvoke,
    statistics: Callable[[list[dict[str, Any]]], dict[str, Any]],
    *,
    runs: int,
    seed: int,
    n_jobs: int,
    progress: Progress | None,
    **settings: Any,
) -> dict[str, Any]:
    """Carry out an experiment: one run for each of the seeds ``seed, ..., seed + runs - 1``.

    Parameters
    ----------
    experiment : dict
        The first entries of the result: the task and its variant.
    run_one : RunOne
    model : BaseEvoke
        A model with the parameters of the runs.
    statistics : callable
        Computes further entries of the result from the finished runs.
    runs, seed, n_jobs, progress
        As in the experiments.
    **settings
        Other arguments of the experiment, to be recorded in ``config``.

    Returns
    -------
    dict
        The entries of `experiment`, ``runs``, ``unfinished``, the statistics, ``config``, ``seconds`` and
        ``interrupted``.

    Raises
    ------
    RuntimeError
        ``solver="thundersvm"``, but the library cannot be used.
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
    run_all = _in_threads if in_threads(n_jobs) else _on_backend
    try:
        run_all(run_one, seeds, n_jobs, entries, progress or _no_progress)
    except KeyboardInterrupt:
        interrupted = True
    finished, unfinished = _separated([dict(entry) for entry in entries.values()])
    result = experiment | {"runs": finished, "unfinished": unfinished} | statistics(finished)
    result |= {"config": config, "seconds": time.perf_counter() - begin, "interrupted": interrupted}
    if interrupted:
        raise Interrupted(result)
    return result


def _in_threads(
    run_one: RunOne, seeds: range, n_jobs: int, entries: dict[int, dict[str, Any]], progress: Progress
) -> None:
    """Do the runs in threads, which keep the `entries` up to date."""
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
            entry.update(_outcome(run_one, [watch], seed))
        except _Stop:
            return
        progress(entry)

    try:
        n_threads = min(n_jobs, len(seeds), MOST_THREADS)
        Parallel(n_jobs=n_threads, backend="threading")(delayed(run)(seed) for seed in seeds)
    except KeyboardInterrupt:
        stop.set()
        raise


def _on_backend(
    run_one: RunOne, seeds: range, n_jobs: int, entries: dict[int, dict[str, Any]], progress: Progress
) -> None:
    """Do the runs on the active joblib backend, where nothing is known about a run until it ends."""
    try:
        for k, outcome in spread(partial(_outcome, run_one, []), seeds, n_jobs):
            entries[seeds[k]] = _begun(seeds[k]) | outcome
            progress(entries[seeds[k]])
    except WorkerLostError as error:
        for seed in seeds:
            entries.setdefault(seed, _begun(seed) | _failed(error))


def _begun(seed: int) -> dict[str, Any]:
    return {"seed": seed, "status": "running", "fitness": None, "generations": 0, "evaluations": 0, "seconds": 0.0}


def _outcome(run_one: RunOne, callbacks: list[Callback], seed: int) -> dict[str, Any]:
    """The entry of a run at its end. If it fails, the entry has the reason and the other runs are not affected."""
    try:
        return {**run_one(seed, callbacks), "status": "finished"}
    except _Stop:
        raise
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> dict[str, Any]:
    return {"status": "failed", "reason": f"{type(error).__name__}: {error}"}


def _no_progress(_entry: dict[str, Any]) -> None:
    pass


def reported(model: BaseEvoke) -> dict[str, Any]:
    """The parameters that a result can depend on, in a form that JSON can hold."""
    left_out = ("random_state", "n_jobs", "callbacks", "warm_start", "verbose")
    parameters = {name: value for name, value in model.get_params().items() if name not in left_out}
    return parameters | {"gate_bias": list(model.gate_bias)}


def _separated(entries: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The finished runs, and the others with the reason and the best network so far."""
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

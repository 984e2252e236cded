"""The paper's experiments: settings, runs over seeds, and the table beside the published numbers."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils.validation import check_scalar

from evoke import tasks
from evoke.config import show_config
from evoke.estimators import EvokeClassifier
from evoke.evolution import Callback

__all__ = ["PRESETS", "PUBLISHED", "Interrupted", "anbncn", "markdown", "run_anbncn"]

# The paper's values (section 3.1). It leaves open the size of the population, the credit, the error behind the fitness
# and when a burst is due; the choices were made on the seeds 1000..1023 (docs/reproduction.md has the tables). gamma =
# 1/4 is its "standard deviation 2.0" in the SVM program used.
PAPER: dict[str, Any] = {
    "n_cells": 5,
    "cell": "lstm",
    "gate_bias": (0.0, 1.5, -1.5),
    "weight_range": 5.0,
    "n_generations": 50,
    "subpopulation_size": 40,
    "n_trials": 5,
    "mutation_scale": 0.1,
    "burst_patience": 5,
    "credit": "best",
    "objective": "hinge",
    "kernel": "rbf",
    "gamma": 0.25,
    "C": 100.0,
}

# Wide weights saturate gates and cells: a counter then moves by exactly one a symbol and never leaks, so that what
# holds for n <= 10 holds for long strings. Chosen on the seeds 1000..1023 (docs/reproduction.md has the table); the
# seeds of the results, 0..19, had no part in the choice.
TUNED: dict[str, Any] = {
    **PAPER,
    "weight_range": 500.0,
    "mutation_scale": 50.0,
    "gamma": 0.125,
}

# Arguments of EvokeClassifier for a^n b^n c^n.
PRESETS: dict[str, dict[str, Any]] = {"paper": PAPER, "tuned": TUNED}

# Table 1 of the paper: the largest accepted string, mean of 20 runs, by the longest training string.
PUBLISHED: dict[int, dict[str, int]] = {
    10: {"G-LSTM": 29, "PI-Evolino": 53, "Evoke": 257},
    20: {"G-LSTM": 67, "PI-Evolino": 95, "Evoke": 374},
}

# Single long strings that every run is tried on.
SPOTS = (10_000, 100_000, 1_000_000)

# The number of training points grows with the square of n_max and the kernel matrix with its fourth power: beyond
# this nothing fits into memory, and the system would end the process without a word.
LARGEST_N_MAX = 1000


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a reproduction.

    Attributes
    ----------
    result : dict
        What `anbncn` would have returned, with the runs finished so far and the best so far of the others.
    """

    def __init__(self, result: dict[str, Any]):
        super().__init__("interrupted")
        self.result = result


class _Stop(Exception):
    """Leaves a run in a worker thread, which Ctrl-C does not reach."""


def _model(preset: str, solver: str, readout: str, n_generations: int | None, **others: Any) -> EvokeClassifier:
    parameters = PRESETS[preset] | {"solver": solver, "readout": readout, "n_jobs": 1} | others
    if n_generations is not None:
        parameters["n_generations"] = n_generations
    return EvokeClassifier(**parameters)


def run_anbncn(
    seed: int,
    n_max: int = 10,
    preset: str = "tuned",
    solver: str = "auto",
    readout: str = "svm",
    n_generations: int | None = None,
    test_max: int = 2000,
    callbacks: Iterable[Callback] | None = None,
) -> dict[str, Any]:
    """One run on a^n b^n c^n: evolve on the strings n = 1..n_max, then find out how far it generalises.

    Parameters
    ----------
    seed : int
    n_max, preset, solver, readout, n_generations, test_max
        As in `anbncn`.
    callbacks : iterable of callables, optional
        Passed on to `EvokeClassifier`.

    Returns
    -------
    dict
        ``seed``; ``accepted``, the largest m such that every string n = 1..m is accepted; ``fitness`` of the best
        network (None if none had a finite one); ``generations``; ``evaluations``; ``seconds`` of the evolution;
        ``spot``, whether single long strings are accepted.
    """
    X, y = tasks.anbncn(n_max)
    model = _model(preset, solver, readout, n_generations, random_state=seed, callbacks=callbacks)
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    return {
        "seed": seed,
        "accepted": tasks.anbncn_accepted(model, test_max),
        "fitness": _finite(model.best_fitness_),
        "generations": len(model.history_),
        "evaluations": int(model.n_evaluations_),
        "seconds": seconds,
        "spot": {str(n): tasks.anbncn_accepts(model, n) for n in SPOTS},
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return float(value) if math.isfinite(value) else None


def anbncn(
    *,
    n_max: int = 10,
    runs: int = 20,
    seed: int = 0,
    preset: str = "tuned",
    solver: str = "auto",
    readout: str = "svm",
    n_jobs: int = 1,
    n_generations: int | None = None,
    test_max: int = 2000,
    progress: Callable[[dict[str, Any]], Any] | None = None,
) -> dict[str, Any]:
    """The paper's first experiment (section 3.1, table 1): the context-sensitive language a^n b^n c^n.

    Parameters
    ----------
    n_max : int, default=10
        Training strings are n = 1..n_max, of which the second half serves for validation.
    runs : int, default=20
    seed : int, default=0
        The runs have the seeds ``seed, ..., seed + runs - 1``.
    preset : {"paper", "tuned"}, default="tuned"
    solver : {"auto", "native", "thundersvm"}, default="auto"
    readout : {"svm"}, default="svm"
    n_jobs : int, default=1
        Runs at a time, in threads. No result depends on it.
    n_generations : int, optional
        Instead of the number of the preset.
    test_max : int, default=2000
        The longest n of the test. A run that reaches it is "at the cap": its true value is not known.
    progress : callable, optional
        Called with what is known of a run (seed, status, fitness, generations, ...) after each of its generations and
        at its end, from the thread of the run.

    Returns
    -------
    dict
        Ready for JSON. ``runs`` holds the finished runs as `run_anbncn` gives them, ``unfinished`` those that failed
        or were interrupted, with the reason and the best network so far; the statistics are over ``runs``, None
        without any.

    Raises
    ------
    TypeError, ValueError
        An argument out of range.
    RuntimeError
        ``solver="thundersvm"`` and the library cannot be used.
    Interrupted
        On Ctrl-C, carrying the result so far.
    """
    check_scalar(n_max, "n_max", Integral, min_val=2, max_val=LARGEST_N_MAX)
    check_scalar(runs, "runs", Integral, min_val=1)
    check_scalar(seed, "seed", Integral, min_val=0)
    check_scalar(test_max, "test_max", Integral, min_val=1)
    check_scalar(n_jobs, "n_jobs", Integral)
    if n_jobs == 0:
        raise ValueError("n_jobs == 0, must be at least 1, or negative to leave processors free")
    if n_generations is not None:
        check_scalar(n_generations, "n_generations", Integral, min_val=1)
    for name, value, choices in (
        ("preset", preset, tuple(PRESETS)),
        ("solver", solver, ("auto", "native", "thundersvm")),
        ("readout", readout, ("svm",)),
    ):
        if value not in choices:
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")
    config = {
        "runs": runs,
        "seed": seed,
        "test_max": test_max,
        "n_jobs": n_jobs,
        "parameters": _reported(_model(preset, solver, readout, n_generations)),
        **show_config("dict"),
    }
    if solver == "thundersvm" and not config["thundersvm"]["available"]:
        raise RuntimeError(f"solver='thundersvm': {config['thundersvm']['error']}")
    entries: dict[int, dict[str, Any]] = {}
    stop = threading.Event()

    def run(seed: int) -> None:
        entry = entries[seed] = {
            "seed": seed, "status": "running", "fitness": None, "generations": 0, "evaluations": 0, "seconds": 0.0,
        }  # fmt: skip
        begin = time.perf_counter()

        def watch(record: dict[str, Any], esp: Any) -> None:
            if stop.is_set():
                raise _Stop
            entry.update(
                fitness=_finite(record["best_fitness"]), generations=record["generation"],
                evaluations=record["n_evaluations"], seconds=time.perf_counter() - begin, genome=esp.best,
            )  # fmt: skip
            if progress is not None:
                progress(entry)

        try:
            finished = run_anbncn(seed, n_max, preset, solver, readout, n_generations, test_max, [watch])
            entry.update(finished, status="finished")
        except _Stop:
            return
        except Exception as error:  # one bad run must not take the others with it: it is listed with its reason
            entry.update(status="failed", reason=f"{type(error).__name__}: {error}")
        if progress is not None:
            progress(entry)

    begin = time.perf_counter()
    interrupted = False
    try:
        Parallel(n_jobs=n_jobs, backend="threading")(delayed(run)(seed + k) for k in range(runs))
    except KeyboardInterrupt:
        interrupted = True
        stop.set()

    result = {"task": "anbncn", "n_max": n_max, "preset": preset, "solver": solver, "readout": readout}
    result |= _summary([dict(entry) for entry in entries.values()], test_max)
    result["published"] = PUBLISHED.get(n_max, dict.fromkeys(PUBLISHED[10]))
    result["config"] = config
    result["seconds"] = time.perf_counter() - begin
    result["interrupted"] = interrupted
    if interrupted:
        raise Interrupted(result)
    return result


def _reported(model: EvokeClassifier) -> dict[str, Any]:
    """The parameters that a result can depend on, in a form that JSON has."""
    left_out = ("random_state", "n_jobs", "callbacks", "warm_start", "verbose")
    parameters = {name: value for name, value in model.get_params().items() if name not in left_out}
    return parameters | {"gate_bias": list(model.gate_bias)}


def _summary(entries: list[dict[str, Any]], test_max: int) -> dict[str, Any]:
    """Runs, finished and not, and the statistics of the finished ones."""
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
    accepted = [run["accepted"] for run in runs]
    return {
        "runs": runs,
        "unfinished": unfinished,
        "mean_accepted": float(np.mean(accepted)) if runs else None,
        "median_accepted": float(np.median(accepted)) if runs else None,
        "quartiles_accepted": [float(q) for q in np.percentile(accepted, [25, 50, 75])] if runs else None,
        "n_at_cap": sum(m >= test_max for m in accepted),
    }


def _table(head: list[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)]


def _show(value: float | None, spec: str) -> str:
    return "-" if value is None else format(value, spec)


def markdown(result: dict[str, Any]) -> str:
    """The result of `anbncn` as a table in Markdown, beside the published numbers."""
    runs, unfinished, config = result["runs"], result["unfinished"], result["config"]
    test_max, first, last = config["test_max"], config["seed"], config["seed"] + config["runs"] - 1
    lines = [
        f"# a^n b^n c^n, trained on n = 1..{result['n_max']}",
        "",
        f"The largest m such that every string n = 1..m is accepted; seeds {first}..{last}, tested up to {test_max}.",
        "",
    ]
    rows = [
        [f"{system}, published", _show(mean, "d"), "-", "-", "-", "-", "-"]
        for system, mean in result["published"].items()
        if mean is not None
    ]
    # A run at the cap counts with the cap, so that the true mean is at least what is shown.
    ours = f"evoke {config['evoke']}, preset {result['preset']}, solver {result['solver']}, readout {result['readout']}"
    if runs:
        accepted = [run["accepted"] for run in runs]
        low, middle, high = result["quartiles_accepted"]
        mean = ("at least " if result["n_at_cap"] else "") + f"{result['mean_accepted']:.1f}"
        rows.append(
            [ours, mean, f"{middle:g}", f"{low:g} to {high:g}", min(accepted), max(accepted),
             f"{result['n_at_cap']} of {len(runs)}"]
        )  # fmt: skip
    else:
        rows.append([ours, "-", "-", "-", "-", "-", "-"])
    lines += _table(["system", "mean", "median", "quartiles", "worst", "best", f"at the cap of {test_max}"], rows)
    lines += ["", "The published numbers are means of 20 runs; no spread was published.", ""]
    spots = [f"n = {int(n):,}" for n in map(str, SPOTS)]
    counts = [f"{sum(run['spot'][str(n)] for run in runs)} of {len(runs)}" for n in SPOTS]
    lines += _table(["a single string of", *spots], [["accepted by", *counts]])
    if runs:
        head = ["seed", "accepted", "fitness", "generations", "evaluations", "seconds", *spots]
        rows = [
            [run["seed"], run["accepted"], _show(run["fitness"], ".3g"), run["generations"], run["evaluations"],
             f"{run['seconds']:.2f}", *("yes" if run["spot"][str(n)] else "no" for n in SPOTS)]
            for run in runs
        ]  # fmt: skip
        lines += ["", *_table(head, rows)]
    if unfinished:
        head = ["seed, not finished", "reason", "best fitness", "generations", "evaluations", "seconds"]
        rows = [
            [run["seed"], run["reason"].replace("|", "\\|").replace("\n", " "), _show(run["fitness"], ".3g"),
             run["generations"], run["evaluations"], f"{run['seconds']:.2f}"]
            for run in unfinished
        ]  # fmt: skip
        lines += ["", *_table(head, rows)]
    if result["interrupted"]:
        n_begun = len(runs) + len(unfinished)
        lines += ["", f"Interrupted: {len(runs)} of {config['runs']} runs finished, {n_begun} begun."]
    packages = ", ".join(f"{name} {version}" for name, version in config["packages"].items() if version)
    where = f"Python {config['python']} on {config['platform']}, {config['cpus']} processors, {config['simd']['used']}"
    parameters = ", ".join(f"{name}={value!r}" for name, value in config["parameters"].items())
    lines += ["", f"{result['seconds']:.1f} s in all, runs at a time: {config['n_jobs']}. {where}; {packages}."]
    lines += ["", f"Parameters: {parameters}."]
    return "\n".join(lines) + "\n"

"""The paper's first experiment (section 3.1): the context-sensitive language a^n b^n c^n."""

from __future__ import annotations

import time
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_scalar

from evoke import tasks
from evoke.estimators import EvokeClassifier
from evoke.evolution.run import Callback
from evoke.reproduce._seeds import Progress, carry_out, check_arguments, finite, quartiles
from evoke.reproduce.presets import anbncn_parameters

__all__ = ["LARGEST_N_MAX", "PUBLISHED", "SPOTS", "anbncn", "run_anbncn"]

# Table 1 of the paper: the largest accepted string, mean of 20 runs, by the longest training string.
PUBLISHED: dict[int, dict[str, int]] = {
    10: {"G-LSTM": 29, "PI-Evolino": 53, "Evoke": 257},
    20: {"G-LSTM": 67, "PI-Evolino": 95, "Evoke": 374},
}

# Single long strings that every run is tried on.
SPOTS = (10_000, 100_000, 1_000_000)

# The number of points, n_max (3 n_max + 5) / 2, grows with the square of n_max and the kernel matrix with its fourth
# power. With 100 the matrix of all 15,250 points would take 1.7 GiB, that of the half that trains 115 MiB in each run
# at a time; far beyond it nothing fits into memory.
LARGEST_N_MAX = 100


def _model(preset: str, solver: str, readout: str, n_generations: int | None, **others: Any) -> EvokeClassifier:
    parameters = anbncn_parameters(preset, readout) | {"solver": solver, "n_jobs": 1} | others
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
        Seed of the run, as ``random_state`` of the classifier.
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
        "fitness": finite(model.best_fitness_),
        "generations": len(model.history_),
        "evaluations": int(model.n_evaluations_),
        "seconds": seconds,
        "spot": {str(n): tasks.anbncn_accepts(model, n) for n in SPOTS},
    }


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
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The paper's first experiment (section 3.1, table 1): the context-sensitive language a^n b^n c^n.

    Parameters
    ----------
    n_max : int, default=10
        Training strings are n = 1..n_max, of which the second half serves for validation.
    runs : int, default=20
        How many runs.
    seed : int, default=0
        The runs have the seeds ``seed, ..., seed + runs - 1``.
    preset : {"paper", "tuned"}, default="tuned"
    solver : {"auto", "native", "thundersvm"}, default="auto"
        What trains the support vector machines of ``readout="svm"``.
    readout : {"svm", "lssvm", "pinv"}, default="svm"
        Support vector machines (Evoke), least-squares ones, or the pseudoinverse (PI-Evolino).
    n_jobs : int, default=1
        Runs at a time, in threads or on the backend that `joblib.parallel_config` has put in force. No result depends
        on it.
    n_generations : int, optional
        Instead of the number of the preset.
    test_max : int, default=2000
        The longest n of the test. A run that reaches it is "at the cap": its true value is not known.
    progress : callable, optional
        Called with what is known of a run (seed, status, fitness, generations, ...) after each of its generations and
        at its end, from the thread of the run; on another backend than threads at its end only.

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
    check_scalar(test_max, "test_max", Integral, min_val=1)
    check_arguments(runs, seed, preset, solver, readout, n_jobs, n_generations)

    def one(seed: int, callbacks: list[Callback]) -> dict[str, Any]:
        return run_anbncn(seed, n_max, preset, solver, readout, n_generations, test_max, callbacks)

    def statistics(finished: list[dict[str, Any]]) -> dict[str, Any]:
        accepted = [run["accepted"] for run in finished]
        return {
            "mean_accepted": float(np.mean(accepted)) if accepted else None,
            "median_accepted": float(np.median(accepted)) if accepted else None,
            "quartiles_accepted": quartiles(accepted).tolist() if accepted else None,
            "n_at_cap": sum(m >= test_max for m in accepted),
            "published": PUBLISHED.get(n_max, dict.fromkeys(PUBLISHED[10])),
        }

    return carry_out(
        {"task": "anbncn", "n_max": n_max, "preset": preset, "solver": solver, "readout": readout}, one,
        _model(preset, solver, readout, n_generations), statistics,
        runs=runs, seed=seed, n_jobs=n_jobs, progress=progress, test_max=test_max,
    )  # fmt: skip

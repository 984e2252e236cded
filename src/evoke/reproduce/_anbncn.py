"""The paper's first experiment (section 3.1): the context-sensitive language a^n b^n c^n."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from evoke import tasks
from evoke._validation.parameters import check_integer
from evoke.estimators import EvokeClassifier
from evoke.evolution.run import Callback
from evoke.reproduce._runs import Progress, carry_out, check_run, check_runs, timed_fit
from evoke.reproduce._statistics import quartiles
from evoke.reproduce.presets import anbncn_parameters

__all__ = ["LARGEST_N_MAX", "LONG_STRINGS", "PUBLISHED", "anbncn", "run_anbncn"]

# Table 1 of the paper: the longest accepted string, mean of 20 runs, by the longest training string.
PUBLISHED: dict[int, dict[str, int]] = {
    10: {"G-LSTM": 29, "PI-Evolino": 53, "Evoke": 257},
    20: {"G-LSTM": 67, "PI-Evolino": 95, "Evoke": 374},
}

# Single long strings that every run is tested on as well.
LONG_STRINGS = (10_000, 100_000, 1_000_000)

# The number of points, n_max (3 n_max + 5) / 2, grows with the square of n_max, the kernel matrix with its fourth
# power. With 100, the matrix of all 15,250 points would take 1.7 GiB, and that of the training half takes 115 MiB in
# every concurrent run. Far beyond 100, nothing fits into memory.
LARGEST_N_MAX = 100


def _model(preset: str, solver: str, readout: str, n_generations: int | None, **others: Any) -> EvokeClassifier:
    parameters = anbncn_parameters(preset, readout) | {"solver": solver, "n_jobs": 1} | others
    if n_generations is not None:
        parameters["n_generations"] = n_generations
    return EvokeClassifier(**parameters)


def _check_run(
    seed: Any, n_max: Any, preset: Any, solver: Any, readout: Any, n_generations: Any, test_max: Any
) -> None:
    check_integer("n_max", n_max, 2, LARGEST_N_MAX)
    check_integer("test_max", test_max, 1, tasks.MOST_COUNT)
    check_run(seed, preset, solver, readout, n_generations)


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
    """One run on a^n b^n c^n: evolve on the strings n = 1..n_max, then measure how far the model generalises.

    Parameters
    ----------
    seed : int
        Seed of the run: the ``random_state`` of the classifier.
    n_max, preset, solver, readout, n_generations, test_max
        As in `anbncn`.
    callbacks : iterable of callables, optional
        Passed to `EvokeClassifier`.

    Returns
    -------
    dict
        ``seed``; ``accepted``, the largest m such that all strings n = 1..m are accepted; ``fitness``, that of the best
        network, None if it is not finite; ``generations`` and ``evaluations``, their numbers; ``seconds``, the duration
        of the evolution; ``spot``, whether single long strings are accepted, by their n.
    """
    _check_run(seed, n_max, preset, solver, readout, n_generations, test_max)
    X, y = tasks.anbncn(n_max)
    model = _model(preset, solver, readout, n_generations, random_state=seed, callbacks=callbacks)
    evolution = timed_fit(model, X, y)
    return {
        "seed": seed,
        "accepted": tasks.anbncn_accepted(model, test_max),
        **evolution,
        "spot": {str(n): tasks.anbncn_accepts(model, n) for n in LONG_STRINGS},
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
        The training strings are n = 1..n_max; the second half of them is used for validation.
    runs : int, default=20
        Number of runs.
    seed : int, default=0
        The runs have the seeds ``seed, ..., seed + runs - 1``.
    preset : {"paper", "tuned"}, default="tuned"
        The parameters of the paper, or ours; see `anbncn_parameters`.
    solver : {"auto", "native", "thundersvm"}, default="auto"
        What trains the support vector machines of ``readout="svm"``.
    readout : {"svm", "lssvm", "pinv"}, default="svm"
        Support vector machines (Evoke), least-squares support vector machines, or the pseudoinverse (PI-Evolino).
    n_jobs : int, default=1
        Number of concurrent runs, in threads or on the backend chosen with `joblib.parallel_config`. The results do not
        depend on it.
    n_generations : int, optional
        Number of generations. By default, that of the preset.
    test_max : int, default=2000
        Largest n of the test. A run that accepts all strings up to it is "at the cap": its true value is not known.
    progress : callable, optional
        Called with what is known about a run (seed, status, fitness, generations, ...) after each of its generations
        and at its end, from the thread of the run. On backends other than threads, only at its end.

    Returns
    -------
    dict
        Ready for JSON. ``runs`` holds the finished runs as `run_anbncn` returns them, ``unfinished`` those that failed
        or were interrupted, with the reason and the best network so far. The statistics are over ``runs``; they are
        None if it is empty.

    Raises
    ------
    ParameterError
        An argument out of range.
    RuntimeError
        ``solver="thundersvm"``, but the library cannot be used.
    Interrupted
        On Ctrl-C, with the result so far.
    """
    check_runs(runs, n_jobs, progress)
    _check_run(seed, n_max, preset, solver, readout, n_generations, test_max)

    def run_one(seed: int, callbacks: list[Callback]) -> dict[str, Any]:
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
        {"task": "anbncn", "n_max": n_max, "preset": preset, "solver": solver, "readout": readout}, run_one,
        _model(preset, solver, readout, n_generations), statistics,
        runs=runs, seed=seed, n_jobs=n_jobs, progress=progress, test_max=test_max,
    )  # fmt: skip

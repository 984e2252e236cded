"""The paper's second experiment (section 3.2): superimposed sine waves, continued by a network left to itself."""

from __future__ import annotations

import time
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_scalar

from evoke import tasks
from evoke.estimators import EvokeForecaster
from evoke.evolution.run import Callback
from evoke.reproduce._seeds import Progress, carry_out, check_arguments, finite, quartiles
from evoke.reproduce.presets import sines_parameters
from evoke.tasks import FREQUENCIES, SINES_SPLIT

__all__ = ["PUBLISHED_SSE", "WINDOW", "run_sines", "sines"]

# Section 3.2 of the paper: summed squared error over the 300 points of the test, mean of 20 runs.
PUBLISHED_SSE = {"PI-Evolino": 0.003, "Evoke": 0.021}

# Values that the linear predictor beside our results sees.
WINDOW = 40


def _model(
    waves: int, preset: str, solver: str, readout: str, n_generations: int | None, **others: Any
) -> EvokeForecaster:
    parameters = sines_parameters(preset, readout, waves) | {"solver": solver, "n_jobs": 1} | others
    if n_generations is not None:
        parameters["n_generations"] = n_generations
    # the steps behind the washout are halved: training up to SINES_SPLIT.train_end, validation from there
    return EvokeForecaster(**parameters, washout=SINES_SPLIT.washout, validation="half")


def _squared_error(true: Any, generated: Any) -> float:
    with np.errstate(over="ignore"):
        return float(((generated - true) ** 2).sum())


def run_sines(
    seed: int,
    waves: int = 2,
    preset: str = "tuned",
    solver: str = "auto",
    readout: str = "svm",
    n_generations: int | None = None,
    callbacks: Iterable[Callback] | None = None,
) -> dict[str, Any]:
    """One run on superimposed sines: evolve on y(1..700), then continue to y(1000) from the network's own output.

    Parameters
    ----------
    seed : int
        Seed of the run, as ``random_state`` of the forecaster.
    waves, preset, solver, readout, n_generations
        As in `sines`.
    callbacks : iterable of callables, optional
        Passed on to `EvokeForecaster`.

    Returns
    -------
    dict
        ``seed``; ``sse``, the summed squared error of the 300 values generated, and ``nrmse``, its root relative to
        the variance of the series, both None if the run diverges; ``one_step_sse``, that of the same 300 values
        predicted one step ahead from the true ones before; ``fitness`` of the best network; ``generations``;
        ``evaluations``; ``seconds`` of the evolution; ``generated``, the values, None if the run diverges.
    """
    y = tasks.superimposed_sines(waves, SINES_SPLIT.test_end)
    known, test = np.split(y, [SINES_SPLIT.validation_end])
    model = _model(waves, preset, solver, readout, n_generations, random_state=seed, callbacks=callbacks)
    begin = time.perf_counter()
    model.fit(known)
    seconds = time.perf_counter() - begin
    try:
        generated = model.generate(len(test))
        sse = finite(_squared_error(test, generated))
    except FloatingPointError:
        sse = None
    return {
        "seed": seed,
        "sse": sse,
        "nrmse": None if sse is None else tasks.nrmse(test, generated),
        "one_step_sse": finite(_squared_error(test, model.predict_one_step(y)[len(known) :])),
        "fitness": finite(model.best_fitness_),
        "generations": len(model.history_),
        "evaluations": int(model.n_evaluations_),
        "seconds": seconds,
        "generated": None if sse is None else generated.tolist(),
    }


def sines(
    *,
    waves: int = 2,
    runs: int = 20,
    seed: int = 0,
    preset: str = "tuned",
    solver: str = "auto",
    readout: str = "svm",
    n_jobs: int = 1,
    n_generations: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The paper's second experiment (section 3.2): y(t) = sin(0.2 t) + sin(0.311 t), continued in a free run.

    The readout is trained on t = 101..400, the fitness adds the error on t = 401..700; the test is a free run over
    t = 701..1000 of the network that was told the true series before.

    Parameters
    ----------
    waves : int, default=2
        Sines superimposed, 1 to 8.
    runs, seed, preset, solver, readout, n_jobs, n_generations, progress
        As in `anbncn`.

    Returns
    -------
    dict
        Ready for JSON. ``runs`` holds the finished runs as `run_sines` gives them without the values generated, which
        ``free_run`` has for the run that is closest to the median. ``unfinished`` as in `anbncn`. A run that diverges
        counts in the statistics with an infinite error, and what is infinite is None; ``n_diverged`` of them.
        ``linear_window_sse`` is the error of a linear predictor: what the task asks for at most.

    Raises
    ------
    TypeError, ValueError, RuntimeError, Interrupted
        As in `anbncn`.
    """
    check_scalar(waves, "waves", Integral, min_val=1, max_val=len(FREQUENCIES))
    check_arguments(runs, seed, preset, solver, readout, n_jobs, n_generations)

    def one(seed: int, callbacks: list[Callback]) -> dict[str, Any]:
        return run_sines(seed, waves, preset, solver, readout, n_generations, callbacks)

    y = tasks.superimposed_sines(waves, SINES_SPLIT.test_end)
    known, test = np.split(y, [SINES_SPLIT.validation_end])
    linear = tasks.linear_window(y, len(known), len(test), WINDOW)

    def statistics(finished: list[dict[str, Any]]) -> dict[str, Any]:
        return _statistics(finished) | {
            "published": PUBLISHED_SSE if waves == 2 else dict.fromkeys(PUBLISHED_SSE),
            "linear_window_sse": _squared_error(test, linear),
        }

    return carry_out(
        {"task": "sines", "waves": waves, "preset": preset, "solver": solver, "readout": readout}, one,
        _model(waves, preset, solver, readout, n_generations), statistics,
        runs=runs, seed=seed, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip


def _statistics(finished: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean, median, quartiles and worst of the squared errors, and a typical run; takes the values out of the runs."""
    generated = [run.pop("generated") for run in finished]
    sse = [np.inf if run["sse"] is None else run["sse"] for run in finished]
    statistics: dict[str, Any] = dict.fromkeys(
        ("mean_sse", "median_sse", "quartiles_sse", "worst_sse", "mean_one_step_sse", "free_run")
    ) | {"n_diverged": sum(values is None for values in generated)}  # fmt: skip
    if finished:
        low, middle, high = (finite(q) for q in quartiles(sse))
        statistics |= {
            "mean_sse": finite(np.mean(sse)), "median_sse": middle, "quartiles_sse": [low, middle, high],
            "worst_sse": finite(max(sse)),
            "mean_one_step_sse": finite(
                np.mean([np.inf if run["one_step_sse"] is None else run["one_step_sse"] for run in finished])
            ),
        }  # fmt: skip
    order = [k for k in np.argsort(sse, kind="stable") if generated[k] is not None]
    if order:
        # the lower of the two in the middle; of those that do not diverge the worst, if it is among those that do
        typical = order[min((len(finished) - 1) // 2, len(order) - 1)]
        statistics["free_run"] = {"seed": finished[typical]["seed"], "generated": generated[typical]}
    return statistics

"""The paper's second experiment (section 3.2): superimposed sine waves, continued by a network in a free run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from evoke import tasks
from evoke._validation.parameters import check_integer
from evoke.estimators import EvokeForecaster
from evoke.evolution.run import Callback
from evoke.reproduce._runs import Progress, carry_out, check_run, check_runs, timed_fit
from evoke.reproduce._statistics import finite, quartiles
from evoke.reproduce.presets import sines_parameters
from evoke.tasks import FREQUENCIES, SINES_SPLIT

__all__ = ["PUBLISHED_SSE", "WINDOW", "run_sines", "sines"]

# Section 3.2 of the paper: summed squared error over the 300 points of the test, mean of 20 runs.
PUBLISHED_SSE = {"PI-Evolino": 0.003, "Evoke": 0.021}

# Number of past values from which the linear predictor, to which our results are compared, predicts the next.
WINDOW = 40


def _model(
    waves: int, preset: str, solver: str, readout: str, n_generations: int | None, **others: Any
) -> EvokeForecaster:
    parameters = sines_parameters(preset, readout, waves) | {"solver": solver, "n_jobs": 1} | others
    if n_generations is not None:
        parameters["n_generations"] = n_generations
    # the steps after the washout are halved: training up to SINES_SPLIT.train_end, then validation
    return EvokeForecaster(**parameters, washout=SINES_SPLIT.washout, validation="half")


def _squared_error(true: Any, generated: Any) -> float:
    with np.errstate(over="ignore"):
        return float(((generated - true) ** 2).sum())


def _check_run(seed: Any, waves: Any, preset: Any, solver: Any, readout: Any, n_generations: Any) -> None:
    check_integer("waves", waves, 1, len(FREQUENCIES))
    check_run(seed, preset, solver, readout, n_generations)


def run_sines(
    seed: int,
    waves: int = 2,
    preset: str = "tuned",
    solver: str = "auto",
    readout: str = "svm",
    n_generations: int | None = None,
    callbacks: Iterable[Callback] | None = None,
) -> dict[str, Any]:
    """One run on superimposed sines: evolve on y(1..700), then continue to y(1000) in a free run.

    Parameters
    ----------
    seed : int
        Seed of the run: the ``random_state`` of the forecaster.
    waves, preset, solver, readout, n_generations
        As in `sines`.
    callbacks : iterable of callables, optional
        Passed to `EvokeForecaster`.

    Returns
    -------
    dict
        ``seed``; ``sse``, the summed squared error of the 300 generated values, and ``nrmse``, their normalised root
        mean squared error, both None if the free run diverges; ``one_step_sse``, the summed squared error of the same
        300 values if each is predicted from the true ones before it; ``fitness``, that of the best network, None if it
        is not finite; ``generations`` and ``evaluations``, their numbers; ``seconds``, the duration of the evolution;
        ``generated``, the generated values, None if the free run diverges.
    """
    _check_run(seed, waves, preset, solver, readout, n_generations)
    y = tasks.superimposed_sines(waves, SINES_SPLIT.test_end)
    known, test = np.split(y, [SINES_SPLIT.validation_end])
    model = _model(waves, preset, solver, readout, n_generations, random_state=seed, callbacks=callbacks)
    evolution = timed_fit(model, known)
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
        **evolution,
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

    The readout is trained on t = 101..400. The fitness adds the validation error on t = 401..700. The test is a free
    run over t = 701..1000 of the network, which reads the true series up to t = 700.

    Parameters
    ----------
    waves : int, default=2
        Number of superimposed sines, 1 to 8.
    runs, seed, preset, solver, readout, n_jobs, n_generations, progress
        As in `anbncn`.

    Returns
    -------
    dict
        Ready for JSON. ``runs`` holds the finished runs as `run_sines` returns them, but without the generated values.
        ``free_run`` has these values for a typical run, the one closest to the median. ``unfinished`` is as in
        `anbncn`. ``n_diverged`` is the number of free runs that diverged. They count in the statistics with an infinite
        error; infinite values are None. ``linear_window_sse`` is the error of a linear predictor, for comparison.

    Raises
    ------
    ParameterError, RuntimeError, Interrupted
        As in `anbncn`.
    """
    check_runs(runs, n_jobs, progress)
    _check_run(seed, waves, preset, solver, readout, n_generations)

    def run_one(seed: int, callbacks: list[Callback]) -> dict[str, Any]:
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
        {"task": "sines", "waves": waves, "preset": preset, "solver": solver, "readout": readout}, run_one,
        _model(waves, preset, solver, readout, n_generations), statistics,
        runs=runs, seed=seed, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip


def _statistics(finished: list[dict[str, Any]]) -> dict[str, Any]:
    """Statistics of the squared errors, and the free run of a typical run. The runs lose their generated values."""
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
        # the better of the two in the middle, or the worst that does not diverge if those in the middle do
        typical = order[min((len(finished) - 1) // 2, len(order) - 1)]
        statistics["free_run"] = {"seed": finished[typical]["seed"], "generated": generated[typical]}
    return statistics

"""Yearly sunspot numbers, 1700 to 2008: predicted one year ahead, and 22 years ahead from a method's own output.

The split is that of the literature since Weigend, Huberman and Rumelhart (1990): methods learn from 1700 to 1920 and
predict 1921 to 1955 and 1956 to 1979 one year ahead. Errors are mean squares divided by 1535, in the literature the
variance from 1700 to 1979 (in this edition of the series it is 1496). We add 1980 to 2008. No method learns from
anything after 1920.

How settings are chosen: every method has a short list of candidates, some of which take the square root of the series.
Each candidate learns from 1700 to 1840 and predicts the next 40 years, one year ahead, then learns from 1700 to 1880
and predicts the next 40. The least mean squared error wins, and among equals the one named first. The candidates for
evoke are the best of a random search by the same measure, which ends in 1920 too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from evoke import EvokeForecaster
from harness import peer

VARIANCE = 1535.0
FIRST_YEAR = 1700
LEARN_TO = 1920
PERIODS = {"1921-1955": (1921, 1955), "1956-1979": (1956, 1979), "1980-2008": (1980, 2008), "1921-2008": (1921, 2008)}
HORIZON = 22  # two cycles
FIRST_CV_SEED = 1000  # the test uses 0, 1, ...
CV_SEEDS = 2
WASHOUT = 12  # years at the beginning that are neither trained on nor judged
CRITERION, BEST = "nmse", min  # what settings are chosen by

# One year ahead: the series -> predictions of every year. From its own output: (known years, n) -> the next n years.
# The number of parameters of both.
Predictors = tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray, int], np.ndarray], int]


def load() -> np.ndarray:
    from statsmodels.datasets import sunspots

    return sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()


def forward(y: np.ndarray, scale: str) -> np.ndarray:
    return np.sqrt(y) / 10.0 if scale == "root" else y / 100.0


def backward(z: np.ndarray, scale: str) -> np.ndarray:
    """Sunspot numbers, none below 0."""
    z = np.maximum(z, 0.0)
    return (10.0 * z) ** 2 if scale == "root" else 100.0 * z


# ---------------------------------------------------------------- methods: known values -> predictors


def lagged(z: np.ndarray, seed: int, *, lag: int) -> Predictors:
    """The value `lag` years ago."""
    return (
        lambda z: np.concatenate([np.zeros(lag), z[:-lag]]),
        lambda known, n: np.resize(known[-lag:], n),
        0,
    )


def autoregression(z: np.ndarray, seed: int, *, order: int) -> Predictors:
    from statsmodels.tsa.ar_model import AutoReg

    constant, *weights = AutoReg(z, lags=order).fit().params
    newest_first = np.array(weights)

    def one_step(z):
        windows = np.lib.stride_tricks.sliding_window_view(z[:-1], order)[:, ::-1]
        return np.concatenate([np.zeros(order), constant + windows @ newest_first])

    def free(known, n):
        series = list(known)
        for _ in range(n):
            series.append(constant + newest_first @ series[: -order - 1 : -1])
        return np.array(series[-n:])

    return one_step, free, order + 1


def echo_state(z: np.ndarray, seed: int, *, units: int, lr: float, input_scaling: float, ridge: float) -> Predictors:
    from reservoirpy.nodes import Reservoir, Ridge

    reservoir = Reservoir(units, sr=0.9, lr=lr, input_scaling=input_scaling, seed=seed)
    readout = Ridge(ridge=ridge)

    def states(z):
        if reservoir.initialized:
            reservoir.reset()
        return reservoir.run(z[:, None])

    readout.fit(states(z[:-1])[WASHOUT:], z[WASHOUT + 1 :, None])

    def free(known, n):
        out = [readout.run(states(known)[-1:])[0, 0]]
        while len(out) < n:
            out.append(readout.run(reservoir.run(np.array([[out[-1]]])))[0, 0])
        return np.array(out)

    def one_step(z):
        return np.concatenate([[0.0], readout.run(states(z[:-1]))[:, 0]])

    return one_step, free, peer.size_of_reservoir(reservoir, readout)


def evoke(z: np.ndarray, seed: int, *, held_out: float, **settings: Any) -> Predictors:
    """With `held_out` 0 the networks are judged on the years that their readouts are trained on."""
    model = EvokeForecaster(**settings, washout=WASHOUT, random_state=seed)
    if held_out:
        model.set_params(validation=held_out).fit(z)
    else:
        model.fit(z, y_val=z)

    def free(known, n):
        try:
            return model.generate(n, context=known)
        except FloatingPointError:  # diverged
            return np.full(n, np.inf)

    return model.predict_one_step, free, peer.size_of(model)


SCALES = ("root", "plain")
EVOKE: list[dict[str, Any]] = [
    {"scale": "root", "held_out": 0.0, "readout": "svm", "cell": "lstm", "n_cells": 20, "weight_range": 1.0,
     "feedback_scale": 3.0, "C": 1.0, "gamma": 1.0, "epsilon": 0.1, "mutation_scale": 0.01},
    {"scale": "root", "held_out": 0.3, "readout": "lssvm", "cell": "evolino", "n_cells": 10, "weight_range": 0.5,
     "feedback_scale": 3.0, "C": 100.0, "gamma": 1.0, "mutation_scale": 0.01},
    {"scale": "plain", "held_out": 0.3, "readout": "lssvm", "cell": "lstm", "n_cells": 10, "weight_range": 1.0,
     "feedback_scale": 3.0, "C": 100.0, "gamma": 1.0, "mutation_scale": 0.01},
    {"scale": "plain", "held_out": 0.0, "readout": "pinv", "cell": "lstm", "n_cells": 5, "weight_range": 0.5,
     "feedback_scale": 1.0, "mutation_scale": 0.001},
    {"scale": "plain", "held_out": 0.0, "readout": "svm", "cell": "evolino", "n_cells": 3, "weight_range": 1.0,
     "feedback_scale": 1.0, "C": 100.0, "gamma": 0.25, "epsilon": 0.1, "mutation_scale": 0.01},
]  # fmt: skip
POPULATION = {"subpopulation_size": 10, "n_trials": 3}

CANDIDATES: dict[str, tuple[Callable[..., Predictors], list[dict[str, Any]]]] = {
    "the year before": (lagged, [{"scale": "plain", "lag": 1}]),
    "11 years before": (lagged, [{"scale": "plain", "lag": 11}]),
    "autoregression": (
        autoregression, [{"scale": s, "order": p} for s in SCALES for p in (1, 2, 3, 4, 6, 8, 9, 10, 12)],
    ),
    "reservoirpy": (
        echo_state,
        [
            {"scale": s, "units": u, "lr": lr, "input_scaling": i, "ridge": r}
            for s in SCALES for u in (50, 200) for lr in (0.3, 1.0) for i in (0.3, 1.0) for r in (1e-3, 1e-2, 1e-1)
        ],
    ),
    "evoke, random network": (evoke, [{**s, **POPULATION, "n_generations": 1} for s in EVOKE]),
    "evoke": (evoke, [{**s, **POPULATION, "n_generations": 15} for s in EVOKE]),
}  # fmt: skip


def result(run: dict[str, Any]) -> float:
    """The number by which a benchmark judges a run of `test`."""
    return run["nmse"]["1921-2008"]


def summary(runs: list[dict[str, Any]]) -> str:
    medians = {p: round(float(np.median([run["nmse"][p] for run in runs])), 3) for p in PERIODS}
    return f"one year ahead {medians}, 22 years {[run['free_all'] for run in runs][:3]}"


# ---------------------------------------------------------------- choice and test


def at(year: int) -> int:
    return year - FIRST_YEAR


def learned(
    method: Callable[..., Predictors], settings: dict[str, Any], y: np.ndarray, learn_to: int, seed: int
) -> tuple[np.ndarray, Callable[[int], np.ndarray], int]:
    """Squared errors one year ahead over the variance, by year; forecasts after a last known year; parameters."""
    settings = dict(settings)
    scale = settings.pop("scale")
    z = forward(y, scale)
    one_step, free, size = method(z[: at(learn_to) + 1], seed, **settings)
    errors = (y - backward(one_step(z), scale)) ** 2 / VARIANCE
    return errors, lambda year: backward(free(z[: at(year) + 1], HORIZON), scale), size


def validate(name: str, settings: dict[str, Any]) -> float:
    """Mean squared error of a method over the two folds before 1921."""
    method, y, n_seeds = CANDIDATES[name][0], load(), CV_SEEDS if peer.seeded(name) else 1
    return float(np.mean([
        learned(method, settings, y, end, FIRST_CV_SEED + k)[0][at(end) + 1 : at(end) + 41].mean()
        for end in (1840, 1880) for k in range(n_seeds)
    ]))  # fmt: skip


def test(name: str, settings: dict[str, Any], seeds: list[int], quick: bool) -> list[dict[str, Any]]:
    """Runs: errors one year ahead in every period, and root mean squares of forecasts after every year since 1920."""
    y = load()
    last, made = FIRST_YEAR + len(y) - 1, []
    for seed in seeds:
        begin = time.perf_counter()
        errors, free, size = learned(CANDIDATES[name][0], settings, y, LEARN_TO, seed)
        seconds = time.perf_counter() - begin
        runs = np.array([free(year) - y[at(year) + 1 : at(year) + 1 + HORIZON] for year in range(LEARN_TO, last - 21)])
        by_horizon = np.sqrt((runs**2).mean(axis=0))
        made.append({
            "seed": seed, "nmse": {p: float(errors[at(a) : at(b) + 1].mean()) for p, (a, b) in PERIODS.items()},
            "free": [None if np.isinf(error) else float(error) for error in by_horizon],
            "free_all": None if np.isinf(runs).any() else float(np.sqrt((runs**2).mean())),
            "seconds": seconds, "parameters": size,
        })  # fmt: skip
    return made

"""NARMA-10: values at every step that depend on ten values and inputs before.

y(t + 1) = 0.3 y(t) + 0.05 y(t) (y(t) + ... + y(t - 9)) + 1.5 u(t - 9) u(t) + 0.1 with inputs u uniform in [0, 0.5]
(Atiya and Parlos 2000). Methods read u and give y at every step: 1,000 steps to learn from, and the next 1,000, read on
from there, to be tested on. The result is the root mean square error over the deviation (NRMSE) of those.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evoke import EvokeRegressor
from evoke.tasks import nrmse
from harness import echo
from harness.results import Part

N_TRAIN, N_TEST, WASHOUT, ORDER = 1000, 1000, 100, 10
RESERVOIRS = 20
RIDGES = np.logspace(-8, 2, 11)


@dataclass(frozen=True)
class Method:
    """(u and y to learn from, all of u, seed) -> y at every step of u."""

    values: Callable[[np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]
    package: str | None = None
    seeded: bool = True


def series(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """u (T, 1) and y (T,); for some inputs y grows without end, and then others are drawn."""
    rng, n = np.random.default_rng(seed), WASHOUT + N_TRAIN + N_TEST
    while True:
        u, y = rng.uniform(0.0, 0.5, n), np.zeros(n)
        for t in range(ORDER - 1, n - 1):
            past = y[t - ORDER + 1 : t + 1].sum()
            y[t + 1] = 0.3 * y[t] + 0.05 * y[t] * past + 1.5 * u[t - ORDER + 1] * u[t] + 0.1
            if y[t + 1] > 1.0:
                break
        else:
            # the value at a step depends on the inputs up to the step before
            return u[WASHOUT - 1 : -1, None], y[WASHOUT:]


def evoke(u: np.ndarray, y: np.ndarray, all_of_u: np.ndarray, seed: int) -> np.ndarray:
    return EvokeRegressor(random_state=seed).fit(u, y).predict(all_of_u)


def echo_state(u: np.ndarray, y: np.ndarray, all_of_u: np.ndarray, seed: int) -> np.ndarray:
    """Learns from the first 700 steps and is chosen by the next 300; then the readout learns from all."""
    scaled, cut, best = StandardScaler().fit(u).transform(all_of_u), 7 * len(u) // 10, (np.inf,)
    for settings in echo.candidates(RESERVOIRS):
        states = echo.Reservoir(1, settings, seed).run(scaled)
        model = readout().fit(states[WASHOUT:cut], y[WASHOUT:cut])
        error = np.mean((model.predict(states[cut : len(u)]) - y[cut:]) ** 2)
        if error < best[0]:
            best = error, states
    _, states = best
    return readout().fit(states[WASHOUT : len(u)], y[WASHOUT:]).predict(states)


def readout() -> Any:
    return make_pipeline(StandardScaler(), RidgeCV(RIDGES))


def gradient(u: np.ndarray, y: np.ndarray, all_of_u: np.ndarray, seed: int) -> np.ndarray:
    from harness import gradient_lstm

    scaled, mean, deviation = StandardScaler().fit(u).transform(all_of_u), y.mean(), y.std()
    values = gradient_lstm.regressor(scaled[: len(u)], (y - mean) / deviation, seed)
    return mean + deviation * values(scaled)


def window(u: np.ndarray, y: np.ndarray, all_of_u: np.ndarray, seed: int) -> np.ndarray:
    """Ridge regression on the last 30 inputs: what can be had without memory."""
    width = 30
    padded = np.concatenate([np.zeros(width - 1), all_of_u[:, 0]])
    rows = np.lib.stride_tricks.sliding_window_view(padded, width)
    return readout().fit(rows[: len(u)], y).predict(rows)


METHODS = {
    "evoke": Method(evoke), "echo state network": Method(echo_state), "gradient LSTM": Method(gradient, "torch"),
    "linear window of 30": Method(window),
}  # fmt: skip


def measure(name: str, method: str, seed: int) -> dict[str, Any]:
    u, y = series(seed)
    begin = time.perf_counter()
    values = METHODS[method].values(u[:N_TRAIN], y[:N_TRAIN], u, seed)
    return {"nrmse": float(nrmse(y[N_TRAIN:], values[N_TRAIN:])), "seconds": time.perf_counter() - begin}


NARMA = Part(("NARMA-10",), METHODS, measure)

"""Sequences whose label depends on what was read long ago; every seed draws new ones.

"flag": the first step is +1 or -1, the label, and noise of deviation 0.2 follows for `lag` steps. "latch": four to
eight pulses, each on one of two channels, at random among the first 20 steps; after the last one come `lag` steps of
noise, and its channel is the label. "marked signs": at every step a random sign, and two steps are marked on a second
channel, the first among ten, the second `lag` steps later; the label is the product of the two signs. "temporal order":
task 6a of Hochreiter and Schmidhuber (1997) at their length of 100 and scaled to others: X or Y at two places among
four other symbols, and the label is which of the four pairs it was.
"""

from __future__ import annotations

import numpy as np

from harness.class_sets import Split

N_TRAIN, N_TEST = 100, 200
NOISE = 0.2
LAGS = (10, 30, 100, 300, 1000)


def flag(lag: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    x = NOISE * rng.normal(size=(1 + lag, 1))
    sign = rng.choice([-1, 1])
    x[0] = sign
    return x, sign


def latch(lag: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    n_pulses = rng.integers(4, 9)
    steps = np.sort(rng.choice(20, n_pulses, replace=False))
    channels = rng.integers(0, 2, n_pulses)
    x = NOISE * rng.normal(size=(steps[-1] + 1 + lag, 2))
    x[steps, channels] += 1.0
    return x, channels[-1]


def marked_signs(lag: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    first = rng.integers(0, 10)
    x = np.zeros((lag + 20, 2))
    x[:, 0] = rng.choice([-1.0, 1.0], len(x))
    marked = [first, first + lag]
    x[marked, 1] = 1.0
    return x, int(x[marked, 0].prod())


def temporal_order(length: int, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    symbols = rng.integers(2, 6, length)  # 0: X, 1: Y, 2 to 5: the others
    places = [rng.integers(length // 10, length // 5), rng.integers(length // 2, 3 * length // 5)]
    symbols[places] = rng.integers(0, 2, 2)
    return np.eye(6)[symbols], int(2 * symbols[places[0]] + symbols[places[1]])


TASKS = {
    "flag": (flag, LAGS), "latch": (latch, LAGS), "marked signs": (marked_signs, LAGS),
    "temporal order": (temporal_order, (30, 100)),
}  # fmt: skip
SETS = {f"{name}, {lag}": (task, lag) for name, (task, lags) in TASKS.items() for lag in lags}


def load(name: str, seed: int) -> Split:
    task, lag = SETS[name]
    rng = np.random.default_rng(seed)
    X, y = zip(*(task(lag, rng) for _ in range(N_TRAIN + N_TEST)), strict=True)
    return Split(list(X[:N_TRAIN]), np.array(y[:N_TRAIN]), list(X[N_TRAIN:]), np.array(y[N_TRAIN:]))

"""Echo state networks that read many sequences side by side, as one at a time would take minutes per candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

UNITS = 300


@dataclass(frozen=True)
class Settings:
    """Spectral radius, leak rate and scale of the (standardised) inputs."""

    radius: float
    leak: float
    input_scale: float


def candidates(n: int) -> list[Settings]:
    """The same random settings for every set and seed."""
    rng = np.random.default_rng(0)
    return [
        Settings(rng.uniform(0.3, 1.3), 10.0 ** rng.uniform(-2.0, 0.0), 10.0 ** rng.uniform(-2.0, 0.5))
        for _ in range(n)
    ]


class Reservoir:
    """Leaky units s' = (1 - leak) s + leak tanh(W s + V x + b), with W sparse and scaled to the radius."""

    def __init__(self, n_inputs: int, settings: Settings, seed: int, units: int = UNITS):
        rng = np.random.default_rng(seed)
        W = rng.normal(size=(units, units)) * (rng.random((units, units)) < 0.1)
        self.recurrent = (W * settings.radius / np.abs(np.linalg.eigvals(W)).max()).T
        self.inputs = settings.input_scale * rng.uniform(-1.0, 1.0, (n_inputs, units))
        self.bias = settings.input_scale * rng.uniform(-1.0, 1.0, units)
        self.leak = settings.leak

    def step(self, state: np.ndarray, x: np.ndarray) -> np.ndarray:
        net = state @ self.recurrent + x @ self.inputs + self.bias
        return (1.0 - self.leak) * state + self.leak * np.tanh(net)

    def run(self, x: np.ndarray) -> np.ndarray:
        """States (T, units) on one sequence (T, n_inputs)."""
        states, state = np.empty((len(x), len(self.bias))), np.zeros(len(self.bias))
        for t, row in enumerate(x):
            states[t] = state = self.step(state, row)
        return states

    def last_and_mean(self, X: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The last state and the mean state of every sequence, each (n_sequences, units)."""
        order = np.argsort([-len(x) for x in X], kind="stable")
        lengths = np.array([len(X[i]) for i in order])
        padded = np.zeros((len(X), lengths[0], X[0].shape[1]))
        for k, i in enumerate(order):
            padded[k, : lengths[k]] = X[i]
        state, total = np.zeros((2, len(X), len(self.bias)))
        for t in range(lengths[0]):
            n = np.searchsorted(-lengths, -t, side="left")  # those longer than t, which stand first
            state[:n] = self.step(state[:n], padded[:n, t])
            total[:n] += state[:n]
        last, mean = np.empty((2, *state.shape))
        last[order], mean[order] = state, total / lengths[:, None]
        return last, mean

"""What a network and its readout can answer where the activations are only known to lie in intervals.

The answers hold for every order in which the core adds and for every rounding, with FMA or without: sums are widened by
the a-priori bound of their rounding errors, those of the core and those made here. The core's functions are monotone
but for the error that `csrc/vecmath.h` states; its own values at the ends of an interval, widened by twice that error,
are bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evoke._core.dispatch import apply
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke.readouts import FittedReadout

__all__ = ["Box", "Gates", "Reader", "logistic", "tanh"]

UNIT = 2.0**-53
# Twice the error of logistic, tanh and exp, at most 3 units in the last place, and the rounding of the bounds.
SLACK = 8 * 2.0**-52
# Below the smallest normal number errors are absolute, and tanh of a tiny number has one of them.
TINIEST = 1e-320
# From where on the core's functions give exactly 1, and where the logistic function is as small as it gets.
ONE_LOGISTIC, ONE_TANH, LEAST_LOGISTIC = 36.75, 19.07, -708.0
NEXT_TO_NOTHING = 2e-307

Box = tuple[FloatArray, FloatArray]


def _outwards(low: FloatArray, high: FloatArray) -> Box:
    return low - (SLACK * np.abs(low) + TINIEST), high + (SLACK * np.abs(high) + TINIEST)


def logistic(low: FloatArray, high: FloatArray) -> Box:
    """Bounds of the core's logistic function."""
    below, above = _outwards(apply("logistic", low), apply("logistic", high))
    above = np.where(high <= LEAST_LOGISTIC, NEXT_TO_NOTHING, np.minimum(above, 1.0))
    below = np.where(low <= LEAST_LOGISTIC, 0.0, np.maximum(below, 0.0))
    return np.where(low >= ONE_LOGISTIC, 1.0, below), np.where(high >= ONE_LOGISTIC, 1.0, above)


def tanh(low: FloatArray, high: FloatArray) -> Box:
    """Bounds of the core's tanh."""
    below, above = _outwards(apply("tanh", low), apply("tanh", high))
    below, above = np.where(low == 0.0, 0.0, below), np.where(high == 0.0, 0.0, above)
    ends = []
    for x, y in (low, np.maximum(below, -1.0)), (high, np.minimum(above, 1.0)):
        ends.append(np.where(x >= ONE_TANH, 1.0, np.where(x <= -ONE_TANH, -1.0, y)))
    return ends[0], ends[1]


def products(a: Box, b: Box) -> Box:
    """Bounds of a rounded product: rounding is monotone, so these are the rounded products of ends."""
    ends = np.stack([a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]])
    return ends.min(axis=0), ends.max(axis=0)


@dataclass(frozen=True)
class Gates:
    """Bounds of what the cells add, i z, and of their forget and output gates, each for all cells."""

    added: Box
    forget: Box
    output: Box


@dataclass
class Reader:
    """A network that reads symbols, and its readout."""

    network: Network
    readout: FittedReadout
    gates_of: dict[tuple[int, bytes, bytes], Gates] = field(default_factory=dict)
    decisions_of: dict[tuple[bytes, bytes], Box] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_inputs, n_cells = self.network.n_inputs, self.network.n_cells
        weights = self.network.genome.reshape(n_cells, 4, n_inputs + n_cells)
        self.from_inputs, self.from_cells = weights[:, :, :n_inputs], weights[:, :, n_inputs:]
        self.bias = np.array([0.0, *self.network.gate_bias])

    def gates(self, symbol: int, phi: Box) -> Gates:
        """Those of a step that reads a symbol, after activations within phi."""
        key = symbol, phi[0].tobytes(), phi[1].tobytes()
        if key not in self.gates_of:
            self.gates_of[key] = self._gates(symbol, phi)
        return self.gates_of[key]

    def _gates(self, symbol: int, phi: Box) -> Gates:
        x = np.full(self.network.n_inputs, -1.0)
        x[symbol] = 1.0
        low, high = _dot(self.from_cells, phi, self.from_inputs @ x + self.bias,
                         np.abs(self.from_inputs).sum(axis=2) + np.abs(self.bias), len(x))  # fmt: skip
        z = low[:, 0], high[:, 0]
        if self.network.cell == "lstm":
            z = tanh(*z)
        i, f, o = (logistic(low[:, k], high[:, k]) for k in (1, 2, 3))
        return Gates(products(i, z), f, o)

    def output(self, o: Box, s: Box) -> Box:
        """Activations from output gates and states."""
        return products(o, tanh(*s)) if self.network.cell == "lstm" else tanh(*products(o, s))

    def decisions(self, phi: Box) -> Box:
        """Bounds of all outputs."""
        key = phi[0].tobytes(), phi[1].tobytes()
        if key not in self.decisions_of:
            self.decisions_of[key] = self._decisions(phi)
        return self.decisions_of[key]

    def _decisions(self, phi: Box) -> Box:
        readout = self.readout
        points, coef, intercept = readout.support_vectors, readout.dual_coef, readout.intercept
        if readout.kernel.name == "linear":
            kernel = _dot(points, phi, np.zeros(len(points)), np.zeros(len(points)), 0)
        else:
            kernel = self._gaussian(points, phi)
        return _dot(coef.T, kernel, intercept, np.abs(intercept), 0)

    def _gaussian(self, points: FloatArray, phi: Box) -> Box:
        below, above = phi[0] - points, phi[1] - points
        farthest = np.maximum(np.abs(below), np.abs(above))
        nearest = np.where((below <= 0) & (above >= 0), 0.0, np.minimum(np.abs(below), np.abs(above)))
        slack = 4 * (points.shape[1] + 6) * UNIT
        most = self.readout.gamma * (farthest**2).sum(axis=1) * (1 + slack) + 1e-300
        least = np.maximum(self.readout.gamma * (nearest**2).sum(axis=1) * (1 - slack) - 1e-300, 0.0)
        low, high = _outwards(apply("exp", -most), apply("exp", -least))
        return np.where(most >= 700.0, 0.0, np.maximum(low, 0.0)), np.where(least >= 700.0, 1e-300, high)


def _dot(weights: FloatArray, values: Box, constant: FloatArray, size: FloatArray, n_more: int) -> Box:
    """Bounds of constant + weights . values; `size` is the sum of absolute values of what the constant is the sum of.

    A sum of n + 1 numbers is wrong by at most n units of the sum of their sizes, to first order; it is made twice.
    """
    positive, negative = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
    low, high = positive @ values[0] + negative @ values[1], positive @ values[1] + negative @ values[0]
    size = size + np.abs(weights) @ np.maximum(np.abs(values[0]), np.abs(values[1]))
    # each end is the sum of two products of matrices, hence twice the number of terms
    slack = 4 * (weights.shape[-1] + n_more + 8) * UNIT * size + 1e-300
    return constant + low - slack, constant + high + slack

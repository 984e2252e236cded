"""One leave-one-out evaluation of a network on sequences with a class each, by evoke and by NumPy.

A network reads the sequences, statistics of its activations are the features, and least-squares machines on these are
trained for every pair of kernel width and C; the best by exact leave-one-out gives the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

from evoke.lstm import forward
from harness.core import FloatArray, LeaveOneOutProblem

N, STEPS, INPUTS, CELLS, CLASSES = 100, 100, 2, 10, 3
WIDTHS, CAPACITIES = (0.3, 1.0, 3.0), (1.0, 10.0, 100.0, 1000.0)
POOL = ("last", "mean", "std", "max", "min", "positive", "change")
GATE_BIAS = (0.0, 2.0, 0.0)
EVOKE, HALF, PLAIN = "evoke", "NumPy after evoke's forward pass", "NumPy"


def data(n: int = N) -> tuple[FloatArray, FloatArray]:
    """Noise (n, STEPS, INPUTS), whose level tells the class in part, and targets (n, CLASSES) of -1 and 1."""
    rng = np.random.default_rng(0)
    y = np.arange(n)[:, None] % CLASSES
    return rng.normal(size=(n, STEPS, INPUTS)) + 0.2 * y[:, None], np.where(y == np.arange(CLASSES), 1.0, -1.0)


def genomes(size: int) -> FloatArray:
    return np.random.default_rng(1).uniform(-1.0, 1.0, (size, CELLS, 4 * (INPUTS + CELLS)))


def problem_of(X: FloatArray, targets: FloatArray) -> LeaveOneOutProblem:
    grid = {"widths": WIDTHS, "capacities": CAPACITIES}
    return LeaveOneOutProblem(list(X), targets, pool=POOL, gate_bias=GATE_BIAS, **grid)


def evaluators(X: FloatArray, targets: FloatArray) -> dict[str, Callable[[FloatArray], FloatArray]]:
    """Functions from genomes to losses (n_networks,)."""
    problem, listed = problem_of(X, targets), list(X)

    def half(genomes: FloatArray) -> FloatArray:
        read = (np.array(forward(genome, listed, gate_bias=GATE_BIAS)) for genome in genomes)
        return np.array([choose(pooled(phi), targets) for phi in read])

    def plain(genomes: FloatArray) -> FloatArray:
        return np.array([choose(pooled(activations(genome, X)), targets) for genome in genomes])

    return {EVOKE: problem.evaluate, HALF: half, PLAIN: plain}


# ---------------------------------------------------------------- in NumPy


def activations(genome: FloatArray, X: FloatArray) -> FloatArray:
    """(n, T, H) of one network on sequences (n, T, I), all sequences at once."""
    n_cells, n_inputs = len(genome), X.shape[2]
    weights = genome.reshape(n_cells, 4, -1).transpose(1, 0, 2).reshape(4 * n_cells, -1).T
    from_inputs = X @ weights[:n_inputs] + np.repeat([0.0, *GATE_BIAS], n_cells)
    recurrent = np.ascontiguousarray(weights[n_inputs:])
    state, output = np.zeros((len(X), n_cells)), np.zeros((len(X), n_cells))
    phi = np.empty((len(X), X.shape[1], n_cells))
    for t in range(X.shape[1]):
        net = from_inputs[:, t] + output @ recurrent
        gates = expit(net[:, n_cells:])
        state *= gates[:, n_cells : 2 * n_cells]
        state += gates[:, :n_cells] * np.tanh(net[:, :n_cells])
        output = gates[:, 2 * n_cells :] * np.tanh(state)
        phi[:, t] = output
    return phi


def pooled(phi: FloatArray) -> FloatArray:
    """Features (n, 7 H) of activations (n, T, H), standardised."""
    change = np.abs(np.diff(phi, axis=1)).mean(axis=1)
    parts = [phi[:, -1], phi.mean(1), phi.std(1), phi.max(1), phi.min(1), (phi > 0.0).mean(1), change]
    features = np.concatenate(parts, axis=1)
    deviation = features.std(axis=0)
    deviation[deviation == 0.0] = np.inf
    return (features - features.mean(axis=0)) / deviation


def choose(features: FloatArray, targets: FloatArray) -> float:
    """The least loss of the grid."""
    n = len(features)
    squares = (features**2).sum(axis=1)
    distances = np.maximum(0.0, squares[:, None] + squares - 2.0 * features @ features.T)
    mean = distances.sum() / (n * (n - 1))
    return min(
        loss(leave_one_out(K, targets, C), targets)
        for K in (np.exp(-width / mean * distances) for width in WIDTHS)
        for C in CAPACITIES
    )


def leave_one_out(K: FloatArray, targets: FloatArray, C: float) -> FloatArray:
    """Decisions (n, n_outputs) about each point by machines that were trained without it."""
    n = len(K)
    bordered = np.ones((n + 1, n + 1))
    bordered[:n, :n] = K
    bordered.flat[: n * (n + 2) : n + 2] += 1.0 / C
    bordered[n, n] = 0.0
    inverse = np.linalg.inv(bordered)[:n, :n]
    return targets - inverse @ targets / inverse.diagonal()[:, None]


def loss(decisions: FloatArray, targets: FloatArray) -> Any:
    return (np.maximum(0.0, 1.0 - targets * decisions) ** 2).sum()

"""What evoke computes, written with NumPy and scikit-learn as a user would do it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

FloatArray = NDArray[np.float64]


def forward(genome: FloatArray, x: FloatArray, gate_bias: tuple[float, float, float]) -> FloatArray:
    """Activations (T, H) of one network (H, 4 (I + H)) on one sequence (T, I)."""
    n_cells = len(genome)
    weights = genome.reshape(n_cells, 4, -1).transpose(1, 0, 2).reshape(4 * n_cells, -1)
    bias = np.repeat([0.0, *gate_bias], n_cells)
    state, output = np.zeros(n_cells), np.zeros(n_cells)
    activations = np.empty((len(x), n_cells))
    for t, u in enumerate(x):
        net = weights @ np.concatenate([u, output]) + bias
        gates = expit(net[n_cells:])
        state = gates[:n_cells] * np.tanh(net[:n_cells]) + gates[n_cells : 2 * n_cells] * state
        output = gates[2 * n_cells :] * np.tanh(state)
        activations[t] = output
    return activations


def forward_population(genomes: FloatArray, x: FloatArray, gate_bias: tuple[float, float, float]) -> FloatArray:
    """Activations (n_networks, T, H) of a population on one sequence, all networks at once."""
    n_networks, n_cells = genomes.shape[:2]
    weights = genomes.reshape(n_networks, n_cells, 4, -1).transpose(0, 2, 1, 3).reshape(n_networks, 4 * n_cells, -1)
    bias = np.repeat([0.0, *gate_bias], n_cells)
    from_inputs = np.matmul(x, weights[:, :, : x.shape[1]].transpose(0, 2, 1)) + bias
    recurrent = weights[:, :, x.shape[1] :]
    state, output = np.zeros((n_networks, n_cells)), np.zeros((n_networks, n_cells))
    activations = np.empty((n_networks, len(x), n_cells))
    for t in range(len(x)):
        net = from_inputs[:, t] + np.matmul(recurrent, output[:, :, None])[:, :, 0]
        gates = expit(net[:, n_cells:])
        state = gates[:, :n_cells] * np.tanh(net[:, :n_cells]) + gates[:, n_cells : 2 * n_cells] * state
        output = gates[:, 2 * n_cells :] * np.tanh(state)
        activations[:, t] = output
    return activations


def evaluate(
    genome: FloatArray,
    X: list[FloatArray],
    y: list[NDArray[np.int64]],
    n_train: int,
    gate_bias: tuple[float, float, float],
    **svc: float,
) -> FloatArray:
    """Errors (4,) of one network: hinge on the strings X[:n_train] and on the others, wrong decisions on both."""
    phi = [forward(genome, x, gate_bias) for x in X]
    parts = [(np.concatenate(phi[k]), 2 * np.concatenate(y[k]) - 1) for k in (slice(n_train), slice(n_train, None))]
    errors = np.zeros(4)
    for output in range(y[0].shape[1]):
        machine = SVC(**svc).fit(parts[0][0], parts[0][1][:, output])
        for k, (rows, labels) in enumerate(parts):
            decisions = machine.decision_function(rows)
            errors[k] += np.maximum(0.0, 1.0 - labels[:, output] * decisions).sum()
            errors[2 + k] += ((decisions > 0) != (labels[:, output] > 0)).sum()
    return errors


def dual_and_gap(
    machine: SVC, X: FloatArray, y: NDArray[np.int64], C: float, gamma: float
) -> tuple[float, float]:
    """Dual objective of a machine fitted to classes 0 and 1, in double precision, and its gap to the primal."""
    beta = np.zeros(len(X))
    beta[machine.support_] = machine.dual_coef_[0]
    labels = 2.0 * y - 1.0
    product = rbf_kernel(X, gamma=gamma) @ beta
    loss = np.maximum(0.0, 1.0 - labels * (product + machine.intercept_[0])).sum()
    dual = labels @ beta - 0.5 * beta @ product
    return float(dual), float(0.5 * beta @ product + C * loss - dual)


def dual_of_regression(machine: SVR, X: FloatArray, y: FloatArray) -> float:
    """Dual objective of a fitted regression machine, which is maximised, in double precision."""
    beta = np.zeros(len(y))
    beta[machine.support_] = np.ravel(machine.dual_coef_)
    K = rbf_kernel(X, gamma=machine.gamma)
    return float(y @ beta - machine.epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta)

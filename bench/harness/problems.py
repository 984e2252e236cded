"""The problems that are timed: a^n b^n c^n with networks of three origins, and single support vector machines."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from evoke import ESP, EvokeClassifier, tasks
from evoke.evolution.problem import Problem, merge_points
from evoke.lstm import forward
from evoke.readouts import SVMReadout
from evoke.reproduce import PRESETS
from evoke.sequences.containers import as_sequences
from evoke.sequences.prefixes import share_prefixes

FloatArray = NDArray[np.float64]

N_INPUTS = 4
N_CELLS, GATE_BIAS, C = (PRESETS["paper"][name] for name in ("n_cells", "gate_bias", "C"))
# Where networks come from: the first generation of either preset, the last one of a run with the tuned preset.
ORIGINS = ("paper", "tuned", "evolved")
TOL = 1e-3
TIGHT = 1e-6  # for comparing what is computed
GAMMA = 0.25


def gamma_of(origin: str) -> float:
    return PRESETS["paper" if origin == "paper" else "tuned"]["gamma"]


def anbncn(n_max: int, gamma: float, tol: float = TOL) -> Problem:
    """The strings 1..n_max, the second half for validation, as `EvokeClassifier.fit` sets it up."""
    X, y = tasks.anbncn(n_max)
    sequences = as_sequences(X)
    runs = share_prefixes(sequences)
    targets = 2.0 * np.concatenate(y) - 1.0
    cut = sequences.offsets[n_max - n_max // 2]
    train, validation = (merge_points(runs.row_of[part], targets[part]) for part in (slice(cut), slice(cut, None)))
    readout = SVMReadout(gamma=gamma, C=C, tol=tol, solver="native")
    return Problem(runs, train, validation, "lstm", GATE_BIAS, readout, "hinge", False)


@functools.cache
def networks(n_max: int, origin: str, n_generations: int = 50) -> FloatArray:
    """A generation of 200 genomes (200, n_cells, 4 (n_inputs + n_cells))."""
    if origin != "evolved":
        length = 4 * (N_INPUTS + N_CELLS)
        return ESP([length] * N_CELLS, weight_range=PRESETS[origin]["weight_range"], random_state=0).ask()
    engine = []
    parameters = PRESETS["tuned"] | {"n_generations": n_generations, "random_state": 0}
    EvokeClassifier(**parameters, callbacks=[lambda _, esp: engine.append(esp)]).fit(*tasks.anbncn(n_max))
    return engine[-1].ask()


def with_solver(problem: Problem, solver: str) -> Problem:
    return replace(problem, readout=replace(problem.readout, solver=solver))


def tanh_features(n: int, seed: int) -> tuple[FloatArray, NDArray[np.int64], float]:
    """Rows (n, 5) like activations, labels 0 and 1 of which every tenth is drawn anew, and gamma."""
    rng = np.random.default_rng(seed)
    X = np.tanh(rng.normal(size=(n, 5)) @ rng.normal(size=(5, 5)))
    y = X @ rng.normal(size=5) + X[:, 0] * X[:, 1] > 0
    y = np.where(rng.random(n) < 0.1, rng.random(n) < 0.5, y)
    y[:2] = False, True
    return X, y.astype(np.int64), 0.25


def rows(n: int, d: int, seed: int = 0) -> FloatArray:
    """Rows (n, d) like activations: within -1 and 1."""
    return np.tanh(np.random.default_rng(seed).normal(size=(n, d)))


def values(n: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Rows (n, 5) like activations and a smooth function of them with noise of 0.1."""
    rng = np.random.default_rng(seed)
    X = rows(n, 5, seed)
    return X, np.sin(3.0 * X @ rng.normal(size=5)) + X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n)


def activations(n: int, seed: int) -> tuple[FloatArray, NDArray[np.int64], float]:
    """As `tanh_features`, from a network of the paper's first generation: the first n steps of a^n b^n c^n, one output.

    n = 50, 175 and 475 are all steps of the strings 1..5, 1..10 and 11..20."""
    X, y = tasks.anbncn(range(11, 21) if n == 475 else range(1, 12))
    phi = np.concatenate(forward(networks(10, "paper")[seed], X))
    return phi[:n], np.concatenate(y)[:n, seed % 4], 0.25

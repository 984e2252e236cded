"""The problems that are timed: a^n b^n c^n with networks from three sources, and single support vector machines."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke import ESP, EvokeClassifier, tasks
from evoke.lstm import forward
from evoke.reproduce import PRESETS
from harness import core
from harness.core import FloatArray

N_INPUTS = 4
N_CELLS, GATE_BIAS, C = (PRESETS["paper"][name] for name in ("n_cells", "gate_bias", "C"))
# Where networks come from: the first generation of a preset, or the last one of an evolution with the tuned preset.
ORIGINS = ("paper", "tuned", "evolved")
TOL = 1e-3
TIGHT = 1e-6  # for comparing what is computed
GAMMA = 0.25


def gamma_of(origin: str) -> float:
    return PRESETS["paper" if origin == "paper" else "tuned"]["gamma"]


def anbncn(n_max: int, gamma: float, tol: float = TOL, solver: str = "native", **form: bool) -> core.Problem:
    """The strings 1..n_max, the second half for validation, as `EvokeClassifier.fit` sets it up unless `form` differs.

    `form` is that of `core.problem_of`.
    """
    X, y = tasks.anbncn(n_max)
    shared = {"gate_bias": GATE_BIAS, "gamma": gamma, "C": C, "tol": tol, "solver": solver}
    return core.problem_of(X, y, n_max - n_max // 2, **shared, **form)


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


def some_evaluations(quick: bool, n_networks: int) -> list[tuple[int, str, core.Problem, FloatArray]]:
    """N, origin, problem and that many genomes, for every origin; few where it is to be quick."""
    return [
        (n_max, origin, anbncn(n_max, gamma_of(origin)), networks(n_max, origin, 2 if quick else 50)[:n_networks])
        for n_max in ((4,) if quick else (10, 20))
        for origin in ORIGINS
    ]


def tanh_features(n: int, seed: int) -> tuple[FloatArray, NDArray[np.int64], float]:
    """Rows (n, 5) like activations, labels 0 and 1 of which every tenth is drawn anew, and gamma."""
    rng = np.random.default_rng(seed)
    X = np.tanh(rng.normal(size=(n, 5)) @ rng.normal(size=(5, 5)))
    y = X @ rng.normal(size=5) + X[:, 0] * X[:, 1] > 0
    y = np.where(rng.random(n) < 0.1, rng.random(n) < 0.5, y)
    y[:2] = False, True
    return X, y.astype(np.int64), 0.25


def rows(n: int, d: int, seed: int = 0) -> FloatArray:
    """Rows (n, d) like activations: between -1 and 1."""
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


def fit(machines: Sequence[Any], problems: Sequence[tuple[Any, ...]], k: int) -> None:
    """Train machine k on problem k, both counted round; a problem begins with its rows and their targets."""
    X, y = problems[k % len(problems)][:2]
    machines[k % len(machines)].fit(X, y)

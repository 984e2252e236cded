"""All that the benchmarks take from the inside of evoke: what changes there is followed here and nowhere else.

Kernels are RBF kernels throughout, so that gamma alone describes one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._core import dispatch, kernel, landmarks, lstm, mutation, pooled, qp
from evoke.estimators import fit
from evoke.evolution.archipelago import archipelago
from evoke.evolution.evaluation import evaluate
from evoke.evolution.problem import Objective, Points, Problem, merge_points
from evoke.evolution.workers import evaluator
from evoke.landmarks import spread as spread_rows
from evoke.readouts import LeaveOneOut, SVMReadout
from evoke.sequences.containers import as_sequences
from evoke.sequences.prefixes import Segments, share_prefixes
from evoke.svm import Solution, _solve, _thundersvm

__all__ = [
    "FloatArray", "LeaveOneOutProblem", "Problem", "add_cauchy", "all_rows_at_once", "archipelago", "boxes",
    "decide", "evaluate", "evaluator", "gram", "instruction_sets", "landmark_sums", "machine", "pivots",
    "population", "problem_of", "searched_by", "shrunk", "sizes", "solve_machine", "spread", "thundersvm_available",
    "thundersvm_library", "to_train_on", "to_validate_on", "train_on_landmarks", "train_outputs",
    "train_with_thundersvm", "vector_function",
]  # fmt: skip

FloatArray = NDArray[np.float64]

# ---------------------------------------------------------------- single functions of the core

instruction_sets = dispatch.supported  # () -> names of those that this processor has
vector_function = dispatch.apply  # (name, x) -> exp, tanh, logistic or tanpi of every value
add_cauchy = mutation.add_cauchy  # (chromosomes, scale, bit generator), in place


def _kernel(gamma: float) -> kernel.Kernel:
    return kernel.Kernel("rbf", gamma)


def gram(X: FloatArray, gamma: float) -> FloatArray:
    """The kernel matrix of the rows X (n, d)."""
    return kernel.gram(X, _kernel(gamma))


def decide(X: FloatArray, support_vectors: FloatArray, coef: FloatArray, intercept: FloatArray, gamma: float):
    """Decision values (n, n_outputs) with coefficients (n_support, n_outputs) and intercepts (n_outputs,)."""
    return kernel.decide(X, support_vectors, coef, intercept, _kernel(gamma))


def landmark_sums(X: FloatArray, targets: FloatArray, places: FloatArray, gamma: float) -> FloatArray:
    """Sums, over the rows X, of products of kernel values at the landmarks, a one and the targets: the upper half."""
    sums = landmarks.Sums(_kernel(gamma), places, targets.shape[1])
    sums.add(X, targets)
    used = len(places) + 1 + targets.shape[1]
    return sums.total[:used, :used]


def pivots(X: FloatArray, m: int, gamma: float) -> FloatArray:
    """Rows of X, at most m, by pivoted Cholesky factorisation of their kernel matrix."""
    return X[np.sort(landmarks.pivots(np.ascontiguousarray(X), _kernel(gamma), m, 1e-10))]


def spread(X: FloatArray, m: int, seed: int) -> FloatArray:
    """Rows of X, at most m, by k-means++."""
    return X[spread_rows(X, m, np.random.default_rng(seed))]


def train_on_landmarks(
    X: FloatArray, targets: FloatArray, places: FloatArray, gamma: float, C: float
) -> Callable[[FloatArray], FloatArray]:
    """The decision function of a machine on landmarks."""
    kernel_, places = _kernel(gamma), np.ascontiguousarray(places)
    sums = landmarks.Sums(kernel_, places, targets.shape[1])
    sums.add(X, targets)
    solved = landmarks.solve(sums.total, kernel.gram(places, kernel_), C, targets.shape[1])
    return lambda rows: kernel.decide(rows, places, *solved, kernel_)


# ---------------------------------------------------------------- support vector machines


def boxes(labels: FloatArray, C: float) -> tuple[FloatArray, FloatArray]:
    """Bounds of the signed coefficients in classification with labels -1 and 1."""
    return np.minimum(0.0, C * labels), np.maximum(0.0, C * labels)


def solve_machine(
    X: FloatArray, target: FloatArray, lower: FloatArray, upper: FloatArray, *, gamma: float, tol: float,
    epsilon: float = 0.0,
) -> Solution:  # fmt: skip
    """One machine by the native solver, without the checks of an estimator."""
    options = {"epsilon": epsilon, "tol": tol, "max_iter": -1, "solver": "native"}
    return _solve.solve_targets(X, target, lower, upper, _kernel(gamma), **options)


@contextmanager
def all_rows_at_once() -> Iterator[None]:
    """Machines that are trained meanwhile take all their rows at once, however many they are."""
    usual, _solve.MANY_ROWS = _solve.MANY_ROWS, 2**62
    try:
        yield
    finally:
        _solve.MANY_ROWS = usual


thundersvm_available = _thundersvm.available


def train_with_thundersvm(X: FloatArray, target: FloatArray, *, gamma: float, **parameters: Any) -> FloatArray:
    """Coefficients of one machine as the binding gives them, before our solver looks at them."""
    return _thundersvm.train(X, target, kernel="rbf", gamma=gamma, **parameters)


def thundersvm_library() -> ctypes.CDLL:
    """The library itself, for what the binding does not pass on."""
    return _thundersvm._open(*_thundersvm._locate())


# ---------------------------------------------------------------- evaluation of networks


def problem_of(
    X: Sequence[FloatArray], y: Sequence[NDArray[Any]], n_train: int, *, gate_bias: tuple[float, ...], gamma: float,
    C: float, tol: float, solver: str, shared: bool = True, merged: bool = True,
) -> Problem:  # fmt: skip
    """What `EvokeClassifier.fit` makes of sequences with labels 0 and 1, of which the first n_train are trained on.

    Not `shared`: sequences with a common beginning each start anew. Not `merged`: equal steps remain apart.
    """
    sequences = as_sequences(X)
    segments = share_prefixes(sequences) if shared else _from_the_start(sequences)
    targets = 2.0 * np.concatenate(y) - 1.0
    cut = sequences.offsets[n_train]
    points = merge_points if merged else _one_by_one
    train, validation = (points(segments.row_of[part], targets[part]) for part in (slice(cut), slice(cut, None)))
    readout = SVMReadout(_kernel(gamma), C=C, tol=tol, solver=solver)
    return Problem(segments, train, validation, "lstm", gate_bias, readout, Objective("hinge"))


def _from_the_start(sequences: Any) -> Segments:
    alone = np.full(sequences.n_sequences, -1, dtype=np.int64)
    table = np.stack([sequences.offsets[:-1], sequences.offsets[1:], alone, alone])
    return Segments(sequences.rows, table, np.arange(len(sequences.rows)))


def _one_by_one(rows: NDArray[np.int64], targets: FloatArray) -> Points:
    return Points(rows, np.ones(len(rows)), np.ascontiguousarray(targets.T))


def shrunk(problem: Problem, n_rows: int = 0) -> Problem:
    """The problem reduced to its first step, with `n_rows` more rows of inputs that nothing reads."""
    segments = share_prefixes(as_sequences([problem.segments.rows[:1]]))
    segments = replace(segments, rows=np.concatenate([segments.rows, np.zeros((n_rows, problem.n_inputs))]))
    points = Points(np.zeros(1, dtype=np.int64), np.ones(1), np.ones((len(problem.train.targets), 1)))
    return replace(problem, segments=segments, train=points, validation=points)


def population(problem: Problem, genomes: FloatArray) -> FloatArray:
    """Activations (n_networks, n_rows, n_cells) of all networks on the rows of the problem."""
    return lstm.population(problem.networks(genomes), problem.segments.rows, problem.segments.table)


def sizes(problem: Problem) -> dict[str, int]:
    return {"training points": len(problem.train.rows), "rows": len(problem.segments.rows)}


def to_train_on(problem: Problem, phi: FloatArray) -> FloatArray:
    """The activations of the training points, of those (n_rows, n_cells) of one network on all rows."""
    return phi[problem.train.rows]


def to_validate_on(problem: Problem, phi: FloatArray) -> FloatArray:
    return phi[problem.validation.rows]


def machine(X: FloatArray, gamma: float) -> qp.Machine:
    """A machine of the core on the rows X (n, d), with room for its whole kernel matrix."""
    n = len(X)
    return qp.Machine(X, _kernel(gamma), 8 * n * (n + 8))


def train_outputs(problem: Problem, machine: qp.Machine) -> FloatArray:
    """Coefficients (n_outputs, n) of the machines of all outputs on the training points."""
    readout, train = problem.readout, problem.train
    betas = np.zeros(train.targets.shape)
    bounds = readout.boxes(train.targets, train.weights)
    for beta, target, lower, upper in zip(betas, train.targets, *bounds, strict=True):
        machine.solve(target, lower, upper, 0.0, readout.tol, readout.max_iter, beta)
    return betas


@contextmanager
def searched_by(make: Callable[..., Any] | None) -> Iterator[None]:
    """Estimators that are fitted meanwhile ask the engine of `make(lengths, weight_range, seed)`; None: their own."""
    usual = fit.make_engine

    def other(estimator: Any, problem: Any) -> Any:
        lengths = (4 * (problem.n_inputs + estimator.n_cells),) * estimator.n_cells
        return make(lengths, estimator.weight_range, estimator.random_state)

    fit.make_engine = usual if make is None else other
    try:
        yield
    finally:
        fit.make_engine = usual


# ---------------------------------------------------------------- leave-one-out evaluation of networks


class LeaveOneOutProblem:
    """Sequences of one class each, read by pooled statistics; machines on them judged by exact leave-one-out.

    The loss of a decision is the square of what it lacks to 1 on its side.
    """

    def __init__(
        self, X: Sequence[FloatArray], targets: FloatArray, *, pool: Sequence[str], gate_bias: tuple[float, ...],
        widths: Sequence[float], capacities: Sequence[float],
    ):  # fmt: skip
        self.sequences = as_sequences(X)
        self.pool, self.gate_bias = tuple(pool), gate_bias
        self.points = Points(np.arange(len(X)), np.ones(len(X)), np.ascontiguousarray(targets.T))
        self.readout = LeaveOneOut(widths=tuple(widths), capacities=tuple(capacities))
        self.objective = Objective("squared")

    def networks(self, genomes: FloatArray) -> lstm.Network:
        return lstm.Network(genomes, "lstm", self.gate_bias)

    def features(self, genomes: FloatArray) -> FloatArray:
        """(n_networks, n_sequences, n_features)"""
        rows, offsets = self.sequences.rows, self.sequences.offsets
        return pooled.pooled(self.networks(genomes), rows, offsets, self.pool)

    def choose(self, features: FloatArray) -> float:
        """The least loss of the grid on features (n_sequences, n_features)."""
        return self.readout.choose(features, self.points, self.objective).error

    def evaluate(self, genomes: FloatArray) -> FloatArray:
        """Least losses (n_networks,), all in one call."""
        networks = self.networks(genomes)
        return pooled.evaluate(networks, self.sequences, self.pool, self.points, self.readout, self.objective)[:, 1]

"""A frozen problem (inputs, targets, split, readout, objective) and the pure function genomes -> errors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke import _evaluate, _free_run, _lstm
from evoke.readouts import FittedReadout, Readout
from evoke.sequences import Runs

__all__ = ["LANES", "Points", "Problem", "Team", "evaluate", "fit_readout", "merge_points"]

FloatArray = NDArray[np.float64]

LANES = 8  # networks that the core evaluates side by side


@dataclass(frozen=True)
class Points:
    """Rows on which a readout is trained or judged.

    Attributes
    ----------
    rows : int64 ndarray of shape (n,)
        Indices into the unique rows of the problem.
    weights : ndarray of shape (n,)
        How many steps of the sequences each point stands for, or the sum of their weights.
    targets : ndarray of shape (n_outputs, n)
        +1 and -1, or values to be met in regression.
    """

    rows: NDArray[np.int64]
    weights: FloatArray
    targets: FloatArray


def merge_points(rows: NDArray[np.int64], targets: FloatArray, weights: FloatArray | None = None) -> Points:
    """Points of the steps with unique rows `rows` and targets (n_steps, n_outputs); equal steps become one point.

    A point of weight w is to an SVM what w equal points are: its coefficient is the sum of theirs, its bound w C.
    The steps may have `weights` (n_steps,) themselves; by default each counts once.
    """
    keyed = np.column_stack([rows.astype(np.float64), targets])
    unique, point = np.unique(keyed, axis=0, return_inverse=True)
    return Points(
        unique[:, 0].astype(np.int64), np.bincount(point.ravel(), weights, len(unique)).astype(np.float64),
        np.ascontiguousarray(unique[:, 1:].T),
    )  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """Everything that the fitness of a genome depends on."""

    runs: Runs
    train: Points
    validation: Points
    cell: str
    gate_bias: tuple[float, ...]
    readout: Readout
    objective: str
    exclusive: bool = False  # one class a step, decided by the largest value
    regression: bool = False
    epsilon: float = 0.0  # regression: errors that count and hinge leave free
    free: NDArray[np.int64] | None = None  # (n, 3): runs and row ranges through which networks feed on their own output
    feedback_scale: float = 1.0

    @property
    def n_inputs(self) -> int:
        return self.runs.rows.shape[1]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the whole: two problems with the same digest give a genome the same errors."""
        found = hashlib.sha256()
        for part in _parts(self):
            found.update(part)
        return found.hexdigest()


def _parts(value: Any) -> Iterator[bytes | memoryview]:
    if is_dataclass(value):
        yield type(value).__name__.encode()
        for field in fields(value):
            yield field.name.encode()
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield np.ascontiguousarray(value).data
    else:
        yield repr(value).encode()


class Team:
    """What threads share that evaluate the same genomes: each takes the next few networks until none are left.

    Attributes
    ----------
    errors : ndarray of shape (n_networks, 4)
        NaN where a network is not evaluated yet.
    stop : int64 ndarray of shape (1,)
        Set to non-zero, it ends the work within a network or two.
    """

    def __init__(self, n_networks: int, n_threads: int):
        self.errors = np.full((n_networks, 4), np.nan)
        self.stop = np.zeros(1, dtype=np.int64)
        self._left, self._n_threads, self._lock = n_networks, n_threads, Lock()

    def take(self) -> slice:
        """Networks for the calling thread, empty when there are no more.

        A block of those that the core evaluates side by side; in the end halves, so that no thread waits long for
        another. Half a block costs the forward pass as much as a whole one, but most of the work are the readouts.
        """
        with self._lock:
            first = len(self.errors) - self._left
            n = LANES if self._left > LANES * self._n_threads else LANES // 2
            n = min(n, self._left)
            self._left -= n
        return slice(first, first + n)


def evaluate(problem: Problem, genomes: FloatArray, team: Team | None = None) -> FloatArray:
    """Errors of candidate networks; the paper's two phases for each of them.

    Parameters
    ----------
    problem : Problem
    genomes : ndarray of shape (n_networks, n_cells, 4 * (n_inputs + n_cells))
    team : Team, optional
        Of the threads that evaluate the same genomes together.

    Returns
    -------
    ndarray of shape (n_networks, 4)
        Objective on training and on validation points, wrong decisions on both. Infinite for a network whose
        activations are not finite, NaN for those not evaluated. With a team, the errors of all its threads.
    """
    if problem.readout.fused:
        train, validation = problem.train, problem.validation
        return _evaluate.evaluate_slice(
            np.ascontiguousarray(genomes), problem.runs.rows, problem.runs.table,
            (train.rows, train.weights, train.targets), (validation.rows, validation.weights, validation.targets),
            problem.cell, problem.gate_bias, problem.readout.name,
            problem.readout.parameters(train.targets, train.weights), problem.objective,
            exclusive=problem.exclusive, regression=problem.regression, epsilon=problem.epsilon, free=problem.free,
            feedback_scale=problem.feedback_scale, team=team,
        )  # fmt: skip
    team = Team(len(genomes), 1) if team is None else team
    while (taken := team.take()).start < len(genomes):
        for k in range(taken.start, taken.stop):
            if team.stop[0]:
                return team.errors
            team.errors[k] = _evaluate_one(problem, genomes[k])
    return team.errors


def _evaluate_one(problem: Problem, genome: FloatArray) -> FloatArray:
    """Errors (4,) of one network, in Python."""
    phi = activations(problem, genome[None])[0]
    if not np.isfinite(phi).all():
        return np.full(4, np.inf)
    errors = np.empty(4)
    fitted = problem.readout.fit(phi[problem.train.rows], problem.train.targets, problem.train.weights, warn=False)
    for column, points in enumerate((problem.train, problem.validation)):
        if column == 1 and problem.free is not None:
            decisions = run_free(problem, genome, fitted, phi)
        else:
            decisions = fitted.decide(phi[points.rows])
        for row, objective in ((0, problem.objective), (2, "count")):
            errors[row + column] = error(
                objective, problem.exclusive, points, decisions, problem.regression, problem.epsilon
            )
    return errors if np.isfinite(errors).all() else np.full(4, np.inf)


def run_free(problem: Problem, genome: FloatArray, fitted: FittedReadout, phi: FloatArray) -> FloatArray:
    """Outputs of one network over the free segments of the problem, one after the other."""
    runs, outputs = problem.runs, []
    for parent, begin, end in problem.free:
        rows = slice(*runs.table[:2, parent])
        chain = _lstm.sequences(
            genome, runs.rows[rows], np.array([0, rows.stop - rows.start]), problem.cell, problem.gate_bias
        )
        outputs.append(
            _free_run.run_free_one(
                genome, runs.rows[begin:end], problem.feedback_scale, problem.cell, problem.gate_bias, chain[1][0],
                fitted.support_vectors, fitted.dual_coef, fitted.intercept, fitted.kernel, fitted.gamma, fitted.coef0,
                fitted.degree,
            )[0]
        )  # fmt: skip
    return np.concatenate(outputs)


def activations(problem: Problem, genomes: FloatArray) -> FloatArray:
    """Activations (n_networks, n_unique_rows, n_cells) of networks on the problem's rows."""
    begin, end, parent, slot = problem.runs.table
    return _lstm.population(
        np.ascontiguousarray(genomes), problem.runs.rows, begin, end, parent, slot, problem.cell, problem.gate_bias
    )


def error(
    objective: str,
    exclusive: bool,
    points: Points,
    decisions: FloatArray,
    regression: bool = False,
    epsilon: float = 0.0,
) -> float:
    """Summed error of decisions (n, n_outputs); the core's own version of it is in _evaluate.pyx."""
    targets = points.targets.T
    if regression:
        missing = np.abs(targets - decisions)
        if objective != "squared":
            missing = np.maximum(0.0, missing - epsilon)
        if objective == "count":
            missing = missing > 0
    elif objective == "count":
        if exclusive and targets.shape[1] > 1:
            wrong = targets[np.arange(len(targets)), decisions.argmax(axis=1)] <= 0
            return float(points.weights @ wrong)
        missing = (decisions > 0) != (targets > 0)
    else:
        missing = np.maximum(0.0, 1.0 - targets * decisions)
    return float(points.weights @ (missing**2 if objective == "squared" else missing).sum(axis=1))


def fit_readout(problem: Problem, genome: FloatArray, points: Points | None = None) -> FittedReadout:
    """The readout of one network, trained on `points`; by default on the problem's training points."""
    points = problem.train if points is None else points
    phi = activations(problem, genome[None])[0]
    return problem.readout.fit(phi[points.rows], points.targets, points.weights)

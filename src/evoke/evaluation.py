"""A frozen problem (inputs, targets, split, readout, objective) and the pure function genomes -> errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke import _evaluate, _lstm
from evoke.readouts import FittedReadout, SVMReadout
from evoke.sequences import Runs

__all__ = ["Points", "Problem", "evaluate", "fit_readout", "merge_points"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """Rows on which a readout is trained or judged.

    Attributes
    ----------
    rows : int64 ndarray of shape (n,)
        Indices into the unique rows of the problem.
    weights : ndarray of shape (n,)
        How many steps of the sequences each point stands for.
    targets : ndarray of shape (n_outputs, n)
        +1 and -1.
    """

    rows: NDArray[np.int64]
    weights: FloatArray
    targets: FloatArray


def merge_points(rows: NDArray[np.int64], targets: FloatArray) -> Points:
    """Points of the steps with unique rows `rows` and targets (n_steps, n_outputs); equal steps become one point.

    A point of weight w is to an SVM what w equal points are: its coefficient is the sum of theirs, its bound w C.
    """
    keyed = np.column_stack([rows.astype(np.float64), targets])
    unique, weights = np.unique(keyed, axis=0, return_counts=True)
    return Points(
        unique[:, 0].astype(np.int64), weights.astype(np.float64), np.ascontiguousarray(unique[:, 1:].T)
    )


@dataclass(frozen=True)
class Problem:
    """Everything that the fitness of a genome depends on."""

    runs: Runs
    train: Points
    validation: Points
    cell: str
    gate_bias: tuple[float, ...]
    readout: SVMReadout
    objective: str
    exclusive: bool

    @property
    def n_inputs(self) -> int:
        return self.runs.rows.shape[1]


def evaluate(problem: Problem, genomes: FloatArray, stop: NDArray[np.int64] | None = None) -> FloatArray:
    """Errors of candidate networks; the paper's two phases for each of them.

    Parameters
    ----------
    problem : Problem
    genomes : ndarray of shape (n_networks, n_cells, 4 * (n_inputs + n_cells))
    stop : int64 ndarray of shape (1,), optional
        Set to non-zero by another thread, it ends the evaluation early.

    Returns
    -------
    ndarray of shape (n_networks, 4)
        Objective on training and on validation points, wrong decisions on both; NaN for a network whose activations
        are not finite and for those not evaluated.
    """
    if problem.readout.fused:
        train, validation = problem.train, problem.validation
        return _evaluate.evaluate_slice(
            np.ascontiguousarray(genomes), problem.runs.rows, problem.runs.table,
            (train.rows, train.weights, train.targets), (validation.rows, validation.weights, validation.targets),
            problem.cell, problem.gate_bias, problem.readout.name,
            problem.readout.parameters(train.targets, train.weights), problem.objective,
            exclusive=problem.exclusive, stop=stop,
        )  # fmt: skip
    errors = np.full((len(genomes), 4), np.nan)
    for k, genome in enumerate(genomes):
        if stop is not None and stop[0]:
            break
        phi = activations(problem, genome[None])[0]
        if not np.isfinite(phi).all():
            continue
        fitted = problem.readout.fit(phi[problem.train.rows], problem.train.targets, problem.train.weights)
        for column, points in enumerate((problem.train, problem.validation)):
            decisions = fitted.decide(phi[points.rows])
            for row, objective in ((0, problem.objective), (2, "count")):
                errors[k, row + column] = error(objective, problem.exclusive, points, decisions)
    return errors


def activations(problem: Problem, genomes: FloatArray) -> FloatArray:
    """Activations (n_networks, n_unique_rows, n_cells) of networks on the problem's rows."""
    return _lstm.population(
        np.ascontiguousarray(genomes), problem.runs.rows, *problem.runs.table, problem.cell, problem.gate_bias
    )


def error(objective: str, exclusive: bool, points: Points, decisions: FloatArray) -> float:
    """Summed error of decisions (n, n_outputs); the core's own version of it is in _evaluate.pyx."""
    labels = points.targets.T
    if objective == "count":
        if exclusive and labels.shape[1] > 1:
            wrong = labels[np.arange(len(labels)), decisions.argmax(axis=1)] <= 0
        else:
            wrong = ((decisions > 0) != (labels > 0)).sum(axis=1)
        return float(points.weights @ wrong)
    missing = np.maximum(0.0, 1.0 - labels * decisions)
    return float(points.weights @ (missing if objective == "hinge" else missing**2).sum(axis=1))


def fit_readout(problem: Problem, genome: FloatArray) -> FittedReadout:
    """The readout of one network, trained on the problem's training points."""
    phi = activations(problem, genome[None])[0]
    return problem.readout.fit(phi[problem.train.rows], problem.train.targets, problem.train.weights)

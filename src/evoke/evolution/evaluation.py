"""The pure function genomes -> errors on a frozen problem."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from evoke._core import evaluate as core_evaluate
from evoke._core import free_run, lstm
from evoke.evolution.problem import Points, Problem
from evoke.readouts import FittedReadout

__all__ = ["LANES", "Team", "activations", "evaluate", "fit_readout"]

FloatArray = NDArray[np.float64]

LANES = 8  # networks that the core evaluates side by side


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
        return core_evaluate.evaluate_slice(
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
        chain = lstm.sequences(
            genome, runs.rows[rows], np.array([0, rows.stop - rows.start]), problem.cell, problem.gate_bias
        )
        outputs.append(
            free_run.run_free_one(
                genome, runs.rows[begin:end], problem.feedback_scale, problem.cell, problem.gate_bias, chain[1][0],
                fitted.support_vectors, fitted.dual_coef, fitted.intercept, fitted.kernel, fitted.gamma, fitted.coef0,
                fitted.degree,
            )[0]
        )  # fmt: skip
    return np.concatenate(outputs)


def activations(problem: Problem, genomes: FloatArray) -> FloatArray:
    """Activations (n_networks, n_unique_rows, n_cells) of networks on the problem's rows."""
    begin, end, parent, slot = problem.runs.table
    return lstm.population(
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
    """Summed error of decisions (n, n_outputs); the core's own version of it is in core_evaluate.pyx."""
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

"""The pure function genomes -> errors on a frozen problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock, get_ident
from time import monotonic

import numpy as np

from evoke._core import evaluate as core_evaluate
from evoke._core import free_run, lstm, pooled
from evoke._core.dispatch import LANES
from evoke._validation.arrays import FloatArray
from evoke.evolution.problem import AnyProblem, Objective, Points, PooledProblem, Problem, SplitProblem, StepsProblem
from evoke.readouts import FittedReadout, LandmarkReadout

__all__ = ["WorkQueue", "activations", "evaluate", "fit_readout"]


class WorkQueue:
    """Networks that several threads evaluate together: each takes the next few until none are left, or time is up.

    Parameters
    ----------
    n_networks, n_threads : int
    seconds : float, optional
        Time from now after which no more are taken, once one of them has a finite error.
    listeners : sequence of callables
        Called with the share of networks that have been taken, whenever the thread that made the queue takes some.

    Attributes
    ----------
    errors : ndarray of shape (n_networks, 4)
        NaN where a network is not evaluated yet.
    stop : int64 ndarray of shape (1,)
        Set to non-zero, it ends the work within a network or two.
    """

    def __init__(
        self, n_networks: int, n_threads: int, seconds: float | None = None,
        listeners: Sequence[Callable[[float], None]] = (),
    ):  # fmt: skip
        self.errors = np.full((n_networks, 4), np.nan)
        self.stop = np.zeros(1, dtype=np.int64)
        self._left, self._n_threads, self._lock = n_networks, n_threads, Lock()
        self._end = None if seconds is None else monotonic() + seconds
        self._listeners, self._owner = listeners, get_ident()

    def next_block(self, lanes: int = LANES) -> slice:
        """Networks for the calling thread, empty when there are no more.

        A block of as many as the core evaluates side by side, `lanes`; near the end halves, so that no thread waits
        long for another. Half a block costs the forward pass as much as a whole one, but most of the work is in the
        readouts.
        """
        with self._lock:
            if self._end is not None and monotonic() >= self._end and np.isfinite(self.errors[:, 1]).any():
                self._left = 0
            first = len(self.errors) - self._left
            n = lanes if self._left > lanes * self._n_threads else lanes // 2
            n = min(n, self._left)
            self._left -= n
        if self._listeners and get_ident() == self._owner:
            for listen in self._listeners:
                listen(first / len(self.errors))
        return slice(first, first + n)


def evaluate(problem: AnyProblem, genomes: FloatArray, queue: WorkQueue | None = None) -> FloatArray:
    """Errors of candidate networks; the paper's two phases for each of them.

    Parameters
    ----------
    problem : Problem, PooledProblem, SplitProblem or StepsProblem
    genomes : ndarray of shape (n_networks, n_cells, 4 * (n_inputs + n_cells)), or (n_networks, n)
        End to end where parameters of the readout evolve too.
    queue : WorkQueue, optional
        Of the threads that evaluate the same genomes together.

    Returns
    -------
    ndarray of shape (n_networks, 4)
        Objective on training and on validation points, wrong decisions on both. Infinite for a network whose
        activations are not finite, NaN for those not evaluated. With a queue, the errors of all its threads. Where all
        points are left out in turn, these count as validation points, and none as training points. Of several splits
        the mean.
    """
    if isinstance(problem, SplitProblem):
        return _evaluate_splits(problem, genomes, queue)
    if isinstance(problem, PooledProblem):
        return pooled.evaluate(
            problem.candidates(genomes), problem.inputs, problem.pool, problem.points, problem.readout,
            problem.objective, problem.washout, queue, problem.blocks,
        )  # fmt: skip
    if isinstance(problem, StepsProblem):
        return core_evaluate.evaluate_left_out(
            problem.candidates(genomes), problem.segments, problem.points, problem.blocks, problem.readout,
            problem.objective, queue,
        )  # fmt: skip
    if isinstance(problem.readout, LandmarkReadout):
        return core_evaluate.evaluate_landmarks(
            problem.candidates(genomes), problem.segments, problem.train, problem.validation, problem.readout,
            problem.objective, queue,
        )  # fmt: skip
    if problem.readout.fused:
        return core_evaluate.evaluate(
            problem.candidates(genomes), problem.segments, problem.train, problem.validation, problem.readout,
            problem.objective, problem.free if problem.is_validated_free else None, queue,
            problem.own_parameters(genomes),
        )  # fmt: skip
    return _evaluate_in_python(problem, genomes, queue)


def _evaluate_splits(problem: SplitProblem, genomes: FloatArray, queue: WorkQueue | None) -> FloatArray:
    """The mean errors over the splits, a few networks at a time."""
    queue = WorkQueue(len(genomes), 1) if queue is None else queue
    while (block := queue.next_block(problem.parts[0].candidates(genomes[:1]).lanes)).start < len(genomes):
        errors = []
        for part in problem.parts:
            own = WorkQueue(block.stop - block.start, 1)
            own.stop = queue.stop  # what ends the work of all ends this too
            errors.append(evaluate(part, genomes[block], own))
            if queue.stop[0]:
                return queue.errors
        queue.errors[block] = np.mean(errors, axis=0)
    return queue.errors


def _evaluate_in_python(problem: Problem, genomes: FloatArray, queue: WorkQueue | None) -> FloatArray:
    """The errors with a readout that the core does not train."""
    queue = WorkQueue(len(genomes), 1) if queue is None else queue
    while (block := queue.next_block()).start < len(genomes):
        for k in range(block.start, block.stop):
            if queue.stop[0]:
                return queue.errors
            queue.errors[k] = _evaluate_one(problem, genomes[k])
    return queue.errors


def _evaluate_one(problem: Problem, genome: FloatArray) -> FloatArray:
    """Errors (4,) of one network, in Python."""
    phi = _read(problem.candidates(genome[None]), problem)[0]
    if not np.isfinite(phi).all():
        return np.full(4, np.inf)
    errors = np.empty(4)
    train = problem.train
    fitted = problem.readout_of(genome).fit(phi[train.rows], train.targets, train.weights, warn=False)
    for column, points in enumerate((train, problem.validation)):
        if column == 1 and problem.is_validated_free:
            decisions = run_free(problem, genome, fitted)
        else:
            decisions = fitted.decide(phi[points.rows])
        errors[column] = error(problem.objective, points, decisions)
        errors[2 + column] = error(replace(problem.objective, name="count"), points, decisions)
    return errors if np.isfinite(errors).all() else np.full(4, np.inf)


def run_free(problem: Problem, genome: FloatArray, readout: FittedReadout) -> FloatArray:
    """Outputs of one network over the segments of the free run, one after the other."""
    free, segments, network, outputs = problem.free, problem.segments, problem.networks(genome), []
    if free is None or free.stretches is None:
        raise ValueError("the problem has no free run")
    for parent, begin, end in free.stretches:
        rows = slice(*segments.table[:2, parent])
        _, states = lstm.sequences(network, segments.rows[rows], np.array([0, rows.stop - rows.start]))
        values, _ = free_run.run_free(network, segments.rows[begin:end], states[0], free.feedback_scale, readout)
        outputs.append(values)
    return np.concatenate(outputs)


def activations(problem: Problem | StepsProblem, genomes: FloatArray) -> FloatArray:
    """Activations (n_networks, n_unique_rows, n_cells) of networks on the problem's rows."""
    return _read(problem.networks(genomes), problem)


def _read(networks: lstm.Network, problem: Problem | StepsProblem) -> FloatArray:
    """Activations of networks on the problem's rows: read in their precision, told in double."""
    rows = problem.segments.rows.astype(networks.genome.dtype, copy=False)
    return lstm.population(networks, rows, problem.segments.table).astype(np.float64, copy=False)


def error(objective: Objective, points: Points, decisions: FloatArray) -> float:
    """Summed error of decisions (n, n_outputs); the core's own version of it is in _core/evaluate.pyx."""
    targets = points.targets.T
    if objective.regression:
        missing = np.abs(targets - decisions)
        if objective.name != "squared":
            missing = np.maximum(0.0, missing - objective.epsilon)
        if objective.name == "count":
            missing = missing > 0
    elif objective.name == "count":
        if objective.exclusive and targets.shape[1] > 1:
            wrong = targets[np.arange(len(targets)), decisions.argmax(axis=1)] <= 0
            return float(points.weights @ wrong)
        missing = (decisions > 0) != (targets > 0)
    else:
        missing = np.maximum(0.0, 1.0 - targets * decisions)
    return float(points.weights @ (missing**2 if objective.name == "squared" else missing).sum(axis=1))


def fit_readout(problem: Problem, genome: FloatArray, points: Points | None = None) -> FittedReadout:
    """The readout of one network, trained on `points`; by default on the problem's training points."""
    points = problem.train if points is None else points
    phi = activations(problem, genome[None])[0]
    return problem.readout_of(genome).fit(phi[points.rows], points.targets, points.weights)

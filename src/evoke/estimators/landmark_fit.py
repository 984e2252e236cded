"""Machines on landmarks of features of several networks: chosen on a part of the rows, trained on all in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from evoke._core.kernel import Kernel
from evoke._core.landmarks import Solved
from evoke._validation.arrays import FloatArray
from evoke.evolution.problem import Objective
from evoke.landmarks import (
    CANDIDATES,
    Block,
    Machine,
    add_up,
    at_random,
    mean_distance,
    squared_errors,
    train_machine,
)
from evoke.landmarks.hinge import MOST_SEPARATED, LabelledBlock, best_capacity, separate
from evoke.readouts import FittedReadout, LandmarkReadout
from evoke.sequences.preparation import Scaling, Units

__all__ = ["MOST_KEPT", "Found", "Rows", "fit_on_landmarks", "kept_within", "memory_to_fit"]

# Rows on which machines are trained to choose networks, width and capacity, and rows by which they are judged.
MOST_TRAINED, MOST_JUDGED = 50_000, 20_000

# Passes over all rows in which classes are separated, and when they end before.
PASSES, TOL = 8, 0.01

# Numbers that the features of these rows may be, all in all: 200 MB.
MOST_KEPT = 25_000_000

# All networks are tried, and these parts of them.
PARTS = (1, 4, 16)

# One part in so many is held out to choose by; where that is less than so many rows, these, but at most a third.
HELD_OUT, LEAST_JUDGED = 10, 1_000

# First word of the spawn key of the random rows.
_ROWS = 8


class Rows(Protocol):
    """What machines are trained on: steps, or sequences.

    Attributes
    ----------
    targets : ndarray of shape (n_rows, n_outputs)
    weights : ndarray of shape (n_rows,)
        0: the row does not count.
    part : ndarray of shape (n_rows,), or None
        A number of what is held out as a whole; None: the last rows are held out.
    settled : bool ndarray of shape (n_networks * n_columns,), or None
        Which features can be trusted; None: all.
    n_networks, n_columns : int
        Networks, the best first, and features of each.
    entropy : int
        From which the streams of random numbers are derived.
    """

    targets: FloatArray
    weights: FloatArray
    part: NDArray[np.int64] | None
    settled: NDArray[np.bool_] | None
    n_networks: int
    n_columns: int
    entropy: int

    def blocks(self, n_networks: int, map_: Callable[..., Any]) -> Iterator[tuple[slice, FloatArray]]:
        """Rows and features (n, n_networks * n_columns) of one block after the other, by the first networks."""


class Found(NamedTuple):
    """The best machine.

    Attributes
    ----------
    n_networks : int
        Those that it reads.
    readout : FittedReadout
    scaling : Scaling
        Of the features that it reads.
    judged : int64 ndarray
        Rows by which it was chosen.
    decisions : ndarray of shape (n_judged, n_outputs)
        On these, by a machine that was not trained on them.
    """

    n_networks: int
    readout: FittedReadout
    scaling: Scaling
    judged: NDArray[np.int64]
    decisions: FloatArray


def fit_on_landmarks(
    rows: Rows, grid: LandmarkReadout, units: Units, objective: Objective, map_: Callable[..., Any] = map,
    most_kept: int = MOST_KEPT,
) -> Found:  # fmt: skip
    """Choose networks, width and capacity on a part of the rows, and train the machine on all of them.

    Parameters
    ----------
    rows : Rows
    grid : LandmarkReadout
        Widths and capacities to try, and how many landmarks there may be.
    units : Units
        Of the targets, in which the readout answers.
    objective : Objective
        Of classes a machine on landmarks has the least squared hinge loss, of values the least squared error.
    map_ : callable
        That of a pool of threads, for instance; the bits do not depend on it.
    most_kept : int
        Numbers that the features of the rows by which the choice is made may be.

    Raises
    ------
    ValueError
        No machine could be trained.
    """
    return _kind(grid, objective)(rows, grid, units, objective, map_, most_kept).found()


def memory_to_fit(
    n: int, n_features: int, grid: LandmarkReadout, objective: Objective, n_threads: int, most_kept: int = MOST_KEPT
) -> int:
    """Bytes that `fit_on_landmarks` takes, about, for n rows with so many features by all networks."""
    m, kind = grid.n_landmarks, _kind(grid, objective)
    trained, judged = kind.most_rows(grid, n_features, most_kept)
    features = min(n, trained + judged) * n_features
    kept = min(n, trained) * m if kind is _Separating else 0  # kernel values
    # features of chosen rows and copies of parts of them; sums of a block, a factor and a solution in each thread;
    # what there is of each row
    return 8 * (2 * features + kept + (4 + 4 * n_threads) * m * m + 5 * n)


def kept_within(max_memory: int | None) -> int:
    """Numbers that features of the rows by which machines are chosen may be: with copies, half of the memory."""
    return MOST_KEPT if max_memory is None else max(1, min(MOST_KEPT, max_memory // (4 * 8)))


def _kind(grid: LandmarkReadout, objective: Objective) -> type[_Fit]:
    return _Fit if objective.regression or grid.kernel == "linear" else _Separating


class _Fit:
    """Where one of the networks does by itself what is asked, the others are in its way, so fewer are tried too."""

    most_trained = MOST_TRAINED

    def __init__(
        self, rows: Rows, grid: LandmarkReadout, units: Units, objective: Objective, map_: Callable[..., Any],
        most_kept: int,
    ):  # fmt: skip
        self.rows, self.grid, self.units, self.objective, self.map_ = rows, grid, units, objective, map_
        self.most_kept = most_kept
        self.n_outputs = rows.targets.shape[1]

    @classmethod
    def most_rows(cls, grid: LandmarkReadout, n_features: int, most_kept: int) -> tuple[int, int]:
        """How many rows at most are trained on and judged by to choose."""
        share = min(1.0, most_kept / n_features / (cls.most_trained + MOST_JUDGED))
        return max(int(share * cls.most_trained), CANDIDATES * grid.n_landmarks), max(1, int(share * MOST_JUDGED))

    def found(self) -> Found:
        """The best machine."""
        rows = self.rows
        train, judged = self._chosen_rows()
        features, held = self._features([train, judged])
        scaling = Scaling.of(features, scaled=self.grid.scaled)
        if rows.settled is not None:  # what is left out is constant
            scaling = replace(scaling, inverse=np.where(rows.settled, scaling.inverse, 0.0))
        for values in (features, held):  # they are what most memory goes to
            scaling.apply(values, out=values)
        machines = [
            machine
            for n in sorted({-(-rows.n_networks // part) for part in PARTS})
            for machine in self._machines(features[:, : n * rows.n_columns])
        ]
        tried = self._try(machines, features, train, held, judged)
        best = min(range(len(tried)), key=lambda k: tried[k].error)
        machine, chosen = machines[best], tried[best]
        if chosen.decisions is None:
            raise ValueError("no machine on landmarks could be trained: the activations are not finite")
        d = machine.places.shape[1]
        scaling = Scaling(scaling.mean[:d], scaling.inverse[:d], scaling.limit)
        n = d // rows.n_columns
        coef, intercept, converged = self._train(n, machine, scaling, chosen)
        readout = FittedReadout(
            machine.places, coef, intercept, np.zeros(self.n_outputs), converged, machine.kernel,
        )  # fmt: skip
        decisions = chosen.decisions * self.units.deviation + self.units.mean
        return Found(n, readout, scaling, judged, decisions)

    def _chosen_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows to train on and rows to judge by, for the choice."""
        rows, counted = self.rows, np.flatnonzero(self.rows.weights > 0)
        n = len(rows.weights)
        n_held = max(n // HELD_OUT, min(n // 3, LEAST_JUDGED))
        if rows.part is not None:
            every = max(2, n // max(1, n_held))
            held = rows.part % every == every - 1
        else:
            # the last ones: cells with a long memory would know steps that lie between those trained on
            held = np.arange(n) >= n - n_held
        train, judged = counted[~held[counted]], counted[held[counted]]
        if len(train) == 0 or len(judged) == 0:  # few rows
            train, judged = counted[::2], counted[1::2]
        generator = Generator(PCG64(SeedSequence(rows.entropy, spawn_key=(_ROWS, 0))))
        most = self.most_rows(self.grid, rows.n_networks * rows.n_columns, self.most_kept)
        return at_random(train, most[0], generator), at_random(judged, most[1], generator)

    def _features(self, chosen: list[NDArray[np.int64]]) -> list[FloatArray]:
        """Features by all networks of chosen rows, on the way through all of them."""
        width = self.rows.n_networks * self.rows.n_columns
        found, done = [np.empty((len(which), width)) for which in chosen], [0] * len(chosen)
        for block, values in self.rows.blocks(self.rows.n_networks, self.map_):
            for k, which in enumerate(chosen):
                first, end = np.searchsorted(which, [block.start, block.stop])
                found[k][done[k] : done[k] + end - first] = values[which[first:end] - block.start]
                done[k] += int(end - first)
        return found

    def _machines(self, features: FloatArray) -> list[Machine]:
        """A kernel of each width on the same landmarks, which are chosen among features by the middle width."""
        grid = self.grid
        if grid.kernel == "linear":
            return [Machine.among(features, Kernel("linear"), grid.n_landmarks)]
        mean = mean_distance(features) if grid.relative else 1.0
        kernels = [Kernel("rbf", width / mean) for width in grid.widths]
        places = Machine.among(features, kernels[len(kernels) // 2], grid.n_landmarks).places
        return [Machine(kernel, places) for kernel in kernels]

    def _try(
        self, machines: list[Machine], features: FloatArray, train: NDArray[np.int64], held: FloatArray,
        judged: NDArray[np.int64],
    ) -> list[_Tried]:  # fmt: skip
        return list(self.map_(lambda machine: self._judge(machine, features, train, held, judged), machines))

    def _judge(
        self, machine: Machine, features: FloatArray, train: NDArray[np.int64], held: FloatArray,
        judged: NDArray[np.int64],
    ) -> _Tried:  # fmt: skip
        """The capacity with the least error on the rows that judge."""
        rows, d = self.rows, machine.n_columns
        total = add_up(machine, self.n_outputs, [self._block(features[:, :d], train)])
        held = np.ascontiguousarray(held[:, :d])
        decisions = machine.decisions(total, self.grid.capacities, held, self.n_outputs)
        errors = squared_errors(decisions, rows.targets[judged], rows.weights[judged])
        best = int(errors.argmin())
        if not np.isfinite(errors[best]):
            return _Tried(np.inf, 0.0, None)
        return _Tried(float(errors[best]), self.grid.capacities[best], decisions[best])

    def _train(
        self, n: int, machine: Machine, scaling: Scaling, chosen: _Tried
    ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Coefficients and constants of a machine on all rows by the first n networks, in units of the targets."""
        units = self.units
        solved, converged = self._solve(n, machine, scaling, chosen)
        if solved is None:
            raise ValueError("no machine on landmarks could be trained on all rows: lower C")
        with np.errstate(over="ignore"):
            coef, intercept = solved.dual_coef * units.deviation, solved.intercept * units.deviation + units.mean
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("y is too large: the coefficients of the readout are not finite; scale it")
        return coef, intercept, converged

    def _solve(
        self, n: int, machine: Machine, scaling: Scaling, chosen: _Tried
    ) -> tuple[Solved | None, NDArray[np.bool_]]:
        solved = train_machine(machine, self.n_outputs, self._blocks(n, scaling), chosen.C, self.map_)
        return solved, np.ones(self.n_outputs, dtype=bool)

    def _blocks(self, n: int, scaling: Scaling) -> Iterator[Block]:
        """All rows that count, read by the first n networks."""
        for block, values in self.rows.blocks(n, self.map_):
            here = np.flatnonzero(self.rows.weights[block] > 0)
            yield self._block(scaling.apply(values[here]), here + block.start)

    def _block(self, features: FloatArray, which: NDArray[np.int64]) -> Block:
        weights = self.rows.weights[which]
        roots = None if (weights == 1.0).all() else np.sqrt(weights)
        return np.ascontiguousarray(features), np.ascontiguousarray(self.rows.targets[which]), roots


class _Separating(_Fit):
    """Machines of classes."""

    most_trained = MOST_SEPARATED

    def _try(
        self, machines: list[Machine], features: FloatArray, train: NDArray[np.int64], held: FloatArray,
        judged: NDArray[np.int64],
    ) -> list[_Tried]:  # fmt: skip
        """Of each number of networks the width that does best by least squares, and the linear form."""
        tried = super()._try(machines, features, train, held, judged)
        worst = _Tried(np.inf, 0.0, None)
        for d in sorted({machine.n_columns for machine in machines}):
            which = [k for k, machine in enumerate(machines) if machine.n_columns == d]
            best = min(which, key=lambda k: tried[k].error)
            # where cells remember what decides, what is added up in them is enough
            linear = Machine.among(features[:, :d], Kernel("linear"), self.grid.n_landmarks)
            block, apart = self._block(features[:, :d], train), self._block(held[:, :d], judged)
            for k in which:
                tried[k] = worst
            for machine in machines[best], linear:
                found = best_capacity(
                    machine, block, apart, self.grid.capacities, self.map_, exclusive=self.objective.exclusive
                )
                if found is not None and found.error < tried[best].error:
                    machines[best] = machine
                    tried[best] = _Tried(found.error, found.C, found.decisions, found.solved)
        return tried

    def _solve(
        self, n: int, machine: Machine, scaling: Scaling, chosen: _Tried
    ) -> tuple[Solved | None, NDArray[np.bool_]]:
        def blocks() -> Iterator[LabelledBlock]:
            return (LabelledBlock.of(machine, block) for block in self._blocks(n, scaling))

        if chosen.solved is None:
            raise AssertionError("a machine that was not trained has been chosen")
        found = separate(machine, blocks, chosen.C, chosen.solved, PASSES, TOL, self.map_)
        return found.solved, found.converged


class _Tried(NamedTuple):
    """The least error of a machine on rows that judge, its capacity, its decisions on these rows, and itself."""

    error: float
    C: float
    decisions: FloatArray | None
    solved: Solved | None = None

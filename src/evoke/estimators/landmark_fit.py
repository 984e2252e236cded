"""Machines on landmarks of features of several networks: chosen on a part of the rows, trained on all in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from evoke._core import landmarks
from evoke._core.kernel import Kernel, decide, gram
from evoke._validation.arrays import FloatArray
from evoke.readouts import FittedReadout, LandmarkReadout
from evoke.sequences.preparation import Scaling, Units

__all__ = ["Found", "Rows", "fit_on_landmarks"]

# Rows that landmarks are chosen from, in multiples of their number; rows on which machines are trained to choose
# networks, width and capacity, and rows by which they are judged.
CANDIDATES, MOST_TRAINED, MOST_JUDGED = 4, 50_000, 20_000

# Numbers that the features of these rows may be, all in all: 200 MB.
MOST_KEPT = 25_000_000

# All networks are tried, and these parts of them.
PARTS = (1, 4, 16)

# One part in so many is held out to choose by; where that is less than so many rows, these, but at most a third.
HELD_OUT, LEAST_JUDGED = 10, 1_000

# A row of which the landmarks so far leave less than this of a row's kernel with itself tells nothing new.
TOLERANCE = 1e-10

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
    n_networks, n_columns : int
        Networks, the best first, and features of each.
    entropy : int
        From which the streams of random numbers are derived.
    """

    targets: FloatArray
    weights: FloatArray
    part: NDArray[np.int64] | None
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


def fit_on_landmarks(rows: Rows, grid: LandmarkReadout, units: Units, map_: Callable[..., Any] = map) -> Found:
    """Choose networks, width and capacity on a part of the rows, and train the machine on all of them.

    Parameters
    ----------
    rows : Rows
    grid : LandmarkReadout
        Widths and capacities to try, and how many landmarks there may be.
    units : Units
        Of the targets, in which the readout answers.
    map_ : callable
        That of a pool of threads, for instance; the bits do not depend on it.

    Raises
    ------
    ValueError
        No machine could be trained.
    """
    return _Fit(rows, grid, units, map_).found()


class _Fit:
    """Where one of the networks does by itself what is asked, the others are in its way, so fewer are tried too."""

    def __init__(self, rows: Rows, grid: LandmarkReadout, units: Units, map_: Callable[..., Any]):
        self.rows, self.grid, self.units, self.map_ = rows, grid, units, map_
        self.n_outputs = rows.targets.shape[1]

    def found(self) -> Found:
        """The best machine."""
        rows = self.rows
        train, judged = self._chosen_rows()
        features, held = self._features([train, judged])
        scaling = Scaling.of(features, scaled=self.grid.scaled)
        features, held = scaling.apply(features), scaling.apply(held)
        machines = [
            machine
            for n in sorted({-(-rows.n_networks // part) for part in PARTS})
            for machine in self._machines(features[:, : n * rows.n_columns])
        ]
        tried = list(self.map_(lambda machine: self._judge(machine, features, train, held, judged), machines))
        best = min(range(len(tried)), key=lambda k: tried[k].error)
        machine, chosen = machines[best], tried[best]
        if chosen.decisions is None:
            raise ValueError("no machine on landmarks could be trained: the activations are not finite")
        d = machine.places.shape[1]
        scaling = Scaling(scaling.mean[:d], scaling.inverse[:d], scaling.limit)
        n = d // rows.n_columns
        coef, intercept = self._train(n, machine, scaling, chosen.C)
        readout = FittedReadout(
            machine.places, coef, intercept, np.zeros(self.n_outputs), np.ones(self.n_outputs, dtype=bool),
            machine.kernel,
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
        share = min(1.0, MOST_KEPT / (rows.n_networks * rows.n_columns) / (MOST_TRAINED + MOST_JUDGED))
        most = max(int(share * MOST_TRAINED), CANDIDATES * self.grid.n_landmarks), max(1, int(share * MOST_JUDGED))
        return _some(train, most[0], generator), _some(judged, most[1], generator)

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

    def _machines(self, features: FloatArray) -> list[_Machine]:
        """A kernel of each width on the same landmarks, which are chosen among features by the middle width."""
        grid, n, d = self.grid, *features.shape
        if grid.kernel == "linear":
            return [_Machine(Kernel("linear"), np.eye(d))]
        # the mean squared distance of two rows is twice their variances
        mean = 2.0 * features.var(axis=0).sum() * n / max(1, n - 1) if grid.relative else 1.0
        kernels = [Kernel("rbf", width / mean if mean > 0.0 else width) for width in grid.widths]
        most = min(n, CANDIDATES * grid.n_landmarks)
        candidates = np.ascontiguousarray(features[np.arange(most) * n // most])
        chosen = landmarks.pivots(candidates, kernels[len(kernels) // 2], grid.n_landmarks, TOLERANCE)
        places = np.ascontiguousarray(candidates[np.sort(chosen)])
        return [_Machine(kernel, places) for kernel in kernels]

    def _judge(
        self, machine: _Machine, features: FloatArray, train: NDArray[np.int64], held: FloatArray,
        judged: NDArray[np.int64],
    ) -> _Tried:  # fmt: skip
        """The capacity with the least error on the rows that judge."""
        rows, sums, best = self.rows, machine.sums(self.n_outputs), _Tried(np.inf, 0.0, None)
        d = machine.places.shape[1]
        self._add(sums, features[:, :d], train)
        held = np.ascontiguousarray(held[:, :d])
        for C in self.grid.capacities:
            solved = landmarks.solve(sums.total, machine.gram, C, self.n_outputs)
            if solved is None:
                continue
            decisions = decide(held, machine.places, solved.dual_coef, solved.intercept, machine.kernel)
            error = float(rows.weights[judged] @ ((decisions - rows.targets[judged]) ** 2).sum(axis=1))
            if error < best.error:
                best = _Tried(error, C, decisions)
        return best

    def _train(self, n: int, machine: _Machine, scaling: Scaling, C: float) -> tuple[FloatArray, FloatArray]:
        """Coefficients and constants of a machine on all rows by the first n networks, in units of the targets.

        Blocks are added to two sums in turn, so that two threads can do it; the bits are those of one.
        """
        rows, units = self.rows, self.units
        sums = [machine.sums(self.n_outputs) for _ in range(2)]
        waiting: list[tuple[landmarks.Sums, FloatArray, NDArray[np.int64]]] = []
        for block, values in rows.blocks(n, self.map_):
            here = np.flatnonzero(rows.weights[block] > 0)
            waiting.append((sums[len(waiting)], scaling.apply(values[here]), here + block.start))
            if len(waiting) == len(sums):
                list(self.map_(lambda item: self._add(*item), waiting))
                waiting.clear()
        list(self.map_(lambda item: self._add(*item), waiting))
        solved = landmarks.solve(sums[0].total + sums[1].total, machine.gram, C, self.n_outputs)
        if solved is None:
            raise ValueError("no machine on landmarks could be trained on all rows: lower C")
        with np.errstate(over="ignore"):
            coef, intercept = solved.dual_coef * units.deviation, solved.intercept * units.deviation + units.mean
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("y is too large: the coefficients of the readout are not finite; scale it")
        return coef, intercept

    def _add(self, sums: landmarks.Sums, features: FloatArray, which: NDArray[np.int64]) -> None:
        weights = self.rows.weights[which]
        roots = None if (weights == 1.0).all() else np.sqrt(weights)
        sums.add(np.ascontiguousarray(features), np.ascontiguousarray(self.rows.targets[which]), roots)


class _Tried(NamedTuple):
    """The least error of a machine on rows that judge, its capacity, and its decisions on these rows."""

    error: float
    C: float
    decisions: FloatArray | None


@dataclass(frozen=True, eq=False)
class _Machine:
    """A kernel and landmarks (m, n_features)."""

    kernel: Kernel
    places: FloatArray

    @cached_property
    def gram(self) -> FloatArray:
        return gram(self.places, self.kernel)

    def sums(self, n_outputs: int) -> landmarks.Sums:
        return landmarks.Sums(self.kernel, self.places, n_outputs)


def _some(rows: NDArray[np.int64], most: int, generator: Generator) -> NDArray[np.int64]:
    """At most so many of the rows: one at random from each of as many equal parts."""
    n = min(len(rows), most)
    edges = np.arange(n + 1) * len(rows) // n
    return rows[generator.integers(edges[:-1], edges[1:])]

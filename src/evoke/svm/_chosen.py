"""Kernel width and capacity of a machine on landmarks, chosen by decisions on rows that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.random import Generator
from numpy.typing import NDArray

from evoke._core.kernel import Kernel
from evoke._core.landmarks import Solved
from evoke._validation.arrays import FloatArray, IntArray
from evoke.landmarks import (
    MOST_SUMS,
    Block,
    Machine,
    add_up,
    at_random,
    mean_distance,
    spread,
    squared_errors,
    train_machine,
)
from evoke.landmarks.hinge import MOST_SEPARATED, LabelledBlock, best_capacity, separate
from evoke.svm._data import rows_of
from evoke.svm._kernels import overflow

__all__ = ["BLOCK", "Chosen", "Grid", "Training"]

# Rows that are read at a time: calls cost nothing, and they stay near the cache.
BLOCK = 4096
# Rows that landmarks, width and capacity are chosen on; parts that these are held out in; rows held out in all.
MOST_ROWS, PARTS, MOST_HELD_OUT = 50_000, 5, 10_000

# Widths with which classes are separated.
PROMISING = 2

# Most passes over all rows that separate classes, and the part of the objective by which the last one makes it smaller.
PASSES, TOL = 50, 1e-4

WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
CAPACITIES = (0.01, 1.0, 100.0, 1e4, 1e6)


@dataclass(frozen=True)
class Grid:
    """What is tried.

    Attributes
    ----------
    kernel : str
    gamma, C : float or None
        None to try several.
    coef0 : float
    degree : int
    n_landmarks : int
    separating : bool
        Whether the machine has the least squared hinge loss, on targets of +1 and -1, or the least squared error.
    """

    kernel: str
    gamma: float | None
    C: float | None
    coef0: float
    degree: int
    n_landmarks: int
    separating: bool = False

    @property
    def capacities(self) -> tuple[float, ...]:
        return CAPACITIES if self.C is None else (self.C,)

    def kernels(self, rows: FloatArray) -> list[Kernel]:
        """A kernel of each width; where these are to be chosen, in units of the rows' mean squared distance."""
        if self.kernel == "linear":
            return [Kernel("linear")]
        if self.gamma is not None:
            return [Kernel(self.kernel, self.gamma, self.coef0, self.degree)]
        with np.errstate(over="ignore", invalid="ignore"):
            gammas = [width / mean_distance(rows) for width in WIDTHS]
        if not all(0.0 < gamma < np.inf for gamma in gammas):
            raise ValueError(
                f"gamma='auto' needs distances between the rows of X, which has values up to {np.abs(rows).max():.3g}; "
                "scale X"
            )
        return [Kernel(self.kernel, gamma, self.coef0, self.degree) for gamma in gammas]


@dataclass(frozen=True, eq=False)
class Chosen:
    """A trained machine.

    Attributes
    ----------
    kernel : Kernel
    C : float
    landmarks : ndarray of shape (m, n_columns)
    rows : int64 ndarray of shape (m,)
        Their numbers in X, or of unit vectors the numbers of the features.
    coef : ndarray of shape (m, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    held_out : int64 ndarray of shape (n,)
        Rows that were held out,
    decisions : ndarray of shape (n, n_outputs)
        and what was decided on them; none of both where nothing was to be chosen.
    converged : bool
    """

    kernel: Kernel
    C: float
    landmarks: FloatArray
    rows: IntArray
    coef: FloatArray
    intercept: FloatArray
    held_out: IntArray
    decisions: FloatArray
    converged: bool


class Tried(NamedTuple):
    """The least error on rows held out, its capacity, these rows, decisions on them, and where training may begin."""

    error: float
    C: float
    held_out: IntArray
    decisions: FloatArray
    start: Solved | None = None


class Training:
    """Rows of X that have a weight, with targets, read block by block.

    Parameters
    ----------
    array : ndarray of shape (n, n_columns)
        The content of X, of any kind.
    X : array or data frame
    targets : callable
        From numbers of rows, a slice or an array, to targets (n, n_outputs).
    n_outputs : int
    weights : ndarray of shape (n,) or None
    n_jobs : int or None
        Threads, at most as many as there are sums.
    """

    def __init__(
        self, array: NDArray[Any], X: Any, targets: Callable[[Any], FloatArray], n_outputs: int,
        weights: FloatArray | None, n_jobs: int | None,
    ):  # fmt: skip
        self._array, self._given, self._targets, self._n_outputs = array, X, targets, n_outputs
        self._weights, self._shift = weights, np.zeros(array.shape[1])
        # more threads would find nothing to do
        self._parallel = Parallel(n_jobs=n_jobs and min(n_jobs, MOST_SUMS), require="sharedmem")

    def machine(self, grid: Grid, generator: Generator, *, hold_out: bool) -> Chosen:
        """The machine that is best on rows held out, trained on all rows.

        Of one pair of width and capacity decisions are made on rows held out only if `hold_out` says so.
        """
        used = np.arange(len(self._array)) if self._weights is None else np.flatnonzero(self._weights)
        sample = at_random(used, MOST_ROWS, generator)
        rows = rows_of(self._array, self._given, sample)
        if grid.kernel == "linear":  # the constant is free: so products are not those of large numbers
            self._shift = rows.mean(axis=0)
            rows = rows - self._shift
            landmarks, places = np.arange(rows.shape[1]), np.eye(rows.shape[1])
        else:
            chosen = spread(rows, grid.n_landmarks, generator)
            landmarks, places = sample[chosen], np.ascontiguousarray(rows[chosen])
        machines = [Machine(kernel, places) for kernel in grid.kernels(rows)]
        best, C, held_out, decisions = 0, grid.capacities[0], sample[:0], np.zeros((0, self._n_outputs))
        start: Solved | None = None
        if len(sample) > 1 and (hold_out or len(machines) > 1 or len(grid.capacities) > 1):
            part = generator.permutation(len(sample)) % PARTS
            found = self._map(lambda each: self._held_out(each, grid.capacities, rows, sample, part), machines)
            if grid.separating:  # with the widths that do best by least squares, which are had at once
                promising = sorted(range(len(found)), key=lambda k: found[k].error)[:PROMISING]
                machines = [machines[k] for k in promising]
                found = [self._separated(each, grid.capacities, rows, sample, part) for each in machines]
            best = min(range(len(found)), key=lambda k: found[k].error)
            error, C, held_out, decisions, start = found[best]
            if not np.isfinite(error):
                raise self._failed(machines[best], rows, grid)
        machine, converged = machines[best], True
        solved = start or train_machine(machine, self._n_outputs, self._blocks(), C, self._map)
        if solved is None:
            raise self._failed(machine, rows, grid)
        if grid.separating:
            solved, of_each, _ = separate(machine, self._labelled(machine), C, solved, PASSES, TOL, self._map)
            converged = bool(of_each.all())
        intercept = solved.intercept
        if grid.kernel == "linear":
            intercept = intercept - self._shift @ solved.dual_coef
        return Chosen(machine.kernel, C, places, landmarks, solved.dual_coef, intercept, held_out, decisions, converged)

    def _failed(self, machine: Machine, rows: FloatArray, grid: Grid) -> ValueError:
        with np.errstate(over="ignore", invalid="ignore"):
            total = add_up(machine, self._n_outputs, self._blocks(), self._map)
        if not np.isfinite(total).all():
            return overflow(machine.kernel, rows)
        C = min(grid.capacities)
        return ValueError(f"the normal equations are singular to working precision: C={C} is too large, lower it")

    def _held_out(
        self, machine: Machine, capacities: tuple[float, ...], rows: FloatArray, sample: IntArray, part: IntArray
    ) -> Tried:
        """The parts are held out in turn."""
        parts = [np.flatnonzero(part == k) for k in range(min(PARTS, len(sample)))]
        sums = [add_up(machine, self._n_outputs, [self._block(rows[each], sample[each])]) for each in parts]
        n_judged = max(1, min(len(parts), MOST_HELD_OUT // len(parts[0])))
        made, judged = [], np.concatenate(parts[:n_judged])
        for k in range(n_judged):
            with np.errstate(over="ignore", invalid="ignore"):
                total = sum(sums[:k] + sums[k + 1 :], np.zeros_like(sums[0]))
            made.append(machine.decisions(total, capacities, rows[parts[k]], self._n_outputs))
        decisions = np.concatenate(made, axis=1)
        _, targets, roots = self._block(rows[judged], sample[judged])
        weights = np.ones(len(judged)) if roots is None else roots**2
        with np.errstate(over="ignore", invalid="ignore"):
            errors = squared_errors(decisions, targets, weights)
        best = int(errors.argmin())
        return Tried(float(errors[best]), capacities[best], sample[judged], decisions[best])

    def _separated(
        self, machine: Machine, capacities: tuple[float, ...], rows: FloatArray, sample: IntArray, part: IntArray
    ) -> Tried:
        """One part is held out."""
        held = np.flatnonzero(part == 0)[:MOST_HELD_OUT]
        train = np.flatnonzero(part != 0)[:MOST_SEPARATED]
        block, apart = (self._block(np.ascontiguousarray(rows[each]), sample[each]) for each in (train, held))
        best = best_capacity(machine, block, apart, capacities, self._map, exclusive=True)
        if best is None:
            return Tried(np.inf, min(capacities), sample[held], np.full(apart[1].shape, np.inf))
        return Tried(best.error, best.C, sample[held], best.decisions, best.solved)

    def _labelled(self, machine: Machine) -> Callable[[], Iterator[LabelledBlock]]:
        return lambda: (LabelledBlock.of(machine, block) for block in self._blocks())

    def _blocks(self) -> Iterator[Block]:
        """All rows that have a weight."""
        for begin in range(0, len(self._array), BLOCK):
            numbers = range(begin, min(begin + BLOCK, len(self._array)))
            rows = rows_of(self._array, self._given, numbers)
            if self._shift.any():
                rows = rows - self._shift
            if self._weights is None:
                yield self._block(rows, slice(begin, numbers.stop))
                continue
            here = np.flatnonzero(self._weights[begin : numbers.stop])
            if len(here) > 0:
                yield self._block(np.ascontiguousarray(rows[here]), here + begin)

    def _block(self, rows: FloatArray, numbers: Any) -> Block:
        roots = None if self._weights is None else np.sqrt(self._weights[numbers])
        return rows, np.ascontiguousarray(self._targets(numbers)), roots

    def _map(self, function: Callable[..., Any], *items: Any) -> list[Any]:
        """``map`` by threads."""
        return list(self._parallel(delayed(function)(*each) for each in zip(*items, strict=False)))

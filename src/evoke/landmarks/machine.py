"""Machines of least squares on landmarks: which rows are landmarks, and one pass over all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evoke._core import landmarks
from evoke._core.kernel import Kernel, decide, gram
from evoke._core.landmarks import Solved, Sums
from evoke._validation.arrays import FloatArray
from evoke._validation.computed import computed_once

__all__ = [
    "CANDIDATES", "MOST_LANDMARKS", "MOST_SUMS", "Block", "Machine", "add_up", "at_random", "mean_distance", "slots",
    "spread", "squared_errors", "together", "train_machine",
]  # fmt: skip

# Of the normal equations of a machine on landmarks this number squared is kept.
MOST_LANDMARKS = 20_000

# Rows that landmarks are chosen from, in multiples of their number: by pivots, which take what is odd where there is
# more, and by k-means++.
CANDIDATES, _SPREAD_FROM = 4, 20

# A row of which the landmarks so far leave less than this of a row's kernel with itself tells nothing new.
TOLERANCE = 1e-10

# The sums that threads add blocks to side by side: at least two, and more while all have no more than so many numbers.
_FEWEST_SUMS, MOST_SUMS, _NUMBERS = 2, 8, 2**24

# Rows x (n, n_columns), targets (n, n_outputs), and the roots of the weights (n,), None where all are 1.
Block = tuple[FloatArray, FloatArray, FloatArray | None]


@dataclass(frozen=True, eq=False)
class Machine:
    """What a machine is before it is trained.

    Attributes
    ----------
    kernel : Kernel
    places : ndarray of shape (m, n_columns)
        The landmarks.
    """

    kernel: Kernel
    places: FloatArray

    @classmethod
    def among(cls, x: FloatArray, kernel: Kernel, most: int) -> Machine:
        """At most so many of the rows x (n, n_columns), by pivoted Cholesky factorisation of some of them.

        With the linear kernel the unit vectors: the machine is ridge regression.
        """
        n, d = x.shape
        if kernel.name == "linear":
            return cls(kernel, np.eye(d))
        n_candidates = min(n, CANDIDATES * most)
        candidates = np.arange(n_candidates) * n // n_candidates
        chosen = landmarks.pivots(np.ascontiguousarray(x[candidates]), kernel, most, TOLERANCE)
        rows = candidates[np.sort(chosen)] if len(chosen) > 0 else candidates[:1]  # none where all values are 0
        return cls(kernel, np.ascontiguousarray(x[rows]))

    @computed_once
    def gram(self) -> FloatArray:
        return gram(self.places, self.kernel)

    @property
    def n_columns(self) -> int:
        return self.places.shape[1]

    def sums(self, n_outputs: int) -> Sums:
        return Sums(self.kernel, self.places, n_outputs)

    def solve(self, total: FloatArray, C: float, n_outputs: int) -> Solved | None:
        """The machine for a total of sums; None where its normal equations are singular to working precision."""
        return landmarks.solve(total, self.gram, C, n_outputs)

    def decisions(
        self, total: FloatArray, capacities: Sequence[float], x: FloatArray, n_outputs: int
    ) -> NDArray[np.float64]:
        """Decisions (n_capacities, n, n_outputs) on rows x; NaN of a capacity for which there is no machine.

        The kernel values of all capacities are the same, and computed once.
        """
        solved = [self.solve(total, C, n_outputs) for C in capacities]
        found = [each for each in solved if each is not None]
        made = np.full((len(capacities), len(x), n_outputs), np.nan)
        if found:
            coef = np.ascontiguousarray(np.hstack([each.dual_coef for each in found]))
            constants = np.concatenate([each.intercept for each in found])
            together = decide(x, self.places, coef, constants, self.kernel).reshape(len(x), len(found), n_outputs)
            made[[each is not None for each in solved]] = together.transpose(1, 0, 2)
        return made


def spread(x: FloatArray, most: int, generator: Generator) -> NDArray[np.int64]:
    """The numbers, in order, of at most so many of the rows x, by greedy k-means++ on some of them."""
    n = min(len(x), _SPREAD_FROM * most)
    candidates = np.arange(n) * len(x) // n
    draws = generator.uniform(size=(min(n, most), 2 + int(np.log(most))))
    return candidates[np.sort(landmarks.spread(np.ascontiguousarray(x[candidates]), most, draws))]


def squared_errors(decisions: FloatArray, targets: FloatArray, weights: FloatArray) -> FloatArray:
    """Of decisions (n_capacities, n, n_outputs), summed over rows with weights; infinite where they are not finite."""
    errors = np.array([weights @ ((each - targets) ** 2).sum(axis=1) for each in decisions])
    return np.where(np.isfinite(errors), errors, np.inf)


def mean_distance(x: FloatArray) -> float:
    """The mean squared distance of two of the rows x, which is twice their variances; 1 where they are all the same."""
    mean = float(2.0 * x.var(axis=0).sum() * len(x) / max(1, len(x) - 1))
    return mean if mean > 0.0 else 1.0


def at_random(rows: NDArray[np.int64], most: int, generator: Generator) -> NDArray[np.int64]:
    """At most so many of the rows: one at random from each of as many equal parts."""
    n = min(len(rows), most)
    edges = np.arange(n + 1) * len(rows) // n
    return rows[generator.integers(edges[:-1], edges[1:])]


def train_machine(
    machine: Machine, n_outputs: int, blocks: Iterable[Block], C: float, map_: Callable[..., Any] = map
) -> Solved | None:
    """The machine that one pass over blocks of rows makes; None where its normal equations are singular.

    Blocks are added to several sums in turn, so that as many threads can do it; the bits are those of one.
    """
    total = add_up(machine, n_outputs, blocks, map_)
    return machine.solve(total, C, n_outputs)


def add_up(machine: Machine, n_outputs: int, blocks: Iterable[Block], map_: Callable[..., Any] = map) -> FloatArray:
    """The total of the sums over all blocks."""
    first = machine.sums(n_outputs)
    n = slots(first.total.size)
    sums = [first, *(machine.sums(n_outputs) for _ in range(n - 1))]
    for several in together(blocks, n):
        list(map_(lambda item: item[0].add(*item[1]), zip(sums, several, strict=False)))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite cannot be solved
        for other in sums[1:]:
            first.total[...] += other.total
    return first.total


def slots(size: int) -> int:
    """How many sums, of so many numbers each, blocks are added to in turn."""
    return min(max(_NUMBERS // size, _FEWEST_SUMS), MOST_SUMS)


def together(items: Iterable[Any], n: int) -> Iterator[list[Any]]:
    """Up to n of the items at a time, as ``itertools.batched`` of Python 3.12 has them."""
    rest = iter(items)
    while several := list(islice(rest, n)):
        yield several

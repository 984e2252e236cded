"""Machines that separate classes: the least squared hinge loss, by Newton's method in passes over the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evoke._core.kernel import cross, decide, weighted
from evoke._core.landmarks import Solved, Sums
from evoke._validation.arrays import FloatArray
from evoke.landmarks.machine import Block, Machine, add_up, slots, together

__all__ = [
    "MOST_SEPARATED", "Judged", "LabelledBlock", "Separated", "best_capacity", "misjudged", "path", "separate",
]  # fmt: skip

# Rows on which width and capacity are chosen, at most, and how well each pair is trained for that.
MOST_SEPARATED, _TOL, _PASSES = 20_000, 0.01, 8

# Rows of a block whose kernel values are kept, and numbers that are kept in all: 128 MB.
_ROWS, _MOST_VALUES = 2048, 2**24

# Capacities in turn that may be worse than the best before the search ends.
_WORSE = 2

# A step that makes the objective larger, by more than rounding, is made shorter: the best of these parts of it.
_ROUNDING = 1e-9
_PARTS = np.array([1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.08, 0.04, 0.01])

# What a squared hinge loss, of this at most, counts beside a wrong decision: it tells machines apart that decide few
# rows differently.
_SHARE, _MOST = 0.5, 4.0


@dataclass(frozen=True, eq=False)
class LabelledBlock:
    """A block of rows, with their kernel values where they are kept from pass to pass.

    Attributes
    ----------
    block : Block
        Its targets are +1 and -1.
    values : ndarray of shape (n, n_landmarks), or None
    """

    block: Block
    values: FloatArray | None = None

    @classmethod
    def of(cls, machine: Machine, block: Block, *, keep: bool = False) -> LabelledBlock:
        """A block, to keep its kernel values or not; those at unit vectors are the rows themselves."""
        if machine.kernel.name == "linear":
            return cls(block, block[0])
        return cls(block, cross(block[0], machine.places, machine.kernel) if keep else None)

    def decide(self, machine: Machine, coef: FloatArray, intercept: FloatArray) -> FloatArray:
        """Decisions (n, n_outputs) of the machine with these coefficients."""
        if self.values is None:
            return np.asarray(decide(self.block[0], machine.places, coef, intercept, machine.kernel))
        return np.asarray(weighted(self.values, coef, intercept))


class Separated(NamedTuple):
    """A trained machine.

    Attributes
    ----------
    solved : Solved
    converged : bool ndarray of shape (n_outputs,)
        Whether the tolerance was reached; otherwise it is the best that the passes have seen.
    n_passes : int
    """

    solved: Solved
    converged: NDArray[np.bool_]
    n_passes: int


def separate(
    machine: Machine, blocks: Callable[[], Iterable[LabelledBlock]], C: float, start: Solved, passes: int,
    tol: float, map_: Callable[..., Any] = map,
) -> Separated:  # fmt: skip
    """The machine with the least squared hinge loss.

    For each output it minimises the sum over rows of w max(0, 1 - y f(x))^2, plus c'K(z, z)c / C. Where the rows within
    the margin are known this is a problem of least squares; Newton's method solves it, looks which rows are within
    the margin of the solution, and so on (Chapelle, "Training a support vector machine in the primal", 2007).

    Parameters
    ----------
    machine : Machine
    blocks : callable
        Gives all rows, anew at each call.
    C : float
    start : Solved
        Where it begins: a machine trained on some of the rows, or for another C.
    passes : int
        The most passes over the rows.
    tol : float
        A step that makes the objective smaller by no more than this part of it is the last one.
    map_ : callable
        That of a pool of threads, for instance; the bits do not depend on it.
    """
    n_outputs = len(start.intercept)
    trial = Solved(start.dual_coef.copy(), start.intercept.copy())
    best = Solved(start.dual_coef.copy(), start.intercept.copy())
    least, left, converged = np.full(n_outputs, np.inf), np.ones(n_outputs, dtype=bool), np.zeros(n_outputs, dtype=bool)
    solved_for: list[bytes | None] = [None] * n_outputs  # the rows whose least squares the trial solves
    margins = _Margins(machine, n_outputs)
    n_passes = 0
    while left.any() and n_passes < passes:
        n_passes += 1
        seen = margins.look(blocks(), best, trial, left, map_)
        for k in np.flatnonzero(left):
            step = trial.dual_coef[:, k] - best.dual_coef[:, k]
            coefs = best.dual_coef[:, k] + _PARTS[:, np.newaxis] * step
            objectives = seen.losses[:, k] + np.einsum("pj,jk,pk->p", coefs, machine.gram, coefs) / C
            if not objectives[0] <= least[k] * (1.0 + _ROUNDING):
                part = _PARTS[int(objectives.argmin())] if np.isfinite(objectives).any() else _PARTS[-1]
                trial.dual_coef[:, k] = best.dual_coef[:, k] + part * step
                trial.intercept[k] = best.intercept[k] + part * (trial.intercept[k] - best.intercept[k])
                solved_for[k] = None
                continue
            best.dual_coef[:, k], best.intercept[k] = trial.dual_coef[:, k], trial.intercept[k]
            small = least[k] - objectives[0] <= tol * objectives[0]
            converged[k] = small or seen.rows[k] == solved_for[k]
            least[k] = objectives[0]
            found = None if converged[k] else machine.solve(seen.totals[k], C, 1)
            left[k] = found is not None
            if found is not None:
                trial.dual_coef[:, k], trial.intercept[k] = found.dual_coef[:, 0], found.intercept[0]
                solved_for[k] = seen.rows[k]
    return Separated(best, converged, n_passes)


def path(
    machine: Machine, n_outputs: int, block: Block, capacities: Sequence[float], map_: Callable[..., Any] = map
) -> Iterator[tuple[float, Solved]]:
    """Growing capacities, each with its machine on rows in memory, which begins with the one before.

    There are none where the normal equations of the least capacity are singular to working precision.
    """
    x, signs, roots = block
    n, keep = len(x), len(x) * len(machine.places) <= _MOST_VALUES

    def part(begin: int) -> LabelledBlock:
        here = slice(begin, begin + _ROWS)
        return LabelledBlock.of(machine, (x[here], signs[here], None if roots is None else roots[here]), keep=keep)

    blocks = list(map_(part, range(0, n, _ROWS)))
    total = add_up(machine, n_outputs, [rows.block for rows in blocks], map_)
    start = machine.solve(total, min(capacities), n_outputs)
    for C in sorted(capacities) if start is not None else ():
        start = separate(machine, lambda: blocks, C, start, _PASSES, _TOL, map_).solved
        yield C, start


class Judged(NamedTuple):
    """A machine and what it decides on rows that it was not trained on."""

    error: float
    C: float
    solved: Solved
    decisions: FloatArray


def best_capacity(
    machine: Machine, block: Block, held: Block, capacities: Sequence[float], map_: Callable[..., Any] = map, *,
    exclusive: bool,
) -> Judged | None:  # fmt: skip
    """The capacity whose machine misjudges the fewest of the rows held out; None where no machine could be trained.

    Capacities grow until the second one in turn that is worse than the best.
    """
    x, signs, roots = held
    weights = np.ones(len(x)) if roots is None else roots**2
    best, worse = None, 0
    for C, solved in path(machine, signs.shape[1], block, capacities, map_):
        decisions = np.asarray(decide(x, machine.places, solved.dual_coef, solved.intercept, machine.kernel))
        error = misjudged(decisions, signs, weights, exclusive=exclusive)
        if error < (np.inf if best is None else best.error):
            best, worse = Judged(error, C, solved, decisions), 0
        else:
            worse += 1
            if worse == _WORSE:
                break
    return best


def misjudged(decisions: FloatArray, signs: FloatArray, weights: FloatArray, *, exclusive: bool) -> float:
    """The part of rows that decisions (n, n_outputs) are wrong about, and some of their loss; infinite if not finite.

    `exclusive`: each row has one class, that of the largest decision.
    """
    if not np.isfinite(decisions).all():
        return np.inf
    if exclusive and decisions.shape[1] > 1:
        wrong = 1.0 * (decisions.argmax(axis=1) != signs.argmax(axis=1))
    else:
        wrong = ((decisions > 0.0) != (signs > 0.0)).mean(axis=1)
    loss = np.minimum(np.maximum(1.0 - signs * decisions, 0.0) ** 2, _MOST).mean(axis=1)
    return float((weights * (wrong + _SHARE * loss)).sum() / weights.sum())


class _Seen(NamedTuple):
    """For each output losses (n_parts, n_outputs) on the way, which rows are within the margin, and their sums."""

    losses: FloatArray
    rows: list[bytes]
    totals: list[FloatArray]


class _Margins:
    """Passes over rows that find those within the margin."""

    def __init__(self, machine: Machine, n_outputs: int):
        self._machine = machine
        one = [machine.sums(1) for _ in range(n_outputs)]
        size = n_outputs * one[0].total.size
        self._sums = [one, *([machine.sums(1) for _ in range(n_outputs)] for _ in range(slots(size) - 1))]

    def look(
        self, blocks: Iterable[LabelledBlock], best: Solved, trial: Solved, asked: NDArray[np.bool_],
        map_: Callable[..., Any],
    ) -> _Seen:  # fmt: skip
        """All rows on the way from the best machine to a trial, for the outputs that are asked for."""
        for sums in self._sums:
            for each in sums:
                each.total[...] = 0.0
        losses = np.zeros((len(_PARTS), len(asked)))
        coef = np.ascontiguousarray(np.hstack([trial.dual_coef, best.dual_coef]))
        both = Solved(coef, np.concatenate([trial.intercept, best.intercept]))
        digests = [hashlib.blake2b(digest_size=16) for _ in asked]

        def part(item: tuple[Sequence[Sums], LabelledBlock]) -> tuple[FloatArray, list[bytes]]:
            return self._add(item[0], item[1], both, asked)

        for several in together(blocks, len(self._sums)):
            for found, within in map_(part, list(zip(self._sums, several, strict=False))):
                losses += found
                for digest, bits in zip(digests, within, strict=True):
                    digest.update(bits)
        totals = []
        for k in range(len(asked)):
            total = self._sums[0][k].total
            for sums in self._sums[1:]:
                total[...] += sums[k].total
            totals.append(total)
        return _Seen(losses, [digest.digest() for digest in digests], totals)

    def _add(
        self, sums: Sequence[Sums], rows: LabelledBlock, both: Solved, asked: NDArray[np.bool_]
    ) -> tuple[FloatArray, list[bytes]]:
        """The losses of a block, and for each output its rows within the margin as bits."""
        x, signs, roots = rows.block
        made = signs[:, np.newaxis] * rows.decide(self._machine, both.dual_coef, both.intercept).reshape(
            len(x), 2, len(asked)
        )
        slack, change = 1.0 - made[:, 0], made[:, 1] - made[:, 0]
        within = slack > 0.0
        losses = np.empty((len(_PARTS), len(asked)))
        for each, part in zip(losses, _PARTS, strict=True):
            violation = np.maximum(slack - (1.0 - part) * change, 0.0)
            if roots is not None:
                violation *= roots[:, np.newaxis]
            each[:] = (violation**2).sum(axis=0)
        for k in np.flatnonzero(asked).tolist():
            here = np.flatnonzero(within[:, k])
            if len(here) > 0:
                own = None if roots is None else np.ascontiguousarray(roots[here])
                sums[k].add(np.ascontiguousarray(x[here]), np.ascontiguousarray(signs[here, k : k + 1]), own)
        return losses, [np.packbits(column).tobytes() for column in within.T]

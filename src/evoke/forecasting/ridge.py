"""Ridge readouts of networks that read a series: each of what is before an origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke.forecasting.parts import Part
from evoke.forecasting.reader import ROWS, check_time

__all__ = ["CAPACITIES", "RidgeReadouts", "ridge_path"]

# Ridge penalty: the number of features / C, in units of standardised features.
CAPACITIES = (1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e5, 1e8, 1e11)
_CONSTANT = 1e-9  # a feature that varies by less is constant


@dataclass(frozen=True, eq=False)
class RidgeReadouts:
    """Ridge readouts of groups of networks, for every capacity.

    Attributes
    ----------
    centre, inverse : ndarray of shape (n_readouts, n_features)
        What standardises the features.
    coef : ndarray of shape (n_readouts, n_origins, n_capacities, n_features, n_outputs)
        Of the rows before each origin, or before one: the end.
    intercept : ndarray of shape (n_readouts, n_origins, n_capacities, n_outputs)
    """

    centre: FloatArray
    inverse: FloatArray
    coef: FloatArray
    intercept: FloatArray

    @classmethod
    def fit(cls, parts: list[Part], until: float = np.inf) -> RidgeReadouts:
        """Those of all other parts and what is before each origin of a part, and at last those of all rows."""
        centre, spread = _moments(F for part in parts for F, _ in part.blocks(until))
        inverse = np.divide(1.0, spread, out=np.ones_like(spread), where=spread > _CONSTANT)
        standardised = [_Standardised(part, centre, inverse) for part in parts]
        return cls(centre, inverse, *ridge_path(standardised, [part.ends for part in parts], until))

    @property
    def n_readouts(self) -> int:
        return len(self.coef)

    @property
    def n_capacities(self) -> int:
        return self.coef.shape[2]

    def before(self, origins: slice) -> RidgeReadouts:
        """Those of some origins."""
        return replace(self, coef=self.coef[:, origins], intercept=self.intercept[:, origins])

    def only(self, capacities: NDArray[np.intp]) -> RidgeReadouts:
        """Those of some capacities."""
        return replace(self, coef=self.coef[:, :, capacities], intercept=self.intercept[:, :, capacities])

    def of_all(self, parts: list[Part]) -> RidgeReadouts:
        """Those of all rows, which there are already."""
        return self.before(slice(-1, None))

    def weights(self) -> tuple[FloatArray, FloatArray]:
        """Coefficients (n_readouts, n_origins, n_capacities, n_features, n_outputs) of features as they are, and
        intercepts.
        """
        coef = self.coef * self.inverse[:, None, None, :, None]
        return coef, self.intercept - np.einsum("mrcpq,mp->mrcq", self.coef, self.centre * self.inverse)

    def speaker(self) -> Callable[[FloatArray], FloatArray]:
        """What says the values for features (n_readouts, n_origins, n_capacities, n_features)."""
        weights, intercept = self.weights()
        coef = np.ascontiguousarray(np.moveaxis(weights, -1, 0))

        def say(features: FloatArray) -> FloatArray:
            said = [np.einsum("mrcp,mrcp->mrc", features, c) + intercept[..., q] for q, c in enumerate(coef)]
            return np.stack(said, axis=-1)

        return say

    def one_step(self, features: FloatArray, best: NDArray[np.intp]) -> FloatArray:
        """Values (n_readouts, n, n_outputs) for features (n_readouts, n, n_features), by a capacity of each output."""
        F = (features - self.centre[:, None]) * self.inverse[:, None]
        outputs = np.arange(len(best))
        coef, intercept = self.coef[:, 0, best, :, outputs], self.intercept[:, 0, best, outputs]  # (q, M, P), (M, q)
        return np.asarray(np.einsum("mtp,qmp->mtq", F, coef) + intercept[:, None])


class Rows(Protocol):
    """Features and targets of a part, a block at a time."""

    def blocks(self, until: float) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Features (n_readouts, n, n_features) and targets (n, n_outputs)."""


@dataclass(frozen=True, eq=False)
class _Standardised:
    part: Part
    centre: FloatArray
    inverse: FloatArray

    def blocks(self, until: float) -> Iterator[tuple[FloatArray, FloatArray]]:
        for F, v in self.part.blocks(until):
            yield (F - self.centre[:, None]) * self.inverse[:, None], v


def _moments(blocks: Iterable[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Mean and deviation (n_readouts, n_features) of features, of which few rows are there at a time."""
    n, mean, squares = 0, np.zeros(()), np.zeros(())
    waiting: list[FloatArray] = []

    def add() -> None:
        """By the update of T. F. Chan, G. H. Golub and R. J. LeVeque, The American Statistician 37 (1983), 242-247."""
        nonlocal n, mean, squares
        F = np.concatenate(waiting, axis=1)
        more, change = F.shape[1], F.mean(axis=1) - mean
        squares = squares + F.var(axis=1) * more + change**2 * (n * more / (n + more))
        mean = mean + change * (more / (n + more))
        n += more
        waiting.clear()

    for block in blocks:
        if waiting and sum(F.shape[1] for F in waiting) + block.shape[1] > ROWS:
            add()
        waiting.append(block)
    if n == 0:
        F = np.concatenate(waiting, axis=1)
        return F.mean(axis=1), F.std(axis=1)
    add()
    return mean, np.sqrt(squares / n)


def ridge_path(
    parts: Sequence[Rows], ends: list[list[int]], until: float = np.inf
) -> tuple[FloatArray, FloatArray]:
    """Ridge readouts for all `CAPACITIES`, each of the first rows of one part and all rows of the others.

    Triangular factors grow with the rows, so that each end costs what its new rows do.

    Parameters
    ----------
    parts : sequence of Rows
    ends : list of list of int
        How many rows of each part are the first ones, several times or never; ascending.
    until : float
        When time is up, by `time.monotonic`.

    Returns
    -------
    coef : ndarray of shape (n_readouts, n_ends + 1, n_capacities, n_features, n_outputs)
        Those of each end, part after part, and of all rows.
    intercept : ndarray of shape (n_readouts, n_ends + 1, n_capacities, n_outputs)
    """
    others: list[FloatArray | None] = [None]  # factors of all parts after each, the last one first
    for part in parts[:0:-1]:
        others.append(_factor_of(others[-1], part, until))
    before, factors = None, []
    for part, stops in zip(parts, ends, strict=True):
        after = others.pop()
        R = before if after is None else _factor(before, after)
        waiting, done = list(stops), 0
        for block in _with_ones(part, until) if waiting or not others else ():
            begin = done
            while waiting and waiting[0] <= begin + block.shape[1]:
                check_time(until)
                R = _factor(R, block[:, done - begin : waiting[0] - begin])
                done = waiting.pop(0)
                factors.append(R)
            if not waiting and others:  # the rest of it has no end
                break
            R = _factor(R, block[:, done - begin :])
            done = begin + block.shape[1]
        if others:
            before = _factor_of(before, part, until)
    factors.append(R)
    # a series that is too short for its features has no rows
    n_features, n_outputs = next((F.shape[2], v.shape[1]) for part in parts for F, v in part.blocks(until))
    shape = (len(factors[-1]), len(factors), len(CAPACITIES))
    coef, intercept = np.empty((*shape, n_features, n_outputs)), np.empty((*shape, n_outputs))
    for m, e in np.ndindex(shape[:2]):
        check_time(until)
        coef[m, e], intercept[m, e] = _ridge(factors[e][m], n_features)
    return coef, intercept


def _with_ones(part: Rows, until: float) -> Iterator[FloatArray]:
    """Blocks of ones, features and targets (n_readouts, n, 1 + n_features + n_outputs)."""
    for F, v in part.blocks(until):
        yield np.concatenate([np.ones((*F.shape[:2], 1)), F, np.broadcast_to(v, (len(F), *v.shape))], axis=2)


def _factor_of(R: FloatArray | None, part: Rows, until: float) -> FloatArray | None:
    """The factors of what has the factors R, and of all rows of a part."""
    for block in _with_ones(part, until):
        R = _factor(R, block)
    return R


def _factor(R: FloatArray | None, rows: FloatArray) -> FloatArray:
    """The triangular factors of what has the factors R, and more rows: readout by readout, so that Ctrl-C is heard."""
    if R is None:
        R = rows[:, :0]
    if not rows.shape[1]:
        return R
    return np.stack([np.linalg.qr(np.concatenate(each), mode="r") for each in zip(R, rows, strict=True)])


def _ridge(R: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
    """Weights (n_capacities, n_features, n_outputs) and intercepts, from a factor of ones, features and targets.

    It has as many rows as it has columns or as there were rows, whichever is less: few where cells are many.
    """
    means = R[0, 1:] / R[0, 0]  # the first row holds the sums, in units of the root of the number of rows
    U, S, Vt = np.linalg.svd(R[1:, 1 : 1 + n_features], full_matrices=False)
    projected = U.T @ R[1:, 1 + n_features :]
    coef = np.stack([Vt.T @ ((S / (S * S + n_features / C))[:, None] * projected) for C in CAPACITIES])
    return coef, means[n_features:] - np.einsum("cpq,p->cq", coef, means[:n_features])

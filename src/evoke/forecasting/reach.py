"""How far from the range of the data a forecast may lead: not by much, unless the series changes ever more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray

__all__ = ["LEAVES", "MOST_GROWTH", "Reach", "growth_rate"]

LEAVES = 2.0  # ranges of the data beyond its ends
_ROUNDING = 1e-9  # of values, by which a constant series may be left
_PIECES = 4  # of a series, each of which must change more than the one before
_LEAST = 8  # changes in each of them
MOST_GROWTH = 200.0  # logarithm of a factor


@dataclass(frozen=True, eq=False)
class Reach:
    """The range of the data, and how it may grow on.

    Attributes
    ----------
    low, high : ndarray of shape (..., n_outputs)
        The least and the largest value.
    growth : ndarray of shape (n_steps, n_outputs)
        Factors of its width; 1 where the series does not change ever more.
    """

    low: FloatArray
    high: FloatArray
    growth: FloatArray

    @classmethod
    def of(cls, series: list[FloatArray], season: int, n_steps: int) -> Reach:
        """That of `n_steps` steps after series (T, n_outputs) of one kind.

        A series may grow on as it did for as many steps as it has.
        """
        rates = [growth_rate(y, season) for y in series]
        steps = [np.minimum(np.arange(1, n_steps + 1), len(y))[:, None] for y in series]
        rise = np.max([s * rate for s, rate in zip(steps, rates, strict=True)], axis=0)
        return cls(
            np.min([y.min(axis=0) for y in series], axis=0), np.max([y.max(axis=0) for y in series], axis=0),
            np.exp(np.minimum(rise, MOST_GROWTH)),
        )  # fmt: skip

    @classmethod
    def still(cls, low: FloatArray, high: FloatArray) -> Reach:
        """That of a range which does not grow."""
        return cls(low, high, np.ones(1))

    @property
    def _reach(self) -> FloatArray:
        return LEAVES * (self.high - self.low) * self.growth

    @property
    def _rounding(self) -> FloatArray:
        return _ROUNDING * np.maximum(np.abs(self.low), np.abs(self.high))

    def holds(self, paths: FloatArray) -> FloatArray:
        """Paths (..., n_steps, n_outputs), which are held where they would lead too far."""
        return np.clip(paths, self.low - self._reach, self.high + self._reach)

    def contains(self, paths: FloatArray) -> NDArray[np.bool_]:
        """Where paths (..., n_steps, n_outputs) do not lead too far."""
        reach = self._reach + self._rounding
        return (self.low - reach <= paths) & (paths <= self.high + reach)

    def leaves(self, values: FloatArray) -> NDArray[np.bool_]:
        """Where values (n_steps, n_outputs) leave the range of the data by more than once that range."""
        far = np.maximum(self.low - values, values - self.high)
        return far > self.high - self.low + self._rounding

    def beyond(self, paths: FloatArray) -> FloatArray:
        """By how much paths (..., n_steps, n_outputs) lead too far, at most by as much again as they may."""
        return np.minimum(np.abs(paths - self.holds(paths)), self._reach)


def growth_rate(y: FloatArray, season: int) -> FloatArray:
    """The rate (n_outputs,) per step at which the changes of a series (T, n_outputs) grow; 0 if they do not.

    It is the least from one quarter of the changes, each from a season before, to the next.
    """
    lag = season if len(y) > (_PIECES + 1) * season else 1
    each = (len(y) - lag) // _PIECES
    if each < _LEAST:
        return np.zeros(y.shape[1])
    changes = np.abs(y[lag:] - y[:-lag])[-each * _PIECES :]
    size = changes.reshape(_PIECES, each, -1).mean(axis=1)
    times = np.divide(size[1:], size[:-1], out=np.ones_like(size[1:]), where=size[:-1] > 0.0)
    return np.asarray(np.log(np.maximum(times.min(axis=0), 1.0)) / each)

"""Transformations of series: a logarithm, differences at some lags, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evoke._validation.arrays import FloatArray

__all__ = ["Transformation"]


@dataclass(frozen=True)
class Transformation:
    """Perhaps a logarithm, then differences at some lags, one after the other.

    Attributes
    ----------
    log : bool
        Whether the logarithm is taken first; the values must be positive.
    lags : tuple of int
        Each stage takes from every value the one so many steps before it; empty: none.
    """

    log: bool
    lags: tuple[int, ...]

    @property
    def start(self) -> int:
        """The first step that has a transformed value."""
        return sum(self.lags)

    def level(self, y: FloatArray) -> FloatArray:
        """The series before differences are taken."""
        return np.log(y) if self.log else y

    def unlevel(self, level: FloatArray) -> FloatArray:
        """Undoes `level`; where the exponential overflows, what comes back is infinite."""
        with np.errstate(over="ignore"):
            return np.exp(level) if self.log else level

    def stages(self, y: FloatArray) -> list[FloatArray]:
        """The series (T, n_outputs) at its level and after each difference; NaN where there is nothing to take from."""
        stages = [self.level(y)]
        for lag in self.lags:
            after = np.full_like(stages[-1], np.nan)
            after[lag:] = stages[-1][lag:] - stages[-1][:-lag]
            stages.append(after)
        return stages

    def apply(self, y: FloatArray) -> FloatArray:
        """The transformed series; NaN before `start`."""
        return self.stages(y)[-1]

    def undo(self, y: FloatArray, origin: int, paths: FloatArray) -> FloatArray:
        """Values of y for transformed ones from step `origin` on.

        Parameters
        ----------
        y : ndarray of shape (T, n_outputs)
            The series, of which what is before `origin` counts.
        origin : int
            At least `start`.
        paths : ndarray of shape (..., n_steps, n_outputs)
        """
        stages = self.stages(y[:origin])
        for lag, before in zip(self.lags[::-1], stages[-2::-1], strict=True):
            out = np.empty_like(paths)
            for t in range(paths.shape[-2]):
                out[..., t, :] = paths[..., t, :] + (out[..., t - lag, :] if t >= lag else before[origin - lag + t])
            paths = out
        return self.unlevel(paths)

    def undo_one_step(self, y: FloatArray, transformed: FloatArray) -> FloatArray:
        """Values (..., T, n_outputs) of y for transformed ones, each from the true values before it."""
        stages = self.stages(y)
        return self.unlevel(transformed + (stages[0] - stages[-1]))

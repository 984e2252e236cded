"""Intervals around forecasts, by the errors of those from rolling origins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

from evoke._validation.arrays import FloatArray

__all__ = ["Intervals"]

_WIDEN = 1.2  # for the choice by the same errors
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Intervals:
    """Errors of the forecasts from the rolling origins, and how they grow with the step.

    Attributes
    ----------
    growth : ndarray of shape (n_judged, n_outputs)
        Root of the mean squared error at each step, made to ascend.
    ratios : ndarray of shape (n_origins * n_judged, n_outputs)
        Absolute errors in units of it.
    n_apart : float
        How many stretches that do not overlap they come from.
    """

    growth: FloatArray
    ratios: FloatArray
    n_apart: float

    @classmethod
    def of(cls, errors: FloatArray, n_apart: float) -> Intervals:
        """Those from errors (n_origins, n_judged, n_outputs)."""
        rms = np.sqrt((errors**2).mean(axis=0))
        growth = np.stack([isotonic_regression(column) for column in rms.T], axis=1)
        ratios = np.abs(errors) / np.maximum(growth, _TINY)
        return cls(growth, ratios.reshape(-1, errors.shape[2]), float(n_apart))

    def half_widths(self, n_steps: int, level: float) -> FloatArray:
        """Half the width (n_steps, n_outputs) of the intervals that are to hold this share of the values."""
        judged, step = len(self.growth), np.arange(n_steps)
        beyond = np.sqrt(np.maximum((step + 1) / judged, 1.0))  # past what was judged: as of a random walk
        widen = _WIDEN * (1 + 0.5 / max(1.0, self.n_apart))
        quantile = np.quantile(self.ratios, level, axis=0)
        return widen * quantile * self.growth[np.minimum(step, judged - 1)] * beyond[:, None]

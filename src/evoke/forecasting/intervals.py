"""Intervals around forecasts, by the errors of those from rolling origins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.isotonic import isotonic_regression

from evoke._validation.arrays import FloatArray

__all__ = ["Intervals"]

_FOR_A_QUANTILE = 2.0  # times as many errors are needed to know it as well as a deviation
_LEAST_FREEDOM = 1.5  # of Student's distribution
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
    n_independent : ndarray of shape (n_outputs,)
        How many errors that do not depend on each other say as much.
    """

    growth: FloatArray
    ratios: FloatArray
    n_independent: FloatArray

    @classmethod
    def of(cls, errors: FloatArray, n_apart: float) -> Intervals:
        """Those from errors (n_origins, n_judged, n_outputs), which have `n_apart` stretches that do not overlap."""
        rms = np.sqrt((errors**2).mean(axis=0))
        growth = np.stack([isotonic_regression(column) for column in rms.T], axis=1)
        ratios = errors / np.maximum(growth, _TINY)
        n_independent = np.maximum(1.0, n_apart * _independent(ratios))
        return cls(growth, np.abs(ratios).reshape(-1, errors.shape[2]), n_independent)

    def half_widths(self, n_steps: int, level: float, growth: FloatArray | None = None) -> FloatArray:
        """Half the width (n_steps, n_outputs) of the intervals that are to hold this share of the values.

        Past what was judged they widen as those of a random walk, and with the `growth` (n_steps, n_outputs) of the
        range. They are the wider the fewer of the errors are independent, as Student's distribution is wider than the
        normal one.
        """
        judged, step = len(self.growth), np.arange(n_steps)
        beyond = np.sqrt(np.maximum((step + 1) / judged, 1.0))[:, None]
        if growth is not None:
            beyond = beyond * growth / growth[np.minimum(step, judged - 1)]
        freedom = np.maximum(_LEAST_FREEDOM, self.n_independent / _FOR_A_QUANTILE)
        widen = stdtrit(freedom, 0.5 + level / 2) / ndtri(0.5 + level / 2)
        quantile = np.quantile(self.ratios, level, axis=0)
        return widen * quantile * self.growth[np.minimum(step, judged - 1)] * beyond


def _independent(errors: FloatArray) -> FloatArray:
    """How many independent errors (n_outputs,) those of one stretch (n_origins, n_judged, n_outputs) are worth.

    The variance of a mean of squares grows by the squared autocorrelations (M. S. Bartlett, Journal of the Royal
    Statistical Society 98 (1935), 536-543).
    """
    n_judged, n_outputs = errors.shape[1:]
    power = (errors**2).mean(axis=(0, 1)) + _TINY
    inflation = np.ones(n_outputs)
    for lag in range(1, n_judged):
        correlation = (errors[:, lag:] * errors[:, :-lag]).mean(axis=(0, 1)) / power
        inflation += 2 * (1 - lag / n_judged) * correlation**2
    return n_judged / inflation

"""Scores of predictions, for values and weights of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

__all__ = ["accuracy", "r_squared"]

_MAX = np.finfo(np.float64).max


def r_squared(true: NDArray[Any], predicted: NDArray[Any], weights: NDArray[Any] | None = None) -> float:
    """R^2 averaged over the outputs: scikit-learn's `r2_score`, whose squares neither overflow nor vanish.

    R^2 does not depend on the unit, so each output is measured in its own spread; powers of two change no digit.

    Parameters
    ----------
    true, predicted : float64 ndarray of shape (n,) or (n, n_outputs)
        Finite.
    weights : float64 ndarray of shape (n,), optional
        Finite, not negative and not all zero.

    Returns
    -------
    float
        -inf where it is beyond what float64 can hold.
    """
    with np.errstate(over="ignore"):  # of predictions that are out of all proportion
        halves = true.max(axis=0) / 2 - true.min(axis=0) / 2
        scale = np.where(halves > 0.0, halves, np.abs(true / 2 - predicted / 2).max(axis=0))
        exponent = -np.frexp(scale)[1]
        small, small_predicted = (np.clip(np.ldexp(values, exponent), -_MAX, _MAX) for values in (true, predicted))
        return float(r2_score(small, small_predicted, sample_weight=_relative(weights)))


def accuracy(right: NDArray[np.bool_], weights: NDArray[Any] | None = None) -> float:
    """Share of what is right, by weight."""
    return float(np.average(right, weights=_relative(weights)))


def _relative(weights: NDArray[Any] | None) -> NDArray[Any] | None:
    """Weights of at most 1, whose sum cannot overflow."""
    return None if weights is None else np.ldexp(weights, -np.frexp(weights.max())[1])

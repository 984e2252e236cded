"""Scores of predictions and of forecasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import mean_absolute_error, r2_score

__all__ = ["ForecastScorer", "accuracy", "mase", "r_squared"]

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


# ---------------------------------------------------------------------- forecasts


def mase(true: Any, predicted: Any, known: Any, season: int | None = 1) -> Any:
    """Mean absolute scaled error: the error of a forecast, in units of what a naive one errs by in the known series.

    Parameters
    ----------
    true, predicted : array_like of shape (n_steps,) or (n_steps, n_outputs)
        What came, and what was forecast.
    known : array_like of shape (T,) or (T, n_outputs)
        The series that the forecast was made from.
    season : int, default=1
        The naive forecast is the value so many steps before.

    Returns
    -------
    float
        Averaged over the outputs; below 1 is better than naive. Infinite where the known series does not change.

    References
    ----------
    R. J. Hyndman and A. B. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22 (2006), 679-688.

    Examples
    --------
    >>> from evoke.metrics import mase
    >>> mase([4.0, 5.0], [4.5, 5.5], known=[1.0, 2.0, 3.0])
    0.5
    """
    true, predicted, known = (np.asarray(values, dtype=np.float64) for values in (true, predicted, known))
    if true.shape != predicted.shape or true.shape[1:] != known.shape[1:]:
        raise ValueError(f"true, predicted and known must match, got {true.shape}, {predicted.shape}, {known.shape}")
    if not 1 <= season < len(known):
        raise ValueError(f"season must be from 1 to {len(known) - 1}, less than the steps known, got {season!r}")
    naive = np.abs(known[season:] - known[:-season]).mean(axis=0)
    error = np.abs(true - predicted).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.where(error > 0.0, error / naive, 0.0)))


@dataclass(frozen=True)
class ForecastScorer:
    """A scorer for scikit-learn's searches and cross-validation: how far the continuation of a series is off.

    scikit-learn's own scorers, ``"neg_mean_absolute_error"`` for instance, ask ``predict`` for values at given inputs,
    which a forecast does not have. This one continues the series of `fit` by as many steps as the test part has.
    The test part must follow the training part at once, as with ``TimeSeriesSplit`` without a gap.

    Parameters
    ----------
    loss : callable, default=sklearn.metrics.mean_absolute_error
        Takes the true and the forecast values.

    Examples
    --------
    >>> from sklearn.model_selection import TimeSeriesSplit, cross_val_score
    >>> from evoke import EvokeForecaster, tasks
    >>> from evoke.metrics import ForecastScorer
    >>> model, y = EvokeForecaster(n_networks=4, random_state=0), tasks.superimposed_sines(2, 150)
    >>> cross_val_score(model, y, cv=TimeSeriesSplit(2, test_size=20), scoring=ForecastScorer()).shape
    (2,)
    """

    loss: Callable[[Any, Any], float] = mean_absolute_error

    def __call__(self, estimator: Any, y: Any, X: Any = None) -> float:
        """Minus the loss of what `estimator` says follows the series of its `fit`.

        Parameters
        ----------
        estimator : fitted forecaster
        y : array_like of shape (n_steps,) or (n_steps, n_outputs)
            What came.
        X : array_like of shape (n_steps, n_features), optional
            External inputs beside it.

        Returns
        -------
        float
            The greater, the better.

        Raises
        ------
        ValueError
            Several series, or one whose index does not follow that of `fit`.
        """
        if isinstance(y, (list, tuple)) and any(np.ndim(part) > 0 for part in y):
            raise ValueError("a forecast continues one series; split it with TimeSeriesSplit")
        forecast = estimator.generate(len(y), X=X)
        mine, theirs = getattr(forecast, "index", None), getattr(y, "index", None)
        if mine is not None and theirs is not None and not mine.equals(theirs):
            raise ValueError("y does not follow the series of fit at once, as TimeSeriesSplit without a gap has it")
        return -float(self.loss(y, forecast))

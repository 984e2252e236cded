"""Series to be continued: superimposed sines, Mackey-Glass, and their scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke._validation.arrays import FloatArray, check_dimensions, to_finite
from evoke._validation.errors import ParameterError, refusal
from evoke._validation.parameters import (
    check_integer,
    check_method,
    check_number,
    check_positive,
    check_random_state,
)
from evoke.tasks._limits import MOST_COUNT, MOST_STEPS

__all__ = [
    "FREQUENCIES",
    "SINES_SPLIT",
    "linear_window",
    "mackey_glass",
    "nrmse",
    "nrmse84",
    "superimposed_sines",
]


# Angular frequencies of the superimposed sines: two in the paper, the rest as in the literature that followed.
FREQUENCIES = (0.2, 0.311, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97)


@dataclass(frozen=True)
class SinesSplit:
    """Steps of the superimposed sines (paper, section 3.2), as the ends of half-open ranges.

    The readout is trained on ``y[washout:train_end]`` and judged on ``y[train_end:validation_end]``; the test is a free
    run over ``y[validation_end:test_end]``.
    """

    washout: int = 100
    train_end: int = 400
    validation_end: int = 700
    test_end: int = 1000


SINES_SPLIT = SinesSplit()


def superimposed_sines(n_waves: int = 2, n_steps: int = 1000, start: float = 1) -> FloatArray:
    """The sum of the first sines of the paper, y = sin(0.2 x) + sin(0.311 x) for two (section 3.2).

    Parameters
    ----------
    n_waves : int
        Up to 8, with the `FREQUENCIES` in their order.
    n_steps : int
        Length of the series.
    start : float
        The first x; the others are start + 1, start + 2 and so on.

    Returns
    -------
    ndarray of shape (n_steps,)

    Examples
    --------
    >>> superimposed_sines(2, 3).round(4).tolist()
    [0.5047, 0.9721, 1.3681]
    """
    n_waves = check_integer("n_waves", n_waves, 1, len(FREQUENCIES))
    start = check_number("start", start, -MOST_COUNT, MOST_COUNT)
    x = start + np.arange(check_integer("n_steps", n_steps, 0, MOST_STEPS))
    return np.sin(np.multiply.outer(x, FREQUENCIES[:n_waves])).sum(axis=1)


def mackey_glass(
    n_steps: int, tau: float = 17.0, *, step: float = 0.1, n_discard: int = 1000, random_state: Any = 0
) -> FloatArray:
    """The Mackey-Glass series dx/dt = 0.2 x(t - tau) / (1 + x(t - tau)^10) - 0.1 x, sampled at every unit of time.

    Integrated by the fourth-order Runge-Kutta method. The delayed values of its half steps are interpolated by cubics
    through values and slopes, which keeps the order.

    Parameters
    ----------
    n_steps : int
        Length of the series.
    tau : float
        Delay, a whole multiple of `step`; the series is chaotic from about 17 on.
    step : float
        Step of the integration, a whole fraction of 1.
    n_discard : int
        Values left out at the beginning, where the history still shows.
    random_state : int, SeedSequence, Generator or None
        Draws the constant history x(t <= 0) from [1.1, 1.3].

    Returns
    -------
    ndarray of shape (n_steps,)
    """
    n_discard = check_integer("n_discard", n_discard, 0, MOST_STEPS)
    n_values = n_discard + check_integer("n_steps", n_steps, 0, MOST_STEPS)
    check_positive("step", step)
    check_positive("tau", tau, MOST_COUNT)
    check_random_state(random_state)
    per_unit = round(1.0 / step) if 1.0 / MOST_COUNT <= step <= 1.0 else 0
    if not abs(per_unit * step - 1.0) < 1e-9:
        raise refusal("step", "be a whole fraction of 1", step)
    lag = round(tau * per_unit)
    if lag < 1 or abs(lag - tau * per_unit) > 1e-9 * lag:
        raise refusal("tau", f"be a multiple of step={step!r}", tau)
    if n_values * per_unit + lag > MOST_STEPS:
        raise ParameterError(
            f"n_steps must be lower, or step={step!r} larger: with n_discard={n_discard} and tau={tau!r} more than "
            f"{MOST_STEPS} steps would be made, got n_steps={n_steps}"
        )
    h = 1.0 / per_unit

    def slope(x: float, delayed: float) -> float:
        return 0.2 * delayed / (1.0 + delayed**10) - 0.1 * x

    history = float(np.random.default_rng(random_state).uniform(1.1, 1.3))
    x = [history] * (lag + 1)  # x[k] is the value at time (k - lag) h
    half = [history] * lag  # half[k] that at time (k - lag + 1/2) h
    slopes = [0.0] * lag  # only those from time 0 on are used
    for now in range(lag, lag + n_values * per_unit):
        slopes.append(slope(x[now], x[now - lag]))
        if now > lag:
            half.append((x[now - 1] + x[now]) / 2 + h * (slopes[now - 1] - slopes[now]) / 8)
        middle, end = half[now - lag], x[now - lag + 1]
        k1 = slopes[now]
        k2 = slope(x[now] + h / 2 * k1, middle)
        k3 = slope(x[now] + h / 2 * k2, middle)
        k4 = slope(x[now] + h * k3, end)
        x.append(x[now] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.array(x[lag + per_unit :: per_unit][n_discard:])


def nrmse(true: Any, predicted: Any) -> float:
    """Root of the mean squared error over the variance of the true values; over all outputs, where there are several.

    Parameters
    ----------
    true, predicted : array_like of shape (T,) or (T, n_outputs)
        Values of the same steps.

    Returns
    -------
    float
        0 for exact predictions, 1 for those of the mean.

    Raises
    ------
    ValueError
        Different shapes, nothing in them, NaN or infinity, or true values that do not vary.
    """
    true, predicted = to_finite(true, "true"), to_finite(predicted, "predicted")
    if true.shape != predicted.shape or true.size == 0:
        raise ValueError(f"true and predicted must have the same shape, got {true.shape} and {predicted.shape}")
    spread = float(((true - true.mean(axis=0)) ** 2).sum())
    if spread == 0.0:
        raise ValueError("true must vary: the error has no scale otherwise")
    return float(np.sqrt(((true - predicted) ** 2).sum() / spread))


def nrmse84(model: Any, series: Any, starts: Iterable[int]) -> float:
    """NRMSE84, the measure of the Mackey-Glass literature: the error 84 steps ahead, from several starts.

    From each start the model reads ``series[:start]`` and then runs on its own output for 84 steps; the last of them is
    held against ``series[start + 83]``. The root of the mean squared error is divided by the deviation of the series.

    Parameters
    ----------
    model : fitted `EvokeForecaster`, or any object with ``generate(n_steps, context=...)``
        What is judged; it is not changed.
    series : array_like of shape (T,)
        The series whose beginnings `model` reads.
    starts : iterable of int
        Each from 1 to ``T - 84``.

    Returns
    -------
    float
        0 for exact forecasts, about 1 for those of the mean.

    Raises
    ------
    ValueError
        No start, a start out of range, or a series that does not vary.
    """
    check_method("model", model, "generate")
    series = to_finite(series, "series")
    check_dimensions(series, "series", (1,))
    if len(series) < 85:
        raise ValueError(f"series must have at least 85 values, got {len(series)}")
    if not np.iterable(starts):
        raise refusal("starts", "be integers", starts)
    starts = [check_integer(f"starts[{i}]", start, 1, len(series) - 84) for i, start in enumerate(starts)]
    if not starts:
        raise refusal("starts", "hold at least one integer", starts)
    if not series.std() > 0.0:
        raise ValueError("series must vary: the error has no scale otherwise")
    reached = [float(np.ravel(model.generate(84, context=series[:start]))[-1]) for start in starts]
    wanted = series[np.array(starts) + 83]
    return float(np.sqrt(np.mean((np.array(reached) - wanted) ** 2)) / series.std())


def linear_window(series: Any, n_train: int, n_test: int, order: int = 40) -> FloatArray:
    """What a linear predictor makes of a series: least squares on the last `order` values, then left to itself.

    A sum of K sines obeys a linear recurrence of order 2 K, so on it this baseline is exact to rounding; results on
    superimposed sines are to be read beside it.

    Parameters
    ----------
    series : array_like of shape (T,)
        The series, of at least `n_train` values.
    n_train : int
        The weights are fitted to ``series[:n_train]``, which is then continued.
    n_test : int
        Number of values to predict.
    order : int
        Values that a prediction is made from, less than `n_train`.

    Returns
    -------
    ndarray of shape (n_test,)
    """
    series = to_finite(series, "series")
    check_dimensions(series, "series", (1,))
    order = check_integer("order", order, 1, MOST_COUNT)
    n_train = check_integer("n_train", n_train, order + 1, len(series))
    n_test = check_integer("n_test", n_test, 0, MOST_COUNT)
    known = series[:n_train]
    windows = np.lib.stride_tricks.sliding_window_view(known, order)
    weights = np.linalg.lstsq(windows[:-1], known[order:], rcond=None)[0]
    values = np.concatenate([known[-order:], np.empty(n_test)])
    for t in range(n_test):
        values[order + t] = values[t : order + t] @ weights
    return values[order:]

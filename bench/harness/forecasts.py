"""Series that are continued from several origins, with intervals that are meant to hold nine values of ten.

Errors are mean absolute ones over the mean absolute change from a season (or a step) before in the part that a method
learns from (MASE). Every method gets the series up to the origin and the length of the season, nothing else. ETS is the
model with the least AICc among additive and multiplicative ones; SARIMAX is chosen by pmdarima's stepwise search.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from evoke import EvokeForecaster
from harness.results import Part

N_ORIGINS, HORIZON = 10, 24
LEVEL = 0.9
FAR = 10.0  # a forecast further than so many ranges of the data from its middle has run away


class Series(NamedTuple):
    season: int  # 1: none
    horizon: int
    values: np.ndarray

    @property
    def origins(self) -> list[int]:
        """Lengths of the parts to learn from: evenly from half of the series to the last possible one."""
        n = len(self.values)
        return np.linspace(n // 2, n - self.horizon, N_ORIGINS).astype(int).tolist()


class Forecast(NamedTuple):
    """Each of shape (horizon,); no bounds where a method gives none."""

    values: np.ndarray
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None


@dataclass(frozen=True)
class Method:
    """(values, season, horizon, seed) -> forecast."""

    forecast: Callable[[np.ndarray, int, int, int], Forecast]
    package: str | None = None
    seeded: bool = False


@functools.cache
def load(name: str) -> Series:
    import pmdarima.datasets
    import statsmodels.api as sm

    if name == "airline":
        season, values = 12, pmdarima.datasets.load_airpassengers()
    elif name == "lynx":
        season, values = 1, pmdarima.datasets.load_lynx()
    elif name == "sunspots":
        season, values = 1, sm.datasets.sunspots.load_pandas().data["SUNACTIVITY"]
    elif name == "co2":
        weekly = sm.datasets.co2.load_pandas().data["co2"].interpolate()
        season, values = 12, weekly.resample("MS").mean()
    else:  # elnino: a year in a row
        season, values = 12, sm.datasets.elnino.load_pandas().data.iloc[:, 1:].to_numpy().ravel()
    return Series(season, HORIZON, np.asarray(values, dtype=float))


# ---------------------------------------------------------------- methods


def evoke(y: np.ndarray, season: int, horizon: int, seed: int) -> Forecast:
    model = EvokeForecaster(random_state=seed)
    model.set_params(season=season if season > 1 else None).fit(y)
    return Forecast(*model.generate(horizon, return_interval=LEVEL))


def seasonal_naive(y: np.ndarray, season: int, horizon: int, seed: int) -> Forecast:
    """The value of a season before; the deviation grows with the root of the number of seasons ahead."""
    values = np.resize(y[-season:], horizon)
    deviation = np.sqrt(np.mean((y[season:] - y[:-season]) ** 2)) * np.sqrt(1 + np.arange(horizon) // season)
    return Forecast(values, *normal_bounds(values, deviation))


def normal_bounds(values: np.ndarray, deviation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    reach = norm.ppf(0.5 + LEVEL / 2) * deviation
    return values - reach, values + reach


def ets(y: np.ndarray, season: int, horizon: int, seed: int) -> Forecast:
    import pandas as pd
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    y = pd.Series(y)  # predictions with bounds need an index
    kinds = ("add", "mul") if (y > 0).all() else ("add",)
    best = None
    for error in kinds:
        for trend, damped in ((None, False), ("add", False), ("add", True)):
            for seasonal in (None, *kinds) if season > 1 else (None,):
                periods = season if seasonal else None
                model = ETSModel(
                    y, error=error, trend=trend, damped_trend=damped, seasonal=seasonal, seasonal_periods=periods
                )
                try:
                    fitted = model.fit(disp=False, maxiter=200)
                except (ValueError, np.linalg.LinAlgError):
                    continue
                usable = np.isfinite(fitted.aicc) and np.isfinite(fitted.forecast(horizon)).all()
                if usable and (best is None or fitted.aicc < best.aicc):
                    best = fitted
    predicted = best.get_prediction(len(y), len(y) + horizon - 1, rng=np.random.default_rng(0))
    bounds = np.asarray(predicted.pred_int(alpha=1 - LEVEL))
    return Forecast(np.asarray(best.forecast(horizon)), *bounds.T)


def sarimax(y: np.ndarray, season: int, horizon: int, seed: int) -> Forecast:
    import pmdarima

    model = pmdarima.auto_arima(
        y, m=season, seasonal=season > 1, max_p=3, max_q=3, max_P=1, max_Q=1, maxiter=30, suppress_warnings=True,
        error_action="ignore",
    )
    values, bounds = model.predict(horizon, return_conf_int=True, alpha=1 - LEVEL)
    return Forecast(np.asarray(values), *np.asarray(bounds).T)


METHODS = {
    "evoke": Method(evoke, "pmdarima", seeded=True),
    "seasonal naive": Method(seasonal_naive, "pmdarima"),
    "ETS": Method(ets, "pmdarima"),
    "SARIMAX": Method(sarimax, "pmdarima"),
}  # the package is that with the data


# ---------------------------------------------------------------- measuring


def judged(series: Series, origin: int, forecast: Forecast) -> dict[str, Any]:
    """MASE, the share of the true values within the bounds, and whether the forecast ran away."""
    known, true = series.values[:origin], series.values[origin : origin + series.horizon]
    unit = np.abs(known[series.season :] - known[: -series.season]).mean()
    reach = FAR * np.ptp(known)
    if not np.isfinite(forecast.values).all():
        return {"origin": origin, "mase": None, "covered": None, "ran_away": True}
    away = not (np.abs(forecast.values - known.mean()) < reach).all()
    covered = None
    if forecast.lower is not None:
        covered = float(np.mean((forecast.lower <= true) & (true <= forecast.upper)))
    return {
        "origin": origin, "mase": float(np.abs(forecast.values - true).mean() / unit), "covered": covered,
        "ran_away": away,
    }  # fmt: skip


def mean(values: list[float | None]) -> float | None:
    """None where one of them is: a forecast that is not a number spoils the mean, and not every method has bounds."""
    return None if None in values else float(np.mean(values))


def measure(name: str, method: str, seed: int) -> dict[str, Any]:
    """Means over the origins, and what was found at each."""
    series, found = load(name), []
    for origin in series.origins:
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of searches that do not converge
            made = METHODS[method].forecast(series.values[:origin], series.season, series.horizon, seed)
        found.append(judged(series, origin, made) | {"seconds": time.perf_counter() - begin})
    return {
        "mase": mean([one["mase"] for one in found]), "covered": mean([one["covered"] for one in found]),
        "ran_away": sum(one["ran_away"] for one in found),
        "seconds": float(np.mean([one["seconds"] for one in found])), "origins": found,
    }  # fmt: skip


FORECASTS = Part(("airline", "lynx", "sunspots", "co2", "elnino"), METHODS, measure)

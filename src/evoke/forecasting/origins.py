"""Rolling origins: where the free runs begin by which forecasts are judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke.forecasting.reach import growth_rate

__all__ = ["Origins", "least_known", "mean_change"]

_N_ORIGINS = 24
_LEAST_ORIGINS = 2  # of each of many series
_HORIZON = 24  # of a series without a season; else two seasons
_LEAST_KNOWN = 20
_MOST_LIVELY = 4.0  # a series that hardly changed before
_CONSTANT = 1e-12  # times its largest value, a series that changes by less does not change


@dataclass(frozen=True)
class Origins:
    """Steps in the second half of the last series, or of all where the last is too short for networks of its own.

    Its own errors say most about it: forecasts of simulated series became worse where all were judged, and better only
    where the last had 24 to 28 steps.

    Attributes
    ----------
    steps : tuple of tuple of int
        Those of each series, ascending; none where it is too short.
    lengths : tuple of int
        Of the series.
    n_judged : int
        Steps that are judged after each.
    """

    steps: tuple[tuple[int, ...], ...]
    lengths: tuple[int, ...]
    n_judged: int

    @classmethod
    def of(cls, lengths: Sequence[int], season: int) -> Origins:
        """Those of series of these lengths.

        Raises
        ------
        ValueError
            The last has less than two steps.
        """
        if lengths[-1] < 2:
            raise ValueError(f"y has n_samples={lengths[-1]} step: validation='rolling' takes at least 2")
        alone = lengths[-1] // 2 >= least_known(season)
        n_judged = max(1, min(2 * season if season > 1 else _HORIZON, (lengths[-1] if alone else max(lengths)) // 4))
        long = [n >= 2 * n_judged and (i == len(lengths) - 1 or not alone) for i, n in enumerate(lengths)]
        n_each = max(_LEAST_ORIGINS if sum(long) > 1 else _N_ORIGINS, -(-_N_ORIGINS // sum(long)))
        steps = []
        for n, is_long in zip(lengths, long, strict=True):
            begin = max(n // 2, n - n_judged - n_each * max(1, n_judged // 2))
            found = np.linspace(begin, n - n_judged, n_each).astype(int).tolist() if is_long else []
            steps.append(tuple(sorted(set(found))))
        return cls(tuple(steps), tuple(lengths), n_judged)

    @property
    def judged(self) -> list[int]:
        """The numbers of the series that have some."""
        return [i for i, steps in enumerate(self.steps) if steps]

    @property
    def n_apart(self) -> float:
        """How many stretches of judged steps that do not overlap there are room for."""
        return sum(self.lengths[i] - self.lengths[i] // 2 for i in self.judged) / self.n_judged

    @property
    def far(self) -> NDArray[np.bool_]:
        """Which origins (n_origins, n_origins) say something of their own beside one.

        Those whose judged steps are others, and in any case the half that is furthest away.
        """
        series = np.repeat(self.judged, [len(self.steps[i]) for i in self.judged])
        step = np.concatenate([self.steps[i] for i in self.judged])
        apart = np.where(series[:, None] == series, np.abs(step[:, None] - step), np.inf)
        half = np.sort(apart, axis=1)[:, len(step) // 2]
        return np.asarray(apart >= np.minimum(self.n_judged, half)[:, None])

    def least_before(self, start: int) -> int:
        """The fewest values there are to learn from, in the least favourable case, where series have them from `start`.

        They are those before an origin, of which there must be one, and all of the other series.
        """
        known = [max(0, n - start) for n in self.lengths]
        before = [(self.steps[i][0] - start, sum(known) - known[i]) for i in self.judged]
        return min(own + others if own > 0 else 0 for own, others in before)

    def truth(self, values: list[FloatArray]) -> FloatArray:
        """The judged steps (n_origins, n_judged, n_outputs) of the values of the series."""
        return np.stack([values[i][o : o + self.n_judged] for i in self.judged for o in self.steps[i]])

    def bounds(self, values: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
        """The least and the largest value (n_origins, 1, n_outputs) of the series that each origin is in."""
        return self._spread([y.min(axis=0) for y in values]), self._spread([y.max(axis=0) for y in values])

    def scale(self, values: list[FloatArray], season: int) -> FloatArray:
        """Factors (n_origins, 1, n_outputs) that bring errors in the series of each origin to those of the last series.

        They are in units of `mean_change`.
        """
        changes = [mean_change(y, season) for y in values]
        return self._spread([changes[-1] / change for change in changes])

    def liveliness(self, values: list[FloatArray], season: int) -> FloatArray:
        """How many times as much (n_origins, 1, n_outputs) a series changes as it did before an origin.

        One that changes ever more does so as much more as it has grown since.
        """
        return np.stack([_times_as_lively(values[i], o, season) for i, o in self._each()])[:, None]

    def _spread(self, of_series: list[FloatArray]) -> FloatArray:
        return np.stack([of_series[i] for i, _ in self._each()])[:, None]

    def _each(self) -> Iterator[tuple[int, int]]:
        return ((i, o) for i in self.judged for o in self.steps[i])


def least_known(season: int) -> int:
    """Values that there must be to learn from before an origin."""
    return max(_LEAST_KNOWN, season)


def mean_change(y: FloatArray, season: int) -> FloatArray:
    """Mean absolute change (n_outputs,) from a season before, or from the step before where a series is too short.

    The unit of errors of R. J. Hyndman and A. B. Koehler, International Journal of Forecasting 22 (2006), 679-688; 1
    where nothing changes.
    """
    lag = season if len(y) > season else 1
    if len(y) <= lag:
        return np.ones(y.shape[1])
    change = np.abs(y[lag:] - y[:-lag]).mean(axis=0)
    return np.where(change > _CONSTANT * np.abs(y).max(axis=0), change, 1.0)


def _times_as_lively(y: FloatArray, origin: int, season: int) -> FloatArray:
    lag = season if origin > season else 1
    if origin <= lag:
        return np.ones(y.shape[1])
    change = np.abs(y[lag:] - y[:-lag])
    whole, before = change.mean(axis=0), change[: origin - lag].mean(axis=0)
    times = np.divide(whole, before, out=np.full_like(whole, _MOST_LIVELY), where=_MOST_LIVELY * before > whole)
    rate = growth_rate(y, season)
    times = np.where(rate > 0.0, np.maximum(times, np.exp(rate * (len(y) - origin))), times)
    return np.where(whole > 0.0, times, 1.0)

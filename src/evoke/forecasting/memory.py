"""What rolling origins will take of memory, before the work begins."""

from __future__ import annotations

from collections.abc import Sequence

from evoke.forecasting.machines import CAPACITIES as MACHINE_CAPACITIES
from evoke.forecasting.machines import MOST_TRAINED, WIDTHS
from evoke.forecasting.origins import Origins
from evoke.forecasting.reader import N_JOINED, ROWS
from evoke.forecasting.ridge import CAPACITIES
from evoke.forecasting.settings import RollingSettings
from evoke.landmarks import CANDIDATES, MOST_SUMS

__all__ = ["memory_of"]

_DOUBLE = 8  # bytes

# Copies: of a series and what networks read of it, of features on their way into a readout, of free runs, of the
# forecasts of each candidate.
_SERIES, _FEATURES, _RUNS, _PATHS = 8, 5, 3, 3


def memory_of(settings: RollingSettings, lengths: Sequence[int], n_outputs: int, n_external: int) -> int:
    """Bytes beyond the data, about, for series of these lengths, all in all."""
    n_steps, origins = sum(lengths), Origins.of(lengths, settings.n_season)
    settings = settings.settled(n_steps)
    n_origins = sum(len(steps) for steps in origins.steps)
    n_transformations = settings.n_transformations
    joined = min(N_JOINED, settings.n_networks)
    lags, readout_lags = settings.lags
    n_inputs = len(lags) * n_outputs + n_external + 1
    n_features = joined * settings.n_cells + len(readout_lags) * n_outputs + n_external
    total = n_steps * (_SERIES * n_outputs + n_inputs)
    rows, before = min(n_steps, ROWS), max(*lags, *readout_lags)

    def of_readouts(n_readouts: int, n_capacities: int) -> int:
        runs = n_readouts * n_origins * n_capacities * (_RUNS * (before + origins.n_judged) * n_outputs + n_features)
        paths = _PATHS * n_transformations * n_capacities * n_origins * origins.n_judged * n_outputs
        return n_readouts * rows * n_features * _FEATURES + runs + paths

    if "ridge" in settings.readouts:
        n_readouts = settings.n_networks // joined
        weights = n_transformations * len(CAPACITIES) * n_features * n_outputs
        total += of_readouts(n_readouts, len(CAPACITIES))
        total += n_readouts * (n_origins + 1) * (weights + (n_features + n_outputs + 1) ** 2)
    if settings.has_machines:
        n, m = min(settings.n_machines, settings.n_networks // joined), settings.n_landmarks
        total += of_readouts(n, len(WIDTHS) * len(MACHINE_CAPACITIES))
        total += 2 * n * min(n_steps, MOST_TRAINED) * n_features
        total += m * m * (CANDIDATES + MOST_SUMS + len(WIDTHS)) + n_transformations * n * len(WIDTHS) * m * n_features
    return _DOUBLE * total

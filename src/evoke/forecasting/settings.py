"""What a forecast from rolling origins is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.sequences.transformation import Transformation

__all__ = ["RollingSettings"]

# Steps in all from which machines on landmarks are tried too, and the last values that they read.
MANY_ROWS, _MANY_LAGS = 1_000, 24


@dataclass(frozen=True, kw_only=True)
class RollingSettings:
    """Parameters of the estimator."""

    n_cells: int
    cell: str
    weight_range: float
    n_networks: int
    season: int | None
    difference: Any
    log: Any
    entropy: int
    max_seconds: float | None
    verbose: bool
    readouts: tuple[str, ...] = ()
    n_landmarks: int = 512

    def settled(self, n_rows: int) -> RollingSettings:
        """With the kinds of readouts that go with so many steps in all, where none is asked for."""
        if self.readouts:
            return self
        return replace(self, readouts=("ridge", "landmarks") if n_rows >= MANY_ROWS else ("ridge",))

    @property
    def has_machines(self) -> bool:
        """Whether machines on landmarks read networks."""
        return "landmarks" in self.readouts

    @property
    def n_machines(self) -> int:
        """Readouts whose networks are read by machines on landmarks too, or by these alone."""
        return 1 if "ridge" in self.readouts else self.n_networks

    def transformations(self, y: FloatArray) -> list[Transformation]:
        """Those that are tried for series with these values."""
        positive = bool((y > 0.0).all())
        if self.log is True and not positive:
            row, column = np.argwhere(~(y > 0.0))[0].tolist()
            raise ValueError(f"log=True takes values above 0, but y has {y[row, column]:g} at step {row}")
        logs = [False, True][: 1 + positive] if self.log == "auto" else [bool(self.log)]
        return [Transformation(log, lags) for log in logs for lags in self._differences]

    @property
    def _differences(self) -> list[tuple[int, ...]]:
        if self.difference != "auto":
            return [self.difference]
        seasonal = [(self.n_season,), (self.n_season, 1)] if self.n_season > 1 else []
        return [(), (1,), *seasonal]

    @property
    def n_transformations(self) -> int:
        """Those that are tried, at most."""
        return len(self._differences) * (2 if self.log == "auto" else 1)

    @property
    def n_season(self) -> int:
        return self.season or 1

    @property
    def stated(self) -> bool:
        """Whether a transformation is asked for by name."""
        return self.difference != "auto" or self.log is True

    @property
    def lags(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Own values that the networks read, and that the readouts read."""
        m = self.n_season
        if self.has_machines:
            return (1, m) if m > 1 else (1,), tuple(sorted({*range(1, _MANY_LAGS + 1), m, m + 1}))
        return ((1, m), (1, 2, 3, m, m + 1)) if m > 1 else ((1,), (1, 2, 3, 4, 5, 6, 7, 8))

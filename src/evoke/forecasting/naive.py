"""Naive methods: what others are measured by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evoke._validation.arrays import FloatArray

__all__ = ["naive_paths"]


def naive_paths(
    y: FloatArray, origins: Sequence[int], season: int, n_steps: int, *, seasonal: bool
) -> list[FloatArray]:
    """What naive methods say: the last value, the mean, and the last season again; each (1, n_origins, n_steps, q)."""
    paths = [
        np.stack([np.broadcast_to(y[o - 1], (n_steps, y.shape[1])) for o in origins])[None],
        np.stack([np.broadcast_to(y[:o].mean(axis=0), (n_steps, y.shape[1])) for o in origins])[None],
    ]
    if seasonal:
        again = np.arange(n_steps) % season
        paths.append(np.stack([y[o - min(season, o) : o][again % min(season, o)] for o in origins])[None])
    return paths

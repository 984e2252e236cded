"""How far forecasts from rolling origins were off, beside naive ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evoke._validation.arrays import FloatArray

__all__ = ["JudgedForecasts"]


@dataclass(frozen=True)
class JudgedForecasts:
    """Mean absolute scaled errors of free runs from rolling origins.

    Attributes
    ----------
    error : float
        Of forecasts whose readouts were trained before their origins, and weighted by the errors from other origins.
    naive : dict of float
        Of naive methods, by what they say.
    n_origins, n_steps : int
        How many there were, and how many steps after each are judged.
    """

    error: float
    naive: dict[str, float]
    n_origins: int
    n_steps: int

    @classmethod
    def of(cls, errors: FloatArray, naive: list[FloatArray], unit: FloatArray, season: int) -> JudgedForecasts:
        """Those of errors (n_origins, n_steps, n_outputs), and of `naive_paths`; `unit` (n_outputs,) is that of 1."""
        names = ["the last value", "the mean", f"the value {season} steps before"]
        found = {name: _scaled(each, unit) for name, each in zip(names, naive, strict=False)}
        return cls(_scaled(errors, unit), found, *errors.shape[:2])


def _scaled(errors: FloatArray, unit: FloatArray) -> float:
    return float((np.abs(errors) / unit).mean())

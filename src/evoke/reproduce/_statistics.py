"""Statistics that may be infinite, and how JSON holds them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["finite", "quartiles"]


def finite(value: float) -> float | None:
    """The value as JSON can hold it: None if it is infinite or NaN."""
    return float(value) if math.isfinite(value) else None


def quartiles(values: list[float]) -> NDArray[np.float64]:
    """First quartile, median and third quartile of values that may be infinite."""
    with np.errstate(invalid="ignore"):
        between = np.percentile(values, [25, 50, 75])
    # next to an infinite value, NumPy's interpolation gives NaN even where it is not needed
    return np.where(np.isnan(between), np.percentile(values, [25, 50, 75], method="higher"), between)

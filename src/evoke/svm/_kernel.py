"""The kernel K(x, z) and its parameters."""

from __future__ import annotations

import math
from typing import Any

from evoke._core import qp

__all__ = ["check_kernel"]


def check_kernel(kernel: Any, gamma: Any, coef0: Any, degree: Any) -> None:
    """A kernel as the core takes it."""
    if kernel not in qp.KERNELS:
        raise ValueError(f"kernel must be one of {qp.KERNELS}, got {kernel!r}")
    if type(gamma) is not float or not 0 < gamma < math.inf:
        raise ValueError(f"gamma must be a positive finite number, got {gamma!r}")
    if type(coef0) is not float or not math.isfinite(coef0):
        raise ValueError(f"coef0 must be a finite number, got {coef0!r}")
    if type(degree) is not int or not 0 <= degree < 2**31:
        raise ValueError(f"degree must be an integer from 0 to 2**31 - 1, got {degree!r}")

"""Bounds of what the core computes, in decimal arithmetic of 40 digits."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

__all__ = [
    "DOWN", "ERROR", "UNIT", "UP", "CertificateError", "Ends", "bounded", "demand", "inside", "logistic", "nearest",
    "product", "rounded", "tanh", "total",
]  # fmt: skip

DOWN, UP = Context(prec=40, rounding=ROUND_FLOOR), Context(prec=40, rounding=ROUND_CEILING)
UNIT = Decimal(2) ** -53
ERROR = Decimal(2) ** -50  # relative, 4 units in the last place; `csrc/vecmath.h` states 3
EXP_ERROR = Decimal("1e-38")  # that of Decimal.exp, with a wide margin
ONE_LOGISTIC, ONE_TANH, LEAST_LOGISTIC = Decimal("36.75"), Decimal("19.07"), Decimal(-708)

Ends = tuple[float, float]


class CertificateError(ValueError):
    """The certificate does not hold, or is none; the message says where."""


def demand(holds: bool, message: str) -> None:
    if not holds:
        raise CertificateError(message)


def total(constants: list[Any], weights: list[Decimal], values: list[Any]) -> tuple[Decimal, Decimal]:
    """The constants plus the weighted values, as the core may round them."""
    low = high = size = Decimal(0)
    terms = list(constants)
    for w, (a, b) in zip(weights, values, strict=True):
        if w < 0:
            a, b = b, a
        terms.append((DOWN.multiply(w, a), UP.multiply(w, b)))
    for a, b in terms:
        low, high = DOWN.add(low, a), UP.add(high, b)
        size = UP.add(size, max(abs(a), abs(b)))
    error = UP.add(UP.multiply(size, (len(terms) + 2) * UNIT), Decimal("1e-300"))
    return DOWN.subtract(low, error), UP.add(high, error)


def rounded(x: Decimal, direction: int) -> float:
    """A float on that side of x."""
    value = float(x)
    if direction < 0 and Decimal(value) > x:
        return math.nextafter(value, -math.inf)
    if direction > 0 and Decimal(value) < x:
        return math.nextafter(value, math.inf)
    return value


def logistic(x: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds of the core's logistic function at x."""
    if x >= ONE_LOGISTIC:
        return Decimal(1), Decimal(1)
    if x <= LEAST_LOGISTIC:
        return Decimal(0), Decimal("1e-307")
    power = DOWN.exp(-x)
    low = DOWN.divide(1, UP.add(1, UP.multiply(power, 1 + EXP_ERROR)))
    high = UP.divide(1, DOWN.add(1, DOWN.multiply(power, 1 - EXP_ERROR)))
    return DOWN.multiply(low, 1 - ERROR), min(UP.multiply(high, 1 + ERROR), Decimal(1))


def tanh(x: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds of the core's tanh at x."""
    if x < 0:
        low, high = tanh(-x)
        return -high, -low
    if x == 0 or x >= ONE_TANH:
        return (Decimal(0),) * 2 if x == 0 else (Decimal(1),) * 2
    if x < Decimal("1e-9"):  # x - x^3 / 3 < tanh(x) < x
        low, high = DOWN.multiply(x, 1 - Decimal("1e-18")), x
    else:
        power = DOWN.exp(2 * x)
        low = DOWN.subtract(1, UP.divide(2, DOWN.add(1, DOWN.multiply(power, 1 - EXP_ERROR))))
        high = UP.subtract(1, DOWN.divide(2, UP.add(1, UP.multiply(power, 1 + EXP_ERROR))))
    tiny = Decimal("1e-322")
    low = DOWN.subtract(DOWN.multiply(low, 1 - ERROR), tiny)
    return max(low, Decimal(0)), min(UP.add(UP.multiply(high, 1 + ERROR), tiny), Decimal(1))


def bounded(function: Any, x: tuple[Decimal, Decimal]) -> Ends:
    return rounded(function(x[0])[0], -1), rounded(function(x[1])[1], 1)


def product(a: Ends, b: Ends) -> Ends:
    """Of floats, rounded as the core does: rounding keeps the order."""
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def nearest(x: Fraction) -> Fraction:
    """The float next to x, as the core rounds it."""
    return Fraction(float(x))


def inside(inner: tuple[Ends, ...], outer: tuple[Ends, ...]) -> bool:
    return all(c <= a and b <= d for (a, b), (c, d) in zip(inner, outer, strict=True))

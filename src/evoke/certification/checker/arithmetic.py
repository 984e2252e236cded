"""Bounds of what the core computes, in decimal arithmetic of 40 digits."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

__all__ = [
    "DOWN", "LESS", "MORE", "SMALLEST", "UNIT", "UP", "CertificateError", "Constant", "Ends", "Values", "constant",
    "demand", "exponentials", "inside", "logistic", "nearest", "product", "rounded", "tanh", "total", "values",
]  # fmt: skip

DOWN, UP = Context(prec=40, rounding=ROUND_FLOOR), Context(prec=40, rounding=ROUND_CEILING)
UNIT = Decimal(2) ** -53
ERROR = Decimal(2) ** -50  # relative, 4 units in the last place; `csrc/vecmath.h` states 3
EXP_ERROR = Decimal("1e-38")  # that of Decimal.exp, with a wide margin
MORE, LESS = UP.add(1, ERROR), DOWN.subtract(1, ERROR)
CLOSE, TINY, SMALLEST, SUBNORMAL = Decimal("1e-9"), Decimal("1e-9"), Decimal("1e-300"), Decimal("1e-322")
HALF, ALMOST = Decimal("0.5"), DOWN.subtract(1, Decimal("1e-18"))
ONE_LOGISTIC, ONE_TANH, LEAST_LOGISTIC = Decimal("36.75"), Decimal("19.07"), Decimal(-708)

Ends = tuple[float, float]


class CertificateError(ValueError):
    """The certificate does not hold, or is none; the message says where."""


def demand(holds: bool, message: str) -> None:
    if not holds:
        raise CertificateError(message)


class Values(NamedTuple):
    """Numbers between low and high, with the most that each is in size."""

    low: list[Decimal]
    high: list[Decimal]
    size: list[Decimal]


class Constant(NamedTuple):
    """A sum of n numbers: bounds, and the sum of their sizes."""

    low: Decimal
    high: Decimal
    size: Decimal
    n: int


def values(ends: list[tuple[Any, Any]]) -> Values:
    low, high = [Decimal(a) for a, _ in ends], [Decimal(b) for _, b in ends]
    return Values(low, high, [max(a.copy_abs(), b.copy_abs()) for a, b in zip(low, high, strict=True)])


def constant(numbers: list[Decimal]) -> Constant:
    """The sum of some numbers, as a part of `total`."""
    low = high = size = Decimal(0)
    for number in numbers:
        low, high, size = DOWN.add(low, number), UP.add(high, number), UP.add(size, number.copy_abs())
    return Constant(low, high, size, len(numbers))


def total(first: Constant, weights: list[Decimal], terms: Values) -> tuple[Decimal, Decimal]:
    """The constant plus the weighted terms, as the core may round them."""
    low, high, size, n = first
    for w, a, b, c in zip(weights, *terms, strict=True):
        if w < 0:
            a, b = b, a
        low, high, size = DOWN.fma(w, a, low), UP.fma(w, b, high), UP.fma(w.copy_abs(), c, size)
    error = UP.fma(size, (len(weights) + n + 2) * UNIT, SMALLEST)
    return DOWN.subtract(low, error), UP.add(high, error)


def rounded(x: Decimal, direction: int) -> float:
    """A float on that side of x."""
    value = float(x)
    if direction < 0 and Decimal(value) > x:
        return math.nextafter(value, -math.inf)
    if direction > 0 and Decimal(value) < x:
        return math.nextafter(value, math.inf)
    return value


def exponentials(low: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
    """A lower bound of exp(low) and an upper bound of exp(high)."""
    power, w = DOWN.exp(low), UP.subtract(high, low)
    if w < CLOSE:  # exp(w) < 1 + w + w^2 / 2 + w^3
        series = UP.add(1, UP.fma(UP.multiply(w, w), UP.add(HALF, w), w))
        most = UP.multiply(UP.fma(power, EXP_ERROR, power), series)
    else:
        most = UP.exp(high)
    return DOWN.fma(power, EXP_ERROR.copy_negate(), power), UP.fma(most, EXP_ERROR, most)


def logistic(low: Decimal, high: Decimal) -> Ends:
    """Bounds of the core's logistic function between two numbers."""
    if low >= ONE_LOGISTIC:
        return 1.0, 1.0
    if high <= LEAST_LOGISTIC:
        return 0.0, 1e-307
    powers = exponentials(min(high, ONE_LOGISTIC).copy_negate(), max(low, LEAST_LOGISTIC).copy_negate())
    below = rounded(DOWN.multiply(DOWN.divide(1, UP.add(1, powers[1])), LESS), -1)
    above = rounded(UP.multiply(UP.divide(1, DOWN.add(1, powers[0])), MORE), 1)
    return below if low > LEAST_LOGISTIC else 0.0, min(above, 1.0) if high < ONE_LOGISTIC else 1.0


def tanh(low: Decimal, high: Decimal) -> Ends:
    """Bounds of the core's tanh between two numbers."""
    if low < 0:
        below, above = tanh(max(high.copy_negate(), Decimal(0)), low.copy_negate())
        return -above, -below if high <= 0 else tanh(Decimal(0), high)[1]
    if low >= ONE_TANH:
        return 1.0, 1.0
    least, most = DOWN.multiply(low, ALMOST), high  # x - x^3 / 3 < tanh(x) < x
    if high >= TINY:
        end = min(high, ONE_TANH)
        powers = exponentials(DOWN.add(low, low), UP.add(end, end))
        most = UP.subtract(1, DOWN.divide(2, UP.add(1, powers[1])))
        if low >= TINY:
            least = DOWN.subtract(1, UP.divide(2, DOWN.add(1, powers[0])))
    above = 0.0 if high == 0 else 1.0
    if 0 < high < ONE_TANH:
        above = min(rounded(UP.fma(most, MORE, SUBNORMAL), 1), 1.0)
    return max(rounded(DOWN.fma(least, LESS, SUBNORMAL.copy_negate()), -1), 0.0), above


def product(a: Ends, b: Ends) -> Ends:
    """Of floats, rounded as the core does: rounding keeps the order."""
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def nearest(x: Fraction) -> Fraction:
    """The float next to x, as the core rounds it."""
    return Fraction(float(x))


def inside(inner: tuple[Ends, ...], outer: tuple[Ends, ...]) -> bool:
    return all(c <= a and b <= d for (a, b), (c, d) in zip(inner, outer, strict=True))

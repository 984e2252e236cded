"""Bounds of the weights that a search by ask and tell may give."""

from __future__ import annotations

from typing import Any

import numpy as np

from evoke._validation.arrays import FloatArray, to_array, to_real
from evoke._validation.errors import refusal
from evoke._validation.parameters import is_sequence

__all__ = ["Bounds", "bounds_of"]

# The largest finite bound, in which widths do not overflow.
MOST = 1e100


class Bounds:
    """A box of weights, into which values outside are mirrored at its walls.

    Clipped ones would heap up on the walls: heavy-tailed noise would give networks that differ in few weights, and a
    normal distribution would learn from steps that were not taken. Mirrored ones are as close to the wall as they were
    on the other side. What is inside keeps its bits.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_weights,)
        Of the weights of all subpopulations, end to end.
    lengths : tuple of int
    """

    def __init__(self, lower: FloatArray, upper: FloatArray, lengths: tuple[int, ...]):
        self.lower, self.upper = lower, upper
        ends = np.cumsum(lengths)[:-1]
        self._parts = list(zip(np.split(lower, ends), np.split(upper, ends), strict=True))

    @staticmethod
    def of(bounds: Any, lengths: tuple[int, ...]) -> Bounds | None:
        """Those that a user gives: (lower, upper), each a number or one for each weight; None for none."""
        if bounds is None:
            return None
        if not is_sequence(bounds) or len(bounds) != 2:
            raise refusal("bounds", "be None or a pair (lower, upper)", bounds)
        lower, upper = (_of_weights(side, f"bounds[{k}]", lengths) for k, side in enumerate(bounds))
        if not (lower < upper).all():
            k = int(np.argmin(lower < upper))
            pair = (float(lower[k]), float(upper[k]))
            raise refusal("bounds", f"be below each other, but those of weight {k} are not", pair)
        return Bounds(lower, upper, lengths)

    def mirror(self, values: FloatArray, part: int | None = None) -> FloatArray:
        """The values of subpopulation `part`, or of all end to end, inside."""
        lower, upper = (self.lower, self.upper) if part is None else self._parts[part]
        inside = (lower <= values) & (values <= upper)
        if inside.all():
            return values
        with np.errstate(invalid="ignore", over="ignore"):
            width = upper - lower
            turn = np.mod(values - lower, 2.0 * width)  # there and back
            both = lower + np.minimum(turn, 2.0 * width - turn)
            from_below, from_above = 2.0 * lower - values, 2.0 * upper - values
        folded = np.where(np.isinf(width), np.where(values < lower, from_below, from_above), both)
        folded = np.where(np.isnan(folded), np.where(values < lower, lower, upper), folded)
        return np.where(inside, values, np.clip(folded, lower, upper))

    def check(self, values: FloatArray, name: str, part: int | None = None) -> None:
        """That all values, of subpopulation `part` or of all end to end, are inside."""
        lower, upper = (self.lower, self.upper) if part is None else self._parts[part]
        outside = ~((lower <= values) & (values <= upper))
        if outside.any():
            *row, k = np.argwhere(outside)[0].tolist()
            place = f"weight {k}" if not row else f"row {row[0]}, weight {k}"
            demand = f"be within the bounds {lower[k]:g} and {upper[k]:g} at {place}"
            raise refusal(name, demand, float(values[outside][0]))

    def range_of(self, part: int, weight_range: float) -> tuple[FloatArray, FloatArray]:
        """What of [-weight_range, weight_range] lies inside, for each weight of a subpopulation."""
        lower, upper = self._parts[part]
        low, high = np.maximum(lower, -weight_range), np.minimum(upper, weight_range)
        if not (low < high).all():
            k = int(np.argmin(low < high))
            demand = f"reach into the bounds {lower[k]:g} and {upper[k]:g} of weight {k} of subpopulation {part}"
            raise refusal("weight_range", f"{demand}, or initial be given", weight_range)
        return low, high

    def state(self) -> dict[str, FloatArray]:
        """What the state of a search holds of them."""
        return {"lower": self.lower.copy(), "upper": self.upper.copy()}


def bounds_of(state: Any) -> tuple[FloatArray, FloatArray] | None:
    """The bounds that the state of a search holds, if there are any."""
    return (state["lower"], state["upper"]) if "lower" in state else None


def _of_weights(side: Any, name: str, lengths: tuple[int, ...]) -> FloatArray:
    """A number, or numbers as a genome has them or end to end, as one array of all weights."""
    demand = f"be a number, one for each of {sum(lengths)} weights end to end, or as `best` of lengths {lengths}"
    total = sum(lengths)
    if is_sequence(side) and any(is_sequence(part) for part in side):
        parts = [_numbers(part, f"{name}[{i}]") for i, part in enumerate(side)]
        if tuple(part.shape for part in parts) != tuple((length,) for length in lengths):
            raise refusal(name, demand, side)
        return np.concatenate(parts)
    numbers = _numbers(side, name)
    if numbers.shape not in ((), (total,)):
        raise refusal(name, demand, side)
    return np.array(np.broadcast_to(numbers, total))


def _numbers(values: Any, name: str) -> FloatArray:
    numbers = np.asarray(to_real(to_array(values, name), name, "iuf"), dtype=np.float64)
    if np.isnan(numbers).any():
        raise refusal(name, "not be NaN", values)
    if (np.isfinite(numbers) & (np.abs(numbers) > MOST)).any():
        raise refusal(name, f"be infinite or within {MOST:g}", values)
    return numbers

"""The check of balanced brackets: that no bracket leads out of the boxes of the certificate, at any depth.

A box holds the states and activations at one depth, after any string that ends there; the last ones do so for all
depths from the threshold on. There a state is within low..high + slope d at depth d. No sum within these ends is
rounded to beyond them: they are floating-point numbers, multiples z of a unit, or beyond z by a power of two of at most
a quarter of it; this is then either a floating-point number or half the distance to the next one at most, and z is
even. What is beyond z by less than half that distance is rounded onto it.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

from evoke.certification.checker.arithmetic import Ends, demand, inside, nearest
from evoke.certification.checker.network import Model

__all__ = ["BRACKETS", "check_depths"]

BRACKETS = {"dyck1": "balanced 1 2 and what they begin with, of any length, by depth"}
MOST_BOXES = 10**4
# By how much S and the brackets change the depth; what may follow at depth 0 and elsewhere: brackets, or the end.
CHANGES, AT_THE_END, INSIDE = (0, 1, -1), (0, 2), (0, 1)


class Box:
    """A box of the certificate."""

    def __init__(self, facts: Any, n_cells: int, place: str):
        self.depth, self.place = facts["depth"], place
        self.next = {1: facts["opens"], 2: facts["closes"]}
        self.cells = [(Fraction(low), Fraction(high)) for low, high in facts["cells"]]
        self.phi: tuple[Ends, ...] = tuple((float(low), float(high)) for low, high in facts["phi"])
        demand(type(self.depth) is int and len(self.cells) == len(self.phi) == n_cells, f"{place} is malformed")
        demand(all(low <= high for low, high in (*self.cells, *self.phi)), f"{place} is empty")


class Depths:
    """The boxes, and where symbols lead to from them."""

    def __init__(self, facts: Any, model: Model):
        self.model, self.most, self.threshold = model, facts["up_to"], facts["threshold"]
        demand(all(type(n) is int and n > 0 for n in (self.most, self.threshold)), "nothing is certified")
        demand((model.n_inputs, model.n_outputs) == (3, 3), "the model has other symbols")
        demand(0 < len(facts["boxes"]) <= MOST_BOXES, "there are no boxes, or too many")
        self.slopes = [Fraction(slope) for slope in facts["slopes"]]
        self.units = [Fraction(unit) for unit in facts["units"]]
        demand(len(self.slopes) == len(self.units) == model.n_cells, "not all cells have a slope")
        self.boxes = [Box(each, model.n_cells, f"box {k}") for k, each in enumerate(facts["boxes"])]
        for box in self.boxes:
            demand(0 <= box.depth <= min(self.threshold, self.most), f"{box.place} has a depth of its own")
            if box.depth == self.threshold:
                for ends, slope, unit in zip(box.cells, self.slopes, self.units, strict=True):
                    if slope:
                        self.check_ends(ends, slope, unit, box.place)

    def check_ends(self, ends: tuple[Fraction, Fraction], slope: Fraction, unit: Fraction, place: str) -> None:
        """That no number within these ends, and what is counted, is rounded to one beyond them."""
        demand(is_power_of_two(unit) and (slope / unit).denominator == 1, f"{place}: what a cell counts has no unit")
        largest = max(map(abs, ends)) + abs(slope) * self.most
        demand(largest <= (2**53 - 1) * unit, f"{place}: what a cell counts is rounded")
        for beyond in (-ends[0] % unit, ends[1] % unit):
            whole = beyond == 0 or (4 * beyond <= unit and is_power_of_two(beyond))
            demand(whole, f"{place}: what a cell counts is rounded to beyond its ends")

    def slopes_at(self, depth: int) -> list[Fraction]:
        return self.slopes if depth == self.threshold else [Fraction(0)] * len(self.slopes)

    def ranges(self, depth: int, symbol: int) -> list[tuple[int, int]]:
        """The depths of a box from where a symbol can be read, apart where it leads to other boxes."""
        by = CHANGES[symbol]
        last = self.most if depth == self.threshold else depth
        parts = [(depth, depth), (depth + 1, last)] if by < 0 else [(depth, min(last, self.most - by))]
        return [(first, last) for first, last in parts if first <= last and first + by >= 0]

    def check_move(self, cells: Any, phi: tuple[Ends, ...], depths: tuple[int, int], symbol: int, to: Box,
                   slopes: list[Fraction], place: str) -> None:  # fmt: skip
        """That a symbol leads from a box at some depths into another one."""
        by = CHANGES[symbol]
        demand(to.depth == min(depths[0] + by, self.threshold), f"{place}: {to.place} is of another depth")
        reached = []
        gates = self.model.gates(symbol, phi)
        both = zip(cells, to.cells, slopes, self.slopes_at(to.depth), gates, strict=True)
        for h, (ends, inner, slope, counts, (added, forget, output)) in enumerate(both):
            a, b = map(Fraction, added)
            low, high = (end + pick(slope * d for d in depths) for end, pick in zip(ends, (min, max), strict=True))
            # gates are not negative
            low, high = Fraction(forget[low < 0]) * low, Fraction(forget[high > 0]) * high
            low, high = nearest(low + a), nearest(high + b)
            after = [counts * (d + by) for d in depths]
            if slope and counts:
                least = min(abs(end + d) for end in inner for d in after)
                if any(end + after[0] <= 0 <= end + after[1] or end + after[1] <= 0 <= end + after[0] for end in inner):
                    least = Fraction(0)
                off = inner[0] + counts * by - ends[0] - a, ends[1] + b - counts * by - inner[1]
                whole = all(end % self.units[h] == 0 for end in inner)
                kept = forget[0] == 1.0 and all(x <= 0 or (whole and x * 2**54 < least) for x in off)
            else:
                alone = counts == 0 or depths[0] == depths[1]
                kept = alone and inner[0] + after[0] <= low and high <= inner[1] + after[0]
            demand(kept, f"{place}: cell {h} leaves {to.place}")
            reached.append(self.model.output(output, (float(low), float(high))))
        demand(inside(tuple(reached), to.phi), f"{place}: activations leave {to.place}")

    def check_all(self) -> Decimal:
        """That what is after S is in the first box, and no symbol leads out of all boxes; the least margin."""
        zero = [(Fraction(0), Fraction(0))] * self.model.n_cells
        nothing = ((0.0, 0.0),) * self.model.n_cells
        self.check_move(zero, nothing, (0, 0), 0, self.boxes[0], self.slopes_at(-1), "start")
        margins = []
        for box in self.boxes:
            legal = INSIDE if box.depth else AT_THE_END
            for output, (low, high) in enumerate(self.model.decisions(box.phi)):
                margins.append(low if output in legal else -high)
                demand(margins[-1] > 0, f"{box.place}: output {output} may be wrong, by {float(margins[-1]):.3g}")
            for symbol in (1, 2):
                ranges = self.ranges(box.depth, symbol)
                demand(len(box.next[symbol]) == len(ranges), f"{box.place}: it is not said where {symbol} leads to")
                for depths, k in zip(ranges, box.next[symbol], strict=True):
                    demand(type(k) is int and 0 <= k < len(self.boxes), f"{box.place}: {symbol} leads nowhere")
                    self.check_move(box.cells, box.phi, depths, symbol, self.boxes[k], self.slopes_at(box.depth),
                                    f"{box.place}, symbol {symbol}")  # fmt: skip
        return min(margins)


def is_power_of_two(x: Fraction) -> bool:
    return x > 0 and x.numerator & (x.numerator - 1) == x.denominator & (x.denominator - 1) == 0


def check_depths(facts: Any, model: Model) -> tuple[int, Decimal]:
    """How deep brackets are accepted, and the least margin."""
    depths = Depths(facts, model)
    return depths.most, depths.check_all()

"""Invariants of a network that reads balanced brackets, in strings of any length.

A place is how deep the brackets are, and what was read last. Depths below a threshold have places of their own, all
larger ones share theirs. At each place the states of cells and the activations are within a box that holds however the
place was reached: boxes begin with the one after the start symbol, and grow until no bracket leads out of them.

At the depths d that share a place the state of a cell that counts is within [low, high] + slope d. These ends are such
that no sum is rounded to beyond one, however often a bracket is read, since rounding keeps the order:

- what is counted, z + slope d, is a multiple of a power of two, the unit, and a floating-point number up to the largest
  depth;
- an end is z, or lies beyond it by a power of two of at most a quarter of the unit, which is then either a
  floating-point number too or at most half of the distance to the next one, and ties go to z, which is even;
- what is less than half that distance beyond z + slope d is rounded onto it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from evoke.certification.bounds import Box, Gates, Reader
from evoke.certification.states import Interval, NotProved, moved, path

__all__ = ["CLOSE", "OPEN", "START", "Boxes", "Held", "NoCounter", "Place", "lower_end", "slopes_of"]

# Symbols read, and by how much they change the depth.
START, OPEN, CLOSE = 0, 1, 2
CHANGES = {START: 0, OPEN: 1, CLOSE: -1}
# Outputs that may follow at depth 0 and elsewhere: one of the brackets, or the end.
AT_THE_END, INSIDE = (0, 2), (0, 1)
# How often an end of a box may grow; how often one of a cell that counts may, once it grows by more than it must; and
# how far an end may be.
MOST_GROWTH, MOST_DRIFTS, FAR = 80, 6, 1e290
# Places, of which there are many where states are of many kinds.
MOST_PLACES = 250
# Brackets that are read to see by how much a cell counts, and what is no counting.
MANY, FEW = 64, 32
NO_COUNT = 1e-9


class NoCounter(NotProved):
    """A cell does not count as was thought."""

    def __init__(self, reason: str, cell: int):
        super().__init__(reason)
        self.cell = cell


@dataclass(frozen=True)
class Place:
    """How deep, at most the threshold, which stands for all depths from there on; the symbols read last; a number for
    what each cell remembers, if that tells places apart."""

    depth: int
    last: tuple[int, ...]
    kind: tuple[int, ...] = ()


@dataclass(frozen=True)
class Held:
    """Bounds of the states, at shared places without what they count, and of the activations."""

    cells: tuple[Interval, ...]
    phi: Box
    added: tuple[float | None, ...] = ()  # the most that the last step added; None for cells that may forget

    def holds(self, other: Held) -> bool:
        """Whether the other box is within this one."""
        cells = all(a <= c and d <= b for (a, b), (c, d) in zip(self.cells, other.cells, strict=True))
        return cells and bool((self.phi[0] <= other.phi[0]).all() and (other.phi[1] <= self.phi[1]).all())


def slopes_of(reader: Reader, most: int) -> tuple[float, ...]:
    """By how much each cell counts a bracket, as far as that is exact up to a depth; 0 for cells that do not count."""
    symbols = [START, *[OPEN] * MANY, *[CLOSE] * FEW]
    _, phis = path(reader, symbols)
    up, down = (reader.gates(symbols[t], (phis[t - 1], phis[t - 1])) for t in (MANY, MANY + FEW))
    slopes = []
    for h in range(phis.shape[1]):
        opened, closed = (float(gates.added[0][h] + gates.added[1][h]) / 2 for gates in (up, down))
        kept = up.forget[0][h] == down.forget[0][h] == 1.0
        if not kept or abs(opened) * most < NO_COUNT or abs(opened + closed) > NO_COUNT * abs(opened):
            slopes.append(0.0)
        else:
            slope = _nearest(opened, _unit(opened, most))
            slopes.append(_nearest(slope, _unit(slope, most)) if slope else 0.0)
    return tuple(slopes)


def _unit(slope: float, most: int) -> Fraction:
    """The power of two whose multiples are floating-point numbers up to twice what is counted at the largest depth."""
    return _power_of_two(abs(Fraction(slope)) * most) / 2**52


def _power_of_two(x: Fraction) -> Fraction:
    """The least that is not below x; 0 for 0."""
    if x == 0:
        return Fraction(0)
    power = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 1)
    while power < x:
        power *= 2
    return power


def _nearest(x: float, unit: Fraction) -> float:
    return float(round(Fraction(x) / unit) * unit)


def lower_end(end: Fraction, unit: Fraction, slope: float, depths: tuple[int, int]) -> Fraction:
    """The end of states, each at least `end` + `slope` d before it is rounded, that none is below after it.

    Parameters
    ----------
    end : Fraction
        What is known of the sums.
    unit : Fraction
        A power of two of which the slope is a multiple.
    slope : float
        What is counted at each depth.
    depths : tuple of int
        The least and the largest depth d.

    Returns
    -------
    Fraction
        A multiple of the unit, or less than one by a power of two, as at the head of this module.
    """
    near = round(end / unit) * unit
    counted = [near + Fraction(slope) * depth for depth in depths]
    least = 0 if min(counted) <= 0 <= max(counted) else min(map(abs, counted))
    if end <= near and (near - end) * 2**54 < least:
        return near
    above = math.ceil(end / unit) * unit
    found = above - _power_of_two(above - end)
    return found if (above - end) * 4 <= unit and Fraction(float(found)) == found else above - unit


@dataclass
class Boxes:
    """The search for boxes that hold: for depths up to `most`, those from `deep` on together."""

    reader: Reader
    most: int
    deep: int
    slopes: tuple[float, ...]
    n_last: int
    finely: float
    careful: int

    def __post_init__(self) -> None:
        self.units = [_unit(slope, self.most) if slope else Fraction(0) for slope in self.slopes]
        self.held: dict[Place, Held] = {}
        self.grown: defaultdict[Place, Any] = defaultdict(lambda: np.zeros((4, len(self.slopes)), dtype=np.int64))

    def close(self) -> None:
        """Grow the boxes until no bracket leads out of them.

        Raises
        ------
        NotProved
            An output may be wrong in one of them, or they grow for too long.
        """
        zero = np.zeros(len(self.slopes))
        nothing = Held(((0.0, 0.0),) * len(self.slopes), (zero, zero))
        waiting = {}
        for place, box in self.after(Place(0, ()), nothing, START):
            self._hold(place, box)
            waiting[place] = True
        while waiting:
            place = next(iter(waiting))
            del waiting[place]
            for symbol in (OPEN, CLOSE):
                for target, box in self.after(place, self.held[place], symbol):
                    old = self.held.get(target)
                    if old is not None and old.holds(box):
                        continue
                    self._hold(target, box if old is None else self._wider(target, old, box))
                    waiting[target] = True

    def _hold(self, place: Place, box: Held) -> None:
        self.held[place] = box
        if place.depth == self.deep:
            for h, (cell, slope, unit) in enumerate(zip(box.cells, self.slopes, self.units, strict=True)):
                if slope and Fraction(max(map(abs, cell))) + abs(Fraction(slope)) * self.most > (2**53 - 1) * unit:
                    raise NoCounter(f"{self.words(place)}: cell {h} does not count exactly up to {self.most}", h)
        if len(self.held) > MOST_PLACES:
            raise NotProved("there are too many kinds of states")
        self.margin_at(place)

    def margin(self) -> float:
        """The least distance of any decision from zero."""
        return min(map(self.margin_at, self.held))

    def margin_at(self, place: Place) -> float:
        """The same at one place.

        Raises
        ------
        NotProved
            It is not positive.
        """
        low, high = self.reader.decisions(self.held[place].phi)
        legal = np.isin(np.arange(len(low)), INSIDE if place.depth else AT_THE_END)
        margin = float(np.where(legal, low, -high).min())
        if not margin > 0.0:
            raise NotProved(f"{self.words(place)}: an output may be wrong, its least margin is {margin:.3g}")
        return margin

    def words(self, place: Place) -> str:
        """Such as: depth 3, after "((", ."""
        depth = f"depth {place.depth}{' and more' if place.depth == self.deep <= self.most else ''}"
        return f"{depth}, after {''.join('S()'[symbol] for symbol in place.last)}"

    def after(self, place: Place, box: Held, symbol: int) -> Iterator[tuple[Place, Held]]:
        """Where a symbol leads to from a box; to two places where the threshold lies between the depths."""
        gates, by = self.reader.gates(symbol, box.phi), CHANGES[symbol]
        last = (*place.last, symbol)[-self.n_last :]
        for least, most in self._depths(place.depth, by):
            depth = min(least + by, self.deep)
            after = self._moved(place, box, gates, by, (least, most), depth)
            yield Place(depth, last, self._kind(after, depth) if self.finely else ()), after

    def _kind(self, box: Held, depth: int) -> tuple[int, ...]:
        """The same for states that are alike, but for what they count, and activations."""
        counted = 0 if depth == self.deep else depth
        states = np.array([(low + high) / 2 for low, high in box.cells]) - np.multiply(self.slopes, counted)
        middle = np.concatenate([np.tanh(states), (box.phi[0] + box.phi[1]) / 2])
        return tuple(map(int, np.rint(self.finely * middle)))

    def _depths(self, depth: int, by: int) -> list[tuple[int, int]]:
        """The depths of a place, from where a symbol can be read, apart where it leads to other places."""
        if depth < self.deep:
            ranges = [(depth, depth)]
        elif by > 0:
            ranges = [(depth, self.most - 1)]
        else:
            ranges = [(depth, depth), (depth + 1, self.most)]
        return [(least, most) for least, most in ranges if least <= most and 0 <= least + by <= self.most]

    def _moved(
        self, place: Place, box: Held, gates: Gates, by: int, depths: tuple[int, int], target: int
    ) -> Held:
        cells, spans = [], []
        most_added: list[float | None] = []
        for h, (cell, slope) in enumerate(zip(box.cells, self.slopes, strict=True)):
            added = float(gates.added[0][h]), float(gates.added[1][h])
            forget = float(gates.forget[0][h]), float(gates.forget[1][h])
            most_added.append(max(map(abs, added)) if forget[0] == 1.0 else None)
            before, now = (slope if depth == self.deep else 0.0 for depth in (place.depth, target))
            after = depths[0] + by, depths[1] + by
            if before and now:
                if forget[0] != 1.0:
                    raise NoCounter(f"{self.words(place)}: cell {h} forgets what it counts", h)
                ends = [Fraction(end) + Fraction(a) - by * Fraction(slope) for end, a in zip(cell, added, strict=True)]
            else:
                whole = _span(cell, before, depths)
                cell = moved(forget, added, whole)
                if now:
                    ends = [Fraction(end) - Fraction(now) * self.deep for end in cell]
            if now:
                cell = self._on_unit(h, ends, after)
            spans.append(_span(cell, now, after))
            cells.append(cell)
        states = np.array(spans)
        phi = self.reader.output(gates.output, (states[:, 0], states[:, 1]))
        return Held(tuple(cells), phi, tuple(most_added))

    def _on_unit(self, h: int, ends: list[Fraction], depths: tuple[int, int]) -> Interval:
        """Ends of a cell that hold, whatever it counts, however sums are rounded."""
        slope, unit = self.slopes[h], self.units[h]
        return float(lower_end(ends[0], unit, slope, depths)), -float(lower_end(-ends[1], unit, -slope, depths))

    def _wider(self, place: Place, old: Held, new: Held) -> Held:
        """A box that holds both; what has grown for a while grows by more than it has to."""
        grown = self.grown[place]
        cells = []
        for h, ((a, b), (c, d)) in enumerate(zip(old.cells, new.cells, strict=True)):
            low, high = min(a, c), max(b, d)
            for end, before in ((0, low != a), (1, high != b)):
                grown[end, h] += before
            if low != a and grown[0, h] > self.careful:
                low = -self._farther(h, -a, -low, place.depth, new.added[h], -1, int(grown[0, h]) - self.careful)
            if high != b and grown[1, h] > self.careful:
                high = self._farther(h, b, high, place.depth, new.added[h], 1, int(grown[1, h]) - self.careful)
            cells.append((min(low, a, c), max(high, b, d)))
        low, high = np.minimum(old.phi[0], new.phi[0]), np.maximum(old.phi[1], new.phi[1])
        grown[2:] += np.array([low < old.phi[0], high > old.phi[1]])
        if grown.max() > MOST_GROWTH:
            raise NotProved(f"{self.words(place)}: no invariant was found")
        more = np.where(grown[2:] > self.careful, 2.0 ** np.minimum(grown[2:] - self.careful, 60), 0.0)
        low = np.maximum(low + more[0] * (low - old.phi[0]), -1.0)
        high = np.minimum(high + more[1] * (high - old.phi[1]), 1.0)
        return Held(tuple(cells), (low, high), new.added)

    def _farther(self, h: int, before: float, end: float, depth: int, added: float | None, sign: int,
                 times: int) -> float:  # fmt: skip
        """An upper end of a state, or of its negative, that may be one for good."""
        if added is not None and not self.slopes[h]:
            # where nothing that is added changes the rounded sum; if it grew for another reason, no more than it must
            return max(2.0 ** (math.frexp(added)[1] + 54), end) if end + added != end else end
        far = end + 2.0 ** min(times, 60) * (end - before)
        if not abs(far) < FAR:
            raise NotProved(f"the states of cell {h} have no bounds")
        if not self.slopes[h]:
            return far
        if times > MOST_DRIFTS:
            raise NoCounter(f"cell {h} drifts", h)
        counted = 0 if depth == self.deep else sign * Fraction(self.slopes[h]) * depth
        unit, ends = self.units[h], map(Fraction, (before, end, far))
        near, end, far = (float(counted - lower_end(counted - x, unit, 0.0, (0, 0))) for x in ends)
        return far if near == before else end


def _span(cell: Interval, slope: float, depths: tuple[int, int]) -> Interval:
    """All states of a cell at some depths: floating-point numbers, so the ends may be rounded to the nearest one."""
    if slope == 0.0:
        return cell
    counted = [Fraction(slope) * depth for depth in depths]
    return float(Fraction(cell[0]) + min(counted)), float(Fraction(cell[1]) + max(counted))

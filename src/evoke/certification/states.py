"""States of the cells for all counts at once: an interval plus multiples of the numbers of rounds.

A string is a short one, of which each loop is read K more times. After k of the K rounds of the loop that is being read
the state of a cell is within

    [low, high] + sum over the counts v of slope[v] K[v] + step k,    0 <= K[v] <= most[v], 0 <= k <= K[current].

A cell whose forget gate is exactly 1 keeps slopes, and is moved by what it adds. Sums are rounded to the nearest
number, as the core's one FMA is; where all numbers are multiples of 2^-q below 2^(53 - q) they are exact. Elsewhere the
slopes are given up for the interval that they span.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.certification.bounds import Box, Reader
from evoke.estimators.fitted import states_and_activations

__all__ = ["Cell", "NotProved", "State", "begin", "moved", "path", "read", "span"]

Interval = tuple[float, float]
UP, DOWN = math.inf, -math.inf


class NotProved(Exception):
    """Where a proof does not succeed; it says nothing of the strings."""


@dataclass(frozen=True)
class Cell:
    """The state of a cell; `moved` is by how much it was moved since the loop began, None where it was not kept."""

    low: float
    high: float
    slopes: tuple[float, ...]
    step: float = 0.0
    moved: Interval | None = (0.0, 0.0)

    @property
    def steady(self) -> bool:
        """Whether the state does not depend on the counts but within its interval."""
        return self.step == 0.0 and not any(self.slopes)


@dataclass(frozen=True)
class State:
    """The cells, and bounds of their activations."""

    cells: tuple[Cell, ...]
    phi: Box


def begin(n_cells: int, n_counts: int) -> State:
    """Before the first step."""
    return State((Cell(0.0, 0.0, (0.0,) * n_counts),) * n_cells, (np.zeros(n_cells), np.zeros(n_cells)))


def below(x: float) -> float:
    return math.nextafter(x, DOWN)


def above(x: float) -> float:
    return math.nextafter(x, UP)


def add_outwards(a: Interval, b: Interval) -> Interval:
    """The sum of two intervals, rounded outwards."""
    return below(a[0] + b[0]), above(a[1] + b[1])


def span(cell: Cell, most: tuple[int, ...], current: int | None) -> Interval:
    """All values that the state of a cell can have."""
    if cell.steady:
        return cell.low, cell.high
    lowest = highest = Fraction(0)
    for v, slope in enumerate(cell.slopes):
        ends = [Fraction(0), Fraction(slope) * most[v]]
        if v == current:
            ends.append((Fraction(slope) + Fraction(cell.step)) * most[v])
        lowest, highest = lowest + min(ends), highest + max(ends)
    return below(float(Fraction(cell.low) + lowest)), above(float(Fraction(cell.high) + highest))


def _on_a_grid(numbers: list[float], largest: float) -> bool:
    """Whether all numbers are multiples of a power of two whose multiples up to the largest are numbers."""
    finest = max(Fraction(number).denominator for number in numbers)
    return Fraction(largest) * finest <= 2**53


def add_exactly(a: Interval, b: Interval) -> Interval:
    """The sum of two intervals, rounded outwards where it has to be rounded."""
    low, high = a[0] + b[0], a[1] + b[1]
    return (
        low if Fraction(a[0]) + Fraction(b[0]) == Fraction(low) else below(low),
        high if Fraction(a[1]) + Fraction(b[1]) == Fraction(high) else above(high),
    )


def _kept(cell: Cell, added: Interval, most: tuple[int, ...], current: int | None) -> Cell:
    """s + added, where the forget gate is exactly 1."""
    whole = span(cell, most, current)
    least = 0.0 if whole[0] <= 0.0 <= whole[1] else min(map(abs, whole))
    if max(map(abs, added)) < least * 2.0**-54:  # less than half a unit in the last place: nothing changes
        return cell
    low, high = cell.low + added[0], cell.high + added[1]
    largest = above(max(map(abs, whole)) + max(map(abs, added)))  # of all values before and after
    exact = cell.low == cell.high and added[0] == added[1]
    exact = exact and _on_a_grid([cell.low, added[0], cell.step, *cell.slopes], largest)
    error = 0.0 if exact else above(largest * 2.0**-52)
    by = added if exact else (below(added[0] - error), above(added[1] + error))
    if not exact and not cell.steady:
        low, high = add_outwards((cell.low, cell.high), by)
    return replace(cell, low=low, high=high, moved=None if cell.moved is None else add_exactly(cell.moved, by))


def moved(forget: Interval, added: Interval, whole: Interval) -> Interval:
    """f s + added of a whole interval, each end rounded once, as the core does."""
    if forget == (1.0, 1.0):
        return whole[0] + added[0], whole[1] + added[1]
    # gates are not negative
    low = Fraction(forget[whole[0] < 0.0]) * Fraction(whole[0]) + Fraction(added[0])
    return float(low), float(Fraction(forget[whole[1] > 0.0]) * Fraction(whole[1]) + Fraction(added[1]))


def read(reader: Reader, state: State, symbol: int, most: tuple[int, ...], current: int | None) -> State:
    """The state after a symbol."""
    gates = reader.gates(symbol, state.phi)
    cells = []
    for h, cell in enumerate(state.cells):
        added = float(gates.added[0][h]), float(gates.added[1][h])
        forget = float(gates.forget[0][h]), float(gates.forget[1][h])
        if forget[0] == 1.0:
            cells.append(_kept(cell, added, most, current))
        else:
            low, high = moved(forget, added, span(cell, most, current))
            cells.append(Cell(low, high, (0.0,) * len(cell.slopes), 0.0, None))
    whole = np.array([span(cell, most, current) for cell in cells])
    return State(tuple(cells), reader.output(gates.output, (whole[:, 0], whole[:, 1])))


def path(reader: Reader, symbols: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """States and activations of the network after each symbol of one string, for guesses."""
    x = np.full((len(symbols), reader.network.n_inputs), -1.0)
    x[np.arange(len(x)), symbols] = 1.0
    return states_and_activations(reader.network, x)

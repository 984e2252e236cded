"""Proofs that every string of a family is accepted: cases of small counts, and loops for all larger ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.certification.bounds import Box, Reader
from evoke.certification.families import Family, Phase
from evoke.certification.states import (
    Cell,
    Interval,
    NotProved,
    State,
    above,
    add_exactly,
    begin,
    below,
    path,
    read,
    span,
)

__all__ = ["Case", "Loop", "NotProved", "Prover"]

# Attempts at an invariant, those of them that only grow as far as they must, and by how much more the others do.
MOST_ATTEMPTS, CAREFUL, FACTOR = 60, 20, 2.0
# What a state is moved by in all rounds together that is taken for an error rather than for counting.
NO_COUNT = 1e-6


@dataclass(frozen=True)
class Loop:
    """The invariant at the beginning of each round of a loop.

    Before round k a cell is within [low, high] + slopes K + step k + [drift] k.
    """

    variable: int
    at: int
    steps: int
    cells: tuple[Cell, ...]
    drifts: tuple[Interval, ...]
    phi: Box


@dataclass(frozen=True)
class Case:
    """Strings of these counts, and of all that have whole rounds more of the counts that are pumped."""

    counts: tuple[int, ...]
    pumped: tuple[bool, ...]
    loops: tuple[tuple[Loop, ...], ...]  # by phase
    margin: float


@dataclass
class Walk:
    """A proof of one case under way."""

    reader: Reader
    family: Family
    most: tuple[int, ...]
    attempts: int = MOST_ATTEMPTS
    margin: float = math.inf

    def check(self, state: State, legal: tuple[int, ...], place: str) -> None:
        low, high = self.reader.decisions(state.phi)
        yes = np.isin(np.arange(self.family.n_outputs), legal)
        margin = float(np.where(yes, low, -high).min())
        if not margin > 0.0:
            raise NotProved(f"{place}: an output may be wrong, its least margin is {margin:.3g}")
        self.margin = min(self.margin, margin)

    def follow(self, state: State, phase: Phase, begin: int, end: int, last: int, current: int | None,
               place: str) -> State:  # fmt: skip
        """Read symbols begin..end of a phase, whose last one is `last`."""
        for j in range(begin, end):
            k = j % len(phase.word)
            state = read(self.reader, state, phase.word[k], self.most, current)
            self.check(state, phase.end if j == last else phase.within[k], f"{place}, symbol {j + 1}")
        return state

    def loop(self, entry: State, phase: Phase, v: int, at: int, steps: int, place: str) -> tuple[Loop, State]:
        """An invariant of a loop over count v, and the state after all of its rounds.

        Guesses only grow: where an output may be wrong for one of them, a wider one is of no use.
        """
        most = self.most[v]
        guess = self.follow(_fresh(entry), phase, at, at + steps, -1, None, place)
        counted = [_counted(cell, most) for cell in guess.cells]
        loop = Loop(
            v, at, steps,
            tuple(replace(cell, step=step, moved=(0.0, 0.0)) for cell, step in zip(entry.cells, counted, strict=True)),
            ((0.0, 0.0),) * len(counted), entry.phi,
        )  # fmt: skip
        for attempt in range(self.attempts):
            head = State(_widened(loop, most), loop.phi)
            after = self.follow(head, phase, at, at + steps, -1, v, f"{place}, in all rounds")
            wider = _wider(loop, head, after, self.most, 1.0 if attempt < CAREFUL else FACTOR)
            if wider is None:
                break
            loop = wider
        else:
            raise NotProved(f"{place}: no invariant of the loop was found")
        return _settled(loop, head, after), _left(head, v)


def _fresh(state: State) -> State:
    return State(tuple(replace(cell, moved=(0.0, 0.0)) for cell in state.cells), state.phi)


def _counted(cell: Cell, most: int) -> float:
    """By how much a round moves a cell that counts."""
    if cell.moved is None:
        return 0.0
    middle = cell.moved[0] if cell.moved[0] == cell.moved[1] else (cell.moved[0] + cell.moved[1]) / 2
    return 0.0 if abs(middle) * most < NO_COUNT else middle


def _widened(loop: Loop, most: int) -> tuple[Cell, ...]:
    """The cells before any of the rounds."""
    cells = []
    for cell, (low, high) in zip(loop.cells, loop.drifts, strict=True):
        if low < 0.0:
            cell = replace(cell, low=below(cell.low + below(low * most)))
        if high > 0.0:
            cell = replace(cell, high=above(cell.high + above(high * most)))
        cells.append(cell)
    return tuple(cells)


def _wider(loop: Loop, head: State, after: State, most: tuple[int, ...], factor: float) -> Loop | None:
    """A wider guess where the last one was no invariant; None where it was."""
    cells, drifts, same = list(loop.cells), list(loop.drifts), True
    for h, (cell, before, now) in enumerate(zip(loop.cells, head.cells, after.cells, strict=True)):
        if _stays(before, now):
            continue
        low, high = drifts[h]
        if now.moved is not None:
            over = add_exactly(now.moved, (-cell.step, -cell.step))
            if low <= over[0] and over[1] <= high:
                continue
            drifts[h] = min(low, over[0] * factor), max(high, over[1] * factor)
        elif cell.steady:
            cells[h] = _hull(cell, now.low, now.high, factor)
        else:  # it forgets the counts within the loop: all that it can be before
            cells[h] = Cell(*span(cell, most, loop.variable), (0.0,) * len(cell.slopes))
            drifts[h] = 0.0, 0.0
        same = False
    phi = loop.phi
    if (after.phi[0] < phi[0]).any() or (after.phi[1] > phi[1]).any():
        same = False
        low_by, high_by = np.minimum(after.phi[0] - phi[0], 0.0), np.maximum(after.phi[1] - phi[1], 0.0)
        if factor == 1.0:
            phi = np.minimum(phi[0], after.phi[0]), np.maximum(phi[1], after.phi[1])
        else:
            phi = np.maximum(phi[0] + factor * low_by, -1.0), np.minimum(phi[1] + factor * high_by, 1.0)
    return None if same else replace(loop, cells=tuple(cells), drifts=tuple(drifts), phi=phi)


def _stays(before: Cell, now: Cell) -> bool:
    return before.steady and now.steady and before.low <= now.low and now.high <= before.high


def _settled(loop: Loop, head: State, after: State) -> Loop:
    """The invariant without drifts of cells that stay where they are."""
    cells, drifts = list(loop.cells), list(loop.drifts)
    for h, (before, now) in enumerate(zip(head.cells, after.cells, strict=True)):
        if _stays(before, now):
            cells[h], drifts[h] = before, (0.0, 0.0)
    return replace(loop, cells=tuple(cells), drifts=tuple(drifts))


def _hull(cell: Cell, low: float, high: float, factor: float) -> Cell:
    if factor == 1.0:
        return replace(cell, low=min(cell.low, low), high=max(cell.high, high))
    return replace(cell, low=cell.low + factor * min(low - cell.low, 0.0),
                   high=cell.high + factor * max(high - cell.high, 0.0))  # fmt: skip


def _left(head: State, v: int) -> State:
    """The state after all rounds: what was counted in them becomes a slope."""
    cells = []
    for cell in head.cells:
        slopes = list(cell.slopes)
        total = add_exactly((slopes[v],) * 2, (cell.step,) * 2)
        if total[0] != total[1]:
            raise NotProved(f"the slopes {slopes[v]} and {cell.step} have no sum in floating point")
        slopes[v] = total[0]
        cells.append(replace(cell, slopes=tuple(slopes), step=0.0))
    return State(tuple(cells), head.phi)


def _symbols(family: Family, counts: tuple[int, ...]) -> Iterator[int]:
    yield family.start
    for phase in family.phases:
        for j in range(family.length(phase, counts)):
            yield phase.word[j % len(phase.word)]


def _begin_of_loop(states: FloatArray, phis: FloatArray, first: int, last: int, steps: int) -> int | None:
    """The place whose activations change least in a round, with the largest states that change."""
    best: tuple[float, float] | None = None
    place = None
    for t in range(first, last - steps + 1):
        change = float(np.abs(phis[t + steps] - phis[t]).max())
        moving = np.abs(states[t + steps] - states[t]) > 1e-9
        score = change, -float(np.abs(states[t][moving]).min()) if moving.any() else 0.0
        if best is None or score < best:
            best, place = score, t
    return place


def prove_case(
    reader: Reader, family: Family, counts: tuple[int, ...], period: int, most: tuple[int, ...],
    attempts: int = MOST_ATTEMPTS,
) -> Case:
    """The case of these counts, and of up to `most` times the period more of each, in so many attempts at a loop.

    Raises
    ------
    NotProved
        The message says where it ended.
    """
    walk = Walk(reader, family, most, attempts)
    pumped = tuple(n > 0 for n in most)
    whole = path(reader, list(_symbols(family, counts))) if any(pumped) else None
    state = read(reader, begin(reader.network.n_cells, family.n_counts), family.start, most, None)
    about = ", ".join(f"{n}{'+' if more else ''}" for n, more in zip(counts, pumped, strict=True))
    walk.check(state, family.after_start, f"counts {about}: start")
    done, loops = 1, []
    for number, phase in enumerate(family.phases):
        length, place = family.length(phase, counts), f"counts {about}: phase {number + 1}"
        of_phase = []
        rounds = [(v, period * phase.count[v] * len(phase.word)) for v in range(len(counts))
                  if pumped[v] and phase.count[v] > 0]  # fmt: skip
        at = 0
        if rounds:
            assert whole is not None
            t = _begin_of_loop(*whole, done, done + length - 2, max(steps for _, steps in rounds))
            if t is None:
                raise NotProved(f"{place}: too short for a loop")
            at = t - done + 1
        state = walk.follow(state, phase, 0, at, length - 1, None, place)
        for v, steps in rounds:
            loop, state = walk.loop(state, phase, v, at, steps, place)
            of_phase.append(loop)
        state = walk.follow(state, phase, at, length, length - 1, None, place)
        done += length
        loops.append(tuple(of_phase))
    return Case(counts, pumped, tuple(loops), walk.margin)


class Prover:
    """Proofs for one network and family, which share the cases of strings that are read one by one."""

    def __init__(self, reader: Reader, family: Family, attempts: int = MOST_ATTEMPTS):
        self.reader, self.family, self.attempts = reader, family, attempts
        self._single: dict[tuple[int, ...], Case | NotProved] = {}

    def single(self, counts: tuple[int, ...]) -> Case:
        """The case of one string.

        Raises
        ------
        NotProved
            It may be rejected.
        """
        if counts not in self._single:
            try:
                self._single[counts] = prove_case(self.reader, self.family, counts, 1, (0,) * len(counts))
            except NotProved as error:
                self._single[counts] = error
        case = self._single[counts]
        if isinstance(case, NotProved):
            raise case
        return case

    def prove(self, up_to: int, threshold: int, period: int) -> list[Case]:
        """All cases for counts up to `up_to`: those below the threshold each, those from there on by loops.

        Raises
        ------
        NotProved
            Of the first case that fails.
        """
        values = range(1, min(up_to, threshold + period - 1) + 1)
        every = itertools.product(values, repeat=self.family.n_counts)
        cases = []
        for counts in sorted(every, key=lambda counts: (-sum(n >= threshold for n in counts), counts)):
            most = tuple((up_to - n) // period if n >= threshold else 0 for n in counts)
            if any(most):
                cases.append(prove_case(self.reader, self.family, counts, period, most, self.attempts))
            else:
                cases.append(self.single(counts))
        return cases

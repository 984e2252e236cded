"""How deep brackets may be: proofs for all strings of balanced brackets, by depths one by one and all larger ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke.certification.bounds import Reader
from evoke.certification.counters import CLOSE, OPEN, Boxes, Held, NoCounter, Place, slopes_of
from evoke.certification.families import Brackets
from evoke.certification.states import NotProved

__all__ = ["DepthProof", "prove_depths"]

# Depths that are tried one by one before anything else, and at most.
FIRST, MOST_ALONE = 12, 128
# From which depth on all are one; how many symbols read last tell boxes apart; how finely states do, if at all; how
# often boxes grow no more than they must.
Attempt = tuple[int, int, float, int]
ATTEMPTS: tuple[Attempt, ...] = (
    (8, 1, 0.0, 6), (8, 1, 2.0, 8), (8, 1, 16.0, 8), (20, 1, 2.0, 8), (24, 2, 2.0, 12), (160, 1, 2.0, 8),
)  # fmt: skip
FEWER_ATTEMPTS: tuple[Attempt, ...] = ((20, 1, 2.0, 8), (8, 1, 16.0, 8), (160, 1, 2.0, 8))
QUICK_ATTEMPTS = ATTEMPTS[:3]
ALONE = ((1, 0.0, 6), (1, 2.0, 8), (1, 16.0, 8))
PROVED = "no bracket leads out of the boxes"


@dataclass(frozen=True)
class DepthProof:
    """Why all strings of brackets are accepted up to some depth.

    Attributes
    ----------
    brackets : Brackets
        The strings.
    threshold : int
        Smaller depths have boxes of their own; all from there on share theirs.
    slopes : tuple of float
        By how much each cell counts a bracket, at the depths that share a box.
    units : tuple of float
        What the states of these cells are multiples of, but for their intervals.
    boxes : dict of Place to Held
        The bounds of the network at each place, however it was reached.
    moves : dict of Place to dict of int to tuple of Place
        Where each bracket leads to.
    margin : float
        The least distance of any decision from zero.
    """

    brackets: Brackets
    threshold: int
    slopes: tuple[float, ...]
    units: tuple[float, ...]
    boxes: dict[Place, Held]
    moves: dict[Place, dict[int, tuple[Place, ...]]]
    margin: float

    def facts(self) -> dict[str, Any]:
        """What a file says of it.

        Returns
        -------
        dict
            Ready for JSON.
        """
        number = {place: k for k, place in enumerate(self.boxes)}
        boxes = [
            {"depth": place.depth, "last": place.last, "cells": box.cells, "phi": np.transpose(box.phi).tolist(),
             "opens": [number[to] for to in self.moves[place].get(OPEN, ())],
             "closes": [number[to] for to in self.moves[place].get(CLOSE, ())]}
            for place, box in self.boxes.items()
        ]  # fmt: skip
        return {
            "language": self.brackets.name, "threshold": self.threshold, "slopes": self.slopes, "units": self.units,
            "invariants": self.in_words(), "boxes": boxes,
        }  # fmt: skip

    def in_words(self) -> list[str]:
        """Each box as a sentence.

        Returns
        -------
        list of str
        """
        return list(map(self._sentence, self.boxes))

    def _sentence(self, place: Place) -> str:
        box, shared = self.boxes[place], place.depth == self.threshold
        cells = []
        for h, (low, high) in enumerate(box.cells):
            about = f"{low:.6g}" if high - low <= 1e-6 * max(1.0, abs(low)) else f"{low:.6g} to {high:.6g}"
            counts = f" and {self.slopes[h]:g} for each depth" if shared and self.slopes[h] else ""
            cells.append(f"cell {h} is at {about}{counts}")
        after = "".join("S()"[symbol] for symbol in place.last)
        width = float((box.phi[1] - box.phi[0]).max())
        return (f"depth {place.depth}{' and more' if shared else ''}, after {after}: {', '.join(cells)}; "
                f"activations are known to within {width:.2g}")  # fmt: skip


def prove_depths(reader: Reader, brackets: Brackets, up_to: int, *, quick: bool = False) -> tuple[int, DepthProof, str]:
    """The depth up to which all strings are proved to be accepted, why, and why it is not more than that.

    A quick one tries fewer proofs, and none that reach less far than is asked for.
    """
    first, n_cells = min(up_to, FIRST), reader.network.n_cells
    best = _Proved(0, DepthProof(brackets, 1, (0.0,) * n_cells, (0.0,) * n_cells, {}, {}, 0.0))
    reason = best.attempt(reader, first, _alone(first))
    if reason:
        best.bisect(reader, range(1, first))
    elif first < up_to:
        reason = best.attempt(reader, up_to, QUICK_ATTEMPTS if quick else ATTEMPTS)
        if reason and not quick:
            best.bisect(reader, [2**k for k in range(first.bit_length(), (up_to - 1).bit_length())])
    return best.up_to, best.proof, reason or PROVED


def _closed(reader: Reader, most: int, slopes: tuple[float, ...], attempt: Attempt) -> Boxes:
    """Boxes that hold, where cells that do not count exactly are not taken to count."""
    while True:
        boxes = Boxes(reader, most, attempt[0], slopes, *attempt[1:])
        try:
            boxes.close()
            return boxes
        except NoCounter as error:
            slopes = tuple(0.0 if h == error.cell else slope for h, slope in enumerate(slopes))


def _alone(depth: int) -> tuple[Attempt, ...]:
    return tuple((depth + 1, *attempt) for attempt in ALONE) if depth <= MOST_ALONE else ()


@dataclass
class _Proved:
    """The best proof so far."""

    up_to: int
    proof: DepthProof

    def attempt(self, reader: Reader, up_to: int, attempts: tuple[Attempt, ...]) -> str:
        """Prove that much; if it does not succeed, the reason of the last attempt."""
        reason, slopes = "", slopes_of(reader, up_to)
        for attempt in attempts:
            try:
                boxes = _closed(reader, up_to, slopes, attempt)
            except NotProved as error:
                reason = str(error)
            else:
                moves = {
                    place: {symbol: tuple(to for to, _ in boxes.after(place, box, symbol)) for symbol in (OPEN, CLOSE)}
                    for place, box in boxes.held.items()
                }
                self.up_to = up_to
                self.proof = DepthProof(self.proof.brackets, boxes.deep, boxes.slopes, tuple(map(float, boxes.units)),
                                        boxes.held, moves, boxes.margin())  # fmt: skip
                return ""
        return reason

    def bisect(self, reader: Reader, depths: Sequence[int]) -> None:
        """Find the largest of these depths for which there is a proof."""
        low, high = 0, len(depths) - 1
        while low <= high:
            middle = (low + high) // 2
            fewer = FEWER_ATTEMPTS if depths[middle] > FIRST else ()
            if self.attempt(reader, depths[middle], (*fewer, *_alone(depths[middle]))):
                high = middle - 1
            else:
                low = middle + 1

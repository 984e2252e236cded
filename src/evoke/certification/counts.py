"""How far counts go: proofs for families of strings, by small counts one by one and loops for all larger ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke.certification.bounds import Reader
from evoke.certification.families import Family
from evoke.certification.proof import Case, Loop, Prover
from evoke.certification.states import NotProved

__all__ = ["PROVED", "CountProof", "prove_again", "prove_counts"]

# Counts that are read one by one before anything else is tried, for one count and for several.
FIRST = (12, 6)
# From which count on loops are tried, and by how much a round raises it.
ATTEMPTS = (
    *((threshold, period) for threshold in (12, 16, 20, 24, 32, 48) for period in (1, 2)),
    (24, 3), (24, 4), (48, 3), (48, 4), (100, 1), (100, 2),
)  # fmt: skip
FEWER_ATTEMPTS = ((16, 1), (16, 2), (48, 1), (48, 2))
# Attempts at a loop where many networks are tried; most proofs need a few.
MOST_LOOPS = 24
# Of a quick proof, for one count and for several: their cases are as many as the square of the threshold.
QUICK_ATTEMPTS = (((12, 1), (24, 1), (24, 2)), ((6, 1), (12, 1), (8, 2)))
PROVED = "all cases are proved"


@dataclass(frozen=True)
class CountProof:
    """Why all strings of a family are accepted up to some counts.

    Attributes
    ----------
    family : Family
        The strings.
    threshold : int
        Smaller counts were read one by one, larger ones are by loops.
    period : int
        By how much a round of each loop raises a count.
    cases : tuple of Case
        What was proved for itself: counts, and the invariants of loops.
    """

    family: Family
    threshold: int
    period: int
    cases: tuple[Case, ...]

    @property
    def margin(self) -> float:
        """The least distance of any decision from zero."""
        return min((case.margin for case in self.cases), default=0.0)

    def facts(self) -> dict[str, Any]:
        """What a file says of it.

        Returns
        -------
        dict
            Ready for JSON.
        """
        family = self.family
        loops = [
            {"counts": case.counts, "pumped": case.pumped, "margin": case.margin,
             "loops": [[_loop(loop) for loop in of_phase] for of_phase in case.loops]}
            for case in self.cases if any(case.pumped)
        ]  # fmt: skip
        return {
            "language": family.name, "n_counts": family.n_counts, "n_inputs": family.n_inputs,
            "n_outputs": family.n_outputs, "start": family.start, "after_start": family.after_start,
            "phases": [
                {"word": phase.word, "count": phase.count, "within": phase.within, "end": phase.end}
                for phase in family.phases
            ],
            "threshold": self.threshold, "period": self.period, "invariants": self.in_words(), "cases": loops,
        }  # fmt: skip

    def in_words(self) -> list[str]:
        """The invariant of each loop as a sentence.

        Returns
        -------
        list of str
        """
        return [text for case in self.cases for text in _sentences(case)]


def _loop(loop: Loop) -> dict[str, Any]:
    cells = [
        {"low": cell.low, "high": cell.high, "slopes": cell.slopes, "step": cell.step, "drift": drift}
        for cell, drift in zip(loop.cells, loop.drifts, strict=True)
    ]
    phi = np.transpose(loop.phi).tolist()
    return {"variable": loop.variable, "at": loop.at, "steps": loop.steps, "cells": cells, "phi": phi}


def _sentences(case: Case) -> Iterator[str]:
    counts = ", ".join(f"{n} and more" if more else f"{n}" for n, more in zip(case.counts, case.pumped, strict=True))
    for k, of_phase in enumerate(case.loops):
        for loop in of_phase:
            cells = []
            for h, cell in enumerate(loop.cells):
                if cell.step:
                    cells.append(f"cell {h} is moved by {cell.step:g}")
                elif any(cell.slopes):
                    cells.append(f"cell {h} keeps its count")
                else:
                    cells.append(f"cell {h} is at {_about(cell.low, cell.high)}")
            width = max(high - low for low, high in np.transpose(loop.phi))
            yield (f"counts {counts}, phase {k + 1}: in each round of {loop.steps} symbols, from symbol {loop.at} on, "
                   f"{', '.join(cells)}; activations are known to within {width:.2g}")  # fmt: skip


def _about(low: float, high: float) -> str:
    return f"{low:.6g}" if high - low <= 1e-6 * max(1.0, abs(low)) else f"{low:.6g} to {high:.6g}"


def prove_counts(reader: Reader, family: Family, up_to: int, *, quick: bool = False) -> tuple[int, CountProof, str]:
    """The count up to which all strings are proved to be accepted, why, and why it is not more than that.

    A quick one tries fewer proofs, and none that reach less far than is asked for.
    """
    prover = Prover(reader, family)
    first = min(up_to, FIRST[family.n_counts > 1])
    alone, reason = _one_by_one(prover, first)
    if alone < first or first == up_to:
        cases = prover.prove(alone, alone + 1, 1) if alone else []
        return alone, CountProof(family, alone + 1, 1, tuple(cases)), reason
    whole, reason = _attempt(prover, up_to, QUICK_ATTEMPTS[family.n_counts > 1] if quick else ATTEMPTS)
    if whole is not None:
        return up_to, whole, PROVED
    # how far a proof reaches: a power of two
    best = first, CountProof(family, first + 1, 1, tuple(prover.prove(first, first + 1, 1)))
    low, high = first.bit_length(), 0 if quick else (up_to - 1).bit_length() - 1
    while low <= high:
        middle = (low + high) // 2
        part, _ = _attempt(prover, 2**middle, FEWER_ATTEMPTS)
        if part is None:
            high = middle - 1
        else:
            best, low = (2**middle, part), middle + 1
    return *best, reason


def prove_again(reader: Reader, family: Family, up_to: int, like: CountProof) -> CountProof | None:
    """A proof for all counts up to `up_to` of a model like one that has it; None where the first attempts fail.

    It does not look how far else a proof would reach, so it is quicker than `prove_counts` where there is none.
    """
    prover = Prover(reader, family, MOST_LOOPS)
    if up_to <= FIRST[family.n_counts > 1]:
        alone, _ = _one_by_one(prover, up_to)
        return CountProof(family, up_to + 1, 1, tuple(prover.prove(up_to, up_to + 1, 1))) if alone == up_to else None
    attempts = dict.fromkeys([(like.threshold, like.period), ATTEMPTS[0]])
    return _attempt(prover, up_to, tuple(attempts))[0]


def _attempt(prover: Prover, up_to: int, attempts: tuple[tuple[int, int], ...]) -> tuple[CountProof | None, str]:
    """A proof; or the reason of the last attempt."""
    reason = ""
    for threshold, period in attempts:
        try:
            cases = prover.prove(up_to, threshold, period)
            return CountProof(prover.family, threshold, period, tuple(cases)), ""
        except NotProved as error:
            reason = str(error)
    return None, reason


def _one_by_one(prover: Prover, most: int) -> tuple[int, str]:
    """The number up to which the strings of all counts are accepted, read one by one."""
    for up_to in range(1, most + 1):
        try:
            prover.prove(up_to, up_to + 1, 1)
        except NotProved as error:
            return up_to - 1, str(error)
    return most, PROVED

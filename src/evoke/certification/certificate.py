"""`certify`: every string of a family is accepted, up to which counts, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evoke._validation.errors import refusal
from evoke._validation.parameters import check_integer
from evoke.certification.bounds import Reader
from evoke.certification.families import Family, family_of
from evoke.certification.proof import Case, Loop, NotProved, Prover
from evoke.estimators import EvokeClassifier

__all__ = ["FORMAT", "Certificate", "certify"]

# Of the file; a checker reads its own only.
FORMAT = 1
# Beyond it floating point does not have all whole numbers.
MOST_COUNT = 2**52
# Counts that are read one by one before anything else is tried, for one count and for several.
FIRST = (12, 6)
# From which count on loops are tried, and by how much a round raises it.
ATTEMPTS = (
    *((threshold, period) for threshold in (12, 16, 20, 24, 32, 48) for period in (1, 2)),
    (24, 3), (24, 4), (48, 3), (48, 4), (100, 1), (100, 2),
)  # fmt: skip
FEWER_ATTEMPTS = ((16, 1), (16, 2), (48, 1), (48, 2))
PROVED = "all cases are proved"


@dataclass(frozen=True)
class Certificate:
    """What `certify` found.

    Attributes
    ----------
    certified : bool
        Whether every string of the family is accepted for all counts from 1 to those asked for.
    up_to : int
        The counts up to which that is proved; 0: for none. Where not all that was asked for is proved, the strings
        beyond may be accepted or not.
    margin : float
        The least distance of any decision value from zero that the proof allows for, in all strings up to `up_to`.
    reason : str
        Where the proof ended if not certified, else what it rests on.
    family : Family
        The strings.
    threshold : int
        Smaller counts were read one by one, larger ones are by loops.
    period : int
        By how much a round of each loop raises a count.
    cases : tuple of Case
        What was proved for itself: counts, and the invariants of loops.
    """

    certified: bool
    up_to: int
    margin: float
    reason: str
    family: Family
    threshold: int
    period: int
    cases: tuple[Case, ...]

    def to_json(self) -> str:
        """The certificate for `evoke.certification.checker`, which has no code of the proof.

        Returns
        -------
        str
            JSON, whose numbers are those of the proof to the last bit.
        """
        family = self.family
        loops = [
            {"counts": case.counts, "pumped": case.pumped, "margin": case.margin,
             "loops": [[_loop(loop) for loop in of_phase] for of_phase in case.loops]}
            for case in self.cases if any(case.pumped)
        ]  # fmt: skip
        return json.dumps({
            "format": FORMAT, "certified": self.certified, "up_to": self.up_to, "margin": self.margin,
            "reason": self.reason, "language": family.name, "n_counts": family.n_counts, "n_inputs": family.n_inputs,
            "n_outputs": family.n_outputs, "start": family.start, "after_start": family.after_start,
            "phases": [
                {"word": phase.word, "count": phase.count, "within": phase.within, "end": phase.end}
                for phase in family.phases
            ],
            "threshold": self.threshold, "period": self.period, "invariants": self.in_words(), "cases": loops,
        }, indent=1)  # fmt: skip

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


def certify(model: EvokeClassifier, language: str | Family, up_to: int = MOST_COUNT) -> Certificate:
    """Prove that a fitted classifier accepts every string of a family.

    A string is accepted if all outputs are right at every step: positive where a symbol may follow, else not. The proof
    reads a short string in interval arithmetic, with loops whose rounds are any number: their invariants are found by
    trial and verified by intervals that hold the core's arithmetic in any order of sums and on any instruction set.

    Parameters
    ----------
    model : EvokeClassifier
        One network in double precision, read at every step by support vector machines with the kernel "rbf" or
        "linear", or by linear weights, an output for each symbol.
    language : str or Family
        "anbn", "anb2n", "anbncn", "anbncndn", "anbncndnen", "anbmcn+m" or "anbmBmAn"; a family of one's own; or a
        language with `phases` of letters, whose lengths are sums of the counts.
    up_to : int, default=2**52
        The largest count, at most 2^52.

    Returns
    -------
    Certificate
        With `certified` False where no proof was found, whether the model fails or not; `up_to` then says how far it
        reaches.

    Raises
    ------
    ParameterError
        A model that is no such classifier, or of other symbols; an unknown language; `up_to` out of range.

    Examples
    --------
    >>> from evoke import EvokeClassifier, certify, tasks
    >>> from evoke.reproduce import PRESETS
    >>> model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))
    >>> certify(model, "anbncn").up_to == 2**52
    True
    """
    family = family_of(language)
    up_to = check_integer("up_to", up_to, 1, MOST_COUNT)
    prover = Prover(Reader(*_parts(model, family)), family)
    first = min(up_to, FIRST[family.n_counts > 1])
    alone, reason = _one_by_one(prover, first)
    if alone < first or first == up_to:
        if alone == 0:
            return Certificate(False, 0, 0.0, reason, family, 1, 1, ())
        found = alone + 1, 1, prover.prove(alone, alone + 1, 1)
        return _certificate(family, alone, found, reason, certified=alone == up_to)
    whole, reason = _attempt(prover, up_to, ATTEMPTS)
    if whole is not None:
        return _certificate(family, up_to, whole, PROVED, certified=True)
    # how far a proof reaches: a power of two
    best: tuple[int, _Found] = first, (first + 1, 1, prover.prove(first, first + 1, 1))
    low, high = first.bit_length(), (up_to - 1).bit_length() - 1
    while low <= high:
        middle = (low + high) // 2
        part, _ = _attempt(prover, 2**middle, FEWER_ATTEMPTS)
        if part is None:
            high = middle - 1
        else:
            best, low = (2**middle, part), middle + 1
    return _certificate(family, best[0], best[1], reason, certified=False)


_Found = tuple[int, int, list[Case]]


def _certificate(family: Family, up_to: int, found: _Found, reason: str, *, certified: bool) -> Certificate:
    threshold, period, cases = found
    margin = min(case.margin for case in cases)
    return Certificate(certified, up_to, margin, reason, family, threshold, period, tuple(cases))


def _attempt(prover: Prover, up_to: int, attempts: tuple[tuple[int, int], ...]) -> tuple[_Found | None, str]:
    """Threshold, period and cases of a proof; or the reason of the last attempt."""
    reason = ""
    for threshold, period in attempts:
        try:
            return (threshold, period, prover.prove(up_to, threshold, period)), ""
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


def _parts(model: Any, family: Family) -> tuple[Any, Any]:
    """The network and the readout of a model that can be certified."""
    if not isinstance(model, EvokeClassifier):
        raise refusal("model", "be an EvokeClassifier", model)
    check_is_fitted(model)
    fitted = model.fitted_
    network, readout = fitted.network, fitted.readout
    if fitted.pooling is not None or fitted.scaling is not None or fitted.preparation is not None:
        raise refusal("model", "be one network that reads X as it is, without pooling or scaling", model)
    if network.genome.ndim != 2 or fitted.per_sequence:
        raise refusal("model", "be one network with targets at every step", model)
    if network.genome.dtype != np.float64:
        raise refusal("model", "be in double precision", network.genome.dtype)
    if fitted.washout:
        raise refusal("model", "have no washout", fitted.washout)
    if readout.kernel.name not in ("rbf", "linear"):
        raise refusal("model", "have the kernel 'rbf' or 'linear'", readout.kernel.name)
    if not fitted.multilabel or (fitted.n_inputs, fitted.n_outputs) != (family.n_inputs, family.n_outputs):
        demand = f"have {family.n_inputs} inputs and {family.n_outputs} outputs of their own for {family.name}"
        raise refusal("model", demand, (fitted.n_inputs, fitted.n_outputs))
    return network, readout

"""The check of families of strings: each case, and that what the certificate says of loops holds in every round."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from evoke.certification.checker.arithmetic import Ends, demand, inside, nearest
from evoke.certification.checker.network import Model

__all__ = ["LANGUAGES", "check_counts", "followers_of", "phases_of"]

MOST_CASES, MOST_STEPS = 10**5, 10**5

# Blocks of the known languages: the symbol and how often, by the counts n and m; how many may end after any symbol.
LANGUAGES = {
    "anbn": (["n", "n"], 1), "anb2n": (["n", "nn"], 1), "anbncn": (["n", "n", "n"], 1),
    "anbncndn": (["n"] * 4, 1), "anbncndnen": (["n"] * 5, 1), "anbmcn+m": (["n", "m", "nm"], 2),
    "anbmBmAn": (["n", "m", "m", "n"], 2),
}  # fmt: skip


class Cell(NamedTuple):
    """low..high + slopes K + step k; `moved`: by how much since the round began, None if it was not kept."""

    low: Fraction
    high: Fraction
    slopes: tuple[Fraction, ...]
    step: Fraction = Fraction(0)
    moved: tuple[Fraction, Fraction] | None = (Fraction(0), Fraction(0))

    @property
    def steady(self) -> bool:
        return self.step == 0 and not any(self.slopes)


def span(cell: Cell, most: tuple[int, ...], current: int | None) -> tuple[Fraction, Fraction]:
    low, high = cell.low, cell.high
    if cell.steady:
        return low, high
    for v, slope in enumerate(cell.slopes):
        ends = [Fraction(0), slope * most[v]] + ([(slope + cell.step) * most[v]] if v == current else [])
        low, high = low + min(ends), high + max(ends)
    return low, high


def following(cell: Cell, added: Ends, forget: Ends, most: tuple[int, ...], current: int | None) -> Cell:
    """The cell after a step."""
    low, high = span(cell, most, current)
    a, b = Fraction(added[0]), Fraction(added[1])
    if forget[0] != 1.0:
        ends = Fraction(forget[low < 0]) * low, Fraction(forget[high > 0]) * high  # gates are not negative
        return Cell(nearest(ends[0] + a), nearest(ends[1] + b), (Fraction(0),) * len(cell.slopes), moved=None)
    least = Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))
    if max(abs(a), abs(b)) * 2**54 < least:
        return cell  # less than half a unit in the last place
    largest = max(abs(low), abs(high)) + max(abs(a), abs(b))
    finest = max(x.denominator for x in (cell.low, a, cell.step, *cell.slopes))  # all are powers of two
    exact = cell.low == cell.high and a == b and largest * finest <= 2**53
    error = Fraction(0) if exact else largest / 2**52
    moved = None if cell.moved is None else (cell.moved[0] + a - error, cell.moved[1] + b + error)
    if cell.steady:
        return cell._replace(low=nearest(cell.low + a), high=nearest(cell.high + b), moved=moved)
    return cell._replace(low=cell.low + a - error, high=cell.high + b + error, moved=moved)


class Walk:
    """One case, step by step."""

    def __init__(self, model: Model, most: tuple[int, ...]):
        self.model, self.most, self.margin = model, most, Decimal("Infinity")
        zero = Fraction(0)
        self.cells = [Cell(zero, zero, (zero,) * len(most))] * model.n_cells
        self.phi: tuple[Ends, ...] = ((0.0, 0.0),) * model.n_cells

    def read(self, symbol: int, legal: list[int], current: int | None, place: str) -> None:
        gates = self.model.gates(symbol, self.phi)
        self.cells = [
            following(cell, added, forget, self.most, current)
            for cell, (added, forget, _) in zip(self.cells, gates, strict=True)
        ]
        phi = []
        for cell, (_, _, o) in zip(self.cells, gates, strict=True):
            low, high = span(cell, self.most, current)
            ends = float(low), float(high)  # of all states, which are floats: rounding keeps the order
            phi.append(self.model.output(o, ends))
        self.phi = tuple(phi)
        for output, (low, high) in enumerate(self.model.decisions(self.phi)):
            margin = low if output in legal else -high
            demand(margin > 0, f"{place}: output {output} may be wrong, by {float(margin):.3g}")
            self.margin = min(self.margin, margin)

    def loop(self, loop: Any, phase: Any, steps: int, v: int, place: str) -> None:
        """That what the certificate says of a loop holds; then its rounds are over."""
        demand(loop["variable"] == v and loop["steps"] == steps, f"{place}: the loop is not of count {v}")
        demand(len(loop["cells"]) == len(self.cells) == len(loop["phi"]), f"{place}: not all cells are there")
        heads, drifts = [], []
        for h, (cell, claim) in enumerate(zip(self.cells, loop["cells"], strict=True)):
            low, high, step = Fraction(claim["low"]), Fraction(claim["high"]), Fraction(claim["step"])
            slopes = tuple(map(Fraction, claim["slopes"]))
            drift = Fraction(claim["drift"][0]), Fraction(claim["drift"][1])
            demand(len(slopes) == len(self.most) and drift[0] <= 0 <= drift[1], f"{place}: cell {h} is malformed")
            before = (cell.low, cell.high) if slopes == cell.slopes else span(cell, self.most, None)
            demand(slopes == cell.slopes or not any(slopes), f"{place}: cell {h} has other slopes before the loop")
            demand(low <= before[0] and before[1] <= high, f"{place}: cell {h} is elsewhere before the loop")
            rounds = self.most[v]
            heads.append(Cell(low + rounds * drift[0], high + rounds * drift[1], slopes, step))
            drifts.append(drift)
        phi = tuple((float(low), float(high)) for low, high in loop["phi"])
        demand(inside(self.phi, phi), f"{place}: activations are elsewhere before the loop")
        self.cells, self.phi = list(heads), phi
        for j in range(loop["at"], loop["at"] + steps):
            k = j % len(phase["word"])
            self.read(phase["word"][k], phase["within"][k], v, f"{place}, in its rounds")
        for h, (head, after, drift) in enumerate(zip(heads, self.cells, drifts, strict=True)):
            stays = head.steady and after.steady and head.low <= after.low and after.high <= head.high
            moves = after.moved is not None and (
                head.step + drift[0] <= after.moved[0] and after.moved[1] <= head.step + drift[1]
            )
            demand(stays or moves, f"{place}: cell {h} does not keep to its invariant")
        demand(inside(self.phi, phi), f"{place}: activations do not keep to their invariant")
        self.phi = phi
        self.cells = [
            Cell(head.low, head.high, tuple(s + head.step if u == v else s for u, s in enumerate(head.slopes)))
            for head in heads
        ]


def _check_language(facts: Any, model: Model) -> None:
    """That the phases are those of the language that is named, and fit the model."""
    n_counts, phases = facts["n_counts"], facts["phases"]
    demand((facts["n_inputs"], facts["n_outputs"]) == (model.n_inputs, model.n_outputs), "the model has other symbols")
    demand(facts["start"] in range(model.n_inputs) and len(phases) > 0, "the certificate has no strings")
    for phase in phases:
        word, count = phase["word"], phase["count"]
        whole = len(count) == n_counts >= 1 and all(type(c) is int and c >= 0 for c in count) and any(count)
        known = len(word) > 0 and all(symbol in range(model.n_inputs) for symbol in word)
        demand(whole and known and len(phase["within"]) == len(word), "a phase of the certificate is malformed")
    if facts["language"] in LANGUAGES:
        spelled, free = LANGUAGES[facts["language"]]
        expected = []
        for k, counts in enumerate(spelled):
            within = [k, k + 1] if k < free else [k]
            expected.append({
                "word": [k + 1], "count": [counts.count(name) for name in "nm"[:n_counts]], "within": [within],
                "end": within if k < free else [k + 1],
            })  # fmt: skip
        same = phases == expected and facts["start"] == 0 and facts["after_start"] == [0]
        demand(same, f"the strings are not those of {facts['language']}")


def phases_of(facts: Any) -> str:
    """The strings, by their phases."""
    phases = []
    for phase in facts["phases"]:
        word = " ".join(map(str, phase["word"]))
        counts = [f"{c if c > 1 else ''}{name}" for c, name in zip(phase["count"], "nmkl", strict=False) if c]
        phases.append(f"{word if len(phase['word']) == 1 else f'({word})'}^{'+'.join(counts)}")
    return " ".join(phases)


def followers_of(facts: Any) -> str:
    """Which outputs must be positive after each symbol."""

    def outputs(numbers: Any) -> str:
        return " ".join(map(str, numbers)) or "none"

    parts = [f"after {facts['start']}: {outputs(facts['after_start'])}"]
    for number, phase in enumerate(facts["phases"], 1):
        within = ", ".join(f"{k}: {outputs(legal)}" for k, legal in zip(phase["word"], phase["within"], strict=True))
        parts.append(f"in phase {number} after {within}; at its end: {outputs(phase['end'])}")
    return "; ".join(parts)


def check_counts(facts: Any, model: Model) -> tuple[int, Decimal]:
    """How far the counts of strings go that are accepted, and the least margin."""
    _check_language(facts, model)
    up_to, threshold, period, n_counts = (facts[name] for name in ("up_to", "threshold", "period", "n_counts"))
    demand(all(type(n) is int and n > 0 for n in (threshold, period, up_to)), "nothing is certified")
    cases = {tuple(case["counts"]): case for case in facts["cases"]}
    values = range(1, min(up_to, threshold + period - 1) + 1)
    demand(len(values) ** n_counts <= MOST_CASES, "there are too many cases")
    margin = Decimal("Infinity")
    for counts in itertools.product(values, repeat=n_counts):
        most = tuple((up_to - n) // period if n >= threshold else 0 for n in counts)
        margin = min(margin, _check_case(facts, model, counts, most, cases.get(counts)))
    return up_to, margin


def _check_case(facts: Any, model: Model, counts: tuple[int, ...], most: tuple[int, ...], case: Any) -> Decimal:
    walk = Walk(model, most)
    place = f"counts {counts}"
    walk.read(facts["start"], facts["after_start"], None, f"{place}, start")
    for number, phase in enumerate(facts["phases"]):
        word = phase["word"]
        length = len(word) * sum(c * n for c, n in zip(phase["count"], counts, strict=True))
        demand(0 < length <= MOST_STEPS, f"{place}: phase {number + 1} has {length} symbols")
        looped = [v for v, rounds in enumerate(most) if rounds and phase["count"][v]]
        demand(not looped or case is not None, f"{place}: the case is missing")
        loops = case["loops"][number] if looped else []
        demand(len(loops) == len(looped), f"{place}: a loop of phase {number + 1} is missing")
        at = loops[0]["at"] if loops else length
        demand(type(at) is int and 0 <= at <= length and (not loops or at < length), f"{place}: a loop begins nowhere")
        demand(all(loop["at"] == at for loop in loops), f"{place}: the loops of a phase begin in one place")
        for j in range(length):
            if j == at:
                for v, loop in zip(looped, loops, strict=True):
                    steps = facts["period"] * phase["count"][v] * len(word)
                    demand(steps <= MOST_STEPS, f"{place}: a round is too long")
                    walk.loop(loop, phase, steps, v, f"{place}, loop of phase {number + 1}")
            legal = phase["end"] if j == length - 1 else phase["within"][j % len(word)]
            walk.read(word[j % len(word)], legal, None, f"{place}, phase {number + 1}, symbol {j + 1}")
    return walk.margin

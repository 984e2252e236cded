"""The check of a certificate, in plain Python: it shares no code with the proof, NumPy or the compiled core.

It reads the model file itself, follows each case of the certificate in intervals, and finds out whether what the file
says of each loop holds before its first round, and after a round if it held before. Sums, exp and tanh are bounded in
decimal arithmetic of 40 digits, states in exact fractions. What is taken for granted of the core: double precision
rounded to the nearest number; s(t) = fma(f, s(t-1), i z); logistic and tanh within `ERROR` of the exact values, and
exactly 1 from `ONE_LOGISTIC` and `ONE_TANH` on; sums of n terms within n rounding errors of the sum of their sizes, in
whatever order.
"""

from __future__ import annotations

import ast
import itertools
import json
import math
import struct
import zipfile
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

__all__ = ["CertificateError", "check", "claim"]

DOWN, UP = Context(prec=40, rounding=ROUND_FLOOR), Context(prec=40, rounding=ROUND_CEILING)
UNIT = Decimal(2) ** -53
ERROR = Decimal(2) ** -50  # relative, 4 units in the last place; `csrc/vecmath.h` states 3
EXP_ERROR = Decimal("1e-38")  # that of Decimal.exp, with a wide margin
ONE_LOGISTIC, ONE_TANH, LEAST_LOGISTIC = Decimal("36.75"), Decimal("19.07"), Decimal(-708)
MOST_CASES, MOST_STEPS = 10**5, 10**5

# Blocks of the known languages: the symbol and how often, by the counts n and m; how many may end after any symbol.
LANGUAGES = {
    "anbn": (["n", "n"], 1), "anb2n": (["n", "nn"], 1), "anbncn": (["n", "n", "n"], 1),
    "anbncndn": (["n"] * 4, 1), "anbncndnen": (["n"] * 5, 1), "anbmcn+m": (["n", "m", "nm"], 2),
    "anbmBmAn": (["n", "m", "m", "n"], 2),
}  # fmt: skip

Ends = tuple[float, float]


class CertificateError(ValueError):
    """The certificate does not hold, or is none; the message says where."""


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


def demand(holds: bool, message: str) -> None:
    if not holds:
        raise CertificateError(message)


# ---------------------------------------------------------------------- the model


def _array(archive: zipfile.ZipFile, name: str) -> Any:
    data = archive.read(f"{name}.npy")
    demand(data[:8] == b"\x93NUMPY\x01\x00", f"{name} of the model is no array")
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:end].decode())
    demand(header["descr"] == "<f8" and not header["fortran_order"], f"{name} of the model is not in double precision")
    values = struct.unpack(f"<{(len(data) - end) // 8}d", data[end:])
    demand(all(map(math.isfinite, values)), f"{name} of the model is not finite")
    if len(header["shape"]) == 1:
        return list(values)
    demand(len(header["shape"]) == 2, f"{name} of the model is not one network")
    n = header["shape"][1]
    return [list(values[k : k + n]) for k in range(0, len(values), n)]


class Model:
    """A network and its readout, as the file has them, and what they answer to intervals."""

    def __init__(self, path: Any):
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
            fitted = header["fitted"]
            demand(header["class"] == "EvokeClassifier", "the model is no EvokeClassifier")
            plain = not any(name in fitted for name in ("_pool", "_phi_mean", "_differences"))
            demand(plain and not fitted["_per_sequence"] and fitted["_washout"] == 0 and fitted["_multilabel"],
                   "the model is not one network with several outputs at every step")  # fmt: skip
            readout = fitted["readout_"]["FittedReadout"]
            demand(readout["kernel"] in ("rbf", "linear"), "the kernel of the model is not known here")
            self.genome, self.cell = _array(archive, fitted["genome_"]["array"]), fitted["_cell"]
            self.kernel, self.gamma = readout["kernel"], Decimal(readout["gamma"])
            points, coef, intercept = (
                _array(archive, readout[name]["array"]) for name in ("support_vectors", "dual_coef", "intercept")
            )
        self.bias = [0.0, *fitted["_gate_bias"]["tuple"]]
        self.n_cells = len(self.genome)
        self.n_inputs = len(self.genome[0]) // 4 - self.n_cells
        self.n_outputs = len(intercept)
        self.points = [[Decimal(value) for value in point] for point in points]
        self.coef = [[Decimal(row[o]) for row in coef] for o in range(self.n_outputs)]
        self.intercept = [Decimal(value) for value in intercept]
        width = self.n_inputs + self.n_cells
        self.weights = [
            [[Decimal(w) for w in row[g * width : (g + 1) * width]] for g in range(4)] for row in self.genome
        ]
        self.known_gates: dict[Any, list[tuple[Ends, Ends, Ends]]] = {}
        self.known_decisions: dict[Any, list[tuple[Decimal, Decimal]]] = {}

    def gates(self, symbol: int, phi: tuple[Ends, ...]) -> list[tuple[Ends, Ends, Ends]]:
        """For each cell what it adds, i z, its forget gate and its output gate."""
        key = symbol, phi
        if key not in self.known_gates:
            ends = [(Decimal(low), Decimal(high)) for low, high in phi]
            self.known_gates[key] = [self._gates_of(cell, symbol, ends) for cell in self.weights]
        return self.known_gates[key]

    def _gates_of(self, cell: list[list[Decimal]], symbol: int, phi: list[tuple[Decimal, Decimal]]) -> Any:
        nets = []
        for weights, bias in zip(cell, self.bias, strict=True):
            inputs = [w if k == symbol else -w for k, w in enumerate(weights[: self.n_inputs])]
            nets.append(total([(w, w) for w in inputs] + [(Decimal(bias),) * 2], weights[self.n_inputs :], phi))
        z: Any = bounded(tanh, nets[0]) if self.cell == "lstm" else (rounded(nets[0][0], -1), rounded(nets[0][1], 1))
        return product(bounded(logistic, nets[1]), z), bounded(logistic, nets[2]), bounded(logistic, nets[3])

    def output(self, o: Ends, s: Ends) -> Ends:
        if self.cell == "lstm":
            return product(o, bounded(tanh, (Decimal(s[0]), Decimal(s[1]))))
        low, high = product(o, s)
        return bounded(tanh, (Decimal(low), Decimal(high)))

    def decisions(self, phi: tuple[Ends, ...]) -> list[tuple[Decimal, Decimal]]:
        if phi not in self.known_decisions:
            ends = [(Decimal(low), Decimal(high)) for low, high in phi]
            kernel = [self._kernel(point, ends) for point in self.points]
            self.known_decisions[phi] = [
                total([(b, b)], coef, kernel) for b, coef in zip(self.intercept, self.coef, strict=True)
            ]
        return self.known_decisions[phi]

    def _kernel(self, point: list[Decimal], phi: list[tuple[Decimal, Decimal]]) -> tuple[Decimal, Decimal]:
        if self.kernel == "linear":
            return total([], point, phi)
        least = most = Decimal(0)
        for z, (low, high) in zip(point, phi, strict=True):
            sizes = [abs(DOWN.subtract(low, z)), abs(UP.subtract(high, z)), abs(UP.subtract(low, z))]
            far, near = UP.multiply(max(sizes), 1 + Decimal("1e-38")), DOWN.multiply(min(sizes), 1 - Decimal("1e-38"))
            most = UP.add(most, UP.multiply(far, far))
            if not low <= z <= high:
                least = DOWN.add(least, DOWN.multiply(near, near))
        error = (2 * len(point) + 8) * UNIT
        most = UP.add(UP.multiply(UP.multiply(self.gamma, most), 1 + error), Decimal("1e-300"))
        least = DOWN.subtract(DOWN.multiply(DOWN.multiply(self.gamma, least), 1 - error), Decimal("1e-300"))
        least = max(least, Decimal(0))
        low = Decimal(0) if most >= 700 else DOWN.multiply(DOWN.exp(-most), 1 - ERROR)
        high = Decimal("1e-300") if least >= 700 else UP.multiply(UP.exp(-least), 1 + ERROR)
        return low, high


# ---------------------------------------------------------------------- arithmetic


def total(constants: list[Any], weights: list[Decimal], values: list[Any]) -> tuple[Decimal, Decimal]:
    """The constants plus the weighted values, as the core may round them."""
    low = high = size = Decimal(0)
    terms = list(constants)
    for w, (a, b) in zip(weights, values, strict=True):
        if w < 0:
            a, b = b, a
        terms.append((DOWN.multiply(w, a), UP.multiply(w, b)))
    for a, b in terms:
        low, high = DOWN.add(low, a), UP.add(high, b)
        size = UP.add(size, max(abs(a), abs(b)))
    error = UP.add(UP.multiply(size, (len(terms) + 2) * UNIT), Decimal("1e-300"))
    return DOWN.subtract(low, error), UP.add(high, error)


def rounded(x: Decimal, direction: int) -> float:
    """A float on that side of x."""
    value = float(x)
    if direction < 0 and Decimal(value) > x:
        return math.nextafter(value, -math.inf)
    if direction > 0 and Decimal(value) < x:
        return math.nextafter(value, math.inf)
    return value


def logistic(x: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds of the core's logistic function at x."""
    if x >= ONE_LOGISTIC:
        return Decimal(1), Decimal(1)
    if x <= LEAST_LOGISTIC:
        return Decimal(0), Decimal("1e-307")
    power = DOWN.exp(-x)
    low = DOWN.divide(1, UP.add(1, UP.multiply(power, 1 + EXP_ERROR)))
    high = UP.divide(1, DOWN.add(1, DOWN.multiply(power, 1 - EXP_ERROR)))
    return DOWN.multiply(low, 1 - ERROR), min(UP.multiply(high, 1 + ERROR), Decimal(1))


def tanh(x: Decimal) -> tuple[Decimal, Decimal]:
    """Bounds of the core's tanh at x."""
    if x < 0:
        low, high = tanh(-x)
        return -high, -low
    if x == 0 or x >= ONE_TANH:
        return (Decimal(0),) * 2 if x == 0 else (Decimal(1),) * 2
    if x < Decimal("1e-9"):  # x - x^3 / 3 < tanh(x) < x
        low, high = DOWN.multiply(x, 1 - Decimal("1e-18")), x
    else:
        power = DOWN.exp(2 * x)
        low = DOWN.subtract(1, UP.divide(2, DOWN.add(1, DOWN.multiply(power, 1 - EXP_ERROR))))
        high = UP.subtract(1, DOWN.divide(2, UP.add(1, UP.multiply(power, 1 + EXP_ERROR))))
    tiny = Decimal("1e-322")
    low = DOWN.subtract(DOWN.multiply(low, 1 - ERROR), tiny)
    return max(low, Decimal(0)), min(UP.add(UP.multiply(high, 1 + ERROR), tiny), Decimal(1))


def bounded(function: Any, x: tuple[Decimal, Decimal]) -> Ends:
    return rounded(function(x[0])[0], -1), rounded(function(x[1])[1], 1)


def product(a: Ends, b: Ends) -> Ends:
    """Of floats, rounded as the core does: rounding keeps the order."""
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


# ---------------------------------------------------------------------- states


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
        ends = [Fraction(f) * s for f in forget for s in (low, high)]
        return Cell(nearest(min(ends) + a), nearest(max(ends) + b), (Fraction(0),) * len(cell.slopes), moved=None)
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


def nearest(x: Fraction) -> Fraction:
    """The float next to x, as the core rounds it."""
    return Fraction(float(x))


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


def inside(inner: tuple[Ends, ...], outer: tuple[Ends, ...]) -> bool:
    return all(c <= a and b <= d for (a, b), (c, d) in zip(inner, outer, strict=True))


# ---------------------------------------------------------------------- the certificate


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


def claim(certificate: str) -> str:
    """The strings that a certificate is about, by their phases.

    Parameters
    ----------
    certificate : str
        The text that `Certificate.to_json` gave.

    Returns
    -------
    str
        Such as ``anbncn: 1^n 2^n 3^n``, with the symbols by their numbers.
    """
    facts = json.loads(certificate)
    phases = []
    for phase in facts["phases"]:
        word = " ".join(map(str, phase["word"]))
        counts = [f"{c if c > 1 else ''}{name}" for c, name in zip(phase["count"], "nmkl", strict=False) if c]
        phases.append(f"{word if len(phase['word']) == 1 else f'({word})'}^{'+'.join(counts)}")
    return f"{facts['language']}: {' '.join(phases)}"


def check(certificate: str, model: Any) -> tuple[int, float]:
    """Check a certificate.

    Parameters
    ----------
    certificate : str
        The text that `Certificate.to_json` gave.
    model : str, PathLike or binary file
        The file of the model that it is about.

    Returns
    -------
    up_to : int
        All strings with counts from 1 to this number are accepted.
    margin : float
        The least margin.

    Raises
    ------
    CertificateError
        It does not hold, or cannot be read.
    """
    try:
        return _check(json.loads(certificate), Model(model))
    except CertificateError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, SyntaxError,
            struct.error, zipfile.BadZipFile) as error:  # fmt: skip
        raise CertificateError(f"the certificate or the model cannot be read: {error!r}") from None


def _check(facts: Any, model: Model) -> tuple[int, float]:
    demand(facts["format"] == 1, "the format of the certificate is not known")
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
    return up_to, float(margin)


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

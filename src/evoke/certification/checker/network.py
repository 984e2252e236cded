"""The model of a certificate, as its file has it."""

from __future__ import annotations

import ast
import json
import math
import struct
import zipfile
from decimal import Decimal
from typing import Any

from evoke.certification.checker.arithmetic import (
    DOWN,
    LESS,
    MORE,
    SMALLEST,
    UNIT,
    UP,
    Constant,
    Ends,
    Values,
    constant,
    demand,
    exponentials,
    logistic,
    product,
    rounded,
    tanh,
    total,
    values,
)

__all__ = ["Model"]


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
        self.intercept = [constant([Decimal(value)]) for value in intercept]
        width = self.n_inputs + self.n_cells
        self.weights = [
            [[Decimal(w) for w in row[g * width : (g + 1) * width]] for g in range(4)] for row in self.genome
        ]
        self.inputs: dict[int, list[list[Constant]]] = {}
        self.known_gates: dict[Any, list[tuple[Ends, Ends, Ends]]] = {}
        self.known_decisions: dict[Any, list[tuple[Decimal, Decimal]]] = {}

    def gates(self, symbol: int, phi: tuple[Ends, ...]) -> list[tuple[Ends, Ends, Ends]]:
        """For each cell what it adds, i z, its forget gate and its output gate."""
        key = symbol, phi
        if key not in self.known_gates:
            if symbol not in self.inputs:
                self.inputs[symbol] = [[self._input(*gate, symbol) for gate in zip(cell, self.bias, strict=True)]
                                       for cell in self.weights]  # fmt: skip
            ends = values(list(phi))
            self.known_gates[key] = [
                self._gates_of(*cell, ends) for cell in zip(self.weights, self.inputs[symbol], strict=True)
            ]
        return self.known_gates[key]

    def _input(self, weights: list[Decimal], bias: float, symbol: int) -> Constant:
        inputs = weights[: self.n_inputs]
        return constant([*(w if k == symbol else w.copy_negate() for k, w in enumerate(inputs)), Decimal(bias)])

    def _gates_of(self, cell: list[list[Decimal]], inputs: list[Constant], phi: Values) -> Any:
        nets = [total(own, weights[self.n_inputs :], phi) for weights, own in zip(cell, inputs, strict=True)]
        z = tanh(*nets[0]) if self.cell == "lstm" else (rounded(nets[0][0], -1), rounded(nets[0][1], 1))
        return product(logistic(*nets[1]), z), logistic(*nets[2]), logistic(*nets[3])

    def output(self, o: Ends, s: Ends) -> Ends:
        if self.cell == "lstm":
            return product(o, tanh(Decimal(s[0]), Decimal(s[1])))
        low, high = product(o, s)
        return tanh(Decimal(low), Decimal(high))

    def decisions(self, phi: tuple[Ends, ...]) -> list[tuple[Decimal, Decimal]]:
        if phi not in self.known_decisions:
            ends = values(list(phi))
            kernel = values([self._kernel(point, ends) for point in self.points])
            self.known_decisions[phi] = [
                total(b, coef, kernel) for b, coef in zip(self.intercept, self.coef, strict=True)
            ]
        return self.known_decisions[phi]

    def _kernel(self, point: list[Decimal], phi: Values) -> tuple[Decimal, Decimal]:
        if self.kernel == "linear":
            return total(constant([]), point, phi)
        least = most = Decimal(0)
        for z, low, high in zip(point, phi.low, phi.high, strict=True):
            after, before = UP.subtract(high, z), UP.subtract(z, low)
            far = max(after, before)
            most = UP.fma(far, far, most)
            if after < 0 or before < 0:
                near = min(after, before)
                least = DOWN.fma(near, near, least)
        error = (2 * len(point) + 8) * UNIT
        most = UP.fma(UP.multiply(self.gamma, most), UP.add(1, error), SMALLEST)
        least = DOWN.subtract(DOWN.multiply(DOWN.multiply(self.gamma, least), DOWN.subtract(1, error)), SMALLEST)
        least = max(least, Decimal(0))
        if least >= 700:
            return Decimal(0), SMALLEST
        low, high = exponentials(min(most, Decimal(700)).copy_negate(), least.copy_negate())
        return Decimal(0) if most >= 700 else DOWN.multiply(low, LESS), UP.multiply(high, MORE)

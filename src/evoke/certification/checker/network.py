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
    ERROR,
    UNIT,
    UP,
    Ends,
    bounded,
    demand,
    logistic,
    product,
    rounded,
    tanh,
    total,
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

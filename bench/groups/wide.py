"""The forward pass of networks with many cells or inputs, beside PyTorch, or NumPy where that is not installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import forward, operations, problems, reference
from harness.paired import Quartiles, Times, paired
from harness.report import Report, Settings, Table, Target, installed, skipped

N_STEPS, N_NETWORKS = 100, 16
# inputs, cells, sequences
ONE = [
    (1, 20, 200), (100, 20, 200), (10, 50, 32), (10, 50, 200), (1, 100, 32), (10, 100, 200), (1000, 10, 1),
    (1000, 10, 32), (1000, 50, 1), (1000, 50, 32), (100, 200, 1), (100, 200, 32), (1, 500, 1), (10, 500, 32),
    (1000, 500, 1), (1000, 500, 8),
]  # fmt: skip
MANY = [
    (1, 10, 32), (10, 20, 1), (10, 20, 32), (100, 20, 32), (10, 50, 1), (10, 50, 32), (100, 50, 32), (1, 100, 1),
    (10, 100, 32), (100, 100, 32), (1, 200, 1), (10, 200, 32), (1000, 10, 1), (1000, 10, 32), (1000, 50, 1),
    (1000, 50, 8),
]  # fmt: skip

NOTE = f"""Sequences of {N_STEPS} steps. PyTorch reads all of them at once, from one tensor and without gradients, evoke
from a list of arrays; of populations PyTorch takes `nn.LSTM` for each network or a loop over the steps with batched
products, whichever is faster. Each library is timed in double and in single precision on one core."""


def measure(settings: Settings) -> Report:
    report = Report()
    if not installed("torch"):
        report.tables.append(Table("PyTorch", notes=[skipped("wide networks in PyTorch", "torch")]))
    for n_networks, shapes in ((1, ONE), (N_NETWORKS, MANY)):
        what = "one network" if n_networks == 1 else f"{n_networks} networks"
        table = Table(f"Activations of {what}", notes=[NOTE])
        for shape in [(40, 20, 5)] if settings.quick else shapes:
            genomes, X = data(n_networks, *shape, n_steps=10 if settings.quick else N_STEPS)
            times = paired(make_candidates(genomes, X), min(settings.repeats, 5))
            flops = n_networks * sum(map(len, X)) * operations.lstm(*shape[:2])
            table.rows.append(row(shape, times, flops, settings))
            report.targets += targets(f"{what}, {shape[0]} inputs, {shape[1]} cells, {shape[2]} sequences", times)
        report.tables.append(table)
    return report


def data(n_networks: int, n_inputs: int, n_cells: int, n_sequences: int, n_steps: int) -> tuple[Any, list[Any]]:
    rng = np.random.default_rng(0)
    genomes = rng.uniform(-1.0, 1.0, (n_networks, n_cells, 4 * (n_inputs + n_cells))) / np.sqrt(n_inputs + n_cells)
    return genomes, [rng.uniform(-1.0, 1.0, (n_steps, n_inputs)) for _ in range(n_sequences)]


def make_candidates(genomes: Any, X: list[Any]) -> dict[str, Callable[[int], Any]]:
    """By name: evoke, and each form of another library, in each precision that it has."""
    own = genomes if len(genomes) > 1 else genomes[0]
    candidates = {forward.name_in(precision): forward.evoke_in(own, X, precision) for precision in forward.PRECISIONS}
    if not installed("torch"):
        numpy = {"NumPy, float64": lambda _: [reference.forward_population(genomes, x, problems.GATE_BIAS) for x in X]}
        return candidates | numpy
    for precision in forward.PRECISIONS:
        theirs = forward.torch_candidates(genomes, X, precision)
        forms = ["nn.LSTM for each network", *(["loop over the steps, bmm"] if len(genomes) > 1 else [])]
        candidates |= {f"PyTorch, {form}, {precision}": theirs[form] for form in forms}
    return candidates


def fastest(times: Times, precision: str) -> Quartiles | None:
    """The time of the fastest other one to that of evoke, in this precision."""
    others = [name for name in times.cpu if not name.startswith(forward.EVOKE) and name.endswith(precision)]
    ratios = [times.speedup(name, forward.name_in(precision))[1] for name in others]
    return min(ratios, key=lambda ratio: ratio.median, default=None)


def row(shape: tuple[int, int, int], times: Times, flops: float, settings: Settings) -> dict[str, Any]:
    found: dict[str, Any] = dict(zip(("inputs", "cells", "sequences"), shape, strict=True))
    for precision in forward.PRECISIONS:
        found[f"evoke {precision}, ms"] = times.seconds(forward.name_in(precision), 1e-3)[1]
    for precision in forward.PRECISIONS:
        found[f"other / evoke, {precision}"] = fastest(times, precision) or "-"
    seconds = times.seconds(forward.name_in("float64"))[1].median
    return found | {"of the limit, float64": settings.of_flops(flops, seconds)}


def targets(what: str, times: Times) -> list[Target]:
    ratios = {precision: fastest(times, precision) for precision in forward.PRECISIONS}
    return [
        Target.at_least(f"fastest other / evoke, both {precision}, {what}", 1.0, ratio.median)
        for precision, ratio in ratios.items() if ratio is not None
    ]  # fmt: skip

"""The forward pass of a population beside NumPy."""

from __future__ import annotations

import numpy as np
import problems
import reference
from paired import paired
from report import Report, Settings, Table

from evoke import tasks
from evoke.lstm import forward


def run(settings: Settings) -> Report:
    numbers, size = (2, 8) if settings.quick else (10, 40)
    candidates = make_candidates(problems.networks(numbers, "paper")[:size], tasks.anbncn(numbers)[0])
    times = paired(candidates, settings.repeats)
    rows = sum(3 * n + 1 for n in range(1, numbers + 1))
    table = Table(f"Activations of {size} networks with {problems.N_CELLS} cells on {rows} steps of {numbers} strings")
    for name in candidates:
        wall, cpu = times.seconds(name, 1e-3)
        row = {"": name, "ms": wall, "ms of processor": cpu}
        table.rows.append(row | {"/ evoke (processor)": times.speedup(name, "evoke")[1]})
    return Report([table])


def make_candidates(genomes, X):
    bias = problems.GATE_BIAS
    return {
        "evoke": lambda _: forward(genomes, X),
        "NumPy, one network at a time": lambda _: [
            np.array([reference.forward(genome, x, bias) for genome in genomes]) for x in X
        ],
        "NumPy, all networks at a time": lambda _: [reference.forward_population(genomes, x, bias) for x in X],
    }

"""Where the time of an evaluation goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import core, problems
from harness.core import FloatArray, Problem
from harness.paired import paired
from harness.report import Report, Settings, Table

NOTE = """The parts are timed through the separate functions of the core, one network after the other except in the
forward pass. The fused evaluation does the same work without copying results and without a Python call for each network
and machine, so the parts together take longer than the whole, and their shares are estimates."""


def measure(settings: Settings) -> Report:
    table = Table("Parts of an evaluation, microseconds of processor time", notes=[NOTE])
    for n_max, origin, problem, genomes in problems.some_evaluations(settings.quick, 8 if settings.quick else 80):
        times = paired(parts(problem, problems.gamma_of(origin), genomes), settings.repeats)
        taken = {name: times.seconds(name, len(genomes) / 1e6)[1].median for name in times.cpu}
        whole = taken.pop("whole")
        row = {"problem": f"N={n_max}, {origin}"} | core.sizes(problem) | taken
        table.rows.append(row | {"sum of parts": sum(taken.values()), "fused": whole})
    return Report([table])


def parts(problem: Problem, gamma: float, genomes: FloatArray) -> dict[str, Callable[[int], Any]]:
    """The functions to time, each for all networks."""
    phi = core.population(problem, genomes)
    rows, held_out = [core.to_train_on(problem, p) for p in phi], [core.to_validate_on(problem, p) for p in phi]
    machines = [core.machine(r, gamma) for r in rows]
    fitted = [np.ascontiguousarray(core.train_outputs(problem, machine).T) for machine in machines]
    intercept = np.zeros(fitted[0].shape[1])
    return {
        "forward pass": lambda _: core.population(problem, genomes),
        "gather and Gram matrix": lambda _: [core.gram(core.to_train_on(problem, p), gamma) for p in phi],
        "4 machines": lambda _: [core.train_outputs(problem, machine) for machine in machines],
        "validation decisions": lambda _: [
            core.decide(x, sv, coef, intercept, gamma) for x, sv, coef in zip(held_out, rows, fitted, strict=True)
        ],
        "whole": lambda _: core.evaluate(problem, genomes),
    }

"""What each idea that makes evaluations fast is worth: the same errors are computed without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import core, problems
from harness.core import FloatArray
from harness.paired import paired
from harness.report import Report, Settings, Table

NOTE = """Ratios of processor time, 40 networks. "Points not merged": strings share their beginnings, but every step is
a point of the readout. "Nothing shared": every string is read from its start, so that no two points are the same. "One
network per call": seven of eight lanes are idle, and every call sets up its memory."""


def measure(settings: Settings) -> Report:
    table = Table("Evaluations without one idea, beside those with all", notes=[NOTE])
    for n_max, origin, _, genomes in problems.some_evaluations(settings.quick, 8 if settings.quick else 40):
        candidates = make_candidates(n_max, problems.gamma_of(origin), genomes)
        times = paired(candidates, settings.repeats)
        row = {"problem": f"N={n_max}, {origin}", "all, ms": times.seconds("all", len(genomes) / 1e3)[1]}
        table.rows.append(row | {name: times.speedup(name, "all")[1] for name in candidates if name != "all"})
    return Report([table, solver(settings)])


def solver(settings: Settings) -> Table:
    """The solver alone, to be compared with a build without its Newton steps (docs/performance.md)."""
    table = Table("The solver: C-SVC on 200 rows, RBF kernel, tol=1e-3", notes=["Four problems."])
    for C in (1e2,) if settings.quick else (1e2, 1e4, 1e6):
        made = [problems.tanh_features(200, seed) for seed in range(4)]
        found = [train(*one, C) for one in made]
        times = paired({"solve": lambda k, made=made, C=C: train(*made[k % len(made)], C)}, settings.repeats)
        steps, gaps = zip(*((int(f.n_iter[0]), float(f.gap[0] / f.objective[0])) for f in found), strict=True)
        table.rows.append({
            "C": f"{C:g}", "ms": times.seconds("solve", 1e-3)[1], "steps": float(np.median(steps)),
            "most steps": max(steps), "largest gap, of the objective": max(gaps),
        })  # fmt: skip
    return table


def train(X: FloatArray, y: FloatArray, gamma: float, C: float) -> Any:
    labels = np.where(y > 0, 1.0, -1.0)
    return core.solve_machine(X, labels, *core.boxes(labels, C), gamma=gamma, tol=problems.TOL)


def make_candidates(n_max: int, gamma: float, genomes: FloatArray) -> dict[str, Callable[[int], FloatArray]]:
    problem = problems.anbncn(n_max, gamma)
    unmerged, unshared = (problems.anbncn(n_max, gamma, merged=False, shared=shared) for shared in (True, False))
    return {
        "all": lambda _: core.evaluate(problem, genomes),
        "points not merged": lambda _: core.evaluate(unmerged, genomes),
        "nothing shared": lambda _: core.evaluate(unshared, genomes),
        "one network per call": lambda _: np.concatenate([core.evaluate(problem, genome[None]) for genome in genomes]),
    }

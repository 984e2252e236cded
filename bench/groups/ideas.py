"""What the ideas behind the speed of an evaluation are worth: the same errors without one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import problems
from paired import paired
from report import Report, Settings, Table

from evoke import tasks
from evoke.evolution.evaluation import evaluate
from evoke.evolution.problem import Points, Problem
from evoke.sequences.containers import as_sequences
from evoke.sequences.prefixes import Runs, share_prefixes
from evoke.svm import solve

NOTE = """Ratios of processor time, 40 networks. "Points not merged": beginnings are shared, but every step is a point
of the readout. "Nothing shared": every string runs from its start, so that no two points are one. "One network a
call": seven of eight lanes idle, and every call sets up its memory.""".replace("\n", " ")


def run(settings: Settings) -> Report:
    table = Table("Evaluations without one idea, beside all of them", notes=[NOTE])
    for n_max in (4,) if settings.quick else (10, 20):
        for origin in problems.ORIGINS:
            genomes = problems.networks(n_max, origin, 2 if settings.quick else 50)[: 8 if settings.quick else 40]
            candidates = make_candidates(n_max, origin, genomes)
            times = paired(candidates, settings.repeats)
            row = {"problem": f"N={n_max}, {origin}", "all, ms": times.seconds("all", len(genomes) / 1e3)[1]}
            for name in list(candidates)[1:]:
                row[name] = times.speedup(name, "all")[1]
            table.rows.append(row)
    return Report([table, solver(settings)])


def solver(settings: Settings) -> Table:
    """What the solver does by itself, to be held against a build without its Newton steps (docs/performance.md)."""
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


def train(X, y, gamma, C):
    sign = np.where(y > 0, 1.0, -1.0)
    kernel = {"kernel": "rbf", "gamma": gamma, "coef0": 0.0, "degree": 3}
    return solve(
        X, sign, np.minimum(0.0, sign * C), np.maximum(0.0, sign * C), epsilon=0.0, tol=problems.TOL, max_iter=-1,
        solver="native", **kernel,
    )  # fmt: skip


def make_candidates(n_max: int, origin: str, genomes: np.ndarray):
    problem = problems.anbncn(n_max, problems.gamma_of(origin))
    single, apart = not_merged(problem, n_max, shared=True), not_merged(problem, n_max, shared=False)
    return {
        "all": lambda _: evaluate(problem, genomes),
        "points not merged": lambda _: evaluate(single, genomes),
        "nothing shared": lambda _: evaluate(apart, genomes),
        "one network a call": lambda _: np.concatenate([evaluate(problem, genome[None]) for genome in genomes]),
    }


def not_merged(problem: Problem, n_max: int, *, shared: bool) -> Problem:
    """The problem with one point for every step, and without shared beginnings unless `shared`."""
    X, y = tasks.anbncn(n_max)
    sequences = as_sequences(X)
    alone = np.full(n_max, -1, dtype=np.int64)
    apart = Runs(
        sequences.rows, np.stack([sequences.offsets[:-1], sequences.offsets[1:], alone, alone]),
        np.arange(len(sequences.rows)),
    )  # fmt: skip
    runs = share_prefixes(sequences) if shared else apart
    targets = (2.0 * np.concatenate(y) - 1.0).T
    cut = sequences.offsets[n_max - n_max // 2]
    train, validation = (
        Points(runs.row_of[part], np.ones(len(runs.row_of[part])), np.ascontiguousarray(targets[:, part]))
        for part in (slice(cut), slice(cut, None))
    )
    return replace(problem, runs=runs, train=train, validation=validation)

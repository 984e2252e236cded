"""Where the time of an evaluation goes."""

from __future__ import annotations

import numpy as np
import problems
from paired import paired
from report import Report, Settings, Table

from evoke._core import lstm, qp
from evoke.evolution.evaluation import evaluate

NOTE = """The parts are timed through the separate functions of the core, one network after the other for all but the
forward pass. The fused evaluation does the same work without copying results out, and without a Python call for each
network or machine, so the parts together take longer than the whole: their shares are estimates."""


def run(settings: Settings) -> Report:
    table = Table("Parts of an evaluation, microseconds of processor time", notes=[NOTE.replace("\n", " ")])
    for n_max in (4,) if settings.quick else (10, 20):
        for origin in problems.ORIGINS:
            genomes = problems.networks(n_max, origin, 2 if settings.quick else 50)[: 8 if settings.quick else 80]
            problem = problems.anbncn(n_max, problems.gamma_of(origin))
            times = paired(parts(problem, genomes), settings.repeats)
            taken = {name: times.seconds(name, len(genomes) / 1e6)[1].median for name in times.cpu}
            whole = taken.pop("whole")
            row = {"problem": f"N={n_max}, {origin}", "training points": len(problem.train.rows)}
            row["rows"] = len(problem.runs.rows)
            table.rows.append(row | taken | {"sum of parts": sum(taken.values()), "fused": whole})
    return Report([table])


def parts(problem, genomes):
    """The functions to be timed, each for all networks."""
    readout, train, test = problem.readout, problem.train, problem.validation
    kernel = readout.kernel, readout.gamma, readout.coef0, readout.degree
    forward = genomes, problem.runs.rows, *problem.runs.table, problem.cell, problem.gate_bias
    lower, upper = readout.boxes(train.targets, train.weights)
    phi = lstm.population(*forward)
    rows = [np.ascontiguousarray(p[train.rows]) for p in phi]
    held_out = [np.ascontiguousarray(p[test.rows]) for p in phi]
    cache = 8 * len(train.rows) * (len(train.rows) + 8)
    machines = [qp.Machine(r, *kernel, cache) for r in rows]
    outputs = range(len(train.targets))
    betas = np.zeros((len(genomes), *train.targets.shape))

    def solve():
        for machine, beta in zip(machines, betas, strict=True):
            beta[:] = 0.0
            for o in outputs:
                machine.solve(train.targets[o], lower[o], upper[o], 0.0, readout.tol, readout.max_iter, beta[o])

    def gram():
        for p in phi:
            qp.gram(p[train.rows], *kernel)

    solve()
    fitted = [np.ascontiguousarray(beta.T) for beta in betas]
    bias = np.zeros(len(train.targets))

    def decide():
        for x, sv, coef in zip(held_out, rows, fitted, strict=True):
            qp.decide(x, sv, coef, bias, *kernel)

    return {
        "forward pass": lambda _: lstm.population(*forward),
        "gather and Gram matrix": lambda _: gram(),
        "4 machines": lambda _: solve(),
        "validation decisions": lambda _: decide(),
        "whole": lambda _: evaluate(problem, genomes),
    }

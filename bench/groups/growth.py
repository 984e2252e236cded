"""How cost grows with rows, cells, steps and networks, and the exponents that fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import sklearn.svm

from evoke.svm import SVC
from harness import core, forward, problems, reference
from harness.paired import paired
from harness.report import Plot, Report, Settings, Table, Target, installed, skipped

Candidates = dict[str, Callable[[int], Any]]

SINGLE = "; evoke and PyTorch in single precision"
ROUNDS, LARGE = 3, 5000  # from LARGE rows on a single round, after two that warm up: ThunderSVM takes long
LONGEST_FOR_PEERS = 20_000  # steps: beyond it, seconds
NOTE = """Medians. The exponent is the slope of the logarithms over the upper half of the sizes, where the fixed cost of
a call has become small."""


def measure(settings: Settings) -> Report:
    quick, report = settings.quick, Report()
    for C in (1, 100):
        rows = grow(report, "rows", f"Rows of one classification machine, C = {C}, milliseconds",
                    (20, 40, 80) if quick else (50, 100, 200, 500, 1000, 2000, 5000, 10_000),
                    partial(machines, C), plot=f"rows-{C}")  # fmt: skip
        for size, row in zip(rows["size"], rows["ThunderSVM"], strict=True) if "ThunderSVM" in rows else ():
            label = f"ThunderSVM / evoke, SVC n={size}, C={C}"
            report.targets.append(Target.at_least(label, 1.0, row / rows["evoke"][rows["size"].index(size)]))
    grow(report, "cells", f"Cells: {forward.N_NETWORKS} networks, 175 steps, milliseconds{SINGLE}",
         (2, 4) if quick else (2, 5, 10, 20, 50, 100), partial(cells, 2 if quick else 10))  # fmt: skip
    grow(report, "steps", f"Steps: one network of 5 cells, milliseconds{SINGLE}, NumPy in double",
         (50, 100) if quick else (1000, 10_000, 100_000, 1_000_000), steps)  # fmt: skip
    grow(report, "population", "Networks of a whole evaluation, N = 10, milliseconds",
         (8, 16) if quick else (8, 40, 200, 1000, 10_000), partial(population, 4 if quick else 10))  # fmt: skip
    if not installed("torch"):
        report.tables[0].notes.append(skipped("growth of PyTorch", "torch"))
    return report


def grow(
    report: Report, name: str, title: str, sizes: Iterable[int], make: Callable[[int], Candidates], plot: str = ""
) -> dict[str, list[float]]:
    """Add a table and a plot of the milliseconds that each candidate takes at each size; return them."""
    table, taken = Table(title, notes=[NOTE]), {}
    for size in sizes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # our solver finishes what ThunderSVM began
            times = paired(make(size), 1 if name == "rows" and size >= LARGE else ROUNDS)
        for candidate in times.cpu:
            taken.setdefault(candidate, {})[size] = times.seconds(candidate, 1e-3)[1].median
    for size in sizes:
        row = {name: str(size)} | {who: values.get(size, "-") for who, values in taken.items()}
        row |= {
            f"{who} / evoke": values[size] / taken["evoke"][size] if size in values else "-"
            for who, values in taken.items()
            if who in PEERS
        }
        table.rows.append(row)
    exponents = {who: exponent(list(values), list(values.values())) for who, values in taken.items()}
    table.rows.append({column: exponents.get(column, "-") for column in table.rows[0]} | {name: "exponent"})
    report.tables.append(table)
    lines = {who: (list(values), list(values.values())) for who, values in taken.items()}
    report.plots.append(Plot(f"growth-{plot or name}", title, name, "milliseconds", lines))
    return {"size": list(sizes)} | {who: [v.get(s, np.inf) for s in sizes] for who, v in taken.items()}


PEERS = ("scikit-learn", "ThunderSVM", "PyTorch", "NumPy")


def exponent(sizes: list[float], values: list[float]) -> float:
    """b of a size^b through the upper half of the points, two at least."""
    keep = slice(min(len(sizes) // 2, len(sizes) - 2), None)
    return float(np.polyfit(np.log(sizes[keep]), np.log(values[keep]), 1)[0])


def machines(C: float, n: int) -> Candidates:
    X, y, gamma = problems.tanh_features(n, 0)
    shared = {"C": C, "gamma": gamma, "tol": problems.TOL}
    candidates = {
        "evoke": lambda _: SVC(**shared).fit(X, y),
        "scikit-learn": lambda _: sklearn.svm.SVC(**shared).fit(X, y),
    }
    if core.thundersvm_available():
        candidates["ThunderSVM"] = lambda _: SVC(**shared, solver="thundersvm").fit(X, y)
    if n <= 5000:
        candidates["kernel matrix of evoke"] = lambda _: core.gram(X, gamma)
    return candidates


def cells(n_max: int, n_cells: int) -> Candidates:
    X = next(iter(forward.data(n_max < 10).values()))
    genomes = forward.networks(forward.N_NETWORKS, problems.N_INPUTS, n_cells) / np.sqrt(n_cells)
    candidates = evoke_in_both(genomes, X)
    if installed("torch"):
        candidates["PyTorch"] = forward.torch_candidates(genomes, X, "float32")["nn.LSTM for each network"]
    return candidates


def evoke_in_both(genomes: np.ndarray, X: list[np.ndarray]) -> Candidates:
    names = {"evoke": "float32", "evoke in double": "float64"}
    return {name: forward.evoke_in(genomes, X, precision) for name, precision in names.items()}


def steps(n_steps: int) -> Candidates:
    genome = forward.networks(1, problems.N_INPUTS, problems.N_CELLS)[0]
    x = np.random.default_rng(0).choice([-1.0, 1.0], (n_steps, problems.N_INPUTS))
    candidates = evoke_in_both(genome, [x])
    if n_steps <= LONGEST_FOR_PEERS:
        candidates["NumPy"] = lambda _: reference.forward(genome, x, problems.GATE_BIAS)
        if installed("torch"):
            theirs = forward.torch_candidates(genome[None], [x], "float32")
            candidates["PyTorch"] = theirs["nn.LSTM for each network"]
    return candidates


def population(n_max: int, n_networks: int) -> Candidates:
    problem = problems.anbncn(n_max, problems.gamma_of("paper"))
    genomes = np.resize(problems.networks(n_max, "paper"), (n_networks, problems.N_CELLS, 36))
    return {"evoke": lambda _: core.evaluate(problem, genomes)}

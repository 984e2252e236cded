"""Evaluations of networks on a^n b^n c^n on one core: forward pass, four machines, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from evoke import tasks
from evoke.exceptions import SolverWarning
from harness import core, problems, reference
from harness.paired import paired
from harness.report import Report, Settings, Table, Target

EVOKE, THUNDERSVM, PLAIN = "evoke", "evoke with ThunderSVM", "NumPy + scikit-learn"
PART = 8  # networks per round: a block of the core
Evaluator = Callable[[np.ndarray], np.ndarray]


def measure(settings: Settings) -> Report:
    report = Report()
    speed = Table(
        "Evaluations, one core",
        notes=[
            f"Ratios: median and quartiles of {settings.repeats} rounds, each on {PART} of 200 networks. Milliseconds "
            "per evaluation: all 200 networks in one call. Targets are judged by processor time."
        ],
    )
    agreement = Table(
        "Agreement of the errors with evoke",
        notes=[
            "How far sums of hinge errors differ, relative to the sum plus one, and the numbers of wrong decisions. "
            "Each decision is exact only to about tol; ThunderSVM works in single precision."
        ],
    )
    report.tables = [speed, agreement]
    for n_max in (4,) if settings.quick else (10, 20):
        for origin in problems.ORIGINS:
            where = f"N={n_max}, {origin}"
            genomes = problems.networks(n_max, origin, 2 if settings.quick else 50)
            evaluators = make_evaluators(n_max, origin)

            def on_part(name, genomes=genomes, evaluators=evaluators):
                return lambda k: evaluators[name](genomes[PART * k % len(genomes) :][:PART])

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SolverWarning)  # the native solver finishes what ThunderSVM cannot
                times = paired({name: on_part(name) for name in evaluators}, settings.repeats)
                some = genomes[: PART if settings.quick else 5 * PART]
                for tol in (problems.TOL, problems.TIGHT):
                    agreement.rows += compare(where, n_max, origin, tol, some)
            whole = paired({EVOKE: lambda _, g=genomes, e=evaluators: e[EVOKE](g)}, settings.repeats)
            wall, cpu = whole.seconds(EVOKE, len(genomes) / 1e3)
            row = {"problem": where, "ms": wall, "ms (processor)": cpu}
            if n_max == 10:
                report.targets.append(Target.at_most(f"ms, {where}", 0.05, cpu.median))
            for name, wanted in ((PLAIN, 100), (THUNDERSVM, 30)):
                row[f"{name} / evoke"] = row[f"{name} / evoke (processor)"] = "-"
                if name in evaluators:
                    ratios = times.speedup(name, EVOKE)
                    row[f"{name} / evoke"], row[f"{name} / evoke (processor)"] = ratios
                    report.targets.append(Target.at_least(f"{name} / evoke, {where}", wanted, ratios[1].median))
            speed.rows.append(row)
    return report


def make_evaluators(n_max: int, origin: str, tol: float = problems.TOL) -> dict[str, Evaluator]:
    """Functions from genomes to errors (n_networks, 4)."""
    gamma = problems.gamma_of(origin)
    problem = problems.anbncn(n_max, gamma, tol)
    X, y = tasks.anbncn(n_max)
    svc = {"C": problems.C, "gamma": gamma, "tol": tol}

    def plain(genomes):
        return np.array([reference.evaluate(g, X, y, n_max - n_max // 2, problems.GATE_BIAS, **svc) for g in genomes])

    evaluators = {EVOKE: lambda genomes: core.evaluate(problem, genomes), PLAIN: plain}
    if core.thundersvm_available() and tol >= problems.TOL:
        other = problems.anbncn(n_max, gamma, tol, "thundersvm")
        evaluators[THUNDERSVM] = lambda genomes: core.evaluate(other, genomes)
    return evaluators


def compare(where: str, n_max: int, origin: str, tol: float, genomes: np.ndarray) -> list[dict[str, object]]:
    """A row for each other evaluator: how far its errors differ from ours."""
    evaluators = make_evaluators(n_max, origin, tol)
    ours = evaluators[EVOKE](genomes)
    rows = []
    for name in [name for name in evaluators if name != EVOKE]:
        theirs = evaluators[name](genomes)
        difference = np.abs(ours - theirs)
        relative = difference[:, :2] / (1.0 + theirs[:, :2])
        rows.append({
            "problem": where, "other": name, "tol": tol, "networks": len(genomes), "median": float(np.median(relative)),
            "largest": float(relative.max()), "decisions": int(difference[:, 2:].sum()),
        })  # fmt: skip
    return rows

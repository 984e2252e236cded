"""Regression machines by rows, C and epsilon: `evoke.svm.SVR` beside `sklearn.svm.SVR` (LIBSVM) and ThunderSVM."""

from __future__ import annotations

import itertools
import warnings
from functools import partial

import sklearn.svm

from evoke.svm import SVR
from harness import core, problems
from harness.paired import paired
from harness.reference import dual_of_regression
from harness.report import Report, Settings, Table, Target

ROWS, BOUNDS, EPSILONS = (50, 200, 1000), (1.0, 100.0, 1e4), (1e-1, 1e-3)
STEPS = 200_000  # after which scikit-learn is stopped, as it would need minutes
LARGEST_FOR_THUNDERSVM = 20_000.0  # rows times C

NOTE = f"""Functions of five features with noise of 0.1, RBF kernel, tol 1e-3. scikit-learn is stopped after {STEPS:,}
steps. The advantage is how much higher evoke's dual objective is than scikit-learn's, relative, in the worst of the
problems; it is close to 0 where both are within tol of the optimum. ThunderSVM is measured where rows times C is at
most {LARGEST_FOR_THUNDERSVM:,.0f}; beyond, it takes seconds to minutes. It works in single precision, and its times
include our solver, which completes the solution."""


def measure(settings: Settings) -> Report:
    table = Table("Training of one regression machine, milliseconds", notes=[NOTE])
    report = Report([table])
    sizes, bounds = ((40,), (100.0,)) if settings.quick else (ROWS, BOUNDS)
    for n, C, epsilon in itertools.product(sizes, bounds, EPSILONS):
        n_problems = 2 if settings.quick else 3
        made = [problems.values(n, seed) for seed in range(n_problems)]
        machines = make_machines(n, C, epsilon, n_problems)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LIBSVM was stopped; our solver finished what ThunderSVM began
            candidates = {name: partial(problems.fit, own, made) for name, own in machines.items()}
            times = paired(candidates, n_problems if n * C > 5e4 else max(settings.repeats, n_problems))
        row = {"rows": n, "C": C, "epsilon": epsilon}
        row |= {name: times.seconds(name, 1e-3)[1] if name in machines else "-" for name in (*NAMES, "ThunderSVM")}
        row["scikit-learn / evoke"] = times.speedup("scikit-learn", "evoke")[1]
        row["ThunderSVM / evoke"] = times.speedup("ThunderSVM", "evoke")[1] if "ThunderSVM" in machines else "-"
        row["advantage"] = float(min(
            (dual_of_regression(a, *data) - dual_of_regression(b, *data)) / abs(dual_of_regression(b, *data))
            for a, b, data in zip(machines["evoke"], machines["scikit-learn"], made, strict=True)
        ))  # fmt: skip
        table.rows.append(row)
        if "ThunderSVM" in machines:
            label = f"ThunderSVM / evoke, SVR n={n}, C={C:g}, epsilon={epsilon:g}"
            report.targets.append(Target.at_least(label, 1.0, row["ThunderSVM / evoke"].median))
    return report


NAMES = ("evoke", "scikit-learn")


def make_machines(n: int, C: float, epsilon: float, n_problems: int):
    """Machines of each candidate, one per problem."""
    shared = {"C": C, "epsilon": epsilon, "gamma": problems.GAMMA, "tol": problems.TOL}
    machines = {
        "evoke": [SVR(**shared) for _ in range(n_problems)],
        "scikit-learn": [sklearn.svm.SVR(**shared, max_iter=STEPS) for _ in range(n_problems)],
    }
    if core.thundersvm_available() and n * C <= LARGEST_FOR_THUNDERSVM:
        machines["ThunderSVM"] = [SVR(**shared, solver="thundersvm") for _ in range(n_problems)]
    return machines

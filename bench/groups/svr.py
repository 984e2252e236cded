"""Regression machines by rows, C and epsilon: `evoke.svm.SVR` beside `sklearn.svm.SVR` (LIBSVM) and ThunderSVM."""

from __future__ import annotations

import itertools
import warnings
from functools import partial

import numpy as np
import problems
import sklearn.svm
from paired import paired
from report import Report, Settings, Table, Target
from sklearn.metrics.pairwise import rbf_kernel

from evoke.svm import SVR, _thundersvm

ROWS, PRICES, TUBES = (50, 200, 1000), (1.0, 100.0, 1e4), (1e-1, 1e-3)
STEPS = 200_000  # after which scikit-learn is stopped: it would need minutes
LARGEST_FOR_THUNDERSVM = 20_000.0  # rows times C

NOTE = f"""Functions of five features with noise of 0.1, RBF kernel, tol 1e-3. scikit-learn is stopped after {STEPS:,}
steps. The advantage is that of the dual objective over scikit-learn's, relative, in the worst of the problems; where
both are within tol of the optimum it is close to 0. ThunderSVM works in single precision and is measured where
rows times C are at most {LARGEST_FOR_THUNDERSVM:,.0f}, beyond which it takes seconds to minutes; times are those of its
binding, which has our solver finish what single precision leaves.""".replace("\n", " ")


def run(settings: Settings) -> Report:
    table = Table("Training of one regression machine, milliseconds", notes=[NOTE])
    report = Report([table])
    cases = itertools.product((40,), (100.0,), TUBES) if settings.quick else itertools.product(ROWS, PRICES, TUBES)
    for n, C, epsilon in cases:
        n_problems = 2 if settings.quick else 3
        made = [problems.values(n, seed) for seed in range(n_problems)]
        machines = make_machines(n, C, epsilon, n_problems)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # LIBSVM was stopped; our solver finished what ThunderSVM began
            candidates = {name: partial(fit, own, made) for name, own in machines.items()}
            times = paired(candidates, n_problems if n * C > 5e4 else max(settings.repeats, n_problems))
        row = {"rows": n, "C": C, "epsilon": epsilon}
        row |= {name: times.seconds(name, 1e-3)[1] if name in machines else "-" for name in (*NAMES, "ThunderSVM")}
        row["scikit-learn / evoke"] = times.speedup("scikit-learn", "evoke")[1]
        row["ThunderSVM / evoke"] = times.speedup("ThunderSVM", "evoke")[1] if "ThunderSVM" in machines else "-"
        row["advantage"] = float(min(
            (dual(a, *data) - dual(b, *data)) / abs(dual(b, *data))
            for a, b, data in zip(machines["evoke"], machines["scikit-learn"], made, strict=True)
        ))  # fmt: skip
        table.rows.append(row)
        if "ThunderSVM" in machines:
            label = f"ThunderSVM / evoke, SVR n={n}, C={C:g}, epsilon={epsilon:g}"
            report.targets.append(Target.at_least(label, 1.0, row["ThunderSVM / evoke"].median))
    return report


NAMES = ("evoke", "scikit-learn")


def make_machines(n: int, C: float, epsilon: float, n_problems: int):
    """Machines of each candidate, one a problem."""
    shared = {"C": C, "epsilon": epsilon, "gamma": problems.GAMMA, "tol": problems.TOL}
    machines = {
        "evoke": [SVR(**shared) for _ in range(n_problems)],
        "scikit-learn": [sklearn.svm.SVR(**shared, max_iter=STEPS) for _ in range(n_problems)],
    }
    if _thundersvm.available() and n * C <= LARGEST_FOR_THUNDERSVM:
        machines["ThunderSVM"] = [SVR(**shared, solver="thundersvm") for _ in range(n_problems)]
    return machines


def fit(machines, made, k) -> None:
    machines[k % len(machines)].fit(*made[k % len(made)])


def dual(machine, X, y) -> float:
    """Dual objective of a fitted machine, which is maximised, in double precision."""
    beta = np.zeros(len(y))
    beta[machine.support_] = np.ravel(machine.dual_coef_)
    K = rbf_kernel(X, gamma=machine.gamma)
    return float(y @ beta - machine.epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta)

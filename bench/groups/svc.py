"""Training single support vector machines: `evoke.svm.SVC` beside `sklearn.svm.SVC` and ThunderSVM."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import sklearn.svm
from sklearn.svm import _libsvm

from evoke.exceptions import SolverWarning
from evoke.svm import SVC
from harness import core, problems, reference
from harness.paired import paired
from harness.report import Report, Settings, Table, Target

# rows, C, the problems, how many, and the speed-up over scikit-learn that we want to reach
CASES = (
    (50, 100.0, ("tanh_features", "activations"), 8, 10),
    (175, 100.0, ("tanh_features", "activations"), 8, 6),
    (475, 100.0, ("tanh_features", "activations"), 8, 3),
    (2000, 100.0, ("tanh_features",), 3, 1),
    (5000, 100.0, ("tanh_features",), 3, 1),
    (200, 1e6, ("tanh_features", "activations"), 4, 20),
)
QUICK = ((50, 100.0, ("tanh_features", "activations"), 2, 10), (40, 1e4, ("tanh_features",), 1, 20))
LARGEST_FOR_THUNDERSVM = 475
ESTIMATORS = {"evoke": SVC, "sklearn": sklearn.svm.SVC}


def measure(settings: Settings) -> Report:
    speed = Table(
        "Training of one machine, RBF kernel, tol=1e-3",
        notes=[
            "Processor time. 'core' is `evoke.svm.solve`, 'libsvm' the function of scikit-learn that calls LIBSVM, "
            "both without the checks of an estimator. The advantage is how much higher evoke's dual objective is than "
            "scikit-learn's, relative, in the worst of the problems."
        ],
    )
    quality = Table(
        "Dual objectives reached (higher is better) and their gaps to the primal, in double precision",
        notes=["One row per problem: its seed, objective and gap of evoke, then of scikit-learn."],
    )
    report = Report([speed, quality])
    for n, C, names, n_problems, wanted in QUICK if settings.quick else CASES:
        for name in names:
            made = [getattr(problems, name)(n, seed) for seed in range(n_problems)]
            candidates = make_candidates(made, C)
            large = n > LARGEST_FOR_THUNDERSVM or C > 1e4
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SolverWarning)
                times = paired(candidates, n_problems if large else max(settings.repeats, n_problems))
            label = f"n={n}, C={C:g}, {name}"
            row = {"problem": label, "problems": n_problems}
            row |= {f"{who}, ms": "-" for who in ("evoke", "core", "sklearn", "libsvm", "thundersvm")}
            row |= {f"{who}, ms": times.seconds(who, 1e-3)[1] for who in candidates}
            row["sklearn / evoke"] = ratio = times.speedup("sklearn", "evoke")[1]
            row["libsvm / core"] = core_ratio = times.speedup("libsvm", "core")[1]
            row["thundersvm / evoke"] = (
                times.speedup("thundersvm", "evoke")[1] if "thundersvm" in candidates else "-"
            )
            report.targets.append(Target.at_least(f"sklearn / evoke, {label}", wanted, ratio.median))
            report.targets.append(Target.at_least(f"libsvm / core, {label}", wanted, core_ratio.median))
            advantages, rows = compare(made, C, label)
            row["objective, least advantage"] = least = float(advantages.min())
            speed.rows.append(row)
            if C > 1e4 or settings.quick:
                quality.rows += rows
                report.targets.append(Target.at_least(f"objective, least advantage, {label}", 0.0, least))
    return report


def make_candidates(made, C):
    """Functions that train on the problem of a number."""

    def solve(k):
        X, y, gamma = made[k % len(made)]
        labels = 2.0 * y - 1.0
        core.solve_machine(X, labels, *core.boxes(labels, C), gamma=gamma, tol=problems.TOL)

    def libsvm(k):
        X, y, gamma = made[k % len(made)]
        _libsvm.fit(X, y.astype(np.float64), kernel="rbf", gamma=gamma, C=C, tol=problems.TOL, cache_size=200)

    makers = dict(ESTIMATORS)
    if core.thundersvm_available() and len(made[0][0]) <= LARGEST_FOR_THUNDERSVM and C <= 1e4:
        makers["thundersvm"] = partial(SVC, solver="thundersvm")
    machines = {
        name: [make(C=C, gamma=gamma, tol=problems.TOL) for _, _, gamma in made] for name, make in makers.items()
    }
    candidates = {name: partial(problems.fit, own, made) for name, own in machines.items()}
    return candidates | {"core": solve, "libsvm": libsvm}


def compare(made, C, label):
    """(evoke - scikit-learn) / scikit-learn of the dual objectives, and per problem a row of objectives and gaps."""
    advantages, rows = [], []
    for seed, (X, y, gamma) in enumerate(made):
        row = {"problem": label, "seed": seed}
        objectives = []
        for name, make in ESTIMATORS.items():
            machine = make(C=C, gamma=gamma, tol=problems.TOL).fit(X, y)
            objective, gap = reference.dual_and_gap(machine, X, y, C, gamma)
            objectives.append(objective)
            row |= {f"{name}, objective": f"{objective:.9g}", f"{name}, gap": gap}
        advantages.append((objectives[0] - objectives[1]) / abs(objectives[1]))
        rows.append(row)
    return np.array(advantages), rows

"""Machines with many rows: working sets beside all rows at once and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sklearn.svm

from evoke.svm import SVC, SVR
from harness import problems
from harness.core import all_rows_at_once
from harness.paired import paired
from harness.report import Report, Settings, Table

SETS, AT_ONCE, THEIRS = "evoke", "all rows at once", "scikit-learn"
LARGEST_C_FOR_THEIRS = 1e3  # beyond it, half a minute


def measure(settings: Settings) -> Report:
    table = Table(
        "Seconds to train a machine with many rows",
        notes=[
            "Processor time, each problem trained once. 'All rows at once' is how evoke works below 1,500 rows; with "
            "more it takes one working set after the other. Noise: the labels are unrelated to the rows, so that most "
            "rows are support vectors. The gap is evoke's, relative to the objective."
        ],
    )
    n = 1600 if settings.quick else 5000
    for label, make, C in cases(n, n if settings.quick else 10_000):
        candidates: dict[str, Callable[[int], Any]] = {SETS: make[0], AT_ONCE: partial(at_once, make[0])}
        if C <= LARGEST_C_FOR_THEIRS:
            candidates[THEIRS] = make[1]
        times = paired(candidates, 1)
        row: dict[str, Any] = {"problem": f"{label}, C={C:g}"} | {
            who: times.seconds(who)[1].median if who in candidates else "-" for who in (SETS, AT_ONCE, THEIRS)
        }
        row["at once / in sets"] = times.speedup(AT_ONCE, SETS)[1].median
        row[f"{THEIRS} / {SETS}"] = times.speedup(THEIRS, SETS)[1].median if THEIRS in candidates else "-"
        machine = make[0](0)
        table.rows.append(row | {"support vectors": len(machine.support_), "gap": float(machine.dual_gap_.max())})
    return Report([table])


Pair = tuple[Callable[[int], Any], Callable[[int], Any]]


def cases(n: int, large: int) -> list[tuple[str, Pair, float]]:
    found = []
    for size in (n, large):
        X, y, gamma = problems.tanh_features(size, 0)
        found += [(f"{size} rows", classifiers(X, y, C, gamma), C) for C in (1.0, 100.0)]
    found.append((f"{large} rows", classifiers(*problems.tanh_features(large, 0)[:2], 1e4, 0.25), 1e4))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    noise = rng.integers(2, size=n)
    found += [(f"{n} rows of noise", classifiers(X, noise, C, 0.2), C) for C in (1.0, 100.0)]
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)
    for epsilon in (0.1, 0.001):
        shared = {"C": 10.0, "gamma": 0.2, "epsilon": epsilon}
        pair = (lambda _, s=shared: SVR(**s).fit(X, y)), (lambda _, s=shared: sklearn.svm.SVR(**s).fit(X, y))
        found.append((f"{n} rows, regression, epsilon={epsilon:g}", pair, 10.0))
    return found


def classifiers(X: Any, y: Any, C: float, gamma: float) -> Pair:
    shared = {"C": C, "gamma": gamma}
    return (lambda _: SVC(**shared).fit(X, y)), (lambda _: sklearn.svm.SVC(**shared).fit(X, y))


def at_once(fit: Callable[[int], Any], k: int) -> Any:
    with all_rows_at_once():
        return fit(k)

"""Machines of many rows: working sets beside all rows at once and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import problems
import sklearn.svm
from paired import paired
from report import Report, Settings, Table

from evoke.svm import SVC, SVR, _solve

SETS, AT_ONCE, THEIRS = "evoke", "all rows at once", "scikit-learn"
LONGEST_C_FOR_THEIRS = 1e3  # half a minute beyond it


def run(settings: Settings) -> Report:
    table = Table(
        "Seconds to train a machine of many rows",
        notes=[
            "Processor time, one problem and run each. 'All rows at once' is how evoke works below 1,500 rows, with "
            "more it works in sets. Noise: labels that have nothing to do with the rows, so that most of them are "
            "support vectors. The gap is evoke's, of the objective."
        ],
    )
    n = 1600 if settings.quick else 5000
    for label, make, C in cases(n, n if settings.quick else 10_000):
        candidates: dict[str, Callable[[int], Any]] = {SETS: make[0], AT_ONCE: partial(at_once, make[0])}
        if C <= LONGEST_C_FOR_THEIRS:
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
    with all_rows():
        return fit(k)


@contextmanager
def all_rows():
    usual, _solve.MANY_ROWS = _solve.MANY_ROWS, 2**62
    try:
        yield
    finally:
        _solve.MANY_ROWS = usual

"""Faults of the ThunderSVM library that the binding guards against, counted on random problems.

python bench/study.py thundersvm_faults [--problems 200] [--json FILE]
"""

from __future__ import annotations

import argparse
import ctypes
import json
from typing import Any

import numpy as np
from numpy.ctypeslib import ndpointer

from evoke import show_config
from harness import core

GAMMA = 1.0
OFF = 1e-3  # a dual objective that misses the optimum by more than this share is wrong
_floats, _int = ndpointer(np.float32, flags="C_CONTIGUOUS"), ctypes.c_int


def raw(X, y, *, regression: bool, C: float, epsilon: float = 0.1, tol: float = 1e-3) -> tuple[np.ndarray, float]:
    """Coefficients and intercept as the library returns them; y = +1 must come first."""
    library = core.thundersvm_library()
    library.get_rho.restype, library.get_rho.argtypes = None, [_floats, _int, ctypes.c_void_p]
    n, d = X.shape
    model = library.model_new(3 if regression else 0)
    out = [np.zeros(1, dtype=np.int32) for _ in range(3)]
    library.dense_model_scikit(
        n, d, np.ascontiguousarray(X, np.float32), y.astype(np.float32), 3 if regression else 0, 2, 3, 1.0, 0.0, C, 0.0,
        epsilon, tol, 0, 0, np.empty(0, np.int32), np.empty(0, np.float32), 0, 1000, 1, -1, 0, *out, model,
    )  # fmt: skip
    beta, rho, n_support = np.zeros(n), np.zeros(1, np.float32), library.n_sv(model)
    if n_support:
        support, coefficients = np.zeros(n_support, np.int32), np.zeros(n_support, np.float32)
        library.get_sv(
            np.empty(n_support + 1, np.int32), np.empty(n_support * d, np.int32), np.empty(n_support * d, np.float32),
            np.empty(1, np.int32), support, model,
        )  # fmt: skip
        library.get_coef(coefficients, 2, n_support, model)
        beta[support] = coefficients
    library.get_rho(rho, 1, model)
    library.model_free(model)
    return beta, -float(rho[0])


def optimum(X, y, *, regression: bool, C: float, epsilon: float = 0.1):
    box = (np.full(len(y), -C), np.full(len(y), C)) if regression else core.boxes(y, C)
    return core.solve_machine(
        np.ascontiguousarray(X), y, *box, gamma=GAMMA, epsilon=epsilon if regression else 0.0, tol=1e-6
    )


def objective(X, y, beta, epsilon: float) -> float:
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    return float(y @ beta - 0.5 * beta @ K @ beta - epsilon * np.abs(beta).sum())


def classification(rng, n: int):
    return rng.normal(size=(n, 2)), np.where(np.arange(n) < rng.integers(1, n), 1.0, -1.0)


def regression(rng, n: int):
    X = rng.normal(size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def off(X, y, beta, C: float, regression: bool) -> bool:
    """Whether the dual objective of `beta` misses the optimum."""
    best = float(optimum(X, y, regression=regression, C=C).objective[0])
    return abs(best - objective(X, y, beta, 0.1 if regression else 0.0)) > OFF * max(1e-9, abs(best))


def count(problems: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def objectives(what: str, make, n: int, C: float, is_regression: bool, shift: float = 0.0) -> None:
        wrong = [0, 0]
        for seed in range(problems):
            X, y = make(np.random.default_rng(seed), n)
            X = X + shift
            wrong[0] += off(X, y, raw(X, y, regression=is_regression, C=C)[0], C, is_regression)
            beta = core.train_with_thundersvm(
                X, y, gamma=GAMMA, regression=is_regression, C=C, epsilon=0.1
            )
            wrong[1] += off(X, y, beta, C, is_regression)
        rows.append({"problem": what, "problems": problems, "library": wrong[0], "binding": wrong[1]})

    for n, C in ((2, 30.0), (3, 1.0), (3, 30.0), (4, 30.0), (5, 30.0)):
        objectives(f"SVC, {n} rows, C={C:g}: optimum missed", classification, n, C, False)
    objectives("SVR, 50 rows, C=100: optimum missed", regression, 50, 100.0, True)
    objectives("SVR, 50 rows, C=100, features + 1000: optimum missed", regression, 50, 100.0, True, 1000.0)

    bound = wrong = 0
    for seed in range(problems):
        X, y = regression(np.random.default_rng(seed), 5)
        y = y + 3.0
        C = 0.1
        beta, intercept = raw(X, y, regression=True, C=C)
        if not np.any((np.abs(beta) > 0.0) & (np.abs(beta) < C * (1 - 1e-6))):
            bound += 1
            wrong += int(abs(intercept - optimum(X, y, regression=True, C=C).bias[0]) > 0.1)
    rows.append({
        "problem": "SVR, 5 rows, C=0.1, no free support vector: intercept wrong", "problems": bound, "library": wrong,
        "binding": "not used",
    })  # fmt: skip
    return rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=200, help="random problems of each kind")
    parser.add_argument("--json", metavar="FILE", help="write the counts to this file")
    options = parser.parse_args(arguments)
    rows = count(options.problems)
    for row in rows:
        print(" | ".join(map(str, row.values())))
    if options.json:
        with open(options.json, "w") as file:
            config = show_config("dict")
            json.dump({"rows": rows, "packages": config["packages"]}, file, indent=1)

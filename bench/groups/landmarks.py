"""Sums of products of kernel values at landmarks, beside the same by NumPy; whole fits of machines on landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm

from evoke.svm import LandmarkLSSVC
from harness import core, operations
from harness.paired import paired
from harness.report import Report, Settings, Table, Target

SIZES, LANDMARKS, FEATURES = (10_000, 100_000, 1_000_000), (256, 512), (10, 100)
BLOCK = 4096  # rows that NumPy has at a time
PRODUCT, SIDE = "matrix product", 1024
NOTE = """Seconds of processor time. From rows X and landmarks to the sums, over the rows, of the products of any two
of the kernel values at the landmarks, a one and the target: all that training needs, but for a factorisation of m^2
numbers. GFLOP/s stand beside those of a product of two matrices of 1,024 rows by SciPy's BLAS, in the same rounds:
what a core can do depends on what its neighbour does. NumPy has distances by a product of matrices, `exp`, and
products by BLAS, which computes half of them, 4,096 rows at a time. Operations counted: each kernel value and each
pair of columns once, at our count for both."""
FITS = """Seconds of processor time: `LandmarkLSSVC` with its defaults, which finds gamma and C on 50,000 rows at most
and trains on all in one pass; then decisions on all rows. 10 features, in single precision, two classes."""


def measure(settings: Settings) -> Report:
    table, report = Table("Sums of products at m landmarks", notes=[NOTE]), Report()
    shapes = [(n, m, d) for m in LANDMARKS for d in FEATURES for n in SIZES]
    taken: dict[tuple[int, int], dict[int, float]] = {}
    for n, m, d in [(300, 16, 3), (600, 16, 3)] if settings.quick else shapes:
        times = paired(make_candidates(n, m, d), repeats_of(n, settings))
        ours, theirs, product = (times.seconds(name)[1] for name in ("evoke", "NumPy", PRODUCT))
        limit = 2.0 * SIDE**3 / product.median
        flops, faster = operations.landmark_sums(n, d, m, 1), times.speedup("NumPy", "evoke")[1]
        table.rows.append({
            "m": m, "features": d, "rows": n, "evoke": ours, "NumPy": theirs, "NumPy / evoke": faster,
            "GFLOP/s": 1e-9 * flops / ours.median, "of a matrix product": f"{flops / ours.median / limit:.0%}",
            "NumPy, of it": f"{flops / theirs.median / limit:.0%}",
        })  # fmt: skip
        taken.setdefault((m, d), {})[n] = ours.median
        if (n, m, d) == (100_000, 256, 10):
            report.targets.append(Target.at_least("NumPy / evoke, m = 256", 5.0, faster.median))
            share = flops / ours.median / limit
            report.targets.append(Target.at_least("share of a matrix product, m = 256", 0.6, share))
    for (m, d), seconds in taken.items():
        report.targets.append(Target.at_most(f"exponent in rows, m = {m}, {d} features", 1.05, exponent(seconds)))
    report.tables += [table, fits(settings)]
    return report


def repeats_of(n: int, settings: Settings) -> int:
    return 1 if n > 100_000 else min(settings.repeats, 3 if n > 10_000 else 5)


def exponent(seconds: dict[int, float]) -> float:
    """b of n^b."""
    return float(np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0])


def data(n: int, m: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, a target, landmarks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sign(X[:, :1]), rng.normal(size=(m, d))


def make_candidates(n: int, m: int, d: int) -> dict[str, Callable[[int], Any]]:
    """Functions that give the sums (m + 2, m + 2), of which evoke's are the upper half; and the product."""
    X, y, Z = data(n, m, d)
    gamma = 1.0 / d
    a = np.asfortranarray(np.random.default_rng(1).random((SIDE, SIDE)))
    return {
        PRODUCT: lambda _: dgemm(1.0, a, a),
        "evoke": lambda _: core.landmark_sums(X, y, Z, gamma),
        "NumPy": lambda _: by_numpy(X, y, Z, gamma),
    }


def by_numpy(X: np.ndarray, y: np.ndarray, Z: np.ndarray, gamma: float) -> np.ndarray:
    m, squares = len(Z), (Z**2).sum(axis=1)
    total = np.zeros((m + 2, m + 2))
    for begin in range(0, len(X), BLOCK):
        x = X[begin : begin + BLOCK]
        columns = np.ones((len(x), m + 2))
        K = columns[:, :m]
        np.matmul(x, -2.0 * Z.T, out=K)
        K += squares
        K += (x**2).sum(axis=1)[:, np.newaxis]
        K *= -gamma
        np.exp(K, out=K)
        columns[:, m + 1 :] = y[begin : begin + BLOCK]
        total += columns.T @ columns
    return total


def fits(settings: Settings) -> Table:
    table, seconds = Table("A machine with 512 landmarks", notes=[FITS]), {}
    for n in (300, 600) if settings.quick else SIZES:
        X = np.random.default_rng(0).normal(size=(n, 10)).astype(np.float32)
        y = np.sin(2.0 * X[:, 0]) * X[:, 1] > 0.0
        model = LandmarkLSSVC(n_landmarks=16 if settings.quick else 512, random_state=0)
        calls = {
            "fit": lambda _, X=X, y=y, model=model: model.fit(X, y),
            "decide": lambda _, X=X, model=model: model.decision_function(X),
        }
        times = paired(calls, 1 if n > 100_000 else 3)
        fit = times.seconds("fit")[1]
        seconds[n] = fit.median
        table.rows.append({"rows": str(n), "fit": fit, "decisions": times.seconds("decide")[1]})
    table.rows.append({"rows": "exponent", "fit": exponent(seconds), "decisions": "-"})
    return table

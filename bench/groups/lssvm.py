"""The least-squares solve: `evoke.svm.LSSVR` beside `scipy.linalg.solve` on the same system."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import rbf_kernel

from evoke.svm import LSSVR
from harness import operations, problems
from harness.paired import paired
from harness.report import Report, Settings, Table

C = 100.0
NOTE = """Both build the kernel matrix. SciPy's solver assumes a positive definite matrix and solves for the values and
a column of ones, as we do. "LAPACK alone" solves without building the kernel matrix. Operations counted: the kernel
matrix and the Cholesky factor."""


def measure(settings: Settings) -> Report:
    table = Table("Least-squares machine with one output, milliseconds", notes=[NOTE])
    for n in (40,) if settings.quick else (50, 175, 475, 1000, 3000):
        times = paired(make_candidates(n), min(settings.repeats, 3) if n > 1000 else settings.repeats)
        ours = times.seconds("evoke", 1e-3)[1]
        flops = operations.gram(n, 5) + operations.cholesky(n)
        table.rows.append({
            "rows": n, **{name: times.seconds(name, 1e-3)[1] for name in ("evoke", "SciPy", "LAPACK alone")},
            "SciPy / evoke": times.speedup("SciPy", "evoke")[1],
            "of the limit": settings.of_flops(flops, 1e-3 * ours.median),
            "SciPy, of the limit": settings.of_flops(flops, times.seconds("SciPy")[1].median),
        })  # fmt: skip
    return Report([table])


def make_candidates(n: int):
    """Functions that give the coefficients and the constant (n + 1,) of one machine."""
    X, y = problems.values(n, 0)
    machine = LSSVR(C=C, gamma=problems.GAMMA)
    regular = regularised(X)

    def ours(_):
        machine.fit(X, y)
        return np.append(machine.dual_coef_[0], machine.intercept_)

    return {
        "evoke": ours,
        "SciPy": lambda _: solve(regularised(X), y),
        "LAPACK alone": lambda _: solve(regular, y, overwrite=False),
    }


def regularised(X: np.ndarray) -> np.ndarray:
    K = rbf_kernel(X, gamma=problems.GAMMA)
    K.flat[:: len(K) + 1] += 1.0 / C
    return K


def solve(K: np.ndarray, y: np.ndarray, overwrite: bool = True) -> np.ndarray:
    """[K 1; 1' 0] [beta; b] = [y; 0] by elimination of beta."""
    sides = np.column_stack([y, np.ones(len(y))])
    values, ones = scipy.linalg.solve(K, sides, assume_a="pos", overwrite_a=overwrite, check_finite=False).T
    bias = values.sum() / ones.sum()
    return np.append(values - bias * ones, bias)

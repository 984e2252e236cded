"""Kernel matrices beside scikit-learn's `rbf_kernel`."""

from __future__ import annotations

import numpy as np
import operations
import problems
from paired import paired
from report import Report, Settings, Table
from sklearn.metrics.pairwise import rbf_kernel

from evoke._core import qp

NOTE = """Each pair of rows counts once: we compute half of the matrix and mirror it, and copy it for the caller.
Bandwidth: the bytes of the matrix, written once.""".replace("\n", " ")


def run(settings: Settings) -> Report:
    table = Table("Kernel matrix exp(-gamma |x - z|^2), milliseconds", notes=[NOTE])
    for n, d in ((40, 5),) if settings.quick else ((50, 5), (175, 5), (475, 5), (2000, 5), (2000, 50), (5000, 5)):
        times = paired(make_candidates(n, d), min(settings.repeats, 5) if n > 1000 else settings.repeats)
        ours = times.seconds("evoke", 1e-3)[1]
        table.rows.append({
            "rows": n, "features": d, "evoke": ours, "scikit-learn": times.seconds("scikit-learn", 1e-3)[1],
            "scikit-learn / evoke": times.speedup("scikit-learn", "evoke")[1],
            "of the limit": settings.of_flops(operations.gram(n, d), 1e-3 * ours.median),
            "of the bandwidth": settings.of_bandwidth(8 * n * n, 1e-3 * ours.median),
        })  # fmt: skip
    return Report([table])


def make_candidates(n: int, d: int):
    X = problems.rows(n, d)
    return {
        "evoke": lambda _: qp.gram(X, "rbf", problems.GAMMA, 0.0, 3),
        "scikit-learn": lambda _: rbf_kernel(X, gamma=problems.GAMMA),
    }


def values(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Both matrices."""
    return tuple(np.asarray(call(0)) for call in make_candidates(n, d).values())

"""Kernel matrices beside scikit-learn's `rbf_kernel`."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from harness import core, operations, problems
from harness.paired import paired
from harness.report import Report, Settings, Table

NOTE = """Each pair of rows counts once: we compute half of the matrix, mirror it and copy it for the caller. Bandwidth
counts the bytes of the matrix, written once."""


def measure(settings: Settings) -> Report:
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
        "evoke": lambda _: core.gram(X, problems.GAMMA),
        "scikit-learn": lambda _: rbf_kernel(X, gamma=problems.GAMMA),
    }


def values(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Both matrices."""
    return tuple(np.asarray(call(0)) for call in make_candidates(n, d).values())

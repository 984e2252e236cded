"""The core's vector functions beside those of NumPy and SciPy."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from harness import operations
from harness.core import vector_function
from harness.paired import paired
from harness.report import Report, Settings, Table

FUNCTIONS = {"exp": np.exp, "tanh": np.tanh, "logistic": expit, "tanpi": lambda x: np.tan(np.pi * x)}

NOTE = "Uniform values between -8 and 8; for tanpi, tan(pi x), between -0.49 and 0.49."


def measure(settings: Settings) -> Report:
    table = Table("Nanoseconds per value", notes=[NOTE])
    for size in (64,) if settings.quick else (1_000, 100_000):
        for name in FUNCTIONS:
            x = values(name, size)
            times = paired(make_candidates(name, x), settings.repeats)
            ours = times.seconds("evoke", 1e-9 * size)[1]
            table.rows.append({
                "function": name, "values": size, "evoke": ours,
                "NumPy (logistic: SciPy)": times.seconds("peer", 1e-9 * size)[1],
                "NumPy or SciPy / evoke": times.speedup("peer", "evoke")[1],
                "of the limit": settings.of_flops(operations.FUNCTIONS[name], 1e-9 * ours.median),
                "of the bandwidth": settings.of_bandwidth(16, 1e-9 * ours.median),
            })  # fmt: skip
    return Report([table])


def make_candidates(name: str, x: np.ndarray):
    return {"evoke": lambda _: vector_function(name, x), "peer": lambda _: FUNCTIONS[name](x)}


def values(name: str, size: int) -> np.ndarray:
    bound = 0.49 if name == "tanpi" else 8.0
    return np.random.default_rng(0).uniform(-bound, bound, size)

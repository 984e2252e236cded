"""The machine and the state it is in; an environment that is fair to NumPy and SciPy."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info

from evoke import show_config

# Make OpenBLAS use the code for an older processor, or other block sizes than its own.
HANDICAPS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
PEERS = ("thundersvm-cpu", "torch", "aeon", "reservoirpy", "statsmodels", "pmdarima", "tslearn", "distributed", "ray")


def drop_handicaps() -> None:
    """Restart this process without `HANDICAPS`, which OpenBLAS reads when it is loaded."""
    if any(name in os.environ for name in HANDICAPS):
        rest = {name: value for name, value in os.environ.items() if name not in HANDICAPS}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], rest)


def processor() -> str:
    """Model of the processor."""
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def load() -> float:
    """Processes that ran or waited, mean of the last minute. If it exceeds the cores, they had to share them."""
    return os.getloadavg()[0]


def describe() -> dict[str, Any]:
    config = show_config("dict")
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "simd": config["simd"]["used"],
        "platform": config["platform"],
        "python": config["python"],
        "evoke": config["evoke"],
        **{name: number for name, number in config["packages"].items() if number is not None},
        **{name: number for name in PEERS if (number := _version(name)) is not None},
        "blas": ", ".join(
            sorted({pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"})
        ),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def peaks(quick: bool) -> dict[str, float]:
    """What one core can do: floating-point operations and bytes per second, each the best of several tries.

    The operations are those of a product of large matrices by SciPy's BLAS, 2 n^3. No program here comes closer to the
    limit of the multiply-add units, which is a few per cent higher. The bytes are those that `z = x + y` reads and
    writes in memory beyond the caches, 24 per double; that a written line is read first is not counted.
    """
    n, size = (128, 100_000) if quick else (1024, 8_000_000)
    a = np.asfortranarray(np.random.default_rng(0).random((n, n)))
    x, y, z = (np.full(size, value) for value in (1.0, 2.0, 0.0))
    tries = 2 if quick else 7
    return {
        "flops": 2.0 * n**3 / _least_seconds(lambda: scipy.linalg.blas.dgemm(1.0, a, a), tries),
        "bandwidth": 24.0 * size / _least_seconds(lambda: np.add(x, y, out=z), tries),
    }


def _least_seconds(call: Callable[[], Any], tries: int) -> float:
    """Of processor time."""
    call()
    taken = []
    for _ in range(tries):
        begin = time.process_time()
        call()
        taken.append(time.process_time() - begin)
    return min(taken)

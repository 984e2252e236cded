"""The machine and the state it is in; an environment that is fair to NumPy and SciPy."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from threadpoolctl import threadpool_info

from evoke import show_config

# Force OpenBLAS into kernels of an older processor, or into other block sizes than its own.
HANDICAPS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


def drop_handicaps() -> None:
    """Start this process anew without `HANDICAPS`, which OpenBLAS reads when it is loaded."""
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
    """Processes that ran or waited, mean of the last minute; more than the cores means that they had to share."""
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
        **{name: version for name, version in config["packages"].items() if version is not None},
        "blas": ", ".join(
            sorted({pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"})
        ),
    }

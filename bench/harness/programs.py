"""Python programs in processes of their own: on another instruction set, or to measure the memory that they take."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = str(Path(__file__).parents[1])  # from which `harness` and `groups` are imported

# The high-water mark of this program alone: ru_maxrss starts with that of the process that called it.
PRINT_PEAK = """
try:
    with open("/proc/self/status") as file:
        print(next(line.split()[1] for line in file if line.startswith("VmHWM")))
except OSError:
    import resource, sys
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1))
"""


def printed(program: str, *arguments: str, **environment: str) -> list[str]:
    """The lines that a program prints, with more variables in its environment; it imports what this folder has."""
    path = os.pathsep.join(filter(None, (FOLDER, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], env=os.environ | {"PYTHONPATH": path} | environment,
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def printed_and_peak(program: str, *arguments: str) -> tuple[list[str], float]:
    """The lines that a program prints, and the largest memory that it took, in MB."""
    *lines, peak = printed(program + PRINT_PEAK, *arguments)
    return lines, int(peak) * 1.024 / 1e3

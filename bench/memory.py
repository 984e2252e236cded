"""Largest resident memory of a whole run, in a process of its own, beside that of the imports alone."""

from __future__ import annotations

import subprocess
import sys

from report import Report, Settings, Table, Target

PROGRAMS = {
    "python": "",
    "import numpy, scipy, sklearn": "import numpy, scipy, sklearn.svm",
    "import evoke": "from evoke.reproduce import run_anbncn",
    "run": "from evoke.reproduce import run_anbncn; run_anbncn(0, {n_max}, n_generations={n_generations})",
}
# The high-water mark of this program alone: ru_maxrss starts with that of the process that called it.
PRINT_PEAK = """
try:
    with open("/proc/self/status") as file:
        print(next(line.split()[1] for line in file if line.startswith("VmHWM")))
except OSError:
    import resource, sys
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1))
"""


def run(settings: Settings) -> Report:
    size = {"n_max": 4, "n_generations": 1} if settings.quick else {"n_max": 10, "n_generations": 50}
    peaks = {name: peak(program.format(**size)) for name, program in PROGRAMS.items()}
    table = Table("Largest resident memory, MB", [{"what": name, "MB": value} for name, value in peaks.items()])
    table.notes.append("The run is one of `evoke reproduce anbncn`: evolution, strings up to n = 2000, long strings.")
    return Report([table], [Target.at_most("MB of a run", 200, peaks["run"])])


def peak(program: str) -> float:
    command = [sys.executable, "-c", program + PRINT_PEAK]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) * 1.024 / 1e3

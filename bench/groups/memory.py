"""Largest resident memory of a whole run, in a process of its own, beside that of the imports alone; how it grows."""

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

CACHE = 50  # MiB for rows of the kernel matrix
# Imports, what is done with so much of something, and the bytes of what goes in and comes out.
GROWING = {
    f"SVC.fit, rows of 10 features, cache_size={CACHE}": (
        "import numpy as np; from evoke.svm import SVC",
        "; X = np.random.default_rng(0).normal(size=({n}, 10)); "
        f"SVC(C=1.0, cache_size={CACHE}).fit(X, X[:, 0] > 0.0)",
        lambda n: 8 * 10 * n, (1000, 3000, 10_000, 30_000),
    ),
    "forward, steps of 4 inputs, 5 cells": (
        "import numpy as np; from evoke.lstm import forward",
        "; forward(np.random.default_rng(0).normal(size=(5, 36)), np.ones(({n}, 4)))",
        lambda n: 8 * (4 + 5) * n, (1000, 100_000, 1_000_000, 3_000_000),
    ),
}  # fmt: skip
GROWTH_NOTE = f"""Above what the imports take. SVC keeps rows of the kernel matrix within `cache_size`, here {CACHE}
MiB, once the whole matrix is larger: from about 2,600 rows on. "n x n" is what the whole matrix would
take.""".replace("\n", " ")


def growth(quick: bool) -> Table:
    table = Table("How memory grows, MB above the imports", notes=[GROWTH_NOTE])
    for what, (imports, program, size, sizes) in GROWING.items():
        base = peak(imports)
        for n in sizes[:1] if quick else sizes:
            taken = peak(imports + program.format(n=n)) - base
            table.rows.append({
                "what": what, "n": f"{n:,}", "data, MB": size(n) / 1e6, "MB": taken,
                "n x n, MB": 8e-6 * n * n if "rows" in what else "-",
            })  # fmt: skip
    return table


def run(settings: Settings) -> Report:
    size = {"n_max": 4, "n_generations": 1} if settings.quick else {"n_max": 10, "n_generations": 50}
    peaks = {name: peak(program.format(**size)) for name, program in PROGRAMS.items()}
    table = Table("Largest resident memory, MB", [{"what": name, "MB": value} for name, value in peaks.items()])
    table.notes.append("The run is one of `evoke reproduce anbncn`: evolution, strings up to n = 2000, long strings.")
    return Report([table, growth(settings.quick)], [Target.at_most("MB of a run", 200, peaks["run"])])


def peak(program: str) -> float:
    command = [sys.executable, "-c", program + PRINT_PEAK]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) * 1.024 / 1e3

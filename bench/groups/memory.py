"""The largest resident memory of a whole run, beside that of the imports alone, and how memory grows."""

from __future__ import annotations

from harness.programs import printed_and_peak
from harness.report import Report, Settings, Table, Target

PROGRAMS = {
    "python": "",
    "import numpy, scipy, sklearn": "import numpy, scipy, sklearn.svm",
    "import evoke": "from evoke.reproduce import run_anbncn",
    "run": "from evoke.reproduce import run_anbncn; run_anbncn(0, {n_max}, n_generations={n_generations})",
}

CACHE = 50  # MiB for rows of the kernel matrix
# Imports, what is done with n rows or steps, the bytes of its inputs and outputs, and the values of n.
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
GROWTH_NOTE = f"""In addition to what the imports take. From about 2,600 rows on, the whole kernel matrix would exceed
`cache_size`, here {CACHE} MiB, and SVC keeps only as many of its rows as fit. "n x n" is the size of the whole
matrix."""


def growth(quick: bool) -> Table:
    table = Table("How memory grows, MB in addition to the imports", notes=[GROWTH_NOTE])
    for what, (imports, program, size, sizes) in GROWING.items():
        _, base = printed_and_peak(imports)
        for n in sizes[:1] if quick else sizes:
            taken = printed_and_peak(imports + program.format(n=n))[1] - base
            table.rows.append({
                "what": what, "n": f"{n:,}", "data, MB": size(n) / 1e6, "MB": taken,
                "n x n, MB": 8e-6 * n * n if "rows" in what else "-",
            })  # fmt: skip
    return table


def measure(settings: Settings) -> Report:
    size = {"n_max": 4, "n_generations": 1} if settings.quick else {"n_max": 10, "n_generations": 50}
    peaks = {name: printed_and_peak(program.format(**size))[1] for name, program in PROGRAMS.items()}
    table = Table("Largest resident memory, MB", [{"what": name, "MB": value} for name, value in peaks.items()])
    table.notes.append("The run is one of `evoke reproduce anbncn`: an evolution, then tests on long strings.")
    return Report([table, growth(settings.quick)], [Target.at_most("MB of a run", 200, peaks["run"])])

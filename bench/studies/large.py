"""Many rows: evoke's native solver beside ThunderSVM, possibly a CUDA build, and scikit-learn.

EVOKE_THUNDERSVM_LIB=/path/libthundersvm.so python bench/study.py large [--json FILE] [--largest N]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
import sklearn.svm

from evoke import show_config
from evoke.svm import SVC
from harness import core

CASES = ((1000, 20), (5000, 20), (20000, 50))
CACHE = 4000  # MiB, for evoke and scikit-learn alike


def problem(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal features, labels by a sine across them with noise, so that there are many support vectors."""
    rng = np.random.default_rng(n)
    X, w = rng.normal(size=(n, d)), rng.normal(size=d)
    return X, (np.sin(X @ w) + 0.3 * rng.normal(size=n) > 0).astype(int)


def timed(function: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write the rows to this file")
    parser.add_argument("--largest", type=int, default=20000, metavar="N", help="leave out problems with more rows")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rows = []
    for n, d in (case for case in CASES if case[0] <= options.largest):
        X, y = problem(n, d)
        for C in (1.0, 100.0):
            row: dict[str, Any] = {"rows": n, "features": d, "C": C}
            shared = {"C": C, "gamma": 1.0 / d, "cache_size": CACHE}
            if core.thundersvm_available():
                labels = np.where(y > 0, 1.0, -1.0)
                for _ in range(2):  # the first call wakes the device
                    row["library, s"], _ = timed(
                        lambda X=X, t=labels, C=C, g=1.0 / d: core.train_with_thundersvm(
                            X, t, regression=False, gamma=g, C=C, tol=1e-3
                        )
                    )
                row["thundersvm, s"], machine = timed(
                    lambda s=shared, X=X, y=y: SVC(solver="thundersvm", **s).fit(X, y)
                )
                row["thundersvm, gap"] = float(machine.dual_gap_.max())
            row["native, s"], machine = timed(lambda s=shared, X=X, y=y: SVC(**s).fit(X, y))
            row["native, gap"] = float(machine.dual_gap_.max())
            row["sklearn, s"], _ = timed(lambda s=shared, X=X, y=y: sklearn.svm.SVC(**s).fit(X, y))
            rows.append(row)
            print({key: f"{v:.3g}" if isinstance(v, float) else v for key, v in row.items()}, flush=True)
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump({"rows": rows, "config": show_config("dict")}, file, indent=1)

"""evoke with its defaults beside other methods: sets with labels, tasks that need memory, forecasts.

    python bench/study.py sets [--json FILE] [--seeds 3] [--only PART,...] [--sets NAME;...] [--methods NAME;...]
                               [--again] [--report DIR] [--page-only]

Measures what the file does not have yet, so it can be broken off and called again; `--again` measures what was chosen
once more. `--report docs` writes docs/data_sets.md and its figures from the file. Needs the extra `bench`, which has
the other methods and the data; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from threadpoolctl import threadpool_limits

from harness import machine
from harness.class_methods import MEMORY_SETS, REAL_SETS
from harness.data_sets_page import write
from harness.forecasts import FORECASTS
from harness.narma import NARMA
from harness.options import add_only
from harness.report import installed, skipped
from harness.results import LeftOut, Results

PARTS = {"classification": REAL_SETS, "memory": MEMORY_SETS, "narma": NARMA, "forecasts": FORECASTS}
RESULTS = Path(__file__).parents[2] / "docs" / "results" / "sets.json"


def measure(results: Results, part: str, n_seeds: int, sets: set[str], methods: set[str], again: bool) -> None:
    """Add the runs that are missing, one line for each."""
    chosen = PARTS[part]
    for method, entry in chosen.methods.items():
        if methods and method not in methods:
            continue
        if entry.package is not None and not installed(entry.package):
            print(skipped(method, entry.package), flush=True)
            continue
        for name in chosen.sets:
            if sets and name not in sets:
                continue
            for seed in range(n_seeds if entry.seeded else 1):
                if results.has(part, name, method, seed) and not again:
                    continue
                try:
                    made = chosen.measure(name, method, seed) | {"load": round(machine.load(), 2)}
                except LeftOut as why:
                    made = {"left_out": str(why)}
                results.add(part, name, method, seed, **made)
                print(f"{name}, {method}, seed {seed}: {summary(made)}", flush=True)


def summary(made: dict) -> str:
    return ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in made.items() if k != "origins")


def names(text: str) -> set[str]:
    return set(filter(None, text.split(";")))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", type=Path, default=RESULTS, help="default: docs/results/sets.json")
    parser.add_argument("--seeds", type=int, default=3, help="runs of the methods that depend on chance")
    parser.add_argument("--sets", type=names, default=set(), metavar="NAME;...", help="some of the sets")
    parser.add_argument("--methods", type=names, default=set(), metavar="NAME;...", help="some of the methods")
    parser.add_argument("--again", action="store_true", help="measure what the file has already, too")
    parser.add_argument("--report", metavar="DIR", type=Path, help="write data_sets.md and figures/ there")
    parser.add_argument("--page-only", action="store_true", help="measure nothing")
    add_only(parser, PARTS)
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {options.seeds}")
    results = Results(options.json)
    if not options.page_only:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")  # those of the other packages, at import too
            results.head = {"machine": machine.describe(), "seeds": options.seeds}
            for part in options.only:
                print(f"## {part}\n", flush=True)
                measure(results, part, options.seeds, options.sets, options.methods, options.again)
        results.save()
    if options.report:
        write(results, PARTS, options.report)


if __name__ == "__main__":
    main()

"""evoke beside other methods on real data: speakers of Japanese vowels, yearly sunspot numbers.

    python bench/real_data.py [--json FILE] [--seeds 10] [--quick] [--only vowels,sunspots]

Needs aeon, tslearn, reservoirpy and statsmodels, which carry the data; nothing is downloaded. `vowels.py` and
`sunspots.py` say how settings are chosen: by the training data alone, before the test is looked at. `run.py` measures
the methods with the settings that were chosen for docs/real_data.md.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import machine
import peer
import sunspots
import vowels
from report import Report, Settings, Table, installed, skipped

TASKS = {"vowels": vowels, "sunspots": sunspots}
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "real-data.json"
N_SEEDS = 5  # of the benchmark

# ---------------------------------------------------------------- one of the benchmarks

# Task, package with its data, title, what is the best of the medians
TABLES = (
    ("vowels", "aeon", "Japanese Vowels: share of 370 utterances whose speaker is told", max),
    ("sunspots", "statsmodels", "Sunspots, one year ahead, 1921 to 2008: squared error over 1535", min),
)
NOTE = """Data, split and methods are those of [real data](real_data.md). Settings were chosen there, by the training
data alone (`docs/results/real-data.json`); what that took is not in the seconds, which are those of learning and of
reading the test. MB is the largest memory of the process, libraries and the package with the data included; parameters
are the numbers that a model decides by.""".replace("\n", " ")


def run(settings: Settings) -> Report:
    report = Report()
    for task, package, title, best in TABLES:
        if not installed(package):
            report.tables.append(Table(title, notes=[skipped("all of it", package)]))
            continue
        methods = {name: entry for name, entry in METHODS.items() if name.endswith(f", {task}")}
        table = peer.table("real_data", title, NOTE, methods, settings.quick)
        leader = best(table.rows, key=lambda row: row["median"])
        table.notes.append(f"Best: {leader['method']}, median {leader['median']:.3g}.")
        report.tables.append(table)
    return report


def measured(task: str, name: str, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    """Runs with the settings that were chosen for the documentation."""
    records = json.loads(RESULTS.read_text(encoding="utf-8"))[task]["methods"]
    settings = next(record["settings"] for record in records if record["method"] == name)
    test = partial(TASKS[task].test, name, settings)
    test(seeds[:1], True)  # imports packages, and has numba compile
    runs = test(seeds, quick)
    return [made | {"result": TASKS[task].result(made)} for made in runs], runs[-1]["parameters"]


METHODS: dict[str, tuple[peer.Method, int, str | None]] = {
    f"{name}, {task}": (
        partial(measured, task, name), N_SEEDS if module.seeded(name) else 1,
        next((package for package in ("reservoirpy", "tslearn") if name.startswith(package)), None),
    )
    for task, module in TASKS.items()
    for name in module.CANDIDATES
}  # fmt: skip

# ---------------------------------------------------------------- choice and test


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="write every candidate and run to this file")
    parser.add_argument("--seeds", type=int, default=10, help="runs of the methods that depend on chance")
    parser.add_argument("--quick", action="store_true", help="one small candidate a method: shows that all of it runs")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(TASKS), help=f"some of {', '.join(TASKS)}")
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    if unknown := set(names) - set(TASKS):
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}; known are {', '.join(TASKS)}")
    if options.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {options.seeds}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the other packages, at import too
        record: dict[str, Any] = {"machine": machine.describe(), "seeds": options.seeds, "quick": options.quick}
        for name in names:
            print(f"## {name}\n", flush=True)
            begin = time.perf_counter()
            methods = TASKS[name].run(options.seeds, options.quick, partial(print, flush=True))
            record[name] = {"methods": methods, "seconds": time.perf_counter() - begin, "load": machine.load()}
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(record, file, indent=1)


if __name__ == "__main__":
    machine.drop_handicaps()
    main()

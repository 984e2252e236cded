"""evoke beside other methods on real data, with the settings that `bench/study.py real_data` chose."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from harness import peer, sunspots, vowels
from harness.report import Report, Settings, Table, installed, skipped

TASKS = {"vowels": vowels, "sunspots": sunspots}
RESULTS = Path(__file__).parents[2] / "docs" / "results" / "real-data.json"
N_SEEDS = 5

# Task, package with its data, title, which of the medians is best
TABLES = (
    ("vowels", "aeon", "Japanese Vowels: share of 370 utterances whose speaker is recognised", max),
    ("sunspots", "statsmodels", "Sunspots, one year ahead, 1921 to 2008: mean squared error divided by 1535", min),
)
NOTE = """Data, split and methods are those of [real data](real_data.md), where the settings were chosen by the training
data alone (`docs/results/real-data.json`). The seconds are those of learning and of reading the test, without that
choice. MB is the largest memory of the process, including libraries and the package with the data. Parameters are the
numbers that a model decides by."""


def measure(settings: Settings) -> Report:
    report = Report()
    for task, package, title, best in TABLES:
        if not installed(package):
            report.tables.append(Table(title, notes=[skipped("the whole table", package)]))
            continue
        methods = {name: entry for name, entry in METHODS.items() if name.endswith(f", {task}")}
        report.tables.append(peer.table(__name__, title, NOTE, methods, settings.quick, best))
    return report


def measured(task: str, name: str, seeds: list[int], quick: bool) -> tuple[list[dict[str, Any]], int]:
    """Runs with the settings that were chosen for the documentation."""
    records = json.loads(RESULTS.read_text(encoding="utf-8"))[task]["methods"]
    settings = next(record["settings"] for record in records if record["method"] == name)
    test = partial(TASKS[task].test, name, settings)
    test(seeds[:1], True)  # imports packages and makes numba compile
    runs = test(seeds, quick)
    return [made | {"result": TASKS[task].result(made)} for made in runs], runs[-1]["parameters"]


METHODS: dict[str, tuple[peer.Method, int, str | None]] = {
    f"{name}, {task}": (
        partial(measured, task, name), N_SEEDS if peer.seeded(name) else 1,
        next((package for package in ("reservoirpy", "tslearn") if name.startswith(package)), None),
    )
    for task, module in TASKS.items()
    for name in module.CANDIDATES
}  # fmt: skip

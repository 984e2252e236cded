"""The page of the documentation that shows the benchmarks, from what `run.py` measured."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from report import Plot, Report, Table

INTRODUCTION = """\
Written by `python bench/run.py --json FILE --report DIR`, all in one run on one machine; `--from FILE` makes the same
page of numbers that were measured before. Not edited by hand.

How to read it:

- Candidates are called in turn, in another order in each round, on the same data. A cell is the median and, in
  brackets, the quartiles of the rounds. "A / evoke" is the ratio of the times of a pair: how many times faster than A
  evoke is; below 1, A is the faster one.
- Times are processor time, which other programs disturb least, except where wall time is named. One core, one thread,
  but for what is said to have two.
- "Of the limit" is the share of what one core of this machine reached in this run: operations a second of a large
  product of matrices by BLAS, bytes a second of `z = x + y` in memory. Functions are counted with the operations that
  our versions of them take (`bench/operations.py`), a fused multiply-add as two, a division as one. So a share says how
  busy the arithmetic units are with arithmetic that has to be done; a division counts once and costs far more.
"""

CHAPTERS = {
    "vecmath": "Vector functions", "lstm": "Forward pass", "mutation": "Mutation", "gram": "Kernel matrix",
    "svc": "Classification machines", "svr": "Regression machines",
    "working_sets": "Machines of many rows", "lssvm": "Least-squares machines",
    "evaluation": "Evaluation of a network", "generation": "A generation, one and two threads",
    "growth": "How cost grows", "memory": "Memory", "peers_anbncn": "The string task: what else one could use",
    "peers_sines": "The sine task: what else one could use", "real_data": "Real data: what else one could use",
    "ideas": "What single ideas are worth",
    "simd": "Instruction sets", "breakdown": "Parts of an evaluation", "threads": "Two threads",
    "evolution": "A whole evolution", "sines": "Readouts of the sine task", "backends": "Backends",
}  # fmt: skip


def write(record: dict[str, Any], folder: Path) -> None:
    """benchmarks.md and figures/bench-*.png; plots are left out where matplotlib is not installed."""
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    reports = {name: Report.of(measured) for name, measured in record["benchmarks"].items()}
    for report in reports.values():
        for plot in report.plots:
            draw(plot, folder / figure(plot))
    (folder / "benchmarks.md").write_text(page(record, reports), encoding="utf-8")


def head(record: dict[str, Any]) -> str:
    peaks = record["peaks"]
    facts = {
        **record["machine"], "limits of one core":
        f"{peaks['flops'] / 1e9:.3g} GFLOP/s, {peaks['bandwidth'] / 1e9:.3g} GB/s", "rounds": record["repeats"],
    }  # fmt: skip
    return "\n".join(["# Benchmarks", "", *(f"- {name}: {value}" for name, value in facts.items())])


def page(record: dict[str, Any], reports: dict[str, Report]) -> str:
    parts = [head(record), "", INTRODUCTION]
    if record["quick"]:
        parts.append("**Smallest sizes: these numbers show that all of it runs, and nothing else.**\n")
    load = max(max(measured["load"]) for measured in record["benchmarks"].values())
    cores = record["machine"]["cores"]
    parts.append(f"The largest load of the machine during the run was {load:.1f} on {cores} cores.\n")
    parts.append(f"## Where a peer wins\n\n{peers_ahead(reports)}\n")
    parts.append(f"## Targets\n\n{targets(reports)}\n")
    for name, report in reports.items():
        parts.append(f"## {CHAPTERS[name]}\n\n{Report(report.tables).markdown()}")
        parts += [f"![{plot.title}]({figure(plot)})\n" for plot in report.plots]
    return "\n".join(parts)


def peers_ahead(reports: dict[str, Report]) -> str:
    """The rows in which a ratio to evoke is below 1, from all tables, and the notes that name another best method."""
    found = []
    for name, report in reports.items():
        for table in report.tables:
            for row in table.rows:
                label = ", ".join(f"{k} {v}" if str(v).isdigit() else v for k, v in row.items() if plain(k, v))
                for column, value in row.items():
                    ratio = median(value)
                    if re.search(r" / (evoke|core)\b", column) and ratio is not None and ratio < 1.0:
                        found.append(f"- {CHAPTERS[name]}: {label}: {column} = {ratio:.2g}")
            found += [
                f"- {CHAPTERS[name]}: {table.title}: {note}"
                for note in table.notes
                if note.startswith("Best: ") and "evoke" not in note
            ]
    return "\n".join(found) or "In none of these measurements."


def plain(column: str, value: Any) -> bool:
    """Whether a cell names what the row is about: text or a whole number, no measurement."""
    measured = re.search(r" / |, (ms|us|s)\b|limit|bandwidth|problems", column)
    return isinstance(value, (str, int)) and value != "-" and not measured


def median(value: Any) -> float | None:
    if isinstance(value, dict):
        return value["median"]
    return value if isinstance(value, float) else getattr(value, "median", None)


def targets(reports: dict[str, Report]) -> str:
    rows = [
        {"target": t.what, "wanted": t.wanted, "measured": t.measured, "met": "yes" if t.met else "**no**"}
        for report in reports.values()
        for t in sorted(report.targets, key=lambda t: t.met)
    ]
    if not rows:
        return "None in these groups."
    missed = sum(row["met"] != "yes" for row in rows)
    return f"{len(rows) - missed} of {len(rows)} are met.\n" + Table("", rows).markdown().removeprefix("### \n")


def figure(plot: Plot) -> str:
    return f"figures/bench-{plot.name}.png"


def draw(plot: Plot, path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"Skipped: {path.name}, as matplotlib is not installed.")
        return
    axes = (drawing := Figure(figsize=(6.4, 4.0), layout="constrained")).subplots()
    for label, (x, y) in plot.lines.items():
        axes.loglog(x, y, marker="o", markersize=4, label=label)
    axes.set(xlabel=plot.x, ylabel=plot.y, title="\n".join(textwrap.wrap(plot.title, 60)))
    axes.grid(alpha=0.3)
    if len(plot.lines) > 1:
        axes.legend()
    drawing.savefig(path, dpi=100, metadata={"Software": None})

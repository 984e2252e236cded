"""The pages of the documentation that show the benchmarks and their targets, from what `run.py` measured."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from harness.charts import Chart, about, charts, overview
from harness.report import Report, markdown_table, skipped, target_rows

INTRODUCTION = """\
## How to read the tables

- The candidates are called in turn on the same data, in a new order in each round. A cell gives the median of the
  rounds and, in brackets, their quartiles. "A / evoke" is the ratio of the two times in a round: how many times faster
  evoke is than A. Below 1, A is faster.
- Times are processor time, which other programs disturb least, unless the text says wall time. Everything uses one core
  and one thread, unless the text says two.
- "Of the limit" is the share of what one core of this machine can reach: operations per second in a large matrix
  product by BLAS, bytes per second in `z = x + y` in memory. A function counts as the operations that our version of it
  takes (`bench/harness/operations.py`), a fused multiply-add as two, a division as one. So the share says how busy the
  arithmetic units are with necessary work. A division counts once but costs far more.
"""

ORIGIN = """\
Written by `python bench/run.py --json FILE --report DIR`, which measured everything on one machine, one group after the
other. `--from FILE` writes the same page from numbers measured before. Do not edit it by hand.
"""

TARGETS_TITLE = "Appendix for developers: targets of the benchmarks"
TARGETS_INTRODUCTION = """\
The targets that the developers of evoke set themselves, beside what was measured for [the benchmarks](benchmarks.md).
Written together with that page by `python bench/run.py --report DIR`. Do not edit it by hand.
"""


def write(record: dict[str, Any], chapters: dict[str, str], folder: Path) -> None:
    """Write benchmarks.md, benchmarks_targets.md and figures/bench-*.png; without matplotlib no plots.

    `chapters` gives the title of each group.
    """
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    reports = {name: Report.of(measured) for name, measured in record["benchmarks"].items()}
    drawn = {name: list(charts(name, chapters[name], report)) for name, report in reports.items()}
    first = overview(chapters, reports)
    for chart in [*([first] if first else ()), *(chart for of_group in drawn.values() for chart in of_group)]:
        draw(chart, folder / figure(chart))
    (folder / "benchmarks.md").write_text(page(record, chapters, reports, first, drawn), encoding="utf-8")
    (folder / "benchmarks_targets.md").write_text(targets_page(reports), encoding="utf-8")


def head(record: dict[str, Any]) -> str:
    peaks = record["peaks"]
    facts = {
        **record["machine"], "limits of one core":
        f"{peaks['flops'] / 1e9:.3g} GFLOP/s, {peaks['bandwidth'] / 1e9:.3g} GB/s", "rounds": record["repeats"],
    }  # fmt: skip
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def page(
    record: dict[str, Any], chapters: dict[str, str], reports: dict[str, Report], first: Chart | None,
    drawn: dict[str, list[Chart]],
) -> str:  # fmt: skip
    """The page; `first` is the chart of everything, `drawn` those of each group."""
    parts = ["# Benchmarks\n"]
    if record["quick"]:
        parts.append("**Smallest sizes: these numbers show that everything works, and nothing else.**\n")
    if first:
        parts.append(shown(first))
    parts.append(f"## Where another method wins\n\n{others_ahead(chapters, reports)}\n")
    parts.append(INTRODUCTION)
    for name, report in reports.items():
        parts += [f"## {chapters[name]}\n", *map(shown, drawn[name]), Report(report.tables).markdown()]
    parts.append("## Targets\n\nWhich of our own targets these numbers meet: [appendix](benchmarks_targets.md).\n")
    load = max(max(measured["load"]) for measured in record["benchmarks"].values())
    busy = f"the load of the machine was at most {load:.1f}, on {record['machine']['cores']} cores"
    parts.append(f"## The machine, and the versions\n\n{head(record)}\n\nWhile it was measured, {busy}.\n\n{ORIGIN}")
    return "\n".join(parts)


def shown(chart: Chart) -> str:
    return f"![{chart.title}]({figure(chart)})\n\n{' '.join(chart.seen.split())}\n"


def targets_page(reports: dict[str, Report]) -> str:
    return f"# {TARGETS_TITLE}\n\n{TARGETS_INTRODUCTION}\n{targets(reports)}"


def others_ahead(chapters: dict[str, str], reports: dict[str, Report]) -> str:
    """The rows of all tables in which a ratio to evoke is below 1, and the notes that name another best method."""
    found = []
    for name, report in reports.items():
        for table in report.tables:
            for row in table.rows:
                label = about(row)
                for column, value in row.items():
                    ratio = median(value)
                    if re.search(r" / (evoke|core)\b", column) and ratio is not None and ratio < 1.0:
                        found.append(f"- {chapters[name]}: {label}: {column} = {ratio:.2g}")
            found += [
                f"- {chapters[name]}: {table.title}: {note}"
                for note in table.notes
                if note.startswith("Best: ") and "evoke" not in note
            ]
    return "\n".join(found) or "In none of these measurements."


def median(value: Any) -> float | None:
    if isinstance(value, dict):
        return value["median"]
    return value if isinstance(value, float) else getattr(value, "median", None)


def targets(reports: dict[str, Report]) -> str:
    """All targets in one table, group by group, the missed ones of a group first."""
    found = [t for report in reports.values() for t in sorted(report.targets, key=lambda t: t.met)]
    if not found:
        return "These groups have no targets.\n"
    return f"{sum(t.met for t in found)} of {len(found)} are met.\n\n{markdown_table(target_rows(found))}\n"


def figure(chart: Chart) -> str:
    return f"figures/bench-{chart.name}.png"


def draw(chart: Chart, path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(skipped(path.name, "matplotlib"))
        return
    size = (8.0, 1.2 + 0.22 * chart.rows) if chart.rows else (6.4, 4.0)
    drawing = Figure(figsize=size, layout="constrained")
    axes = drawing.subplots()
    chart.draw(axes)
    axes.grid(alpha=0.3)
    drawing.suptitle("\n".join(textwrap.wrap(chart.title, 70)), fontsize="large")
    drawing.savefig(path, dpi=100, metadata={"Software": None})

"""The charts of the benchmarks: one for each question, before the numbers, each with what one should see in it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.report import Plot, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURED = re.compile(r" / |, (ms|us|s)\b|limit|bandwidth|problems")  # columns of these are not what a row is about
Spans = dict[str, tuple[float, float, float]]  # least, median and most by their labels

AXES = "Both axes are logarithmic, so that straight lines are powers, and a lower line is a faster method."
PART = """"kernel matrix of evoke" is the time of computing all of it. It is a part of a fit of few rows only: beyond
some hundred rows a fit computes the rows of the matrix that its working sets ask for, and no others. So the line of
this part crosses that of the whole; it is measured up to 5,000 rows."""
SPREAD = """A dot is the median of the rounds, and its line goes from the lower quartile to the upper one; where several
rows of the tables have the same name, of their medians and from the least to the largest."""
SEEN = {
    "growth-rows-1": f"{AXES} {PART}",
    "growth-rows-100": f"{AXES} With a large C more rows are support vectors, and all methods take longer.",
    "growth-cells": f"""{AXES} A call of PyTorch costs the same for few cells as for some ten of them; evoke's cost is
    that of the arithmetic from the beginning, so that the lines come together.""",
    "growth-steps": f"{AXES} All methods take the time of a step as often as there are steps.",
    "growth-population": f"{AXES} Twice the networks take twice the time: nothing is lost with large populations.",
}


@dataclass(frozen=True)
class Chart:
    """A figure: the name of its file, its title, what one should see, and what draws it."""

    name: str
    title: str
    seen: str
    draw: Callable[[Axes], None]
    rows: int = 0  # labels below each other; 0: a plot of the usual height


def charts(name: str, title: str, report: Report) -> Iterator[Chart]:
    """Those of one group of benchmarks."""
    if report.plots:
        yield from map(growth, report.plots)
        return
    if spans := ratios(report):
        yield faster(name, f"{title}: how many times faster is evoke?", spans, SPREAD)
    for k, (what, spans) in enumerate(methods(report)):
        yield ranges(f"{name}-{k + 1}", what, spans)


def overview(titles: dict[str, str], reports: dict[str, Report]) -> Chart | None:
    """All that was compared with another library, a line for each question and library."""
    spans = {}
    for name, report in reports.items():
        if not report.plots:
            by_peer: dict[str, list[float]] = {}
            for _, peer, (_, median, _) in compared(report):
                by_peer.setdefault(peer, []).append(median)
            spans |= {f"{titles[name]}: {peer}": span_of(values) for peer, values in by_peer.items()}
    if not spans:
        return None
    seen = "A line goes from the least to the largest ratio in the tables below, and the dot is their median."
    return faster("overview", "How many times faster is evoke?", spans, seen)


def compared(report: Report) -> Iterator[tuple[str, str, tuple[float, float, float]]]:
    """What each row is about, the other method, and quartiles of its time divided by evoke's."""
    for table in report.tables:
        for row in table.rows:
            label = about(row)
            for column, value in row.items():
                found, span = re.fullmatch(r"(.+) / (evoke|core)", column), quartiles(value)
                if found is not None and span is not None and not label.startswith("evoke"):
                    yield label, label.split(",")[0] if found[1] == "other" else found[1], span


def about(row: dict[str, Any]) -> str:
    """What a row is about: its cells with text or whole numbers, that is, all but the measured ones."""
    cells = ((k, v) for k, v in row.items() if isinstance(v, (str, int)) and v != "-" and not MEASURED.search(k))
    return ", ".join(f"{k} {v}" if re.fullmatch(r"[-+.\de]+", str(v)) else str(v) for k, v in cells)


def ratios(report: Report) -> Spans:
    """Of each row and other method. What several tables have a row for has one line for all of them."""
    found = list(compared(report))
    several = len({peer for _, peer, _ in found}) > 1
    together: dict[str, list[tuple[float, float, float]]] = {}
    for label, peer, span in found:
        together.setdefault(label if not several or peer in label else f"{label}; {peer}", []).append(span)
    return {
        label: spans[0] if len(spans) == 1 else span_of([median for _, median, _ in spans])
        for label, spans in together.items()
    }


def span_of(values: list[float]) -> tuple[float, float, float]:
    return min(values), float(np.median(values)), max(values)


def methods(report: Report) -> Iterator[tuple[str, Spans]]:
    """Tables of methods with the least, the median and the largest result of their seeds."""
    for table in report.tables:
        if table.rows and {"method", "least", "median", "most"} <= set(table.rows[0]):
            yield table.title, {row["method"]: (row["least"], row["median"], row["most"]) for row in table.rows}


def quartiles(value: Any) -> tuple[float, float, float] | None:
    if isinstance(value, dict):
        return value["low"], value["median"], value["high"]
    if isinstance(value, float):
        return value, value, value
    return (value.low, value.median, value.high) if hasattr(value, "median") else None


def faster(name: str, title: str, spans: Spans, what: str) -> Chart:
    def draw(axes: Axes) -> None:
        lines(axes, spans)
        axes.set_xscale("log")
        axes.axvline(1.0, color="0.4", linewidth=1.0)
        axes.set_xlabel("time of the other / time of evoke")

    seen = f"Right of the line at 1 evoke is faster, left of it the other is. The axis is logarithmic. {what}"
    return Chart(name, title, seen, draw, len(spans))


def ranges(name: str, title: str, spans: Spans) -> Chart:
    least, most = min(low for low, _, _ in spans.values()), max(high for _, _, high in spans.values())
    wide = least > 0 and most > 100 * least

    def draw(axes: Axes) -> None:
        lines(axes, spans)
        if wide:
            axes.set_xscale("log")
        axes.set_xlabel("result")

    seen = "A dot is the median of the seeds, and its line goes from the least to the largest result."
    return Chart(name, title, seen + (" The axis is logarithmic." if wide else ""), draw, len(spans))


def lines(axes: Axes, spans: Spans) -> None:
    """A dot with its range for each label, the first one at the top; evoke's own are coloured."""
    for y, (label, (low, median, high)) in enumerate(spans.items()):
        colour = "tab:orange" if label.startswith("evoke") else "tab:blue"
        axes.plot([low, high], [y, y], color=colour, linewidth=2.0, alpha=0.5, solid_capstyle="butt")
        axes.plot(median, y, "o", color=colour, markersize=5)
    axes.set_yticks(range(len(spans)), [textwrap.shorten(label, 60, placeholder=" ...") for label in spans])
    axes.set_ylim(len(spans) - 0.4, -0.6)


def growth(plot: Plot) -> Chart:
    def draw(axes: Axes) -> None:
        for label, (x, y) in plot.lines.items():
            axes.loglog(x, y, marker="o", markersize=4, label=label)
        axes.set(xlabel=plot.x, ylabel=plot.y)
        if len(plot.lines) > 1:
            axes.legend()

    return Chart(plot.name, plot.title, SEEN.get(plot.name, AXES), draw)

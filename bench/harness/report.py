"""What a group of benchmarks returns, and how it becomes Markdown."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Settings:
    """How much to measure: `quick` takes the smallest sizes, which shows that everything works and nothing else.

    `flops` and `bandwidth` are the limits of one core of this machine, in operations and in bytes per second
    (`machine.peaks`).
    """

    repeats: int
    quick: bool
    flops: float
    bandwidth: float

    def of_flops(self, flops: float, seconds: float) -> str:
        """The share of the limit that so many operations in so many seconds are."""
        return f"{flops / seconds / self.flops:.0%}"

    def of_bandwidth(self, size: float, seconds: float) -> str:
        """The share of the limit that so many bytes in so many seconds are."""
        return f"{size / seconds / self.bandwidth:.0%}"


@dataclass(frozen=True)
class Target:
    """A number that we want to reach, and whether it was reached."""

    what: str
    wanted: str
    measured: float
    met: bool

    @classmethod
    def at_least(cls, what: str, wanted: float, measured: float) -> Target:
        return cls(what, f">= {wanted:g}", measured, measured >= wanted)

    @classmethod
    def at_most(cls, what: str, wanted: float, measured: float) -> Target:
        return cls(what, f"<= {wanted:g}", measured, measured <= wanted)


@dataclass
class Table:
    """Rows of numbers, quartiles and text, all with the same keys, which are the columns; the notes stand below.

    A column named "A / evoke" is a ratio of times: below 1, A is faster.
    """

    title: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [f"### {self.title}", "", *([markdown_table(self.rows)] if self.rows else ())]
        return "\n".join([*lines, *("\n" + " ".join(note.split()) for note in self.notes), ""])


@dataclass
class Plot:
    """Lines (x, y) by their labels, both axes logarithmic; `name` is that of the file."""

    name: str
    title: str
    x: str
    y: str
    lines: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)


@dataclass
class Report:
    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Report:
        """The report whose `asdict` was written to a file, perhaps with other keys."""
        return cls(
            [Table(**table) for table in record["tables"]],
            [Target(**target) for target in record["targets"]],
            [Plot(**plot) for plot in record.get("plots", ())],
        )

    def markdown(self) -> str:
        parts = [table.markdown() for table in self.tables]
        if self.targets:
            parts.append(Table("Targets", target_rows(self.targets)).markdown())
        return "\n".join(parts)


def target_rows(targets: Iterable[Target]) -> list[dict[str, Any]]:
    return [
        {"target": t.what, "wanted": t.wanted, "measured": t.measured, "met": "yes" if t.met else "**no**"}
        for t in targets
    ]


def markdown_table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *(map(_cell, row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def skipped(what: str, package: str) -> str:
    """The note about what is left out because a package is missing."""
    return f"Skipped: {what}, as {package} is not installed."


def _cell(value: Any) -> str:
    if isinstance(value, dict):  # quartiles that come from a file
        return "{median:.3g} ({low:.3g} to {high:.3g})".format(**value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)

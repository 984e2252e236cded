"""What a benchmark hands back, and its Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Settings:
    """How much to measure: `quick` takes the smallest sizes, which says nothing but that everything runs."""

    repeats: int
    quick: bool


@dataclass(frozen=True)
class Target:
    """A number that was promised, and whether it was reached."""

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
    """Rows with the same keys, which are the columns, of numbers, quartiles and text; notes stand below."""

    title: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        lines = [f"### {self.title}", ""]
        if self.rows:
            lines += [_line(self.rows[0]), _line(["---"] * len(self.rows[0]))]
            lines += [_line(map(_cell, row.values())) for row in self.rows]
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes), ""])


@dataclass
class Report:
    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)

    def markdown(self) -> str:
        parts = [table.markdown() for table in self.tables]
        if self.targets:
            rows = [
                {"target": t.what, "wanted": t.wanted, "measured": t.measured, "met": "yes" if t.met else "**no**"}
                for t in self.targets
            ]
            parts.append(Table("Targets", rows).markdown())
        return "\n".join(parts)


def _line(cells) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)

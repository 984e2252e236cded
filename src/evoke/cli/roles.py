"""The roles of a table's columns: targets, features, what tells sequences apart, and the time."""

from __future__ import annotations

import difflib
import warnings
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import click
import numpy as np

from evoke._validation.errors import refusal, shown
from evoke.cli.tables import Table, counted, quoted
from evoke.persistence.checks import check_flags
from evoke.sequences.converters import RowGroups
from evoke.sequences.index import first_fall, first_gap

__all__ = [
    "Columns", "check_labels", "check_washout", "choose_columns", "find", "guess_task", "one_per_sequence",
    "target_series", "target_values", "times_of",
]  # fmt: skip

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Columns:
    """Roles of columns; part of a model file, so that `predict` finds them again.

    Attributes
    ----------
    targets, features : list of str
    sequence : str or None
        The column that says which sequence a row belongs to; None: the table is one sequence.
    per_sequence : bool
        Whether a target belongs to a sequence, not to a row.
    booleans : list of str
        Targets, among several to be classified, that are true or false and not 1 or 0.
    time : str or None
        The column of the times of the rows; None: there is none.
    """

    targets: list[str]
    features: list[str]
    sequence: str | None
    per_sequence: bool = False
    booleans: list[str] = field(default_factory=list)
    time: str | None = None

    @classmethod
    def read(cls, said: dict[str, Any]) -> Columns:
        """The roles that a model file states.

        Raises
        ------
        TypeError
            Entries that are unknown or missing.
        ValueError
            What no table has: entries of another type, a column of two roles.
        """
        columns = cls(**said)
        for name in ("targets", "features", "booleans"):
            value = getattr(columns, name)
            if not isinstance(value, list) or not all(isinstance(column, str) for column in value):
                raise refusal(name, "be a list of names", value)
        for name in ("sequence", "time"):
            value = getattr(columns, name)
            if value is not None and not isinstance(value, str):
                raise refusal(name, "be a name or None", value)
        check_flags(per_sequence=columns.per_sequence)
        if not columns.targets:
            raise ValueError("there are no targets")
        repeated = [name for name, n in Counter(columns.names).items() if n > 1]
        if repeated:
            raise ValueError(f"{shown(repeated[0])} is there twice")
        if not set(columns.booleans) <= set(columns.targets):
            raise refusal("booleans", "be among the targets", columns.booleans)
        if columns.per_sequence and columns.sequence is None:
            raise ValueError("per_sequence needs a sequence")
        return columns

    def as_dict(self) -> dict[str, Any]:
        """The form in which a model file holds them."""
        return asdict(self)

    @property
    def names(self) -> list[str]:
        return [*self.targets, *self.features, *(name for name in (self.sequence, self.time) if name is not None)]


def find(table: Table, names: list[str]) -> list[str]:
    """The names, all of which must be columns.

    Raises
    ------
    ValueError
        With the column that comes closest.
    """
    for name in names:
        if name not in table.columns:
            close = difflib.get_close_matches(name, table.columns, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {quoted(table.columns)}"
            raise ValueError(f"{table.name} has no column {name!r}; {hint}")
    return names


def _listed(table: Table, values: tuple[str, ...], option: str) -> list[str]:
    """Names in an option that may be given several times or hold several with commas between them."""
    names = []
    for value in values:
        names += [value] if value in table.columns else value.split(",")
    find(table, names)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise click.UsageError(f"{option} names {repeated[0]!r} twice")
    return names


def choose_columns(
    table: Table, target: tuple[str, ...], features: tuple[str, ...], sequence: str | None, time: str | None, *,
    all_others: bool,
) -> Columns:  # fmt: skip
    """The roles that the options give to the columns.

    Parameters
    ----------
    all_others : bool
        Whether all other columns are features if none are named.
    """
    targets = _listed(table, target, "--target")
    taken = dict.fromkeys(targets, "--target")
    for name, option in ((sequence, "--sequence"), (time, "--time")):
        if name is None:
            continue
        find(table, [name])
        if name in taken:
            raise click.UsageError(f"{name!r} cannot be both {taken[name]} and {option}")
        taken[name] = option
    chosen = _listed(table, features, "--features")
    both = [name for name in chosen if name in taken]
    if both:
        raise click.UsageError(f"{both[0]!r} cannot be among --features: it is {taken[both[0]]}")
    if not features and all_others:
        chosen = [name for name in table.columns if name not in taken]
        if not chosen:
            raise ValueError(f"{table.name} has no columns besides {quoted(taken)}, so there are no features; "
                             "a series is continued with --task forecast")
    return Columns(targets, chosen, sequence, time=time)


def target_values(table: Table, columns: Columns) -> Array:
    """Targets that are numbers, (n_rows,) or for several (n_rows, n_targets)."""
    values = table.numbers(columns.targets, "text can be learned as a single target, with --task classify")
    return values[:, 0] if len(columns.targets) == 1 else values


def times_of(table: Table, columns: Columns, groups: RowGroups) -> Any:
    """The times of all rows, which rise within each sequence, as a pandas index; None: there are none.

    Raises
    ------
    ValueError
        Naming the sequence, the row and the time that does not rise.

    Warns
    -----
    UserWarning
        Naming the row before which times are missing.
    """
    if columns.time is None:
        return None
    times = table.times(columns.time)
    gaps = []
    for name, rows in zip(groups.names, groups.rows, strict=True):
        i = first_fall(times[rows])
        within = "" if name is None else f" within sequence {name!r}"
        if i:
            time, before = times[rows[i]], times[rows[i - 1]]
            hint = "keep one row of each" if time == before else f"sort the table by {columns.time!r}"
            raise ValueError(
                f"{table.name}: the times {columns.time!r} must rise{within}, but {table.rows(rows[i : i + 1])} has "
                f"{time} after {before}: {hint}"
            )
        gap = first_gap(times[rows])
        if gap is not None:
            i, step = gap
            gaps.append(
                f"{table.name}: the times {columns.time!r} have a gap{within} before {table.rows(rows[i : i + 1])}: "
                f"{times[rows[i]]} comes after {times[rows[i - 1]]}, where most steps are {step}; to the network all "
                "steps are equal"
            )
    if gaps:
        warnings.warn(gaps[0], stacklevel=2)
    return times


def target_series(table: Table, columns: Columns, times: Any) -> Any:
    """Targets that are numbers, as a Series or data frame with these times where there are any."""
    values = target_values(table, columns)
    if times is None:
        return values
    import pandas as pd

    return pd.Series(values, times) if values.ndim == 1 else pd.DataFrame(values, times, columns.targets)


def guess_task(table: Table, targets: list[str]) -> str:
    """Targets that are not numbers are to be classified; with numbers the user has to choose."""
    for name in targets:
        if table.holds(name) == "numbers":
            raise click.UsageError(
                f"the target {name!r} holds numbers: choose --task classify, --task regress or --task forecast"
            )
    return "classify"


def check_labels(table: Table, name: str, n_labels: int) -> None:
    """Refuse labels that look like values, by the rule of `EvokeClassifier`, to which fractions in CSV are text.

    Raises
    ------
    ValueError
        Fractions that hardly repeat among `n_labels`.
    """
    if table.holds(name) == "numbers":
        distinct = np.unique(table.numbers([name]))
        if (distinct % 1 != 0).any() and len(distinct) > max(2, n_labels // 2):
            raise ValueError(
                f"{table.name}: the target {name!r} holds fractions that hardly repeat, which is a regression target: "
                "use --task regress"
            )


def check_washout(table: Table, groups: RowGroups, washout: int) -> None:
    """Refuse a washout that leaves nothing of a sequence, by its name."""
    for name, rows in zip(groups.names, groups.rows, strict=True):
        if len(rows) <= washout:
            n_rows = counted(len(rows), "row")
            which = f"its {n_rows}" if name is None else f"sequence {name!r}, which has {n_rows}"
            raise ValueError(f"{table.name}: washout={washout} leaves nothing of {which}")


def one_per_sequence(table: Table, groups: RowGroups, parts: list[Array], names: list[str]) -> Array:
    """The target of each sequence, which all its rows must repeat.

    Raises
    ------
    ValueError
        Naming the sequence and the rows in which it changes.
    """
    for name, part, rows in zip(groups.names, parts, groups.rows, strict=True):
        changes = (part != part[0]).reshape(len(part), -1).any(axis=1)
        if changes.any():
            raise ValueError(
                f"{table.name}: --per-sequence needs one target per sequence, but {quoted(names)} changes within "
                f"sequence {name!r}, at {table.rows(rows[changes])}"
            )
    return np.array([part[0] for part in parts])

"""What the columns of a table are: targets, features, names of sequences."""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass, field
from typing import Any

import click
import numpy as np

from evoke.cli.tables import Table, some

__all__ = [
    "Columns", "Groups", "check_labels", "check_per_sequence", "choose_columns", "find", "guess_task",
    "is_per_sequence", "target_values",
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
    """

    targets: list[str]
    features: list[str]
    sequence: str | None
    per_sequence: bool = False
    booleans: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """What a model file holds."""
        return asdict(self)

    @property
    def names(self) -> list[str]:
        return [*self.targets, *self.features, *([self.sequence] if self.sequence is not None else [])]


def find(table: Table, names: list[str]) -> list[str]:
    """The names, all of which must be columns.

    Raises
    ------
    ValueError
        With the columns that come closest.
    """
    for name in names:
        if name not in table.columns:
            close = difflib.get_close_matches(name, table.columns, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {some([*map(repr, table.columns)])}"
            raise ValueError(f"{table.name} has no column {name!r}; {hint}")
    return names


def _listed(table: Table, values: tuple[str, ...], option: str) -> list[str]:
    """Names in an option that may be given several times or hold several with commas between them."""
    names = []
    for value in values:
        names += [value] if value in table.columns else value.split(",")
    find(table, names)
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise click.UsageError(f"{option} names {sorted(doubled)[0]!r} twice")
    return names


def choose_columns(
    table: Table, target: tuple[str, ...], features: tuple[str, ...], sequence: str | None, per_sequence: bool,
    all_others: bool,
) -> Columns:  # fmt: skip
    """The roles that the options give to the columns.

    Parameters
    ----------
    all_others : bool
        Whether without `features` all columns that are left are such.
    """
    targets = _listed(table, target, "--target")
    if sequence is not None:
        find(table, [sequence])
    taken = [*targets, *([sequence] if sequence is not None else [])]
    if sequence in targets:
        raise click.UsageError(f"{sequence!r} cannot be both --target and --sequence")
    chosen = _listed(table, features, "--features")
    both = [name for name in chosen if name in taken]
    if both:
        raise click.UsageError(f"{both[0]!r} cannot be among --features: it is the target or the sequence")
    if not features and all_others:
        chosen = [name for name in table.columns if name not in taken]
        if not chosen:
            raise ValueError(f"{table.name} has no columns but {some([*map(repr, taken)])}: there are no features")
    return Columns(targets, chosen, sequence, per_sequence)


def target_values(table: Table, columns: Columns) -> Array:
    """Targets that are numbers, (n_rows,) or for several (n_rows, n_targets)."""
    values = table.numbers(columns.targets, "learn text as the only target, with --task classify")
    return values[:, 0] if len(columns.targets) == 1 else values


def guess_task(table: Table, targets: list[str]) -> str:
    """What is no number is to be classified; what numbers mean has to be said."""
    for name in targets:
        if table.holds(name) == "numbers":
            raise click.UsageError(
                f"the target {name!r} holds numbers: say --task classify, --task regress or --task forecast"
            )
    return "classify"


def check_labels(table: Table, name: str, n_labels: int) -> None:
    """Refuse labels that are rather values, by the rule of `EvokeClassifier`.

    Raises
    ------
    ValueError
        Fractions of which hardly any comes twice among `n_labels`.
    """
    if table.holds(name) == "numbers":
        distinct = np.unique(table.numbers([name]))
        if (distinct % 1 != 0).any() and len(distinct) > max(2, n_labels // 2):
            raise ValueError(
                f"{table.name}: the target {name!r} holds fractions that hardly repeat; values are learned with --task "
                "regress"
            )


class Groups:
    """The sequences of a table: rows with the same value of a column, in the order of the file.

    The rows of one sequence need not be neighbours. Sequences stand in the order in which they first appear, and are
    split in this order into those trained on and those held out.

    Parameters
    ----------
    table : Table
    sequence : str or None
    """

    def __init__(self, table: Table, sequence: str | None):
        self.names = None
        codes = np.zeros(len(table), dtype=np.intp)
        if sequence is not None:
            codes, names = table.frame[sequence].factorize()
            self.names = np.asarray(names, dtype=object)
        self.order = np.argsort(codes, kind="stable")
        self.ends = np.cumsum(np.bincount(codes))

    def split(self, values: Any) -> Any:
        """An array or frame with the rows of the table -> a list with those of each sequence, or as it is if one."""
        if self.names is None:
            return values
        rows = values.iloc if hasattr(values, "iloc") else values
        return [rows[chosen] for chosen in self.rows()]

    def rows(self) -> list[Array]:
        """The places in the table of each sequence's rows."""
        return np.split(self.order, self.ends[:-1])

    def check_washout(self, table: Table, washout: int) -> None:
        """Refuse a washout that leaves nothing of a sequence.

        Raises
        ------
        ValueError
            By the sequence's name.
        """
        lengths = np.diff(self.ends, prepend=0)
        if (lengths <= washout).any():
            k = int(np.argmax(lengths <= washout))
            rows = f"{lengths[k]} row{'' if lengths[k] == 1 else 's'}"
            which = f"its {rows}" if self.names is None else f"sequence {self.names[k]!r}, which has {rows}"
            raise ValueError(f"{table.name}: washout={washout} leaves nothing of {which}")

    def join(self, parts: Any) -> Array:
        """The inverse of `split`."""
        if self.names is None:
            return np.asarray(parts)
        flat = np.concatenate(parts)
        values = np.empty_like(flat)
        values[self.order] = flat
        return values


def is_per_sequence(parts: list[Array]) -> bool:
    """Whether the target is the same in all rows of each sequence, and some sequence has several."""
    return max(map(len, parts)) > 1 and all((part == part[0]).all() for part in parts)


def check_per_sequence(table: Table, groups: Groups, parts: list[Array], names: list[str]) -> Array:
    """One target a sequence, of parts in which it must not change."""
    for name, part, rows in zip(groups.names, parts, groups.rows(), strict=True):
        changes = (part != part[0]).reshape(len(part), -1).any(axis=1)
        if changes.any():
            chosen = np.zeros(len(table), dtype=bool)
            chosen[rows[changes]] = True
            raise ValueError(
                f"{table.name}: --per-sequence, but {some([*map(repr, names)])} changes within sequence {name!r}, "
                f"at {table.rows(chosen)}"
            )
    return np.array([part[0] for part in parts])

"""Predictions for a table that is read piece by piece, in memory that does not grow with it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evoke.cli.meanwhile import ahead
from evoke.cli.roles import Columns, find
from evoke.cli.table_files import Format, read_pieces
from evoke.cli.tables import Table
from evoke.sequences.converters import check_ids
from evoke.sequences.starts import ComesBack, Starts

__all__ = ["NeedsAllRows", "can_be_read_in_pieces", "predicted_pieces"]

N_ROWS = 1 << 16  # of a piece

Array = np.ndarray[Any, Any]


class NeedsAllRows(Exception):
    """What pieces do not tell: rows of a sequence that do not lie together, how times are written."""


def can_be_read_in_pieces(estimator: Any, columns: Columns, data: Path) -> bool:
    """Whether a model predicts each row from those before it, and a table may be read again if it has to be."""
    if hasattr(estimator, "generate") or columns.per_sequence or columns.time is not None:
        return False
    return columns.sequence is None or stat.S_ISREG(data.stat().st_mode)


def predicted_pieces(
    estimator: Any, columns: Columns, data: Path, form: Format, methods: list[str]
) -> Iterator[tuple[Table, Array | None, list[Array]]]:
    """Pieces one after the other, the names of the sequences of their rows, and what `methods` of an estimator say.

    Raises
    ------
    ValueError
        As for the whole table, with the rows of the piece that is at fault; a column whose kind changes on the way.
    NeedsAllRows
        A sequence is met again after another one, or sequences are told apart by times.
    """
    readers = [_Reader(estimator, method) for method in methods]
    needed = [*columns.features, *([] if columns.sequence is None else [columns.sequence])]
    kinds: dict[str, str] = {}
    starts = Starts()
    pieces = read_pieces(data, form, N_ROWS, columns.features)
    # a thread that waits for another program could not be interrupted
    for table in ahead(pieces) if stat.S_ISREG(data.stat().st_mode) else pieces:
        table.check_complete(find(table, needed))
        X = table.features(columns.features)
        for name in columns.features:
            _check_same(kinds, table, name)
        if columns.sequence is not None:
            check_ids(table.frame[columns.sequence], table.name)
        names = None if columns.sequence is None else table.frame[columns.sequence].to_numpy()
        here = _starts(starts, names, len(table))
        yield table, names, [reader.read(X, here) for reader in readers]


def _starts(starts: Starts, names: Array | None, n_rows: int) -> Array:
    """The rows of a piece at which sequences start."""
    if names is None:
        return starts.of(np.zeros(n_rows))
    if names.dtype.kind in "mM":
        raise NeedsAllRows
    try:
        return starts.of(names)
    except ComesBack:
        raise NeedsAllRows from None


def _check_same(kinds: dict[str, str], table: Table, name: str) -> None:
    """Truth values count as numbers, but not in the same column."""
    held = table.holds(name)
    if kinds.setdefault(name, held) != held:
        raise ValueError(
            f"{table.name}: column {name!r} is not numeric: it holds {held} from {table.rows(np.array([0]))} on, and "
            f"{kinds[name]} before; leave the column out with --features"
        )


class _Reader:
    """What a method of an estimator says of sequences that may go on from piece to piece."""

    def __init__(self, estimator: Any, method: str):
        self._method = getattr(estimator, method)
        self._stream = estimator.stream()
        self._step = getattr(self._stream, method)

    def read(self, X: Any, starts: Array) -> Array:
        """One value, or one row of values, for each row of X."""
        found = []
        first = int(starts[0]) if len(starts) else len(X)
        if first:
            found.append(self._step(X.iloc[:first]))
        if len(starts) > 1:  # all but the last end here
            last = int(starts[-1])
            found.append(self._method(X.iloc[first:last], lengths=np.diff(starts)))
        if len(starts):
            self._stream.reset()
            found.append(self._step(X.iloc[int(starts[-1]) :]))
        return np.concatenate(found)

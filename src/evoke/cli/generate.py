"""What ``evoke generate`` does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from evoke.cli.figures import check_drawable, draw_sequences
from evoke.cli.model import load_model
from evoke.cli.paths import check_targets
from evoke.cli.roles import Columns, find, target_series, times_of
from evoke.cli.table_files import Format, check_writable, read_table, write_table
from evoke.cli.tables import Table, quoted, some
from evoke.sequences.converters import RowGroups, rows_by_sequence

__all__ = ["generate_series"]


@dataclass(frozen=True)
class _Series:
    """A table with the rows of each series."""

    table: Table
    columns: Columns
    groups: RowGroups
    times: Any

    @classmethod
    def read(cls, path: Path, columns: Columns, form: Format) -> _Series:
        """Read a complete table; a single series needs no column that tells series apart."""
        table = read_table(path, form)
        if columns.sequence not in table.columns:
            columns = replace(columns, sequence=None)
        table.check_complete(find(table, columns.names))
        groups = rows_by_sequence(table.frame, columns.sequence, table.name)
        return cls(table, columns, groups, times_of(table, columns, groups))

    def targets(self) -> list[Any]:
        return self.groups.split(target_series(self.table, self.columns, self.times))

    def features(self) -> list[Any]:
        return self.groups.split(self.table.features(self.columns.features, self.times))


def generate_series(
    model: Path, *, steps: int, interval: float | None, time: str | None, context: Path | None, inputs: Path | None,
    out: Path | None, plot: Path | None, **form: Any,
) -> None:  # fmt: skip
    """Read the beginnings of series, continue each with the model, write what it generates."""
    real_out, real_plot = check_targets({"--out": out, "--plot": plot}, inputs=[model, context, inputs])
    check_writable(real_out)
    check_drawable(real_plot)
    estimator, columns = load_model(model, time)
    if not hasattr(estimator, "generate"):
        raise click.UsageError(f"{model} is an {type(estimator).__name__}; only --task forecast makes forecasters")
    if interval is not None and hasattr(estimator, "history_"):
        raise click.UsageError(
            f"--interval needs a forecaster that knows its errors, but {model} evolved one network: make it with "
            "-p validation=rolling, without parameters of the evolution"
        )
    if bool(columns.features) != (inputs is not None):
        need = f"needs --inputs with {some(columns.features)}" if columns.features else "has no external inputs"
        raise click.UsageError(f"{model} {need}")

    past = None if context is None else _Series.read(context, columns, Format(**form))
    sequence = None if past is None else past.columns.sequence
    names = [None] if past is None else past.groups.names
    contexts = [None] if past is None else past.targets()
    external = [None] * len(names)
    if inputs is not None:
        ahead = _Series.read(inputs, replace(columns, targets=[], sequence=sequence), Format(**form))
        external = _external(past, ahead, names, steps)
    found_of_each = [
        estimator.generate(steps, context=series, X=X, return_interval=interval)
        for series, X in zip(contexts, external, strict=True)
    ]
    ends = [] if interval is None else [[of_one[k] for of_one in found_of_each] for k in (1, 2)]
    generated = found_of_each if interval is None else [of_one[0] for of_one in found_of_each]

    found = {} if sequence is None else {sequence: np.repeat(np.array(names, dtype=object), steps)}
    if columns.time is not None and hasattr(generated[0], "index"):
        found[columns.time] = generated[0].index.append([part.index for part in generated[1:]])
    found |= zip(columns.targets, _by_column(generated, steps), strict=True)
    for end, of_each in zip(("lower", "upper"), ends, strict=False):
        found |= zip([f"{end} {name}" for name in columns.targets], _by_column(of_each, steps), strict=True)
    if real_plot is not None:
        _draw(names, list(zip(generated, contexts, strict=True)), columns, real_plot)
    write_table(found, real_out)


def _by_column(of_each: list[Any], steps: int) -> Any:
    """What an estimator says of each target, series after series."""
    return np.concatenate(of_each).reshape(steps * len(of_each), -1).T


def _external(past: _Series | None, ahead: _Series, names: list[Any], steps: int) -> list[Any]:
    """The external inputs of each series: those of its context, if it has one, and those of the steps to generate."""
    import pandas as pd

    found = dict(zip(ahead.groups.names, ahead.features(), strict=True))
    if set(found) != set(names):
        raise ValueError(
            f"{ahead.table.name} must have the sequences {quoted(names)}; it has {quoted(ahead.groups.names)}"
        )
    for name, X in found.items():
        if len(X) != steps:
            of = "" if name is None else f" for sequence {name!r}"
            raise ValueError(f"{ahead.table.name} must have {steps} rows{of}, one per step; it has {len(X)}")
    if past is None:
        return [found[name] for name in names]
    return [
        pd.concat([before, found[name]], ignore_index=past.times is None)
        for name, before in zip(names, past.features(), strict=True)
    ]


def _draw(names: list[Any], parts: list[tuple[Any, Any]], columns: Columns, path: Path) -> None:
    from evoke.plot import ContinuationDisplay

    draw_sequences(
        lambda figure, generated, context: ContinuationDisplay.from_series(
            generated, context=context, names=columns.targets, axes=figure
        ),
        names, parts, path,
    )  # fmt: skip

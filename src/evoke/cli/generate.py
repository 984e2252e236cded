"""What ``evoke generate`` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from evoke.cli.columns import Columns, Groups, find, target_values
from evoke.cli.files import check_targets
from evoke.cli.models import load_model
from evoke.cli.pictures import check_drawable, draw_sequences
from evoke.cli.tables import Format, Table, check_format, read_table, some, write_table

__all__ = ["run"]

Array = np.ndarray[Any, Any]


def run(
    model: Path, steps: int, context: Path | None, inputs: Path | None, out: Path | None, plot: Path | None, **form: str
) -> None:
    """Read what there is of a series, run the model on, write what it says."""
    real_out, real_plot = check_targets({"--out": out, "--plot": plot}, inputs=[model, context, inputs])
    check_format(out)
    if real_plot is not None:
        check_drawable(real_plot)
    estimator, columns = load_model(model)
    if not hasattr(estimator, "generate"):
        raise click.UsageError(f"{model} is an {type(estimator).__name__}; --task forecast makes models that generate")
    if bool(columns.features) != (inputs is not None):
        says = f"needs --inputs with {some(columns.features)}" if columns.features else "has no external inputs"
        raise click.UsageError(f"{model} {says}")
    told = None if context is None else _read(context, columns, Format(**form))
    one = told is None or told[1].sequence is None  # series to be continued
    of_inputs = replace(columns, targets=[], sequence=None if one else columns.sequence)
    ahead = None if inputs is None else _read(inputs, of_inputs, Format(**form))
    continued = dict(_continued(told, ahead, columns, steps))
    runs = [estimator.generate(steps, **arguments) for arguments in continued.values()]
    values = np.concatenate(runs).reshape(steps * len(runs), -1)
    found = dict(zip(columns.targets, values.T, strict=True))
    if not one:
        found = {columns.sequence: np.repeat(np.array(list(continued), dtype=object), steps)} | found
    if real_plot is not None:
        pairs = zip(runs, (arguments["context"] for arguments in continued.values()), strict=True)
        _draw(dict(zip(continued, pairs, strict=True)), columns, real_plot)
    write_table(found, real_out)


def _read(path: Path, columns: Columns, form: Format) -> tuple[Table, Columns]:
    """A complete table and its columns; that which tells sequences apart may be missing where there is one sequence."""
    table = read_table(path, form)
    if columns.sequence not in table.columns:
        columns = replace(columns, sequence=None)
    table.check_complete(find(table, columns.names))
    return table, columns


def _parts(read: tuple[Table, Columns], of: str) -> dict[Any, Any]:
    """Targets or features of each sequence, by its name; None where the table is one sequence."""
    table, columns = read
    groups = Groups(table, columns.sequence)
    values = target_values(table, columns) if of == "targets" else table.features(columns.features)
    parts = groups.split(values)
    return {None: parts} if groups.names is None else dict(zip(groups.names, parts, strict=True))


def _continued(
    told: tuple[Table, Columns] | None, ahead: tuple[Table, Columns] | None, columns: Columns, steps: int
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The name of each series to be continued, and what `generate` is to know of it."""
    import pandas as pd

    future = None if ahead is None else _parts(ahead, "features")
    series = {None: None} if told is None else _parts(told, "targets")
    past = _parts(told, "features") if told is not None and columns.features else None
    for name, values in series.items():
        X = None
        if future is not None:
            if name not in future or len(future) != len(series):
                both = [some([*map(repr, names)]) for names in (series, future)]
                raise ValueError(f"{ahead[0].name} must have the sequences {both[0]}; it has {both[1]}")
            X = future[name]
            if len(X) != steps:
                of = "" if name is None else f" of sequence {name!r}"
                raise ValueError(f"{ahead[0].name} must have {steps} rows{of}, one a step to go; it has {len(X)}")
            if past is not None:
                X = pd.concat([past[name], X])
        yield name, {"context": values, "X": X}


def _draw(series: dict[Any, tuple[Array, Array | None]], columns: Columns, path: Path) -> None:
    from evoke.plot import ContinuationDisplay

    draw_sequences(
        lambda figure, generated, context: ContinuationDisplay.from_series(
            generated, context=context, names=columns.targets, axes=figure
        ),
        series, path,
    )  # fmt: skip

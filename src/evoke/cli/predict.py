"""What ``evoke predict`` does."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.base import is_classifier

from evoke.cli.columns import Columns, Groups, find, target_values
from evoke.cli.files import check_targets
from evoke.cli.models import load_model
from evoke.cli.pictures import check_drawable, draw_sequences
from evoke.cli.tables import Format, Table, check_format, read_table, write_table

__all__ = ["run"]


def run(model: Path, data: Path, out: Path | None, decisions: bool, plot: Path | None, **form: str) -> None:
    """Read a model and a table, write what the one says of the other."""
    real_out, real_plot = check_targets({"--out": out, "--plot": plot}, inputs=[model, data])
    check_format(out)
    if real_plot is not None:
        check_drawable(real_plot)
    estimator, columns = load_model(model)
    if decisions and not hasattr(estimator, "decision_function"):
        raise click.UsageError(f"--decisions needs a classifier, {model} is an {type(estimator).__name__}")
    if real_plot is not None and columns.per_sequence:
        raise click.UsageError(f"--plot draws what is predicted over time, {model} predicts one target a sequence")
    table = read_table(data, Format(**form))
    forecaster = hasattr(estimator, "generate")
    needed = replace(columns, targets=columns.targets if forecaster else [])
    table.check_complete(find(table, needed.names))
    groups = Groups(table, columns.sequence)
    features = groups.split(table.features(columns.features)) if columns.features else None
    if forecaster:
        answers = estimator.predict_one_step(groups.split(target_values(table, columns)), features)
    else:
        answers = estimator.predict(features)
    found = dict(zip(columns.targets, _by_column(answers, groups, columns), strict=True))
    found |= {name: found[name] == 1 for name in columns.booleans}
    if decisions:
        values = _by_column(estimator.decision_function(features), groups, columns)
        found |= dict(zip(_names_of_decisions(estimator, columns), values, strict=True))
    if columns.sequence is not None:
        names = groups.names if columns.per_sequence else table.frame[columns.sequence].to_numpy()
        found = {columns.sequence: names} | found
    if real_plot is not None:
        _draw(answers, _known_targets(estimator, table, columns), groups, columns, estimator, real_plot)
    write_table(found, real_out)


def _by_column(answers: Any, groups: Groups, columns: Columns) -> Any:
    """What an estimator says of each target, one value a row of the table or one a sequence."""
    values = np.asarray(answers) if columns.per_sequence else groups.join(answers)
    return values.reshape(len(values), -1).T


def _names_of_decisions(classifier: Any, columns: Columns) -> list[str]:
    if len(columns.targets) > 1:
        said = columns.targets
    else:
        said = classifier.classes_[1:] if len(classifier.classes_) == 2 else classifier.classes_
    return [f"decision {name}" for name in said]


def _known_targets(estimator: Any, table: Table, columns: Columns) -> Any:
    """The targets, if the table has them."""
    if not set(columns.targets) <= set(table.columns):
        return None
    try:
        table.check_complete(columns.targets)
        labels = is_classifier(estimator) and len(columns.targets) == 1
        return table.labels(columns.targets[0]) if labels else target_values(table, columns)
    except ValueError as error:  # they are not needed
        click.echo(f"Note: the targets are not drawn: {error}", err=True)
        return None


def _draw(answers: Any, known: Any, groups: Groups, columns: Columns, estimator: Any, path: Path) -> None:
    from evoke.plot import PredictionDisplay

    classes = estimator.classes_ if is_classifier(estimator) and len(columns.targets) == 1 else None
    parts = [answers] if groups.names is None else answers
    targets = [known] if groups.names is None or known is None else groups.split(known)
    draw_sequences(
        lambda figure, predicted, true: PredictionDisplay.from_predictions(
            predicted, true, names=columns.targets, classes=classes, axes=figure
        ),
        dict(zip([None] if groups.names is None else groups.names, zip_longest(parts, targets), strict=True)), path,
    )  # fmt: skip

"""What ``evoke predict`` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from evoke.cli.columns import Columns, Groups, find, target_values
from evoke.cli.files import check_targets
from evoke.cli.models import load_model
from evoke.cli.tables import Format, check_format, read_table, write_table

__all__ = ["run"]


def run(model: Path, data: Path, out: Path | None, decisions: bool, **form: str) -> None:
    """Read a model and a table, write what the one says of the other."""
    (real_out,) = check_targets({"--out": out}, inputs=[model, data])
    check_format(out)
    estimator, columns = load_model(model)
    if decisions and not hasattr(estimator, "decision_function"):
        raise click.UsageError(f"--decisions needs a classifier, {model} is an {type(estimator).__name__}")
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
    if decisions:
        values = _by_column(estimator.decision_function(features), groups, columns)
        found |= dict(zip(_names_of_decisions(estimator, columns), values, strict=True))
    if columns.sequence is not None:
        names = groups.names if columns.per_sequence else table.frame[columns.sequence].to_numpy()
        found = {columns.sequence: names} | found
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

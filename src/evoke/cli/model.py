"""The model files of ``evoke fit``, which say which columns they read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evoke.cli.roles import Columns

__all__ = ["columns_of", "load_model"]


def columns_of(model: Any) -> tuple[Columns | None, str]:
    """The columns that a model was trained on; where it does not say so, None and the reason.

    `metadata_` is the user's own, who may have put anything there, under any name.
    """
    from evoke._validation.errors import shown

    said = getattr(model, "metadata_", {}).get("columns")
    if not isinstance(said, dict):
        return None, "it does not say which columns it reads"
    try:
        columns = Columns.read(said)
    except (TypeError, ValueError) as error:
        return None, f"what it says of its columns is odd: {error}"
    fitted = model.fitted_
    n_targets = 1 if hasattr(fitted, "classes") and not fitted.multilabel else fitted.n_outputs
    facts = {
        "n_targets": (len(columns.targets), n_targets), "n_features": (len(columns.features), model.n_features_in_),
        "features": (columns.features, list(getattr(model, "feature_names_in_", columns.features))),
        "per_sequence": (columns.per_sequence, getattr(fitted, "per_sequence", False)),
    }  # fmt: skip
    for name, (of_columns, of_model) in facts.items():
        if of_columns != of_model:
            return None, f"its columns have {name} {shown(of_columns)}, the model {shown(of_model)}"
    return columns, ""


def load_model(path: Path, time: str | None) -> tuple[Any, Columns]:
    """A model that ``evoke fit`` has written, and the columns that it was trained on, `time` in place of its own.

    Raises
    ------
    ModelFileError
        Not a model file, or one whose model knows of no columns.
    """
    from evoke.estimators import load
    from evoke.exceptions import ModelFileError

    model = load(path)
    columns, reason = columns_of(model)
    if columns is None:
        raise ModelFileError(f"{path} was not written by 'evoke fit': {reason}")
    if time is None:
        return model, columns
    if time in columns.names and time != columns.time:
        raise click.UsageError(f"{time!r} cannot be --time: the model reads it as something else")
    return model, replace(columns, time=time)

"""The model files of ``evoke fit``, which say which columns they read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evoke.cli.roles import Columns

__all__ = ["load_model"]


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
    try:
        columns = Columns(**model.metadata_["columns"])
        if not columns.targets or len(columns.features) != model.n_features_in_:
            raise TypeError
    except (AttributeError, KeyError, TypeError):
        raise ModelFileError(f"{path} was not written by 'evoke fit': it does not say which columns it reads") from None
    if time is None:
        return model, columns
    if time in columns.names and time != columns.time:
        raise click.UsageError(f"{time!r} cannot be --time: the model reads it as something else")
    return model, replace(columns, time=time)

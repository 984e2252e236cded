"""Files of callbacks: one path for all fits, or one for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from evoke._validation.errors import refusal
from evoke._validation.parameters import check_path, is_sequence, is_splitter
from evoke.estimators.base import settled_parameters
from evoke.evolution.run import Run

__all__ = ["KEY", "MAY_CHANGE", "PathOfFit", "check_path_of_fit", "file_of"]

# What stands in a path for the key of a fit. Other braces are what they are.
KEY = "{key}"

# What a resumed run may have otherwise: none of it changes what a generation gives.
MAY_CHANGE = ("n_generations", "n_jobs", "callbacks", "warm_start", "verbose", "refit", "max_seconds", "max_memory")

_KEY_DIGITS = 16

# A path, or a function of a `Run` that returns one.
PathOfFit = str | os.PathLike[str] | Callable[[Run], str | os.PathLike[str]]


def check_path_of_fit(path: Any, suffixes: tuple[str, ...] = ()) -> None:
    """A path of a file, with one of these suffixes if there are any; a function is asked when a fit begins."""
    if not callable(path) or isinstance(path, type):
        _check_file("path", path, suffixes)


def file_of(path: PathOfFit, run: Run, suffixes: tuple[str, ...] = ()) -> Path:
    """The file of this fit: ``~`` is the home folder, ``{key}`` the key of the fit."""
    if callable(path):
        path = path(run)
        _check_file("path(run)", path, suffixes)
    name = os.path.expanduser(os.fspath(path))
    return Path(name.replace(KEY, key_of(run)) if KEY in name else name)


def key_of(run: Run) -> str:
    """Hexadecimal digits that are equal for fits of which one continues the other.

    They say the class and the parameters, those in `MAY_CHANGE` apart, the data, and the seed where one is given.
    """
    model = run.model()
    parts = {
        name: _plain(value) for name, value in settled_parameters(model, run.problem).items()
        # what splitters give is in the data
        if name not in (*MAY_CHANGE, "random_state") and not is_splitter(value)
    }  # fmt: skip
    seed = None if model.random_state is None else run.esp.state_dict()["entropy"]
    text = repr((type(model).__name__, sorted(parts.items()), run.problem.digest, seed))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_KEY_DIGITS]


def _check_file(name: str, path: Any, suffixes: tuple[str, ...]) -> None:
    check_path(path, name)
    text = os.fspath(path)
    if os.path.basename(text) in ("", ".", ".."):
        raise refusal(name, "be the path of a file, not of a folder", path)
    if suffixes and Path(text).suffix not in suffixes:
        raise refusal(name, f"end in {' or '.join(suffixes)}", path)


def _plain(value: Any) -> Any:
    """A value of which every process makes the same text; numbers that are equal are the same."""
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, Mapping):
        return sorted((repr(_plain(key)), repr(_plain(each))) for key, each in value.items())
    if is_sequence(value):
        return [_plain(each) for each in value]
    try:
        return float(np.asarray(value).item())
    except (TypeError, ValueError):  # no number: its address would be another one tomorrow
        return type(value).__qualname__

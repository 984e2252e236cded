"""Checks of what is to be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evoke._validation.arrays import FloatArray, to_array, to_float
from evoke._validation.errors import ParameterError, refusal

__all__ = ["FloatArray", "check_forecaster", "check_results", "output_names", "to_columns", "to_floats"]


def to_floats(name: str, values: Any, n_dimensions: int) -> FloatArray:
    """Values as a non-empty array of floats.

    Raises
    ------
    TypeError, ValueError
        Something else, named.
    """
    array = to_float(to_array(values, name), name)
    if array.ndim != n_dimensions or array.size == 0:
        raise ValueError(f"{name} must be {n_dimensions}-D and not empty, got shape {array.shape}")
    return array


def to_columns(name: str, values: Any) -> FloatArray:
    """Values of shape (n_steps,) or (n_steps, n_outputs) as an array of the latter shape; errors as in `to_floats`."""
    array = to_array(values, name)
    return to_floats(name, array[:, None] if array.ndim == 1 else array, 2)


def output_names(names: Any, n_outputs: int, alone: str) -> list[str]:
    """A name for each output: those given, or numbers; a single output is called `alone`.

    Raises
    ------
    ValueError
        The number of names differs from that of outputs.
    """
    if names is None:
        return [alone] if n_outputs == 1 else [f"output {k}" for k in range(n_outputs)]
    if len(names) != n_outputs:
        raise ValueError(f"names must be {n_outputs}, one for each output, got {len(names)}")
    return list(names)


def check_forecaster(estimator: Any) -> None:
    """Raise a ParameterError if the estimator cannot generate a series."""
    if not hasattr(estimator, "generate"):
        raise ParameterError(f"estimator must be an EvokeForecaster, got {type(estimator).__name__}")


def check_results(results: Any, task: str) -> list[Mapping[str, Any]]:
    """Results of `evoke.reproduce`, one or several, as a list.

    Raises
    ------
    ParameterError
        Something else.
    ValueError
        Results of another task.
    """
    results = list(results) if np.iterable(results) and not isinstance(results, Mapping) else [results]
    for result in results:
        if not isinstance(result, Mapping):
            raise refusal("results", "be dicts as evoke.reproduce returns them", result)
    found = {result["task"] for result in results}
    if found - {task}:
        raise ValueError(f"results must be of the task {task}, got {sorted(found)}")
    return results

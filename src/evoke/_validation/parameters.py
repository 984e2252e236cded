"""Checks of constructor parameters: each names the parameter and the value that it refuses."""

from __future__ import annotations

import inspect
import os
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence

# The most that is sensible: beyond it memory or time would end first.
MOST = {"n_cells": 10**6, "subpopulation_size": 10**6, "n_trials": 10**6, "n_generations": 10**9}
MOST_SCALE = {"weight_range": 1e100, "mutation_scale": 1e100, "burst_scale": 1e100}

__all__ = [
    "MOST", "MOST_SCALE", "check_callbacks", "check_choice", "check_class_weight", "check_flag", "check_fraction",
    "check_gate_bias", "check_integer", "check_n_jobs", "check_not_negative", "check_path", "check_positive",
    "check_random_state",
]  # fmt: skip


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {value!r}")


def check_integer(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    if value > MOST.get(name, value):
        raise ValueError(f"{name} must be at most {MOST[name]}, got {value!r}")
    return int(value)


def _to_float(value: Any) -> float:
    """The number; NaN if it is none, infinity if it does not fit."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf


def check_flag(name: str, value: Any) -> None:
    """True or False; 0 and 1 are the same, and `verbose` may be any integer."""
    any_integer = name == "verbose"
    if not isinstance(value, (bool, np.bool_, Integral)) or not (any_integer or value in (0, 1)):
        choices = "True, False or an integer" if any_integer else "True or False"
        raise ValueError(f"{name} must be {choices}, got {value!r}")


def check_gate_bias(gate_bias: Any) -> tuple[float, ...]:
    try:
        values = tuple(float(bias) for bias in gate_bias)
    except (TypeError, ValueError, OverflowError):
        values = ()
    if len(values) != 3 or not np.isfinite(values).all():
        raise ValueError(f"gate_bias must be three finite numbers, got {gate_bias!r}")
    return values


def _is_callback(value: Any) -> bool:
    return not isinstance(value, type) and (callable(value) or hasattr(value, "watch"))


def check_callbacks(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    if not np.iterable(callbacks) or not all(map(_is_callback, callbacks)):
        raise ValueError(f"callbacks must be None or a list of functions or of evoke.callbacks, got {callbacks!r}")
    for callback in callbacks:
        if not hasattr(callback, "watch") and not _takes_two(callback):
            raise ValueError(f"callbacks are called with (record, esp), which does not fit {callback!r}")
    return list(callbacks)


def _takes_two(function: Any) -> bool:
    """Whether it can be called with two arguments; those that do not say so are believed to."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(None, None)
    except TypeError:
        return False
    return True


def check_class_weight(value: Any) -> None:
    if isinstance(value, dict):
        for label, weight in value.items():
            if not 0 < _to_float(weight) < np.inf:
                raise ValueError(f"class_weight of class {label!r} must be a positive finite number, got {weight!r}")
    elif value is not None and not (isinstance(value, str) and value == "balanced"):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict of weights, got {value!r}")


def check_not_negative(name: str, value: Any) -> float:
    number = _to_float(value)
    if not 0 <= number < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")
    return number


def check_positive(name: str, value: Any) -> float:
    number = _to_float(value)
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")
    if number > MOST_SCALE.get(name, number):
        raise ValueError(f"{name} must be at most {MOST_SCALE[name]:g}, got {value!r}")
    return number


def check_path(path: Any) -> None:
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ValueError(f"path must be a path, got {path!r}")


def check_fraction(name: str, value: Any) -> float:
    """A part between 0 and 1, or "half"."""
    if isinstance(value, str) and value == "half":
        return 0.5
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < 1:
        raise ValueError(f"{name} must be 'half' or between 0 and 1, got {value!r}")
    return float(value)


def check_random_state(value: Any) -> None:
    if value is not None and not isinstance(value, (SeedSequence, Generator, RandomState)):
        check_integer("random_state", value, 0)


def check_n_jobs(value: Any) -> None:
    if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0, got {value!r}")

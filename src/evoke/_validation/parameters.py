"""Checks of parameters: each raises a `ParameterError` with the name and the value that it refuses.

Where a number is asked for, a bool is none; scalars of NumPy are, arrays of no dimension are not.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence

from evoke._validation.errors import refusal, shown

# The most that is sensible: beyond it memory or time would end first.
MOST = {
    "n_cells": 10**6, "subpopulation_size": 10**6, "population_size": 10**6, "n_trials": 10**6, "n_generations": 10**9,
    "washout": 2**31 - 1, "season": 2**31 - 1,
}  # fmt: skip
MOST_SCALE = {"weight_range": 1e100, "mutation_scale": 1e100, "burst_scale": 1e100, "step_size": 1e100}
# Characters that Windows allows at most, and other systems.
MOST_PATH = 32767 if os.name == "nt" else 4096
# What a C int holds.
INT32_MAX = 2**31 - 1

__all__ = [
    "INT32_MAX", "MOST", "MOST_SCALE", "check_callable", "check_callbacks", "check_choice", "check_class_weight",
    "check_flag", "check_flag_or_auto", "check_fraction", "check_gate_bias", "check_held_out", "check_integer",
    "check_integer_or_none", "check_lags", "check_lags_or_auto", "check_method", "check_n_jobs", "check_not_negative",
    "check_number", "check_path", "check_pool", "check_positive", "check_positive_or_none", "check_positive_or_text",
    "check_random_state", "check_real", "check_scale", "is_equal", "is_sequence", "is_splitter", "is_text",
    "is_unicode", "takes_record", "to_number",
]  # fmt: skip


# ---------------------------------------------------------------------- numbers


def _to_int(value: Any) -> int | None:
    """The integer; None if it is none."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except Exception:  # of a class of somebody else
        return None


def to_number(value: Any) -> float:
    """The number; NaN if it is none, infinity if it does not fit."""
    if type(value) is float:
        return value
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Real)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except Exception:  # of a class of somebody else
        return math.nan


def check_integer(name: str, value: Any, least: int, most: int | None = None, *, other: int | None = None) -> int:
    """An integer from `least` to `most`, or the `other` one that has a meaning of its own; `most` is by default `MOST`.

    The machines check several at each fit: an int is not converted.
    """
    number = value if type(value) is int else _to_int(value)
    if number is None or (number < least and number != other):
        also = "" if other is None else f"{other} or "
        raise refusal(name, f"be {also}an integer of at least {least}", value)
    if most is None:
        most = MOST.get(name)
    if most is not None and number > most:
        raise refusal(name, f"be at most {most}", value)
    return number


def check_number(name: str, value: Any, least: float | None = None, most: float | None = None) -> float:
    """A finite number, from `least` to `most` where these are given."""
    number = value if type(value) is float else to_number(value)
    if not -math.inf < number < math.inf or (least is not None and number < least):
        raise refusal(name, "be a finite number" + ("" if least is None else f" of at least {least:g}"), value)
    if most is not None and number > most:
        raise refusal(name, f"be at most {most:g}", value)
    return number


def check_not_negative(name: str, value: Any) -> float:
    return check_number(name, value, 0)


def check_real(name: str, value: Any) -> float:
    """A number that may also be NaN or infinite."""
    number = to_number(value)
    if not math.isfinite(number) and not isinstance(value, (float, np.floating)):
        raise refusal(name, "be a number", value)
    return number


def check_positive(name: str, value: Any, most: float | None = None) -> float:
    """A positive finite number up to `most`, which is by default `MOST_SCALE`."""
    number = value if type(value) is float else to_number(value)
    if not 0 < number < math.inf:
        raise refusal(name, "be a positive finite number", value)
    if most is None:
        most = MOST_SCALE.get(name)
    if most is not None and number > most:
        raise refusal(name, f"be at most {most:g}", value)
    return number


def check_positive_or_none(name: str, value: Any) -> None:
    if value is not None and not 0 < to_number(value) < math.inf:
        raise refusal(name, "be None or a positive finite number", value)


def is_text(value: Any, text: str) -> bool:
    """Whether the value is this text; an array is not asked, which would answer for each of its elements."""
    return isinstance(value, str) and value == text


def check_positive_or_text(name: str, value: Any, texts: tuple[str, ...]) -> None:
    """A positive finite number, or one of these texts."""
    if not any(is_text(value, text) for text in texts) and not 0 < to_number(value) < math.inf:
        raise refusal(name, f"be {', '.join(map(repr, texts))} or a positive finite number", value)


def check_fraction(name: str, value: Any, *, half: bool = False, rolling: bool = False) -> float:
    """A number between 0 and 1; where `half` is allowed, also the text "half".

    `rolling` is whether the error also names "rolling", which is checked elsewhere.
    """
    if half and is_text(value, "half"):
        return 0.5
    number = to_number(value)
    if not 0 < number < 1:
        also = ("'rolling', " if rolling else "") + ("'half' or " if half else "")
        raise refusal(name, f"be {also}a number between 0 and 1", value)
    return number


def is_splitter(value: Any) -> bool:
    """Whether the value divides data as the splitters of scikit-learn do."""
    methods = (getattr(value, name, None) for name in ("split", "get_n_splits"))
    return not isinstance(value, type) and all(map(callable, methods))


def check_held_out(name: str, value: Any) -> None:
    """What is held out of sequences: a part of them, each in turn, or the splits of a splitter."""
    if any(is_text(value, text) for text in ("half", "stratified", "loo")) or is_splitter(value):
        return
    if not 0 < to_number(value) < 1:
        demand = "be 'half', 'stratified', 'loo', a number between 0 and 1 or a splitter such as KFold(5)"
        raise refusal(name, demand, value)


def check_integer_or_none(name: str, value: Any, least: int, most: int) -> None:
    """None, or an integer from `least` to `most`."""
    if value is None:
        return
    number = _to_int(value)
    if number is None or not least <= number <= most:
        raise refusal(name, f"be None or an integer from {least} to {most}", value)


def _to_lags(values: Collection[Any]) -> tuple[int, ...] | None:
    """Numbers of steps; None if one of them is none."""
    lags = tuple(lag for value in values if (lag := _to_int(value)) is not None and 1 <= lag <= INT32_MAX)
    return lags if len(lags) == len(values) else None


def check_lags_or_auto(name: str, value: Any) -> None:
    """A tuple or list of steps back, empty for none, or "auto"."""
    if is_text(value, "auto"):
        return
    if not isinstance(value, (tuple, list)) or _to_lags(value) is None:
        raise refusal(name, "be 'auto' or a tuple of integers of at least 1", value)


def check_gate_bias(gate_bias: Any) -> tuple[float, ...]:
    values = tuple(map(to_number, gate_bias)) if is_sequence(gate_bias) else ()
    if len(values) != 3 or not all(map(math.isfinite, values)):
        raise refusal("gate_bias", "be three finite numbers", gate_bias)
    return values


def check_n_jobs(value: Any, *, optional: bool = True) -> None:
    if not (optional and value is None) and not _to_int(value):
        raise refusal("n_jobs", f"be {'None or ' if optional else ''}an integer other than 0", value)


def check_random_state(value: Any) -> None:
    if value is not None and not isinstance(value, (SeedSequence, Generator, RandomState)):
        check_integer("random_state", value, 0)


# ---------------------------------------------------------------------- names and flags


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise refusal(name, f"be one of {choices}", value)


def check_flag(name: str, value: Any) -> None:
    """True or False; 0 and 1 are the same, and `verbose` may be any integer."""
    if value is True or value is False:
        return
    any_integer = name == "verbose"
    if not isinstance(value, (bool, np.bool_, Integral)) or not (any_integer or value in (0, 1)):
        raise refusal(name, "be True, False or an integer" if any_integer else "be True or False", value)


def check_flag_or_auto(name: str, value: Any) -> None:
    """True, False or "auto"."""
    if not is_text(value, "auto") and value is not True and value is not False:
        raise refusal(name, "be 'auto', True or False", value)


def check_pool(pool: Any, statistics: Iterable[str]) -> tuple[str, ...]:
    """Names of statistics, each once; "last" alone may be a text."""
    known = tuple(statistics)
    names = (pool,) if is_text(pool, "last") else tuple(pool) if is_sequence(pool) else ()
    if not names or not all(isinstance(name, str) and name in known for name in names) or len({*names}) < len(names):
        raise refusal("pool", f"be 'last' or a tuple of some of {known}, each once", pool)
    return names


def check_scale(scale: Any) -> None:
    """Whether columns are scaled; "auto" has been settled before."""
    if scale is not None and not is_text(scale, "standard"):
        raise refusal("scale", "be 'auto', 'standard' or None", scale)


def check_lags(name: str, lags: Any) -> tuple[int, ...]:
    """Numbers of steps, each once; False stands for none, True for 1."""
    if isinstance(lags, (bool, np.bool_)):
        return (1,) if lags else ()
    numbers = _to_lags(lags) if is_sequence(lags) else None
    if numbers is None or len({*numbers}) < len(numbers):
        raise refusal(name, "be True, False or a sequence of integers of at least 1, each once", lags)
    return numbers


def check_path(path: Any, argument: str = "path") -> None:
    """A path by name; a number would be taken for an open file, 0 for stdin."""
    try:
        name = os.fspath(path)
        os.fsencode(name)  # half a pair of surrogates has no bytes
    except Exception:  # of a class of somebody else
        name = ""
    if not isinstance(name, str) or not name:
        raise refusal(argument, "be a path", path)
    if "\0" in name:
        raise refusal(argument, "be a path without NUL characters", path)
    if len(name) > MOST_PATH:  # the error of the system would repeat it
        raise refusal(argument, f"be a path of at most {MOST_PATH} characters", path)


def is_equal(one: Any, other: Any) -> bool:
    """Whether two parameters are the same: numbers, texts, None, or arrays of them."""
    try:
        return np.array_equal(one, other)
    except AttributeError:  # NumPy 2.0 compares text with numbers, and None, to something that is no array
        return False


def is_unicode(text: str) -> bool:
    """Whether a text can be written: one with half a pair of surrogates has no bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# ---------------------------------------------------------------------- containers


def is_sequence(value: Any) -> bool:
    """Whether the value has elements in an order: a list or an array, but no text, mapping, set or array of no axis."""
    return hasattr(value, "__len__") and np.iterable(value) and not isinstance(value, (str, bytes, Mapping, Set))


def check_class_weight(value: Any) -> None:
    if isinstance(value, dict):
        for label, weight in value.items():
            check_positive(f"class_weight of class {shown(label)}", weight)
    elif value is not None and not (isinstance(value, str) and value == "balanced"):
        raise refusal("class_weight", "be None, 'balanced' or a dict of weights", value)


# ---------------------------------------------------------------------- what is called


def check_callable(name: str, value: Any) -> None:
    """Something to be called, or None."""
    if value is not None and not callable(value):
        raise refusal(name, "be None or a callable", value)


def check_method(name: str, value: Any, method: str) -> None:
    if not callable(getattr(value, method, None)):
        raise refusal(name, f"have the method {method}", value)


def _is_callback(value: Any) -> bool:
    return not isinstance(value, type) and (callable(value) or hasattr(value, "watch"))


def check_callbacks(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    # an iterator could be read only once
    several = np.iterable(callbacks) and not isinstance(callbacks, (str, bytes, Mapping, Iterator))
    if not several or not all(map(_is_callback, callbacks)):
        raise refusal("callbacks", "be None or a list of functions or of evoke.callbacks", callbacks)
    for i, callback in enumerate(callbacks):
        for method in ("watch", "restore"):
            if hasattr(callback, method):
                check_method(f"callbacks[{i}]", callback, method)
        if not hasattr(callback, "watch") and not takes_record(callback):
            raise refusal(f"callbacks[{i}]", "take the arguments (record, esp)", callback)
    return list(callbacks)


def takes_record(function: Any) -> bool:
    """Whether it can be called with the two arguments of a callback; a callable that does not say so is believed to."""
    if not callable(function):
        return False
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(None, None)
    except TypeError:
        return False
    return True

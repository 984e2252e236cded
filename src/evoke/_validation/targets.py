"""Checks of what is to be learned: labels, values and weights.

`where` says in words which of them is the first odd one, and at which place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray, holds_text, missing, rounded, to_float
from evoke._validation.errors import shown

__all__ = ["Where", "check_labels_to_score", "check_weights", "distinct_labels", "place_in_rows", "real_values"]

Where = Callable[[NDArray[np.bool_]], str]
Place = Callable[[tuple[int, ...]], str]


def _row(index: tuple[int, ...]) -> str:
    return f"row {index[0]}"


def place_in_rows(values: NDArray[Any], name: str) -> Where:
    """For values that have one place, a row, each."""

    def where(odd: NDArray[np.bool_]) -> str:
        k = int(np.argmax(odd))
        return f"{name} is {values[k]} at row {k}"

    return where


def distinct_labels(labels: NDArray[Any], name: str, where: Where) -> NDArray[Any]:
    """The classes among labels (n,), in order; at least two."""
    kind = labels.dtype.kind
    if kind not in "biufUSTO":
        raise ValueError(f"{name} holds labels of dtype {labels.dtype}; they must be numbers, strings or booleans")
    odd = missing(labels)
    if kind in "TO" and odd.any():
        raise ValueError(f"{name} has missing labels: {where(odd)}")
    try:
        classes = np.unique(labels)
    except TypeError as error:
        raise ValueError(f"{name} mixes labels that have no order: {error}") from None
    if kind == "f":
        odd |= np.isinf(labels)
    if odd.any():
        raise ValueError(f"{name} contains NaN or infinity: {where(odd)}")
    _check_not_rounded(labels, name, where)
    if kind == "O" and not (classes[:-1] < classes[1:]).all():
        raise ValueError(f"{name} has labels that have no order, such as {shown(labels[0])}")
    if kind == "f" and (classes % 1 != 0).any() and len(classes) > max(2, len(labels) // 2):
        raise ValueError(
            f"Unknown label type: continuous. {name} holds fractions that hardly repeat, which is a regression target"
        )
    if len(classes) < 2:
        raise ValueError(f"{name} has 1 class, {shown(classes.tolist()[0])}; at least two are needed")
    return classes


def _check_not_rounded(labels: NDArray[Any], name: str, where: Where) -> None:
    """Refuse floats among which labels that differ may have become one."""
    if labels.dtype.kind == "f" and (odd := rounded(labels)).any():
        raise ValueError(
            f"{name} has labels of dtype {labels.dtype}, which cannot tell whole numbers of this size apart: "
            f"{where(odd)}; give integers or text"
        )


def check_labels_to_score(labels: NDArray[Any], classes: NDArray[Any], where: Where) -> None:
    """Refuse labels that are missing, or of another kind than the classes: all would count as wrong."""
    odd = missing(labels)
    odd = odd if odd.ndim == 1 else np.asarray(odd.any(axis=1))
    if odd.any():
        raise ValueError(f"y contains NaN: {where(odd)}")
    if labels.ndim == 1:
        _check_not_rounded(labels, "y", where)
    if object not in (labels.dtype, classes.dtype) and holds_text(labels) != holds_text(classes):
        raise ValueError(f"y has labels of dtype {labels.dtype}, but the model has classes of dtype {classes.dtype}")


def real_values(values: NDArray[Any], name: str, where: Where, place: Place = _row) -> FloatArray:
    """The values, (n,) or (n, n_outputs), as finite numbers; `place` says where one is that is no number."""
    numbers = to_float(values, name, place)
    odd: NDArray[np.bool_] = ~np.isfinite(numbers)
    odd = odd if odd.ndim == 1 else np.asarray(odd.any(axis=1))
    if odd.any():
        raise ValueError(f"{name} contains NaN or infinity: {where(odd)}")
    return numbers


def check_weights(weights: NDArray[Any], name: str, of: str, where: Where, place: Place = _row) -> FloatArray:
    """Weights (n,) of the rows of what is called `of`: finite, not negative and not all zero."""
    numbers = to_float(weights, name, place)
    odd = ~(np.isfinite(numbers) & (numbers >= 0.0))
    if odd.any():
        raise ValueError(f"{name} must be finite and not negative: {where(odd)}")
    if not numbers.any():
        raise ValueError(f"{name} is zero for all of {of}")
    return numbers

"""Checks of what a file brings back."""

from __future__ import annotations

from typing import Any

import numpy as np

from evoke._validation.arrays import check_shape, not_finite
from evoke._validation.errors import refusal

__all__ = ["check_feature_names", "check_flags", "check_labels", "check_values"]


def check_values(name: str, array: Any, shape: tuple[int | None, ...]) -> None:
    """Finite float64; None stands for any length."""
    if not (isinstance(array, np.ndarray) and array.dtype == np.float64):
        raise refusal(name, "be an array of float64", array)
    check_shape(array, name, shape)
    if not np.isfinite(array).all():
        raise not_finite(array, name)


def check_labels(classes: Any, n: int | None = None) -> None:
    """Labels of `n` classes, or of at least two."""
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1):
        raise refusal("classes_", "be an array of labels", classes)
    if len(classes) != n if n is not None else len(classes) < 2:
        raise ValueError(f"classes_ must have {n if n is not None else 'at least two'} labels, got {len(classes)}")


def check_feature_names(names: Any, n: int) -> None:
    """Names of `n` features."""
    if not (isinstance(names, np.ndarray) and names.ndim == 1 and all(isinstance(name, str) for name in names)):
        raise refusal("feature_names_in_", "be an array of text", names)
    if len(names) != n:
        raise ValueError(f"feature_names_in_ must have {n} names, got {len(names)}")


def check_flags(**flags: Any) -> None:
    for name, value in flags.items():
        if type(value) is not bool:
            raise refusal(name, "be True or False", value)

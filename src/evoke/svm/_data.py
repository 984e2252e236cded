"""What a user brings to a kernel machine -> rows, labels and values that it can compute with."""

from __future__ import annotations

import math
import warnings

import numpy as np
from sklearn.exceptions import DataConversionWarning

from evoke._validation.arrays import (
    check_dimensions,
    check_not_empty,
    shape_of,
    to_array,
    to_finite_rows,
    to_targets,
)
from evoke._validation.targets import distinct_labels, place_in_rows, real_values

__all__ = ["encode", "read_array", "read_labels", "read_rows", "read_values", "rows_of"]

_FLOAT64 = np.dtype(np.float64)


def _is_clean(array, ndim):
    """Whether there is nothing to check or convert: what follows takes longer than training a small machine.

    A sum of squares that is finite is a sum of finite values; where it overflows, all are looked at one by one.
    """
    return (
        type(array) is np.ndarray
        and array.dtype == _FLOAT64
        and array.ndim == ndim
        and array.size > 0
        and array.flags.c_contiguous
        and math.isfinite(np.vdot(array, array))
    )


def read_rows(X):
    """X as C-ordered rows of finite numbers, at least one, of at least one column."""
    if _is_clean(X, 2):
        return X
    return np.ascontiguousarray(to_finite_rows(read_array(X), "X", X, ("row", "column")))


def read_array(X):
    """X as an array (n, n_columns) of whatever it holds, which `rows_of` looks at; what lies on a disk stays there."""
    array = to_array(X, "X")
    if array.ndim != 2:
        raise ValueError(
            f"X must be a 2-D array, got {shape_of(array, X)}. "
            "Reshape your data: a single feature is reshape(-1, 1), one row is reshape(1, -1)"
        )
    check_not_empty(array, "X")
    if array.dtype.kind not in "biufO":
        to_finite_rows(array, "X", X, ("row", "column"))
    return array


def rows_of(array, X, numbers):
    """The rows of these numbers, a range or an array of them, of X and its `array`: C-ordered and finite."""
    part = array[numbers.start : numbers.stop] if isinstance(numbers, range) else array[numbers]
    if _is_clean(part, 2):
        return part
    return np.ascontiguousarray(to_finite_rows(part, "X", X, ("row", "column"), numbers))


def _targets(y, n_rows):
    """y as an array of one target, or one row of targets, for each of the rows of X."""
    if y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")
    targets = y if type(y) is np.ndarray and y.dtype != object else to_targets(y, "y")
    if targets.ndim not in (1, 2) or len(targets) != n_rows:
        raise ValueError(f"y has shape {targets.shape}, but X has {n_rows} rows; each needs a target")
    return targets


def read_labels(y, n_rows):
    """Labels (n_rows,)."""
    labels = _targets(y, n_rows)
    if labels.ndim == 1:
        return labels
    if labels.shape[1] != 1:
        check_dimensions(labels, "y", (1,))
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; y.ravel() is one.",
        DataConversionWarning,
        stacklevel=3,
    )
    return labels[:, 0]


def read_values(y, n_rows):
    """Finite values (n_rows,) or (n_rows, n_outputs)."""
    values = _targets(y, n_rows)
    if _is_clean(values, values.ndim):
        return values
    if values.shape[1:] == (0,):
        raise ValueError("y has no columns: at least one target a row is needed")
    return real_values(values, "y", place_in_rows(values, "y"))


def encode(labels):
    """Sorted classes, the class number of every label and the size of every class."""
    if labels.dtype.kind in "biuU":
        # Two classes are found without sorting, in a tenth of the time.
        one = labels[0]
        is_one = labels == one
        other = labels[is_one.argmin()]
        is_other = labels == other
        n_one, n_other = np.count_nonzero(is_one), np.count_nonzero(is_other)
        if n_one + n_other == len(labels):
            if one < other:
                return np.array([one, other], dtype=labels.dtype), is_other.view(np.int8), [n_one, n_other]
            return np.array([other, one], dtype=labels.dtype), is_one.view(np.int8), [n_other, n_one]
    classes = distinct_labels(labels, "y", place_in_rows(labels, "y"))
    codes = np.searchsorted(classes, labels)
    return classes, codes, np.bincount(codes).tolist()

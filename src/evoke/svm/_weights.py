"""Weights of rows and classes, by which C is multiplied."""

from __future__ import annotations

import math
import sys

import numpy as np
from sklearn.utils import check_array, compute_class_weight

from evoke._validation.arrays import check_shape, to_array, to_float
from evoke._validation.parameters import check_class_weight

__all__ = ["check_weights", "class_weights", "weighted_C"]


def check_weights(sample_weight, n, codes=None, classes=()):
    """Weights of shape (n,), finite, not negative and not all zero, nor all of a class."""
    weights = to_float(to_array(sample_weight, "sample_weight"), "sample_weight")
    check_shape(weights, "sample_weight", (n,))
    weights = check_array(weights, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weights.min() < 0.0:
        raise ValueError(f"sample_weight holds {weights.min()}, weights must not be negative")
    for k, label in enumerate(classes):
        if not weights[codes == k].any():
            raise ValueError(f"sample_weight is zero for all rows of class {label!r}: it cannot be learned")
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows of X: there is nothing to learn from")
    return weights


def weighted_C(C, *weights):
    """C times the weights of classes and rows, positive and finite."""
    with np.errstate(over="ignore", under="ignore"):
        bound = np.asarray(math.prod(weights, start=float(C)))
    if not (np.isfinite(bound).all() and bound.min() >= sys.float_info.min):
        raise ValueError(f"C={C} times class_weight and sample_weight is out of the range of float64")
    return bound


def class_weights(class_weight, classes, y):
    """Factor of C for each class, positive and finite."""
    check_class_weight(class_weight)
    try:
        return compute_class_weight(class_weight, classes=classes, y=y)
    except ValueError as error:
        known = classes.tolist()
        unknown = [label for label in class_weight if label not in known] if isinstance(class_weight, dict) else []
        if not unknown:
            raise
        raise ValueError(f"class_weight has {unknown[0]!r}, which is none of the classes: {error}") from None

"""Weights of rows and classes, by which C is multiplied."""

from __future__ import annotations

import math
import sys

import numpy as np
from sklearn.utils import compute_class_weight

from evoke._validation.arrays import to_array
from evoke._validation.errors import shown
from evoke._validation.parameters import check_class_weight
from evoke._validation.targets import check_weights, place_in_rows

__all__ = ["class_weights", "read_weights", "weighted_C"]


def read_weights(sample_weight, n, codes=None, classes=()):
    """Weights of shape (n,), finite, not negative and not all zero, nor all of a class."""
    given = to_array(sample_weight, "sample_weight")
    if given.shape != (n,):
        raise ValueError(f"sample_weight has shape {given.shape}, but X has {n} rows; each needs a weight")
    weights = check_weights(given, "sample_weight", "X", place_in_rows(given, "sample_weight"))
    for k in range(len(classes)):
        if not weights[codes == k].any():
            label = shown(classes.tolist()[k])
            raise ValueError(f"sample_weight is zero for all rows of class {label}: it cannot be learned")
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
    if class_weight is None:
        return np.ones(len(classes))
    try:
        return compute_class_weight(class_weight, classes=classes, y=y)
    except ValueError:
        known = classes.tolist()
        unknown = [label for label in class_weight if label not in known] if isinstance(class_weight, dict) else []
        if not unknown:
            raise
        raise ValueError(f"class_weight has {shown(unknown[0])}, which is none of the classes {shown(known)}") from None

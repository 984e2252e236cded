"""Targets as the core wants them: labels as +-1, values as they are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation import targets
from evoke._validation.arrays import FloatArray, to_array
from evoke._validation.targets import distinct_labels
from evoke.sequences.containers import Sequences, Targets, as_targets
from evoke.sequences.index import check_pairs
from evoke.svm._weights import class_weights

__all__ = ["Labels", "encode_values", "real_values", "where", "with_weights"]


class Labels:
    """The classes of y, and labels as targets of +-1.

    Attributes
    ----------
    multilabel : bool
        Whether y has several columns of 0 and 1.
    classes : ndarray of shape (n_classes,)
        The labels in order; the numbers of the columns where there are several.
    """

    def __init__(self, y: Targets, X: Sequences):
        self.multilabel = y.values.ndim == 2
        if self.multilabel:
            self.classes = np.arange(y.values.shape[1])
        else:
            self.classes = distinct_labels(y.values, "y", partial(where, y, X))

    def encode(self, y: Targets, X: Sequences, name: str = "y") -> FloatArray:
        """Targets (n_rows, n_outputs) of +-1; a label a sequence holds for all its rows."""
        if self.multilabel:
            if y.values.dtype.kind not in "biuf":
                raise ValueError(f"{name} with several columns must hold only 0 and 1, got dtype {y.values.dtype}")
            odd = ((y.values != 0) & (y.values != 1)).any(axis=1)
            if odd.any():
                raise ValueError(f"{name} with several columns must hold only 0 and 1: {where(y, X, odd, name)}")
            signs = np.where(y.values == 1, 1.0, -1.0)
            return np.repeat(signs, X.lengths, axis=0) if y.per_sequence else signs
        index = self._index(y, name)
        index = np.repeat(index, X.lengths) if y.per_sequence else index
        if len(self.classes) == 2:
            return np.where(index == 1, 1.0, -1.0)[:, None]
        return np.where(index[:, None] == np.arange(len(self.classes)), 1.0, -1.0)

    def _index(self, y: Targets, name: str) -> NDArray[np.intp]:
        """The number of the class of every label."""
        classes, values = self.classes, y.values
        if {classes.dtype.kind, values.dtype.kind} in ({"i", "u"}, {"i", "f"}, {"u", "f"}):
            classes, values = classes.astype(object), values.astype(object)  # together they would be floats
        try:
            index = np.searchsorted(classes, values)
        except TypeError as error:
            raise ValueError(f"{name} has labels of another kind than y: {error}") from None
        index[index == len(self.classes)] = 0
        unknown = classes[index] != values
        if unknown.any():
            raise ValueError(f"{name} has labels that y does not have: {np.unique(y.values[unknown])[:5]}")
        return index

    def among(self, targets: FloatArray) -> NDArray[np.bool_]:
        """Which of the classes (n_classes,) are among encoded targets (n, n_outputs), n > 0."""
        if targets.shape[1] < len(self.classes):
            targets = np.column_stack([-targets, targets])
        return targets.max(axis=0) > 0

    def weigh(self, class_weight: Any, y: Targets, *others: Targets, counted: Any = slice(None)) -> list[Targets]:
        """Targets y and others with their weights times those of their classes.

        "balanced" gives the classes the same sum of weights among the `counted` targets of y, and 1 as the mean.
        """
        if class_weight is None:
            return [y, *others]
        if self.multilabel:
            raise ValueError("class_weight needs one label a step; with several outputs pass sample_weight to fit")
        index = self._index(y, "y")
        if isinstance(class_weight, str):
            weights = np.ones(len(index)) if y.weights is None else y.weights
            sums = np.bincount(index[counted], weights[counted], len(self.classes))
            # a class that is not counted is not trained on either
            factors = np.divide(sums.sum(), len(sums) * sums, out=np.ones(len(sums)), where=sums > 0)
        else:
            factors = class_weights(class_weight, self.classes, y.values)
        return [
            replace(part, weights=factors[part_index] if part.weights is None else part.weights * factors[part_index])
            for part, part_index in [(y, index), *((other, self._index(other, "y_val")) for other in others)]
        ]


def where(y: Targets, X: Sequences, chosen: NDArray[np.bool_], name: str = "y") -> str:
    """The first of the chosen targets and where the user finds it."""
    k = int(np.argmax(chosen))
    sequence, step = _where(y, X, k, name)
    return f"{sequence} is {y.values[k]}{f' at {step}' if step else ''}"


def _where(y: Targets, X: Sequences, k: int, name: str) -> tuple[str, str]:
    """Where the user finds target k: in which sequence, and at which step unless it is that of a whole sequence."""
    if y.per_sequence:
        return f"{name}[{k}]", ""
    if X.container in ("2d", "lengths"):
        return name, f"step {k}"
    i = int(np.searchsorted(X.offsets, k, side="right")) - 1
    return f"{name}[{i}]", f"step {k - X.offsets[i]}"


def _place(y: Targets, X: Sequences, name: str, index: tuple[int, ...]) -> str:
    """Where a target is that is no number."""
    sequence, step = _where(y, X, index[0], name)
    return ", ".join(part for part in (sequence if sequence != name else "", step) if part)


def encode_values(y: Targets, X: Sequences, name: str = "y") -> FloatArray:
    """Values (n_rows, n_outputs) to be met; one a sequence holds for all its rows."""
    values = real_values(y, X, name)
    values = values.reshape(len(values), -1)
    return np.repeat(values, X.lengths, axis=0) if y.per_sequence else values


def real_values(y: Targets, X: Sequences, name: str = "y") -> FloatArray:
    """The targets as finite numbers."""
    return targets.real_values(y.values, name, partial(where, y, X, name=name), partial(_place, y, X, name))


def with_weights(
    y: Targets, sample_weight: Any, X: Sequences, name: str = "sample_weight", *, of: str = "X"
) -> Targets:
    """Targets y with a weight each, given with the structure of y, or for targets of steps also one a sequence.

    Parameters
    ----------
    name, of : str
        What errors call the weights and the sequences.

    Raises
    ------
    ValueError
        Another structure than y, weights that are negative, not finite, or all zero.
    """
    if sample_weight is None:
        return y
    if X.container == "lengths" and to_array(sample_weight, name).shape == (X.n_sequences,) != (len(X.rows),):
        given = Targets(to_array(sample_weight, name), True)
    else:
        given = as_targets(sample_weight, X, name=name, of=of, what="weight")
    if given.per_sequence == y.per_sequence:
        check_pairs(given.index, name, y.index, "y", X.container == "list" and not y.per_sequence)
    if given.values.ndim != 1:
        raise ValueError(f"{name} has {given.values.shape[1]} columns, but a step has one weight for all its outputs")
    if y.per_sequence and not given.per_sequence:
        raise ValueError(f"{name} has one weight a step, but y has one target a sequence")
    weights = targets.check_weights(
        given.values, name, of, partial(where, given, X, name=name), partial(_place, given, X, name)
    )
    return replace(y, weights=np.repeat(weights, X.lengths) if given.per_sequence and not y.per_sequence else weights)

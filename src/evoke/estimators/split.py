"""Which rows readouts are trained on and which are held out to judge networks by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke._validation.parameters import check_fraction, is_splitter, is_text
from evoke.engine import entropy_of
from evoke.estimators.pooling import check_lengths
from evoke.estimators.splitters import splits_of, splits_of_sequences
from evoke.estimators.targets import with_weights
from evoke.evolution.problem import Points, merge_points
from evoke.sequences.containers import Sequences, Targets
from evoke.sequences.prefixes import Segments
from evoke.sequences.series import Series, as_external, as_series, inputs_of

__all__ = [
    "Data", "Encode", "Split", "check_with_y_val", "divide", "held_out_series", "rows_after_washout",
]  # fmt: skip

Rows = NDArray[np.int64]

# The spawn key of the stream of random numbers by which sequences are shuffled; those of the evolution are longer.
_SHUFFLE = (0,)

# The core's targets (n_rows, n_outputs) from the user's: (targets, sequences, name)
Encode = Callable[[Targets, Sequences, str], FloatArray]


@dataclass(frozen=True)
class Data:
    """Sequences with their targets."""

    X: Sequences
    y: Targets


@dataclass(frozen=True)
class Split:
    """Data divided into the part that readouts are trained on and the part that networks are judged by.

    Attributes
    ----------
    X : Sequences
        All of them, those held out by the user last.
    targets : ndarray of shape (n_rows, n_outputs)
        +1 and -1, or values.
    weights : ndarray of shape (n_rows,)
    train, validation : int64 ndarray
        Rows of X to train readouts on, and rows held out.
    final : int64 ndarray
        Rows that the readout of the best network is trained on at the end: `train`, of several splits all that is in
        the training part of one, or with ``refit=True`` all.
    """

    X: Sequences
    targets: FloatArray
    weights: FloatArray
    train: Rows
    validation: Rows
    final: Rows

    def points(self, segments: Segments, rows: Rows) -> Points:
        """Some of the rows as points, equal ones merged."""
        return merge_points(segments.row_of[rows], self.targets[rows], self.weights[rows])


def divide(
    data: Data,
    held_out: Data | None,
    encode: Encode,
    *,
    washout: int,
    validation: Any,
    random_state: Any = None,
    labels: bool = False,
    groups: NDArray[Any] | None = None,
    refit: bool = False,
    name: str = "X",
) -> list[Split]:
    """Divide data into a training and a validation part, or by a splitter in several ways.

    Parameters
    ----------
    data : Data
    held_out : Data or None
        What the user holds out. None: a part of `data`, by whole sequences, or by steps where there is only one.
    encode : callable
        Makes targets for the core.
    washout : int
        Steps at the beginning of each sequence that have no part in it.
    validation : "half", float, "stratified" or splitter
        The part of `data` that is held out where `held_out` is None.
    random_state : int, SeedSequence, Generator, RandomState or None
        That by which "stratified" shuffles; None is 0, so that a run that is continued has the same part.
    labels : bool
        Whether the targets are classes.
    groups : ndarray, optional
        Of the sequences, or the rows of a single one, for a splitter.
    refit : bool
        Whether the readout is trained on `data` as a whole at the end.
    name : str
        What errors call the sequences.

    Raises
    ------
    ValueError
        A sequence no longer than the washout, targets that `encode` refuses, too little to hold out a part of, weights
        that are zero for a whole part.
    """
    X, y = data.X, data.y
    rows = target_rows(X, y, washout, name)
    targets, weights = encode(y, X, "y"), y.weights_of_rows(X)
    if held_out is None:
        if is_splitter(validation):
            parts = _by_splitter(X, y, rows, weights, validation, groups)
        elif is_text(validation, "stratified"):
            parts = [_shuffled(X, y, rows, targets if labels else None, weights, random_state)]
        else:
            parts = [_by_order(X, rows, validation)]
        if any(len(part) == 0 for part in parts[0]):
            raise ValueError(
                f"{name} has {X.n_sequences} sequence(s) with n_samples={len(rows)} steps after the washout: too few "
                f"to hold out validation={validation!r}; pass {'X_val and ' if name == 'X' else ''}y_val"
            )
    else:
        X_val, y_val = held_out.X, held_out.y
        parts = [(rows, len(X.rows) + target_rows(X_val, y_val, washout, f"{name}_val"))]
        targets = np.concatenate([targets, encode(y_val, X_val, "y_val")])
        weights = np.concatenate([weights, y_val.weights_of_rows(X_val)])
        offsets = np.concatenate([X.offsets, len(X.rows) + X_val.offsets[1:]])
        X = Sequences(np.concatenate([X.rows, X_val.rows]), offsets, "list")
    for pair in parts:
        for part, of in zip(pair, ("trained on", "held out for validation"), strict=True):
            if not weights[part].any():
                raise ValueError(f"sample_weight is zero for all that is {of}")
    # rows without weight are left out, but not from the validation, where a free run needs them in their place
    parts = [(train[weights[train] > 0], validated) for train, validated in parts]
    final = parts[0][0] if len(parts) == 1 else np.unique(np.concatenate([train for train, _ in parts]))
    if refit and held_out is None:
        final = rows[weights[rows] > 0]
    return [Split(X, targets, weights, train, validated, final) for train, validated in parts]


def held_out_series(
    y_val: Any, X_val: Any, weights: Any, series: Series, n_features: int, feedback_scale: float
) -> Data | None:
    """What the user holds out beside series: networks read the values before, times `feedback_scale`; None: nothing."""
    check_with_y_val(y_val, X_val, weights)
    if y_val is None:
        return None
    held_out = as_series(y_val, "y_val")
    y = held_out.sequences
    if held_out.flat != series.flat or y.rows.shape[1] != series.sequences.rows.shape[1]:
        raise ValueError("y_val must be of the same kind as y: as many dimensions and outputs")
    if None not in (held_out.columns, series.columns) and held_out.columns != series.columns:
        raise ValueError(f"y_val has columns {list(held_out.columns)}, y has {list(series.columns)}")
    external = as_external(X_val, y.lengths, y.container == "list", n_features, "X_val", "y_val", y.index)
    targets = with_weights(Targets(y.rows, False), weights, y, "sample_weight_val", of="y_val")
    return Data(inputs_of(y, external, feedback_scale), targets)


def check_with_y_val(y_val: Any, X_val: Any, weights: Any) -> None:
    """That nothing is held out beside a `y_val` that is missing."""
    for name, value in (("X_val", X_val), ("sample_weight_val", weights)):
        if y_val is None and value is not None:
            raise ValueError(f"{name} goes with y_val, which is missing")


def _by_order(X: Sequences, rows: Rows, validation: Any) -> tuple[Rows, Rows]:
    """The first and the last part: whole sequences, or steps where there is only one sequence."""
    if X.n_sequences > 1:
        first = X.offsets[n_trained_on(X.n_sequences, validation)]
        return rows[rows < first], rows[rows >= first]
    train, validated = np.split(rows, [n_trained_on(len(rows), validation)])
    return train, validated


def _shuffled(
    X: Sequences, y: Targets, rows: Rows, targets: FloatArray | None, weights: FloatArray, random_state: Any
) -> tuple[Rows, Rows]:
    """Two random halves, of each class where what is divided has one: of the sequences, or the steps of a single one.

    What has no weight is in neither half.
    """
    part = part_of_rows(X, rows)
    counted = np.flatnonzero(np.bincount(part, weights[rows]) > 0)
    if len(counted) < 2 and len(rows) > 1:
        what = "sequences" if X.n_sequences > 1 else "steps"
        raise ValueError(f"sample_weight is zero for all but {len(counted)} of the {what}: 'stratified' takes two")
    classes = np.zeros(len(counted), dtype=np.int64)
    if targets is not None and (y.per_sequence or X.n_sequences == 1):
        classes = np.unique(targets[rows][counted], axis=0, return_inverse=True)[1].reshape(-1)
    entropy = 0 if random_state is None else entropy_of(random_state)
    generator = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=_SHUFFLE))
    held = half_of_each(classes, generator)
    return rows[np.isin(part, counted[~held])], rows[np.isin(part, counted[held])]


def _by_splitter(
    X: Sequences, y: Targets, rows: Rows, weights: FloatArray, splitter: Any, groups: NDArray[Any] | None
) -> list[tuple[Rows, Rows]]:
    """Its splits of the sequences, or of the steps of a single one. What has no weight has no part."""
    part = part_of_rows(X, rows)
    counted = np.flatnonzero(np.bincount(part, weights[rows]) > 0)
    if X.n_sequences > 1:
        splits = splits_of_sequences(splitter, X, y, groups, counted)
    else:
        steps = rows[counted]
        y_of_each = y.values if y.per_sequence else y.values[steps]
        splits = splits_of(splitter, X.rows[steps], y_of_each, None if groups is None else groups[steps])
    return [(rows[np.isin(part, counted[train])], rows[np.isin(part, counted[held])]) for train, held in splits]


def half_of_each(classes: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.bool_]:
    """A random half of each class, numbered from 0: True for the one half. The other half has all classes.

    Where there is no class with two members, a half of all.
    """
    counts = np.bincount(classes)
    if (counts < 2).all():
        classes, counts = np.zeros_like(classes), np.array([len(classes)])
    order = generator.permutation(len(classes))
    order = order[np.argsort(classes[order], kind="stable")]
    place = np.arange(len(classes)) - np.repeat(np.cumsum(counts) - counts, counts)  # within its class
    # of classes with an odd number, every second one gives the larger part to the one half
    odd = (counts % 2 == 1) & (counts > 1)
    place += np.repeat(odd & (np.cumsum(odd) % 2 == 0), counts)
    held = np.zeros(len(classes), dtype=np.bool_)
    held[order[place % 2 == 1]] = True
    return held


def part_of_rows(X: Sequences, rows: Rows) -> NDArray[np.int64]:
    """To which of the sequences each of the rows belongs; of a single one each is for itself."""
    return X.sequence_of(rows) if X.n_sequences > 1 else np.arange(len(rows))


def n_trained_on(n: int, validation: Any) -> int:
    """How many of n sequences, or steps of a single one, come before those held out."""
    return max(1, n - max(1, int(np.floor(check_fraction("validation", validation, half=True) * n + 0.5))))


def target_rows(X: Sequences, y: Targets, washout: int, name: str) -> Rows:
    """The rows after the washout that have a target."""
    rows = rows_after_washout(X, washout, name)
    return X.offsets[1:] - 1 if y.per_sequence else rows


def rows_after_washout(X: Sequences, washout: int, name: str) -> Rows:
    """The rows after the washout, of which every sequence must have one."""
    check_lengths(X, washout, name)
    if washout == 0:
        return np.arange(len(X.rows))
    step = np.arange(len(X.rows)) - np.repeat(X.offsets[:-1], X.lengths)
    return np.flatnonzero(step >= washout)

"""The splits of scikit-learn's splitters, checked, and the blocks of what is held out together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.errors import refusal, shown
from evoke.sequences.containers import Sequences, Targets

__all__ = ["block_of_each", "splits_of", "splits_of_sequences"]

Indices = NDArray[np.int64]


def splits_of(validation: Any, X: Any, y: Any, groups: Any) -> list[tuple[Indices, Indices]]:
    """Those of a splitter: the numbers of what is trained on and of what is held out, in order.

    Parameters
    ----------
    validation : splitter
    X : sequence
        What is split: sequences, or the steps of a single one.
    y : ndarray or None
        A target of each; None where it has several.
    groups : ndarray or None

    Raises
    ------
    ValueError
        The splitter refuses the data, or gives what cannot be.
    """
    try:
        given = list(validation.split(X, y, groups))
    except (TypeError, ValueError, IndexError) as error:
        what = f"{len(X)} samples" if y is not None else "sequences whose steps have targets"
        raise ValueError(f"validation={shown(validation)} cannot split {what}: {error}") from error
    splits = []
    for pair in given:
        parts = pair if isinstance(pair, tuple) and len(pair) == 2 else ()
        arrays = [_numbers(part, len(X)) for part in parts]
        good = [numbers for numbers in arrays if numbers is not None and len(numbers)]
        if len(good) < 2 or np.isin(good[0], good[1]).any():
            demand = f"give two parts of {len(X)} different indices in every split, not {shown(pair)}"
            raise refusal("validation", demand, validation)
        splits.append((good[0], good[1]))
    if not splits:
        raise refusal("validation", "give a split", validation)
    return splits


def splits_of_sequences(
    validation: Any, X: Sequences, y: Targets, groups: NDArray[Any] | None, counted: Indices
) -> list[tuple[Indices, Indices]]:
    """Those of the sequences that are counted, by their places among these."""
    sequences = np.split(X.rows, X.offsets[1:-1])
    return splits_of(
        validation, [sequences[i] for i in counted], y.values[counted] if y.per_sequence else None,
        None if groups is None else groups[counted],
    )  # fmt: skip


def _numbers(part: Any, n: int) -> Indices | None:
    """Different indices below n, in order; None where they are none."""
    array = np.asarray(part)
    if array.dtype == np.bool_ and array.shape == (n,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array < 0).any() or (array >= n).any():
        return None
    numbers = np.unique(array).astype(np.int64)
    return numbers if len(numbers) == len(array) else None


def block_of_each(splits: list[tuple[Indices, Indices]], validation: Any, places: Indices) -> Indices:
    """The number of the block in which each sequence is held out; blocks are in the order of their first ones.

    `places` are those of the sequences in X, for errors.
    """
    n = len(places)
    times = np.bincount(np.concatenate([held for _, held in splits]), minlength=n)
    if (times != 1).any():
        i = int(np.argmax(times != 1))
        demand = f"hold out each sequence once, as KFold does, not X[{places[i]}] {times[i]} times"
        raise refusal("validation", demand, validation)
    if any(len(train) + len(held) < n for train, held in splits):
        raise refusal("validation", "train on all that it does not hold out, as KFold does", validation)
    block = np.empty(n, dtype=np.int64)
    for number, held in enumerate(sorted((held for _, held in splits), key=lambda held: int(held[0]))):
        block[held] = number
    return block

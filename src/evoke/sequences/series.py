"""Series to be continued: the containers a user may bring, and the inputs of a network that reads its own output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray, shape_of, to_array
from evoke.sequences.containers import Sequences, as_sequences
from evoke.sequences.continuation import SeriesIndex
from evoke.sequences.features import common_columns
from evoke.sequences.index import read_indexes
from evoke.sequences.prefixes import Segments

__all__ = ["Series", "as_external", "as_series", "inputs_of", "segments_with_free_ends"]


@dataclass(frozen=True)
class Series:
    """Series in flat form; `flat` where the user's have one dimension, `end` where the last is a pandas object.

    `columns` are those of data frames, where there are some.
    """

    sequences: Sequences
    flat: bool
    end: SeriesIndex | None = None
    columns: tuple[Any, ...] | None = None

    def mirror(self, values: FloatArray) -> Any:
        """Values (n_rows, n_outputs) in the container of the user."""
        return self.sequences.mirror(values[:, 0] if self.flat else values)


def as_series(y: Any, name: str = "y", like: SeriesIndex | None = None) -> Series:
    """Bring one series (T,) or (T, n_outputs), or a list of them, into flat form.

    Where its own few times do not tell their frequency, it is that of `like`.

    Raises
    ------
    ValueError
        Nothing in it, wrong dimensions, differing numbers of outputs, NaN or infinity; an index that falls or repeats;
        data frames whose columns differ.
    TypeError
        A sparse matrix, or objects that are no numbers.
    """
    if y is None:
        raise ValueError(f"{name} must be a series, got None")
    several = isinstance(y, (list, tuple)) and any(np.ndim(element) > 0 for element in y)
    given = y
    if not several:
        y = to_array(y, name)
        several = y.dtype == object and y.ndim == 1 and any(np.ndim(element) > 0 for element in y)
    if not several:
        if y.ndim not in (1, 2):
            got = shape_of(y, given)
            raise ValueError(f"{name} must be a series (T,) or (T, n_outputs), or a list of them, got {got}")
        sequences = as_sequences(y[:, None] if y.ndim == 1 else y, name=name)
        index = read_indexes(given, name, False)
        end = SeriesIndex.of(given, like)
        return Series(replace(sequences, index=index), y.ndim == 1, end, common_columns([given]))
    columns = common_columns(y, name)
    parts = [to_array(part, f"{name}[{i}]") for i, part in enumerate(y)]
    for i, part in enumerate(parts):
        if part.ndim not in (1, 2) or part.ndim != parts[0].ndim:
            raise ValueError(f"{name}[{i}] must be (T,) or (T, n_outputs) like the others, got shape {part.shape}")
    flat = parts[0].ndim == 1
    sequences = as_sequences([part[:, None] if flat else part for part in parts], name=name)
    sequences = replace(sequences, index=read_indexes(y, name, True))
    return Series(sequences, flat, SeriesIndex.of(list(y)[-1], like), columns)


def as_external(
    X: Any, lengths: NDArray[np.int64], several: bool, n_features: int | None, name: str, of: str,
    index: tuple[Any, ...] = (),
) -> Any:  # fmt: skip
    """Rows (n_rows, n_features) of the external inputs beside series of these lengths; no columns where X is None.

    Parameters
    ----------
    X : None, (T, n_features) array or list of them
    lengths : ndarray of shape (n_series,)
    several : bool
        Whether the series came as a list.
    n_features : int or None
        The number of columns that is required; None: any.
    name, of : str
        What errors call X and that which it has to match.
    index : tuple
        The indexes of that.
    """
    if X is None:
        if n_features:
            raise ValueError(f"{name} is missing: the model has {n_features} external input(s)")
        return np.empty((int(lengths.sum()), 0))
    if n_features == 0:
        raise ValueError(f"{name} must be None: the model has no external inputs")
    if lengths.sum() == 0 and np.shape(X) == (0, n_features):
        return np.empty((0, n_features))
    external = as_sequences(X, name=name, n_columns=n_features, beside=index, of=of)
    if several != (external.container != "2d"):
        kind = "a list of arrays (T_i, n_features)" if several else "an array (T, n_features)"
        raise ValueError(f"{name} must be {kind}, like {of}")
    if external.n_sequences != len(lengths):
        raise ValueError(f"{name} has {external.n_sequences} sequences, {of} has {len(lengths)}")
    other = external.lengths != lengths
    if other.any():
        i = int(np.argmax(other))
        index = f"[{i}]" if several else ""
        raise ValueError(f"{name}{index} has {external.lengths[i]} steps, {of}{index} has {lengths[i]}")
    return external.rows


def inputs_of(y: Sequences, external: FloatArray, feedback_scale: float) -> Sequences:
    """Inputs of a network that reads the series: [X(t) | feedback_scale * y(t - 1)], with y(-1) = 0."""
    before = np.zeros_like(y.rows)
    before[1:] = feedback_scale * y.rows[:-1]
    before[y.offsets[:-1]] = 0.0
    return Sequences(np.ascontiguousarray(np.column_stack([external, before])), y.offsets, y.container)


def segments_with_free_ends(
    X: Sequences, rows: NDArray[np.int64]
) -> tuple[Segments, NDArray[np.int64], NDArray[np.int64]]:
    """Cut series where a free run over their ends begins.

    Parameters
    ----------
    X : Sequences
    rows : int64 ndarray
        Rows to be run freely, in order; where they are in a series, they are all its rows from some step on.

    Returns
    -------
    segments : Segments
    free : int64 ndarray of shape (n_segments, 3)
        Run that leads to the segment, its begin and its end.
    rows : int64 ndarray
        The rows of the segments. The first step of a series is not among them: a run needs a step to start from.
    """
    table: list[tuple[int, int, int, int]] = []
    free = []
    for begin, end in zip(X.offsets[:-1].tolist(), X.offsets[1:].tolist(), strict=True):
        k = int(np.searchsorted(rows, begin))
        cut = max(int(rows[k]), begin + 1) if k < len(rows) and rows[k] < end else end
        if cut == end:
            table.append((begin, end, -1, -1))
            continue
        table.append((begin, cut, -1, len(free)))
        free.append((len(table) - 1, cut, end))
        table.append((cut, end, len(table) - 1, -1))
    if not free:
        raise ValueError("validation_mode='free' needs at least one held-out series of more than one step")
    segments = Segments(X.rows, np.ascontiguousarray(np.array(table, dtype=np.int64).T), np.arange(len(X.rows)))
    return segments, np.array(free, dtype=np.int64), np.concatenate([np.arange(cut, end) for _, cut, end in free])

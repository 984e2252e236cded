"""Every container of sequences that a user may bring -> one internal form, and back.

The internal form is flat: the rows of all sequences laid end to end, and the offsets where each begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from evoke._validation.arrays import check_not_empty, joined, shape_of, to_array, to_finite_rows, to_targets
from evoke._validation.errors import refusal
from evoke._validation.warn import warn
from evoke.sequences.features import common_columns
from evoke.sequences.incoming import chunk_by_chunk, is_chunked, one_by_one, parts_of, refuse_tables
from evoke.sequences.index import indexes_of, read_indexes

__all__ = ["Sequences", "Targets", "as_sequences", "as_targets", "warn_of_column"]

_BLOCK = 1 << 16  # rows that are checked at once

_AXES = ("sequence", "step", "column")


@dataclass(frozen=True)
class Sequences:
    """Sequences in flat form.

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        The rows of all sequences, in order.
    offsets : int64 ndarray of shape (n_sequences + 1,)
        Sequence ``i`` is ``rows[offsets[i]:offsets[i + 1]]``.
    container : {"list", "iterator", "3d", "2d", "lengths"}
        What the user brought, so that results can mirror it.
    index : tuple
        The pandas index of each element of a list, or of the one table; None for one without. Empty: there is none.
    own : bool
        Whether the rows are a copy, in double precision; otherwise they are where the user has them.
    """

    rows: NDArray[np.float64]
    offsets: NDArray[np.int64]
    container: str
    index: tuple[Any, ...] = ()
    own: bool = True

    @property
    def n_sequences(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def sequence_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of the sequence that each of the rows belongs to."""
        return np.searchsorted(self.offsets, rows, side="right") - 1

    def copied(self) -> Sequences:
        """The same with rows of its own, which the user cannot change."""
        return self if self.own else replace(self, rows=np.array(self.rows, dtype=np.float64, order="C"), own=True)

    def take(self, which: NDArray[np.int64]) -> Sequences:
        """Some of the sequences."""
        rows = [self.rows[self.offsets[i] : self.offsets[i + 1]] for i in which]
        offsets = np.concatenate([[0], np.cumsum(self.lengths[which])])
        return Sequences(np.concatenate(rows), offsets, "list")

    def mirror(self, values: NDArray[Any]) -> Any:
        """One value a row, put back into the container of the user."""
        if self.container in ("2d", "lengths"):
            return values
        if self.container == "3d":
            return values.reshape((self.n_sequences, -1, *values.shape[1:]))
        return np.split(values, self.offsets[1:-1])


def _unpack(value: Any, name: str) -> Any:
    """Lists, tuples, iterators and 1-D arrays of objects hold one sequence an element; all else is one array."""
    if isinstance(value, (list, tuple, Iterator)):
        return value
    if is_chunked(value):
        return chunk_by_chunk(value, name)
    array = to_array(value, name)
    return list(array) if array.dtype == object and array.ndim == 1 else array


def _offsets(lengths: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)


def _check_lengths(lengths: Any, n_rows: int, name: str) -> NDArray[np.int64]:
    array = to_array(lengths, "lengths")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise refusal("lengths", "be a 1-D sequence of integers", lengths)
    if (array < 1).any():
        i = int(np.argmax(array < 1))
        raise ValueError(f"lengths[{i}] is {array[i]}; every sequence needs at least one step")
    total = sum(array.tolist())
    if total != n_rows:
        raise ValueError(
            f"lengths sum to {total}, but {name} has {n_rows} rows; if these are a part of the data, as in cross-"
            f"validation, pass a list of sequences: np.split({name}, np.cumsum(lengths)[:-1])"
        )
    return np.asarray(array, dtype=np.int64)


def as_sequences(
    X: Any, lengths: Any = None, *, name: str = "X", n_columns: int | None = None, beside: tuple[Any, ...] = (),
    of: str = "", view: bool = False,
) -> Sequences:  # fmt: skip
    """Bring sequences of any supported container into flat form.

    Parameters
    ----------
    X : list or iterator of (T_i, n_columns) arrays, (n, T, n_columns) array or (T, n_columns) array
        A 2-D array is one sequence, or with `lengths` several sequences laid end to end. What an iterator gives, and
        arrays of Dask, come into a temporary file where they are large.
    lengths : sequence of int, optional
        Lengths of the sequences in a 2-D `X`.
    name : str
        What errors call the argument.
    n_columns : int, optional
        The number of columns that is required.
    beside, of : tuple, str
        The indexes of what the sequences belong to, and its name.
    view : bool
        Whether rows in C order may stay where they are, in single precision too: they are read by blocks.

    Returns
    -------
    Sequences
        With C-ordered float64 rows; without `view` never a view that could change the caller's array.

    Raises
    ------
    ValueError
        Nothing in it, an empty sequence, wrong dimensions, differing numbers of columns, NaN or infinity; an index that
        falls or repeats, or differs from the one beside it.
    TypeError
        A sparse matrix, or objects that are no numbers.
    """
    if isinstance(X, Sequences):  # one that was read before
        return X if view else X.copied()
    refuse_tables(X, name)
    given, X = X, _unpack(X, name)
    if isinstance(X, Iterator):
        if lengths is not None:
            raise ValueError(f"lengths goes with a 2-D {name}, not with an iterator of sequences")
        rows, n_steps = one_by_one(X, name)
        offsets, container = _offsets(n_steps), "iterator"
    elif isinstance(X, (list, tuple)):
        if lengths is not None:
            raise ValueError(f"lengths goes with a 2-D {name}, not with a list of sequences")
        if len(X) == 0:
            raise ValueError(f"{name} is empty: at least one sequence is needed")
        parts = [values for values, _ in parts_of(X, name)]
        rows, offsets, container = np.concatenate(parts), _offsets([len(p) for p in parts]), "list"
    else:
        array = X
        if array.ndim == 3:
            if lengths is not None:
                raise ValueError(f"lengths goes with a 2-D {name}, not with a 3-D array")
            if 0 in array.shape[:2]:
                raise ValueError(f"{name} has shape {array.shape}: at least one sequence and one step are needed")
            flat = array.reshape(len(array) * array.shape[1], array.shape[2])
            view = view and _may_stay(flat, array, given, name)
            rows = flat if view else to_finite_rows(array, name, given, _AXES).reshape(flat.shape)
            offsets, container = _offsets([array.shape[1]] * array.shape[0]), "3d"
        elif array.ndim == 2:
            check_not_empty(array, name)
            view = view and _may_stay(array, array, given, name)
            rows = array if view else to_finite_rows(array, name, given, _AXES)
            if lengths is None:
                offsets, container = _offsets([len(rows)]), "2d"
            else:
                offsets, container = _offsets(_check_lengths(lengths, len(rows), name)), "lengths"
        else:
            raise ValueError(
                f"{name} must be a list of 2-D arrays, a 3-D array or a 2-D array, got {shape_of(array, given)}. "
                "Reshape your data: a single feature is reshape(-1, 1), one step is reshape(1, -1)"
            )
    check_not_empty(rows, name)
    if n_columns is not None and rows.shape[1] != n_columns:
        raise ValueError(f"{name} has {rows.shape[1]} columns, expected {n_columns}")
    index = read_indexes(given, name, container == "list", beside=beside, of=of, offsets=offsets)
    own = container == "list" or (container != "iterator" and not np.may_share_memory(rows, X))
    if own:  # what is new need not be copied
        rows = np.asarray(rows, dtype=np.float64, order="C")
    found = Sequences(rows, offsets, container, index, own)
    return found if view else found.copied()


def _may_stay(rows: NDArray[Any], array: NDArray[Any], given: Any, name: str) -> bool:
    """Whether rows need no other form, such as numbers of a file; these must be finite."""
    if array.dtype not in (np.float32, np.float64) or not array.flags.c_contiguous or hasattr(given, "columns"):
        return False
    for first in range(0, len(rows), _BLOCK):
        finite = np.isfinite(rows[first : first + _BLOCK]).all(axis=1)
        if not finite.all():
            row = first + int(finite.argmin())
            i, step = divmod(row, array.shape[-2])
            place = f"{name}[{i}]" if array.ndim == 3 else name
            to_finite_rows(rows[row : row + 1], place, given, _AXES, [step])
    return True


@dataclass(frozen=True)
class Targets:
    """Targets in flat form: `values` (n_rows,) or (n_rows, n_outputs), or one a sequence where `per_sequence`.

    `weights` has one a target; None: each counts once. `index` is as that of `Sequences`, or for one target a sequence
    that of the sequences; `column` says that the targets of steps came as a single column.
    """

    values: NDArray[Any]
    per_sequence: bool
    weights: NDArray[np.float64] | None = None
    index: tuple[Any, ...] = ()
    column: bool = False

    def weights_of_rows(self, X: Sequences) -> NDArray[np.float64]:
        """Weights (n_rows,); that of a sequence holds for all its rows."""
        if self.weights is None:
            return np.ones(len(X.rows))
        return np.repeat(self.weights, X.lengths) if self.per_sequence else self.weights


def as_targets(y: Any, X: Sequences, *, name: str = "y", of: str = "X", what: str = "target") -> Targets:
    """Bring targets into flat form and check them against the sequences they belong to.

    Parameters
    ----------
    y : targets with the outer structure of X, or for a list or 3-D X one target per sequence
        Several targets of one sequence are a row of shape (1, n_outputs). A column (n, 1) of one target per sequence is
        taken with scikit-learn's warning.
    X : Sequences
    name, of, what : str
        What errors call y, X and a value of y.

    Raises
    ------
    ValueError
        Another number of sequences or steps than X, mixed dimensions; an index that falls, repeats or differs from that
        of X.
    """
    if isinstance(y, Iterator) or is_chunked(y):  # targets are always in memory
        y = np.asarray(y) if is_chunked(y) else list(y)
    if y is None:
        raise ValueError(f"this estimator requires {name} to be passed, but the target {name} is None")
    n_rows, n_sequences = len(X.rows), X.n_sequences
    if X.container in ("2d", "lengths"):
        array = to_targets(y, name)
        if array.ndim not in (1, 2) or len(array) != n_rows:
            raise ValueError(f"{name} has shape {array.shape}, but {of} has {n_rows} steps; each needs a {what}")
        return _one_column_is_none(
            array, name, what, index=read_indexes(y, name, False, beside=X.index, of=of, offsets=X.offsets)
        )
    given, y = y, _unpack(y, name)
    if isinstance(y, np.ndarray) and y.ndim == 0:
        raise refusal(name, f"hold one {what} a step or one a sequence", given)
    index = indexes_of(given, False)
    if what == "target" and X.lengths.max() > 1 and len(y) > 0 and all(np.shape(element) == (1,) for element in y):
        warn_of_column(name)
        given = y = [element[0] for element in y] if isinstance(y, (list, tuple)) else y[:, 0]
    if X.container == "3d" and isinstance(y, np.ndarray) and y.ndim > 1:
        steps = n_rows // n_sequences
        if y.ndim == 3 and y.shape[:2] == (n_sequences, 1) and steps > 1:
            return _one_column_is_none(y[:, 0], name, what, True)
        if y.ndim > 3 or y.shape[:2] != (n_sequences, steps):
            raise ValueError(
                f"{name} has shape {y.shape}, but {of} has {n_sequences} sequences of {steps} steps"
                f"{_hint(y, name, what)}"
            )
        return _one_column_is_none(y.reshape((n_rows, *y.shape[2:])), name, what)
    one_each = isinstance(y, np.ndarray) and y.ndim == 1  # which need not be looked at one by one
    if one_each or not any(isinstance(element, (list, tuple)) or np.ndim(element) > 0 for element in y):
        values = to_targets(given, name)
        if len(values) != n_sequences:
            raise ValueError(f"{name} has {len(values)} {what}s, {of} has {n_sequences} sequences")
        return Targets(values, True, index=index)
    if len(y) != n_sequences:
        raise ValueError(f"{name} has {len(y)} sequences, {of} has {n_sequences}")
    common_columns(y, name)
    parts = [to_targets(element, f"{name}[{i}]") for i, element in enumerate(y)]
    # one row of several targets for each sequence, unless these have no more than one step anyway
    one_row = bool(X.lengths.max() > 1) and all(part.ndim == 2 and len(part) == 1 for part in parts)
    for i, (part, length) in enumerate(zip(parts, X.lengths, strict=True)):
        if part.ndim not in (1, 2) or len(part) != (1 if one_row else length):
            raise ValueError(
                f"{name}[{i}] has shape {part.shape}, but {of}[{i}] has {length} steps{_hint(given, name, what)}"
            )
        if part.shape[1:] != parts[0].shape[1:]:
            raise ValueError(f"{name}[{i}] has shape {part.shape}, {name}[0] has shape {parts[0].shape}")
        if _mix(part, parts[0]):
            raise ValueError(f"{name}[{i}] has dtype {part.dtype}, {name}[0] has dtype {parts[0].dtype}")
    values = joined(parts)
    index = read_indexes(y, name, True, beside=X.index, of=of)
    return _one_column_is_none(values, name, what, one_row, index)


def warn_of_column(name: str) -> None:
    """scikit-learn's warning, in its words."""
    warn(
        f"A column-vector {name} was passed when a 1d array was expected. Please change the shape of {name} to "
        "(n_samples,), for example using ravel().", DataConversionWarning,
    )  # fmt: skip


def _mix(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether one array would make text of what is none, or of bytes, or numbers of labels that are truth values."""
    kinds = ("UT", "S", "b") if a.ndim == 1 else ("UT", "S")
    mixed = any((a.dtype.kind in kind) != (b.dtype.kind in kind) for kind in kinds)
    return mixed and object not in (a.dtype, b.dtype)


def _hint(y: Any, name: str, what: str) -> str:
    several = what == "target" and getattr(y, "ndim", 0) == 2
    return f"; several targets for each sequence are {name}[:, None, :]" if several else ""


def _one_column_is_none(
    values: NDArray[Any], name: str, what: str, per_sequence: bool = False, index: tuple[Any, ...] = ()
) -> Targets:
    if values.ndim == 2 and values.shape[1] == 0:
        raise ValueError(f"{name} has no columns: at least one {what} a step is needed")
    column = values.ndim == 2 and values.shape[1] == 1
    return Targets(
        values[:, 0] if column else values, per_sequence, index=index, column=column and not per_sequence
    )

"""Sequences from the containers of other libraries -> lists and arrays that the estimators take."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import rounded, to_array
from evoke._validation.errors import refusal, shown

__all__ = ["RowGroups", "check_ids", "from_frame", "from_padded", "from_panel", "rows_by_sequence"]

ROWS_NAMED = 5  # at most, in an error


@dataclass(frozen=True)
class RowGroups:
    """Which rows of a long table belong to which sequence; sequences are in the order in which they first appear.

    Attributes
    ----------
    names : list
        What tells the sequences apart; ``[None]`` where the table is one sequence.
    rows : list of ndarray of shape (T_i,)
        The numbers of the rows of each sequence, in the order of the table.
    """

    names: list[Any]
    rows: list[NDArray[np.intp]]

    def split(self, values: Any) -> list[Any]:
        """Cut an array or a data frame that has a row for each row of the table into sequences."""
        by_position = values.iloc if hasattr(values, "iloc") else values
        return [by_position[rows] for rows in self.rows]

    def join(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        """Put the rows of sequences back into the order of the table."""
        flat = np.concatenate(parts)
        values = np.empty_like(flat)
        values[np.concatenate(self.rows)] = flat
        return values


@dataclass(frozen=True)
class FrameColumns:
    """What the columns of a long data frame are.

    Attributes
    ----------
    features, targets : list
        Their names.
    """

    features: list[Any]
    targets: list[Any]

    @classmethod
    def of(cls, df: Any, sequence: Any, target: Any, name: str = "df") -> FrameColumns:
        """Those of a data frame, which errors call by `name`; all that are not named are features."""
        targets = [] if target is None else list(target) if isinstance(target, list) else [target]
        special = [*([] if sequence is None else [sequence]), *targets]
        if isinstance(target, list) and not target:
            raise ValueError("target is an empty list; use None for no target")
        if not df.columns.is_unique:
            repeated = df.columns[df.columns.duplicated()].unique().tolist()
            raise ValueError(f"{name} has several columns with the same name: {repeated}")
        unhashable = [column for column in special if not isinstance(column, Hashable)]
        if unhashable:
            raise refusal("sequence and target", "be names of columns, target also a list", unhashable[0])
        unknown = [column for column in special if column not in df.columns]
        if unknown:
            raise ValueError(f"{name} has no columns {unknown}; it has {df.columns.tolist()}")
        twice = [column for k, column in enumerate(special) if column in special[:k]]
        if twice:
            raise ValueError(f"sequence and target name {twice} more than once")
        features = [column for column in df.columns if column not in special]
        if not features:
            raise ValueError(f"{name} has no columns besides {special}: at least one feature is needed")
        return cls(features, targets)

    def check(self, df: Any, name: str = "df", labels: Any = None) -> None:
        """That features are numeric and no value is missing; `labels` are those of the rows, by default their index."""
        import pandas as pd

        text = [column for column in self.features if not pd.api.types.is_numeric_dtype(df[column])]
        if text:
            raise ValueError(f"{name} has features that are not numeric, {text}: encode or drop these columns")
        missing = df.isna().to_numpy()
        if missing.any():
            rows, columns = np.flatnonzero(missing.any(axis=1)), df.columns[missing.any(axis=0)].tolist()
            labels = df.index if labels is None else labels
            named = ", ".join(map(repr, labels[rows[:ROWS_NAMED]]))
            raise ValueError(
                f"{name} has missing values in columns {columns}, rows {named}"
                f"{', ...' if len(rows) > ROWS_NAMED else ''}; every step needs all its values"
            )


def check_ids(column: Any, name: str) -> None:
    """Refuse what cannot tell sequences apart: lists and the like, and numbers that may stand for several.

    Parameters
    ----------
    column : pandas.Series
        Without missing values.
    name : str
        What errors call the table.

    Raises
    ------
    ValueError
        With the name of the column and the first value that is at fault.
    """
    of = f"{name} has sequences {column.name!r}"
    if column.dtype == object:
        values = column.tolist()
        odd = next((value for value in values if not is_hashable(value)), None)
        if odd is not None:
            raise ValueError(f"{of} with {shown(odd)}, which is no name of a sequence: give numbers or text")
        truths = {value for value in values if isinstance(value, (bool, np.bool_))}
        if truths and any(isinstance(value, Number) and not isinstance(value, (bool, np.bool_)) for value in values):
            raise ValueError(f"{of} that mix True or False with numbers, where True is taken for 1: give text")
    elif column.dtype.kind == "f":
        numbers = column.to_numpy(dtype=getattr(column.dtype, "numpy_dtype", column.dtype))
        odd = rounded(numbers)
        if odd.any():
            raise ValueError(
                f"{of} of dtype {column.dtype}, which cannot tell whole numbers such as "
                f"{shown(numbers[odd.argmax()])} apart: give integers or text"
            )


def is_hashable(value: Any) -> bool:
    """Whether the value has a hash; a tuple with a list in it has none."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def rows_by_sequence(df: Any, sequence: Any = None, name: str = "df") -> RowGroups:
    """Group the rows of a data frame by its column `sequence`; without one the whole frame is one sequence.

    Raises
    ------
    ValueError
        Values that tell no sequences apart; `name` is what it calls the frame.
    """
    if sequence is None:
        return RowGroups([None], [np.arange(len(df))])
    check_ids(df[sequence], name)
    codes, names = df[sequence].factorize()
    order = np.argsort(codes, kind="stable")
    return RowGroups(names.tolist(), np.split(order, np.cumsum(np.bincount(codes))[:-1]))


def from_padded(X: Any, mask: Any = None) -> Any:
    """Cut the padding off sequences that were padded to one length, as in tslearn.

    Parameters
    ----------
    X : array_like of shape (n_sequences, n_steps, n_features), or (n_sequences, n_steps) for padded targets
        Padded at the end: with NaN, or with anything if `mask` is given.
    mask : array_like of bool of shape (n_sequences, n_steps), optional
        True at the steps that belong to the sequence. By default those with a value that is not NaN.

    Returns
    -------
    list of ndarray of shape (T_i, n_features) or (T_i,)

    Raises
    ------
    ValueError
        Padding before the end of a sequence (a hole), a step at which only some values are NaN, a sequence that is all
        padding, a mask of another shape.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke.sequences import from_padded
    >>> X = np.array([[[1.0], [2.0], [np.nan]], [[3.0], [4.0], [5.0]]])
    >>> [x.shape for x in from_padded(X)]
    [(2, 1), (3, 1)]
    """
    array = to_array(X, "X")
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ValueError(f"X must be (n_sequences, n_steps, n_features) and not empty, got shape {array.shape}")
    missing = np.asarray(array != array, dtype=bool).reshape(*array.shape[:2], -1)  # NaN differs from itself
    if mask is None:
        real: NDArray[Any] = np.asarray(~missing.all(axis=2))
    else:
        real = to_array(mask, "mask")
        if real.dtype != bool or real.shape != array.shape[:2]:
            raise ValueError(f"mask must be bool of shape {array.shape[:2]}, got {real.dtype} of shape {real.shape}")
    lengths = real.sum(axis=1)
    for i, length in enumerate(lengths):
        if length == 0:
            raise ValueError(f"X[{i}] is all padding: every sequence needs at least one step")
        if not real[i, :length].all():
            raise ValueError(f"X[{i}] has a hole: padding at step {np.argmin(real[i])}, and values after it")
        partly = missing[i, :length].any(axis=1)
        if partly.any():
            raise ValueError(f"X[{i}] contains NaN at step {np.argmax(partly)}, which is not padding")
    return [sequence[:length].copy() for sequence, length in zip(array, lengths, strict=True)]


def from_panel(X: Any) -> Any:
    """Turn sequences with the channels first, as in aeon and sktime, into sequences with the steps first.

    Parameters
    ----------
    X : array_like of shape (n_sequences, n_channels, n_steps), or list of (n_channels, T_i) arrays
        Channels are what evoke calls features; the lengths T_i may differ.

    Returns
    -------
    ndarray of shape (n_sequences, n_steps, n_channels), or list of ndarray of shape (T_i, n_channels)

    Raises
    ------
    ValueError
        Other dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke.sequences import from_panel
    >>> from_panel(np.zeros((10, 2, 30))).shape
    (10, 30, 2)
    """
    if not isinstance(X, (list, tuple)):
        array = to_array(X, "X")
        if not (array.dtype == object and array.ndim == 1):
            if array.ndim != 3:
                raise ValueError(f"X must be (n_sequences, n_channels, n_steps) or a list, got shape {array.shape}")
            return np.ascontiguousarray(np.swapaxes(array, 1, 2))
        X = array
    parts = [to_array(part, f"X[{i}]") for i, part in enumerate(X)]
    for i, part in enumerate(parts):
        if part.ndim != 2:
            raise ValueError(f"X[{i}] must be (n_channels, n_steps), got shape {part.shape}")
        if len(part) != len(parts[0]):
            raise ValueError(f"X[{i}] has {len(part)} channels, X[0] has {len(parts[0])}")
    return [np.ascontiguousarray(part.T) for part in parts]


def from_frame(df: Any, sequence: Any = None, target: Any = None, *, label: Any = None) -> Any:
    """Cut a long data frame, with one row per step, into sequences.

    Parameters
    ----------
    df : pandas.DataFrame
        Its rows are in temporal order within each sequence; those of different sequences may be mixed.
    sequence : column name, optional
        The column that says which sequence a row belongs to. By default the whole frame is one sequence.
    target : column name or list of them, optional
        The columns to be predicted; all others are features.
    label : column name, optional
        In place of `target`: the column with one label, or value, for each sequence, which all its rows repeat.

    Returns
    -------
    X : list of pandas.DataFrame of shape (T_i, n_features)
        Sequences in the order in which they appear, with the index of `df`.
    y : list of pandas.Series, or of pandas.DataFrame for a list of targets; ndarray of shape (n_sequences,)
        Only where there is a `target`, or for a `label`.

    Raises
    ------
    TypeError
        `df` is not a data frame.
    ValueError
        Columns that are unknown, named twice or not numeric, missing values, no rows, no features. A label that changes
        within a sequence, or that comes without `sequence` or beside `target`.

    Examples
    --------
    >>> import pandas as pd
    >>> from evoke.sequences import from_frame
    >>> df = pd.DataFrame({"who": ["b", "b", "a"], "x": [1.0, 2.0, 3.0], "label": [0, 1, 1]})
    >>> X, y = from_frame(df, sequence="who", target="label")
    >>> X[0].shape, y[1].tolist()
    ((2, 1), [1])

    One label a sequence, for cross-validation in one line:

    >>> from evoke import EvokeClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> df = pd.DataFrame({"who": list("aabbccddeeff"), "x": range(12), "label": list("yynnyynnyynn")})
    >>> model = EvokeClassifier(n_generations=1, subpopulation_size=8, random_state=0)
    >>> cross_val_score(model, *from_frame(df, sequence="who", label="label"), cv=3).shape
    (3,)
    """
    import pandas as pd  # only here: the rest of evoke does without it

    if not isinstance(df, pd.DataFrame):
        raise TypeError(f"df must be a pandas.DataFrame, got {type(df).__name__}")
    if label is not None and (target is not None or sequence is None):
        other = "sequence tells which rows are one" if sequence is None else "target is None"
        raise ValueError(f"label={shown(label)} is one for each sequence: it takes that {other}")
    columns = FrameColumns.of(df, sequence, target if label is None else label)
    if label is not None and isinstance(label, list):
        raise refusal("label", "be the name of one column", label)
    if len(df) == 0:
        raise ValueError("df has no rows")
    columns.check(df)
    groups = rows_by_sequence(df, sequence)
    parts = groups.split(df)
    X = [part[columns.features] for part in parts]
    if label is not None:
        return X, _one_each(df[label], groups)
    return X if target is None else (X, [part[target] for part in parts])


def _one_each(column: Any, groups: RowGroups) -> NDArray[Any]:
    """The value of each sequence, which all its rows must repeat."""
    values = column.to_numpy()
    for name, rows in zip(groups.names, groups.rows, strict=True):
        odd = np.flatnonzero(values[rows] != values[rows[0]])
        if len(odd):
            raise ValueError(
                f"df has label {column.name!r} {shown(values[rows[0]])} in sequence {shown(name)}, but "
                f"{shown(values[rows[odd[0]]])} in its row {shown(column.index[rows[odd[0]]])}: one for each sequence "
                "is needed; use target for one in each row"
            )
    return values[[rows[0] for rows in groups.rows]]

"""Features: how many columns X has and what they are called, and data frames of what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal

__all__ = ["Features", "as_frames", "common_columns", "one_row"]


@dataclass(frozen=True, eq=False)
class Features:
    """The features of X in `fit`.

    Attributes
    ----------
    estimator : str
        The class of the estimator, which scikit-learn's messages name.
    n : int
        Number of features.
    names : ndarray of str, or None
        Only where X was a data frame, or a list of them, whose columns have names that are text.
    """

    estimator: str
    n: int
    names: NDArray[Any] | None = None

    @classmethod
    def of(cls, estimator: str, X: Any, rows: FloatArray, several: bool) -> Features:
        """The features of X.

        Parameters
        ----------
        estimator : str
        X : data frame or array, or a list of such
        rows : ndarray of shape (n_rows, n_features)
            The content of X.
        several : bool
            Whether X is a list.

        Raises
        ------
        ValueError
            Data frames in a list whose columns differ.
        """
        holder = _holder(estimator)()
        validate_data(holder, _representative(X, rows, several, "X"), skip_check_array=True)
        return cls(estimator, holder.n_features_in_, getattr(holder, "feature_names_in_", None))

    def check(self, X: Any, rows: FloatArray, several: bool, name: str = "X") -> None:
        """Compare X with these features, with the errors and warnings of scikit-learn.

        Parameters
        ----------
        X, rows, several
            As in `of`.
        name : str
            What errors call X.
        """
        holder = _holder(self.estimator)()
        holder.n_features_in_ = self.n
        if self.names is not None:
            holder.feature_names_in_ = self.names
        validate_data(holder, _representative(X, rows, several, name), reset=False, skip_check_array=True)


@cache
def _holder(estimator: str) -> type[BaseEstimator]:
    """A class of this name: scikit-learn compares features on an object and names its class in messages."""
    return type(estimator, (BaseEstimator,), {})


def one_row(x: Any) -> Any:
    """A data frame of the step x, a Series or such a data frame itself; None where x has no names."""
    if hasattr(x, "columns"):
        if len(x) != 1:
            raise ValueError(f"x must be one step, got {len(x)} rows")
        return x
    return x.to_frame().T if hasattr(x, "iloc") else None


def _representative(X: Any, rows: FloatArray, several: bool, name: str) -> Any:
    """What has the features of all sequences: a data frame if they are such, else a row of numbers."""
    if hasattr(X, "columns"):
        return X
    frames = list(X) if several else []
    named = [i for i, frame in enumerate(frames) if hasattr(frame, "columns")]
    if not named:
        return rows[:1]
    if len(named) < len(frames):
        other = next(i for i in range(len(frames)) if i not in named)
        raise ValueError(f"{name}[{named[0]}] is a data frame, {name}[{other}] is not")
    common_columns(frames, name)
    return frames[0]


def common_columns(parts: Any, name: str = "") -> tuple[Any, ...] | None:
    """The columns of data frames in a list, which must be the same in the same order; None where there is no frame."""
    named = [(i, list(part.columns)) for i, part in enumerate(parts) if hasattr(part, "columns")]
    for i, columns in named:
        if columns != named[0][1]:
            raise ValueError(f"{name}[{i}] has columns {columns}, {name}[{named[0][0]}] has {named[0][1]}")
    return tuple(named[0][1]) if named else None


def as_frames(kind: str, values: Any, X: Any, container: str, names: Any) -> Any:
    """One data frame of `values` for a 2-D X, a list of them for sequences in a list or a 3-D array."""
    if container in ("2d", "lengths"):
        return _as_frame(kind, values, X, names)
    like = [None] * len(values) if container == "iterator" else X
    return [_as_frame(kind, part, x, names) for part, x in zip(values, like, strict=True)]


def _as_frame(kind: str, values: Any, like: Any, names: Any) -> Any:
    if kind == "pandas":
        import pandas as pd

        index = like.index if isinstance(like, (pd.DataFrame, pd.Series)) else None
        return pd.DataFrame(values, columns=names, index=index)
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(values, schema=list(names), orient="row")
    raise refusal("transform", "be one of ('default', 'pandas', 'polars')", kind)

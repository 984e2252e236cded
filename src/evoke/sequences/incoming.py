"""Sequences that come one by one, and arrays of Dask that come chunk by chunk: both may be more than fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import to_array, to_finite_rows, to_float
from evoke.sequences.growing import GrowingRows

__all__ = ["chunk_by_chunk", "is_chunked", "library_of", "narrow", "one_by_one", "parts_of", "refuse_tables"]


def library_of(value: Any) -> str:
    """The library that the type of a value comes from, which need not be imported to ask."""
    return type(value).__module__.partition(".")[0]


def is_chunked(value: Any) -> bool:
    """Whether this is an array of Dask."""
    return library_of(value) == "dask" and hasattr(value, "chunks")


def refuse_tables(value: Any, name: str) -> None:
    """Refuse tables that are read piece by piece: which of their columns are features is not for us to guess."""
    library = library_of(value)
    if library == "ray" or (library in ("dask", "pyarrow") and not is_chunked(value) and not _is_whole(value)):
        raise TypeError(f"{name} is a {library} {type(value).__name__}; evoke.sequences.from_blocks makes arrays of it")


def _is_whole(value: Any) -> bool:
    """Whether NumPy can read the value, and it is all in memory."""
    return hasattr(value, "__array__") and not hasattr(value, "npartitions")


def parts_of(X: Iterable[Any], name: str) -> Iterator[tuple[NDArray[np.float64], NDArray[Any]]]:
    """Sequences (T_i, n_columns) as finite numbers, each with the array that it was."""
    n_columns = None
    for i, element in enumerate(X):
        part = to_array(element, f"{name}[{i}]")
        if part.ndim != 2:
            hint = " (a single feature is reshape(-1, 1))" if part.ndim == 1 else ""
            raise ValueError(f"{name}[{i}] must be 2-D (steps, columns), got shape {part.shape}{hint}")
        n_columns = part.shape[1] if n_columns is None else n_columns
        if part.shape[1] != n_columns:
            raise ValueError(f"{name}[{i}] has {part.shape[1]} columns, {name}[0] has {n_columns}")
        if part.shape[0] == 0:
            raise ValueError(f"{name}[{i}] is empty: every sequence needs at least one step")
        yield to_finite_rows(part, f"{name}[{i}]", element, ("step", "column")), part


def narrow(values: NDArray[np.float64], given: NDArray[Any]) -> NDArray[Any]:
    """Values in single precision if they were given in it, otherwise in double."""
    return values.astype(np.float32) if given.dtype == np.float32 else values


def one_by_one(X: Iterator[Any], name: str) -> tuple[NDArray[Any], list[int]]:
    """All rows of the sequences of an iterator, and their lengths."""

    def arrays() -> Iterator[Any]:
        for i, element in enumerate(X):
            if hasattr(element, "columns"):
                raise TypeError(
                    f"{name}[{i}] is a {type(element).__name__}, but an iterator has to give arrays; "
                    "evoke.sequences.from_blocks makes arrays of tables, a list of data frames is taken as it is"
                )
            yield element

    lengths = []
    with GrowingRows() as rows:
        for values, part in parts_of(arrays(), name):
            rows.add(narrow(values, part))
            lengths.append(len(part))
        if lengths:
            return rows.array(), lengths
    raise ValueError(f"{name} is empty: at least one sequence is needed, and an iterator gives its own only once")


def chunk_by_chunk(X: Any, name: str) -> NDArray[Any]:
    """An array of Dask as one of NumPy, some rows at a time."""
    if not all(n == n for n in X.shape):  # NaN: it was not counted
        raise ValueError(f"{name} has chunks of unknown size; call {name}.compute_chunk_sizes() first")
    if X.ndim not in (2, 3) or 0 in X.shape:
        return np.asarray(X)  # which has an error of its own
    first = 0
    with GrowingRows() as rows:
        for n in X.chunks[0]:
            part = to_array(X[first : first + n].compute(), name)
            steps = part.reshape(-1, part.shape[-1])
            rows.add(narrow(to_float(steps, f"{name}[{first}:{first + n}]"), steps))
            first += n
        return rows.array().reshape(X.shape)

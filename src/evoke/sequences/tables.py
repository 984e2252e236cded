"""Long tables that are read block by block -> arrays that the estimators read where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import joined, to_finite_rows
from evoke._validation.errors import refusal
from evoke.sequences.converters import FrameColumns, check_ids
from evoke.sequences.growing import GrowingRows
from evoke.sequences.incoming import library_of, narrow
from evoke.sequences.starts import ComesBack, Starts

__all__ = ["from_blocks"]

_ROWS = 2**16  # of a block, where it is for us to choose


def from_blocks(blocks: Any, sequence: Any = None, target: Any = None, directory: Any = None) -> Any:
    """Bring a long table, with one row per step, block by block to arrays, in a file where they are large.

    Rows of a sequence follow one another; a block may end within one. Up to 64 MiB of features are in memory. More are
    in a temporary file, which is gone with the array over it. Targets and lengths are in memory.

    Parameters
    ----------
    blocks : iterable of pandas.DataFrame or pyarrow.Table, or a table of a library
        Tables are those of pyarrow (``Table``, ``RecordBatchReader``, ``parquet.ParquetFile``, ``dataset.Dataset``),
        the ``DataFrame`` of Dask, which is computed one partition after the other, and the ``Dataset`` of Ray.
    sequence : column name, optional
        The column that says which sequence a row belongs to. By default all rows are one sequence.
    target : column name or list of them, optional
        The columns to be predicted; all others are features.
    directory : path, optional
        The folder of the temporary file, by default that of `tempfile`.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        In single precision if all features are, else in double. It cannot be changed where it is in a file.
    y : ndarray of shape (n_rows,), or (n_rows, n_targets) for a list of targets
        Only where there is a `target`.
    lengths : int64 ndarray of shape (n_sequences,)
        As the estimators take them: ``fit(X, y, lengths=lengths)``.

    Raises
    ------
    TypeError
        Blocks that are no data frames.
    ValueError
        Columns that are unknown, named twice, not numeric or not those of the first block; missing or infinite values;
        a sequence that comes back after another one; no rows, no features.
    OSError
        The folder of the file has no room left.

    Examples
    --------
    >>> import pandas as pd
    >>> from evoke.sequences import from_blocks
    >>> first = pd.DataFrame({"who": ["b", "b", "a"], "x": [1.0, 2.0, 3.0], "label": [0, 1, 1]})
    >>> second = pd.DataFrame({"who": ["a", "c"], "x": [4.0, 5.0], "label": [0, 0]})
    >>> X, y, lengths = from_blocks(iter([first, second]), sequence="who", target="label")
    >>> X.shape, y.tolist(), lengths.tolist()
    ((5, 1), [0, 1, 1, 0, 0], [2, 2, 1])
    """
    if directory is not None and not (isinstance(directory, (str, Path)) and Path(directory).is_dir()):
        raise refusal("directory", "be a folder", directory)
    with GrowingRows(directory) as rows:
        targets, lengths = _read(blocks, sequence, target, rows)
        return (rows.array(), lengths) if target is None else (rows.array(), targets, lengths)


def _read(blocks: Any, sequence: Any, target: Any, rows: GrowingRows) -> tuple[Any, NDArray[np.int64]]:
    """Add the features of all blocks to `rows`; the targets, and the lengths of the sequences."""
    import pandas as pd  # only where tables are: the rest of evoke does without it

    starts, found, targets = Starts(), [], []
    columns = first = None  # the latter is the first block that is not empty, without its rows
    for k, frame in enumerate(_frames(blocks)):
        name = f"blocks[{k}]"
        if columns is None:
            columns, names_of_all = FrameColumns.of(frame, sequence, target, name), frame.columns
        if not frame.columns.equals(names_of_all):
            raise ValueError(f"{name} has columns {frame.columns.tolist()}, blocks[0] has {names_of_all.tolist()}")
        if len(frame) == 0:
            continue
        numbers = pd.RangeIndex(len(rows), len(rows) + len(frame))
        columns.check(frame, name, numbers)
        first = frame.iloc[:0] if first is None else first
        _check_kinds(columns.targets, frame, first, name)
        try:
            if sequence is not None:
                check_ids(frame[sequence], name)
            names = np.zeros(len(frame)) if sequence is None else frame[sequence].to_numpy()
            found.append(numbers[starts.of(names)])
        except ComesBack as error:
            raise ValueError(
                f"{name} has sequence {error.name!r} in row {numbers[error.row]}, after rows of other sequences; the "
                f"rows of a sequence have to follow one another: sort the table by {sequence!r} first"
            ) from None
        rows.add(_values(frame[columns.features], name, numbers))
        if target is not None:
            targets.append(frame[target].to_numpy())
    if len(rows) == 0:
        raise ValueError("blocks have no rows")
    lengths = np.diff(np.concatenate([*found, [len(rows)]])).astype(np.int64)
    return joined(targets) if targets else None, lengths


def _frames(blocks: Any) -> Iterator[Any]:
    """One data frame of pandas after the other."""
    import pandas as pd

    for k, block in enumerate(_blocks(blocks)):
        frame = block.to_pandas() if library_of(block) == "pyarrow" and hasattr(block, "to_pandas") else block
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(f"blocks[{k}] must be a pandas.DataFrame or a pyarrow.Table, got {type(block).__name__}")
        yield frame


def _blocks(blocks: Any) -> Iterable[Any]:
    library = library_of(blocks)
    if library == "pandas":
        return [blocks]
    if library == "dask" and hasattr(blocks, "npartitions"):
        return (blocks.get_partition(k).compute() for k in range(blocks.npartitions))
    if library == "ray" and hasattr(blocks, "iter_batches"):
        return _batches_of_ray(blocks)
    if library == "pyarrow":
        if hasattr(blocks, "iter_batches"):  # a file of Parquet
            return blocks.iter_batches(_ROWS)
        if hasattr(blocks, "to_batches"):
            return blocks.to_batches()
        if hasattr(blocks, "to_pandas"):  # a single batch
            return [blocks]
    try:
        return iter(blocks)
    except TypeError:
        raise refusal("blocks", "be an iterable of data frames or a table", blocks) from None


def _batches_of_ray(blocks: Any) -> Iterator[Any]:
    with _in_order(blocks.context.execution_options):
        yield from blocks.iter_batches(batch_size=_ROWS, batch_format="pandas")


@contextmanager
def _in_order(options: Any) -> Iterator[None]:
    """Blocks of a data set in their order, which Ray does not keep by itself."""
    before, options.preserve_order = options.preserve_order, True
    try:
        yield
    finally:
        options.preserve_order = before


def _check_kinds(targets: list[Any], frame: Any, first: Any, name: str) -> None:
    """That targets are numbers, or truth values, in all blocks or in none: others would become text, or 1."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    for target in targets:
        now, before = frame[target].dtype, first[target].dtype
        if any(is_kind(now) != is_kind(before) for is_kind in (is_numeric_dtype, is_bool_dtype)):
            raise ValueError(f"{name} has target {target!r} of dtype {now}, and of dtype {before} in blocks before")


def _values(features: Any, name: str, numbers: Any) -> NDArray[Any]:
    """The features as finite numbers, in single precision if all are."""
    array = features.to_numpy()
    if array.dtype == object:  # columns with missing values in a kind of their own, of which there are none
        array = features.to_numpy(dtype=np.float64)
    return narrow(to_finite_rows(array, name, features, ("row", "column"), numbers), array)

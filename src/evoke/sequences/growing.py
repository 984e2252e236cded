"""Rows that come one block after the other and may be more than fit in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["GrowingRows"]

IN_MEMORY = 2**26  # bytes, beyond which there is a file

_AT_ONCE = 2**16  # rows that are brought from one precision to the other


class GrowingRows:
    """Rows of numbers, in memory while they are few and then in a temporary file, which grows within a ``with`` block.

    The file has no name in its folder, or goes when it is closed: nothing is left of it when the last array over it is
    gone, however the process ends.

    Parameters
    ----------
    directory : path, optional
        The folder of the file; by default that of `tempfile`.
    """

    def __init__(self, directory: Any = None):
        self._directory = directory
        self._file: IO[bytes] | None = None
        self._blocks: list[NDArray[Any]] = []  # not in the file yet
        self._dtype: np.dtype[Any] = np.dtype(np.float32)
        self._n_rows, self._n_columns = 0, 0

    def __enter__(self) -> GrowingRows:
        return self

    def __exit__(self, *_error: Any) -> None:
        if self._file is not None:  # arrays over it have handles of their own
            self._file.close()

    def __len__(self) -> int:
        return self._n_rows

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows (n, n_columns); all stay in single precision while all are, and otherwise are in double.

        Raises
        ------
        OSError
            The file cannot grow.
        """
        if rows.dtype != np.float32 and self._dtype == np.float32:
            self._widen()
        if len(rows) == 0:
            return
        # a copy: the caller may write the next block over this one
        self._blocks.append(np.array(rows, dtype=self._dtype, order="C"))
        self._n_rows, self._n_columns = self._n_rows + len(rows), rows.shape[1]
        if self._file is not None or self._n_bytes > IN_MEMORY:
            self._write()

    def array(self) -> NDArray[Any]:
        """All rows (n_rows, n_columns); those of a file are read where they are, and cannot be changed."""
        shape = self._n_rows, self._n_columns
        if self._file is None:
            return np.concatenate(self._blocks) if self._blocks else np.empty(shape, self._dtype)
        return np.memmap(self._file, self._dtype, "r", shape=shape)

    @property
    def _n_bytes(self) -> int:
        return self._n_rows * self._n_columns * self._dtype.itemsize

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0, dir=self._directory)  # noqa: SIM115 - see `__exit__`
            for block in self._blocks:
                left = block.data.cast("B")
                while left:  # a file without a buffer may take a part of it
                    left = left[self._file.write(left) :]
        except OSError as error:
            folder = Path(self._directory or tempfile.gettempdir())
            raise OSError(
                error.errno, f"{error.strerror}: a temporary file for {self._n_bytes} bytes of rows in {folder}; take "
                "another folder, as by the environment variable TMPDIR"
            ) from None  # fmt: skip
        self._blocks = []

    def _widen(self) -> None:
        """Bring what is there to double precision."""
        narrow, n_rows = self.array(), self._n_rows
        self.__exit__()
        self._file, self._blocks, self._n_rows = None, [], 0
        self._dtype = np.dtype(np.float64)
        for first in range(0, n_rows, _AT_ONCE):
            self.add(narrow[first : first + _AT_ONCE].astype(np.float64))

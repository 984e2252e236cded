"""Where sequences start among the rows of a table that is read block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ComesBack", "Starts"]


class ComesBack(Exception):
    """A sequence is met again after another one.

    Attributes
    ----------
    name : object
        What tells it from others.
    row : int
        In its block.
    """

    def __init__(self, name: Any, row: int):
        super().__init__(f"sequence {name!r} comes back in row {row}")
        self.name, self.row = name, row


class Starts:
    """Which sequences have been met; the rows of each follow one another."""

    def __init__(self) -> None:
        self._met: set[Any] = set()
        self._last: Any = None

    def of(self, names: NDArray[Any]) -> NDArray[np.int64]:
        """The rows of the next block at which sequences start; not 0 where one goes on.

        Parameters
        ----------
        names : ndarray of shape (n_rows,), n_rows > 0
            What tells sequences apart; none is missing.

        Raises
        ------
        ComesBack
            A sequence that ended before.
        """
        # as numbers of Python, which compare exactly: floats of NumPy round large integers beside them
        first = not self._met or names[:1].tolist()[0] != self._last
        starts = np.flatnonzero(np.concatenate([[first], names[1:] != names[:-1]]))
        new = names[starts].tolist()
        if not self._met.isdisjoint(new) or len(set(new)) < len(new):
            for name, row in zip(new, starts.tolist(), strict=True):
                if name in self._met:
                    raise ComesBack(name, row)
                self._met.add(name)
        self._met.update(new)
        self._last = names[-1:].tolist()[0]
        return starts

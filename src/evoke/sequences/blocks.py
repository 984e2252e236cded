"""Sequences of any length, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "row_blocks"]


class Block(NamedTuple):
    """Some rows: whole sequences, or a part of one.

    Attributes
    ----------
    rows : slice
    offsets : int64 ndarray of shape (n_sequences + 1,)
        Where in the block each sequence begins, and the last ends.
    continues : bool
        Whether it goes on with the sequence of the block before.
    """

    rows: slice
    offsets: NDArray[np.int64]
    continues: bool


def row_blocks(offsets: NDArray[np.int64], size: int) -> Iterator[Block]:
    """Blocks of about `size` rows of the sequences with these offsets."""
    i, row, n = 0, 0, len(offsets) - 1
    while i < n:
        if offsets[i + 1] - row > size:  # a part of a sequence, or the rest of one
            end = row + size
            yield Block(slice(row, end), np.array([0, size]), row > offsets[i])
            row = end
            continue
        if row > offsets[i]:
            yield Block(slice(row, int(offsets[i + 1])), np.array([0, offsets[i + 1] - row]), True)
            i += 1
        else:
            last = max(i + 1, int(np.searchsorted(offsets, row + size, side="right")) - 1)
            yield Block(slice(row, int(offsets[last])), offsets[i : last + 1] - row, False)
            i = last
        row = int(offsets[i])

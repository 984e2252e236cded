"""Sequences with their common beginnings stored once: equal inputs from the start give equal states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke.sequences.containers import Sequences

__all__ = ["Segments", "share_prefixes"]

# Rows beyond which common beginnings are not looked for: finding them is a Python loop over the shared rows.
MAX_ROWS_TO_SHARE = 200_000


@dataclass(frozen=True)
class Segments:
    """Sequences with their common beginnings stored once.

    Attributes
    ----------
    rows : ndarray of shape (n_unique, n_columns)
    table : int64 ndarray of shape (4, n_runs)
        begin, end, parent and slot of each run of rows: its state starts from zero (parent -1) or from the end of an
        earlier run, whose last state is kept in a slot (-1: nobody needs it).
    row_of : int64 ndarray of shape (n_rows,)
        The unique row of every row of the sequences.
    """

    rows: NDArray[np.float64]
    table: NDArray[np.int64]
    row_of: NDArray[np.int64]


def share_prefixes(X: Sequences) -> Segments:
    """Find the common beginnings of sequences: equal inputs from the start give equal states, so they run once."""
    segments: list[tuple[int, int, int]] = []
    order: list[int] = []  # the row each unique row is copied from
    row_of = np.empty(len(X.rows), dtype=np.int64)
    begin, length = X.offsets[:-1], X.lengths

    def close(first: int, parent: int) -> int:
        """End the run that began at unique row `first`; an empty one is its parent."""
        if len(order) == first:
            return parent
        segments.append((first, len(order), parent))
        return len(segments) - 1

    share = len(X.rows) <= MAX_ROWS_TO_SHARE
    waiting = [(list(range(X.n_sequences)), 0, -1)]  # sequences alike up to step t, and the run that led there
    while waiting:
        members, t, parent = waiting.pop()
        first = len(order)
        groups: dict[bytes, list[int]] = {}
        while share and len(members) > 1:
            groups = {}
            for i in members:
                groups.setdefault(X.rows[begin[i] + t].tobytes(), []).append(i)
            if len(groups) > 1:
                break
            row_of[begin[members] + t] = len(order)
            order.append(int(begin[members[0]] + t))
            t += 1
            members = [i for i in members if t < length[i]]
        if len(members) == 1:  # alone: the rest of the sequence lengthens this run
            parent_of_rest, rest = parent, members
        else:
            parent_of_rest, rest = close(first, parent), [] if share else members
            first = len(order)
            waiting.extend((group, t, parent_of_rest) for group in reversed(groups.values()) if len(groups) > 1)
        for i in rest:
            row_of[begin[i] + t : begin[i] + length[i]] = np.arange(len(order), len(order) + length[i] - t)
            order.extend(range(int(begin[i] + t), int(begin[i] + length[i])))
            close(first, parent_of_rest)
            first = len(order)
    table = np.array(segments, dtype=np.int64).T.reshape(3, -1)
    parents = np.unique(table[2][table[2] >= 0])
    slot = np.full(table.shape[1], -1, dtype=np.int64)
    slot[parents] = np.arange(len(parents))
    return Segments(
        np.ascontiguousarray(X.rows[order]), np.ascontiguousarray(np.vstack([table, slot[None]])), row_of
    )

"""Which rows are trained on and which are held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.parameters import check_fraction
from evoke.sequences.containers import Sequences, Targets

__all__ = ["n_trained_on", "rows_behind_washout", "target_rows"]


def n_trained_on(n: int, validation: Any) -> int:
    """How many of n sequences, or steps of a single one, come before those held out."""
    return max(1, n - max(1, int(np.floor(check_fraction("validation", validation) * n + 0.5))))


def target_rows(X: Sequences, y: Targets, washout: int, name: str) -> NDArray[np.int64]:
    """The rows with a target behind the washout."""
    rows = rows_behind_washout(X, washout, name)
    return X.offsets[1:] - 1 if y.per_sequence else rows


def rows_behind_washout(X: Sequences, washout: int, name: str) -> NDArray[np.int64]:
    short = X.lengths <= washout
    if short.any():
        i = int(np.argmax(short))
        which = name if X.container == "2d" else f"{name}[{i}]"
        raise ValueError(f"washout={washout} leaves nothing of {which}, which has {X.lengths[i]} steps")
    step = np.arange(len(X.rows)) - np.repeat(X.offsets[:-1], X.lengths)
    return np.flatnonzero(step >= washout)

"""A frozen problem: everything that the fitness of a genome depends on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke.readouts import Readout
from evoke.sequences.prefixes import Runs

__all__ = ["Points", "Problem", "merge_points"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """Rows on which a readout is trained or judged.

    Attributes
    ----------
    rows : int64 ndarray of shape (n,)
        Indices into the unique rows of the problem.
    weights : ndarray of shape (n,)
        How many steps of the sequences each point stands for, or the sum of their weights.
    targets : ndarray of shape (n_outputs, n)
        +1 and -1, or values to be met in regression.
    """

    rows: NDArray[np.int64]
    weights: FloatArray
    targets: FloatArray


def merge_points(rows: NDArray[np.int64], targets: FloatArray, weights: FloatArray | None = None) -> Points:
    """Points of the steps with unique rows `rows` and targets (n_steps, n_outputs); equal steps become one point.

    A point of weight w is to an SVM what w equal points are: its coefficient is the sum of theirs, its bound w C.
    The steps may have `weights` (n_steps,) themselves; by default each counts once.
    """
    keyed = np.column_stack([rows.astype(np.float64), targets])
    unique, point = np.unique(keyed, axis=0, return_inverse=True)
    return Points(
        unique[:, 0].astype(np.int64), np.bincount(point.ravel(), weights, len(unique)).astype(np.float64),
        np.ascontiguousarray(unique[:, 1:].T),
    )  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """Everything that the fitness of a genome depends on."""

    runs: Runs
    train: Points
    validation: Points
    cell: str
    gate_bias: tuple[float, ...]
    readout: Readout
    objective: str
    exclusive: bool = False  # one class a step, decided by the largest value
    regression: bool = False
    epsilon: float = 0.0  # regression: errors that count and hinge leave free
    free: NDArray[np.int64] | None = None  # (n, 3): runs and row ranges through which networks feed on their own output
    feedback_scale: float = 1.0

    @property
    def n_inputs(self) -> int:
        return self.runs.rows.shape[1]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the whole: two problems with the same digest give a genome the same errors."""
        found = hashlib.sha256()
        for part in _parts(self):
            found.update(part)
        return found.hexdigest()


def _parts(value: Any) -> Iterator[bytes | memoryview]:
    if is_dataclass(value):
        yield type(value).__name__.encode()
        for field in fields(value):
            yield field.name.encode()
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield np.ascontiguousarray(value).data
    else:
        yield repr(value).encode()

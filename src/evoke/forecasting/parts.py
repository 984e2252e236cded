"""The series that readouts are trained on, and what networks make of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.forecasting.reader import ROWS, Reader, TeacherForced
from evoke.sequences.preparation import Units
from evoke.sequences.transformation import Transformation

__all__ = ["Part", "parts_of"]

LEAST_ROWS = 12  # to train on at the first origin


@dataclass(frozen=True, eq=False)
class Part:
    """A transformed series that readouts are trained on: from step `first` on, where networks have found their phase.

    Attributes
    ----------
    y, external : ndarray of shape (T, n_outputs), (T, n_external + 1)
        The series, and the inputs beside it.
    steps : tuple of int
        Origins in it, ascending.
    units : Units
        Those of the transformed series.
    w : ndarray of shape (T, n_outputs)
        The transformed series without units.
    read : TeacherForced
        Networks that read it, with their states at the origins.
    first : int
    """

    y: FloatArray
    external: FloatArray
    steps: tuple[int, ...]
    units: Units
    w: FloatArray
    read: TeacherForced
    first: int

    @classmethod
    def of(
        cls, reader: Reader, transformation: Transformation, y: FloatArray, external: FloatArray,
        steps: tuple[int, ...], *, keeps: bool,
    ) -> Part:  # fmt: skip
        """That of a series and the inputs beside it."""
        start = transformation.start
        transformed = transformation.apply(y)
        units = Units.of(transformed[start:])
        w = np.nan_to_num(units.to(transformed), nan=0.0)
        first = start + max(reader.readout_lags)
        if steps:
            first = max(start, min(first, steps[0] - LEAST_ROWS))
        return cls(y, external, steps, units, w, TeacherForced(reader, w, external, steps, keeps=keeps), first)

    @property
    def ends(self) -> list[int]:
        """How many rows there are before each origin."""
        return [step - self.first for step in self.steps]

    @property
    def n_before_origins(self) -> int:
        """Rows before the first origin; all, where there is none."""
        return self.ends[0] if self.steps else len(self.w) - self.first

    def blocks(self, until: float = np.inf) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Features (n_readouts, n, n_features) and targets (n, n_outputs) of one block of rows after the other."""
        for begin, features in self.read.blocks(until):
            skipped = max(0, self.first - begin)
            end = begin + features.shape[1]
            if begin + skipped < end:
                yield features[:, skipped:], self.w[begin + skipped : end]


def parts_of(
    reader: Reader, transformation: Transformation, series: Sequence[tuple[FloatArray, FloatArray]],
    origins: Sequence[tuple[int, ...]],
) -> list[Part]:  # fmt: skip
    """Those of series with the inputs beside them and the origins in them; what is too short is left out."""
    keeps = sum(len(y) for y, _ in series) <= ROWS
    return [
        Part.of(reader, transformation, y, external, steps, keeps=keeps)
        for (y, external), steps in zip(series, origins, strict=True)
        if len(y) > transformation.start
    ]

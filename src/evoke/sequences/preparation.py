"""What networks read in place of X, and the units of targets: columns of a mean of 0 and a deviation of 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from evoke._validation.arrays import FloatArray
from evoke.sequences.blocks import Block, row_blocks
from evoke.sequences.containers import Sequences

__all__ = ["Preparation", "Scaling", "Units", "mean_and_inverse"]

# A column that varies by less than this, relative to its largest value, is constant but for rounding.
_CONSTANT = 1e-12

# Of a smaller deviation the inverse may be infinite.
_SMALLEST = np.finfo(np.float64).tiny

# Rows of training data that are prepared at once.
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Preparation:
    """What networks read in place of X: its columns, their changes from step to step, and a constant.

    Attributes
    ----------
    lags : tuple of int
        The changes since this many steps before are columns of their own; 0 where a sequence has no such step yet.
    mean, inverse : ndarray of shape (n_columns,)
        Less `mean` and times `inverse`, the columns over all steps of the training data have a mean of 0 and a
        deviation of 1; constant ones become zero.
    """

    lags: tuple[int, ...]
    mean: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, X: Sequences, *, lags: tuple[int, ...], scaled: bool) -> Preparation:
        """That of training data."""
        n_columns = X.rows.shape[1] * (1 + len(lags))
        plain = cls(lags, np.zeros(n_columns), np.ones(n_columns))
        if not scaled:
            return plain

        def columns() -> Iterator[FloatArray]:
            return (plain.columns(part, before) for _, part, before in plain._parts(X, _ROWS))

        return cls(lags, *_mean_and_inverse(columns, len(X.rows)))

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return len(self.mean) // (1 + len(self.lags))

    @property
    def n_inputs(self) -> int:
        """Inputs of the networks, the last of which is always 1: the weights from it are biases that evolve."""
        return len(self.mean) + 1

    def columns(self, X: Sequences, before: FloatArray | None = None, out: FloatArray | None = None) -> FloatArray:
        """Columns of X, and their changes; `before` are the last rows before, where a single sequence continues."""
        if not self.lags and out is None:
            return X.rows
        n_rows, n = X.rows.shape
        found = np.empty((n_rows, n * (1 + len(self.lags)))) if out is None else out
        found[:, :n] = X.rows
        rows = X.rows if before is None else np.concatenate([before, X.rows])
        first = len(rows) - n_rows
        step = np.arange(n_rows) - np.repeat(X.offsets[:-1], X.lengths) if self.lags and X.n_sequences > 1 else None
        for k, lag in enumerate(self.lags, start=1):
            changes = found[:, k * n : (k + 1) * n]
            start = max(0, lag - first)
            changes[:start] = 0.0
            if start < n_rows:
                np.subtract(rows[first + start :], rows[first + start - lag : -lag], out=changes[start:])
            if step is not None:
                changes[step < lag] = 0.0
        return found

    def kept(self, rows: FloatArray, before: FloatArray | None) -> FloatArray:
        """The last of the `rows` that follow `before`, as far back as changes reach: what `columns` asks for next."""
        rows = rows if before is None else np.concatenate([before, rows])
        return rows[max(0, len(rows) - max(self.lags, default=0)) :]

    def apply(self, X: Sequences, before: FloatArray | None = None) -> Sequences:
        """The inputs of the networks."""
        inputs = np.ones((len(X.rows), self.n_inputs))
        columns = self.columns(X, before, inputs[:, :-1])
        columns -= self.mean
        columns *= self.inverse
        return replace(X, rows=inputs)

    def blocks(self, X: Sequences, size: int) -> Iterator[tuple[Block, FloatArray]]:
        """The inputs of the networks, about `size` rows at a time."""
        return ((block, self.apply(part, before).rows) for block, part, before in self._parts(X, size))

    def _parts(self, X: Sequences, size: int) -> Iterator[tuple[Block, Sequences, FloatArray | None]]:
        """About `size` rows at a time in double precision, and the rows before that changes in them reach back to."""
        before: FloatArray | None = None
        for block in row_blocks(X.offsets, size):
            rows = np.ascontiguousarray(X.rows[block.rows], dtype=np.float64)
            before = before if block.continues else None
            yield block, Sequences(rows, block.offsets, "list"), before
            before = self.kept(rows, before)


def _mean_and_deviation(blocks: Callable[[], Iterable[FloatArray]], n: int) -> tuple[FloatArray, FloatArray]:
    """Those of columns with n rows in all; a deviation of 0 where one does not vary but for rounding.

    The blocks are gone through three times.
    """
    largest = np.max([np.maximum(values.max(axis=0), -values.min(axis=0)) for values in blocks()], axis=0)
    # sums and squares of very large or small values leave the range of float64; powers of two change no other bit
    unit = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    mean = _sum(values / unit for values in blocks()) / n

    def squares() -> Iterator[FloatArray]:
        for values in blocks():
            scaled = values / unit
            scaled -= mean
            scaled *= scaled
            yield scaled

    deviation = np.sqrt(_sum(squares()) / n) * unit
    return mean * unit, np.where(deviation > np.maximum(_CONSTANT * largest, _SMALLEST), deviation, 0.0)


def _sum(blocks: Iterator[FloatArray]) -> FloatArray:
    """The sum of all rows of blocks, which it may change; of several columns in the order of one whole array."""
    total: FloatArray = np.sum(next(blocks), axis=0)
    for values in blocks:
        values[0] += total
        total = np.sum(values, axis=0)
    return total


def _mean_and_inverse(blocks: Callable[[], Iterable[FloatArray]], n: int) -> tuple[FloatArray, FloatArray]:
    """Mean of columns with n rows in all and 1 / deviation; 0 where one does not vary."""
    mean, deviation = _mean_and_deviation(blocks, n)
    return mean, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0.0)


def mean_and_inverse(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean of columns and 1 / deviation; 0 where one does not vary."""
    return _mean_and_inverse(lambda: (values[k : k + _ROWS] for k in range(0, len(values), _ROWS)), len(values))


@dataclass(frozen=True, eq=False)
class Scaling:
    """What brings columns to a mean of 0 and a deviation of 1 over the training data; constant ones become zero.

    Attributes
    ----------
    mean, inverse : ndarray of shape (n_columns,)
    """

    mean: FloatArray
    inverse: FloatArray
    limit: float = np.inf

    @classmethod
    def of(cls, values: FloatArray, *, scaled: bool = True) -> Scaling:
        """That of values (n, n_columns); if not `scaled` they stay as they are."""
        if not scaled:
            return cls(np.zeros(values.shape[1]), np.ones(values.shape[1]))
        return cls(*mean_and_inverse(values), 3.0)

    def apply(self, values: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Scaled values."""
        out = np.subtract(values, self.mean, out=out)
        out *= self.inverse
        return np.clip(out, -self.limit, self.limit, out=out)


@dataclass(frozen=True, eq=False)
class Units:
    """Those of the targets, which readouts are trained without.

    Attributes
    ----------
    mean, deviation : ndarray of shape (n_outputs,)
    """

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, targets: FloatArray) -> Units:
        """Mean and deviation of targets (n, n_outputs); a deviation of 1 where they do not vary."""
        mean, deviation = _mean_and_deviation(lambda: [targets], len(targets))
        return cls(mean, np.where(deviation > 0.0, deviation, 1.0))

    @classmethod
    def none(cls, targets: FloatArray) -> Units:
        """Those of targets that stay as they are."""
        return cls(np.zeros(targets.shape[1]), np.ones(targets.shape[1]))

    def to(self, targets: FloatArray) -> FloatArray:
        """Targets (n, n_outputs) without units."""
        return (targets - self.mean) / self.deviation

"""From whole sequences to features: what networks read in place of X, and the statistics of their activations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evoke._core import pooled
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.errors import shown
from evoke.sequences.containers import Sequences

__all__ = ["Memories", "Pooling", "Preparation", "Units", "check_lengths"]

# A column that varies by less than this, relative to its largest value, is constant but for rounding.
_CONSTANT = 1e-12

_LIMIT = 3.0  # of features, in deviations


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
        columns = plain.columns(X)
        return cls(lags, *_mean_and_inverse(columns))

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return len(self.mean) // (1 + len(self.lags))

    @property
    def n_inputs(self) -> int:
        """Inputs of the networks, the last of which is always 1: the weights from it are biases that evolve."""
        return len(self.mean) + 1

    def columns(self, X: Sequences, before: FloatArray | None = None) -> FloatArray:
        """Columns of X, and their changes; `before` are the last rows before, where a single sequence continues."""
        if not self.lags:
            return X.rows
        columns = [X.rows]
        if before is not None:
            rows = np.concatenate([before, X.rows])
            return np.concatenate(
                [X.rows, *(_changes(rows, lag)[len(before) :] for lag in self.lags)], axis=1
            )
        step = np.arange(len(X.rows)) - np.repeat(X.offsets[:-1], X.lengths)  # of its sequence
        for lag in self.lags:
            columns.append(np.where((step >= lag)[:, None], _changes(X.rows, lag), 0.0))
        return np.concatenate(columns, axis=1)

    def kept(self, rows: FloatArray, before: FloatArray | None) -> FloatArray:
        """The last of the `rows` that follow `before`, as far back as changes reach: what `columns` asks for next."""
        rows = rows if before is None else np.concatenate([before, rows])
        return rows[max(0, len(rows) - max(self.lags, default=0)) :]

    def apply(self, X: Sequences, before: FloatArray | None = None) -> Sequences:
        """The inputs of the networks."""
        inputs = np.ones((len(X.rows), self.n_inputs))
        inputs[:, :-1] = (self.columns(X, before) - self.mean) * self.inverse
        return replace(X, rows=inputs)


def _mean_and_deviation(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Those of columns; a deviation of 0 where one does not vary but for rounding."""
    mean = values.mean(axis=0)
    deviation = np.sqrt(((values - mean) ** 2).mean(axis=0))
    return mean, np.where(deviation > _CONSTANT * np.abs(values).max(axis=0), deviation, 0.0)


def _mean_and_inverse(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean of columns and 1 / deviation; 0 where one does not vary."""
    mean, deviation = _mean_and_deviation(values)
    return mean, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0.0)


def _changes(rows: FloatArray, lag: int) -> FloatArray:
    """Rows less those `lag` before them; 0 for the first ones."""
    changes = np.zeros_like(rows)
    np.subtract(rows[lag:], rows[:-lag], out=changes[lag:])
    return changes


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
        mean, deviation = _mean_and_deviation(targets)
        return cls(mean, np.where(deviation > 0.0, deviation, 1.0))

    @classmethod
    def none(cls, targets: FloatArray) -> Units:
        """Those of targets that stay as they are."""
        return cls(np.zeros(targets.shape[1]), np.ones(targets.shape[1]))

    def to(self, targets: FloatArray) -> FloatArray:
        """Targets (n, n_outputs) without units."""
        return (targets - self.mean) / self.deviation


@dataclass(frozen=True, eq=False)
class Pooling:
    """Features of a whole sequence: statistics of the activations of one or several networks, in units of their spread.

    Attributes
    ----------
    pool : tuple of str
        The statistics.
    washout : int
        Steps at the beginning that do not count.
    mean, inverse : ndarray of shape (n_features,)
        What brings the features to a mean of 0 and a deviation of 1 over the training data.
    limit : float
        Features beyond it count as if they were at it: few sequences with rare values then do not outweigh the others.
    """

    pool: tuple[str, ...]
    washout: int
    mean: FloatArray
    inverse: FloatArray
    limit: float = np.inf

    @classmethod
    def of(cls, statistics: FloatArray, pool: tuple[str, ...], washout: int, *, scaled: bool) -> Pooling:
        """That of the statistics (n_sequences, n_features) of training data."""
        n_features = statistics.shape[1]
        if not scaled:
            return cls(pool, washout, np.zeros(n_features), np.ones(n_features))
        return cls(pool, washout, *_mean_and_inverse(statistics), _LIMIT)

    @staticmethod
    def statistics(networks: Network, inputs: Sequences, pool: tuple[str, ...], washout: int) -> FloatArray:
        """The statistics (n_sequences, n_features), network after network."""
        found = pooled.pooled(networks, inputs.rows, inputs.offsets, pool, washout)
        return np.ascontiguousarray(found.transpose(1, 0, 2)).reshape(inputs.n_sequences, -1)

    def features(self, networks: Network, inputs: Sequences) -> FloatArray:
        """The features (n_sequences, n_features)."""
        return self.scaled(self.statistics(networks, inputs, self.pool, self.washout))

    def scaled(self, statistics: FloatArray) -> FloatArray:
        """Statistics in units of their spread."""
        return np.clip((statistics - self.mean) * self.inverse, -self.limit, self.limit)

    def running(self, networks: Network) -> pooled.Running:
        """What gives the statistics of one sequence after each of its steps."""
        return pooled.Running(len(networks.genome), networks.n_cells, self.pool, self.washout)


@dataclass(frozen=True)
class Memories:
    """Draws chromosomes of cells with different memories and different ranges of weights, to start from.

    Attributes
    ----------
    n_inputs : int
        Inputs of the networks, the last of which is always 1.
    weight_range : float
        The largest range. That of a cell is drawn between a thirtieth of it and itself, evenly in its logarithm.
    n_steps : float
        Steps of a sequence. A cell with a forget bias of b forgets within about exp(b) steps; b is drawn from 0 to the
        logarithm of `n_steps`, as the square of what is even, so that more cells have short memories than long ones.
    n_lags : int
        Lags whose changes stand among the inputs (see `Preparation`). A cell reads those of none, one or two of them,
        as likely each, so that what one task needs and another takes for noise is not in all cells.
    """

    n_inputs: int
    weight_range: float
    n_steps: float
    n_lags: int = 0

    def __call__(self, generator: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        """Chromosomes ``[z | input | forget | output] x [inputs, cells]`` of this shape."""
        size = self.weight_range * 10.0 ** generator.uniform(-1.5, 0.0, (shape[0], 1))
        chromosomes = size * generator.uniform(-1.0, 1.0, shape)
        weights = chromosomes.reshape(shape[0], 4, -1)
        longest = np.log(max(2.0, self.n_steps))
        weights[:, 2, self.n_inputs - 1] = longest * generator.uniform(0.0, 1.0, shape[0]) ** 2
        if self.n_lags:
            order = generator.random((shape[0], self.n_lags)).argsort(axis=1).argsort(axis=1)
            read = order < generator.integers(0, 3, (shape[0], 1))
            n_columns = (self.n_inputs - 1) // (1 + self.n_lags)
            weights[:, :, n_columns : self.n_inputs - 1] *= np.repeat(read, n_columns, axis=1)[:, None, :]
        return chromosomes


def check_lengths(X: Sequences, washout: int, name: str = "X") -> None:
    """That every sequence is longer than the washout."""
    short = X.lengths <= washout
    if short.any():
        i = int(np.argmax(short))
        which = name if X.container == "2d" else f"{name}[{i}]"
        raise ValueError(f"washout={shown(washout)} leaves nothing of {which}, which has {X.lengths[i]} steps")

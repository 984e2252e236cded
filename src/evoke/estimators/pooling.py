"""From whole sequences to features: statistics of the activations of networks, and points of the sequences."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evoke._core import pooled
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.errors import shown
from evoke.sequences.containers import Sequences
from evoke.sequences.preparation import mean_and_inverse

__all__ = ["Pooling", "Resampled", "SoFar", "check_lengths"]

_LIMIT = 3.0  # of features, in deviations


@dataclass(frozen=True)
class Resampled:
    """Points of a sequence at equal distances, from its first step to its last.

    Attributes
    ----------
    n : int
        Points of each column; 0: none.
    n_columns : int
        Columns that are read, the first ones.
    """

    n: int
    n_columns: int

    @property
    def n_features(self) -> int:
        """Points of all columns."""
        return self.n * self.n_columns

    def values(self, rows: FloatArray, first: NDArray[np.int64], last: NDArray[np.int64]) -> FloatArray:
        """The points (n_sequences, n_features), column after column, of sequences from a first to a last row.

        Between steps they are interpolated linearly, as by `numpy.interp`; a single step is repeated.
        """
        place = np.linspace(0.0, 1.0, self.n) * (last - first)[:, None]
        before = np.minimum(place.astype(np.int64), np.maximum(last - first - 1, 0)[:, None])
        part = (place - before)[:, :, None]
        row, columns = first[:, None] + before, rows[:, : self.n_columns]
        values = (1.0 - part) * columns[row] + part * columns[np.minimum(row + 1, last[:, None])]
        return values.transpose(0, 2, 1).reshape(len(first), -1)


@dataclass(frozen=True, eq=False)
class Pooling:
    """Features of a whole sequence, in units of their spread: statistics of the activations of one or several networks.

    Points of the sequence itself may stand beside them.

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
    points : Resampled
        Of the columns of X, as networks read them.
    weight : float
        What the points are multiplied by in the end.
    """

    pool: tuple[str, ...]
    washout: int
    mean: FloatArray
    inverse: FloatArray
    limit: float
    points: Resampled
    weight: float

    @classmethod
    def of(
        cls, networks: Network, inputs: Sequences, pool: tuple[str, ...], washout: int, points: Resampled, *,
        scaled: bool,
    ) -> tuple[Pooling, FloatArray]:  # fmt: skip
        """That of training data, and their features."""
        none = np.empty(0)
        own = cls(pool, washout, none, none, np.inf, points, 1.0)
        values = own.values(networks, inputs)
        if scaled:
            mean, inverse = mean_and_inverse(values)
            weight = points_weight(inverse, points.n_features, len(networks.genome))
            own = replace(own, mean=mean, inverse=inverse, limit=_LIMIT, weight=weight)
        else:
            own = replace(own, mean=np.zeros(values.shape[1]), inverse=np.ones(values.shape[1]))
        return own, own.scaled(values)

    def n_features(self, networks: Network) -> int:
        """Numbers that the readout reads of a sequence."""
        return len(networks.genome) * networks.n_cells * pooled.n_pooled(self.pool) + self.points.n_features

    def features(self, networks: Network, inputs: Sequences) -> FloatArray:
        """The features (n_sequences, n_features): those of network after network, then the points."""
        return self.scaled(self.values(networks, inputs))

    def values(self, networks: Network, inputs: Sequences) -> FloatArray:
        """The features (n_sequences, n_features) in units of their own."""
        found = pooled.pooled(networks, inputs.rows, inputs.offsets, self.pool, self.washout)
        statistics = np.ascontiguousarray(found.transpose(1, 0, 2)).reshape(inputs.n_sequences, -1)
        return self.joined(statistics, inputs.rows, inputs.offsets[:-1] + self.washout, inputs.offsets[1:] - 1)

    def joined(
        self, statistics: FloatArray, rows: FloatArray, first: NDArray[np.int64], last: NDArray[np.int64]
    ) -> FloatArray:
        """Statistics of sequences with their points beside them, if any."""
        if self.points.n == 0:
            return statistics
        return np.concatenate([statistics, self.points.values(rows, first, last)], axis=1)

    def scaled(self, values: FloatArray) -> FloatArray:
        """Features in units of their spread."""
        features = np.clip((values - self.mean) * self.inverse, -self.limit, self.limit)
        if self.points.n > 0:
            features[:, -self.points.n_features :] *= self.weight
        return features

    def so_far(self, networks: Network) -> SoFar:
        """What gives the features of one sequence after each of its steps."""
        return SoFar(self, networks)


class SoFar:
    """The features of one sequence after each of its steps, which come piece by piece.

    Points move with every step, so all rows are kept where there are any.
    """

    def __init__(self, pooling: Pooling, networks: Network):
        self._pooling = pooling
        self._running = pooled.Running(len(networks.genome), networks.n_cells, pooling.pool, pooling.washout)
        self._rows, self._n = np.empty((0, pooling.points.n_columns)), 0

    def features(self, phi: FloatArray, rows: FloatArray) -> FloatArray:
        """Those (n_steps, n_features) after each of the next steps, from activations and inputs."""
        statistics, pooling = self._running.follow(phi), self._pooling
        if pooling.points.n > 0:
            self._keep(rows)
        last = np.arange(self._n - len(rows), self._n)
        # as long as the washout lasts the steps so far count, as for the statistics
        first = np.where(last >= pooling.washout, pooling.washout, 0)
        return pooling.scaled(pooling.joined(statistics, self._rows, first, last))

    def _keep(self, rows: FloatArray) -> None:
        n, n_columns = self._n + len(rows), self._rows.shape[1]
        if n > len(self._rows):  # twice the room, so that a row is copied once or twice on average
            self._rows = np.concatenate([self._rows[: self._n], np.empty((2 * n - self._n, n_columns))])
        self._rows[self._n : n] = rows[:, :n_columns]
        self._n = n


def points_weight(inverse: FloatArray, n_points: int, n_networks: int) -> float:
    """By what points are multiplied so that all of them count as much as the square root of `n_networks` networks.

    Features that vary are counted, each of which has a deviation of 1. In trials points of the weight of one network
    changed nothing, and of that of all networks did harm as often as good.
    """
    n_varying = np.count_nonzero(inverse[len(inverse) - n_points :])
    n_pooled = np.count_nonzero(inverse[: len(inverse) - n_points])
    return float(np.sqrt(n_pooled / np.sqrt(n_networks) / n_varying)) if n_pooled and n_varying else 1.0


def check_lengths(X: Sequences, washout: int, name: str = "X") -> None:
    """That every sequence is longer than the washout."""
    short = X.lengths <= washout
    if short.any():
        i = int(np.argmax(short))
        which = name if X.container == "2d" else f"{name}[{i}]"
        raise ValueError(f"washout={shown(washout)} leaves nothing of {which}, which has {X.lengths[i]} steps")

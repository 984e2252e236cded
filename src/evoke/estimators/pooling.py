"""From whole sequences to features: the statistics of the activations of networks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evoke._core import pooled
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.errors import shown
from evoke.sequences.containers import Sequences
from evoke.sequences.preparation import mean_and_inverse

__all__ = ["Pooling", "check_lengths"]

_LIMIT = 3.0  # of features, in deviations


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
        return cls(pool, washout, *mean_and_inverse(statistics), _LIMIT)

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


def check_lengths(X: Sequences, washout: int, name: str = "X") -> None:
    """That every sequence is longer than the washout."""
    short = X.lengths <= washout
    if short.any():
        i = int(np.argmax(short))
        which = name if X.container == "2d" else f"{name}[{i}]"
        raise ValueError(f"washout={shown(washout)} leaves nothing of {which}, which has {X.lengths[i]} steps")

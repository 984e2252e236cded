"""One readout of many whole sequences that several networks read: a machine on landmarks of their pooled features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke.engine import Engine
from evoke.estimators.blocks import in_order, sequence_blocks
from evoke.estimators.landmark_fit import MOST_KEPT, fit_on_landmarks
from evoke.estimators.pooling import Pooling, Resampled
from evoke.evolution.problem import PooledProblem
from evoke.landmarks import together
from evoke.readouts import LandmarkReadout
from evoke.sequences.containers import Sequences
from evoke.sequences.preparation import Preparation, Units

__all__ = ["ManySequences"]

# Blocks of sequences whose features are in memory.
AT_A_TIME = 8


@dataclass(frozen=True)
class ManySequences:
    """The networks of the hall of fame, whose pooled features are read by one machine on landmarks.

    Attributes
    ----------
    problem : PooledProblem
        Its inputs and points are all sequences.
    readout : LandmarkReadout
        The grid of widths and capacities.
    preparation : Preparation
    units : Units
        Of the targets.
    entropy : int
        From which the streams of random numbers are derived.
    n_threads : int
    most_kept : int
        As in `fit_on_landmarks`.
    """

    problem: PooledProblem
    readout: LandmarkReadout
    preparation: Preparation
    units: Units
    entropy: int
    n_threads: int = 1
    most_kept: int = MOST_KEPT

    def __call__(self, esp: Engine) -> dict[str, Any]:
        """The fields `network`, a population, `readout`, `preparation`, `pooling` and `left_out`."""
        problem = self.problem
        none = np.empty(0)
        points = Resampled(0, self.preparation.n_features)
        plain = Pooling(problem.pool, problem.washout, none, none, np.inf, points, 1.0)
        rows = _PooledRows(problem, np.stack(esp.hall), plain, self.entropy)
        with in_order(self.n_threads) as map_:
            found = fit_on_landmarks(rows, self.readout, self.units, problem.objective, map_, self.most_kept)
        # of all others it is not known how they are decided without them
        left_out = np.full(rows.targets.shape, np.nan)
        left_out[found.judged] = found.decisions
        scaling = found.scaling
        return {
            "network": rows.networks(found.n_networks), "readout": found.readout, "preparation": self.preparation,
            "pooling": replace(plain, mean=scaling.mean, inverse=scaling.inverse, limit=scaling.limit),
            "left_out": left_out,
        }  # fmt: skip


class _PooledRows:
    """Whole sequences, as machines read them."""

    settled: NDArray[np.bool_] | None = None  # all sequences begin anew

    def __init__(self, problem: PooledProblem, genomes: FloatArray, pooling: Pooling, entropy: int):
        self.targets = np.ascontiguousarray(problem.points.targets.T)
        self.weights, self.entropy = problem.points.weights, entropy
        self.part = np.arange(len(self.weights))
        self.n_networks = len(genomes)
        self._problem, self._genomes, self._pooling = problem, genomes, pooling
        self.n_columns = pooling.n_features(self.networks(1))

    def networks(self, n: int) -> Network:
        """The first n networks."""
        return self._problem.networks(self._genomes[:n])

    def blocks(self, n_networks: int, map_: Callable[..., Any]) -> Iterator[tuple[slice, FloatArray]]:
        """Features of one block of sequences after the other."""
        networks = self.networks(n_networks)

        def features(part: tuple[slice, Sequences]) -> tuple[slice, FloatArray]:
            return part[0], self._pooling.values(networks, part[1])

        # a pool of threads would begin with all blocks at once, and keep what nobody has asked for yet
        for several in together(sequence_blocks(self._problem.inputs), AT_A_TIME):
            yield from map_(features, several)

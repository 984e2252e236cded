"""Networks that are judged on a sample of the steps, drawn afresh and growing from generation to generation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke._validation.computed import computed_once
from evoke.evolution.problem import AnyProblem, InBlocks, Objective, Points, Problem, digest_of, of_precision
from evoke.readouts import LandmarkReadout
from evoke.sequences.containers import Sequences
from evoke.sequences.prefixes import Segments
from evoke.sequences.preparation import Preparation

__all__ = ["DOUBLINGS", "PosedProblem", "SampledProblem"]

# First word of the spawn key of the streams of samples; those of the evolution and of `validation` have others.
_SAMPLE = 7

# Pieces that a sample of a long sequence is made of, and their fewest steps. A network reads twice as many steps before
# those that count.
PIECES, SHORTEST, LEAD = 16, 32, 2

# Doublings after which a sample grows no more.
DOUBLINGS = 2

_ROWS = 4096  # that are prepared at once


@dataclass(frozen=True, eq=False)
class SampledProblem:
    """The fitness of networks whose steps are read by machines on landmarks, on pieces of the sequences.

    Attributes
    ----------
    X : Sequences
        Rows that may be those of a file.
    preparation : Preparation
        What the networks read in their place.
    targets : ndarray of shape (n_rows, n_outputs)
    weights : ndarray of shape (n_rows,)
        0: the step does not count.
    cell : str
    gate_bias : tuple of 3 floats
    readout : LandmarkReadout
    objective : Objective
    n_samples : int
        Steps of the first generation, about; each generation has twice those of the one before, twice.
    entropy : int
        From which the streams of random numbers are derived.
    dtype : {"float64", "float32"}
        The precision in which networks are judged.
    """

    X: Sequences
    preparation: Preparation
    targets: FloatArray
    weights: FloatArray
    cell: str
    gate_bias: tuple[float, ...]
    readout: LandmarkReadout
    objective: Objective
    n_samples: int
    entropy: int
    dtype: str = "float64"

    evolved = None  # C and gamma are found on the sample

    @property
    def n_inputs(self) -> int:
        return self.preparation.n_inputs

    def networks(self, genomes: FloatArray) -> Network:
        """One network, or a population, of these genomes."""
        return Network(np.ascontiguousarray(genomes), self.cell, self.gate_bias)

    @computed_once
    def digest(self) -> str:
        """SHA-256 of the whole: two problems with the same digest give a genome the same errors."""
        inputs = (part for _, part in self.preparation.blocks(self.X, _ROWS))
        return digest_of("SampledProblem", {
            "rows": InBlocks((len(self.X.rows), self.n_inputs), inputs), "offsets": self.X.offsets,
            "targets": self.targets, "weights": self.weights,
            "cell": self.cell, "gate_bias": self.gate_bias, "readout": ("LandmarkReadout", vars(self.readout)),
            "objective": ("Objective", vars(self.objective)), "n_samples": self.n_samples, "entropy": self.entropy,
        } | of_precision(self.dtype))  # fmt: skip

    def at(self, generation: int) -> Problem:
        """The problem of a generation: pieces of the sequences, every second one of which is held out."""
        n_samples = self.n_samples * 2 ** min(generation, DOUBLINGS)
        generator = Generator(PCG64(SeedSequence(self.entropy, spawn_key=(_SAMPLE, generation))))
        lead, first, end = self._pieces(n_samples, generator)
        rows = ranges(lead, end)
        begin = np.concatenate([[0], np.cumsum(end - lead)])
        table = np.stack([begin[:-1], begin[1:], np.full(len(lead), -1), np.full(len(lead), -1)]).astype(np.int64)
        segments = Segments(self._inputs(lead, end), table, np.arange(len(rows)))
        counts = ranges(begin[1:] - (end - first), begin[1:])
        piece = np.repeat(np.arange(len(lead)), end - first)
        weighted = self.weights[rows[counts]] > 0
        train, held = (self._points(rows, counts[weighted & (piece % 2 == part)]) for part in (0, 1))
        return Problem(
            segments, train, held, self.cell, self.gate_bias, self.readout, self.objective, dtype=self.dtype
        )

    def _inputs(self, begin: NDArray[np.int64], end: NDArray[np.int64]) -> FloatArray:
        """What networks read in pieces of the sequences, end to end: the bits are those in the whole."""
        X = self.X
        # a piece is prepared with as many rows before it as changes reach back to
        first = np.maximum(X.offsets[X.sequence_of(begin)], begin - max(self.preparation.lags, default=0))
        rows = ranges(first, end)
        offsets = np.concatenate([[0], np.cumsum(end - first)])
        pieces = Sequences(np.asarray(X.rows[rows], dtype=np.float64), offsets, "list")
        return self.preparation.apply(pieces).rows[rows >= np.repeat(begin, end - first)]

    def _points(self, rows: NDArray[np.int64], counts: NDArray[np.int64]) -> Points:
        return Points(counts, self.weights[rows[counts]], np.ascontiguousarray(self.targets[rows[counts]].T))

    def _pieces(
        self, n_samples: int, generator: Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Where pieces begin to be read, begin to count, and end; no step counts in two of them.

        There is one in each part of the steps that count, at a random step, so that all parts are seen. Where the steps
        in all are no more than the sample, the sequences are cut at equal distances.
        """
        offsets, counted = self.X.offsets, self.counted
        length = max(SHORTEST, n_samples // PIECES)
        # of sequences that are not much longer than a piece, all is one
        n = int(np.ceil(min(n_samples, len(counted)) / np.minimum(self.X.lengths, length).mean()))
        n = max(2, min(n, len(counted)))
        edges = np.arange(n + 1) * len(counted) // n
        if n_samples >= len(counted):
            first = counted[edges[:-1]]
        else:
            first = counted[generator.integers(edges[:-1], np.maximum(edges[1:] - length, edges[:-1]) + 1)]
        sequence = self.X.sequence_of(first)
        begin, last = offsets[sequence], offsets[sequence + 1]
        whole = last - begin <= (1 + LEAD) * length
        if whole.all():  # each sequence once
            _, once = np.unique(sequence, return_index=True)
            if len(once) > 1:
                return begin[once], begin[once], last[once]
        lead = np.where(whole, begin, np.maximum(begin, first - LEAD * length))
        return lead, first, np.minimum(first + length, np.minimum(last, np.append(first[1:], last[-1])))

    @computed_once
    def counted(self) -> NDArray[np.int64]:
        """The rows that count."""
        return np.flatnonzero(self.weights > 0)


# What a run is for.
PosedProblem = AnyProblem | SampledProblem


def ranges(begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers from each `begin` to its `end`, end to end."""
    lengths = end - begin
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths - begin, lengths)

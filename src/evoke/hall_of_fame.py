"""The best networks of a whole run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray

__all__ = ["HallOfFame"]


class HallOfFame:
    """Up to `size` of the best networks so far, no two of which have more than half of their chromosomes in common.

    Parameters
    ----------
    lengths : tuple of int
        Chromosome lengths of the networks.
    size : int

    Attributes
    ----------
    genomes : ndarray of shape (n_kept, sum(lengths))
        Chromosomes end to end, the best network first.
    fitness : ndarray of shape (n_kept,)
    """

    def __init__(self, lengths: tuple[int, ...], size: int):
        self.size = size
        self.genomes = np.empty((0, sum(lengths)))
        self.fitness = np.empty(0)
        self._n_chromosomes = len(lengths)
        self._ends = np.cumsum(lengths)[:-1]

    def __len__(self) -> int:
        return len(self.fitness)

    @property
    def best_fitness(self) -> float:
        """Fitness of the best network; inf while there is none."""
        return float(self.fitness[0]) if len(self) else np.inf

    def chromosomes(self, k: int) -> list[FloatArray]:
        """Copies of the chromosomes of the k-th best network."""
        return np.split(self.genomes[k].copy(), self._ends)

    def enter(self, fitness: FloatArray, members: NDArray[np.intp], subpopulations: list[FloatArray]) -> None:
        """Let in the networks of a generation that are better than those they are like.

        Parameters
        ----------
        fitness : ndarray of shape (n_networks,)
            Without NaN. What is infinite does not enter; of equal ones the first does.
        members : ndarray of shape (n_subpopulations, n_networks)
            The chromosomes of the networks.
        subpopulations : list of ndarray (n_chromosomes, length_i)
        """
        newcomers = np.argsort(fitness, kind="stable")[: np.count_nonzero(fitness < np.inf)]
        if len(self) == self.size:
            newcomers = newcomers[fitness[newcomers] < self.fitness[-1]]
        if self.size == 1:  # no need to look at the rest
            newcomers = newcomers[:1]
        if len(newcomers) == 0:
            return
        genomes = np.concatenate(
            [part[members[i, newcomers]] for i, part in enumerate(subpopulations)], axis=1
        )  # fmt: skip
        self._keep(np.concatenate([self.genomes, genomes]), np.concatenate([self.fitness, fitness[newcomers]]))

    def judge_anew(self, fitness: FloatArray) -> None:
        """Give all networks another fitness; those of NaN and infinity are forgotten."""
        order = np.argsort(fitness, kind="stable")
        order = order[fitness[order] < np.inf]
        self.genomes, self.fitness = self.genomes[order], fitness[order]

    def _keep(self, genomes: FloatArray, fitness: FloatArray) -> None:
        """The best of these, each unless a better one is like it."""
        begins = np.concatenate([[0], self._ends])
        kept: list[int] = []
        for k in np.argsort(fitness, kind="stable").tolist():
            if len(kept) == self.size:
                break
            same = np.logical_and.reduceat(genomes[kept] == genomes[k], begins, axis=1)
            if not (2 * np.count_nonzero(same, axis=1) > self._n_chromosomes).any():
                kept.append(k)
        self.genomes, self.fitness = genomes[kept], fitness[kept]

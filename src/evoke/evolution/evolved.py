"""Parameters of the readout that evolve with the network (the paper's outlook)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evoke._core.dispatch import apply
from evoke._validation.arrays import FloatArray

__all__ = ["Evolved", "as_genomes"]

# Where networks begin, evenly in the logarithm, and beyond what a value counts as the limit: a readout "svm" with a
# larger C is not trained in reasonable time, one of "lssvm" is singular.
START = {"svm": {"C": (1.0, 1e4), "gamma": (0.01, 100.0)}, "lssvm": {"C": (1.0, 1e10), "gamma": (0.01, 100.0)}}
LIMITS = {"svm": {"C": (1e-3, 1e6), "gamma": (1e-6, 1e6)}, "lssvm": {"C": (1e-3, 1e15), "gamma": (1e-6, 1e6)}}

# Half of the Cauchy noise changes a value by less than this, in natural logarithms.
MUTATION_SCALE = 0.3


def as_genomes(chromosomes: FloatArray | list[FloatArray]) -> FloatArray:
    """What an engine gives, as one array: chromosomes of several lengths end to end (..., sum of lengths)."""
    return chromosomes if isinstance(chromosomes, np.ndarray) else np.concatenate(chromosomes, axis=-1)


@dataclass(frozen=True)
class Evolved:
    """C, gamma or both, whose natural logarithms are the last chromosome of a genome, after those of the cells.

    Attributes
    ----------
    n_cells : int
    readout : {"svm", "lssvm"}
    names : tuple of {"C", "gamma"}
        What evolves, in the order of the chromosome.
    """

    n_cells: int
    readout: str
    names: tuple[str, ...]

    def limits(self, name: str) -> tuple[float, float]:
        """The least and the largest value; one beyond them counts as the limit."""
        return LIMITS[self.readout][name]

    def start(self, generator: Generator, shape: tuple[int, int]) -> FloatArray:
        """Chromosomes to start from."""
        low, high = self._logarithms()
        return generator.uniform(low, high, shape)

    def _logarithms(self) -> FloatArray:
        """Those of the least and the largest values to start from."""
        return np.log([START[self.readout][name] for name in self.names]).T

    def weights(self, genomes: FloatArray) -> FloatArray:
        """The weights (..., n_cells, length) in genomes (..., n)."""
        weights = genomes[..., : -len(self.names)]
        return weights.reshape(*weights.shape[:-1], self.n_cells, -1)

    def values(self, genomes: FloatArray) -> dict[str, FloatArray]:
        """The values (...) in genomes (..., n), by name."""
        logarithms = genomes[..., -len(self.names) :]
        # the core's exponential has the same bits with every instruction set
        return {
            name: np.clip(apply("exp", logarithms[..., k]), *self.limits(name)) for k, name in enumerate(self.names)
        }

    def engine(self, mutation_scale: float, burst_scale: float | None) -> dict[str, Any]:
        """Parameters of `ESP` with one more subpopulation: the noise of that of the cells is of another kind."""
        own = (MUTATION_SCALE,)
        return {
            "mutation_scale": (mutation_scale,) * self.n_cells + own,
            "burst_scale": None if burst_scale is None else (burst_scale,) * self.n_cells + own,
            "initial": (None,) * self.n_cells + (self.start,),
        }

    def distribution(self, weight_range: float) -> dict[str, Any]:
        """Parameters of `CMAES`: the logarithms have the mean and the deviation of `start`, and so their own steps."""
        low, high = self._logarithms()
        return {
            "step_size": (
                *(weight_range / math.sqrt(3.0),) * self.n_cells, float(np.mean(high - low)) / math.sqrt(12.0)
            ),
            "initial": (None,) * self.n_cells + ((low + high) / 2.0,),
        }  # fmt: skip

    def record(self, best: list[NDArray[np.float64]] | None) -> dict[str, float]:
        """What the history says: the values of the best network so far, NaN while there is none."""
        if best is None:
            return dict.fromkeys(self.names, np.nan)
        return {name: float(value) for name, value in self.values(as_genomes(best)).items()}

"""Networks to start from: cells with different memories and different ranges of weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evoke._validation.arrays import FloatArray

__all__ = ["Memories"]


@dataclass(frozen=True)
class Memories:
    """Draws chromosomes of cells with different memories and different ranges of weights, to start from.

    Attributes
    ----------
    n_inputs : int
        Inputs of the networks, the last of which is always 1.
    weight_range : float
        The largest range. That of a cell is drawn below it, evenly in its logarithm.
    n_steps : float
        Steps of a sequence. A cell with a forget bias of b forgets within about exp(b) steps; b is drawn from 0 to the
        logarithm of `n_steps`.
    n_lags : int
        Lags whose changes stand among the inputs (see `Preparation`). A cell reads those of none, one or two of them,
        as likely each, so that what one task needs and another takes for noise is not in all cells.
    decades : float
        How many powers of ten the smallest range of a cell is below the largest. Cells of small ranges are linear.
    power : float
        That of what is drawn evenly, for the forget biases: above 1 more cells have short memories than long ones.
    """

    n_inputs: int
    weight_range: float
    n_steps: float
    n_lags: int = 0
    decades: float = 1.5
    power: float = 2.0

    def __call__(self, generator: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        """Chromosomes ``[z | input | forget | output] x [inputs, cells]`` of this shape."""
        size = self.weight_range * 10.0 ** generator.uniform(-self.decades, 0.0, (shape[0], 1))
        chromosomes = size * generator.uniform(-1.0, 1.0, shape)
        weights = chromosomes.reshape(shape[0], 4, -1)
        longest = np.log(max(2.0, self.n_steps))
        weights[:, 2, self.n_inputs - 1] = longest * generator.uniform(0.0, 1.0, shape[0]) ** self.power
        if self.n_lags:
            order = generator.random((shape[0], self.n_lags)).argsort(axis=1).argsort(axis=1)
            read = order < generator.integers(0, 3, (shape[0], 1))
            n_columns = (self.n_inputs - 1) // (1 + self.n_lags)
            weights[:, :, n_columns : self.n_inputs - 1] *= np.repeat(read, n_columns, axis=1)[:, None, :]
        return chromosomes

"""What a model says of whole sequences, beside what is true of them: counts of labels, or values as points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke.plot._style import COLOURS

__all__ = ["draw_matrix", "draw_points"]

_MOST_NUMBERED = 20  # classes up to which the counts are written into the cells


def draw_matrix(ax: Any, matrix: NDArray[np.int64], classes: Any) -> None:
    """The counts, on the share of each class in its row."""
    shares = matrix / np.maximum(1, matrix.sum(axis=1, keepdims=True))
    ax.imshow(shares, vmin=0.0, vmax=1.0, cmap="Blues")
    if len(matrix) <= _MOST_NUMBERED:
        for (i, j), count in np.ndenumerate(matrix):
            ax.text(j, i, str(count), ha="center", va="center", color="white" if shares[i, j] > 0.5 else "black")
    names = [str(label) for label in classes]
    ax.set_xticks(range(len(names)), names, parse_math=False, rotation=90 if max(map(len, names)) > 8 else 0)
    ax.set_yticks(range(len(names)), names, parse_math=False)


def draw_points(ax: Any, true: FloatArray, predicted: FloatArray) -> None:
    """A point for each sequence, and the line where both are the same."""
    ends = [min(true.min(), predicted.min()), max(true.max(), predicted.max())]
    ax.plot(ends, ends, color="0.65", linewidth=1.0)
    ax.plot(true, predicted, color=COLOURS[0], marker=".", linestyle="none")

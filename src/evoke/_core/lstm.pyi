from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
Real = TypeVar("Real", np.float64, np.float32)

CELLS: tuple[str, ...]

def finite(array: NDArray[Real]) -> bool: ...
def end_to_end(
    X: list[NDArray[Real]], n_inputs: int, dtype: np.dtype[Real]
) -> tuple[NDArray[Real], IntArray] | None: ...
def population(
    genomes: NDArray[Real],
    x: NDArray[Real],
    begin: IntArray,
    end: IntArray,
    parent: IntArray,
    slot: IntArray,
    cell: str,
    gate_bias: tuple[float, ...],
    refuse_overflow: bool = False,
) -> NDArray[Real]: ...
def sequences(
    genome: NDArray[Real],
    x: NDArray[Real],
    offsets: IntArray,
    cell: str,
    gate_bias: tuple[float, ...],
    state: NDArray[Real] | None = None,
) -> tuple[NDArray[Real], NDArray[Real]]: ...

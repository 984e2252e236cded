import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CELLS: tuple[str, ...]

def population(
    genomes: FloatArray,
    x: FloatArray,
    begin: IntArray,
    end: IntArray,
    parent: IntArray,
    slot: IntArray,
    cell: str,
    gate_bias: tuple[float, ...],
) -> FloatArray: ...
def sequences(
    genome: FloatArray,
    x: FloatArray,
    offsets: IntArray,
    cell: str,
    gate_bias: tuple[float, ...],
    state: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]: ...

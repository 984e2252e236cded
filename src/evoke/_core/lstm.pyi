from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[Any]  # of float64 or float32
Real = TypeVar("Real", np.float64, np.float32)

CELLS: tuple[str, ...]

class Network:
    def __init__(
        self, genome: FloatArray, cell: str = "lstm", gate_bias: tuple[float, ...] = (0.0, 1.5, -1.5)
    ) -> None: ...
    @property
    def genome(self) -> FloatArray: ...
    @property
    def cell(self) -> str: ...
    @property
    def gate_bias(self) -> tuple[float, float, float]: ...
    @property
    def n_cells(self) -> int: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def lanes(self) -> int: ...

def finite(array: NDArray[Real]) -> bool: ...
def end_to_end(
    X: list[NDArray[Real]], n_inputs: int, dtype: np.dtype[Real]
) -> tuple[NDArray[Real], IntArray] | None: ...
def population(
    networks: Network, rows: FloatArray, table: IntArray, refuse_overflow: bool = False
) -> FloatArray: ...
def sequences(
    network: Network, x: FloatArray, offsets: IntArray, state: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]: ...

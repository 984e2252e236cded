from typing import Any

from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray, IntArray

STATISTICS: dict[str, tuple[int, ...]]

def n_pooled(pool: tuple[str, ...]) -> int: ...
def pooled(
    networks: Network, x: FloatArray, offsets: IntArray, pool: tuple[str, ...], washout: int = 0
) -> FloatArray: ...
class Running:
    def __init__(self, n_networks: int, n_cells: int, pool: tuple[str, ...], washout: int) -> None: ...
    def follow(self, phi: FloatArray) -> FloatArray: ...

def evaluate(
    networks: Network,
    sequences: Any,
    pool: tuple[str, ...],
    points: Any,
    readout: Any,
    objective: Any,
    washout: int = 0,
    queue: Any = None,
    blocks: IntArray | None = None,
) -> FloatArray: ...

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Part = tuple[NDArray[np.int64], FloatArray, FloatArray]

OBJECTIVES: tuple[str, ...]

def evaluate_slice(
    genomes: FloatArray,
    x: FloatArray,
    runs: NDArray[np.int64],
    train: Part,
    test: Part,
    cell: str,
    gate_bias: tuple[float, ...],
    readout: str,
    parameters: dict[str, Any],
    objective: str,
    exclusive: bool = False,
    regression: bool = False,
    epsilon: float = 0.0,
    free: NDArray[np.int64] | None = None,
    feedback_scale: float = 1.0,
    team: Any = None,
) -> FloatArray: ...

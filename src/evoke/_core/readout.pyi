from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

READOUTS: tuple[str, ...]

def fit_readout(
    phi: FloatArray, targets: FloatArray, weights: FloatArray, kind: str, parameters: dict[str, Any]
) -> tuple[FloatArray, FloatArray, FloatArray] | None: ...

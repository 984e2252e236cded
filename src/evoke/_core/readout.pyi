from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

READOUTS: tuple[str, ...]

class TrainedReadout(NamedTuple):
    support_vectors: FloatArray
    dual_coef: FloatArray
    intercept: FloatArray

def fit_readout(phi: FloatArray, targets: FloatArray, weights: FloatArray, readout: Any) -> TrainedReadout | None: ...

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._core.lstm import Network

FloatArray = NDArray[np.float64]

def run_free(
    network: Network, x: FloatArray, state: FloatArray, feedback_scale: float, readout: Any
) -> tuple[FloatArray, FloatArray]: ...

from typing import Any

from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray

def run_free(
    network: Network, x: FloatArray, state: FloatArray, feedback_scale: float, readout: Any
) -> tuple[FloatArray, FloatArray]: ...

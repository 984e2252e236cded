import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

def run_free_one(
    genome: FloatArray,
    x: FloatArray,
    feedback_scale: float,
    cell: str,
    gate_bias: tuple[float, ...],
    state: FloatArray,
    sv: FloatArray,
    coef: FloatArray,
    intercept: FloatArray,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
) -> tuple[FloatArray, FloatArray]: ...

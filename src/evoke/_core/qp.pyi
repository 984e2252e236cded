from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

KERNELS: tuple[str, ...]

class Machine:
    def __init__(
        self, x: FloatArray, kernel: str, gamma: float, coef0: float, degree: int, cache_bytes: int
    ) -> None: ...
    def result(self) -> dict[str, Any]: ...
    def resolution(self) -> float: ...
    def solve(
        self,
        target: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        epsilon: float,
        tol: float,
        max_iter: int,
        beta: FloatArray,
    ) -> dict[str, Any]: ...
    def certify(
        self, target: FloatArray, lower: FloatArray, upper: FloatArray, epsilon: float, tol: float, beta: FloatArray
    ) -> dict[str, Any]: ...

def decide(
    x: FloatArray, sv: FloatArray, coef: FloatArray, bias: FloatArray, kernel: str, gamma: float, coef0: float,
    degree: int,
) -> FloatArray: ...
def gram(x: FloatArray, kernel: str, gamma: float, coef0: float, degree: int) -> FloatArray: ...

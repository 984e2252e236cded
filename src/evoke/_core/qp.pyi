from typing import NamedTuple

from evoke._core.kernel import Kernel
from evoke._validation.arrays import FloatArray

class Certificate(NamedTuple):
    bias: float
    objective: float
    gap: float
    violation: float
    n_iter: int
    converged: bool

class Machine:
    def __init__(self, x: FloatArray, kernel: Kernel | None, cache_bytes: int) -> None: ...
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
    ) -> Certificate: ...
    def certify(
        self, target: FloatArray, lower: FloatArray, upper: FloatArray, epsilon: float, tol: float, beta: FloatArray
    ) -> Certificate: ...

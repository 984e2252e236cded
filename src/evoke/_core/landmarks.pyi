from typing import NamedTuple

from evoke._core.kernel import Kernel
from evoke._validation.arrays import FloatArray, IntArray

KERNELS: tuple[str, ...]

class Solved(NamedTuple):
    dual_coef: FloatArray
    intercept: FloatArray

class Sums:
    @property
    def total(self) -> FloatArray: ...
    def __init__(self, kernel: Kernel, landmarks: FloatArray, n_outputs: int) -> None: ...
    def add(self, x: FloatArray, targets: FloatArray, roots: FloatArray | None = None) -> None: ...

def solve(sums: FloatArray, gram: FloatArray, C: float, n_outputs: int) -> Solved | None: ...
def pivots(x: FloatArray, kernel: Kernel, m: int, tol: float) -> IntArray: ...
def spread(x: FloatArray, m: int, draws: FloatArray) -> IntArray: ...

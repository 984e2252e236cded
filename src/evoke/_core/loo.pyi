from typing import Any, NamedTuple

from evoke._validation.arrays import FloatArray, IntArray

KERNELS: tuple[str, ...]

class Chosen(NamedTuple):
    gamma: float
    C: float
    error: float
    wrong: float
    decisions: FloatArray
    dual_coef: FloatArray
    intercept: FloatArray
    mean: FloatArray
    inverse: FloatArray

class Fitted(NamedTuple):
    dual_coef: FloatArray
    intercept: FloatArray
    decisions: FloatArray

def fit_gram(gram: FloatArray, targets: FloatArray, ridge: FloatArray) -> Fitted | None: ...
def choose(
    features: FloatArray,
    points: Any,
    kernel: str,
    widths: Any,
    capacities: Any,
    objective: Any,
    relative: bool = True,
    scaled: bool = True,
    blocks: IntArray | None = None,
) -> Chosen | None: ...

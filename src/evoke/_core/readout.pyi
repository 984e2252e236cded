from typing import Any, NamedTuple

from evoke._validation.arrays import FloatArray

READOUTS: tuple[str, ...]

class TrainedReadout(NamedTuple):
    support_vectors: FloatArray
    dual_coef: FloatArray
    intercept: FloatArray

def fit_readout(phi: FloatArray, targets: FloatArray, weights: FloatArray, readout: Any) -> TrainedReadout | None: ...

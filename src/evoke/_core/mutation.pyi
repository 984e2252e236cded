import numpy as np
from numpy.typing import NDArray

def add_cauchy(chromosomes: NDArray[np.float64], scale: float, bit_generator: np.random.BitGenerator) -> None: ...

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._core.lstm import Network

def evaluate(
    networks: Network,
    segments: Any,
    train: Any,
    validation: Any,
    readout: Any,
    objective: Any,
    free: Any = None,
    queue: Any = None,
    own: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]: ...
def evaluate_left_out(
    networks: Network,
    segments: Any,
    points: Any,
    blocks: NDArray[np.int64],
    readout: Any,
    objective: Any,
    queue: Any = None,
) -> NDArray[np.float64]: ...
def evaluate_landmarks(
    networks: Network,
    segments: Any,
    train: Any,
    validation: Any,
    readout: Any,
    objective: Any,
    queue: Any = None,
) -> NDArray[np.float64]: ...

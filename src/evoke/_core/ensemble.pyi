from evoke._core.lstm import FloatArray, IntArray, Network

def ensemble(
    networks: Network, x: FloatArray, offsets: IntArray, states: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]: ...

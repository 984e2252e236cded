"""Activations of networks on sequences of any length, a block of steps at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from evoke._core.ensemble import ensemble
from evoke._core.lstm import Network
from evoke._validation.arrays import FloatArray
from evoke.sequences.containers import Sequences
from evoke.sequences.preparation import Preparation

__all__ = ["activation_blocks", "in_order", "sequence_blocks", "side_by_side"]

# Steps of a block: enough that calls cost nothing, few enough that their activations stay in the cache or near it.
BLOCK = 4096


def activation_blocks(
    networks: Sequence[Network], X: Sequences, preparation: Preparation, map_: Callable[..., Any] = map,
    size: int = BLOCK,
) -> Iterator[tuple[slice, FloatArray]]:  # fmt: skip
    """Rows and activations (n, n_networks * n_cells) of a block after the other.

    `map_` may be that of a pool of threads.
    """
    groups = side_by_side(networks)
    states: list[Any] = [None] * len(groups)
    for block, inputs in preparation.blocks(X, size):

        def read(group: Network, state: Any, inputs: FloatArray = inputs, offsets: Any = block.offsets) -> Any:
            return ensemble(group, inputs, offsets, state)

        found = list(map_(read, groups, states if block.continues else [None] * len(groups)))
        states = [state for _, state in found]
        yield block.rows, found[0][0] if len(found) == 1 else np.concatenate([phi for phi, _ in found], axis=1)


def side_by_side(networks: Sequence[Network]) -> list[Network]:
    """Networks of the same shape in populations of as many as are evaluated side by side."""
    first = networks[0]
    return [
        Network(np.stack([one.genome for one in networks[k : k + first.lanes]]), first.cell, first.gate_bias)
        for k in range(0, len(networks), first.lanes)
    ]


def sequence_blocks(inputs: Sequences, size: int = BLOCK) -> Iterator[tuple[slice, Sequences]]:
    """Numbers and rows of whole sequences, about `size` rows at a time."""
    i, offsets = 0, inputs.offsets
    while i < inputs.n_sequences:
        end = max(i + 1, int(np.searchsorted(offsets, offsets[i] + size, side="right")) - 1)
        rows = np.ascontiguousarray(inputs.rows[offsets[i] : offsets[end]])
        yield slice(i, end), Sequences(rows, offsets[i : end + 1] - offsets[i], "list")
        i = end


class in_order:
    """A ``map`` by so many threads, the calling one included where there is one alone."""

    def __init__(self, n_threads: int):
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def __enter__(self) -> Callable[..., Any]:
        return map if self._pool is None else self._pool.map

    def __exit__(self, *error: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

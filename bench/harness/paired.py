"""Paired timing: every round calls all candidates in turn, so that a change in the machine affects them all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHORTEST = 0.005  # seconds, the least duration of a measurement; shorter candidates are called several times


@dataclass(frozen=True)
class Quartiles:
    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Quartiles:
        return cls(*map(float, np.percentile(values, [25, 50, 75])))

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True)
class Times:
    """Seconds per call of each candidate, one value per round.

    Wall time is what a user waits for. The processor time of the whole process is the same on a quiet machine for what
    uses one core, and changes less where other programs compete for the cores.
    """

    wall: dict[str, NDArray[np.float64]]
    cpu: dict[str, NDArray[np.float64]]

    def seconds(self, name: str, per: float = 1.0) -> tuple[Quartiles, Quartiles]:
        """Wall and processor time of a candidate, divided by `per`."""
        return Quartiles.of(self.wall[name] / per), Quartiles.of(self.cpu[name] / per)

    def speedup(self, slow: str, fast: str) -> tuple[Quartiles, Quartiles]:
        """Ratios of the pairs, slow / fast, in wall and in processor time."""
        return Quartiles.of(self.wall[slow] / self.wall[fast]), Quartiles.of(self.cpu[slow] / self.cpu[fast])


def paired(candidates: Mapping[str, Callable[[int], Any]], repeats: int, seed: int = 0) -> Times:
    """Time the candidates in `repeats` rounds, each round in a new random order.

    A candidate is called with the number of the round and picks its data by it, so that all candidates of a round work
    on the same data. Before the first round, one call warms up and a second finds how many calls fill `SHORTEST`.
    """
    calls = {}
    for name, call in candidates.items():
        call(0)
        calls[name] = math.ceil(SHORTEST / _measure(call, 0, 1)[1])
    rng = np.random.default_rng(seed)
    taken = {name: np.empty((repeats, 2)) for name in candidates}
    for k in range(repeats):
        for name in rng.permutation(list(candidates)):
            taken[name][k] = _measure(candidates[name], k, calls[name])
    return Times(
        {name: values[:, 0] for name, values in taken.items()}, {name: values[:, 1] for name, values in taken.items()}
    )


def _measure(call: Callable[[int], Any], k: int, calls: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(calls):
        call(k)
    return (time.perf_counter() - wall) / calls, (time.process_time() - cpu) / calls

"""Islands: populations that evolve side by side and send each other their best networks now and then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evoke._validation.parameters import check_integer
from evoke.esp import ESP
from evoke.evolution.several import Several, alike, from_seeds
from evoke.persistence.values import register

__all__ = ["Islands"]

# First word of the spawn key of the seeds of islands; those of the streams of engines, samples and splits have others.
_ISLAND = 9


class Islands(Several):
    """Several searches of the same kind, whose best networks migrate along a ring.

    After every `migrate_every` generations the best network of each island is taken in by the next one, and that of
    the last by the first: all of them at once, as they were before. See `evoke.ESP.take_in`.

    Parameters
    ----------
    islands : sequence of ESP
        With the same parameters and in the same generation.
    migrate_every : int
    """

    _name = "island"

    def __init__(self, islands: Sequence[ESP], migrate_every: int):
        super().__init__(islands, len(islands))
        self.migrate_every = migrate_every

    @classmethod
    def make(cls, island: Callable[..., Any], n_islands: int, migrate_every: int, random_state: Any) -> Islands:
        """Islands that `island` makes, each of a seed of its own."""
        return cls(from_seeds(island, n_islands, random_state, _ISLAND), migrate_every)

    @property
    def left_alone(self) -> int:
        """Generations up to the next migration."""
        return self.migrate_every - self.generation % self.migrate_every

    def _meet(self, generation: int) -> None:
        """Migration, where it is due."""
        if generation % self.migrate_every == 0:
            travellers = [(island.best, island.best_fitness) for island in self.engines]
            for k, (best, fitness) in enumerate(travellers):
                if best is not None:
                    self.engines[(k + 1) % len(self.engines)].take_in(best, fitness)
            self._count()

    def _parameters(self) -> dict[str, Any]:
        return {
            "lengths": np.array(self.lengths, dtype=np.int64), "n_islands": len(self.engines),
            "migrate_every": self.migrate_every,
        }  # fmt: skip

    def _check_own(self, state: Any, counts: dict[str, int]) -> list[ESP]:
        """Copies of the islands, in that state."""
        return self._loaded(state, self._numbers(), counts["generation"])


def _state(engine: Islands) -> dict[str, Any]:
    """What a model file holds."""
    return {"islands": list(engine.engines), "migrate_every": engine.migrate_every}


def _from_state(state: dict[str, Any]) -> Islands:
    """The islands of a model file."""
    islands = alike("islands", state["islands"], (ESP,), 2)
    return Islands(islands, check_integer("migrate_every", state["migrate_every"], 1))


register(Islands, _state, _from_state)

"""Islands: populations that evolve side by side and send each other their best networks now and then."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_integer
from evoke.engine import Engine, entropy_of
from evoke.esp import ESP
from evoke.persistence.values import register

__all__ = ["Islands"]

# First word of the spawn key of the seeds of islands; those of the streams of engines, samples and splits have others.
_ISLAND = 9


class Islands(Engine):
    """Several searches of the same kind, whose best networks migrate along a ring.

    After every `migrate_every` generations the best network of each island is taken in by the next one, and that of
    the last by the first: all of them at once, as they were before. See `evoke.ESP.take_in`.

    Parameters
    ----------
    islands : sequence of ESP
        With the same parameters and in the same generation.
    migrate_every : int

    Attributes
    ----------
    islands : list of ESP
    hall : list
        The best network of each island, the best one first; of equal ones the one of the first island.
    bursts : list of int
        Generations in which an island burst, once for each.
    stagnation : int
        The least of all islands.
    """

    def __init__(self, islands: Sequence[ESP], migrate_every: int):
        first = islands[0]
        super().__init__(first.lengths, len(islands), first.state_dict()["entropy"])
        self.n_networks = len(islands) * first.n_networks
        self.migrate_every = migrate_every
        self.islands = list(islands)
        self._genomes: list[FloatArray] | None = None  # set between ask and tell
        self.generation, self._n_left_out = first.generation, left_out(islands)
        self._count()

    @classmethod
    def make(cls, island: Callable[..., ESP], n_islands: int, migrate_every: int, random_state: Any) -> Islands:
        """Islands that `island` makes of a `random_state`: the first of the given one, the others of seeds derived."""
        entropy = entropy_of(random_state)
        seeds = [SeedSequence(entropy, spawn_key=(_ISLAND, k)) for k in range(1, n_islands)]
        return cls([island(random_state=seed) for seed in (entropy, *seeds)], migrate_every)

    @property
    def left_alone(self) -> int:
        """Generations up to the next migration."""
        return self.migrate_every - self.generation % self.migrate_every

    def replace(self, islands: Sequence[ESP]) -> None:
        """Put islands that have evolved up to the next migration, or not so far, in the places of the old ones."""
        self._n_left_out += left_out(islands) - left_out(self.islands)
        self.islands = list(islands)
        self.generation, self._genomes = islands[0].generation, None
        self._meet(self.generation)

    def ask(self) -> Any:
        """Networks of this generation, those of one island after the other; the same ones until `tell` is called.

        Returns
        -------
        ndarray of shape (n_networks, n_subpopulations, length), or list of ndarray (n_networks, length_i)
            The caller's to keep.
        """
        asked = [island.ask() for island in self.islands]
        if isinstance(asked[0], np.ndarray):
            asked = [[*np.moveaxis(networks, 1, 0)] for networks in asked]
        self._genomes = [np.concatenate(parts) for parts in zip(*asked, strict=True)]
        return self._joined([part.copy() for part in self._genomes])

    def judge_best_anew(self, fitness: Any) -> None:
        order = self._order()
        super().judge_best_anew(fitness)  # which checks it
        for k, anew in zip(order, np.atleast_1d(fitness).tolist(), strict=True):
            self.islands[k].judge_best_anew(anew)
        self._count()

    judge_best_anew.__doc__ = Engine.judge_best_anew.__doc__

    @property
    def _is_asked(self) -> bool:
        return self._genomes is not None

    def _told(self) -> Any:
        return np.tile(np.arange(self.n_networks), (len(self.lengths), 1)), self._genomes

    def _advance(self, fitness: FloatArray) -> None:
        for island, own in zip(self.islands, np.split(fitness, len(self.islands)), strict=True):
            island.tell(own)
        self._genomes = None
        self._meet(self.generation + 1)

    def _meet(self, generation: int) -> None:
        """Migration, where it is due after so many generations."""
        if generation % self.migrate_every == 0:
            travellers = [(island.best, island.best_fitness) for island in self.islands]
            for k, (best, fitness) in enumerate(travellers):
                if best is not None:
                    self.islands[(k + 1) % len(self.islands)].take_in(best, fitness)
        self._count()

    def _count(self) -> None:
        """What is known of all islands together."""
        best = [self.islands[k] for k in self._order()]
        genomes = [np.concatenate([*island.best]) for island in best]
        self._hall.genomes = np.array(genomes).reshape(len(best), sum(self.lengths))
        self._hall.fitness = np.array([island.best_fitness for island in best])
        self.stagnation = min(island.stagnation for island in self.islands)
        self.bursts = sorted(burst for island in self.islands for burst in island.bursts)

    def _order(self) -> list[int]:
        """The islands that have a best network, the best one first."""
        found = [k for k, island in enumerate(self.islands) if island.best is not None]
        return sorted(found, key=lambda k: self.islands[k].best_fitness)

    def _parameters(self) -> dict[str, Any]:
        return {
            "lengths": np.array(self.lengths, dtype=np.int64), "n_islands": len(self.islands),
            "migrate_every": self.migrate_every,
        }  # fmt: skip

    def _own_state(self) -> dict[str, Any]:
        states = ({"n_left_out": 0} | island.state_dict() for island in self.islands)
        return {f"island{k}.{name}": value for k, state in enumerate(states) for name, value in state.items()}

    def _check_own(self, state: Any, counts: dict[str, int]) -> list[ESP]:
        """Copies of the islands, in that state."""
        islands = copy.deepcopy(self.islands)
        for k, island in enumerate(islands):
            prefix = f"island{k}."
            own = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
            island.load_state_dict(own)
            if island.generation != counts["generation"]:
                raise refusal(f"state['{prefix}generation']", f"be {counts['generation']}", island.generation)
        return islands

    def _load_own(self, own: list[ESP], is_asked: bool) -> None:
        self.islands, self._genomes = own, None
        self._count()
        if is_asked:
            self.ask()


def left_out(islands: Sequence[ESP]) -> int:
    """Networks that were not evaluated."""
    return sum(island.generation * island.n_networks - island.n_evaluations for island in islands)


def _state(engine: Islands) -> dict[str, Any]:
    """What a model file holds."""
    return {"islands": list(engine.islands), "migrate_every": engine.migrate_every}


def _from_state(state: dict[str, Any]) -> Islands:
    """The islands of a model file."""
    islands = state["islands"]
    if len({type(island) for island in islands} | {ESP}) > 1 or len(islands) < 2:
        raise ValueError("islands must be two or more ESP")
    same = [(island.lengths, island.generation, island.n_networks) for island in islands]
    if len(set(same)) > 1:
        raise ValueError("islands must be of the same size and in the same generation")
    return Islands(islands, check_integer("migrate_every", state["migrate_every"], 1))


register(Islands, _state, _from_state)

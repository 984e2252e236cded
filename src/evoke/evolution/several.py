"""Several engines that go on side by side, as one engine."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from evoke._validation.arrays import FloatArray
from evoke._validation.errors import refusal
from evoke.engine import Engine, entropy_of

__all__ = ["Several", "alike", "from_seeds"]


def from_seeds(one: Callable[..., Any], n: int, random_state: Any, purpose: int) -> list[Any]:
    """Engines that `one` makes of a `random_state`: the first of the given one, the others of seeds derived.

    `purpose` is the first word of the spawn key of these seeds; no other stream has it.
    """
    entropy = entropy_of(random_state)
    seeds = [SeedSequence(entropy, spawn_key=(purpose, k)) for k in range(1, n)]
    return [one(random_state=seed) for seed in (entropy, *seeds)]


class Several(Engine):
    """Engines with the same parameters and in the same generation, which now and then have to do with each other.

    Parameters
    ----------
    engines : sequence of Engine
    n_best : int
        How many there may be.
    entropy : int, optional
        From which the seeds of all were made; by default that of the first.

    Attributes
    ----------
    engines : list of Engine
    hall : list
        The best network of each engine, the best one first; of equal ones the one of the first engine.
    bursts : list of int
        Generations in which an engine burst, once for each.
    stagnation : int
        The least of all engines.
    n_given_up : int
        Networks that were evaluated by engines which are no more.
    """

    _name: str  # of one of them, in states
    n_given_up = 0

    def __init__(self, engines: Sequence[Engine], n_best: int, entropy: int | None = None):
        first = engines[0]
        super().__init__(first.lengths, n_best, first.state_dict()["entropy"] if entropy is None else entropy)
        self._genomes: list[FloatArray] | None = None  # set between ask and tell
        self._take(engines)

    @property
    @abstractmethod
    def left_alone(self) -> int:
        """Generations for which each engine needs to know nothing of the others."""

    @abstractmethod
    def _meet(self, generation: int) -> None:
        """What the engines have to do with each other after so many generations."""

    def replace(self, engines: Sequence[Engine]) -> None:
        """Put engines that have gone on for `left_alone` generations, or fewer, in the places of the old ones."""
        self._take(engines)
        self._meet(self.generation)

    def _take(self, engines: Sequence[Engine]) -> None:
        self.engines: list[Any] = list(engines)
        self._genomes = None
        self.n_networks = sum(engine.n_networks for engine in engines)
        self.generation = engines[0].generation
        self._n_left_out = sum(engine.generation * engine.n_networks - engine.n_evaluations for engine in engines)
        self._count()

    def ask(self) -> Any:
        """Networks of this generation, those of one engine after the other; the same ones until `tell` is called.

        Returns
        -------
        ndarray of shape (n_networks, n_subpopulations, length), or list of ndarray (n_networks, length_i)
            The caller's to keep.
        """
        asked = [engine.ask() for engine in self.engines]
        if isinstance(asked[0], np.ndarray):
            asked = [[*np.moveaxis(networks, 1, 0)] for networks in asked]
        self._genomes = [np.concatenate(parts) for parts in zip(*asked, strict=True)]
        return self._joined([part.copy() for part in self._genomes])

    def judge_best_anew(self, fitness: Any) -> None:
        order = self._order()
        super().judge_best_anew(fitness)  # which checks it
        for k, anew in zip(order, np.atleast_1d(fitness).tolist(), strict=True):
            self.engines[k].judge_best_anew(anew)
        self._count()

    judge_best_anew.__doc__ = Engine.judge_best_anew.__doc__

    @property
    def _is_asked(self) -> bool:
        return self._genomes is not None

    def _told(self) -> Any:
        return np.tile(np.arange(self.n_networks), (len(self.lengths), 1)), self._genomes

    def _advance(self, fitness: FloatArray) -> None:
        for engine, own in zip(self.engines, np.split(fitness, len(self.engines)), strict=True):
            engine.tell(own)
        self._genomes = None
        self._count()
        self._meet(self.generation + 1)

    def _count(self) -> None:
        """What is known of all engines together."""
        best = [self.engines[k] for k in self._order()]
        genomes = [np.concatenate([*engine.best]) for engine in best]
        self._hall.genomes = np.array(genomes).reshape(len(best), sum(self.lengths))
        self._hall.fitness = np.array([engine.best_fitness for engine in best])
        self.stagnation = min(engine.stagnation for engine in self.engines)
        self.bursts = sorted(burst for engine in self.engines for burst in engine.bursts)

    def _order(self) -> list[int]:
        """The engines that have a best network, the best one first."""
        found = [k for k, engine in enumerate(self.engines) if engine.best is not None]
        return sorted(found, key=lambda k: self.engines[k].best_fitness)

    def _numbers(self) -> Sequence[int]:
        """By which the engines are known in a state."""
        return range(len(self.engines))

    def _own_state(self) -> dict[str, Any]:
        states = ({"n_left_out": 0} | engine.state_dict() for engine in self.engines)
        return {
            f"{self._name}{k}.{name}": value
            for k, state in zip(self._numbers(), states, strict=True)
            for name, value in state.items()
        }

    def _loaded(self, state: Any, numbers: Sequence[int], generation: int) -> list[Any]:
        """Engines in the states by these numbers."""
        engines = []
        for k in numbers:
            engine, prefix = copy.deepcopy(self.engines[0]), f"{self._name}{k}."
            own = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
            engine.load_state_dict(own)
            if engine.generation != generation:
                raise refusal(f"state['{prefix}generation']", f"be {generation}", engine.generation)
            engines.append(engine)
        return engines

    def _load_own(self, own: list[Any], is_asked: bool) -> None:
        self._take(own)
        if is_asked:
            self.ask()


def alike(name: str, engines: Any, kinds: tuple[type, ...], least: int) -> list[Any]:
    """Engines of a model file, which must be of one of these kinds, at least so many, and go together.

    Raises
    ------
    ValueError
        They do not.
    """
    if not isinstance(engines, list) or len(engines) < least or not {*map(type, engines)} <= {*kinds}:
        raise ValueError(f"{name} must be {least} or more of {', '.join(kind.__name__ for kind in kinds)}")
    if len({(type(engine), engine.lengths, engine.generation, engine.n_networks) for engine in engines}) > 1:
        raise ValueError(f"{name} must be of the same kind and size and in the same generation")
    return engines

"""Restarts: searches from several seeds, of which the worse half is given up after more and more generations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evoke._validation.arrays import check_dimensions, to_real
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_integer
from evoke.cmaes import CMAES
from evoke.engine import MOST_GENERATIONS, Engine, count_of
from evoke.esp import ESP
from evoke.evolution.several import Several, alike, from_seeds
from evoke.persistence.values import register

__all__ = ["Restarts", "networks_to"]

# First word of the spawn key of the seeds of searches; those of islands and of all streams have others.
_RESTART = 10


class Restarts(Several):
    """Searches that know nothing of each other, by successive halving [1]_.

    After `halve_after` generations only the better half of them goes on, by the fitness of the best network of each;
    after twice as many generations the better half of these, and so on until one is left. Of equal ones the first go
    on. Networks of searches that were given up are forgotten: those that go on have better ones.

    Parameters
    ----------
    searches : sequence of Engine
        With the same parameters and in the same generation.
    halve_after, report_every : int
        The second limits `left_alone`, and changes nothing else.
    numbers : sequence of int, optional
        Of the searches among all of them; by default these are all.
    n_searches : int, optional
        How many there were at the beginning.
    n_given_up : int, default=0
        Networks that the other ones have evaluated.
    entropy : int, optional
        That of the first of all.

    Attributes
    ----------
    n_networks : int
        Networks per generation of the searches that go on.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
       International Conference on Artificial Intelligence and Statistics (2016), 240-248.
    """

    _name = "search"

    def __init__(
        self,
        searches: Sequence[Engine],
        halve_after: int,
        report_every: int,
        numbers: Sequence[int] | None = None,
        n_searches: int | None = None,
        n_given_up: int = 0,
        entropy: int | None = None,
    ):
        self.halve_after, self.report_every, self.n_given_up = halve_after, report_every, n_given_up
        self.numbers = [*range(len(searches))] if numbers is None else list(numbers)
        super().__init__(searches, len(searches) if n_searches is None else n_searches, entropy)

    @classmethod
    def make(
        cls, search: Callable[..., Engine], n_restarts: int, n_networks: int, report_every: int, random_state: Any
    ) -> Restarts:
        """Searches that `search` makes, each of a seed of its own; the one that is left has so many networks."""
        searches = from_seeds(search, n_restarts, random_state, _RESTART)
        n_generations = -(-n_networks // searches[0].n_networks)
        return cls(searches, max(1, n_generations >> (n_restarts - 1).bit_length()), report_every)

    @property
    def left_alone(self) -> int:
        """Generations up to the next halving or report."""
        n = self.report_every - self.generation % self.report_every
        return n if len(self.engines) == 1 else min(n, self.next_halving(self.generation) - self.generation)

    def next_halving(self, generation: int) -> int:
        """The first generation after this one with a halving, if searches are left."""
        return self.halve_after << (generation // self.halve_after).bit_length()

    @property
    def n_evaluations(self) -> int:
        """Number of networks evaluated, those of the searches that were given up included."""
        return super().n_evaluations + self.n_given_up

    def _meet(self, generation: int) -> None:
        """A halving, where it is due."""
        if len(self.engines) == 1 or generation != self.next_halving(generation - 1):
            return
        by_fitness = sorted(range(len(self.engines)), key=lambda k: self.engines[k].best_fitness)
        kept = sorted(by_fitness[: -(-len(by_fitness) // 2)])
        going, before = [self.engines[k] for k in kept], sum(engine.n_evaluations for engine in self.engines)
        self.n_given_up += before - sum(engine.n_evaluations for engine in going)
        self.numbers = [self.numbers[k] for k in kept]
        generation = self.generation
        self._take(going)
        self.generation = generation  # `tell` counts at its end

    def _numbers(self) -> Sequence[int]:
        return self.numbers

    def _parameters(self) -> dict[str, Any]:
        return {"lengths": np.array(self.lengths, dtype=np.int64), "n_restarts": self.n_best}

    def _own_state(self) -> dict[str, Any]:
        return {
            "halve_after": self.halve_after, "numbers": np.array(self.numbers, dtype=np.int64),
            "n_given_up": self.n_given_up, **super()._own_state(),
        }  # fmt: skip

    def _names(self, state: Any) -> set[str]:
        """The names of what such a state holds: there may be other searches in it."""
        prefix = f"{self._name}{self.numbers[0]}."
        current = self.state_dict()
        own = {name.removeprefix(prefix) for name in current if name.startswith(prefix)}
        others = {name for name in current if "." not in name}
        return others | {f"{self._name}{k}.{name}" for k in self._numbers_in(state) for name in own}

    def _numbers_in(self, state: Any) -> list[int]:
        """Numbers of the searches of a state."""
        if "numbers" not in state:
            return self.numbers
        numbers = to_real(state["numbers"], "state['numbers']", "iu")
        check_dimensions(numbers, "state['numbers']", (1,))
        return _in_order("state['numbers']", numbers.tolist(), self.n_best)

    def _check_own(self, state: Any, counts: dict[str, int]) -> Any:
        """The searches and what is known of them."""
        own = {name: count_of(state, name, most) for name, most in (("halve_after", MOST_GENERATIONS),
                                                                    ("n_given_up", None))}  # fmt: skip
        check_integer("state['halve_after']", own["halve_after"], 1)
        own["numbers"] = self._numbers_in(state)
        return own, self._loaded(state, own["numbers"], counts["generation"])

    def _load_own(self, own: Any, is_asked: bool) -> None:
        known, searches = own
        for name, value in known.items():
            setattr(self, name, value)
        super()._load_own(searches, is_asked)


def networks_to(engine: Engine, n_generations: int) -> int:
    """Networks that an engine has evaluated up to this generation, without those that it has by now."""
    generation, total = engine.generation, 0
    if not isinstance(engine, Restarts):
        return (n_generations - generation) * engine.n_networks
    n, size = len(engine.engines), engine.engines[0].n_networks
    while n > 1 and (halving := engine.next_halving(generation)) < n_generations:
        total += n * size * (halving - generation)
        n, generation = -(-n // 2), halving
    return total + n * size * (n_generations - generation)


def _in_order(name: str, numbers: list[int], n: int) -> list[int]:
    """Different whole numbers below n, in their order."""
    if not numbers or sorted({check_integer(name, k, 0, n - 1) for k in numbers}) != numbers:
        raise refusal(name, f"be different integers from 0 to {n - 1}, in order", numbers)
    return numbers


def _state(engine: Restarts) -> dict[str, Any]:
    """What a model file holds."""
    return {
        "searches": list(engine.engines), "numbers": list(engine.numbers), "n_restarts": engine.n_best,
        "halve_after": engine.halve_after, "report_every": engine.report_every, "n_given_up": engine.n_given_up,
        "entropy": engine.state_dict()["entropy"],
    }  # fmt: skip


def _from_state(state: dict[str, Any]) -> Restarts:
    """The searches of a model file."""
    searches = alike("searches", state["searches"], (ESP, CMAES), 1)
    n = check_integer("n_restarts", state["n_restarts"], 2)
    numbers = _in_order("numbers", state["numbers"], n)
    if len(numbers) != len(searches):
        raise ValueError(f"numbers must have {len(searches)} elements, has {len(numbers)}")
    most = MOST_GENERATIONS
    return Restarts(
        searches, check_integer("halve_after", state["halve_after"], 1, most),
        check_integer("report_every", state["report_every"], 1, most), numbers, n,
        check_integer("n_given_up", state["n_given_up"], 0), check_integer("entropy", state["entropy"], 0),
    )  # fmt: skip


register(Restarts, _state, _from_state)

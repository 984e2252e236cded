"""What every engine of the evolution has: the best networks so far, states, streams of random numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator, RandomState, SeedSequence

from evoke._validation.arrays import check_dimensions, check_shape, not_finite, to_array, to_float, to_real
from evoke._validation.errors import counted, refusal, shown
from evoke._validation.parameters import MOST_SCALE, check_integer, check_positive, check_real, is_equal, is_sequence
from evoke.bounds import Bounds
from evoke.hall_of_fame import HallOfFame

__all__ = [
    "MOST_GENERATIONS", "MOST_NUMBERS", "Engine", "check_lengths", "check_scales", "count_of", "entropy_of", "for_each",
    "to_load",
]

# Numbers in the genomes of a generation, which `ask` gives in one piece: 16 GiB.
MOST_NUMBERS = 2**31
# Generations that a state may have counted: they are kept as int64.
MOST_GENERATIONS = 2**62


def entropy_of(random_state: Any) -> Any:
    """The integer from which every stream of a run is derived."""
    if random_state is None:
        return SeedSequence().entropy
    if isinstance(random_state, SeedSequence):
        words = random_state.generate_state(4)
    elif isinstance(random_state, Generator):
        words = random_state.integers(2**32, size=4, dtype=np.uint32)
    elif isinstance(random_state, RandomState):
        words = random_state.randint(2**32, size=4, dtype=np.uint32)
    else:
        return check_integer("random_state", random_state, 0)
    return int.from_bytes(words.astype("<u4").tobytes(), "little")


def check_lengths(lengths: Any) -> Any:
    """Lengths of chromosomes, as a tuple."""
    if not is_sequence(lengths) or len(lengths) == 0:
        raise refusal("lengths", "be a sequence of at least one integer", lengths)
    return tuple(check_integer(f"lengths[{i}]", length, 1) for i, length in enumerate(lengths))


def check_scales(name: str, value: Any, n: Any) -> Any:
    """A number for all of n subpopulations, or a tuple of one for each."""
    if not is_sequence(value):
        return check_positive(name, value)
    if len(value) != n:
        raise refusal(name, f"be one number or one per subpopulation ({n})", value)
    most = MOST_SCALE[name]
    return tuple(check_positive(f"{name}[{i}]", scale, most) for i, scale in enumerate(value))


def for_each(scale: Any, n: Any) -> Any:
    """The numbers of n subpopulations."""
    return scale if isinstance(scale, tuple) else (scale,) * n


def to_load(state: Any, name: str, size: Any) -> Any:
    """The numbers of a state by this name, of which there must be so many."""
    key = f"state[{name!r}]"
    values = to_real(state[name], key, "iuf")
    check_shape(values, key, (size,))
    if not np.isfinite(values).all():
        raise not_finite(values, key)
    return np.array(values, dtype=np.float64)


def count_of(state: Any, name: str, most: Any = None) -> Any:
    """The number of a state by this name, a whole one from 0 to `most`."""
    value = to_array(state[name], f"state[{name!r}]")
    number = state[name] if value.ndim else value.item()  # a model file has arrays of no axis
    return check_integer(f"state[{name!r}]", number, 0, most)


class Engine(ABC):
    """A search by ask and tell: who derives from it proposes networks, and makes the next ones from their fitness.

    Parameters
    ----------
    lengths : tuple of int
        Chromosome length of each subpopulation.
    n_best : int
        Networks that are kept in `hall`.
    random_state : int, SeedSequence, Generator, RandomState or None
        From which all streams of random numbers are derived.

    Attributes
    ----------
    n_networks : int
        Networks per generation.
    """

    n_networks: int
    _bounds: Bounds | None = None

    def __init__(self, lengths: Any, n_best: int, random_state: Any) -> None:
        self.lengths = lengths
        self.n_best = n_best
        self._entropy = entropy_of(random_state)
        self.generation = 0
        self.stagnation = 0
        self.bursts = []
        self._n_left_out = 0  # networks that were not evaluated
        self._hall = HallOfFame(self.lengths, self.n_best)

    def __repr__(self):
        sizes = dict.fromkeys(self.lengths)
        n = " and ".join(f"{self.lengths.count(size)} of {counted(size, 'number')}" for size in sizes)
        fitness = f"best fitness {self.best_fitness:.4g}" if self.best_fitness < np.inf else "no fitness yet"
        return f"<{type(self).__name__} of chromosomes: {n}; {counted(self.generation, 'generation')}, {fitness}>"

    @abstractmethod
    def ask(self) -> Any:
        """Networks of this generation; the same ones until `tell` is called."""

    @property
    @abstractmethod
    def _is_asked(self):
        """Whether `ask` was called for this generation."""

    @abstractmethod
    def _told(self):
        """Indices (n_subpopulations, n_networks) of the networks' chromosomes, and these by subpopulation."""

    @abstractmethod
    def _advance(self, fitness):
        """Make the next generation."""

    @abstractmethod
    def _parameters(self):
        """What must be the same where a state is loaded."""

    @abstractmethod
    def _own_state(self):
        """What else a state holds."""

    @abstractmethod
    def _check_own(self, state, counts):
        """What `_load_own` takes, from a state; `counts` are its numbers that are checked."""

    @abstractmethod
    def _load_own(self, own, is_asked):
        """Continue from there."""

    @property
    def best_fitness(self) -> float:
        """Lowest fitness so far; inf until there was a finite one."""
        return self._hall.best_fitness

    @property
    def best(self) -> Any:
        """Genome of the best network so far, None until a fitness was below infinity.

        An array of shape (n_subpopulations, length) if all lengths are equal, else a list of arrays (length_i,).
        """
        return self._joined(self._hall.chromosomes(0)) if len(self._hall) else None

    @property
    def hall(self) -> Any:
        """The hall of fame: genomes of up to `n_best` of the best networks so far, the best one first.

        Of networks that have more than half of their chromosomes in common only the best is in it.
        """
        return [self._joined(self._hall.chromosomes(k)) for k in range(len(self._hall))]

    @property
    def hall_fitness(self) -> Any:
        """Fitness of the networks in `hall`."""
        return self._hall.fitness.tolist()

    @property
    def n_evaluations(self) -> int:
        """Number of networks evaluated."""
        return self.generation * self.n_networks - self._n_left_out

    def tell(self, fitness: Any, n_evaluated: int | None = None) -> None:
        """Take the fitness of the networks that `ask` gave, and make the next generation.

        Parameters
        ----------
        fitness : array-like of shape (n_networks,)
            To be minimised. NaN and -infinity count as infinity, and infinity ranks last. While no network had a finite
            fitness there is nothing to burst around, so selection continues.
        n_evaluated : int, optional
            Networks that count in `n_evaluations`, where time was too short for all of them; by default all.

        Raises
        ------
        ValueError
            If `ask` was not called for this generation, or `fitness` has another shape or no real numbers.
        ParameterError
            An `n_evaluated` that is no integer from 0 to `n_networks`.
        """
        if not self._is_asked:
            raise ValueError("tell was called before ask")
        fitness = to_real(fitness, "fitness")
        check_shape(fitness, "fitness", (self.n_networks,))
        fitness = to_float(fitness, "fitness").copy()
        fitness[~np.isfinite(fitness)] = np.inf  # nothing would ever be better than -inf, of a log of 0 for instance
        if n_evaluated is not None:
            self._n_left_out += self.n_networks - check_integer("n_evaluated", n_evaluated, 0, self.n_networks)

        before = self.best_fitness
        self._hall.enter(fitness, *self._told())
        self.stagnation = 0 if self.best_fitness < before else self.stagnation + 1
        self._advance(fitness)
        self.generation += 1

    def judge_best_anew(self, fitness: Any) -> None:
        """Give the best-ever network, or those of the hall of fame, another fitness, as when what is asked has changed.

        Parameters
        ----------
        fitness : float, or array_like of shape (len(hall),) where several are kept
            What is not finite: a network is forgotten, and there is no best one until `tell` finds one.

        Raises
        ------
        ParameterError
            A fitness that is not a number.
        ValueError
            If there is no best network, or `fitness` has another shape than the hall.
        """
        if len(self._hall) == 0:
            raise ValueError("judge_best_anew was called, but no network has had a fitness below infinity")
        if self.n_best == 1:
            fitness = np.array([check_real("fitness", fitness)])
        else:
            fitness = to_float(to_real(fitness, "fitness"), "fitness")
            check_shape(fitness, "fitness", (len(self._hall),))
        self._hall.judge_anew(np.where(np.isfinite(fitness), fitness, np.inf))

    def state_dict(self) -> dict[str, Any]:
        """Everything that is needed to continue, bit for bit, also between `ask` and `tell`.

        Returns
        -------
        dict
            Strings, numbers, None and arrays; nothing in it is shared with the object. ``best`` holds the best
            network's chromosomes, laid end to end; it is empty while there is none.
        """
        return {
            **self._parameters(),
            "entropy": self._entropy,
            "generation": self.generation,
            "asked": int(self._is_asked),
            "stagnation": self.stagnation,
            "bursts": np.array(self.bursts, dtype=np.int64),
            **({} if self._n_left_out == 0 else {"n_left_out": self._n_left_out}),
            "best_fitness": self.best_fitness,
            "best": self._hall.genomes[:1].flatten(),
            **({} if self.n_best == 1 else {
                "hall": self._hall.genomes.flatten(), "hall_fitness": self._hall.fitness.copy(),
            }),
            **self._own_state(),
        }

    def load_state_dict(self, state: Any) -> None:
        """Continue from the state of an object that had the same parameters; `random_state` may differ.

        Parameters
        ----------
        state : mapping
            What `state_dict` gave.

        Raises
        ------
        ValueError
            If keys are missing or unknown, a parameter differs, or a value cannot be right. Nothing is changed.
        """
        if not isinstance(state, Mapping):
            raise refusal("state", "be a mapping, as state_dict gives it", state)
        state = {"n_left_out": 0, **state}  # only where there are any
        names = self._names(state) | {"n_left_out"}
        if set(state) != names:
            missing, unknown = sorted(names - set(state)), sorted(set(state) - names)
            raise ValueError(f"state has the wrong keys: missing {missing}, unknown {unknown}")
        for name, value in self._parameters().items():
            given = to_array(state[name], f"state[{name!r}]")
            if given.dtype.kind == "b" or not is_equal(given, value):
                raise ValueError(f"state[{name!r}] is {shown(state[name])}, but this object has {shown(value)}")

        hall = self._hall_of(state)
        bursts = to_real(state["bursts"], "state['bursts']", "iu")
        check_dimensions(bursts, "state['bursts']", (1,))
        most = {"entropy": None, "generation": MOST_GENERATIONS, "asked": 1, "stagnation": MOST_GENERATIONS}
        counts = {name: count_of(state, name, limit) for name, limit in (most | {"n_left_out": None}).items()}
        if counts["n_left_out"] > counts["generation"] * self.n_networks:
            raise ValueError(f"state['n_left_out'] is {counts['n_left_out']}, more than all networks")
        for i, burst in enumerate(bursts.tolist()):
            check_integer(f"state['bursts'][{i}]", burst, 0, MOST_GENERATIONS)
        own = self._check_own(state, counts | {"bursts": len(bursts)})

        self._entropy = counts["entropy"]
        self.generation = counts["generation"]
        self.stagnation = counts["stagnation"]
        self._n_left_out = counts["n_left_out"]
        self.bursts = bursts.tolist()
        self._hall = hall
        self._load_own(own, bool(counts["asked"]))

    def _names(self, state):
        """The names of what such a state holds."""
        return set(self.state_dict())

    def _hall_of(self, state):
        """The hall of fame that a state has."""
        n_weights = sum(self.lengths)
        best_fitness = to_real(state["best_fitness"], "state['best_fitness']", "iuf")
        check_shape(best_fitness, "state['best_fitness']", ())
        best_fitness = float(best_fitness)
        if not best_fitness > -np.inf:  # `tell` takes neither, and nothing would ever be better
            raise ValueError("state['best_fitness'] must not be NaN or -infinity")
        genomes = to_load(state, "best", n_weights if best_fitness < np.inf else 0)
        fitness = np.array([best_fitness]) if best_fitness < np.inf else np.empty(0)
        if self.n_best > 1:
            n_hall = min(np.size(state["hall_fitness"]), self.n_best)
            genomes, fitness = to_load(state, "hall", n_hall * n_weights), to_load(state, "hall_fitness", n_hall)
            if [*fitness[:1]] != [best_fitness] * (best_fitness < np.inf):
                raise ValueError("state['best_fitness'] must be the first of state['hall_fitness']")
        if self._bounds is not None:
            self._bounds.check(genomes.reshape(-1, n_weights), "state['best']")
        hall = HallOfFame(self.lengths, self.n_best)
        hall.genomes, hall.fitness = genomes.reshape(-1, n_weights), fitness
        return hall

    def _stream(self, purpose, number, generation=None):
        """Random numbers for one purpose in one generation, by default this one."""
        generation = self.generation if generation is None else generation
        return PCG64(SeedSequence(self._entropy, spawn_key=(purpose, generation, number)))

    def _joined(self, chromosomes):
        """Arrays (..., length_i) of all subpopulations as one array (..., n_subpopulations, length) if they fit."""
        return np.stack(chromosomes, axis=-2) if len(set(self.lengths)) == 1 else chromosomes

"""Enforced SubPopulations (ESP): coevolution of network components by ask and tell (paper, section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from evoke._core.mutation import add_cauchy
from evoke._validation.arrays import check_shape, to_finite
from evoke._validation.errors import ParameterError, refusal
from evoke._validation.parameters import check_choice, check_flag, check_integer, is_sequence
from evoke.bounds import Bounds, bounds_of
from evoke.engine import MOST_NUMBERS, Engine, check_lengths, check_scales, for_each, to_load
from evoke.persistence.values import register

# First word of the spawn key (purpose, generation, subpopulation) of every random stream.
_INITIAL, _ASSEMBLY, _MUTATION, _BURST = range(4)


def _numbers(scale):
    """What a state has: a number, or an array of those of the subpopulations."""
    return np.array(scale) if isinstance(scale, tuple) else scale


def _draws(initial):
    """Whether chromosomes are to be drawn, by a function or by default."""
    return initial is None or (callable(initial) and not isinstance(initial, type))


def _check_initial(initial, lengths, size):
    """Copies of the chromosomes to start from."""
    subpopulations = []
    for i, (chromosomes, length) in enumerate(zip(initial, lengths, strict=True)):
        chromosomes = to_finite(chromosomes, f"initial[{i}]")
        check_shape(chromosomes, f"initial[{i}]", (size, length))
        subpopulations.append(np.array(chromosomes, order="C"))
    return subpopulations


class ESP(Engine):
    """Enforced SubPopulations with mutation only, as Evoke uses it (paper, section 2).

    A network is put together from one chromosome of each subpopulation; the subpopulations evolve side by side and
    never mix. The object knows nothing about networks: `ask` gives genomes, the caller measures them, `tell` takes
    the fitness, which is minimised, and makes the next generation:

    - If the best-ever fitness did not improve for `burst_patience` generations, burst mutation: every subpopulation
      is refilled with the chromosome of the best-ever network, once as it is (member 0) and otherwise with Cauchy
      noise of `burst_scale` on all weights.
    - Otherwise the chromosomes of each subpopulation are ranked by score, and copies of the top quarter, with Cauchy
      noise of `mutation_scale` on all weights, replace the worst quarter: the copy of the k-th best takes the place
      of the k-th of those replaced. Ties go to the lower index.

    Parameters
    ----------
    lengths : sequence of int
        Chromosome length of each subpopulation; they may differ.
    subpopulation_size : int, default=40
        Chromosomes in a subpopulation, at least 2. A quarter is ``subpopulation_size // 4``, and at least 1.
    n_trials : int, default=5
        Networks that each chromosome takes part in per generation.
    mutation_scale : float or sequence of float, default=0.1
        Half of the noise lies within +- this scale; a sequence holds one scale per subpopulation.
    burst_patience : int or None, default=5
        Generations without improvement that set off a burst; None: never.
    burst_scale : float, sequence of float or None, default=None
        Noise scale of a burst, likewise; None: `mutation_scale`.
    credit : {"best", "mean"}, default="best"
        Score of a chromosome: the lowest, or the mean, fitness of the networks it took part in. The mean is infinite
        if one of them is.
    weight_range : float or sequence of float, default=5.0
        Initial weights are uniform in [-weight_range, weight_range]; a sequence holds one range per subpopulation.
    initial : sequence of array_like of shape (subpopulation_size, lengths[i]), or callable, optional
        The chromosomes to start from, for each subpopulation, or a function ``(generator, shape)`` that draws those of
        one; by default they are drawn from `weight_range`. In a sequence there may also be such functions, and None
        for the default.
    n_best : int, default=1
        Networks that are kept in `hall`.
    keep_zeros : bool, default=False
        Whether every other mutated copy, the best one first, gets no noise on weights that are exactly 0. Connections
        that are missing at the start then stay away in a part of the population. Bursts put noise on all weights.
    bounds : pair (lower, upper) or None, default=None
        Bounds of the weights, each a number, or one for each weight, end to end or as in `best`; -inf and inf are none.
        Initial weights are drawn from the part of `weight_range` that is inside; an
        `initial` outside is refused. Mutated weights that would leave are mirrored at the bound: clipped ones would
        heap up there, as Cauchy noise has long tails.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        0 is a seed like any other. A Generator or RandomState is drawn from once, here; a SeedSequence is left as it
        is. Every later stream is keyed by its purpose, generation and subpopulation, so results depend neither on the
        order of calls nor on threads. NumPy's global state is not used.

    Attributes
    ----------
    subpopulations : list of ndarray, each of shape (subpopulation_size, lengths[i])
        The chromosomes of the current generation.
    n_networks : int
        Networks per generation, ``subpopulation_size * n_trials``.
    best_fitness : float
        Lowest fitness so far; inf until there was a finite one.
    generation : int
        Number of `tell` calls.
    stagnation : int
        Generations since `best_fitness` improved or since the last burst.
    bursts : list of int
        Generations, counted from 0, whose `tell` ended in a burst.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke.esp import ESP
    >>> esp = ESP([3, 3], subpopulation_size=8, n_trials=2, random_state=0)
    >>> for _ in range(30):
    ...     genomes = esp.ask()
    ...     esp.tell(np.sum(genomes**2, axis=(1, 2)))
    >>> genomes.shape, esp.best.shape, esp.n_evaluations
    ((16, 2, 3), (2, 3), 480)
    """

    def __init__(
        self,
        lengths: Sequence[int],
        *,
        subpopulation_size: int = 40,
        n_trials: int = 5,
        mutation_scale: float | Sequence[float] = 0.1,
        burst_patience: int | None = 5,
        burst_scale: float | Sequence[float] | None = None,
        credit: str = "best",
        weight_range: float | Sequence[float] = 5.0,
        initial: Any = None,
        n_best: int = 1,
        keep_zeros: bool = False,
        bounds: Any = None,
        random_state: Any = None,
    ) -> None:
        lengths = check_lengths(lengths)
        self.subpopulation_size = check_integer("subpopulation_size", subpopulation_size, 2)
        self.n_trials = check_integer("n_trials", n_trials, 1)
        n_numbers = sum(lengths) * self.subpopulation_size * self.n_trials
        if n_numbers >= MOST_NUMBERS:
            raise ParameterError(
                f"subpopulation_size={self.subpopulation_size} times n_trials={self.n_trials} times the sum of lengths "
                f"{sum(lengths)} (with n_cells it grows as their square) must be less than {MOST_NUMBERS}, "
                f"got {n_numbers}; lower one of them"
            )
        n = len(lengths)
        self.mutation_scale = check_scales("mutation_scale", mutation_scale, n)
        self.burst_patience = None if burst_patience is None else check_integer("burst_patience", burst_patience, 1)
        self.burst_scale = self.mutation_scale if burst_scale is None else check_scales("burst_scale", burst_scale, n)
        check_choice("credit", credit, ("best", "mean"))
        self.credit = credit
        self.weight_range = for_each(check_scales("weight_range", weight_range, n), n)
        n_best = check_integer("n_best", n_best, 1)
        check_flag("keep_zeros", keep_zeros)
        self.keep_zeros = bool(keep_zeros)
        self._bounds = Bounds.of(bounds, lengths)

        super().__init__(lengths, n_best, random_state)
        self.n_networks = self.subpopulation_size * self.n_trials
        if _draws(initial):
            initial = [initial] * n
        elif not is_sequence(initial) or len(initial) != n:
            raise refusal("initial", f"be a sequence of {n} arrays", initial)
        initial = [self._draw(part, i) if _draws(part) else part for i, part in enumerate(initial)]
        self.subpopulations = _check_initial(initial, self.lengths, self.subpopulation_size)
        self._check_bounds(self.subpopulations, "initial")
        self._assembly: Any = None  # set between ask and tell
        self._last: Any = None  # of each subpopulation the chromosome that ranked last, from tell to ask

    @property
    def _is_asked(self):
        return self._assembly is not None

    def ask(self) -> Any:
        """Candidate networks of this generation; the same ones until `tell` is called.

        Permuted assembly: in each of `n_trials` rounds every subpopulation is shuffled and network k takes the k-th
        chromosome of each, so that every chromosome is used exactly `n_trials` times.

        Returns
        -------
        ndarray of shape (n_networks, n_subpopulations, length), or list of ndarray (n_networks, length_i)
            An array, C-contiguous, if all lengths are equal, else one array per subpopulation. The caller's to keep.
        """
        self._last = None
        if self._assembly is None:
            self._assembly = self._assemble()
        return self._joined(
            [chromosomes[index] for chromosomes, index in zip(self.subpopulations, self._members(), strict=True)]
        )

    def take_in(self, network: Any, fitness: Any) -> None:
        """Take in a network of another search, between `tell` and `ask`.

        Its chromosomes take the places of those that ranked last, after a burst those of the last members. Where it is
        better than the best network so far it is that from now on, and bursts are around it.

        Parameters
        ----------
        network : ndarray of shape (n_subpopulations, length), or list of ndarray (length_i,)
            As `best` of an object with the same `lengths`.
        fitness : float
            Its fitness; where it is not finite, the network is not the best one.

        Raises
        ------
        ValueError
            If `ask` was called since, or a state was loaded: nobody knows then which ones ranked last.
        """
        if self._last is None:
            raise ValueError("take_in was called, but not between tell and ask")
        self._check_bounds(network, "network")
        for chromosomes, chromosome, last in zip(self.subpopulations, network, self._last, strict=True):
            chromosomes[last] = chromosome
        fitness = fitness if np.isfinite(fitness) else np.inf
        self._hall.enter(np.array([fitness]), self._last[:, None], self.subpopulations)

    def _told(self):
        return self._members(), self.subpopulations

    def _advance(self, fitness):
        patience = self.burst_patience
        if patience is not None and self.stagnation >= patience and len(self._hall):
            self._burst()
        else:
            self._select(self._scores(fitness))
        self._assembly = None

    def _own_state(self):
        return {"weights": np.concatenate([chromosomes.ravel() for chromosomes in self.subpopulations])}

    def _check_own(self, state, counts):
        own = to_load(state, "weights", sum(self.lengths) * self.subpopulation_size)
        self._check_bounds(self._parts_of(own), "state['weights']")
        return own

    def _load_own(self, own, is_asked):
        self.subpopulations = self._parts_of(own)
        self._assembly = self._assemble() if is_asked else None
        self._last = None

    def _parts_of(self, weights):
        """Chromosomes of each subpopulation, of weights that are laid end to end."""
        ends = np.cumsum(self.lengths)[:-1] * self.subpopulation_size
        return [part.reshape(self.subpopulation_size, -1) for part in np.split(weights, ends)]

    def _check_bounds(self, parts, name):
        """That chromosomes of all subpopulations are within the bounds, if there are any."""
        for i, part in enumerate(parts if self._bounds is not None else []):
            self._bounds.check(np.asarray(part), f"{name}[{i}]", i)

    def _add_noise(self, chromosomes, scale, purpose, i):
        add_cauchy(chromosomes, scale, self._stream(purpose, i))
        if self._bounds is not None:
            chromosomes[:] = self._bounds.mirror(chromosomes, i)

    def _parameters(self):
        return {
            "lengths": np.array(self.lengths, dtype=np.int64),
            "subpopulation_size": self.subpopulation_size,
            "n_trials": self.n_trials,
            "mutation_scale": _numbers(self.mutation_scale),
            "burst_patience": self.burst_patience,
            "burst_scale": _numbers(self.burst_scale),
            "credit": self.credit,
            "weight_range": np.array(self.weight_range),
            **({} if self.n_best == 1 else {"n_best": self.n_best}),  # format 1 of model files has one
            **({"keep_zeros": 1} if self.keep_zeros else {}),
            **({} if self._bounds is None else self._bounds.state()),
        }

    def _draw(self, initial, i):
        """Chromosomes for one subpopulation to start from."""
        generator, shape = Generator(self._stream(_INITIAL, i)), (self.subpopulation_size, self.lengths[i])
        if initial is not None:
            return initial(generator, shape)
        if self._bounds is not None:
            return generator.uniform(*self._bounds.range_of(i, self.weight_range[i]), shape)
        return generator.uniform(-self.weight_range[i], self.weight_range[i], shape)

    def _members(self):
        """Indices (n_subpopulations, n_networks) of the chromosomes of the networks."""
        return self._assembly.reshape(len(self.lengths), self.n_networks)

    def _assemble(self):
        """Indices (n_subpopulations, n_trials, subpopulation_size) of the chromosomes in each round's networks."""
        unshuffled = np.tile(np.arange(self.subpopulation_size), (self.n_trials, 1))
        return np.stack(
            [Generator(self._stream(_ASSEMBLY, i)).permuted(unshuffled, axis=1) for i in range(len(self.lengths))]
        )

    def _scores(self, fitness):
        """Scores (n_subpopulations, subpopulation_size) of the chromosomes."""
        credits = np.empty(self._assembly.shape)
        np.put_along_axis(credits, self._assembly, fitness.reshape(1, self.n_trials, self.subpopulation_size), axis=-1)
        if self.credit == "best":
            return credits.min(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            return credits.mean(axis=1)  # NaN from opposite infinities ranks last, as argsort sorts it

    def _select(self, scores):
        quarter = max(1, self.subpopulation_size // 4)
        ranks = np.argsort(scores, axis=1, kind="stable")
        self._last = ranks[:, -1]
        scales = for_each(self.mutation_scale, len(self.lengths))
        for i, (chromosomes, rank) in enumerate(zip(self.subpopulations, ranks, strict=True)):
            copies = chromosomes[rank[:quarter]]
            sparse = copies[::2] if self.keep_zeros else copies[:0]
            missing = sparse == 0.0
            self._add_noise(copies, scales[i], _MUTATION, i)
            sparse[missing] = 0.0
            chromosomes[rank[-quarter:]] = copies

    def _burst(self):
        scales = for_each(self.burst_scale, len(self.lengths))
        for i, (chromosomes, centre) in enumerate(zip(self.subpopulations, self._hall.chromosomes(0), strict=True)):
            chromosomes[:] = centre
            self._add_noise(chromosomes[1:], scales[i], _BURST, i)
        self._last = np.full(len(self.lengths), self.subpopulation_size - 1)
        self.bursts.append(self.generation)
        self.stagnation = 0


def _state(esp):
    """What a model file holds; whoever asks again gets the same networks."""
    return {**esp.state_dict(), "asked": 0}


def _from_state(state):
    """The engine of a model file, whose populations must be of the size that is stated before room is made for them."""
    lengths = state["lengths"].tolist()
    if state["weights"].size != sum(lengths) * state["subpopulation_size"] or state["asked"] != 0:
        raise ValueError("the populations of ESP are not of the size that is stated")
    names = ("subpopulation_size", "n_trials", "burst_patience", "credit")
    scales = {name: np.asarray(state[name]).tolist() for name in ("mutation_scale", "burst_scale", "weight_range")}
    own = {"n_best": state.get("n_best", 1), "keep_zeros": "keep_zeros" in state}
    if (bounds := bounds_of(state)) is not None:  # the weight range may lie outside
        parts = np.split(state["weights"], np.cumsum(lengths)[:-1] * state["subpopulation_size"])
        own |= {"bounds": bounds, "initial": [part.reshape(state["subpopulation_size"], -1) for part in parts]}
    esp = ESP(lengths, random_state=0, **own, **scales, **{name: state[name] for name in names})
    esp.load_state_dict(state)
    return esp


register(ESP, _state, _from_state)

"""Enforced SubPopulations (ESP): coevolution of network components by ask and tell (paper, section 2)."""

from collections.abc import Mapping

import numpy as np
from numpy.random import PCG64, Generator, RandomState, SeedSequence

from evoke._core.mutation import add_cauchy
from evoke._validation.arrays import check_dimensions, check_shape, not_finite, to_array, to_finite, to_float, to_real
from evoke._validation.errors import ParameterError, refusal, shown
from evoke._validation.parameters import (
    MOST_SCALE,
    check_choice,
    check_flag,
    check_integer,
    check_positive,
    check_real,
    is_sequence,
)
from evoke.hall_of_fame import HallOfFame
from evoke.persistence.values import register

# Numbers in the genomes of a generation, which `ask` gives in one piece: 16 GiB.
_MOST_NUMBERS = 2**31
# Generations that a state may have counted: they are kept as int64.
_MOST_GENERATIONS = 2**62

# First word of the spawn key (purpose, generation, subpopulation) of every random stream.
_INITIAL, _ASSEMBLY, _MUTATION, _BURST = range(4)


def entropy_of(random_state):
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


def _check_scales(name, value, n):
    """A number for all of n subpopulations, or a tuple of one for each."""
    if not is_sequence(value):
        return check_positive(name, value)
    if len(value) != n:
        raise refusal(name, f"be one number or one per subpopulation ({n})", value)
    most = MOST_SCALE[name]
    return tuple(check_positive(f"{name}[{i}]", scale, most) for i, scale in enumerate(value))


def _for_each(scale, n):
    """The numbers of n subpopulations."""
    return scale if isinstance(scale, tuple) else (scale,) * n


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


class ESP:
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
        lengths,
        *,
        subpopulation_size=40,
        n_trials=5,
        mutation_scale=0.1,
        burst_patience=5,
        burst_scale=None,
        credit="best",
        weight_range=5.0,
        initial=None,
        n_best=1,
        keep_zeros=False,
        random_state=None,
    ):
        if not is_sequence(lengths) or len(lengths) == 0:
            raise refusal("lengths", "be a sequence of at least one integer", lengths)
        self.lengths = tuple(check_integer(f"lengths[{i}]", length, 1) for i, length in enumerate(lengths))
        self.subpopulation_size = check_integer("subpopulation_size", subpopulation_size, 2)
        self.n_trials = check_integer("n_trials", n_trials, 1)
        n_numbers = sum(self.lengths) * self.subpopulation_size * self.n_trials
        if n_numbers >= _MOST_NUMBERS:
            raise ParameterError(
                f"subpopulation_size={self.subpopulation_size} times n_trials={self.n_trials} times the sum of lengths "
                f"{sum(self.lengths)} (with n_cells it grows as their square) must be less than {_MOST_NUMBERS}, "
                f"got {n_numbers}; lower one of them"
            )
        n = len(self.lengths)
        self.mutation_scale = _check_scales("mutation_scale", mutation_scale, n)
        self.burst_patience = None if burst_patience is None else check_integer("burst_patience", burst_patience, 1)
        self.burst_scale = self.mutation_scale if burst_scale is None else _check_scales("burst_scale", burst_scale, n)
        check_choice("credit", credit, ("best", "mean"))
        self.credit = credit
        self.weight_range = _for_each(_check_scales("weight_range", weight_range, n), n)
        self.n_best = check_integer("n_best", n_best, 1)
        check_flag("keep_zeros", keep_zeros)
        self.keep_zeros = bool(keep_zeros)

        self._entropy = entropy_of(random_state)
        self.n_networks = self.subpopulation_size * self.n_trials
        self.generation = 0
        self.stagnation = 0
        self.bursts = []
        self._n_left_out = 0  # networks that were not evaluated
        if _draws(initial):
            initial = [initial] * n
        elif not is_sequence(initial) or len(initial) != n:
            raise refusal("initial", f"be a sequence of {n} arrays", initial)
        initial = [self._draw(part, i) if _draws(part) else part for i, part in enumerate(initial)]
        self.subpopulations = _check_initial(initial, self.lengths, self.subpopulation_size)
        self._assembly = None  # set between ask and tell
        self._hall = HallOfFame(self.lengths, self.n_best)

    @property
    def best_fitness(self):
        """Lowest fitness so far; inf until there was a finite one."""
        return self._hall.best_fitness

    @property
    def best(self):
        """Genome of the best network so far, None until a fitness was below infinity.

        An array of shape (n_subpopulations, length) if all lengths are equal, else a list of arrays (length_i,).
        """
        return self._joined(self._hall.chromosomes(0)) if len(self._hall) else None

    @property
    def hall(self):
        """The hall of fame: genomes of up to `n_best` of the best networks so far, the best one first.

        Of networks that have more than half of their chromosomes in common only the best is in it.
        """
        return [self._joined(self._hall.chromosomes(k)) for k in range(len(self._hall))]

    @property
    def hall_fitness(self):
        """Fitness of the networks in `hall`."""
        return self._hall.fitness.tolist()

    @property
    def n_evaluations(self):
        """Number of networks evaluated."""
        return self.generation * self.n_networks - self._n_left_out

    def ask(self):
        """Candidate networks of this generation; the same ones until `tell` is called.

        Permuted assembly: in each of `n_trials` rounds every subpopulation is shuffled and network k takes the k-th
        chromosome of each, so that every chromosome is used exactly `n_trials` times.

        Returns
        -------
        ndarray of shape (n_networks, n_subpopulations, length), or list of ndarray (n_networks, length_i)
            An array, C-contiguous, if all lengths are equal, else one array per subpopulation. The caller's to keep.
        """
        if self._assembly is None:
            self._assembly = self._assemble()
        return self._joined(
            [chromosomes[index] for chromosomes, index in zip(self.subpopulations, self._members(), strict=True)]
        )

    def tell(self, fitness, n_evaluated=None):
        """Take the fitness of the networks that `ask` gave, and make the next generation.

        Parameters
        ----------
        fitness : array-like of shape (n_networks,)
            To be minimised. NaN counts as infinity, and infinity ranks last. While no network had a fitness below
            infinity there is nothing to burst around, so selection continues.
        n_evaluated : int, optional
            Networks that count in `n_evaluations`, where time was too short for all of them; by default all.

        Raises
        ------
        ValueError
            If `ask` was not called for this generation, or `fitness` has another shape or no real numbers.
        ParameterError
            An `n_evaluated` that is no integer from 0 to `n_networks`.
        """
        if self._assembly is None:
            raise ValueError("tell was called before ask")
        fitness = to_real(fitness, "fitness")
        check_shape(fitness, "fitness", (self.n_networks,))
        fitness = to_float(fitness, "fitness").copy()
        fitness[np.isnan(fitness)] = np.inf
        if n_evaluated is not None:
            self._n_left_out += self.n_networks - check_integer("n_evaluated", n_evaluated, 0, self.n_networks)

        before = self.best_fitness
        self._hall.enter(fitness, self._members(), self.subpopulations)
        self.stagnation = 0 if self.best_fitness < before else self.stagnation + 1
        patience = self.burst_patience
        if patience is not None and self.stagnation >= patience and len(self._hall):
            self._burst()
        else:
            self._select(self._scores(fitness))
        self._assembly = None
        self.generation += 1

    def judge_best_anew(self, fitness):
        """Give the best-ever network, or those of the hall of fame, another fitness, as when what is asked has changed.

        Parameters
        ----------
        fitness : float, or array_like of shape (len(hall),) where several are kept
            NaN and infinity: a network is forgotten, and there is no best one until `tell` finds one.

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
        self._hall.judge_anew(fitness)

    def state_dict(self):
        """Everything that is needed to continue, bit for bit, also between `ask` and `tell`.

        Returns
        -------
        dict
            Strings, numbers, None and arrays; nothing in it is shared with the object. ``weights`` holds the
            subpopulations and ``best`` the best network's chromosomes, laid end to end; ``best`` is empty while
            there is none.
        """
        return {
            **self._parameters(),
            "entropy": self._entropy,
            "generation": self.generation,
            "asked": int(self._assembly is not None),
            "stagnation": self.stagnation,
            "bursts": np.array(self.bursts, dtype=np.int64),
            **({} if self._n_left_out == 0 else {"n_left_out": self._n_left_out}),
            "best_fitness": self.best_fitness,
            "best": self._hall.genomes[:1].flatten(),
            **({} if self.n_best == 1 else {
                "hall": self._hall.genomes.flatten(), "hall_fitness": self._hall.fitness.copy(),
            }),
            "weights": np.concatenate([chromosomes.ravel() for chromosomes in self.subpopulations]),
        }

    def load_state_dict(self, state):
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
        current = self.state_dict()
        if not isinstance(state, Mapping):
            raise refusal("state", "be a mapping, as state_dict gives it", state)
        state = {"n_left_out": 0, **state}  # only where there are any
        current.setdefault("n_left_out", 0)
        if set(state) != set(current):
            missing, unknown = sorted(set(current) - set(state)), sorted(set(state) - set(current))
            raise ValueError(f"state has the wrong keys: missing {missing}, unknown {unknown}")
        for name, value in self._parameters().items():
            given = to_array(state[name], f"state[{name!r}]")
            if given.dtype.kind == "b" or not np.array_equal(given, value):
                raise ValueError(f"state[{name!r}] is {shown(state[name])}, but this object has {shown(value)}")

        n_weights = sum(self.lengths)
        best_fitness = to_real(state["best_fitness"], "state['best_fitness']", "iuf")
        check_shape(best_fitness, "state['best_fitness']", ())
        best_fitness = float(best_fitness)
        if np.isnan(best_fitness):
            raise ValueError("state['best_fitness'] must not be NaN")
        arrays = {}
        sizes = {"weights": n_weights * self.subpopulation_size, "best": n_weights if best_fitness < np.inf else 0}
        if self.n_best > 1:
            n_hall = min(np.size(state["hall_fitness"]), self.n_best)
            sizes |= {"hall": n_hall * n_weights, "hall_fitness": n_hall}
        for name, size in sizes.items():
            arrays[name] = to_real(state[name], f"state[{name!r}]", "iuf")
            check_shape(arrays[name], f"state[{name!r}]", (size,))
            if not np.isfinite(arrays[name]).all():
                raise not_finite(arrays[name], f"state[{name!r}]")
        if self.n_best == 1:
            kept = np.array([best_fitness]) if best_fitness < np.inf else np.empty(0)
            arrays |= {"hall": arrays["best"], "hall_fitness": kept}
        elif [*arrays["hall_fitness"][:1]] != [best_fitness] * (best_fitness < np.inf):
            raise ValueError("state['best_fitness'] must be the first of state['hall_fitness']")
        arrays["bursts"] = to_real(state["bursts"], "state['bursts']", "iu")
        check_dimensions(arrays["bursts"], "state['bursts']", (1,))
        counts = {}
        for name, most in (
            ("entropy", None), ("generation", _MOST_GENERATIONS), ("asked", 1), ("stagnation", _MOST_GENERATIONS),
            ("n_left_out", None),
        ):  # fmt: skip
            value = to_array(state[name], f"state[{name!r}]")
            number = state[name] if value.ndim else value.item()  # a model file has arrays of no axis
            counts[name] = check_integer(f"state[{name!r}]", number, 0, most)
        if counts["n_left_out"] > counts["generation"] * self.n_networks:
            raise ValueError(f"state['n_left_out'] is {counts['n_left_out']}, more than all networks")
        for i, burst in enumerate(arrays["bursts"].tolist()):
            check_integer(f"state['bursts'][{i}]", burst, 0, _MOST_GENERATIONS)

        self._entropy = counts["entropy"]
        self.generation = counts["generation"]
        self.stagnation = counts["stagnation"]
        self._n_left_out = counts["n_left_out"]
        self.bursts = arrays["bursts"].tolist()
        self._hall = HallOfFame(self.lengths, self.n_best)
        self._hall.genomes = np.array(arrays["hall"], dtype=np.float64).reshape(-1, n_weights)
        self._hall.fitness = np.array(arrays["hall_fitness"], dtype=np.float64)
        weights = np.array(arrays["weights"], dtype=np.float64)
        self.subpopulations = [
            part.reshape(self.subpopulation_size, -1)
            for part in np.split(weights, np.cumsum(self.lengths)[:-1] * self.subpopulation_size)
        ]
        self._assembly = self._assemble() if counts["asked"] else None

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
        }

    def _draw(self, initial, i):
        """Chromosomes for one subpopulation to start from."""
        generator, shape = Generator(self._stream(_INITIAL, i)), (self.subpopulation_size, self.lengths[i])
        if initial is not None:
            return initial(generator, shape)
        return generator.uniform(-self.weight_range[i], self.weight_range[i], shape)

    def _stream(self, purpose, subpopulation):
        return PCG64(SeedSequence(self._entropy, spawn_key=(purpose, self.generation, subpopulation)))

    def _joined(self, chromosomes):
        """Arrays (..., length_i) of all subpopulations as one array (..., n_subpopulations, length) if they fit."""
        return np.stack(chromosomes, axis=-2) if len(set(self.lengths)) == 1 else chromosomes

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
        scales = _for_each(self.mutation_scale, len(self.lengths))
        for i, (chromosomes, rank) in enumerate(zip(self.subpopulations, ranks, strict=True)):
            copies = chromosomes[rank[:quarter]]
            sparse = copies[::2] if self.keep_zeros else copies[:0]
            missing = sparse == 0.0
            add_cauchy(copies, scales[i], self._stream(_MUTATION, i))
            sparse[missing] = 0.0
            chromosomes[rank[-quarter:]] = copies

    def _burst(self):
        scales = _for_each(self.burst_scale, len(self.lengths))
        for i, (chromosomes, centre) in enumerate(zip(self.subpopulations, self._hall.chromosomes(0), strict=True)):
            chromosomes[:] = centre
            add_cauchy(chromosomes[1:], scales[i], self._stream(_BURST, i))
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
    esp = ESP(lengths, random_state=0, **own, **scales, **{name: state[name] for name in names})
    esp.load_state_dict(state)
    return esp


register(ESP, _state, _from_state)

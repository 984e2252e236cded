"""CMA-ES: a normal distribution of networks that learns its mean, its step size and its covariance, by ask and tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator

from evoke._core.dispatch import apply
from evoke._validation.arrays import check_shape, to_finite, to_float, to_real
from evoke._validation.errors import ParameterError, refusal
from evoke._validation.parameters import check_choice, check_integer, is_sequence, is_text
from evoke.bounds import Bounds, bounds_of
from evoke.engine import MOST_NUMBERS, Engine, check_lengths, check_scales, count_of, for_each, to_load
from evoke.persistence.values import register

__all__ = ["CMAES"]

# Numbers in a genome up to which the whole covariance matrix is learned: its work grows with their square, and it is
# learned in a time that grows likewise.
MOST_FULL = 100

# Populations are doubled up to so many times, while their numbers are no more than these.
MOST_DOUBLINGS, MOST_GROWN = 9, 2**24

# Numbers in a covariance matrix, of which a state has one.
MOST_MATRIX = 2**28

# A search that has become so narrow, so wide or so one-sided has come to its end.
NARROWEST, WIDEST, MOST_CONDITION = 1e-12, 1e8, 1e14


def _settled(values):
    """Values without their last bits, in which one C library differs from the next."""
    return np.rint(np.asarray(values) * 2.0**32) / 2.0**32


def _check_mean(initial, lengths):
    """The weights of all subpopulations from which the search starts."""
    if initial is None:
        return np.zeros(sum(lengths))
    if not is_sequence(initial) or len(initial) != len(lengths):
        raise refusal("initial", f"be a sequence of {len(lengths)} arrays", initial)
    parts = []
    for i, (part, length) in enumerate(zip(initial, lengths, strict=True)):
        part = np.zeros(length) if part is None else to_finite(part, f"initial[{i}]")
        check_shape(part, f"initial[{i}]", (length,))
        parts.append(part)
    return np.concatenate(parts)


def _norm(row):
    # rounded once, so that no order of the additions shows in it
    return math.sqrt(math.fsum((row * row).tolist()))


def _factor(matrix):
    """The Cholesky factor, or None; number by number, since the bits of LAPACK's differ from one build to the next."""
    left, factor = matrix.copy(), np.zeros_like(matrix)
    for j in range(len(left)):
        if not 0.0 < left[j, j] < np.inf:
            return None
        column = left[j:, j] / math.sqrt(left[j, j])
        factor[j:, j] = column
        left[j + 1 :, j + 1 :] -= column[1:, None] * column[1:]
    return factor


@dataclass(frozen=True, eq=False)
class Rates:
    """What follows from the number of weights n and the size of a population (Hansen 2016, table 1).

    Attributes
    ----------
    n_parents : int
    weights : ndarray of shape (size,)
        Of the networks in the order of their fitness; those of the parents add up to 1, the others are negative.
    mass : float
        Variance effective selection mass of the parents.
    path, damping : float
        Of the step size.
    path_c, one, many : float
        Of the covariance: its path, its update by the path, and that by the networks.
    expected : float
        Length of a vector of n normal numbers.
    """

    n_parents: int
    weights: np.ndarray
    mass: float
    path: float
    damping: float
    path_c: float
    one: float
    many: float
    expected: float

    @staticmethod
    @lru_cache(maxsize=64)
    def of(n: Any, size: Any, diagonal: Any) -> Any:
        """The rates; with a diagonal there is less to learn, and learning is faster."""
        raw = _settled(np.log((size + 1) / 2.0)) - _settled(np.log(np.arange(1.0, size + 1)))
        n_parents = size // 2
        parents, others = raw[:n_parents], raw[n_parents:]
        mass, lost = (math.fsum(part) ** 2 / math.fsum(part * part) for part in (parents, others))
        if diagonal:  # the step size has to find its way within few generations (Akimoto, Auger and Hansen 2014)
            path = math.sqrt(mass) / (math.sqrt(n) + math.sqrt(mass))
        else:
            path = (mass + 2.0) / (n + mass + 5.0)
        damping = 1.0 + 2.0 * max(0.0, math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + path
        faster = (n + 2.0) / 3.0 if diagonal else 1.0  # Ros and Hansen 2008
        one = min(1.0, faster * 2.0 / ((n + 1.3) ** 2 + mass))
        many = min(1.0 - one, faster * 2.0 * (0.25 + mass + 1.0 / mass - 2.0) / ((n + 2.0) ** 2 + mass))
        total = 0.0  # of the negative weights, so that the covariance stays positive definite
        if many > 0.0:
            total = min(1.0 + one / many, 1.0 + 2.0 * lost / (mass + 2.0), (1.0 - one - many) / (n * many))
        weights = np.concatenate([parents / math.fsum(parents), total * others / -math.fsum(others)])
        weights.setflags(write=False)
        return Rates(
            n_parents, weights, mass, path, damping, (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n), one, many,
            math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        )  # fmt: skip


class CMAES(Engine):
    """Covariance matrix adaptation evolution strategy (CMA-ES) [1]_, with the ask and tell of `ESP`.

    Networks are drawn from a normal distribution of all their weights. `tell` moves its mean to the better half of
    them, lengthens its steps as long as they agree and shortens them otherwise, and learns in which directions weights
    vary together among the better networks, also from the worse half (negative weights).

    - Up to 100 weights the whole covariance matrix is learned. Networks are drawn with its Cholesky factor, and the
      path of the step size is that of the numbers before the factor [2]_. With more weights only the diagonal is
      learned, but faster by a factor of a third of their number [3]_, and the step size has a shorter memory [4]_.
    - Where the search has come to an end it starts anew with twice the population [5]_: after `restart_patience`
      populations without improvement, or where the distribution has become too narrow, too wide or too one-sided. A
      generation stays at `population_size` networks, so that a population takes several generations then.

    It is written anew rather than taken from a package. The numbers are made of single additions, multiplications,
    divisions and square roots, and of normal numbers and logarithms without their last bits: a seed gives the same bits
    with every instruction set, LAPACK and C library.

    Parameters
    ----------
    lengths : sequence of int
        Chromosome length of each subpopulation; they may differ.
    population_size : int, optional
        Networks in a generation, at least 4; by default ``4 + int(3 * log(n))`` for n weights.
    weight_range : float or sequence of float, default=5.0
        The first networks have the deviation of weights that are uniform in [-weight_range, weight_range]; a sequence
        holds one range per subpopulation.
    step_size : float or sequence of float, optional
        Their standard deviation itself, in place of `weight_range`: one, or one per subpopulation.
    initial : sequence of array_like of shape (lengths[i],), optional
        Their mean, for each subpopulation, such as the `best` of another search; by default, and where one is None, 0.
    covariance : {"auto", "full", "diagonal"}, default="auto"
        What is learned of the covariance. "auto": "full" up to 100 weights.
    restart_patience : int, "auto" or None, default="auto"
        Populations without improvement after which the search starts anew; None: only where the distribution has
        come to an end. "auto": 40 + 3 n / size, rounded up, for n weights and populations of
        this size.
    n_best : int, default=1
        Networks that are kept in `hall`.
    bounds : pair (lower, upper) or None, default=None
        Bounds of the weights, each a number, or one for each weight, end to end or as in `best`; -inf and inf are none.
        An `initial` outside is refused; without one the search starts from 0, or the weight within the bounds
        that is nearest to it. Networks that would leave are mirrored at the bound, and the distribution learns as if
        they were not: it searches the plane that is folded into the box, in which no step is cut short. Clipped, all
        networks beyond a bound would be equal, and the step size would have nothing to go by.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        As that of `ESP`. Every stream is keyed by its generation.

    Attributes
    ----------
    n_networks : int
        Networks per generation, `population_size`.
    best_fitness : float
        Lowest fitness so far; inf until there was a finite one.
    generation : int
        Number of `tell` calls.
    stagnation : int
        Generations since `best_fitness` improved or since the search started anew.
    bursts : list of int
        Generations, counted from 0, after whose `tell` the search started anew.
    covariance : {"full", "diagonal"}
        What is learned of the covariance.

    References
    ----------
    .. [1] N. Hansen, "The CMA evolution strategy: a tutorial" (2016), arXiv:1604.00772.
    .. [2] O. Krause, D. R. Arbones and C. Igel, "CMA-ES with optimal covariance update and storage complexity",
       Advances in Neural Information Processing Systems 29 (2016).
    .. [3] R. Ros and N. Hansen, "A simple modification in CMA-ES achieving linear time and space complexity", Parallel
       Problem Solving from Nature X (2008), 296-305.
    .. [4] Y. Akimoto, A. Auger and N. Hansen, "Comparison-based natural gradient optimization in high dimension",
       Genetic and Evolutionary Computation Conference (2014), 373-380.
    .. [5] A. Auger and N. Hansen, "A restart CMA evolution strategy with increasing population size", IEEE Congress on
       Evolutionary Computation (2005), 1769-1776.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke.cmaes import CMAES
    >>> search = CMAES([3, 3], random_state=0)
    >>> for _ in range(150):
    ...     genomes = search.ask()
    ...     search.tell(np.sum((genomes - 1.0) ** 2, axis=(1, 2)))
    >>> genomes.shape, bool(search.best_fitness < 1e-12), search.n_evaluations
    ((9, 2, 3), True, 1350)
    """

    def __init__(
        self,
        lengths: Sequence[int],
        *,
        population_size: int | None = None,
        weight_range: float | Sequence[float] = 5.0,
        step_size: float | None = None,
        initial: Any = None,
        covariance: str = "auto",
        restart_patience: int | str | None = "auto",
        n_best: int = 1,
        bounds: Any = None,
        random_state: Any = None,
    ) -> None:
        lengths = check_lengths(lengths)
        n, n_parts = sum(lengths), len(lengths)
        if population_size is None:
            population_size = 4 + int(3 * math.log(n))
        population_size = check_integer("population_size", population_size, 4)
        if n * population_size >= MOST_NUMBERS:
            raise ParameterError(
                f"population_size={population_size} times the sum of lengths {n} must be less than {MOST_NUMBERS}, "
                f"got {n * population_size}; lower one of them"
            )
        ranges = check_scales("weight_range", weight_range, n_parts)
        if step_size is None:
            steps = np.array(for_each(ranges, n_parts)) / math.sqrt(3.0)
        else:
            steps = np.array(for_each(check_scales("step_size", step_size, n_parts), n_parts))
        check_choice("covariance", covariance, ("auto", "full", "diagonal"))
        if is_text(covariance, "auto"):
            covariance = "full" if n <= MOST_FULL else "diagonal"
        if covariance == "full" and n * n >= MOST_MATRIX:
            raise refusal("covariance", f"be 'diagonal' for {n} weights, whose matrix is too large", covariance)
        if restart_patience is not None and not is_text(restart_patience, "auto"):
            restart_patience = check_integer("restart_patience", restart_patience, 1)
        self.restart_patience = restart_patience
        self._start = _check_mean(initial, lengths)
        self._bounds = Bounds.of(bounds, lengths)
        if self._bounds is not None:
            if initial is None:
                self._start = np.clip(self._start, self._bounds.lower, self._bounds.upper)
            self._bounds.check(self._start, "initial")
        n_best = check_integer("n_best", n_best, 1)

        super().__init__(lengths, n_best, random_state)
        self.n_networks = self.population_size = population_size
        self.covariance = covariance
        self._step_size = steps
        self._steps = np.repeat(steps, lengths)
        self._genomes = None  # set between ask and tell
        self._begin()

    @property
    def _is_asked(self):
        return self._genomes is not None

    def _doublings(self, n_restarts):
        """How often the population was doubled after so many restarts."""
        numbers = self.population_size * sum(self.lengths)
        return min(n_restarts, max(0, (MOST_GROWN // numbers).bit_length() - 1), MOST_DOUBLINGS)

    @property
    def _rates(self):
        size = self.population_size << self._doublings(len(self.bursts))
        return Rates.of(sum(self.lengths), size, self.covariance == "diagonal")

    def ask(self) -> Any:
        """Networks of this generation; the same ones until `tell` is called.

        Returns
        -------
        ndarray of shape (n_networks, n_subpopulations, length), or list of ndarray (n_networks, length_i)
            An array, C-contiguous, if all lengths are equal, else one array per subpopulation. The caller's to keep.
        """
        if self._genomes is None:
            self._genomes = self._candidates()
        return self._joined([part.copy() for part in self._split(self._genomes)])

    def _candidates(self):
        genomes = self._mean + (self._sigma * self._steps) * self._steps_of(self._numbers(self.generation))
        return genomes if self._bounds is None else self._bounds.mirror(genomes)

    def _numbers(self, generation):
        """Normal numbers (n_networks, n) of a generation."""
        generator = Generator(self._stream(0, 0, generation))
        return _settled(generator.standard_normal((self.n_networks, sum(self.lengths))))

    def _steps_of(self, numbers):
        """What the covariance makes of normal numbers (k, n)."""
        if self.covariance == "diagonal":
            return numbers * self._factor
        steps = np.zeros_like(numbers)
        for j in range(numbers.shape[1]):
            steps[:, j:] += numbers[:, j, None] * self._factor[j:, j]
        return steps

    def judge_best_anew(self, fitness: Any) -> None:
        before = self.hall_fitness
        super().judge_best_anew(fitness)
        if self.hall_fitness != before:  # what was low before may not be low now
            self._lowest, self._idle = np.inf, 0

    judge_best_anew.__doc__ = Engine.judge_best_anew.__doc__

    def _split(self, genomes):
        return np.split(genomes, np.cumsum(self.lengths)[:-1], axis=1)

    def _told(self):
        members = np.tile(np.arange(self.n_networks), (len(self.lengths), 1))
        return members, self._split(self._genomes)

    def _begin(self):
        """The distribution from which a search starts."""
        n = sum(self.lengths)
        self._mean = self._start.copy()
        self._sigma = 1.0
        self._path_sigma, self._path_c = np.zeros(n), np.zeros(n)
        self._matrix = np.ones(n) if self.covariance == "diagonal" else np.eye(n)
        self._factor = self._matrix.copy()
        self._fitness = np.empty(0)  # of the networks of this population that are known
        self._updates = 0
        self._lowest, self._idle = np.inf, 0  # since the search started anew: lowest fitness, populations since

    def _advance(self, fitness):
        self._genomes = None
        known = np.concatenate([self._fitness, fitness])
        if len(known) < len(self._rates.weights):
            self._fitness = known
            return
        self._fitness = np.empty(0)
        lowest = float(known.min())
        # while all networks fail there is nothing that could improve
        self._lowest, before = min(self._lowest, lowest), self._lowest
        self._idle = 0 if self._lowest < before or before == np.inf else self._idle + 1
        # among networks that all failed there is no direction to go
        has_gone_on = self._update(np.argsort(known, kind="stable")) if lowest < np.inf else True
        if not has_gone_on or self._is_over():
            self.bursts.append(self.generation)
            self.stagnation = 0
            self._begin()

    def _update(self, order):
        """Learn from a population, its networks in the order of their fitness; whether the search can go on."""
        rates, n = self._rates, sum(self.lengths)
        last = range(self.generation - (len(order) // self.n_networks) + 1, self.generation + 1)
        numbers = np.concatenate([self._numbers(generation) for generation in last])[order]
        steps = self._steps_of(numbers)
        weights, parents = rates.weights, rates.weights[: rates.n_parents, None]
        step = np.add.reduce(parents * steps[: rates.n_parents], axis=0)
        number = np.add.reduce(parents * numbers[: rates.n_parents], axis=0)
        self._updates += 1
        self._mean = self._mean + (self._sigma * self._steps) * step

        kept = 1.0 - rates.path
        self._path_sigma = kept * self._path_sigma + math.sqrt(rates.path * (2.0 - rates.path) * rates.mass) * number
        length = _norm(self._path_sigma)
        usual = math.sqrt(1.0 - kept ** (2 * self._updates)) * rates.expected
        is_short = length < (1.4 + 2.0 / (n + 1.0)) * usual  # else the path of the covariance would run away
        gain = rates.path_c * (2.0 - rates.path_c)
        self._path_c = (1.0 - rates.path_c) * self._path_c
        if is_short:
            self._path_c = self._path_c + math.sqrt(gain * rates.mass) * step

        # a step of the worse half has the length of what is usual, however long it is
        lengths = [_norm(row) for row in numbers[rates.n_parents :]]
        worse = [w * n / max(r * r, 1e-300) for w, r in zip(weights[rates.n_parents :], lengths, strict=True)]
        decay = 1.0 - rates.one - rates.many * math.fsum(weights) + (0.0 if is_short else rates.one * gain)
        matrix = decay * self._matrix + rates.one * self._square(self._path_c)
        for weight, row in zip([*weights[: rates.n_parents], *worse], steps, strict=True):
            matrix += (rates.many * weight) * self._square(row)
        factor = self._factor_of(matrix)
        if factor is None:
            return False
        self._matrix, self._factor = matrix, factor
        exponent = min(1.0, rates.path / rates.damping * (length / rates.expected - 1.0))
        self._sigma *= float(apply("exp", [exponent])[0])
        return True

    def _square(self, row):
        return row * row if self.covariance == "diagonal" else row[:, None] * row

    def _factor_of(self, matrix):
        """What normal numbers are multiplied by; None where the covariance is not positive definite."""
        if self.covariance == "full":
            return _factor(matrix)
        return np.sqrt(matrix) if ((0.0 < matrix) & (matrix < np.inf)).all() else None

    def _is_over(self):
        """Whether nothing more can be had from this search."""
        patience = self.restart_patience
        if patience is None:
            patience = math.inf
        elif patience == "auto":
            patience = 40 + -(-3 * sum(self.lengths) // len(self._rates.weights))
        spread = np.diagonal(self._factor) if self.covariance == "full" else self._factor
        largest, least = float(spread.max()), float(spread.min())
        reach = self._sigma * largest
        return (
            self._idle >= patience
            or not NARROWEST < reach < WIDEST
            or largest * largest > MOST_CONDITION * (least * least)
        )

    def _parameters(self):
        return {
            "lengths": np.array(self.lengths, dtype=np.int64),
            "population_size": self.population_size,
            "covariance": self.covariance,
            "restart_patience": self.restart_patience,
            "initial": self._start.copy(),
            "step_size": self._step_size.copy(),
            **({} if self.n_best == 1 else {"n_best": self.n_best}),
            **({} if self._bounds is None else self._bounds.state()),
        }

    def _own_state(self):
        return {
            "updates": self._updates,
            "idle": self._idle,
            "lowest": self._lowest,
            "fitness": self._fitness.copy(),
            "sigma": self._sigma,
            "mean": self._mean.copy(),
            "path_sigma": self._path_sigma.copy(),
            "path_c": self._path_c.copy(),
            "matrix": self._matrix.flatten(),
        }

    def _check_own(self, state, counts):
        """The numbers of a state, and the factor of its matrix."""
        n = sum(self.lengths)
        doublings = self._doublings(counts["bursts"])
        sizes = {"mean": n, "path_sigma": n, "path_c": n, "matrix": self._matrix.size}
        own = {name: to_load(state, name, size) for name, size in sizes.items()}
        own |= {name: count_of(state, name, counts["generation"]) for name in ("updates", "idle")}
        for name in ("sigma", "lowest"):
            number = to_real(state[name], f"state[{name!r}]", "iuf")
            check_shape(number, f"state[{name!r}]", ())
            own[name] = float(number)
        if not 0.0 < own["sigma"] < np.inf:
            raise refusal("state['sigma']", "be a positive finite number", own["sigma"])
        if not own["lowest"] > -np.inf:
            raise ValueError("state['lowest'] must not be NaN or -infinity")
        fitness = to_float(to_real(state["fitness"], "state['fitness']", "iuf"), "state['fitness']")
        asked = min(fitness.size // self.n_networks, (1 << doublings) - 1, counts["generation"])
        check_shape(fitness, "state['fitness']", (asked * self.n_networks,))
        if not (fitness > -np.inf).all():
            raise ValueError("state['fitness'] must not have NaN or -infinity")
        own["fitness"] = fitness.copy()
        own["matrix"] = own["matrix"].reshape(self._matrix.shape)
        own["factor"] = self._factor_of(own["matrix"])
        if own["factor"] is None:
            raise ValueError("state['matrix'] is not positive definite")
        return own

    def _load_own(self, own, is_asked):
        self._mean, self._sigma, self._matrix, self._factor = (own[k] for k in ("mean", "sigma", "matrix", "factor"))
        self._path_sigma, self._path_c, self._fitness = (own[k] for k in ("path_sigma", "path_c", "fitness"))
        self._updates, self._idle, self._lowest = (own[k] for k in ("updates", "idle", "lowest"))
        self._genomes = self._candidates() if is_asked else None


def _state(search):
    """What a model file holds; whoever asks again gets the same networks."""
    return {**search.state_dict(), "asked": 0}


def _from_state(state):
    """The search of a model file, whose arrays must be of the size that is stated before room is made for them."""
    lengths = state["lengths"].tolist()
    if state["mean"].size != sum(lengths) or state["asked"] != 0:
        raise ValueError("the distribution of CMAES is not of the size that is stated")
    initial = np.split(state["initial"], np.cumsum(lengths)[:-1])
    names = ("population_size", "covariance", "restart_patience")
    search = CMAES(
        lengths, initial=initial, step_size=state["step_size"].tolist(), n_best=state.get("n_best", 1), random_state=0,
        bounds=bounds_of(state),
        **{name: state[name] for name in names},
    )  # fmt: skip
    search.load_state_dict(state)
    return search


register(CMAES, _state, _from_state)

"""One fit: from a problem to the run of the evolution, and from the best network to the fitted model."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from evoke._core import loo
from evoke._core.kernel import Kernel
from evoke._validation.arrays import FloatArray
from evoke.cmaes import CMAES
from evoke.engine import Engine
from evoke.esp import ESP
from evoke.estimators.fitted import FittedModel
from evoke.estimators.pooling import Pooling, Resampled
from evoke.evolution.evaluation import activations, evaluate, fit_readout
from evoke.evolution.evolved import as_genomes
from evoke.evolution.islands import Islands
from evoke.evolution.problem import Points, PooledProblem, Problem, StepsProblem
from evoke.evolution.restarts import Restarts
from evoke.evolution.run import Run, judge_anew
from evoke.evolution.sampling import PosedProblem, SampledProblem
from evoke.evolution.several import Several
from evoke.readouts import FittedReadout, LeaveOneOut
from evoke.sequences.preparation import Preparation, Units

__all__ = ["Fit", "JoinedNetworks", "LeftOutNetwork", "OneNetwork"]


class Fit:
    """The fit of an estimator to a problem.

    Parameters
    ----------
    estimator : estimator
        Its parameters, and with ``warm_start`` its last fit.
    problem : Problem, PooledProblem, SampledProblem, SplitProblem or StepsProblem
        What networks are evolved for.
    train : callable
        Trains the readout at the end: from the engine to fields of the fitted model, `network` and `readout` for one.
    build : callable
        Makes the fitted model of these fields, given ``washout, run`` by name as well.
    **engine
        Further parameters of the engine.

    Attributes
    ----------
    run : Run
        The run of the evolution.
    train : callable
    n_cells : int
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        problem: PosedProblem,
        train: Callable[[Engine], dict[str, Any]],
        build: Callable[..., FittedModel],
        **engine: Any,
    ):
        esp = make_engine(estimator, problem, **engine)
        n_generations, history, first = generations(estimator, esp), [], 0
        if estimator.warm_start and getattr(estimator, "fitted_", None) is not None:
            take_over(esp, estimator.fitted_, problem)
            last = estimator.fitted_.run
            n_generations += esp.generation
            history += last.history
            # records of other data say nothing about the fitness on these
            first = last.first if problem.digest == last.digest else len(history)
        self.run = Run(problem, esp, n_generations, history, first, model=self.estimator_so_far)
        self.train, self.n_cells = train, int(estimator.n_cells)
        self._estimator, self._build = estimator, build
        self._begin = esp.generation
        self._trained: dict[str, Any] = {}
        self._trained_for: list[tuple[float, bytes]] = []  # fitness and genomes of the networks that were trained

    @property
    def has_progressed(self) -> bool:
        """Whether the run has completed a generation, or was ended before its first."""
        return self.run.esp.generation > self._begin or self.run.stopped

    def limit_threads(self, n_threads: int) -> None:
        """Have no more threads at once train the readout."""
        train: Any = self.train
        if any(field.name == "n_threads" for field in fields(train)):
            self.train = replace(train, n_threads=min(n_threads, train.n_threads))

    def model(self) -> FittedModel | None:
        """The best network so far with its readout; None while no network had a finite error."""
        esp = self.run.esp
        if esp.best is None:
            return None
        hall = [(f, as_genomes(best).tobytes()) for f, best in zip(esp.hall_fitness, esp.hall, strict=True)]
        if self._trained_for != hall:  # trained anew only when there are others
            self._trained, self._trained_for = self.train(esp), hall
        return self._build(**self._trained, washout=int(self._estimator.washout), run=self.run.state())

    def estimator_so_far(self) -> BaseEstimator:
        """A copy of the user's estimator, fitted with the best network so far."""
        so_far, model = copy.copy(getattr(self._estimator, "_user", self._estimator)), self.model()
        if model is not None:
            so_far.fitted_ = model
        return so_far


def make_engine(estimator: BaseEstimator, problem: PosedProblem, **further: Any) -> Engine:
    """The engine that an estimator asks for; `further` are parameters of it that come with the problem."""
    lengths = [4 * (problem.n_inputs + estimator.n_cells)] * estimator.n_cells
    evolved = problem.evolved
    if evolved is not None:
        lengths.append(len(evolved.names))
    ranges: dict[str, Any] = {"weight_range": estimator.weight_range}
    engine: Callable[..., Engine]
    if estimator.search == "cmaes":
        if evolved is not None:
            ranges = evolved.distribution(**ranges)
        engine = partial(CMAES, lengths, **ranges, **further)
    else:
        scales: dict[str, Any] = {"mutation_scale": estimator.mutation_scale, "burst_scale": estimator.burst_scale}
        if evolved is not None:
            scales = evolved.engine(**scales)
        engine = partial(
            ESP,
            lengths,
            subpopulation_size=estimator.subpopulation_size,
            n_trials=estimator.n_trials,
            burst_patience=estimator.burst_patience,
            credit=estimator.credit,
            **ranges,
            **scales,
            **further,
        )
    every, seed = int(estimator.migrate_every), estimator.random_state
    if estimator.n_islands > 1:
        return Islands.make(engine, int(estimator.n_islands), every, seed)
    if estimator.n_restarts > 1:
        return Restarts.make(engine, int(estimator.n_restarts), n_networks(estimator), every, seed)
    return engine(random_state=seed)


def n_networks(estimator: BaseEstimator) -> int:
    """Networks that an estimator asks for."""
    return int(estimator.n_generations) * int(estimator.subpopulation_size) * int(estimator.n_trials)


def generations(estimator: BaseEstimator, esp: Engine) -> int:
    """Generations in which an engine, or each of several, has these networks, or a few more in the last one."""
    each = esp.engines[0] if isinstance(esp, Several) else esp
    return -(-n_networks(estimator) // each.n_networks)


@dataclass(frozen=True)
class OneNetwork:
    """The best network, whose readout is trained on the `final` points.

    Where that fails it is trained on those of `problem`, and a warning says what is `left_out`.
    """

    problem: Problem
    final: Points
    left_out: str

    def __call__(self, esp: Engine) -> dict[str, Any]:
        """The fields `network` and `readout`."""
        genome = as_genomes(esp.best)
        return {"network": self.problem.networks(genome), "readout": self._readout(genome)}

    def _readout(self, genome: FloatArray) -> FittedReadout:
        problem, final = self.problem, self.final
        if final is problem.train:
            return fit_readout(problem, genome)
        try:
            readout = fit_readout(problem, genome, final)
            decisions = readout.decide(activations(problem, genome[None])[0])
            parts = {"coefficients": readout.dual_coef, "intercepts": readout.intercept, "decisions": decisions}
            for name, values in parts.items():
                if not np.isfinite(values).all():
                    raise ValueError(f"{name} that are not finite")
            return readout
        except ValueError as error:
            # these are more points than the fitness has tried: no reason to lose the run
            warnings.warn(f"{self.left_out}: {error}", stacklevel=7)
            return fit_readout(problem, genome)


@dataclass(frozen=True)
class JoinedNetworks:
    """The networks of the hall of fame, whose pooled features are read by one readout, with resampled points of X."""

    problem: PooledProblem
    readout: LeaveOneOut
    preparation: Preparation
    units: Units
    n_points: int = 0

    def __call__(self, esp: Engine) -> dict[str, Any]:
        """The fields `network`, a population, `readout`, `preparation`, `pooling` and `left_out`."""
        problem = self.problem
        networks = problem.networks(np.stack(esp.hall))
        points = Resampled(self.n_points, self.preparation.n_features)
        pooling, features = Pooling.of(
            networks, problem.inputs, problem.pool, problem.washout, points, scaled=self.readout.scaled
        )
        found, readout = _chosen(replace(self.readout, scaled=False), features, problem, self.units)
        left_out = found.decisions.T * self.units.deviation + self.units.mean
        return {
            "network": networks, "readout": readout, "preparation": self.preparation, "pooling": pooling,
            "left_out": left_out,
        }  # fmt: skip


@dataclass(frozen=True)
class LeftOutNetwork:
    """The best network, whose steps are read by one readout that is found by leaving out each sequence."""

    problem: StepsProblem

    def __call__(self, esp: Engine) -> dict[str, Any]:
        """The fields `network` and `readout`."""
        problem, genome = self.problem, as_genomes(esp.best)
        phi = np.ascontiguousarray(activations(problem, genome[None])[0][problem.points.rows])
        _, readout = _chosen(problem.readout, phi, problem, Units.none(problem.points.targets.T))
        return {"network": problem.networks(genome), "readout": readout}


def _chosen(
    grid: LeaveOneOut, features: FloatArray, problem: PooledProblem | StepsProblem, units: Units
) -> tuple[loo.Chosen, FittedReadout]:
    """The best readout of a grid on features of the points, and its form for targets with units."""
    found = grid.choose(features, problem.points, problem.objective, problem.blocks)
    if found is None:
        raise ValueError("the kernel matrix of the best networks is singular to working precision: lower C")
    n_outputs = len(found.intercept)
    kernel = Kernel("rbf", found.gamma) if grid.kernel == "rbf" else Kernel("linear")
    with np.errstate(over="ignore"):
        dual_coef, intercept = found.dual_coef * units.deviation, found.intercept * units.deviation + units.mean
    if not (np.isfinite(dual_coef).all() and np.isfinite(intercept).all()):
        raise ValueError("y is too large: the coefficients of the readout are not finite; scale it")
    readout = FittedReadout(
        features, dual_coef, intercept, np.zeros(n_outputs), np.ones(n_outputs, dtype=bool), kernel,
    )  # fmt: skip
    return found, readout


def _described(lengths: tuple[int, ...]) -> str:
    """The networks of chromosomes of these lengths."""
    n_cells = lengths.count(lengths[0])
    evolved = {0: "", 1: " and an evolved C or gamma", 2: " and an evolved C and gamma"}[sum(lengths[n_cells:])]
    return f"{n_cells} cells and {lengths[0] // 4 - n_cells} inputs{evolved}"


def take_over(esp: Engine, fitted: FittedModel, problem: PosedProblem) -> None:
    """Bring the population of the last fit into an engine, whose parameters must be the same."""
    last = fitted.run.esp
    if type(esp) is not type(last):
        before, now = (type(engine).__name__.lower() for engine in (last, esp))
        raise ValueError(f"warm_start cannot continue the last fit: search={before!r} made it, and now is {now!r}")
    if esp.lengths != last.lengths:
        before, now = (_described(lengths) for lengths in (last.lengths, esp.lengths))
        raise ValueError(
            f"warm_start cannot continue the last fit, which had {before}: the parameters and X now give {now}"
        )
    try:
        fitted.check()  # its records can have been changed
        esp.load_state_dict(last.state_dict())
    except ValueError as error:
        raise ValueError(f"warm_start cannot continue the last fit: {error}") from None
    # the best network of the last fit competes on the data of this one
    frozen = problem.at(esp.generation) if isinstance(problem, SampledProblem) else problem
    judge_anew(esp, evaluate(frozen, np.stack([as_genomes(best) for best in esp.hall])))

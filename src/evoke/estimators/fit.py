"""One fit: from a problem to the run of the evolution, and from the best network to the fitted model."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from evoke.esp import ESP
from evoke.estimators.fitted import FittedModel
from evoke.evolution.evaluation import activations, evaluate, fit_readout
from evoke.evolution.problem import Points, Problem
from evoke.evolution.run import Run, RunState
from evoke.readouts import FittedReadout

__all__ = ["Fit"]


class Fit:
    """The fit of an estimator to a problem.

    Parameters
    ----------
    estimator : estimator
        Its parameters, and with ``warm_start`` its last fit.
    problem : Problem
        What networks are evolved for.
    final : Points
        What the readout of the best network is trained on at the end.
    build : callable
        Makes the fitted model, given ``network, readout, washout, run`` by name.

    Attributes
    ----------
    run : Run
        The run of the evolution.
    """

    def __init__(self, estimator: BaseEstimator, problem: Problem, final: Points, build: Callable[..., FittedModel]):
        esp = ESP(
            [4 * (problem.n_inputs + estimator.n_cells)] * estimator.n_cells,
            subpopulation_size=estimator.subpopulation_size,
            n_trials=estimator.n_trials,
            mutation_scale=estimator.mutation_scale,
            burst_patience=estimator.burst_patience,
            burst_scale=estimator.burst_scale,
            credit=estimator.credit,
            weight_range=estimator.weight_range,
            random_state=estimator.random_state,
        )
        n_generations, history, first = estimator.n_generations, [], 0
        if estimator.warm_start and hasattr(estimator, "fitted_"):
            last = estimator.fitted_.run
            take_over(esp, last, problem)
            n_generations += esp.generation
            history += last.history
            # records of other data say nothing about the fitness on these
            first = last.first if problem.digest == last.digest else len(history)
        self.run = Run(problem, esp, n_generations, history, first, model=self.estimator_so_far)
        self._estimator, self._final, self._build = estimator, final, build
        self._begin = esp.generation
        self._readout: FittedReadout | None = None  # of the best network, whose fitness comes next
        self._fitness = np.inf

    @property
    def has_progressed(self) -> bool:
        """Whether the run has completed a generation, or was ended before its first."""
        return self.run.esp.generation > self._begin or self.run.stopped

    def model(self) -> FittedModel | None:
        """The best network so far with its readout; None while no network had a finite error."""
        if self.run.esp.best is None:
            return None
        problem, state = self.run.problem, self.run.state()
        return self._build(
            network=problem.networks(state.esp.best), readout=self._best_readout(),
            washout=int(self._estimator.washout), run=state,
        )  # fmt: skip

    def estimator_so_far(self) -> BaseEstimator:
        """A copy of the estimator, fitted with the best network so far."""
        so_far, model = copy.copy(self._estimator), self.model()
        if model is not None:
            so_far.fitted_ = model
        return so_far

    def _best_readout(self) -> FittedReadout:
        """The readout of the best network, trained anew only when there is a better one."""
        if self._readout is None or self._fitness != self.run.esp.best_fitness:
            self._readout, self._fitness = self._train(), self.run.esp.best_fitness
        return self._readout

    def _train(self) -> FittedReadout:
        problem, genome, final = self.run.problem, self.run.esp.best, self._final
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
            warnings.warn(
                f"refit=True is left out, the readout was not trained on the held-out part: {error}", stacklevel=6
            )
            return fit_readout(problem, genome)


def take_over(esp: ESP, last: RunState, problem: Problem) -> None:
    """Bring the population of the last fit into an engine, whose parameters must be the same."""
    if esp.lengths != last.esp.lengths:
        before, now = (f"{len(n)} cells and {n[0] // 4 - len(n)} inputs" for n in (last.esp.lengths, esp.lengths))
        raise ValueError(f"warm_start cannot continue the last fit, which had {before}: n_cells and X now give {now}")
    try:
        esp.load_state_dict(last.esp.state_dict())
    except ValueError as error:
        raise ValueError(f"warm_start cannot continue the last fit: {error}") from None
    # the best network of the last fit competes on the data of this one
    best: Any = esp.best
    esp.judge_best_anew(float(evaluate(problem, best[None])[0, :2].sum()))

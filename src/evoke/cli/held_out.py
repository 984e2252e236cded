"""What is known, after a fit, of data that the readout was not trained on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from evoke.cli.scores import LabelTally, Score, ValueTally, same_labels, score_of_forecasts
from evoke.evolution.evaluation import activations, fit_readout
from evoke.evolution.evolved import as_genomes
from evoke.evolution.problem import PooledProblem, Problem, SplitProblem, StepsProblem
from evoke.forecasting.model import RollingModel

__all__ = ["Watched", "held_out_lines"]

Array = np.ndarray[Any, Any]


class Watched:
    """A callback that keeps the run, which knows what was held out."""

    run: Any = None

    @contextmanager
    def watch(self, run: Any) -> Iterator[Callable[..., None]]:
        """Keep it; see `evoke.evolution.Run`."""
        self.run = run
        yield lambda _record, _esp: None


def held_out_lines(model: Any, run: Any, y: Any) -> list[str]:
    """The score on what was held out beside the naive answer, or why there is none; and a hint where it is no better.

    Parameters
    ----------
    model : fitted estimator
    run : Run or None
        That of the fit, where it had generations.
    y : list of ndarray, or ndarray
        The targets of `fit`.
    """
    try:
        with warnings.catch_warnings():  # the fit has given those of the readout
            warnings.simplefilter("ignore")
            how, score = _held_out(model, run, y)
    except (ArithmeticError, MemoryError, ValueError) as error:  # the model is whole all the same
        return [f"held out: no score, as {error}"]
    lines = [f"held out, {how}: {score}"]
    if not score.is_better and not score.is_perfect:
        lines.append(
            f"hint: there the model is no better than {score.rival}; more generations, rows or columns may help"
        )
    return lines


def _held_out(model: Any, run: Any, y: Any) -> tuple[str, Score]:
    fitted = model.fitted_
    if isinstance(fitted, RollingModel):
        judged = fitted.judged
        if judged is None:
            raise ValueError("the errors of its forecasts are not known")
        how = f"free runs of {judged.n_steps} steps from {judged.n_origins} origins"
        naive = {name: error for name, error in judged.naive.items() if name != "the mean"}
        return how, Score("MASE", judged.error, naive, judged.n_origins * judged.n_steps, "forecast")
    if run is None:
        raise ValueError("the run is not known")
    problem = run.problem
    if isinstance(problem, PooledProblem):
        seen = np.isfinite(fitted.left_out).all(axis=1)
        alone = "each in turn" if problem.blocks is None and seen.all() else "in parts"
        return alone, _of_decisions(model, np.asarray(y)[seen], fitted.left_out[seen], "sequence")
    if isinstance(problem, StepsProblem):
        return "each sequence in turn", _of_left_out_steps(model, problem, as_genomes(run.esp.best))
    if isinstance(problem, (Problem, SplitProblem)):
        parts = problem.parts if isinstance(problem, SplitProblem) else (problem,)
        how = "the validation part" if len(parts) == 1 else f"the validation parts of {len(parts)} splits"
        return how, _of_parts(model, parts, as_genomes(run.esp.best))
    judged = fitted.judged
    if judged is None:
        raise ValueError("the decisions on the rows by which the machine was chosen are not known")
    true = np.concatenate([np.asarray(part) for part in y])[judged.rows]
    return "rows by which the machine was chosen", _of_decisions(model, true, judged.decisions, "row")


def _of_decisions(model: Any, true: Array, decisions: Array, unit: str, weights: Array | None = None) -> Score:
    """The score of decisions (n, n_outputs) on what has these targets."""
    predicted = model.fitted_.answer(decisions)
    if is_classifier(model):
        labels = LabelTally(unit)
        labels.add(true, same_labels(true, predicted), weights)
        return labels.score()
    values = ValueTally(unit)
    values.add(true, predicted, weights)
    return values.score()


def _of_left_out_steps(model: Any, problem: StepsProblem, genome: Array) -> Score:
    points = problem.points
    phi = np.ascontiguousarray(activations(problem, genome[None])[0][points.rows])
    found = problem.readout.choose(phi, points, problem.objective, problem.blocks)
    if found is None:
        raise ValueError("the kernel matrix is singular to working precision")
    true = model.fitted_.answer(points.targets.T)
    return _of_decisions(model, true, found.decisions.T, "row", points.weights)


def _of_parts(model: Any, parts: tuple[Problem, ...], genome: Array) -> Score:
    """The score on validation parts, each by a readout of the training part beside it, one step ahead."""
    found = []
    for part in parts:
        phi = activations(part, genome[None])[0][part.validation.rows]
        found.append(fit_readout(part, genome).decide(np.ascontiguousarray(phi)))
    decisions = np.concatenate(found)
    targets = np.concatenate([part.validation.targets.T for part in parts])
    weights = np.concatenate([part.validation.weights for part in parts])
    if parts[0].free is None:
        unit = "sequence" if model.fitted_.per_sequence else "row"
        return _of_decisions(model, model.fitted_.answer(targets), decisions, unit, weights)
    (part,) = parts
    before, known = _values_before(part, part.validation.rows)
    trained, its_known = _values_before(part, part.train.rows)
    if not (known.any() and its_known.any()):
        raise ValueError("no value is known before those held out")
    changes = np.abs(part.train.targets.T - trained)[its_known]
    unit = np.average(changes, axis=0, weights=part.train.weights[its_known])
    naive = {"the last value": (targets - before)[known]}
    return score_of_forecasts((targets - decisions)[known], naive, unit, weights[known])


def _values_before(part: Problem, rows: Array) -> tuple[Array, Array]:
    """The values (n, n_outputs) that networks read beside rows, and which of these are not the first of a series."""
    assert part.free is not None
    n_outputs = len(part.validation.targets)
    before = part.segments.rows[rows, -n_outputs:] / part.free.feedback_scale
    begin, _, parent, _ = part.segments.table
    return before, ~np.isin(rows, begin[parent < 0])

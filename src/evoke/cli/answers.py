"""What a model answers to a table, and how good that is where the table has the targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from evoke.cli.roles import Columns, find, one_per_sequence, target_series, target_values, times_of
from evoke.cli.scores import LabelTally, Score, ValueTally, same_labels, score_of_forecasts
from evoke.cli.tables import Table
from evoke.sequences.converters import RowGroups, rows_by_sequence

__all__ = [
    "Answers", "Scored", "first_scored", "has_targets", "known_targets", "score_answers", "tally_of", "tell",
]  # fmt: skip

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Answers:
    """Predictions for a table.

    Attributes
    ----------
    groups : RowGroups
    times : pandas index, or None
    X : list of DataFrame, or None
        What was read.
    predicted : list of ndarray, or ndarray
        One part per sequence, or one value per sequence.
    """

    groups: RowGroups
    times: Any
    X: Any
    predicted: Any

    @classmethod
    def of(cls, estimator: Any, columns: Columns, table: Table) -> Answers:
        """Those of a model to a whole table."""
        forecaster = hasattr(estimator, "generate")
        needed = columns if forecaster else replace(columns, targets=[])
        table.check_complete(find(table, needed.names))
        groups = rows_by_sequence(table.frame, columns.sequence, table.name)
        times = times_of(table, columns, groups)
        X = groups.split(table.features(columns.features, times)) if columns.features else None
        if forecaster:
            predicted = estimator.predict_one_step(groups.split(target_series(table, columns, times)), X)
        else:
            predicted = estimator.predict(X)
        return cls(groups, times, X, predicted)


def has_targets(table: Table, columns: Columns) -> bool:
    """Whether a table has all targets of a model."""
    return set(columns.targets) <= set(table.columns)


def known_targets(estimator: Any, columns: Columns, table: Table, groups: RowGroups | None = None) -> Array:
    """The targets of the rows, or with `groups` one of each sequence where the model answers so.

    Raises
    ------
    ValueError
        Targets that are missing, no numbers, or several of one sequence.
    """
    table.check_complete(find(table, columns.targets))
    labels = is_classifier(estimator) and len(columns.targets) == 1
    known = table.labels(columns.targets[0]) if labels else target_values(table, columns)
    if groups is not None and columns.per_sequence:
        return one_per_sequence(table, groups, groups.split(known), columns.targets)
    return known


@dataclass(frozen=True)
class Scored:
    """A score, and of each row or sequence that was scored whether the answer is right, or how far it is off."""

    score: Score
    right: Array | None = None
    off: Array | None = None


def tally_of(estimator: Any, unit: str = "row") -> Any:
    """What adds up a score part by part; not for forecasters."""
    return LabelTally(unit) if is_classifier(estimator) else ValueTally(unit)


def tell(estimator: Any, known: Array, predicted: Array) -> Array:
    """What the tally of an estimator takes beside the targets: which labels are right, or the values."""
    return same_labels(known, predicted) if is_classifier(estimator) else predicted


def score_answers(
    estimator: Any, columns: Columns, answers: Answers, known: Array, start: int | None = None,
    season: int | None = None,
) -> Scored:  # fmt: skip
    """The score of answers to a whole table.

    Of a forecaster the first rows of each series, `start` or as many as it needs by itself, do not count; the naive
    answers are the last value, and with a `season` the value so many steps before.
    """
    if hasattr(estimator, "generate"):
        return _score_forecasts(answers, known, first_scored(estimator) if start is None else start, season)
    unit = "sequence" if columns.per_sequence else "row"
    predicted = np.asarray(answers.predicted) if columns.per_sequence else answers.groups.join(answers.predicted)
    tally, told = tally_of(estimator, unit), tell(estimator, known, predicted)
    tally.add(known, told)
    if is_classifier(estimator):
        return Scored(tally.score(), right=np.asarray(told.reshape(len(told), -1).all(axis=1)))
    return Scored(tally.score(), off=_mean_of_outputs(np.abs(known - predicted)))


def first_scored(estimator: Any) -> int:
    """The steps of a series that a forecaster is not scored by: nothing is known before the first."""
    return max(1, estimator.washout, estimator.season or 0)


def _score_forecasts(answers: Answers, known: Array, start: int, season: int | None) -> Scored:
    lag = season or 1
    errors, changes = [], []
    naive: dict[str, list[Array]] = {"the last value": []}
    if season is not None:
        naive[f"the value {season} steps before"] = []
    for y, predicted in zip(answers.groups.split(known), answers.predicted, strict=True):
        true, said = (np.asarray(values).reshape(len(y), -1) for values in (y, predicted))
        errors.append((true - said)[start:])
        changes.append(np.abs(true[lag:] - true[:-lag]))
        for name, back in zip(naive, (1, lag), strict=False):
            naive[name].append(true[start:] - true[start - back : len(true) - back] if len(true) > start else true[:0])
    off = np.concatenate(errors)
    if len(off) == 0:
        raise ValueError(f"no series has more than {start} rows, so no forecast can be scored")
    unit = np.concatenate(changes).mean(axis=0)
    found = {name: np.concatenate(parts) for name, parts in naive.items()}
    return Scored(score_of_forecasts(off, found, unit), off=_mean_of_outputs(np.abs(off)))


def _mean_of_outputs(values: Array) -> Array:
    return np.asarray(values.reshape(len(values), -1).mean(axis=1))

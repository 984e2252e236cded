"""How good predictions are, beside the naive answer to the same rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from evoke.cli.tables import counted

__all__ = ["LabelTally", "Score", "ValueTally", "same_labels", "score_of_forecasts"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Score:
    """A measure of predictions, and what a naive answer has by the same measure.

    Attributes
    ----------
    measure : {"accuracy", "R2", "MASE"}
        Of a MASE, which is an error, less is better.
    value : float
    naive : dict of float
        By what the naive answer says.
    n : int
        How many rows or sequences were scored.
    unit : str
        What they are.
    """

    measure: str
    value: float
    naive: dict[str, float]
    n: int
    unit: str

    @property
    def rival(self) -> str:
        """The best of the naive answers."""
        return (min if self.measure == "MASE" else max)(self.naive, key=self.naive.__getitem__)

    @property
    def is_better(self) -> bool:
        """Whether the model is better than every naive answer; no number is not."""
        best = self.naive[self.rival]
        return self.value < best if self.measure == "MASE" else self.value > best

    @property
    def is_perfect(self) -> bool:
        """Whether nothing could be better."""
        return self.value == (0.0 if self.measure == "MASE" else 1.0)

    def as_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        naive = {name: _number(value) for name, value in self.naive.items()}
        return {"measure": self.measure, "value": _number(self.value), "naive": naive, "n": self.n, "unit": self.unit}

    def __str__(self) -> str:
        return f"{self.measure} {self.value:.4g} on {counted(self.n, self.unit)} ({self.naive_in_words()})"

    def naive_in_words(self) -> str:
        """What the naive answers have."""
        return ", ".join(f"{name}: {value:.4g}" for name, value in self.naive.items())


def _number(value: float) -> float | None:
    """As JSON has it, which knows only finite ones."""
    return value if np.isfinite(value) else None


class LabelTally:
    """Counts of right labels, added up part by part."""

    def __init__(self, unit: str):
        self._unit, self._right, self._counts = unit, 0.0, Counter[Any]()

    def add(self, true: Array, right: Array, weights: Array | None = None) -> None:
        """True labels (n,), or several at once (n, n_outputs), and which were predicted."""
        labels, which = np.unique(true, axis=0, return_inverse=True)
        totals = np.bincount(which.reshape(-1), weights, len(labels))
        for label, total in zip(labels.tolist(), totals.tolist(), strict=True):
            self._counts[tuple(label) if isinstance(label, list) else label] += total
        right = right.reshape(len(right), -1).all(axis=1)
        self._right += float(right.sum() if weights is None else weights @ right)

    def score(self) -> Score:
        """The accuracy, beside always saying the most frequent label."""
        n = sum(self._counts.values())
        label, most = max(self._counts.items(), key=lambda item: item[1])
        return Score("accuracy", self._right / n, {f"always {label!r}": most / n}, round(n), self._unit)


class ValueTally:
    """Sums of squares, added up part by part; a shift and a scale of the first part keep them from rounding away."""

    def __init__(self, unit: str):
        self._unit, self._shift, self._exponent = unit, np.zeros(0), np.zeros(0, dtype=np.int64)
        self._n, self._total, self._squares, self._errors = 0.0, np.zeros(0), np.zeros(0), np.zeros(0)

    def add(self, true: Array, predicted: Array, weights: Array | None = None) -> None:
        """True and predicted values, (n,) or (n, n_outputs)."""
        true, predicted = (values.reshape(len(values), -1) for values in (true, predicted))
        weights = np.ones(len(true)) if weights is None else weights
        if self._n == 0.0:
            self._shift = true.max(axis=0) / 2 + true.min(axis=0) / 2
            spread = true.max(axis=0) / 2 - true.min(axis=0) / 2
            self._exponent = -np.frexp(np.where(spread > 0.0, spread, 1.0))[1]
            self._total, self._squares, self._errors = np.zeros((3, true.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):  # of predictions that are out of all proportion
            values = np.ldexp(true - self._shift, self._exponent)
            errors = np.ldexp(true - predicted, self._exponent)
            self._n += float(weights.sum())
            self._total += weights @ values
            self._squares += weights @ values**2
            self._errors += weights @ errors**2

    def score(self) -> Score:
        """R^2 averaged over the outputs, beside always saying the mean; of what does not vary it is 1 or 0."""
        spread = np.maximum(0.0, self._squares - self._total**2 / self._n)
        constant = spread <= 1e-14 * self._squares
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            each = np.where(constant, self._errors == 0.0, 1.0 - self._errors / spread)
        return Score("R2", float(each.mean()), {"always the mean": float(constant.mean())}, round(self._n), self._unit)


def same_labels(true: Array, predicted: Array) -> Array:
    """Which labels are the same; a number and the text that it is read from are."""
    if true.dtype.kind in "biuf" and predicted.dtype.kind in "biuf":
        return np.asarray(true == predicted)
    return np.asarray(true.astype(str) == predicted.astype(str))


def score_of_forecasts(errors: Array, naive: dict[str, Array], unit: Array, weights: Array | None = None) -> Score:
    """The mean absolute scaled error of forecasts one step ahead.

    Parameters
    ----------
    errors : ndarray of shape (n, n_outputs)
    naive : dict of ndarray of the same shape
        Errors of naive forecasts of the same rows, by what they say.
    unit : ndarray of shape (n_outputs,)
        The mean absolute change of the series that is known.
    weights : ndarray of shape (n,), optional
        How many rows each of these stands for.
    """

    def scaled(each: Array) -> float:
        absolute = np.average(np.abs(each), axis=0, weights=weights)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return float(np.where(absolute > 0.0, absolute / unit, 0.0).mean())

    n = len(errors) if weights is None else round(float(weights.sum()))
    return Score("MASE", scaled(errors), {name: scaled(each) for name, each in naive.items()}, n, "row")

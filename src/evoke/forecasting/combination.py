"""Weighted means of forecasts, by their errors from rolling origins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke.forecasting.reach import Reach

__all__ = ["Combination"]

_SHARPNESS = 8  # weight of a candidate: (least error / its error) ** sharpness
_WINDOW = 0.25  # errors count at a step that are this share of the judged steps before or after it
_LEAST_SHARE = 1e-2  # of what is used at all, at its best step
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Combination:
    """Weights of candidates, which have one or several capacities each.

    Attributes
    ----------
    errors : list of ndarray of shape (n_capacities, n_judged, n_outputs)
        Mean absolute errors at each step after the rolling origins.
    sound : list of bool ndarray of shape (n_capacities, n_outputs)
        Whether the runs from the origins stayed near the range of the data.
    """

    errors: list[FloatArray]
    sound: list[NDArray[np.bool_]]

    @classmethod
    def of(cls, paths: list[FloatArray], truth: FloatArray, low: FloatArray, high: FloatArray) -> Combination:
        """That of the paths (n_capacities, n_origins, n_judged, n_outputs) from rolling origins.

        `low` and `high` are the ends of the range of the data: of each output, or (n_origins, 1, n_outputs).
        """
        errors = [np.abs(p - truth).mean(axis=1) for p in paths]
        reach = Reach.still(low, high)
        return cls(errors, [reach.contains(p).all(axis=(1, 2)) for p in paths])

    @property
    def n_judged(self) -> int:
        return self.errors[0].shape[1]

    def errors_at(self, k: int, n_steps: int) -> FloatArray:
        """Errors (n_capacities, n_steps, n_outputs) that count at each step; infinite where the runs were not sound."""
        judged, reach = self.n_judged, int(self.n_judged * _WINDOW)
        e = np.empty((len(self.errors[k]), n_steps, self.errors[k].shape[2]))
        for t in range(min(n_steps, judged)):
            e[:, t] = self.errors[k][:, max(0, t - reach) : t + reach + 1].mean(axis=1)
        e[:, judged:] = e[:, judged - 1 : judged]
        return np.where(self.sound[k][:, None], e, np.inf)

    def weights(
        self, n_steps: int, usable: list[NDArray[np.bool_]] | None = None
    ) -> tuple[FloatArray, list[NDArray[np.intp]]]:
        """Weights (n_candidates, n_steps, n_outputs), and the best capacity (n_steps, n_outputs) of each candidate.

        Where `usable` (n_capacities, n_outputs) is false, a capacity of a candidate has no part in it.
        """
        errors = [self.errors_at(k, n_steps) for k in range(len(self.errors))]
        if usable is not None:
            errors = [np.where(u[:, None], e, np.inf) for u, e in zip(usable, errors, strict=True)]
        best = [e.argmin(axis=0) for e in errors]
        least = np.stack([e.min(axis=0) for e in errors])
        weights = ((least.min(axis=0) + _TINY) / (least + _TINY)) ** _SHARPNESS
        return weights / weights.sum(axis=0), best

    def used(self, n_candidates: int) -> list[NDArray[np.intp]]:
        """The capacities of each that have a part in the forecasts; some of one of the first candidates in any case."""
        weights, best = self.weights(self.n_judged)
        share = weights.max(axis=(1, 2))
        needed = share >= _LEAST_SHARE
        needed[n_candidates:] = True
        if n_candidates:
            needed[int(share[:n_candidates].argmax())] = True
        return [np.unique(b[w >= min(_LEAST_SHARE, s)]) if n else b[:0, 0]
                for n, b, w, s in zip(needed, best, weights, share, strict=True)]  # fmt: skip

    def combine(self, paths: list[FloatArray], reach: Reach) -> tuple[FloatArray, FloatArray]:
        """The mean (n_steps, n_outputs) of one run (n_capacities, n_steps, n_outputs) of each candidate.

        Runs are held where they would lead too far; all are used at all steps, or the mean would have jumps. A run that
        is not a number has no part.

        Returns
        -------
        values : ndarray of shape (n_steps, n_outputs)
        held : ndarray of shape (n_steps, n_outputs)
            By how much the runs were held back, in the mean.
        """
        usable = [np.asarray(~np.isnan(p).any(axis=1)) for p in paths]
        weights, best = self.weights(paths[0].shape[1], usable)
        values = _mean(weights, best, [reach.holds(p)[:, None] for p in paths])[0]
        held = _mean(weights, best, [reach.beyond(p)[:, None] for p in paths])[0]
        return values, held

    def left_out(self, paths: list[FloatArray], truth: FloatArray, far: NDArray[np.bool_]) -> FloatArray:
        """The means (n_origins, n_judged, n_outputs) of the runs from the origins, each by the errors of others.

        Parameters
        ----------
        paths, truth
            As in `of`.
        far : bool ndarray of shape (n_origins, n_origins)
            Whose errors count for each.
        """
        n_origins, n_judged, n_outputs = truth.shape
        share = far / far.sum(axis=1, keepdims=True)

        def as_outputs(each: FloatArray) -> FloatArray:
            """(n_capacities, n_judged, n_origins * n_outputs): weights are found output by output."""
            return each.transpose(0, 2, 1, 3).reshape(len(each), n_judged, -1)

        sound_paths = [np.where(s[:, None, None], p, 0.0) for s, p in zip(self.sound, paths, strict=True)]
        errors = [as_outputs(np.einsum("rs,csjq->crjq", share, np.abs(p - truth))) for p in sound_paths]
        each = Combination(errors, [np.tile(s, n_origins) for s in self.sound])
        means = _mean(*each.weights(n_judged), [as_outputs(p)[:, None] for p in sound_paths])[0]
        return means.reshape(n_judged, n_origins, n_outputs).transpose(1, 0, 2)


def _mean(weights: FloatArray, best: list[NDArray[np.intp]], paths: list[FloatArray]) -> FloatArray:
    """Means of paths (n_capacities, n_runs, n_steps, n_outputs)."""
    total = np.zeros(paths[0].shape[1:])
    least, largest = np.full_like(total, np.inf), np.full_like(total, -np.inf)
    for w, b, p in zip(weights, best, paths, strict=True):
        chosen = np.take_along_axis(p, b[None, None], axis=0)[0]
        total += np.where(w > 0.0, w * np.where(w > 0.0, chosen, 0.0), 0.0)
        least = np.where(w > 0.0, np.minimum(least, chosen), least)
        largest = np.where(w > 0.0, np.maximum(largest, chosen), largest)
    return np.clip(total, least, largest)  # the weights sum to 1 but for rounding

"""The course of an evolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evoke.plot._checks import FloatArray
from evoke.plot._display import Display
from evoke.plot._style import COLOURS, legend_above

__all__ = ["HistoryDisplay"]

# Label and style of each line, by the field of the records that it shows.
_FITNESS: dict[str, tuple[str, dict[str, Any]]] = {
    "generation_median": ("median of the generation", {"color": "0.6", "linewidth": 1.0}),
    "generation_best": ("best of the generation", {"color": COLOURS[5], "linewidth": 1.0}),
    "best_fitness": ("best so far", {"color": COLOURS[0], "linewidth": 2.0, "drawstyle": "steps-post"}),
}
_ERRORS: dict[str, tuple[str, dict[str, Any]]] = {
    "train_error": ("training error", {"color": COLOURS[2], "linewidth": 1.0}),
    "validation_error": ("validation error", {"color": COLOURS[1], "linewidth": 1.0}),
    "best_fitness": _FITNESS["best_fitness"],
}
# Of a single generation there are points. Its best network is the best so far, whose point lies in a ring.
_POINT: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 5.0}
_POINTS: dict[str, dict[str, Any]] = {"generation_best": {**_POINT, "markersize": 10.0, "fillstyle": "none"}}
_WIDE = 30.0  # from this ratio of the largest to the smallest value on, a logarithmic axis shows more
_MOST_LONG_MARKS = 50  # bursts that are marked over the whole height: more would form a grey wall


class HistoryDisplay(Display):
    """Fitness over the generations of an evolution, with its bursts of mutations.

    Create a display with `from_estimator` or `from_history`.

    Parameters
    ----------
    history : sequence of dict
        One record per generation, as in ``history_`` of an estimator.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict of str to matplotlib Line2D
        The lines by the field of the records that they show.
    bursts_ : matplotlib LineCollection or None
        A mark for each burst, at the generation that ended with it.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.plot import HistoryDisplay
    >>> model = EvokeClassifier(n_generations=5, random_state=0).fit(*tasks.anbncn(5))
    >>> display = HistoryDisplay.from_estimator(model)
    >>> display.figure_.savefig("history.png")  # doctest: +SKIP
    """

    def __init__(self, *, history: Sequence[dict[str, Any]]) -> None:
        self.history = history

    @classmethod
    def from_estimator(cls, estimator: Any, *, errors: Any = False, ax: Any = None) -> HistoryDisplay:
        """Draw the evolution of a fitted estimator.

        Parameters
        ----------
        estimator : EvokeClassifier, EvokeRegressor or EvokeForecaster
            A fitted estimator, whose ``history_`` is drawn.
        errors, ax
            As in `plot`.

        Returns
        -------
        HistoryDisplay
        """
        check_is_fitted(estimator, "history_")
        return cls.from_history(estimator.history_, errors=errors, ax=ax)

    @classmethod
    def from_history(cls, history: Any, *, errors: Any = False, ax: Any = None) -> HistoryDisplay:
        """Draw the evolution that these records describe.

        Parameters
        ----------
        history : sequence of dict
            Records with the fields ``generation, best_fitness, generation_best, generation_median, train_error,
            validation_error, burst``.
        errors, ax
            As in `plot`.

        Returns
        -------
        HistoryDisplay

        Raises
        ------
        ValueError
            No records, or one without one of the fields.
        """
        history = list(history)
        if not history:
            raise ValueError("history must have at least one record, got none")
        wanted = {"generation", "burst", *_FITNESS, *_ERRORS}
        for k, record in enumerate(history):
            if missing := sorted(wanted - set(record)):
                raise ValueError(f"history[{k}] must have the fields {', '.join(missing)}")
        return cls(history=history).plot(errors=errors, ax=ax)

    def plot(self, *, errors: Any = False, ax: Any = None) -> HistoryDisplay:
        """Draw the display.

        Parameters
        ----------
        errors : bool, default=False
            Instead of the best and the median fitness of each generation, show the two parts of the best one: the
            training and the validation error of its network.
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        HistoryDisplay
            Itself.
        """
        ax = self._take_ax(ax)

        from matplotlib.ticker import MaxNLocator

        generation = self._column("generation")
        bursts = generation[self._column("burst") > 0]
        self.bursts_ = None
        if len(bursts):
            foot = 0.0 if len(bursts) <= _MOST_LONG_MARKS else 0.95
            self.bursts_ = ax.vlines(
                bursts, foot, 1.0, transform=ax.get_xaxis_transform(), color="0.82", linewidth=1.0, zorder=0,
                label="burst",
            )  # fmt: skip
        self.lines_ = {}
        alone = len(generation) == 1
        for field, (label, style) in (_ERRORS if errors else _FITNESS).items():
            points = _POINTS.get(field, _POINT) if alone else {}
            (self.lines_[field],) = ax.plot(generation, self._column(field), label=label, **style, **points)
        values = np.concatenate([line.get_ydata() for line in self.lines_.values()])
        _scale(ax, values[np.isfinite(values)])
        ax.set(xlabel="generation", ylabel="error" if errors else "fitness")
        ax.margins(x=0.01)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        if alone:
            ax.set(xlim=(generation[0] - 1.0, generation[0] + 1.0), xticks=generation)
        legend_above(ax, 4, columnspacing=1.5)
        return self

    def _column(self, field: str) -> FloatArray:
        return np.array([record[field] for record in self.history], dtype=np.float64)

    def _size(self) -> tuple[float, float]:
        return 7.0, 3.6


def _scale(ax: Any, values: FloatArray) -> None:
    """A logarithmic axis if the values spread widely, linear below the smallest positive one if some are zero."""
    positive = values[values > 0.0]
    if len(positive) == 0 or positive.max() < _WIDE * positive.min():
        return
    if (values <= 0.0).any():
        ax.set_yscale("symlog", linthresh=positive.min())
    else:
        ax.set_yscale("log")

"""How an evolution went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evoke.plot._common import COLOURS, FloatArray, one_axes

__all__ = ["HistoryDisplay"]

# Lines by the field of the record: label, style.
_FITNESS: dict[str, tuple[str, dict[str, Any]]] = {
    "generation_median": ("generation's median", {"color": "0.6", "linewidth": 1.0}),
    "generation_best": ("generation's best", {"color": COLOURS[5], "linewidth": 1.0}),
    "best_fitness": ("best so far", {"color": COLOURS[0], "linewidth": 2.0, "drawstyle": "steps-post"}),
}
_ERRORS: dict[str, tuple[str, dict[str, Any]]] = {
    "train_error": ("training error", {"color": COLOURS[2], "linewidth": 1.0}),
    "validation_error": ("validation error", {"color": COLOURS[1], "linewidth": 1.0}),
    "best_fitness": _FITNESS["best_fitness"],
}
_WIDE = 30.0  # ratio of values from which on a logarithmic axis shows more
_MOST_LONG_MARKS = 50  # bursts that are marked over the whole height: more would be a grey wall


class HistoryDisplay:
    """Fitness over the generations of an evolution, with its bursts.

    Use `from_estimator` or `from_history` to make one.

    Parameters
    ----------
    history : sequence of dict
        One record a generation, as in ``history_`` of an estimator.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    lines_ : dict of str to matplotlib Line2D
        By the field of the records that they show.
    bursts_ : matplotlib LineCollection or None
        A mark for each burst, at the generation that ended in it.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.plot import HistoryDisplay
    >>> model = EvokeClassifier(n_generations=5, random_state=0).fit(*tasks.anbncn(5))
    >>> display = HistoryDisplay.from_estimator(model)
    >>> display.figure_.savefig("history.png")  # doctest: +SKIP
    """

    def __init__(self, *, history: Sequence[dict[str, Any]]):
        self.history = history

    @classmethod
    def from_estimator(cls, estimator, *, errors=False, ax=None) -> HistoryDisplay:
        """The evolution of a fitted estimator.

        Parameters
        ----------
        estimator : fitted EvokeClassifier, EvokeRegressor or EvokeForecaster
            Whose ``history_`` is drawn.
        errors, ax
            As in `plot`.
        """
        check_is_fitted(estimator, "history_")
        return cls.from_history(estimator.history_, errors=errors, ax=ax)

    @classmethod
    def from_history(cls, history, *, errors=False, ax=None) -> HistoryDisplay:
        """The evolution that these records describe.

        Parameters
        ----------
        history : sequence of dict
            With the fields ``generation, best_fitness, generation_best, generation_median, train_error,
            validation_error, burst``.
        errors, ax
            As in `plot`.

        Raises
        ------
        ValueError
            No record, or one that lacks a field.
        """
        history = list(history)
        if not history:
            raise ValueError("history must have at least one record, got none")
        wanted = {"generation", "burst", *_FITNESS, *_ERRORS}
        for k, record in enumerate(history):
            if missing := sorted(wanted - set(record)):
                raise ValueError(f"history[{k}] must have the fields {', '.join(missing)}")
        return cls(history=history).plot(errors=errors, ax=ax)

    def plot(self, *, errors=False, ax=None) -> HistoryDisplay:
        """Draw.

        Parameters
        ----------
        errors : bool, default=False
            Show the two parts of the fitness of the generation's best network, its training and its validation error,
            in the place of that fitness and of the median.
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to make them in. By default a new figure of pyplot.

        Returns
        -------
        HistoryDisplay
            Itself.
        """
        self.ax_ = ax = one_axes(ax, self._size())
        self.figure_ = ax.figure

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
        for field, (label, style) in (_ERRORS if errors else _FITNESS).items():
            marker = "." if len(generation) == 1 else None
            (self.lines_[field],) = ax.plot(generation, self._column(field), label=label, marker=marker, **style)
        values = np.concatenate([line.get_ydata() for line in self.lines_.values()])
        _scale(ax, values[np.isfinite(values)])
        ax.set(xlabel="generation", ylabel="error" if errors else "fitness")
        ax.margins(x=0.01)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        ax.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, columnspacing=1.5, fontsize="small", frameon=False
        )
        return self

    def _column(self, field: str) -> FloatArray:
        return np.array([record[field] for record in self.history], dtype=np.float64)

    def _size(self) -> tuple[float, float]:
        return 7.0, 3.6


def _scale(ax: Any, values: FloatArray) -> None:
    """A logarithmic axis where the values spread widely; linear below the least where some are zero."""
    positive = values[values > 0.0]
    if len(positive) == 0 or positive.max() < _WIDE * positive.min():
        return
    if (values <= 0.0).any():
        ax.set_yscale("symlog", linthresh=positive.min())
    else:
        ax.set_yscale("log")

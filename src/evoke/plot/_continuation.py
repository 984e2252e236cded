"""A series and its continuation by a network, where the true continuation is not known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evoke.plot._checks import FloatArray, check_forecaster, output_names, to_columns
from evoke.plot._outputs import OutputsDisplay
from evoke.plot._style import COLOURS

__all__ = ["ContinuationDisplay"]

_LEAST_SHOWN = 50  # steps of the context, if it has that many


class ContinuationDisplay(OutputsDisplay):
    """The end of a series and its continuation by the free run of a network, with one panel per output.

    The last known step has time 0. Create a display with `from_estimator` or `from_series`. If the true continuation is
    known, use `FreeRunDisplay`, which also shows the errors.

    Parameters
    ----------
    generated : ndarray of shape (n_steps, n_outputs)
        The continuation.
    context : ndarray of shape (n_known, n_outputs)
        The series before it, which may be empty. Its last ``max(2 * n_steps, 50)`` steps are shown.
    names : sequence of str
        Names of the outputs.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
    lines_ : list of matplotlib Line2D
        The lines of the continuation, one for each output.

    Examples
    --------
    >>> from evoke import EvokeForecaster, tasks
    >>> from evoke.plot import ContinuationDisplay
    >>> y = tasks.superimposed_sines(2, 300)
    >>> model = EvokeForecaster(washout=50, n_generations=2, random_state=0).fit(y)
    >>> display = ContinuationDisplay.from_estimator(model, 100, context=y)
    >>> display.figure_.savefig("continuation.png")  # doctest: +SKIP
    """

    def __init__(self, *, generated: FloatArray, context: FloatArray, names: Sequence[str]) -> None:
        self.generated = generated
        self.context = context
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        n_steps: int,
        *,
        context: Any = None,
        X: Any = None,
        names: Any = None,
        axes: Any = None,
    ) -> ContinuationDisplay:
        """Draw what a fitted `EvokeForecaster` generates.

        Parameters
        ----------
        estimator : EvokeForecaster
            A fitted estimator, whose ``generate`` is drawn.
        n_steps, context, X
            As in `EvokeForecaster.generate`. Without `context`, only the continuation is drawn, because a model does
            not keep its training series.
        names, axes
            As in `from_series`.

        Returns
        -------
        ContinuationDisplay

        Raises
        ------
        ParameterError
            An estimator without ``generate``.
        """
        check_forecaster(estimator)
        return cls.from_series(
            estimator.generate(n_steps, context=context, X=X), context=context, names=names, axes=axes
        )

    @classmethod
    def from_series(
        cls,
        generated: Any,
        *,
        context: Any = None,
        names: Any = None,
        axes: Any = None,
    ) -> ContinuationDisplay:
        """Draw a series and its continuation.

        Parameters
        ----------
        generated : array_like of shape (n_steps,) or (n_steps, n_outputs)
            The continuation.
        context : array_like of shape (n_known,) or (n_known, n_outputs), optional
            The series before it.
        names : sequence of str, optional
            Names of the outputs.
        axes : sequence of matplotlib Axes, Figure or SubFigure, optional
            One for each output, or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        ContinuationDisplay

        Raises
        ------
        ValueError
            Shapes that do not match, or a number of names or axes other than that of the outputs.
        """
        generated = to_columns("generated", generated)
        n_outputs = generated.shape[1]
        context = np.empty((0, n_outputs)) if context is None else to_columns("context", context)
        if context.shape[1] != n_outputs:
            raise ValueError(f"context must have the {n_outputs} column(s) of generated, got {context.shape[1]}")
        names = output_names(names, n_outputs, "y(t)")
        return cls(generated=generated, context=context, names=names).plot(axes)

    def plot(self, axes: Any = None) -> ContinuationDisplay:
        """Draw the display.

        Parameters
        ----------
        axes
            As in `from_series`.

        Returns
        -------
        ContinuationDisplay
            Itself.
        """
        self._take_panels(axes)
        n_steps = len(self.generated)
        shown = self.context[-max(2 * n_steps, _LEAST_SHOWN) :]
        self.lines_ = []
        for k, ax in enumerate(self.axes_):
            if len(shown):
                ax.plot(np.arange(1 - len(shown), 1), shown[:, k], color="0.45", linewidth=1.0, label="series")
            # connected to the last known step
            values = np.concatenate([shown[-1:, k], self.generated[:, k]])
            time = np.arange(n_steps + 1 - len(values), n_steps + 1)
            marker = "." if len(values) == 1 else None
            self.lines_ += ax.plot(time, values, color=COLOURS[0], linewidth=1.4, marker=marker, label="generated")
        self._label_panels()
        return self

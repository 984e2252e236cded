"""A series and how a network goes on with it, where nobody knows the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evoke.plot._common import COLOURS, FloatArray, output_names, several_axes, to_floats

__all__ = ["ContinuationDisplay"]

_LEAST_SHOWN = 50  # steps of the context, if it has them


class ContinuationDisplay:
    """The end of a series and its continuation by a network left to itself; an axis for each output.

    Time is counted from the last step that the network was told, which is 0. Use `from_estimator` or `from_series` to
    make one. Where the true continuation is known, `FreeRunDisplay` shows the errors too.

    Parameters
    ----------
    generated : ndarray of shape (n_steps, n_outputs)
        What the network made of the steps behind the context.
    context : ndarray of shape (n_told, n_outputs)
        Twice as many steps as were generated are shown of it, or 50; it may be empty.
    names : sequence of str
        One for each output.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
    lines_ : list of matplotlib Line2D
        The continuation of each output.

    Examples
    --------
    >>> from evoke import EvokeForecaster, tasks
    >>> from evoke.plot import ContinuationDisplay
    >>> y = tasks.superimposed_sines(2, 300)
    >>> model = EvokeForecaster(washout=50, n_generations=2, random_state=0).fit(y)
    >>> display = ContinuationDisplay.from_estimator(model, 100, context=y)
    >>> display.figure_.savefig("continuation.png")  # doctest: +SKIP
    """

    def __init__(self, *, generated: FloatArray, context: FloatArray, names: Sequence[str]):
        self.generated = generated
        self.context = context
        self.names = names

    @classmethod
    def from_estimator(cls, estimator, n_steps, *, context=None, X=None, names=None, axes=None) -> ContinuationDisplay:
        """What a fitted `EvokeForecaster` generates.

        Parameters
        ----------
        estimator : EvokeForecaster
            Fitted; what is drawn is its `generate`.
        n_steps, context, X
            As in `EvokeForecaster.generate`. Without `context` the continuation is drawn alone: a model does not keep
            the series that it was trained on.
        names, axes
            As in `from_series`.
        """
        if not hasattr(estimator, "generate"):
            raise TypeError(f"estimator must be an EvokeForecaster, got {type(estimator).__name__}")
        return cls.from_series(
            estimator.generate(n_steps, context=context, X=X), context=context, names=names, axes=axes
        )

    @classmethod
    def from_series(cls, generated, *, context=None, names=None, axes=None) -> ContinuationDisplay:
        """Draw a series and its continuation.

        Parameters
        ----------
        generated : array_like of shape (n_steps,) or (n_steps, n_outputs)
            The continuation.
        context : array_like of shape (n_told,) or (n_told, n_outputs), optional
            The series before it.
        names : sequence of str, optional
            One for each output.
        axes : sequence of matplotlib Axes, Figure or SubFigure, optional
            One for each output, or a figure to make them in. By default a new figure of pyplot.

        Raises
        ------
        ValueError
            Shapes that do not fit together, or another number of names or axes than of outputs.
        """
        generated = _columns("generated", generated)
        n_outputs = generated.shape[1]
        context = np.empty((0, n_outputs)) if context is None else _columns("context", context)
        if context.shape[1] != n_outputs:
            raise ValueError(f"context must have the {n_outputs} column(s) of generated, got {context.shape[1]}")
        names = output_names(names, n_outputs, "y(t)")
        return cls(generated=generated, context=context, names=names).plot(axes)

    def plot(self, axes=None) -> ContinuationDisplay:
        """Draw.

        Parameters
        ----------
        axes
            As in `from_series`.

        Returns
        -------
        ContinuationDisplay
            Itself.
        """
        n_steps, n_outputs = self.generated.shape
        self.axes_ = several_axes(axes, n_outputs, "one for each output", self._size(), sharex=True)
        self.figure_ = self.axes_[0].figure
        shown = self.context[-max(2 * n_steps, _LEAST_SHOWN) :]
        self.lines_ = []
        for k, (ax, name) in enumerate(zip(self.axes_, self.names, strict=True)):
            if len(shown):
                ax.plot(np.arange(1 - len(shown), 1), shown[:, k], color="0.45", linewidth=1.0, label="series")
            # joined to the last step that is known
            values = np.concatenate([shown[-1:, k], self.generated[:, k]])
            time = np.arange(n_steps + 1 - len(values), n_steps + 1)
            marker = "." if len(values) == 1 else None
            self.lines_ += ax.plot(time, values, color=COLOURS[0], linewidth=1.4, marker=marker, label="generated")
            ax.set_ylabel(name, parse_math=False)
            ax.margins(x=0.01)
            ax.xaxis.get_major_locator().set_params(integer=True)
        self.axes_[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, fontsize="small", frameon=False)
        self.axes_[-1].set_xlabel("t")
        return self

    def _size(self) -> tuple[float, float]:
        return 9.0, 0.8 + 1.8 * self.generated.shape[1]


def _columns(name: str, values: object) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    return to_floats(name, array[:, None] if array.ndim == 1 else array, 2)

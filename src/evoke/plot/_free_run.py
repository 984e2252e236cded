"""A series and what a model makes of its continuation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evoke import tasks
from evoke.plot._common import COLOURS, FloatArray, check_results, several_axes, to_floats
from evoke.tasks import SINES_SPLIT

__all__ = ["FreeRunDisplay"]


class FreeRunDisplay:
    """Free runs beside the series that they continue, and their errors over time.

    The paper's figure of section 3.2, with the error below on a logarithmic axis. Use `from_estimator`,
    `from_predictions` or `from_results` to make one.

    Parameters
    ----------
    true : ndarray of shape (n_steps,)
        The series.
    generated : mapping of str to ndarray of shape (n_steps,)
        Free runs by the name that the figure gives them.
    start : int, default=0
        Time of the first step.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
        One for each free run, and that of the errors.
    lines_ : list of matplotlib Line2D
        The outputs, then the errors.

    Examples
    --------
    >>> from evoke import EvokeForecaster, tasks
    >>> from evoke.plot import FreeRunDisplay
    >>> y = tasks.superimposed_sines(2, 400)
    >>> model = EvokeForecaster(washout=50, n_generations=2, random_state=0).fit(y[:300])
    >>> display = FreeRunDisplay.from_estimator(model, y[300:], start=301)
    >>> display.figure_.savefig("free-run.png")  # doctest: +SKIP
    """

    def __init__(self, *, true: FloatArray, generated: Mapping[str, FloatArray], start: int = 0):
        self.true = true
        self.generated = generated
        self.start = start

    @classmethod
    def from_estimator(cls, estimator, y, *, context=None, X=None, start=0, name=None, axes=None) -> FreeRunDisplay:
        """What a fitted `EvokeForecaster` makes of the continuation of its series.

        Parameters
        ----------
        estimator : EvokeForecaster
            Fitted; what is drawn is its `generate`.
        y : array_like of shape (n_steps,)
            The true continuation: of `context`, by default of the series of `fit`.
        context, X
            As in `EvokeForecaster.generate`.
        start
            As in `from_predictions`.
        name : str, optional
            By default that of the estimator's class.
        axes
            As in `from_predictions`.
        """
        if not hasattr(estimator, "generate"):
            raise TypeError(f"estimator must be an EvokeForecaster, got {type(estimator).__name__}")
        generated = estimator.generate(len(y), context=context, X=X)
        return cls.from_predictions(y, {name or type(estimator).__name__: generated}, start=start, axes=axes)

    @classmethod
    def from_predictions(cls, y_true, y_generated, *, start=0, axes=None) -> FreeRunDisplay:
        """Draw a series and what was generated in its place.

        Parameters
        ----------
        y_true : array_like of shape (n_steps,)
            The series as it really went on.
        y_generated : array_like of shape (n_steps,), or mapping of names to such
            What was generated in its place, by one model or several.
        start : int, default=0
            Time of the first step.
        axes : sequence of matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, one for each of `y_generated` and one for the errors, or a figure to make them in. By
            default a new figure of pyplot.
        """
        true = to_floats("y_true", y_true, 1)
        if not np.isfinite(true).all():
            raise ValueError("y_true must be finite, it contains NaN or infinity")
        if not isinstance(y_generated, Mapping):
            y_generated = {"generated": y_generated}
        if not y_generated:
            raise ValueError("y_generated must hold at least one free run, got none")
        generated = {str(name): to_floats("y_generated", values, 1) for name, values in y_generated.items()}
        for name, values in generated.items():
            if not np.isfinite(values).any():
                raise ValueError(f"y_generated has no finite value in {name!r}")
            if len(values) != len(true):
                raise ValueError(f"y_generated must have the {len(true)} steps of y_true, got {len(values)}")
        return cls(true=true, generated=generated, start=start).plot(axes)

    @classmethod
    def from_results(cls, results: Iterable[dict[str, Any]], *, axes=None) -> FreeRunDisplay:
        """Draw the typical run of each result of `evoke.reproduce.sines`, which must be of the same series.

        Parameters
        ----------
        results : dict or iterable of dict
            What `evoke.reproduce.sines` returned.
        axes
            As in `from_predictions`.

        Raises
        ------
        ValueError
            No run to be drawn, or results of differing numbers of waves.
        """
        results = check_results(results)
        tasks_done = {result["task"] for result in results}
        if tasks_done - {"sines"}:
            raise ValueError(f"results must be of the task sines, got {sorted(tasks_done)}")
        results = [result for result in results if result["free_run"] is not None]
        waves = {result["waves"] for result in results}
        if len(waves) != 1:
            raise ValueError(f"results must have a run that does not diverge and the same waves, got waves {waves}")
        y = tasks.superimposed_sines(waves.pop(), SINES_SPLIT.test_end)
        first = SINES_SPLIT.validation_end
        generated = {}
        for result in results:
            seed = result["free_run"]["seed"]
            sse = next(run["sse"] for run in result["runs"] if run["seed"] == seed)
            name = f"readout {result['readout']}, preset {result['preset']}: seed {seed}, SSE {sse:.2g}"
            generated[name] = result["free_run"]["generated"]
        return cls.from_predictions(y[first:], generated, start=first + 1, axes=axes)

    def plot(self, axes=None) -> FreeRunDisplay:
        """Draw.

        Parameters
        ----------
        axes
            As in `from_predictions`.

        Returns
        -------
        FreeRunDisplay
            Itself.
        """
        n_axes = len(self.generated) + 1
        self.axes_ = several_axes(
            axes, n_axes, "one for each free run and one for the errors", self._size(), sharex=True
        )
        self.figure_ = self.axes_[0].figure
        *outputs, errors = self.axes_
        time = self.start + np.arange(len(self.true))
        low, high = self.true.min(), self.true.max()
        margin = 0.25 * (high - low) or 1.0
        self.lines_ = []
        for k, (ax, (name, values)) in enumerate(zip(outputs, self.generated.items(), strict=True)):
            ax.plot(time, self.true, "--x", color="0.45", linewidth=0.8, markersize=3, label="series")
            self.lines_ += ax.plot(time, values, color=_colour(k), linewidth=1.2, label="generated")
            ax.set(ylabel="y(t)", ylim=(low - margin, high + margin))  # a run may leave them
            ax.set_title(name, loc="left", fontsize="medium")
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize="small", frameon=False)
        for k, (name, values) in enumerate(self.generated.items()):
            error = np.abs(values - self.true)
            self.lines_ += errors.plot(time, error, color=_colour(k), linewidth=1.0, label=name)
        errors.margins(x=0.01)
        errors.set(xlabel="t", ylabel="|error|", yscale="log")
        if len(self.generated) > 1:
            errors.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), fontsize="small", frameon=False)
        return self

    def _size(self) -> tuple[float, float]:
        return 9.0, 2.2 * (len(self.generated) + 1)


def _colour(k: int) -> str:
    return COLOURS[k % len(COLOURS)]

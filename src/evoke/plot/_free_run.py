"""A series and the free runs of models that continue it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from evoke import tasks
from evoke.plot._checks import FloatArray, check_forecaster, check_results, to_floats
from evoke.plot._display import Display
from evoke.plot._style import colour
from evoke.tasks import SINES_SPLIT

__all__ = ["FreeRunDisplay"]


class FreeRunDisplay(Display):
    """Free runs and the true series, with the errors over time.

    This is the paper's figure of section 3.2, plus the errors on a logarithmic axis. Create a display with
    `from_estimator`, `from_predictions` or `from_results`.

    Parameters
    ----------
    true : ndarray of shape (n_steps,)
        The true series.
    generated : mapping of str to ndarray of shape (n_steps,)
        The free runs by their titles.
    start : int, default=0
        Time of the first step.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
        One for each free run, then one for the errors.
    lines_ : list of matplotlib Line2D
        The outputs of the free runs, then their errors.

    Examples
    --------
    >>> from evoke import EvokeForecaster, tasks
    >>> from evoke.plot import FreeRunDisplay
    >>> y = tasks.superimposed_sines(2, 400)
    >>> model = EvokeForecaster(washout=50, n_generations=2, random_state=0).fit(y[:300])
    >>> display = FreeRunDisplay.from_estimator(model, y[300:], start=301)
    >>> display.figure_.savefig("free-run.png")  # doctest: +SKIP
    """

    def __init__(self, *, true: FloatArray, generated: Mapping[str, FloatArray], start: int = 0) -> None:
        self.true = true
        self.generated = generated
        self.start = start

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        y: Any,
        *,
        context: Any = None,
        X: Any = None,
        start: Any = 0,
        name: str | None = None,
        axes: Any = None,
    ) -> FreeRunDisplay:
        """Draw the free run of a fitted `EvokeForecaster` and the true continuation of its series.

        Parameters
        ----------
        estimator : EvokeForecaster
            A fitted estimator, whose ``generate`` is drawn.
        y : array_like of shape (n_steps,)
            The true continuation of `context`, or of the series given to ``fit`` if there is no context.
        context, X
            As in `EvokeForecaster.generate`.
        start
            As in `from_predictions`.
        name : str, optional
            Title of the free run. By default, the name of the estimator's class.
        axes
            As in `from_predictions`.

        Returns
        -------
        FreeRunDisplay

        Raises
        ------
        ParameterError
            An estimator without ``generate``.
        ValueError
            As in `from_predictions`.
        """
        check_forecaster(estimator)
        generated = estimator.generate(len(y), context=context, X=X)
        return cls.from_predictions(y, {name or type(estimator).__name__: generated}, start=start, axes=axes)

    @classmethod
    def from_predictions(cls, y_true: Any, y_generated: Any, *, start: Any = 0, axes: Any = None) -> FreeRunDisplay:
        """Draw a true series and one or several generated ones.

        Parameters
        ----------
        y_true : array_like of shape (n_steps,)
            The true series.
        y_generated : array_like of shape (n_steps,), or mapping of str to such
            The output of a free run over the same steps, or several by their titles.
        start : int, default=0
            Time of the first step.
        axes : sequence of matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, one for each of `y_generated` and one for the errors, or a figure to create them in. By
            default, a new pyplot figure.

        Returns
        -------
        FreeRunDisplay

        Raises
        ------
        ValueError
            Arrays of other shapes, a true series that is not finite, no free run or one without a finite value.
        """
        true = to_floats("y_true", y_true, 1)
        if not np.isfinite(true).all():
            raise ValueError(f"y_true must be finite, got {true[~np.isfinite(true)][0]}")
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
    def from_results(cls, results: Iterable[dict[str, Any]], *, axes: Any = None) -> FreeRunDisplay:
        """Draw the free run of the typical run in each result of `evoke.reproduce.sines`.

        Parameters
        ----------
        results : dict or iterable of dict
            What `evoke.reproduce.sines` returned, for the same number of waves.
        axes
            As in `from_predictions`.

        Returns
        -------
        FreeRunDisplay

        Raises
        ------
        ParameterError
            Something other than results.
        ValueError
            No free run to draw, another task, or results for different numbers of waves.
        """
        results = [result for result in check_results(results, "sines") if result["free_run"] is not None]
        waves = {result["waves"] for result in results}
        if len(waves) != 1:
            raise ValueError(
                f"results must have a free run that does not diverge and the same number of waves, got {sorted(waves)}"
            )
        y = tasks.superimposed_sines(waves.pop(), SINES_SPLIT.test_end)
        first = SINES_SPLIT.validation_end
        generated = {}
        for result in results:
            seed = result["free_run"]["seed"]
            sse = next(run["sse"] for run in result["runs"] if run["seed"] == seed)
            name = f"readout {result['readout']}, preset {result['preset']}: seed {seed}, SSE {sse:.2g}"
            generated[name] = result["free_run"]["generated"]
        return cls.from_predictions(y[first:], generated, start=first + 1, axes=axes)

    def plot(self, axes: Any = None) -> FreeRunDisplay:
        """Draw the display.

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
        *outputs, errors = self._take_axes(axes, n_axes, "one for each free run and one for the errors", sharex=True)
        time = self.start + np.arange(len(self.true))
        low, high = self.true.min(), self.true.max()
        margin = 0.25 * (high - low) or 1.0
        self.lines_ = []
        for k, (ax, (name, values)) in enumerate(zip(outputs, self.generated.items(), strict=True)):
            ax.plot(time, self.true, "--x", color="0.45", linewidth=0.8, markersize=3, label="series")
            self.lines_ += ax.plot(time, values, color=colour(k), linewidth=1.2, label="generated")
            ax.set(ylabel="y(t)", ylim=(low - margin, high + margin))  # a free run may leave these limits
            ax.set_title(name, loc="left", fontsize="medium")
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize="small", frameon=False)
        for k, (name, values) in enumerate(self.generated.items()):
            error = np.abs(values - self.true)
            self.lines_ += errors.plot(time, error, color=colour(k), linewidth=1.0, label=name)
        errors.margins(x=0.01)
        errors.set(xlabel="t", ylabel="|error|", yscale="log")
        if len(self.generated) > 1:
            errors.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), fontsize="small", frameon=False)
        return self

    def _size(self) -> tuple[float, float]:
        return 9.0, 2.2 * (len(self.generated) + 1)

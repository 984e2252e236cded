"""Figures. Matplotlib is imported when something is drawn: ``pip install "matplotlib>=3.8"``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke import tasks
from evoke.tasks import SINES_SPLIT

__all__ = ["FreeRunDisplay", "check_picture", "picture"]

FloatArray = NDArray[np.float64]


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
        y : array_like of shape (n_steps,)
            The true continuation: of `context`, by default of the series of `fit`.
        context, X
            As in `EvokeForecaster.generate`.
        start, axes
            As in `from_predictions`.
        name : str, optional
            By default that of the estimator's class.
        """
        generated = estimator.generate(len(y), context=context, X=X)
        return cls.from_predictions(y, {name or type(estimator).__name__: generated}, start=start, axes=axes)

    @classmethod
    def from_predictions(cls, y_true, y_generated, *, start=0, axes=None) -> FreeRunDisplay:
        """Draw a series and what was generated in its place.

        Parameters
        ----------
        y_true : array_like of shape (n_steps,)
        y_generated : array_like of shape (n_steps,), or mapping of names to such
        start : int, default=0
            Time of the first step.
        axes : sequence of matplotlib Axes, optional
            One for each of `y_generated` and one for the errors. By default a new figure of pyplot.
        """
        true = _series("y_true", y_true)
        if not isinstance(y_generated, Mapping):
            y_generated = {"generated": y_generated}
        if not y_generated:
            raise ValueError("y_generated must hold at least one free run, got none")
        generated = {str(name): _series("y_generated", values) for name, values in y_generated.items()}
        for values in generated.values():
            if len(values) != len(true):
                raise ValueError(f"y_generated must have the {len(true)} steps of y_true, got {len(values)}")
        return cls(true=true, generated=generated, start=start).plot(axes)

    @classmethod
    def from_results(cls, results: Iterable[dict[str, Any]], *, axes=None) -> FreeRunDisplay:
        """Draw the typical run of each result of `evoke.reproduce.sines`, which must be of the same series.

        Raises
        ------
        ValueError
            No run to be drawn, or results of differing numbers of waves.
        """
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
        """Draw into `axes`, or into a new figure of pyplot."""
        n_axes = len(self.generated) + 1
        if axes is None:
            import matplotlib.pyplot as plt

            _, axes = plt.subplots(n_axes, sharex=True, figsize=_size(n_axes), layout="constrained")
        self.axes_ = np.asarray(axes, dtype=object).ravel()
        if len(self.axes_) != n_axes:
            raise ValueError(f"axes must be {n_axes}: one for each free run and one for the errors, got {len(axes)}")
        self.figure_ = self.axes_[0].figure
        *outputs, errors = self.axes_
        time = self.start + np.arange(len(self.true))
        low, high = self.true.min(), self.true.max()
        margin = 0.25 * (high - low) or 1.0
        self.lines_ = []
        for k, (ax, (name, values)) in enumerate(zip(outputs, self.generated.items(), strict=True)):
            ax.plot(time, self.true, "--x", color="0.45", linewidth=0.8, markersize=3, label="series")
            self.lines_ += ax.plot(time, values, color=f"C{k}", linewidth=1.2, label="generated")
            ax.set(ylabel="y(t)", title=name, ylim=(low - margin, high + margin))  # a run may leave them
            ax.title.set_fontsize("medium")
            ax.legend(loc="upper right", ncols=2, fontsize="small")
        for k, (name, values) in enumerate(self.generated.items()):
            self.lines_ += errors.plot(time, np.abs(values - self.true), color=f"C{k}", linewidth=1.0, label=name)
        errors.set(xlabel="t", ylabel="|error|", yscale="log")
        errors.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), fontsize="small")  # below: it hides no error
        return self


def _series(name: str, values: Any) -> FloatArray:
    series = np.asarray(values, dtype=np.float64)
    if series.ndim != 1 or len(series) == 0:
        raise ValueError(f"{name} must be 1-D and not empty, got shape {series.shape}")
    return series


def _size(n_axes: int) -> tuple[float, float]:
    """Inches."""
    return 9.0, 2.2 * n_axes


def check_picture(kind: str) -> None:
    """Whether pictures of this kind, such as "png", can be drawn here.

    Raises
    ------
    ImportError
        Matplotlib is missing.
    ValueError
        It does not know the kind.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise ImportError(f'a figure needs Matplotlib: pip install "matplotlib>=3.8" ({error})') from None
    known = FigureCanvasBase.get_supported_filetypes()
    if kind not in known:
        raise ValueError(f"a figure can be one of {', '.join(sorted(known))}, not {kind!r}")


def picture(results: Iterable[dict[str, Any]], kind: str = "png") -> bytes:
    """The figure of results of `evoke.reproduce.sines`, as a file; needs no display and leaves pyplot alone."""
    from matplotlib.figure import Figure

    results = [result for result in results if result["free_run"] is not None]
    n_axes = len(results) + 1
    figure = Figure(figsize=_size(n_axes), layout="constrained")
    FreeRunDisplay.from_results(results, axes=figure.subplots(n_axes, sharex=True))
    file = BytesIO()
    figure.savefig(file, format=kind, dpi=150)
    return file.getvalue()

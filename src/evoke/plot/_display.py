"""What every display has, a size and axes to draw into, and displays as image files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.errors import counted, refusal, shown

__all__ = ["Display", "check_picture", "picture"]


@contextmanager
def _hint_at_matplotlib() -> Iterator[None]:
    """Say how to install Matplotlib if its import fails."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f'a figure needs Matplotlib: pip install "matplotlib>=3.9" ({error})') from None


class Display:
    """Base of all displays."""

    figure_: Any
    ax_: Any
    axes_: NDArray[Any]

    def __repr__(self) -> str:
        given = {name: value for name, value in vars(self).items() if not name.endswith("_") and value is not None}
        parts = ", ".join(f"{name}: {_described(value)}" for name, value in given.items())
        return f"<{type(self).__name__} of {parts}; {'drawn' if hasattr(self, 'figure_') else 'not drawn'}>"

    def _size(self) -> tuple[float, float]:
        """Width and height of the figure in inches."""
        raise NotImplementedError

    def _take_ax(self, ax: Any) -> Any:
        """Set `figure_` and `ax_`; return the latter."""
        (self.ax_,) = self._to_axes(ax, 1, "a single one")
        self.figure_ = self.ax_.figure
        return self.ax_

    def _take_axes(self, axes: Any, n: int, purpose: str, **subplots: Any) -> NDArray[Any]:
        """Set `figure_` and the `n` `axes_`; return the latter. Error messages say what their `purpose` is."""
        self.axes_ = self._to_axes(axes, n, purpose, **subplots)
        self.figure_ = self.axes_[0].figure
        return self.axes_

    def _to_axes(self, axes: Any, n: int, purpose: str, **subplots: Any) -> NDArray[Any]:
        """`n` axes: those given, or new ones in the figure given or in a new pyplot figure.

        Raises
        ------
        ImportError
            Matplotlib is missing.
        ParameterError
            Something other than axes or a figure.
        ValueError
            A number of axes other than `n`.
        """
        with _hint_at_matplotlib():
            from matplotlib.axes import Axes
            from matplotlib.figure import FigureBase
        if axes is None:
            import matplotlib.pyplot as plt

            axes = plt.figure(figsize=self._size(), layout="constrained")
        if isinstance(axes, FigureBase):
            axes = axes.subplots(n, **subplots)
        axes = np.asarray(axes, dtype=object).ravel()
        for one in axes:
            if not isinstance(one, Axes):
                raise refusal("ax" if n == 1 else "axes", "be Matplotlib's Axes or a figure", one)
        if len(axes) != n:
            raise ValueError(f"axes must be {n}: {purpose}, got {len(axes)}")
        return axes


def _described(value: Any) -> str:
    """A value in a few words: the shape of an array, how many items there are."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape}"
    if isinstance(value, (bool, int, float, str, np.generic)):
        return shown(value)
    return counted(len(value), "item") if hasattr(value, "__len__") else type(value).__name__


def check_picture(kind: str) -> None:
    """Check that pictures of this kind, such as "png", can be drawn here.

    Raises
    ------
    ImportError
        Matplotlib is missing.
    ValueError
        Matplotlib does not know the kind.
    """
    with _hint_at_matplotlib():
        from matplotlib.backend_bases import FigureCanvasBase
    known = FigureCanvasBase.get_supported_filetypes()
    if kind not in known:
        raise ValueError(f"a figure can be one of {', '.join(sorted(known))}, not {kind!r}")


def picture(draw: Callable[[Any], Display] | Mapping[str, Callable[[Any], Display]], kind: str = "png") -> bytes:
    """The contents of an image file with one display, or with several of the same kind.

    It needs no screen and does not touch the state of pyplot.

    Parameters
    ----------
    draw : callable, or mapping of str to callable
        Called with a Matplotlib Figure, draws a display into it and returns the display. With a mapping, the displays
        are placed one below the other, each in a SubFigure under its title.
    kind : str, default="png"
        See `check_picture`.

    Returns
    -------
    bytes

    Raises
    ------
    ImportError, ValueError
        As in `check_picture`.

    Examples
    --------
    >>> from evoke import EvokeForecaster, tasks
    >>> from evoke.plot import HistoryDisplay, picture
    >>> model = EvokeForecaster(n_generations=2, random_state=0).fit(tasks.superimposed_sines(2, 300))
    >>> png = picture(lambda figure: HistoryDisplay.from_estimator(model, ax=figure))
    >>> png[1:4]
    b'PNG'
    """
    check_picture(kind)

    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    if isinstance(draw, Mapping):
        sizes, parts = [], figure.subfigures(len(draw), squeeze=False).flat
        for part, (title, draw_part) in zip(parts, draw.items(), strict=True):
            sizes.append(draw_part(part)._size())
            part.suptitle(title, parse_math=False)
        figure.set_size_inches(max(width for width, _ in sizes), sum(height for _, height in sizes))
    else:
        figure.set_size_inches(draw(figure)._size())
    file = BytesIO()
    figure.savefig(file, format=kind, dpi=150)
    return file.getvalue()

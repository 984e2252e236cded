"""What the displays share: colours, the axes they draw into, pictures as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COLOURS", "Display", "FloatArray", "check_picture", "check_results", "one_axes", "output_names", "picture",
    "several_axes", "to_floats",
]  # fmt: skip

FloatArray = NDArray[np.float64]

# Blue, vermilion, green, purple, orange, sky: told apart with any colour vision (Okabe and Ito); grey is for context.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_HINT = 'a figure needs Matplotlib: pip install "matplotlib>=3.8"'


class Display(Protocol):
    """What `picture` asks of a display."""

    def _size(self) -> tuple[float, float]:
        """Width and height of its figure in inches."""


def output_names(names: Any, n_outputs: int, alone: str) -> list[str]:
    """A name for each output: those given, or numbers; a single one is called `alone`.

    Raises
    ------
    ValueError
        For another number of names.
    """
    if names is None:
        return [alone] if n_outputs == 1 else [f"output {k}" for k in range(n_outputs)]
    if len(names) != n_outputs:
        raise ValueError(f"names must be {n_outputs}, one for each output, got {len(names)}")
    return list(names)


def several_axes(axes: Any, n: int, what: str, size: tuple[float, float], **subplots: Any) -> NDArray[Any]:
    """The `n` axes to draw into: those given, or new ones in the figure given or in a new one of pyplot.

    Raises
    ------
    ImportError
        Matplotlib is missing.
    TypeError
        Something else than axes.
    ValueError
        Not `n` axes; `what` says what they are for.
    """
    try:
        from matplotlib.axes import Axes
        from matplotlib.figure import FigureBase
    except ImportError as error:
        raise ImportError(f"{_HINT} ({error})") from None
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=size, layout="constrained")
    if isinstance(axes, FigureBase):
        axes = axes.subplots(n, **subplots)
    axes = np.asarray(axes, dtype=object).ravel()
    odd = [one for one in axes if not isinstance(one, Axes)]
    if odd:
        raise TypeError(f"{'ax' if n == 1 else 'axes'} must be Matplotlib's Axes or a figure, got {odd[0]!r}")
    if len(axes) != n:
        raise ValueError(f"axes must be {n}: {what}, got {len(axes)}")
    return axes


def one_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes to draw into: `ax`, or new ones in the figure `ax` or in a new one of pyplot."""
    return several_axes(ax, 1, "a single one", size)[0]


def to_floats(name: str, values: Any, n_dimensions: int) -> FloatArray:
    """An array of floats that is not empty.

    Raises
    ------
    ValueError
        Naming the argument.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != n_dimensions or array.size == 0:
        raise ValueError(f"{name} must be {n_dimensions}-D and not empty, got shape {array.shape}")
    return array


def check_results(results: Any) -> list[Mapping[str, Any]]:
    """Results of `evoke.reproduce`, one or several, as a list.

    Raises
    ------
    TypeError
        Something else.
    """
    results = [results] if isinstance(results, Mapping) else list(results)
    for result in results:
        if not isinstance(result, Mapping):
            raise TypeError(f"results must be dicts as evoke.reproduce returns them, got {result!r}")
    return results


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
        raise ImportError(f"{_HINT} ({error})") from None
    known = FigureCanvasBase.get_supported_filetypes()
    if kind not in known:
        raise ValueError(f"a figure can be one of {', '.join(sorted(known))}, not {kind!r}")


def picture(draw: Callable[[Any], Display] | Mapping[str, Callable[[Any], Display]], kind: str = "png") -> bytes:
    """A display, or several of one kind, as a file; needs no screen and leaves pyplot alone.

    Parameters
    ----------
    draw : callable, or mapping of str to callable
        Makes the display in the Matplotlib Figure that it is given. Of a mapping, the displays stand one below the
        other, each in a SubFigure with its title.
    kind : str, default="png"
        See `check_picture`.

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

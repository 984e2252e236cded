"""Which strings of a^n b^n c^n a model accepts."""

from __future__ import annotations

from typing import Any

import numpy as np

from evoke import tasks
from evoke.plot._checks import to_floats
from evoke.plot._display import Display
from evoke.plot._style import COLOURS, legend_above

__all__ = ["AcceptanceDisplay"]


class AcceptanceDisplay(Display):
    """Which strings of a^n b^n c^n a model accepts, and by what margin.

    The margin of a string is the smallest of its decision values over all steps and outputs, each with a positive sign
    if it is on the correct side of zero: see `evoke.tasks.anbncn_margins`. Create a display with `from_estimator` or
    `from_margins`.

    Parameters
    ----------
    margins : ndarray of shape (test_max,)
        Margins of the strings n = 1..test_max.
    accepted : bool ndarray of shape (test_max,)
        Whether each of them is accepted.
    n_max : int, optional
        Largest n of the training strings.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    areas_ : dict of str to matplotlib PolyCollection
        The areas ``accepted`` and ``rejected`` between zero and the margins.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.plot import AcceptanceDisplay
    >>> model = EvokeClassifier(n_generations=5, random_state=0).fit(*tasks.anbncn(5))
    >>> display = AcceptanceDisplay.from_estimator(model, 20, n_max=5)
    >>> display.margins.shape
    (20,)
    """

    def __init__(self, *, margins: Any, accepted: Any, n_max: int | None = None) -> None:
        self.margins = margins
        self.accepted = accepted
        self.n_max = n_max

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        test_max: int = 1000,
        *,
        n_max: int | None = None,
        ax: Any = None,
    ) -> AcceptanceDisplay:
        """Draw which of the strings n = 1..test_max a fitted model accepts.

        Parameters
        ----------
        estimator : object whose ``decision_function`` takes a list of sequences
            The fitted model.
        test_max : int, default=1000
            Largest n of the strings to test.
        n_max : int, optional
            Largest n of the training strings, to be marked.
        ax
            As in `plot`.

        Returns
        -------
        AcceptanceDisplay
        """
        margins, accepted = tasks.anbncn_margins(estimator, test_max)
        return cls.from_margins(margins, accepted, n_max=n_max, ax=ax)

    @classmethod
    def from_margins(
        cls,
        margins: Any,
        accepted: Any = None,
        *,
        n_max: int | None = None,
        ax: Any = None,
    ) -> AcceptanceDisplay:
        """Draw margins.

        Parameters
        ----------
        margins : array_like of shape (test_max,)
            Margins of the strings n = 1..test_max, as `evoke.tasks.anbncn_margins` returns them.
        accepted : bool array_like of shape (test_max,), optional
            Whether each of them is accepted. By default, those with a positive margin are.
        n_max, ax
            As in `from_estimator`.

        Returns
        -------
        AcceptanceDisplay

        Raises
        ------
        ValueError
            Arrays of other shapes.
        """
        margins = to_floats("margins", margins, 1)
        accepted = margins > 0.0 if accepted is None else np.asarray(accepted, dtype=bool)
        if accepted.shape != margins.shape:
            raise ValueError(f"accepted must have the shape of margins, {margins.shape}, got {accepted.shape}")
        return cls(margins=margins, accepted=accepted, n_max=n_max).plot(ax)

    def plot(self, ax: Any = None) -> AcceptanceDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        AcceptanceDisplay
            Itself.
        """
        ax = self._take_ax(ax)
        total = len(self.margins)
        edges = np.arange(total + 1) + 0.5
        self.areas_ = {}
        for name, chosen, colour in (("accepted", self.accepted, COLOURS[0]), ("rejected", ~self.accepted, COLOURS[1])):
            heights = np.where(chosen, self.margins, 0.0)
            self.areas_[name] = ax.fill_between(
                edges, np.append(heights, heights[-1]), step="post", color=colour, linewidth=0,
                label=f"{name} ({chosen.sum()})",
            )  # fmt: skip
        ax.axhline(0.0, color="0.3", linewidth=0.8)
        if self.n_max is not None:
            ax.axvline(self.n_max + 0.5, color="0.3", linewidth=1.0, linestyle=":", label=f"trained on 1..{self.n_max}")
        ax.set(xlim=(0.5, total + 0.5), xlabel="n", ylabel="smallest margin")
        legend_above(ax, 3)
        return self

    def _size(self) -> tuple[float, float]:
        return 7.0, 3.0

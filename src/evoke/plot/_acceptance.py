"""Which strings of a^n b^n c^n a model accepts."""

from __future__ import annotations

import numpy as np

from evoke import tasks
from evoke.plot._common import COLOURS, one_axes, to_floats

__all__ = ["AcceptanceDisplay"]


class AcceptanceDisplay:
    """Which strings of a^n b^n c^n a model accepts, and by what margin.

    The margin of a string is the least of its decision values, over all steps and outputs, each counted as positive
    where it is right: see `evoke.tasks.anbncn_margins`. Use `from_estimator` or `from_margins` to make one.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        Of the strings 1..n.
    accepted : bool ndarray of shape (n,)
        Whether each of them is accepted.
    n_max : int, optional
        The longest training string.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    areas_ : dict of str to matplotlib PolyCollection
        ``accepted`` and ``rejected``, each from zero to the margins.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.plot import AcceptanceDisplay
    >>> model = EvokeClassifier(n_generations=5, random_state=0).fit(*tasks.anbncn(5))
    >>> display = AcceptanceDisplay.from_estimator(model, 20, n_max=5)
    >>> display.margins.shape
    (20,)
    """

    def __init__(self, *, margins, accepted, n_max=None):
        self.margins = margins
        self.accepted = accepted
        self.n_max = n_max

    @classmethod
    def from_estimator(cls, estimator, test_max=1000, *, n_max=None, ax=None) -> AcceptanceDisplay:
        """A fitted model on the strings n = 1..test_max.

        Parameters
        ----------
        estimator : object with ``decision_function`` of a list of sequences
            Which strings it accepts is drawn.
        test_max : int, default=1000
            The longest string judged.
        n_max : int, optional
            The longest training string, to be marked.
        ax
            As in `plot`.
        """
        margins, accepted = tasks.anbncn_margins(estimator, test_max)
        return cls.from_margins(margins, accepted, n_max=n_max, ax=ax)

    @classmethod
    def from_margins(cls, margins, accepted=None, *, n_max=None, ax=None) -> AcceptanceDisplay:
        """Margins of the strings 1, 2, ...

        Parameters
        ----------
        margins : array_like of shape (n,)
            Of the strings 1..n, as `evoke.tasks.anbncn_margins` gives them.
        accepted : bool array_like of shape (n,), optional
            By default those of positive margins.
        n_max, ax
            As in `from_estimator`.

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

    def plot(self, ax=None) -> AcceptanceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to make them in. By default a new figure of pyplot.

        Returns
        -------
        AcceptanceDisplay
            Itself.
        """
        self.ax_ = ax = one_axes(ax, self._size())
        self.figure_ = ax.figure
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
        ax.set(xlim=(0.5, total + 0.5), xlabel="n", ylabel="least margin")
        ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, fontsize="small", frameon=False)
        return self

    def _size(self) -> tuple[float, float]:
        return 7.0, 3.0

"""How far the runs on a^n b^n c^n generalise, compared with the published numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evoke._validation.errors import refusal
from evoke.plot._checks import FloatArray, check_results, to_floats
from evoke.plot._display import Display
from evoke.plot._style import colour, legend_above

__all__ = ["GeneralisationDisplay"]

_WIDTH = 0.7  # what the systems of one training length take of the distance to the next


class GeneralisationDisplay(Display):
    """The largest m such that all strings n = 1..m are accepted, for every run and training length.

    This is the paper's table 1 as a figure: a point for every run and a bar for every median. Create a display with
    `from_results` or `from_accepted`.

    Parameters
    ----------
    accepted : dict of int to dict of str to ndarray of shape (n_runs,)
        The m of the runs, by the largest n of the training strings, then by the name of the system.
    published : dict of int to dict of str to float
        Means to compare with, by the same keys.
    cap : int, optional
        Largest n that was tested: the true m of a run that reaches it is not known.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_, medians_ : dict of (int, str) to matplotlib Line2D
        The runs and their medians by training length and system.
    published_ : dict of (int, str) to matplotlib Line2D
        The published means by training length and system.

    Examples
    --------
    >>> from evoke import reproduce
    >>> from evoke.plot import GeneralisationDisplay
    >>> result = reproduce.anbncn(runs=2, n_generations=2, test_max=50)
    >>> display = GeneralisationDisplay.from_results(result)
    >>> list(display.accepted)
    [10]
    """

    def __init__(self, *, accepted: Any, published: Any = None, cap: Any = None) -> None:
        self.accepted = accepted
        self.published = published
        self.cap = cap

    @classmethod
    def from_results(cls, results: Any, *, ax: Any = None) -> GeneralisationDisplay:
        """Draw results of `evoke.reproduce.anbncn`, or what the command line wrote with ``--json``.

        Parameters
        ----------
        results : dict or iterable of dict
            Results with the same training length, preset and readout are combined.
        ax
            As in `plot`.

        Returns
        -------
        GeneralisationDisplay

        Raises
        ------
        ParameterError
            Something other than results.
        ValueError
            No finished run, another task, or results tested up to different lengths.
        """
        results = check_results(results, "anbncn")
        caps = sorted({result["config"]["test_max"] for result in results})
        if len(caps) > 1:
            raise ValueError(f"results must be tested up to the same length, got test_max {caps}")
        accepted: dict[int, dict[str, list[int]]] = {}
        for result in results:
            if runs := result["runs"]:
                systems = accepted.setdefault(result["n_max"], {})
                name = f"preset {result['preset']}, {result['readout']}"
                systems.setdefault(name, []).extend(run["accepted"] for run in runs)
        published = {
            result["n_max"]: {name: mean for name, mean in result["published"].items() if mean is not None}
            for result in results
        }
        return cls.from_accepted(accepted, published=published, cap=caps[0] if caps else None, ax=ax)

    @classmethod
    def from_accepted(
        cls,
        accepted: Any,
        *,
        published: Any = None,
        cap: Any = None,
        ax: Any = None,
    ) -> GeneralisationDisplay:
        """Draw accepted lengths from any source.

        Parameters
        ----------
        accepted : mapping of int to mapping of str to array_like of shape (n_runs,)
            The m of the runs, by the largest n of the training strings, then by the name of the system.
        published : mapping of int to mapping of str to float, optional
            Means to compare with, by the same keys.
        cap : int, optional
            Largest n that was tested.
        ax
            As in `plot`.

        Returns
        -------
        GeneralisationDisplay

        Raises
        ------
        ParameterError
            Something other than such a mapping.
        ValueError
            No runs.
        """
        if not isinstance(accepted, Mapping) or not all(isinstance(part, Mapping) for part in accepted.values()):
            raise refusal("accepted", "map training lengths to a mapping of systems to runs", accepted)
        if not accepted:
            raise ValueError("accepted must hold at least one run, got none")
        checked = {
            int(n): {str(name): to_floats(f"accepted[{n!r}][{name!r}]", values, 1) for name, values in systems.items()}
            for n, systems in sorted(accepted.items())
        }
        return cls(accepted=checked, published=dict(published or {}), cap=cap).plot(ax)

    def plot(self, ax: Any = None) -> GeneralisationDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        GeneralisationDisplay
            Itself.
        """
        ax = self._take_ax(ax)
        self.points_, self.medians_, self.published_ = {}, {}, {}
        names = list(dict.fromkeys(name for systems in self.accepted.values() for name in systems))
        for k, (n, systems) in enumerate(self.accepted.items()):
            left, right = k - _WIDTH / 2, k + _WIDTH / 2
            ax.plot([left, right], [n, n], ":", color="0.5", linewidth=1.0, label="longest training string")
            for name, mean in self.published.get(n, {}).items():
                (self.published_[n, name],) = ax.plot(
                    [left, right], [mean, mean], "--", color="0.35", linewidth=1.0, label="published mean"
                )
                ax.annotate(
                    f"{name} {mean:g}", (right, mean), (3, 0), textcoords="offset points", va="center",
                    fontsize="x-small", color="0.25",
                )  # fmt: skip
            width = _WIDTH / len(systems)
            for place, (name, values) in enumerate(systems.items()):
                middle = left + (place + 0.5) * width
                self._draw_runs(n, name, values, middle=middle, width=width, color=colour(names.index(name)))
        if self.cap is not None:
            ax.axhline(self.cap, color="0.7", linewidth=0.8, zorder=0, label="longest string tested")
        self._label()
        return self

    def _draw_runs(self, n: int, name: str, values: FloatArray, *, middle: float, width: float, color: str) -> None:
        # the golden ratio spreads the runs evenly, however many they are
        x = middle + 0.7 * width * ((np.arange(len(values)) * 0.6180339887 + 0.5) % 1.0 - 0.5)
        (self.points_[n, name],) = self.ax_.plot(
            x, values, "o", color=color, markersize=4, alpha=0.6, markeredgewidth=0, label=name
        )
        (self.medians_[n, name],) = self.ax_.plot(
            middle + np.array([-0.42, 0.42]) * width, [np.median(values)] * 2, color=color, linewidth=2.5,
            solid_capstyle="butt", label="median",
        )  # fmt: skip
        n_at_cap = 0 if self.cap is None else np.sum(values >= self.cap)
        if n_at_cap:
            self.ax_.annotate(
                f"{n_at_cap} of {len(values)}", (middle, self.cap), (0, 4), textcoords="offset points", ha="center",
                fontsize="x-small", color=color,
            )  # fmt: skip

    def _label(self) -> None:
        ax = self.ax_
        least = min(values.min() for systems in self.accepted.values() for values in systems.values())
        if least >= 1:
            ax.set_yscale("log")
        else:  # there is a run that does not even accept n = 1
            ax.set_yscale("symlog", linthresh=1.0, linscale=0.3)
            ax.set_ylim(bottom=-0.1)
        ax.margins(y=0.08)
        ax.set_xticks(range(len(self.accepted)), [f"1..{n}" for n in self.accepted])
        ax.set(
            xlim=(-0.6, len(self.accepted) - 1 + _WIDTH / 2 + 0.35), xlabel="training strings n",
            ylabel="largest m with all strings 1..m accepted",
        )  # fmt: skip
        once = {line.get_label(): line for line in reversed(ax.lines)}
        order = [name for _, name in self.points_]
        order += ["median", "published mean", "longest training string", "longest string tested"]
        handles = [once[label] for label in dict.fromkeys(order) if label in once]
        legend_above(ax, 2, handles=handles)

    def _size(self) -> tuple[float, float]:
        return 1.6 + 2.6 * len(self.accepted), 4.8

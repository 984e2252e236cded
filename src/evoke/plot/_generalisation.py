"""How far the runs of a^n b^n c^n generalise, beside the published numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evoke.plot._common import COLOURS, FloatArray, check_results, one_axes, to_floats

__all__ = ["GeneralisationDisplay"]

_WIDTH = 0.7  # of the distance between two training lengths: what the systems share


class GeneralisationDisplay:
    """The largest m such that all strings n = 1..m are accepted, run by run, against the longest training string.

    The paper's table 1 as a figure. Every run is a point, every median a bar. Use `from_results` or `from_accepted` to
    make one.

    Parameters
    ----------
    accepted : dict of int to dict of str to ndarray of shape (n_runs,)
        By the longest training string, then by the name of a system.
    published : dict of int to dict of str to float
        Means to compare with, likewise.
    cap : int, optional
        The longest string that was tried; of runs that reach it no more is known.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    points_, medians_ : dict of (int, str) to matplotlib Line2D
        By training length and system.
    published_ : dict of (int, str) to matplotlib Line2D

    Examples
    --------
    >>> from evoke import reproduce
    >>> from evoke.plot import GeneralisationDisplay
    >>> result = reproduce.anbncn(runs=2, n_generations=2, test_max=50)
    >>> display = GeneralisationDisplay.from_results(result)
    >>> list(display.accepted)
    [10]
    """

    def __init__(self, *, accepted, published=None, cap=None):
        self.accepted = accepted
        self.published = published
        self.cap = cap

    @classmethod
    def from_results(cls, results, *, ax=None) -> GeneralisationDisplay:
        """Results of `evoke.reproduce.anbncn`, or of the command line's ``--json``.

        Parameters
        ----------
        results : dict or iterable of dict
            Those of the same training length, preset and readout are put together.
        ax
            As in `plot`.

        Raises
        ------
        ValueError
            No finished run, another task, or results tested up to different lengths.
        """
        results = check_results(results)
        tasks = {result["task"] for result in results}
        if tasks - {"anbncn"}:
            raise ValueError(f"results must be of the task anbncn, got {sorted(tasks)}")
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
    def from_accepted(cls, accepted, *, published=None, cap=None, ax=None) -> GeneralisationDisplay:
        """Accepted lengths from anywhere.

        Parameters
        ----------
        accepted : mapping of int to mapping of str to array_like of shape (n_runs,)
            By the longest training string, then by the name of a system.
        published : mapping of int to mapping of str to float, optional
            Means to compare with, likewise.
        cap : int, optional
            The longest string that was tried.
        ax
            As in `plot`.

        Raises
        ------
        TypeError
            Something else than such a mapping.
        ValueError
            No runs.
        """
        if not isinstance(accepted, Mapping) or not all(isinstance(part, Mapping) for part in accepted.values()):
            raise TypeError(f"accepted must map training lengths to a mapping of systems to runs, got {accepted!r}")
        if not accepted:
            raise ValueError("accepted must hold at least one run, got none")
        checked = {
            int(n): {str(name): to_floats(f"accepted[{n!r}][{name!r}]", values, 1) for name, values in systems.items()}
            for n, systems in sorted(accepted.items())
        }
        return cls(accepted=checked, published=dict(published or {}), cap=cap).plot(ax)

    def plot(self, ax=None) -> GeneralisationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to make them in. By default a new figure of pyplot.

        Returns
        -------
        GeneralisationDisplay
            Itself.
        """
        self.ax_ = ax = one_axes(ax, self._size())
        self.figure_ = ax.figure
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
                colour = COLOURS[names.index(name) % len(COLOURS)]
                self._draw_runs(n, name, values, left + (place + 0.5) * width, width, colour)
        if self.cap is not None:
            ax.axhline(self.cap, color="0.7", linewidth=0.8, zorder=0, label="longest string tried")
        self._label()
        return self

    def _draw_runs(self, n: int, name: str, values: FloatArray, middle: float, width: float, colour: str) -> None:
        # the golden ratio spreads the runs evenly, however many they are
        x = middle + 0.7 * width * ((np.arange(len(values)) * 0.6180339887 + 0.5) % 1.0 - 0.5)
        (self.points_[n, name],) = self.ax_.plot(
            x, values, "o", color=colour, markersize=4, alpha=0.6, markeredgewidth=0, label=name
        )
        (self.medians_[n, name],) = self.ax_.plot(
            middle + np.array([-0.42, 0.42]) * width, [np.median(values)] * 2, color=colour, linewidth=2.5,
            solid_capstyle="butt", label="median",
        )  # fmt: skip
        n_at_cap = 0 if self.cap is None else np.sum(values >= self.cap)
        if n_at_cap:
            self.ax_.annotate(
                f"{n_at_cap} of {len(values)}", (middle, self.cap), (0, 4), textcoords="offset points", ha="center",
                fontsize="x-small", color=colour,
            )  # fmt: skip

    def _label(self) -> None:
        ax = self.ax_
        least = min(values.min() for systems in self.accepted.values() for values in systems.values())
        if least >= 1:
            ax.set_yscale("log")
        else:  # a run that does not even accept n = 1
            ax.set_yscale("symlog", linthresh=1.0, linscale=0.3)
            ax.set_ylim(bottom=-0.1)
        ax.margins(y=0.08)
        ax.set_xticks(range(len(self.accepted)), [f"1..{n}" for n in self.accepted])
        ax.set(
            xlim=(-0.6, len(self.accepted) - 1 + _WIDTH / 2 + 0.35), xlabel="trained on the strings",
            ylabel="m: all strings 1..m accepted",
        )  # fmt: skip
        once = {line.get_label(): line for line in reversed(ax.lines)}
        order = [name for _, name in self.points_]
        order += ["median", "published mean", "longest training string", "longest string tried"]
        handles = [once[label] for label in dict.fromkeys(order) if label in once]
        ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, fontsize="small", frameon=False
        )

    def _size(self) -> tuple[float, float]:
        return 1.6 + 2.6 * len(self.accepted), 4.8

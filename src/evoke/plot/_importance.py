"""Which inputs a model needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evoke._validation.errors import ParameterError
from evoke._validation.parameters import check_integer
from evoke.inspection import permutation_importance
from evoke.plot._checks import FloatArray, to_floats
from evoke.plot._display import Display
from evoke.plot._style import COLOURS

__all__ = ["ImportanceDisplay"]


class ImportanceDisplay(Display):
    """The importance of each feature of sequences: by how much the score falls when it is that of other sequences.

    A bar is the mean over repeats, a dot one of them; the most important feature is on top. Create a display with
    `from_estimator` or `from_importances`.

    Parameters
    ----------
    importances : ndarray of shape (n_features, n_repeats)
        As `evoke.inspection.permutation_importance` gives them.
    names : sequence of str
        Names of the features.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    bars_ : matplotlib BarContainer
        The means, from the least one, at the bottom, to the largest.
    dots_ : matplotlib Line2D
        All repeats.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke import EvokeClassifier
    >>> from evoke.plot import ImportanceDisplay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(40, 30, 3)), np.arange(40) % 2
    >>> X[:, :, 1] += y[:, None]
    >>> model = EvokeClassifier(subpopulation_size=40, random_state=0).fit(X, y)
    >>> display = ImportanceDisplay.from_estimator(model, X, y, names=["x", "y", "z"], random_state=0)
    >>> display.figure_.savefig("importance.png")  # doctest: +SKIP
    """

    def __init__(self, *, importances: FloatArray, names: Sequence[str]) -> None:
        self.importances = importances
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_repeats: int = 5,
        scoring: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        lengths: Any = None,
        block_length: int | None = None,
        names: Any = None,
        max_features: int | None = 20,
        ax: Any = None,
    ) -> ImportanceDisplay:
        """Draw the importance of the features of a fitted estimator on these sequences.

        Parameters
        ----------
        estimator : EvokeClassifier or EvokeRegressor
            A fitted estimator, or a pipeline or a search that holds one.
        X, y, n_repeats, scoring, random_state, n_jobs, lengths, block_length
            As in `evoke.inspection.permutation_importance`; there is one score.
        names : sequence of str, optional
            Names of the features; by default those that the estimator knows, or numbers.
        max_features, ax
            As in `plot`.

        Returns
        -------
        ImportanceDisplay

        Raises
        ------
        ValueError
            As in `evoke.inspection.permutation_importance`; or several scores.
        """
        found: Any = permutation_importance(
            estimator, X, y, n_repeats=n_repeats, scoring=scoring, random_state=random_state, n_jobs=n_jobs,
            lengths=lengths, block_length=block_length,
        )  # fmt: skip
        if "importances" not in found:
            raise ParameterError(f"scoring must be one score for a display, got {', '.join(found)}")
        if names is None:
            names = getattr(estimator, "feature_names_in_", None)
        return cls.from_importances(found.importances, names=names, max_features=max_features, ax=ax)

    @classmethod
    def from_importances(
        cls,
        importances: Any,
        *,
        names: Any = None,
        max_features: int | None = 20,
        ax: Any = None,
    ) -> ImportanceDisplay:
        """Draw importances.

        Parameters
        ----------
        importances : array_like of shape (n_features, n_repeats)
            As `evoke.inspection.permutation_importance` gives them.
        names : sequence of str, optional
            Names of the features; by default numbers.
        max_features, ax
            As in `plot`.

        Returns
        -------
        ImportanceDisplay

        Raises
        ------
        ValueError
            Another shape, or another number of names than of features.
        """
        importances = to_floats("importances", importances, 2)
        if names is None:
            names = [f"feature {k}" for k in range(len(importances))]
        if len(names) != len(importances):
            raise ValueError(f"names must be {len(importances)}, one for each feature, got {len(names)}")
        return cls(importances=importances, names=list(names)).plot(max_features=max_features, ax=ax)

    def plot(self, *, max_features: int | None = 20, ax: Any = None) -> ImportanceDisplay:
        """Draw the display.

        Parameters
        ----------
        max_features : int or None, default=20
            Features that are drawn at most, the most important ones; None: all.
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        ImportanceDisplay
            Itself.
        """
        if max_features is not None:
            check_integer("max_features", max_features, 1)
        means = self.importances.mean(axis=1)
        order = np.argsort(means, kind="stable")
        order = order if max_features is None else order[-max_features:]
        self._n_drawn = len(order)
        ax = self._take_ax(ax)
        place = np.arange(len(order))
        self.bars_ = ax.barh(place, means[order], color=COLOURS[5], height=0.7, label="mean")
        repeats = self.importances[order]
        (self.dots_,) = ax.plot(
            repeats.ravel(), np.repeat(place, repeats.shape[1]), ".", color=COLOURS[0], markersize=5, label="repeat"
        )
        ax.axvline(0.0, color="0.4", linewidth=0.8)
        ax.set_yticks(place, [str(self.names[k]) for k in order], parse_math=False)
        ax.set_ylim(-0.6, len(order) - 0.4)
        ax.set_xlabel("decrease of the score")
        return self

    def _size(self) -> tuple[float, float]:
        return 7.0, 0.9 + 0.3 * self._n_drawn

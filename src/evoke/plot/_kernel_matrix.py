"""How similar the activations of a network are to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from evoke.plot._checks import to_floats
from evoke.plot._display import Display
from evoke.plot._style import COLOURS
from evoke.sequences.containers import as_sequences, as_targets

__all__ = ["KernelMatrixDisplay"]

_MOST_GROUPS = 50  # more lines would hide the matrix
_MOST_ROWS = 3000  # already more than there are pixels; the matrix and its picture take 0.7 GB


class KernelMatrixDisplay(Display):
    """The kernel matrix K(phi(s), phi(t)) of a network's activations, as its readout sees them (paper, equation 2).

    Create a display with `from_estimator` or `from_activations`.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_rows)
        The kernel of every pair of rows of activations.
    support : bool ndarray of shape (n_rows,), optional
        Which rows are support vectors; they are marked at the right edge.
    groups : sequence of int, optional
        First rows of all groups but the first; the groups, sequences or classes, are separated by lines.
    group_names : sequence of str, optional
        Names of the groups, one more than there are entries in `groups`.
    label : str, default="row"
        Label of both axes.

    Attributes
    ----------
    figure_ : matplotlib Figure
    ax_ : matplotlib Axes
    image_ : matplotlib AxesImage
    support_ : matplotlib Line2D or None
        The marks of the support vectors.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.plot import KernelMatrixDisplay
    >>> X, y = tasks.anbncn(5)
    >>> model = EvokeClassifier(n_generations=5, random_state=0).fit(X, y)
    >>> display = KernelMatrixDisplay.from_estimator(model, X)
    >>> display.matrix.shape
    (50, 50)
    """

    def __init__(
        self,
        *,
        matrix: Any,
        support: Any = None,
        groups: Any = (),
        group_names: Any = None,
        label: Any = "row",
    ) -> None:
        self.matrix = matrix
        self.support = support
        self.groups = groups
        self.group_names = group_names
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        lengths: Any = None,
        output_names: Any = None,
        ax: Any = None,
    ) -> KernelMatrixDisplay:
        """Draw the kernel matrix of a fitted estimator's readout for the steps of sequences.

        Every row that equals a support vector is marked, also where several sequences have the same beginning. The
        readout ``"pinv"`` has no support vectors.

        Parameters
        ----------
        estimator : EvokeClassifier or EvokeRegressor
            A fitted estimator, whose kernel and activations are drawn.
        X
            Sequences, as in ``fit``. Their steps are the rows, in time order.
        y : labels with the structure of X, optional
            If given, the rows are ordered by class and within a class by time. If labels are rows of 0 and 1, each
            different row is a class.
        lengths
            As in ``fit``.
        output_names
            As in `from_activations`.
        ax
            As in `plot`.

        Returns
        -------
        KernelMatrixDisplay

        Raises
        ------
        ValueError
            More than 3000 steps.
        """
        check_is_fitted(estimator, "readout_")
        sequences = as_sequences(X, lengths)
        _check_size("X", len(sequences.rows), "steps")
        parts = np.split(sequences.rows, sequences.offsets[1:-1])
        phi = np.concatenate(estimator.transform(parts))
        labels = None
        if y is not None:
            targets = as_targets(y, sequences)
            if targets.per_sequence:
                labels = np.repeat(targets.values, sequences.lengths)
            else:
                labels = targets.values
        readout = estimator.readout_
        support = None
        if estimator.readout != "pinv":  # whose "support vectors" are the unit vectors
            known = {row.tobytes() for row in readout.support_vectors}
            support = np.array([row.tobytes() in known for row in phi])
        return cls.from_activations(
            phi, kernel=readout.kernel.name, gamma=readout.gamma, coef0=readout.coef0, degree=readout.degree,
            support=support, labels=labels, output_names=output_names, groups=sequences.offsets[1:-1], ax=ax,
        )  # fmt: skip

    @classmethod
    def from_activations(
        cls,
        activations: Any,
        *,
        kernel: str = "rbf",
        gamma: float = 0.25,
        coef0: float = 0.0,
        degree: int = 3,
        support: Any = None,
        labels: Any = None,
        output_names: Any = None,
        groups: Any = (),
        ax: Any = None,
    ) -> KernelMatrixDisplay:
        """Draw the kernel matrix of these activations.

        Parameters
        ----------
        activations : array_like of shape (n_rows, n_cells)
            The rows phi(t).
        kernel : {"rbf", "linear", "poly"}, default="rbf"
        gamma, coef0, degree
            As in `sklearn.metrics.pairwise.pairwise_kernels`.
        support : bool array_like of shape (n_rows,), optional
            Which rows are support vectors; they are marked at the right edge.
        labels : array_like of shape (n_rows,) or (n_rows, n_outputs), optional
            If given, the rows are ordered by class.
        output_names : str or sequence of str of length n_outputs, optional
            Used if labels are rows of 0 and 1: a class is named after its outputs that are 1.
        groups : sequence of int, optional
            First rows of all groups but the first, of sequences for instance. Not used with `labels`.
        ax
            As in `plot`.

        Returns
        -------
        KernelMatrixDisplay

        Raises
        ------
        ValueError
            Arrays of other shapes, more than 3000 rows, or activations that are not finite.
        """
        phi = to_floats("activations", activations, 2)
        if not np.isfinite(phi).all():
            raise ValueError(f"activations must be finite, got {phi[~np.isfinite(phi)][0]}")
        _check_size("activations", len(phi), "rows")
        for name, values in (("support", support), ("labels", labels)):
            if values is not None and len(values) != len(phi):
                raise ValueError(f"{name} must have the {len(phi)} rows of activations, got {len(values)}")
        names, label = None, "step, in time order"
        if labels is not None:
            order, groups, names = _by_class(np.asarray(labels), output_names)
            phi, label = phi[order], "step, by class"
            support = None if support is None else np.asarray(support)[order]
        matrix = pairwise_kernels(phi, metric=kernel, filter_params=True, gamma=gamma, coef0=coef0, degree=degree)
        display = cls(matrix=matrix, support=support, groups=groups, group_names=names, label=label)
        return display.plot(ax)

    def plot(self, ax: Any = None) -> KernelMatrixDisplay:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into, or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        KernelMatrixDisplay
            Itself.
        """
        ax = self._take_ax(ax)
        n = len(self.matrix)
        self.image_ = ax.imshow(self.matrix, cmap="viridis", interpolation="nearest")
        bar = self.figure_.colorbar(self.image_, ax=ax, shrink=0.85, pad=0.06)
        bar.set_label("K(φ(s), φ(t))")
        for border in self.groups if len(self.groups) <= _MOST_GROUPS else ():
            for line in (ax.axhline, ax.axvline):
                line(border - 0.5, color="white", linewidth=0.5)
        self.support_ = None
        if self.support is not None and np.any(self.support):
            rows = np.flatnonzero(self.support)
            (self.support_,) = ax.plot(
                np.full(len(rows), 1.015), rows, transform=ax.get_yaxis_transform(), clip_on=False, linestyle="none",
                marker="<", markersize=3.5, markeredgewidth=0, color=COLOURS[1], label="support vector",
            )  # fmt: skip
            ax.legend(
                loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False, borderaxespad=0.1,
                handletextpad=0.1,
            )  # fmt: skip
        ax.set(xlabel=self.label, ylabel=self.label, xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5))
        if self.group_names is not None:
            edges = np.array([0, *self.groups, n])
            middles = (edges[:-1] + edges[1:] - 1) / 2
            ax.set_xticks(middles, self.group_names)
            ax.set_yticks(middles, self.group_names)
        return self

    def _size(self) -> tuple[float, float]:
        return 5.6, 4.8


def _check_size(name: str, n: int, what: str) -> None:
    if n > _MOST_ROWS:
        raise ValueError(f"{name} must have at most {_MOST_ROWS} {what}, as the matrix has their square; got {n}")


def _by_class(labels: NDArray[Any], output_names: Any) -> tuple[NDArray[np.intp], NDArray[np.intp], list[str]]:
    """The order of the rows, the places in it where each class but the first begins, and the names of the classes."""
    classes, number = np.unique(labels, axis=0, return_inverse=True)
    number = number.reshape(-1)
    order = np.argsort(number, kind="stable")
    begins = np.flatnonzero(np.diff(number[order])) + 1
    if labels.ndim == 1:
        names = [str(c) for c in classes]
    elif output_names is None:
        names = ["".join(map(str, c)) for c in classes]
    else:
        names = ["".join(str(name) for name, on in zip(output_names, c, strict=True) if on) for c in classes]
    return order, begins, names

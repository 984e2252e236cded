"""What a model says of a sequence, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from evoke.plot._common import COLOURS, FloatArray, output_names, several_axes

__all__ = ["PredictionDisplay"]


class PredictionDisplay:
    """The outputs of a model along one sequence, over the targets where they are known; an axis for each output.

    Values are drawn as lines, labels as steps between levels that bear their names. Use `from_estimator` or
    `from_predictions` to make one.

    Parameters
    ----------
    predicted : ndarray of shape (n_steps, n_outputs)
        Values, or numbers of classes.
    true : ndarray of shape (n_steps, n_outputs), optional
        What was to be predicted, in the same form.
    names : sequence of str
        One for each output.
    classes : ndarray of shape (n_classes,), optional
        The labels; without it `predicted` are values.
    steps : bool, default=False
        Whether a value holds for a step, as a decision does, rather than lies on a line.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
    lines_ : list of matplotlib Line2D
        What was predicted, of each output.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.plot import PredictionDisplay
    >>> model = EvokeClassifier(n_cells=3, n_generations=5, random_state=0).fit(*tasks.anbncn(5))
    >>> (sequence,), (next_symbols,) = tasks.anbncn([20])
    >>> display = PredictionDisplay.from_estimator(model, sequence, next_symbols, names="abcT")
    >>> display.figure_.savefig("next-symbols.png")  # doctest: +SKIP
    """

    def __init__(
        self, *, predicted: FloatArray, true: FloatArray | None, names: Sequence[str],
        classes: NDArray[Any] | None = None, steps: bool = False,
    ):  # fmt: skip
        self.predicted = predicted
        self.true = true
        self.names = names
        self.classes = classes
        self.steps = steps

    @classmethod
    def from_estimator(cls, estimator, X, y=None, *, names=None, axes=None) -> PredictionDisplay:
        """What a fitted estimator says of a sequence.

        Parameters
        ----------
        estimator : EvokeClassifier or EvokeRegressor
            Fitted with a target a step.
        X : array_like of shape (n_steps, n_features)
            One sequence.
        y : array_like of shape (n_steps,) or (n_steps, n_outputs), optional
            Its targets.
        names, axes
            As in `from_predictions`.

        Raises
        ------
        ValueError
            An estimator of one target a sequence, or more than one sequence.
        """
        check_is_fitted(estimator, "readout_")
        (predicted,) = estimator.predict([X])
        if np.ndim(predicted) == 0:
            raise ValueError("estimator must have been fitted with a target a step, got one with a target a sequence")
        classes = estimator.classes_ if is_classifier(estimator) and np.ndim(predicted) == 1 else None
        return cls.from_predictions(predicted, y, names=names, classes=classes, axes=axes)

    @classmethod
    def from_predictions(cls, y_predicted, y_true=None, *, names=None, classes=None, axes=None) -> PredictionDisplay:
        """Draw outputs and targets.

        Parameters
        ----------
        y_predicted : array_like of shape (n_steps,) or (n_steps, n_outputs)
            Numbers, or labels. Those that are not floats are drawn as steps.
        y_true : array_like of the shape of `y_predicted`, optional
            What was to be predicted.
        names : sequence of str, optional
            One for each output.
        classes : array_like of shape (n_classes,), optional
            The labels in the order of the axis. By default those that occur, sorted, where they are not numbers.
        axes : sequence of matplotlib Axes, Figure or SubFigure, optional
            One for each output, or a figure to make them in. By default a new figure of pyplot.

        Raises
        ------
        ValueError
            Shapes that do not fit together, or another number of names or axes than of outputs.
        """
        arrays = [_columns("y_predicted", y_predicted)]
        if y_true is not None:
            arrays.append(_columns("y_true", y_true))
            if arrays[1].shape != arrays[0].shape:
                raise ValueError(f"y_true must have the shape of y_predicted, {arrays[0].shape}, got {arrays[1].shape}")
        n_outputs = arrays[0].shape[1]
        names = output_names(names, n_outputs, "output")
        steps = arrays[0].dtype.kind != "f"
        if classes is not None or any(array.dtype.kind not in "biuf" for array in arrays):
            classes, arrays = _numbered([] if classes is None else classes, arrays)
            steps = True
        predicted, *true = (array.astype(np.float64) for array in arrays)
        display = cls(
            predicted=predicted, true=true[0] if true else None, names=names, classes=classes, steps=steps
        )
        return display.plot(axes)

    def plot(self, axes=None) -> PredictionDisplay:
        """Draw.

        Parameters
        ----------
        axes
            As in `from_predictions`.

        Returns
        -------
        PredictionDisplay
            Itself.
        """
        n_steps, n_outputs = self.predicted.shape
        self.axes_ = several_axes(axes, n_outputs, "one for each output", self._size(), sharex=True)
        self.figure_ = self.axes_[0].figure
        style = {"drawstyle": "steps-mid" if self.steps else "default", "marker": "." if n_steps == 1 else None}
        self.lines_ = []
        for k, (ax, name) in enumerate(zip(self.axes_, self.names, strict=True)):
            if self.true is not None:
                ax.plot(self.true[:, k], color="0.65", linewidth=2.8, label="target", **style)
            self.lines_ += ax.plot(self.predicted[:, k], color=COLOURS[0], linewidth=1.2, label="predicted", **style)
            ax.set_ylabel(name, parse_math=False)
            ax.margins(x=0.01)
            ax.xaxis.get_major_locator().set_params(integer=True)
            if self.classes is not None:
                ax.set_yticks(range(len(self.classes)), [str(label) for label in self.classes], parse_math=False)
        self.axes_[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, fontsize="small", frameon=False)
        self.axes_[-1].set_xlabel("t")
        return self

    def _size(self) -> tuple[float, float]:
        return 9.0, 0.8 + 1.8 * self.predicted.shape[1]


def _columns(name: str, values: object) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} must be (n_steps,) or (n_steps, n_outputs) and not empty, got shape {array.shape}")
    return array.reshape(len(array), -1)


def _numbered(classes: Any, arrays: list[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[np.intp]]]:
    """The classes, those that only occur in the arrays behind the others, and the arrays with their numbers."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    for label in sorted({label for array in arrays for label in array.ravel().tolist()} - set(place)):
        place[label] = len(place)
    numbers = [np.array([place[label] for label in array.ravel().tolist()]).reshape(array.shape) for array in arrays]
    return np.array(list(place), dtype=object), numbers

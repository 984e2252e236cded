"""The predictions of a model along a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from evoke.plot._checks import FloatArray, output_names
from evoke.plot._outputs import OutputsDisplay
from evoke.plot._style import COLOURS

__all__ = ["PredictionDisplay"]


class PredictionDisplay(OutputsDisplay):
    """The predictions of a model along one sequence, and the targets if they are known, with one panel per output.

    Values are drawn as lines. Labels are drawn as steps between levels that carry their names. Create a display with
    `from_estimator` or `from_predictions`.

    Parameters
    ----------
    predicted : ndarray of shape (n_steps, n_outputs)
        Predicted values, or indices into `classes`.
    true : ndarray of shape (n_steps, n_outputs), optional
        The targets, in the same form.
    names : sequence of str
        Names of the outputs.
    classes : ndarray of shape (n_classes,), optional
        The labels. Without them, `predicted` and `true` are values.
    steps : bool, default=False
        Whether to draw steps, as for decisions, instead of lines.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
    lines_ : list of matplotlib Line2D
        The lines of the predictions, one for each output.

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
        self,
        *,
        predicted: FloatArray,
        true: FloatArray | None,
        names: Sequence[str],
        classes: NDArray[Any] | None = None,
        steps: bool = False,
    ) -> None:
        self.predicted = predicted
        self.true = true
        self.names = names
        self.classes = classes
        self.steps = steps

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        names: Any = None,
        axes: Any = None,
    ) -> PredictionDisplay:
        """Draw the predictions of a fitted estimator for a sequence.

        Parameters
        ----------
        estimator : EvokeClassifier or EvokeRegressor
            An estimator fitted with a target per step.
        X : array_like of shape (n_steps, n_features)
            One sequence.
        y : array_like of shape (n_steps,) or (n_steps, n_outputs), optional
            Its targets.
        names, axes
            As in `from_predictions`.

        Returns
        -------
        PredictionDisplay

        Raises
        ------
        ValueError
            An estimator fitted with a target per sequence, or more than one sequence.
        """
        check_is_fitted(estimator, "readout_")
        (predicted,) = estimator.predict([X])
        if np.ndim(predicted) == 0:
            raise ValueError(
                "estimator must have been fitted with a target per step, got one with a target per sequence"
            )
        classes = estimator.classes_ if is_classifier(estimator) and np.ndim(predicted) == 1 else None
        return cls.from_predictions(predicted, y, names=names, classes=classes, axes=axes)

    @classmethod
    def from_predictions(
        cls,
        y_predicted: Any,
        y_true: Any = None,
        *,
        names: Any = None,
        classes: Any = None,
        axes: Any = None,
    ) -> PredictionDisplay:
        """Draw predictions and targets.

        Parameters
        ----------
        y_predicted : array_like of shape (n_steps,) or (n_steps, n_outputs)
            Predicted numbers or labels. All but floats are drawn as steps.
        y_true : array_like of the shape of `y_predicted`, optional
            The targets.
        names : sequence of str, optional
            Names of the outputs.
        classes : array_like of shape (n_classes,), optional
            The labels in the order in which the axis shows them. By default, labels that are not numbers are sorted.
        axes : sequence of matplotlib Axes, Figure or SubFigure, optional
            One for each output, or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        PredictionDisplay

        Raises
        ------
        ValueError
            Shapes that do not match, or a number of names or axes other than that of the outputs.
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
        display = cls(predicted=predicted, true=true[0] if true else None, names=names, classes=classes, steps=steps)
        return display.plot(axes)

    def plot(self, axes: Any = None) -> PredictionDisplay:
        """Draw the display.

        Parameters
        ----------
        axes
            As in `from_predictions`.

        Returns
        -------
        PredictionDisplay
            Itself.
        """
        self._take_panels(axes)
        marker = "." if len(self.predicted) == 1 else None
        style = {"drawstyle": "steps-mid" if self.steps else "default", "marker": marker}
        self.lines_ = []
        for k, ax in enumerate(self.axes_):
            if self.true is not None:
                ax.plot(self.true[:, k], color="0.65", linewidth=2.8, label="target", **style)
            self.lines_ += ax.plot(self.predicted[:, k], color=COLOURS[0], linewidth=1.2, label="predicted", **style)
            if self.classes is not None:
                ax.set_yticks(range(len(self.classes)), [str(label) for label in self.classes], parse_math=False)
        self._label_panels()
        return self


def _columns(name: str, values: object) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} must be (n_steps,) or (n_steps, n_outputs) and not empty, got shape {array.shape}")
    return array.reshape(len(array), -1)


def _numbered(classes: Any, arrays: list[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[np.intp]]]:
    """The classes, followed by labels that only occur in the arrays, and the arrays as indices into them."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    for label in sorted({label for array in arrays for label in array.ravel().tolist()} - set(place)):
        place[label] = len(place)
    numbers = [np.array([place[label] for label in array.ravel().tolist()]).reshape(array.shape) for array in arrays]
    return np.array(list(place), dtype=object), numbers

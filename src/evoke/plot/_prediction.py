"""The predictions of a model along a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix
from sklearn.utils.validation import check_is_fitted

from evoke.plot._checks import FloatArray, output_names
from evoke.plot._confusion import draw_matrix, draw_points
from evoke.plot._outputs import OutputsDisplay
from evoke.plot._style import COLOURS

__all__ = ["PredictionDisplay"]


class PredictionDisplay(OutputsDisplay):
    """The predictions of a model along one sequence, and the targets if they are known, with one panel per output.

    Values are drawn as lines. Labels are drawn as steps between levels that carry their names. Of sequences with one
    target each, labels are drawn as a confusion matrix, whose rows are the true ones, and values as points. Create a
    display with `from_estimator`, `from_predictions` or `from_sequences`.

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
    per_sequence : bool, default=False
        Whether the rows of `predicted` and `true` are sequences, not steps of one.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
    lines_ : list of matplotlib Line2D
        The lines of the predictions along a sequence, one for each output.
    matrices_ : list of int ndarray of shape (n_classes, n_classes)
        The confusion matrices of sequences, one for each output that is a label.

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
        per_sequence: bool = False,
    ) -> None:
        self.predicted = predicted
        self.true = true
        self.names = names
        self.classes = classes
        self.steps = steps
        self.per_sequence = per_sequence

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
        """Draw the predictions of a fitted estimator for a sequence, or for sequences with one target each.

        Parameters
        ----------
        estimator : EvokeClassifier or EvokeRegressor
            A fitted estimator.
        X : array_like of shape (n_steps, n_features), or list of such
            One sequence; of an estimator fitted with one target per sequence, several as in its `fit`.
        y : array_like, optional
            The targets of the steps; or of the sequences, which are needed.
        names, axes
            As in `from_predictions`.

        Returns
        -------
        PredictionDisplay

        Raises
        ------
        ValueError
            More than one sequence for an estimator of steps; sequences without y.
        """
        check_is_fitted(estimator, "readout_")
        several = estimator.fitted_.per_sequence
        if several and y is None:
            raise ValueError("y is needed for an estimator fitted with a target per sequence, and X must be sequences")
        predicted = estimator.predict(X) if several else estimator.predict([X])[0]
        classes = estimator.classes_ if is_classifier(estimator) and np.ndim(predicted) == 1 else None
        draw = cls.from_sequences if several else cls.from_predictions
        return draw(predicted, y, names=names, classes=classes, axes=axes)

    @classmethod
    def from_sequences(
        cls,
        y_predicted: Any,
        y_true: Any,
        *,
        names: Any = None,
        classes: Any = None,
        axes: Any = None,
    ) -> PredictionDisplay:
        """Draw what is predicted of sequences against what is true of them.

        Parameters
        ----------
        y_predicted, y_true : array_like of shape (n_sequences,) or (n_sequences, n_outputs)
            Numbers or labels. All but floats are labels.
        names, classes, axes
            As in `from_predictions`.

        Returns
        -------
        PredictionDisplay

        Raises
        ------
        ValueError
            As by `from_predictions`.
        """
        if y_true is None:
            raise ValueError("y_true is needed: predictions of sequences are drawn against it")
        return cls._of(y_predicted, y_true, names, classes, True).plot(axes)

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
        return cls._of(y_predicted, y_true, names, classes, False).plot(axes)

    @classmethod
    def _of(cls, y_predicted, y_true, names, classes, per_sequence: bool) -> PredictionDisplay:
        """The display of these predictions, which is not drawn yet."""
        arrays = [_columns("y_predicted", y_predicted)]
        if y_true is not None:
            arrays.append(_columns("y_true", y_true))
            if arrays[1].shape != arrays[0].shape:
                raise ValueError(f"y_true must have the shape of y_predicted, {arrays[0].shape}, got {arrays[1].shape}")
        n_outputs = arrays[0].shape[1]
        names = output_names(names, n_outputs, "output")
        steps = arrays[0].dtype.kind != "f"
        if classes is not None or any(array.dtype.kind not in "biuf" for array in arrays) or (per_sequence and steps):
            classes, arrays = _numbered([] if classes is None else classes, arrays)
            steps = True
        predicted, *true = (array.astype(np.float64) for array in arrays)
        return cls(
            predicted=predicted, true=true[0] if true else None, names=names, classes=classes, steps=steps,
            per_sequence=per_sequence,
        )  # fmt: skip

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
        self.lines_, self.matrices_ = [], []
        if self.per_sequence:
            return self._plot_sequences(axes)
        self._take_panels(axes)
        marker = "." if len(self.predicted) == 1 else None
        style = {"drawstyle": "steps-mid" if self.steps else "default", "marker": marker}
        for k, ax in enumerate(self.axes_):
            if self.true is not None:
                ax.plot(self.true[:, k], color="0.65", linewidth=2.8, label="target", **style)
            self.lines_ += ax.plot(self.predicted[:, k], color=COLOURS[0], linewidth=1.2, label="predicted", **style)
            if self.classes is not None:
                ax.set_yticks(range(len(self.classes)), [str(label) for label in self.classes], parse_math=False)
        self._label_panels()
        return self

    def _plot_sequences(self, axes) -> PredictionDisplay:
        assert self.true is not None
        self._take_axes(axes, len(self.names), "one for each output")
        for k, (ax, name) in enumerate(zip(self.axes_, self.names, strict=True)):
            if self.classes is None:
                draw_points(ax, self.true[:, k], self.predicted[:, k])
            else:
                matrix = confusion_matrix(self.true[:, k], self.predicted[:, k], labels=range(len(self.classes)))
                draw_matrix(ax, matrix, self.classes)
                self.matrices_.append(matrix)
            across, up = ("true", "predicted") if self.classes is None else ("predicted", "true")
            ax.set_xlabel(f"{name}, {across}", parse_math=False)
            ax.set_ylabel(f"{name}, {up}", parse_math=False)
        return self

    def _size(self) -> tuple[float, float]:
        return (5.0, 4.4 * len(self.names)) if self.per_sequence else super()._size()


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

"""The activations of a network along a sequence."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evoke._validation.arrays import to_array, to_float
from evoke.plot._checks import FloatArray, to_floats
from evoke.plot._display import Display
from evoke.plot._style import COLOURS, integer_ticks

__all__ = ["ActivationDisplay"]

_HALF_BAND = 0.45  # what the largest activation takes of the distance between two cells
_MOST_LINES = 12  # more cells, one above the other, would be hard to tell apart
_MOST_LABELS = 20  # of the rows of an image
_MOST_GUIDES = 20  # more lines through all panels would hide the data
_MOST_LETTERS = 100  # more symbols along the axis would overlap


class ActivationDisplay(Display):
    """The activations phi of every cell along one sequence, with the outputs of the readout and the inputs.

    Up to 12 cells are drawn as lines one above the other, each within a band. The label of the axis gives the range of
    the bands, which is -1 to 1 unless all activations are small or some are large. More cells are drawn as an image
    with a row for each. So are more than 6 outputs or inputs. Create a display with `from_estimator` or
    `from_activations`.

    Parameters
    ----------
    activations : ndarray of shape (n_steps, n_cells)
        The paper's phi(t).
    outputs : ndarray of shape (n_steps, n_outputs), optional
        Decision values, or predicted values.
    inputs : ndarray of shape (n_steps, n_features), optional
        The sequence, drawn if there are no `symbols`.
    symbols : sequence of str of length n_steps, optional
        The input symbol of each step. Consecutive equal symbols share a block.
    output_names : sequence of str, optional
        Names for the legend.
    start : int, default=0
        Time of the first step.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
        Axes of the activations, the outputs if given, and the symbols or inputs if given.
    lines_, output_lines_, input_lines_ : list of matplotlib Line2D
        One line for each cell, output or input; empty if they are drawn as an image.
    images_ : dict of str to matplotlib AxesImage
        Those of ``activations``, ``outputs`` and ``inputs`` that are drawn as an image.
    blocks_ : list of (str, int, int)
        Symbol, time of the first step and time after the last step of each block.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> from evoke.plot import ActivationDisplay
    >>> model = EvokeClassifier(n_cells=3, n_generations=5, random_state=0).fit(*tasks.anbncn(5))
    >>> (sequence,), _ = tasks.anbncn([20])
    >>> symbols = "S" + 20 * "a" + 20 * "b" + 20 * "c"
    >>> display = ActivationDisplay.from_estimator(model, sequence, symbols=symbols, output_names="abcT")
    >>> display.blocks_[:2]
    [('S', 0, 1), ('a', 1, 21)]
    """

    def __init__(
        self,
        *,
        activations: Any,
        outputs: Any = None,
        inputs: Any = None,
        symbols: Any = None,
        output_names: Any = None,
        start: Any = 0,
    ) -> None:
        self.activations = activations
        self.outputs = outputs
        self.inputs = inputs
        self.symbols = symbols
        self.output_names = output_names
        self.start = start

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        sequence: Any,
        *,
        symbols: Any = None,
        output_names: Any = None,
        start: Any = 0,
        axes: Any = None,
    ) -> ActivationDisplay:
        """Draw the activations of a fitted estimator for one sequence.

        Where the estimator reads sequences as a whole, the outputs at a step are those for the sequence up to it.

        Parameters
        ----------
        estimator : EvokeClassifier, EvokeRegressor or EvokeForecaster
            A fitted estimator.
        sequence : array_like of shape (n_steps, n_features), or (n_steps,) for the series of a forecaster
            The input. The network starts from the zero state.
        symbols
            As in `from_activations`.
        output_names : sequence of str, optional
            Names for the legend. By default, the classes of a classifier that has an output for each of them.
        start, axes
            As in `from_activations`.

        Returns
        -------
        ActivationDisplay

        Raises
        ------
        TypeError, ValueError
            Something other than one sequence, an estimator that reads thirds of sequences, which are not known before
            their end, or an argument as in `from_activations`.
        """
        check_is_fitted(estimator, "readout_")
        inputs = to_float(to_array(sequence, "sequence"), "sequence")
        if inputs.ndim not in (1, 2):
            raise ValueError(f"sequence must be one sequence, 2-D, got shape {inputs.shape}")
        given = sequence if hasattr(sequence, "columns") else inputs
        activations = np.asarray(estimator.transform(given))
        outputs = _outputs(estimator, given, activations)
        if output_names is None and len(getattr(estimator, "classes_", ())) == outputs.shape[1] > 1:
            output_names = [str(label) for label in estimator.classes_]
        return cls.from_activations(
            activations, outputs=outputs, inputs=inputs.reshape(len(inputs), -1), symbols=symbols,
            output_names=output_names, start=start, axes=axes,
        )  # fmt: skip

    @classmethod
    def from_activations(
        cls,
        activations: Any,
        *,
        outputs: Any = None,
        inputs: Any = None,
        symbols: Any = None,
        output_names: Any = None,
        start: Any = 0,
        axes: Any = None,
    ) -> ActivationDisplay:
        """Draw activations of a network, for instance those of `evoke.lstm.forward`.

        Parameters
        ----------
        activations : array_like of shape (n_steps, n_cells)
            The paper's phi(t).
        outputs : array_like of shape (n_steps, n_outputs), optional
            Decision values, or predicted values.
        inputs : array_like of shape (n_steps, n_features), optional
            The sequence, drawn if there are no `symbols`.
        symbols : str or sequence of str of length n_steps, optional
            The input symbol of each step, drawn instead of `inputs`.
        output_names : str or sequence of str of length n_outputs, optional
            Names for the legend.
        start : int, default=0
            Time of the first step.
        axes : sequence of matplotlib Axes, Figure or SubFigure, optional
            Axes to draw into: one for the activations, one for `outputs` if given, and one for `symbols` or `inputs` if
            given. Or a figure to create them in. By default, a new pyplot figure.

        Returns
        -------
        ActivationDisplay

        Raises
        ------
        ValueError
            Arrays of other shapes.
        """
        activations = to_floats("activations", activations, 2)
        n_steps = len(activations)
        if outputs is not None:
            outputs = to_floats("outputs", outputs, 2)
        if inputs is not None:
            inputs = to_floats("inputs", inputs, 2)
        for name, values in (("outputs", outputs), ("inputs", inputs), ("symbols", symbols)):
            if values is not None and len(values) != n_steps:
                raise ValueError(f"{name} must have the {n_steps} steps of activations, got {len(values)}")
        if output_names is not None:
            n_outputs = 0 if outputs is None else outputs.shape[1]
            if len(output_names) != n_outputs:
                raise ValueError(f"output_names must name {n_outputs} outputs, got {len(output_names)}")
        display = cls(
            activations=activations, outputs=outputs, inputs=inputs, symbols=symbols, output_names=output_names,
            start=start,
        )  # fmt: skip
        return display.plot(axes)

    def plot(self, axes: Any = None) -> ActivationDisplay:
        """Draw the display.

        Parameters
        ----------
        axes
            As in `from_activations`.

        Returns
        -------
        ActivationDisplay
            Itself.
        """
        heights = self._heights()
        purpose = "one for the activations, one for outputs if given, one for symbols or inputs if given"
        self._take_axes(axes, len(heights), purpose, sharex=True, height_ratios=heights)
        time = self.start + np.arange(len(self.activations))
        self.lines_, self.output_lines_, self.input_lines_, self.images_, self.blocks_ = [], [], [], {}, []
        self._draw_cells(self.axes_[0], time)
        if self.outputs is not None:
            ax = self.axes_[1]
            self.output_lines_ = self._draw_channels(ax, time, "outputs", self.output_names)
            ax.set_ylabel("output")
        if self.symbols is not None:
            self._draw_symbols(self.axes_[-1])
        elif self.inputs is not None:
            self.input_lines_ = self._draw_channels(self.axes_[-1], time, "inputs", None)
            self.axes_[-1].set_ylabel("input")
        for ax in self.axes_:
            ax.set_xlim(time[0] - 0.5, time[-1] + 0.5)
        self.axes_[-1].set_xlabel("t")
        integer_ticks(self.axes_[-1])
        return self

    def _draw_cells(self, ax, time) -> None:
        n_cells = self.activations.shape[1]
        reach = _largest(self.activations)
        if not 0.0 < reach < 0.5:  # small activations are drawn larger
            reach = max(1.0, reach)
        if n_cells > _MOST_LINES:
            self._draw_image(ax, time, "activations", reach, None)
            ax.set_ylabel("cell")
            return
        for k, values in enumerate(self.activations.T):
            ax.axhspan(k - _HALF_BAND, k + _HALF_BAND, color="0.95", linewidth=0, zorder=0)
            ax.axhline(k, color="0.8", linewidth=0.6, zorder=0.5)
            heights = k - _HALF_BAND / reach * values  # y points down
            self.lines_ += ax.plot(time, heights, color=COLOURS[0], linewidth=1.0)
        ax.set_yticks(range(n_cells), _numbers(n_cells))
        ax.set(ylim=(n_cells - 0.5, -0.5), ylabel=f"cell (bands: ±{reach:.2g})")

    def _draw_channels(self, ax, time, which, names) -> list[Any]:
        """Draw a line for each channel, or an image if there are more channels than colours; return the lines."""
        values = getattr(self, which)
        n_channels = values.shape[1]
        if n_channels > len(COLOURS):
            self._draw_image(ax, time, which, _largest(values) or 1.0, names)
            return []
        if which == "outputs":
            ax.axhline(0.0, color="0.7", linewidth=0.8)
        lines = []
        for column, colour in zip(values.T, COLOURS, strict=False):
            lines += ax.plot(time, column, color=colour, linewidth=1.0)
        if names is not None or n_channels > 1:
            labels = _numbers(n_channels) if names is None else list(map(str, names))
            ax.legend(lines, labels, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
        return lines

    def _draw_image(self, ax, time, which, reach, names) -> None:
        """Draw a row for each column of the values, in colours that are symmetric about zero."""
        values = getattr(self, which)
        n_rows = values.shape[1]
        self.images_[which] = image = ax.imshow(
            values.T, cmap="RdBu_r", vmin=-reach, vmax=reach, aspect="auto", interpolation="nearest",
            extent=(time[0] - 0.5, time[-1] + 0.5, n_rows - 0.5, -0.5),
        )  # fmt: skip
        # inside the axes, which thus stay as wide as those without a bar
        self.figure_.colorbar(image, cax=ax.inset_axes([1.01, 0.0, 0.012, 1.0]))
        labels = _numbers(n_rows) if names is None else list(map(str, names))
        every = -(-n_rows // _MOST_LABELS)
        ax.set_yticks(range(0, n_rows, every), labels[::every], fontsize="small")

    def _draw_symbols(self, ax) -> None:
        ax.set(ylim=(0.0, 1.0), yticks=[])
        first = self.start
        for k, (symbol, steps) in enumerate(groupby(self.symbols)):
            length = len(list(steps))
            self.blocks_.append((str(symbol), first, first + length))
            ax.axvspan(first - 0.5, first + length - 0.5, color="0.9" if k % 2 else "0.78", linewidth=0)
            if length * _MOST_LETTERS >= len(self.symbols):
                ax.text(first + (length - 1) / 2, 0.5, str(symbol), ha="center", va="center_baseline", fontsize="small")
            first += length
        if len(self.blocks_) <= _MOST_GUIDES:
            for _, begin, _ in self.blocks_[1:]:
                for other in self.axes_[:-1]:
                    other.axvline(begin - 0.5, color="0.6", linewidth=0.6, linestyle=":", zorder=0.7)

    def _heights(self) -> list[float]:
        """Height of every panel in inches."""
        n_cells = self.activations.shape[1]
        heights = [0.8 + 0.4 * n_cells if n_cells <= _MOST_LINES else 4.0]
        if self.outputs is not None:
            heights.append(_height(self.outputs))
        if self.symbols is not None:
            heights.append(0.22)
        elif self.inputs is not None:
            heights.append(_height(self.inputs))
        return heights

    def _size(self) -> tuple[float, float]:
        return 8.0, 0.7 + sum(self._heights())


def _largest(values: FloatArray) -> float:
    """The largest absolute value of those that are finite."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _height(channels: FloatArray) -> float:
    """Height in inches of the panel of outputs or inputs."""
    n_channels = channels.shape[1]
    return 1.3 if n_channels <= len(COLOURS) else min(0.16 * n_channels, 3.0)


def _numbers(n: int) -> list[str]:
    return [str(k + 1) for k in range(n)]


def _outputs(estimator: Any, sequence: Any, activations: FloatArray) -> FloatArray:
    """Decision values, or predicted values, (n_steps, n_outputs)."""
    if getattr(estimator.fitted_, "pooling", None) is None:
        return estimator.readout_.decide(activations)
    reader = estimator.stream()
    answer = getattr(reader, "decision_function", reader.predict)
    return np.reshape(answer(sequence), (len(activations), -1))

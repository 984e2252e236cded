"""Explicit stateful readers, for data that come step by step; the estimators themselves keep no state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._core.ensemble import ensemble
from evoke._validation.arrays import FloatArray, to_array, to_float
from evoke._validation.errors import ParameterError, counted, refusal
from evoke._validation.parameters import check_integer
from evoke.estimators.fitted import ClassifierModel, SequenceModel
from evoke.estimators.repetition import read_repeatedly
from evoke.estimators.series_model import SeriesModel
from evoke.sequences.containers import Sequences, as_sequences
from evoke.sequences.features import one_row

__all__ = ["ClassifierStream", "SeriesStream", "Stream"]

ROWS_AT_ONCE = 65536  # of steps that are repeated
NUMBERS_AT_ONCE = 2**18  # activations of some steps, which stay in the cache until they are decided on
MOST_REPEATS = 2**53


class Stream:
    """Reads one sequence piece by piece: the state of the cells is carried from call to call.

    Reading 8 steps and then 12 gives the same bits as reading 20 at once. Where a model has one target a sequence, the
    predictions are those for a sequence that ends at each step; with ``n_points`` all steps so far are kept, so memory
    grows with the sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke import EvokeRegressor
    >>> X = np.random.default_rng(0).normal(size=(20, 1))
    >>> model = EvokeRegressor(n_generations=2, random_state=0).fit(X, X[:, 0].cumsum())
    >>> reader = model.stream()
    >>> first, then = reader.predict(X[:8]), reader.predict(X[8:])
    >>> np.array_equal(np.concatenate([first, then]), model.predict(X))
    True
    """

    def __init__(self, model: SequenceModel) -> None:
        self._model = model  # frozen: a later fit does not touch it
        self.reset()

    def reset(self) -> None:
        """Back to the zero state."""
        model = self._model
        self._states = [np.zeros((1, 2, model.network.n_cells)) for _ in model.networks]
        self._before: FloatArray | None = None  # the last rows that were read
        self._so_far = None if model.pooling is None else model.pooling.so_far(model.network)
        self._n_read = 0

    def __repr__(self) -> str:
        model = self._model
        networks = f"{counted(len(model.networks), 'network')} of {counted(model.network.n_cells, 'cell')}"
        return f"<{type(self).__name__} of {counted(model.features.n, 'feature')}, {networks}, {_said(self._n_read)}>"

    def transform(self, X: Any) -> FloatArray:
        """Activations of the next steps.

        Parameters
        ----------
        X : array_like of shape (n_steps, n_features)
            What is read.

        Returns
        -------
        ndarray of shape (n_steps, n_networks * n_cells)
            The paper's phi(t).
        """
        return self._read(self._checked(X, "X"))[0]

    def _decide(self, X: Any) -> FloatArray:
        """Decision values of the next steps."""
        sequences, model = self._checked(X, "X"), self._model
        n, size = len(sequences.rows), max(1, NUMBERS_AT_ONCE // model.n_read)
        if n <= size:
            return model.readout.decide(self._read(sequences)[1])
        values = np.empty((n, model.n_outputs))
        for begin in range(0, n, size):
            rows = sequences.rows[begin : begin + size]
            _, read = self._read(Sequences(rows, np.array([0, len(rows)]), "2d"))
            values[begin : begin + size] = model.readout.decide(read)
        return values

    def _read(self, sequences: Sequences) -> tuple[FloatArray, FloatArray]:
        """Activations of the next steps, and what the readout reads."""
        model, inputs = self._model, sequences
        if model.preparation is not None:
            inputs = model.preparation.apply(sequences, self._before)
            self._before = model.preparation.kept(sequences.rows, self._before)
        phi, states = ensemble(model.population, inputs.rows, inputs.offsets, np.stack(self._states))
        self._states = list(states)
        self._n_read += len(inputs.rows)
        if self._so_far is not None:
            return phi, self._so_far.features(phi, inputs.rows)
        return phi, phi if model.scaling is None else model.scaling.apply(phi)

    def _checked(self, X: Any, name: str) -> Sequences:
        """Steps that have the features of `fit`."""
        model, named = self._model, hasattr(X, "columns")
        sequences = as_sequences(
            X if named else to_array(X, name), name=name, n_columns=None if named else model.features.n
        )
        if sequences.container != "2d":
            raise ValueError(f"{name} must be 2-D: the next steps of one sequence")
        if named:
            model.features.check(X, sequences.rows, False, name)
        return sequences

    def predict(self, X: Any) -> NDArray[Any]:
        """Predictions of the next steps.

        Parameters
        ----------
        X : array_like of shape (n_steps, n_features)
            What is read.

        Returns
        -------
        ndarray of shape (n_steps,) or (n_steps, n_outputs)
            As the estimator's.
        """
        return self._model.answer(self._decide(X))

    def step(self, x: Any) -> Any:
        """Prediction of the next step.

        Parameters
        ----------
        x : float or (n_features,) array, or Series
            What is read.

        Returns
        -------
        label, float or ndarray of shape (n_outputs,)
            As the estimator's.
        """
        row = one_row(x)
        _, read = self._read(self._checked(to_row("x", x)[None] if row is None else row, "x"))
        return self._model.answer(self._model.readout.decide(read))[0]


class ClassifierStream(Stream):
    """A reader that also gives decision values.

    Examples
    --------
    >>> from evoke import EvokeClassifier, tasks
    >>> X, y = tasks.anbncn(5)
    >>> reader = EvokeClassifier(n_generations=2, random_state=0).fit(X, y).stream()
    >>> reader.decision_function(X[0]).shape, reader.step(X[1][0]).shape
    ((4, 4), (4,))
    """

    _model: ClassifierModel

    def decision_function(self, X: Any) -> FloatArray:
        """Decision values of the next steps.

        Parameters
        ----------
        X : array_like of shape (n_steps, n_features)
            What is read.

        Returns
        -------
        ndarray of shape (n_steps,) or (n_steps, n_outputs)
            Positive where an output says yes.
        """
        return self._model.shape(self._decide(X))

    def repeat(self, X: Any, times: int) -> Iterator[tuple[FloatArray, int]]:
        """Decision values while the same steps are read many times in a row.

        Where the network's activations have come back to the same bits, and every state repeats or counts by exact
        steps, what follows is known without being computed: a thousand million steps take milliseconds. The values, and
        the state after them, are those of reading step by step, bit for bit. Models with `scale`, `differences` or
        `pool` read step by step.

        Parameters
        ----------
        X : array_like of shape (n_steps, n_features)
            The steps.
        times : int
            How often they are read, at most 2^53.

        Returns
        -------
        iterator of (ndarray of shape (n,) or (n, n_outputs), int)
            Decision values of the next steps, and how often in a row these values come. The steps are read as it goes.

        Raises
        ------
        ValueError
            Steps that do not have the features of `fit`, or a number out of range.

        Examples
        --------
        >>> from evoke import EvokeClassifier, tasks
        >>> X, y = tasks.anbncn(5)
        >>> reader = EvokeClassifier(n_generations=2, random_state=0).fit(X, y).stream()
        >>> sum(len(values) * count for values, count in reader.repeat(X[0][1:2], 10**4))
        10000
        """
        steps = self._checked(X, "X")
        return self._repeat(steps.rows, check_integer("times", times, 1, MOST_REPEATS))

    def _repeat(self, rows: FloatArray, times: int) -> Iterator[tuple[FloatArray, int]]:
        model = self._model
        if model.pooling is None and model.preparation is None:
            for phi, count in read_repeatedly(model.networks, self._states, rows, times, self._settled):
                self._n_read += len(phi) * count
                yield model.shape(model.readout.decide(phi)), count
            return
        at_once = max(1, ROWS_AT_ONCE // len(rows))
        while times > 0:
            yield self.decision_function(np.tile(rows, (min(times, at_once), 1))), 1
            times -= at_once

    def _settled(self, phi: FloatArray, radius: float) -> bool:
        """Whether no decision changes its sign within this radius of the activations."""
        readout = self._model.readout
        if readout.kernel.name != "rbf":
            return False
        weights = np.abs(readout.dual_coef).sum(axis=0)
        # K falls by sqrt(2 gamma / e) a unit at most; the rounding errors are far below 1e-10
        steepest = np.sqrt(2.0 * readout.gamma / np.e)
        unsure = weights * (radius * steepest + 1e-10) + 1e-10 * np.abs(readout.intercept)
        return bool((np.abs(readout.decide(phi)) > unsure).all())


class SeriesStream:
    """Reads a series value by value and says what comes next: the state of the cells is carried from call to call.

    Fed with its own answers it gives the bits of `EvokeForecaster.generate`.

    Examples
    --------
    >>> from evoke import EvokeForecaster, tasks
    >>> y = tasks.superimposed_sines(2, 200)
    >>> reader = EvokeForecaster(washout=50, n_generations=2, random_state=0).fit(y).stream()
    >>> [reader.step(value) for value in y][-1].shape
    (1,)
    """

    def __init__(self, model: SeriesModel) -> None:
        if not isinstance(model, SeriesModel):
            raise ValueError(
                "a model with validation='rolling' cannot be read step by step; generate takes what is known as context"
            )
        self._model = model  # frozen: a later fit does not touch it
        self.reset()

    def reset(self) -> None:
        """Back to the zero state."""
        self._state = np.zeros((2, self._model.network.n_cells))
        self._n_read = 0

    def __repr__(self) -> str:
        model = self._model
        inputs = f" beside {counted(model.features.n, 'external input')}" if model.features.n else ""
        cells = counted(model.network.n_cells, "cell")
        return f"<SeriesStream of {counted(model.n_outputs, 'value')} a step{inputs}, {cells}, {_said(self._n_read)}>"

    def step(self, y: Any, x: Any = None) -> FloatArray:
        """Prediction (n_outputs,) of the next value.

        Parameters
        ----------
        y : float or (n_outputs,) array
            The value before it; 0 before the first.
        x : float or (n_features,) array, optional
            The external inputs of the step that is predicted.

        Returns
        -------
        ndarray of shape (n_outputs,)
            The value expected.
        """
        model = self._model
        last = finite_row("y", y, model.n_outputs)
        external = finite_row("x", () if x is None else x, model.features.n)
        row = one_row(x)
        if row is not None:
            model.features.check(row, external[None], False, "x")
        values, self._state = model.run_free(external[None], last, self._state)
        self._n_read += 1
        return values[0]


def _said(n_steps: int) -> str:
    return f"{counted(n_steps, 'step')} read" if n_steps else "nothing read"


def to_row(name: str, value: Any) -> FloatArray:
    """One step (n,). A lone bool is no number, though a column of the data may hold bools."""
    array = to_array(value, name)
    if array.dtype == bool and array.ndim == 0:
        raise refusal(name, "be a number, or an array of a step", value)
    if array.size > max(array.shape, default=1):
        raise ValueError(f"{name} must be one step, got shape {array.shape}")
    return to_float(array.reshape(-1), name)


def finite_row(name: str, value: Any, n: int) -> FloatArray:
    """One step (n,) of finite numbers."""
    try:
        row = to_row(name, value)
    except ParameterError:
        row = np.empty(0)
    if len(row) != n or not np.isfinite(row).all():
        raise refusal(name, f"be {n} finite number(s)", value)
    return row

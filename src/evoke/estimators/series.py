"""What is done with a model of series: they are continued, or predicted one step ahead, transformed and scored."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evoke._core import lstm
from evoke._validation.arrays import FloatArray
from evoke._validation.parameters import check_fraction, check_integer, is_sequence
from evoke._validation.warn import warn
from evoke.estimators.base import BaseEvoke, learned
from evoke.estimators.series_model import SeriesModel
from evoke.estimators.split import rows_after_washout
from evoke.estimators.streams import SeriesStream
from evoke.estimators.targets import with_weights
from evoke.forecasting.model import RollingModel
from evoke.metrics import r_squared
from evoke.sequences.containers import Sequences, Targets
from evoke.sequences.continuation import SeriesIndex, beside_X
from evoke.sequences.series import Series, inputs_of

__all__ = ["SeriesEstimator"]

MOST_STEPS = 10**9  # that a free run may be asked for


class SeriesEstimator(BaseEvoke, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """A model of series: the network reads ``[X(t) | feedback_scale * y(t - 1)]``, its readout says y(t)."""

    _model: type[SeriesModel] = SeriesModel
    _fitted = BaseEvoke._fitted | {"n_outputs_", "_flat", "_feedback_scale", "_state", "_last", "_index"}

    n_outputs_ = learned("n_outputs")

    def predict_one_step(self, y: Any, X: Any = None) -> Any:
        """Predictions of every value of given series from the true values before it (teacher forcing).

        Parameters
        ----------
        y, X
            Series and external inputs, as in `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            The structure of y. The predictions within the washout are those of a network that has yet to find its
            phase.
        """
        model, series, predicted = self._predicted(y, X)
        return series.mirror(predicted)

    def transform(self, y: Any, X: Any = None) -> Any:
        """Activations of the cells on given series, the paper's phi(t).

        Parameters
        ----------
        y, X
            Series and external inputs, as in `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            The structure of y with n_cells columns. After ``set_output(transform="pandas")`` a data frame, for a list
            of series a list of them, with the columns `get_feature_names_out` and the index of the series if it has
            one.
        """
        model, series, external = self._given(y, X)
        return self._as_output(model.follow(series, external), y, series.sequences)

    def fit_transform(self, y: Any, X: Any = None, **fit_params: Any) -> Any:
        """Fit to y and X, then give the activations on y: `fit` and `transform` in one.

        Parameters
        ----------
        y, X
            As in `fit`.
        **fit_params
            Further arguments of `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            As that of `transform`.
        """
        return self.fit(y, X, **fit_params).transform(y, X)

    def score(self, y: Any, X: Any = None, sample_weight: Any = None) -> float:
        """R^2 of the predictions one step ahead after the washout, averaged over the outputs.

        For an output that does not vary it is 1 if every prediction is exact and 0 otherwise. Steps count by their
        `sample_weight`. The error of a free run is that of `generate`, for instance by `evoke.tasks.nrmse`.

        Parameters
        ----------
        y, X, sample_weight
            As in `fit`.

        Returns
        -------
        float
            At most 1.
        """
        model, series, predicted = self._predicted(y, X)
        rows = rows_after_washout(series.sequences, model.washout, "y")
        true = with_weights(Targets(series.sequences.rows, False), sample_weight, series.sequences, of="y")
        weights = None if true.weights is None else true.weights[rows]
        return r_squared(true.values[rows], predicted[rows], weights)

    # ------------------------------------------------------------------ free runs

    def generate(self, n_steps: int, context: Any = None, X: Any = None, *, return_interval: Any = None) -> Any:
        """Continue a series from the network's own output.

        Parameters
        ----------
        n_steps : int
            0 is allowed.
        context : (T,) or (T, n_outputs) array, optional
            The series to be continued, which the network reads first; two seasons and some steps, or as many as there
            are. By default the (last) series of `fit`.
        X : (n_steps, n_features) array, or with `context` (T + n_steps, n_features), optional
            External inputs, where the model was trained with some: those of the context and of the steps generated.
            If X and the series that is continued have an index, that of X must be the one that goes on after it.
        return_interval : float, optional
            The share of the values to come that the intervals are to hold, 0.9 for instance; for a model with
            ``validation="rolling"``. Their width comes from the errors of the forecasts from the rolling origins: the
            fewer of them are independent, the wider.

        Returns
        -------
        ndarray of shape (n_steps,) or (n_steps, n_outputs), Series or data frame
            With `return_interval` three of them: the values, and the lower and upper ends of the intervals.
            As y in `fit`. Where the series that is continued is a pandas object, so is what is returned: with its name
            or columns, and with the labels and the time zone that follow in its index. The model keeps no state: the
            same call gives the same values.

        Raises
        ------
        ParameterError
            An n_steps that is no integer of at least 0.
        ValueError
            A context or X that do not fit the model or are not finite, or whose index is not in order.
        FloatingPointError
            The run diverges: an output is not finite.

        Warns
        -----
        UserWarning
            The index cannot go on, as its steps are not regular times or numbers: what is returned is numbered from 0.
            The forecast leaves the range of the data by more than that range. The context has fewer steps than the
            model needs: differences, lags of networks and readouts, a season, or the washout.
        """
        model = self._fitted_model()
        n_steps = check_integer("n_steps", n_steps, 0, MOST_STEPS)
        if return_interval is not None:
            check_fraction("return_interval", return_interval)
            if not isinstance(model, RollingModel):
                raise ValueError("return_interval takes a model with validation='rolling', which knows its errors")
        known, external, index = self._known(model, n_steps, context, X)
        if isinstance(model, RollingModel):
            values, widths = model.continued(known, external, n_steps, return_interval)
        else:
            values, widths = self._free_run(model, known, external), None
        odd = ~np.isfinite(values).all(axis=1)
        if odd.any():
            raise FloatingPointError(f"the free run diverges: its output is not finite at step {int(np.argmax(odd))}")
        forecasts = [values] if return_interval is None else [values, values - widths, values + widths]
        forecasts = [part[:, 0] if model.flat else part for part in forecasts]
        if index is not None:
            forecasts = [index.wrap(part) for part in forecasts]
        return forecasts[0] if return_interval is None else tuple(forecasts)

    @staticmethod
    def _known(model, n_steps: int, context, X) -> tuple[FloatArray | None, FloatArray, SeriesIndex | None]:
        """The series to be continued, None for that of `fit`, with its external inputs and its index."""
        if context is None:
            index = model.index
            external = model.read_external(
                X, np.array([n_steps]), False, "what is generated", beside_X(X, index, n_steps)
            )
            return None, external, index
        given = model.read(context, "context")
        series, index = given.sequences, given.end
        if series.container != "2d":
            raise ValueError("context must be one series, got a list")
        if len(series.rows) < model.n_needed:
            warn(
                f"context has n_samples={len(series.rows)}, but the model needs {model.n_needed} steps to go by: the "
                "forecast may be far off, and outside its intervals"
            )
        external = model.read_external(
            X, np.array([len(series.rows) + n_steps]), False, "context with what is generated",
            beside_X(X, index, n_steps, series.index),
        )  # fmt: skip
        return series.rows, external, index

    @staticmethod
    def _free_run(model: SeriesModel, known: FloatArray | None, external: FloatArray) -> FloatArray:
        """What one network says after `known`."""
        if known is None:
            return model.run_free(external, model.last, model.end)[0]
        n_known = len(known)
        series = Sequences(known, np.array([0, n_known]), "2d")
        inputs = inputs_of(series, external[:n_known], model.feedback_scale)
        _, states = lstm.sequences(model.network, inputs.rows, inputs.offsets)
        return model.run_free(external[n_known:], known[-1], states[0])[0]

    def predict(self, fh: Any, X: Any = None, *, return_interval: Any = None) -> Any:
        """Values at a forecasting horizon after the end of the (last) series of `fit`.

        Parameters
        ----------
        fh : int or array_like of int
            Steps ahead, each at least 1; 3 means the third value after the end, and only that one.
        X : (max(fh), n_features) array, optional
            External inputs of the steps up to the furthest.
        return_interval : float, optional
            As in `generate`.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs), Series or data frame
            A value for each element of `fh`, in its order; of the kind that `generate` returns, with `return_interval`
            three of them.
        """
        check_is_fitted(self)
        if is_sequence(fh) and len(fh) > 0:
            steps = [check_integer(f"fh[{i}]", step, 1, MOST_STEPS) for i, step in enumerate(fh)]
        else:
            steps = [check_integer("fh", fh, 1, MOST_STEPS)]
        found = self.generate(max(steps), X=X, return_interval=return_interval)
        chosen = [
            (values.iloc if hasattr(values, "iloc") else values)[np.array(steps) - 1]
            for values in (found if isinstance(found, tuple) else (found,))
        ]
        return chosen[0] if return_interval is None else tuple(chosen)

    def stream(self) -> SeriesStream:
        """An explicit stateful reader that starts from the zero state; the estimator itself keeps no state.

        Returns
        -------
        SeriesStream
            Reads value by value.

        Raises
        ------
        ValueError
            The model has ``validation="rolling"``: its `generate` takes what is known as ``context``.
        """
        return SeriesStream(self._fitted_model())

    # ------------------------------------------------------------------ the model

    def _model_of(self, state: dict[str, Any]) -> Any:
        return RollingModel if "_rolling" in state else SeriesModel

    def _given(self, y, X) -> tuple[Any, Series, FloatArray]:
        """The model, series and external inputs."""
        model = self._fitted_model()
        series = model.read(y)
        given = series.sequences
        return model, series, model.read_external(X, given.lengths, given.container == "list", "y", given.index)

    def _predicted(self, y, X) -> tuple[Any, Series, FloatArray]:
        """The model, the series and the prediction of each of its values from the true ones before it."""
        model, series, external = self._given(y, X)
        return model, series, model.one_step(series, external)

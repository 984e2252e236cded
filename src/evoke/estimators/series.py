"""What is done with a model of series that are given: predictions one step ahead, activations, their score."""

from __future__ import annotations

from typing import Any

from evoke._validation.arrays import FloatArray
from evoke.estimators.base import BaseEvoke, learned
from evoke.estimators.fitted import SeriesModel
from evoke.estimators.split import rows_after_washout
from evoke.estimators.targets import with_weights
from evoke.metrics import r_squared
from evoke.sequences.containers import Targets
from evoke.sequences.series import Series

__all__ = ["SeriesEstimator"]


class SeriesEstimator(BaseEvoke, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """A model of series: the network reads ``[X(t) | feedback_scale * y(t - 1)]``, its readout says y(t)."""

    _model: type[SeriesModel] = SeriesModel
    _fitted = BaseEvoke._fitted | {"n_outputs_", "_flat", "_feedback_scale", "_state", "_last", "_index"}

    n_outputs_ = learned("n_outputs")

    def predict_one_step(self, y, X=None):
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

    def transform(self, y, X=None):
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

    def fit_transform(self, y, X=None, **fit_params):
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

    def score(self, y, X=None, sample_weight=None):
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

"""What is done with a model of series that are given: predictions one step ahead, activations, their score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from evoke._validation.parameters import check_integer, check_positive
from evoke.estimators.base import BaseEvoke, on_snapshot
from evoke.estimators.split import rows_behind_washout
from evoke.estimators.targets import with_weights
from evoke.metrics import r_squared
from evoke.persistence.checks import check_flags, check_values
from evoke.sequences.containers import Targets
from evoke.sequences.features import check_features
from evoke.sequences.series import Series, as_external, as_series, inputs_of

__all__ = ["SeriesEstimator"]

FloatArray = NDArray[np.float64]


class SeriesEstimator(BaseEvoke, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """A model of series: the network reads ``[X(t) | feedback_scale * y(t - 1)]``, its readout says y(t)."""

    _fitted = BaseEvoke._fitted | {"n_outputs_", "_flat", "_feedback_scale", "_state", "_last"}

    def _n_inputs(self) -> int:
        return self.n_features_in_ + self.n_outputs_

    def _check_fitted(self) -> None:
        check_integer("n_outputs_", self.n_outputs_, 1)
        super()._check_fitted()
        check_flags(_flat=self._flat)
        if len(self.readout_.intercept) != self.n_outputs_ or (self._flat and self.n_outputs_ != 1):
            raise ValueError(f"the readout does not have n_outputs_={self.n_outputs_!r} outputs")
        check_positive("_feedback_scale", self._feedback_scale)
        check_values("_state", self._state, (2, len(self.genome_)))
        check_values("_last", self._last, (self.n_outputs_,))

    @on_snapshot
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
        series, phi = self._follow(y, X)
        return series.mirror(self.readout_.decide(phi))

    @on_snapshot
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
        series, phi = self._follow(y, X)
        return self._as_output(phi, y, series.sequences)

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

    @on_snapshot
    def score(self, y, X=None, sample_weight=None):
        """R^2 of the predictions one step ahead behind the washout, averaged over the outputs.

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
        series, phi = self._follow(y, X)
        rows = rows_behind_washout(series.sequences, self._washout, "y")
        true = with_weights(Targets(series.sequences.rows, False), sample_weight, series.sequences)
        weights = None if true.weights is None else true.weights[rows]
        return r_squared(true.values[rows], self.readout_.decide(phi[rows]), weights)

    def _follow(self, y, X, name: str = "y") -> tuple[Series, FloatArray]:
        """The series and the activations of the network that is told them."""
        series = self._checked(y, name)
        lengths, several = series.sequences.lengths, series.sequences.container == "list"
        external = self._external(X, lengths, several, name)
        return series, self._activations(inputs_of(series.sequences, external, self._feedback_scale))

    def _external(self, X, lengths, several: bool, of: str) -> FloatArray:
        """Rows of the external inputs, whose features must be those of `fit`."""
        external = as_external(X, lengths, several, self.n_features_in_, "X", of)
        if X is not None:
            check_features(self, X, external, several)
        return external

    def _checked(self, y, name: str) -> Series:
        check_is_fitted(self, "readout_")
        series = as_series(y, name)
        n_outputs = series.sequences.rows.shape[1]
        if n_outputs != self.n_outputs_:
            raise ValueError(f"{name} has {n_outputs} columns, but the model was trained with {self.n_outputs_}")
        return series

"""What the estimators of sequences have in common: reading X and y, activations, answers in the structure of X."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from evoke.estimators.base import BaseEvoke, on_snapshot
from evoke.estimators.streams import Stream
from evoke.estimators.targets import with_weights
from evoke.persistence.checks import check_flags
from evoke.sequences.containers import Sequences, Targets, as_sequences, as_targets
from evoke.sequences.features import Features, check_features

__all__ = ["SequenceEstimator"]

FloatArray = NDArray[np.float64]


class SequenceEstimator(BaseEvoke, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """An estimator whose X are the inputs of the network, and whose y are what its readout is to say of them.

    Subclasses have ``_answer``, which makes predictions of decision values (n_rows, n_outputs).
    """

    _fitted = BaseEvoke._fitted | {"_per_sequence"}

    def _check_fitted(self) -> None:
        super()._check_fitted()
        check_flags(_per_sequence=self._per_sequence)

    def _read(self, X, y, lengths, X_val, y_val, sample_weight, sample_weight_val):
        """Sequences, targets, the pair of those held out or None, and what is learned of the features."""
        self._check_parameters()
        given, X = X, as_sequences(X, lengths)
        features = Features(given, X.rows, X.container == "list")
        y = with_weights(as_targets(y, X), sample_weight, X)
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: one of them is missing")
        if X_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val goes with X_val and y_val, which are missing")
            return X, y, None, vars(features)
        given, X_val = X_val, as_sequences(X_val, name="X_val", n_columns=X.rows.shape[1])
        model = copy.copy(self)  # with the features of X: errors and warnings name its class
        model._learn(dict(vars(features)))
        check_features(model, given, X_val.rows, X_val.container == "list", "X_val")
        y_val = with_weights(as_targets(y_val, X_val, name="y_val"), sample_weight_val, X_val, "sample_weight_val")
        if y_val.per_sequence != y.per_sequence or y_val.values.shape[1:] != y.values.shape[1:]:
            raise ValueError("y_val must be of the same kind as y: one a step or one a sequence, as many outputs")
        return X, y, (X_val, y_val), vars(features)

    def _checked(self, X, lengths) -> Sequences:
        check_is_fitted(self, "readout_")
        sequences = as_sequences(X, lengths)
        check_features(self, X, sequences.rows, sequences.container == "list")
        return sequences

    def _apply(self, answer: Callable[[FloatArray], NDArray[Any]], X, lengths):
        """What `answer` makes of the decision values, in the structure of X or one a sequence."""
        sequences = self._checked(X, lengths)
        phi = self._activations(sequences)
        if self._per_sequence:
            return answer(self.readout_.decide(phi[sequences.offsets[1:] - 1]))
        return sequences.mirror(answer(self.readout_.decide(phi)))

    def _predicted_and_true(self, X, y, lengths, sample_weight) -> tuple[NDArray[Any], Targets, Sequences]:
        """Predictions and targets, flat, and the sequences they belong to."""
        sequences = self._checked(X, lengths)
        targets = with_weights(as_targets(y, sequences), sample_weight, sequences)
        predicted = self.predict(X, lengths)
        if not self._per_sequence and sequences.container in ("list", "3d"):
            predicted = np.concatenate(list(predicted))
        if targets.per_sequence != self._per_sequence or targets.values.shape != predicted.shape:
            raise ValueError("y must be of the kind that the model was trained with: one a step or one a sequence")
        return predicted, targets, sequences

    @on_snapshot
    def transform(self, X, lengths=None):
        """Activations of the cells, the paper's phi(t).

        Parameters
        ----------
        X, lengths
            Sequences, as in `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            The structure of X with n_cells columns. After ``set_output(transform="pandas")`` a data frame for a 2-D X
            and a list of data frames, one a sequence, for a list or a 3-D X; their columns are
            `get_feature_names_out`, and each has the index of its sequence if that is a data frame too.
        """
        sequences = self._checked(X, lengths)
        return self._as_output(self._activations(sequences), X, sequences)

    def fit_transform(self, X, y=None, lengths=None, **fit_params):
        """Fit to X and y, then give the activations on X: `fit` and `transform` in one.

        Parameters
        ----------
        X, y, lengths
            As in `fit`.
        **fit_params
            Further arguments of `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            As that of `transform`.
        """
        return self.fit(X, y, lengths=lengths, **fit_params).transform(X, lengths)

    def stream(self) -> Stream:
        """An explicit stateful reader that starts from the zero state; the estimator itself keeps no state.

        Returns
        -------
        Stream
            Which reads step by step.
        """
        check_is_fitted(self, "readout_")
        return Stream(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

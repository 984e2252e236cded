"""What the estimators of sequences have in common: reading X and y, activations, answers in the structure of X."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from evoke._validation.arrays import FloatArray
from evoke.estimators.base import BaseEvoke
from evoke.estimators.fitted import SequenceModel
from evoke.estimators.split import Data
from evoke.estimators.streams import Stream
from evoke.estimators.targets import with_weights
from evoke.sequences.containers import Sequences, Targets, as_sequences, as_targets
from evoke.sequences.features import Features

__all__ = ["SequenceEstimator"]


class Given(NamedTuple):
    """What `fit` was given."""

    data: Data
    held_out: Data | None
    features: Features


class SequenceEstimator(BaseEvoke, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """An estimator whose X are the inputs of the network, and whose y are what its readout is to predict."""

    _model: type[SequenceModel]
    _fitted = BaseEvoke._fitted | {"_per_sequence"}

    def _read(self, X, y, lengths, X_val, y_val, sample_weight, sample_weight_val) -> Given:
        """The arguments of `fit`, checked and in flat form."""
        self._check_parameters()
        sequences = as_sequences(X, lengths)
        features = Features.of(type(self).__name__, X, sequences.rows, sequences.container == "list")
        data = Data(sequences, with_weights(as_targets(y, sequences), sample_weight, sequences))
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: one of them is missing")
        if X_val is None:
            if sample_weight_val is not None:
                raise ValueError("sample_weight_val goes with X_val and y_val, which are missing")
            return Given(data, None, features)
        val = as_sequences(X_val, name="X_val", n_columns=features.n)
        features.check(X_val, val.rows, val.container == "list", "X_val")
        targets = with_weights(as_targets(y_val, val, name="y_val"), sample_weight_val, val, "sample_weight_val")
        if targets.per_sequence != data.y.per_sequence or targets.values.shape[1:] != data.y.values.shape[1:]:
            raise ValueError("y_val must be of the same kind as y: one a step or one a sequence, as many outputs")
        return Given(data, Data(val, targets), features)

    def _apply(self, answer: Callable[[Any, FloatArray], NDArray[Any]], X, lengths):
        """What `answer` makes of the model and its decision values, in the structure of X or one per sequence."""
        model = self._fitted_model()
        sequences = model.read(X, lengths)
        return model.mirror(answer(model, model.decide(sequences)), sequences)

    def _predicted_and_true(self, X, y, lengths, sample_weight) -> tuple[NDArray[Any], Data]:
        """Predictions, flat, and the sequences with the true targets."""
        model = self._fitted_model()
        sequences = model.read(X, lengths)
        targets: Targets = with_weights(as_targets(y, sequences), sample_weight, sequences)
        predicted = model.answer(model.decide(sequences))
        if targets.per_sequence != model.per_sequence or targets.values.shape != predicted.shape:
            raise ValueError("y must be of the kind that the model was trained with: one a step or one a sequence")
        return predicted, Data(sequences, targets)

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
            and a list of data frames, one per sequence, for a list or a 3-D X; their columns are
            `get_feature_names_out`, and each has the index of its sequence if that is a data frame too.
        """
        model = self._fitted_model()
        sequences: Sequences = model.read(X, lengths)
        return self._as_output(model.activations(sequences), X, sequences)

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
            Reads step by step.
        """
        return Stream(self._fitted_model())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags

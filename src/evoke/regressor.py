"""Regression on sequences, or on their steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from evoke.base import on_snapshot, rows_behind_washout
from evoke.documented import ESTIMATORS, documented
from evoke.parameters import store
from evoke.persistent import check_flags
from evoke.scores import r_squared
from evoke.sequence_estimator import SequenceEstimator
from evoke.sequences import share_prefixes
from evoke.targets import encode_values, real_values

__all__ = ["EvokeRegressor"]

FloatArray = NDArray[np.float64]


@documented(ESTIMATORS)
class EvokeRegressor(RegressorMixin, SequenceEstimator):
    """Regression on sequences: an evolved LSTM network read by support vector regression (Evoke).

    Enforced SubPopulations search the weights of the network. For every candidate, a support vector regression is
    trained on the cells' activations over the training part of the sequences; its error there and on the validation
    part is the candidate's fitness (paper, section 2).

    Parameters
    ----------
    {n_cells cell gate_bias weight_range n_generations subpopulation_size n_trials mutation_scale}
    {burst_patience burst_scale credit objective readout kernel gamma}
    C : float, default=100.0
        Capacity: the price of an error beyond `epsilon`, of a squared error with ``readout="lssvm"``.
    {epsilon tol solver washout validation random_state n_jobs callbacks warm_start verbose refit}

    Attributes
    ----------
    n_outputs_ : int
        Number of values a step, or a sequence.
    {genome_ readout_ history_ best_fitness_ n_evaluations_}
    n_features_in_ : int
        Number of features.
    {feature_names_in_}

    Examples
    --------
    >>> import numpy as np
    >>> from evoke import EvokeRegressor
    >>> X = np.random.default_rng(0).normal(size=(6, 20, 1))
    >>> y = np.cumsum(X[:, :, 0], axis=1)
    >>> EvokeRegressor(n_generations=5, random_state=0).fit(X, y).predict(X).shape
    (6, 20)
    """

    _fitted = SequenceEstimator._fitted | {"n_outputs_", "_flat"}

    def __init__(
        self,
        n_cells=10,
        cell="evolino",
        gate_bias=(0.0, 0.0, 0.0),
        weight_range=0.5,
        n_generations=50,
        subpopulation_size=40,
        n_trials=5,
        mutation_scale=0.01,
        burst_patience=5,
        burst_scale=None,
        credit="best",
        objective="squared",
        readout="svm",
        kernel="rbf",
        gamma=0.25,
        C=100.0,
        epsilon=1e-3,
        tol=1e-3,
        solver="auto",
        washout=0,
        validation="half",
        random_state=None,
        n_jobs=None,
        callbacks=None,
        warm_start=False,
        verbose=0,
        refit=False,
    ):
        store(locals())

    # ------------------------------------------------------------------ fitting

    def fit(self, X, y, lengths=None, X_val=None, y_val=None, sample_weight=None, sample_weight_val=None):
        """Evolve a network and train its readout.

        Parameters
        ----------
        {X}
        y : targets with the structure of X
            One value a step, or rows of several; for a list or 3-D X also one value a sequence, which is read off the
            last step; several for each sequence are a row of shape (1, n_outputs).
        {lengths X_val sample_weight sample_weight_val}

        Returns
        -------
        self

        Raises
        ------
        ValueError
            A parameter out of range; data that are empty, ragged in the wrong place or not finite; weights that are
            negative, or zero for all that is trained on or held out.
        KeyboardInterrupt
            On Ctrl-C. The best network so far is kept: the estimator is fitted if one generation was completed.
        """
        X, y, held_out, features = self._read(X, y, lengths, X_val, y_val, sample_weight, sample_weight_val)
        everything, encoded, weights, *parts = self._divide(X, y, encode_values, held_out)
        problem, final = self._pose(share_prefixes(everything), encoded, *parts, weights=weights)
        learned = features | {
            "n_outputs_": len(problem.train.targets), "_per_sequence": y.per_sequence, "_flat": y.values.ndim == 1,
        }  # fmt: skip
        self._evolve(problem, final, lambda _genome: learned)
        return self

    @on_snapshot
    def predict(self, X, lengths=None):
        """Values of the steps, or of the sequences where the model was trained so.

        Parameters
        ----------
        X, lengths
            Sequences, as in `fit`.

        Returns
        -------
        list of ndarray, or ndarray
            The structure of X with a value (or a row of several) a step, or one a sequence.
        """
        return self._apply(self._answer, X, lengths)

    @on_snapshot
    def score(self, X, y, lengths=None, sample_weight=None):
        """R^2 of the predictions behind the washout, averaged over the outputs.

        For an output that does not vary it is 1 if every prediction is exact and 0 otherwise. Steps count by their
        `sample_weight`.

        Parameters
        ----------
        X, y, lengths, sample_weight
            As in `fit`.

        Returns
        -------
        float
            At most 1.
        """
        predicted, true, sequences = self._predicted_and_true(X, y, lengths, sample_weight)
        counted = slice(None) if self._per_sequence else rows_behind_washout(sequences, self._washout, "X")
        values = real_values(true, sequences)
        weights = None if true.weights is None else true.weights[counted]
        return r_squared(values[counted], predicted[counted], weights)

    def _answer(self, decisions: FloatArray) -> FloatArray:
        return decisions[:, 0] if self._flat else decisions

    def _check_fitted(self) -> None:
        super()._check_fitted()
        check_flags(_flat=self._flat)
        if len(self.readout_.intercept) != self.n_outputs_ or (self._flat and self.n_outputs_ != 1):
            raise ValueError(f"the readout does not have n_outputs_={self.n_outputs_!r} outputs")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

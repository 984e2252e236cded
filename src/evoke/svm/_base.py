"""What the kernel machines share: their parameters, the model that a fit leaves, decision values."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from evoke._core.kernel import Kernel, decide
from evoke._validation.errors import ParameterError, refusal, shown
from evoke._validation.parameters import check_integer, check_positive
from evoke._validation.targets import check_labels_to_score, place_in_rows
from evoke.metrics import accuracy, r_squared
from evoke.persistence.checks import check_flags, check_labels, check_values
from evoke.persistence.model import Persistent
from evoke.sequences.features import Features
from evoke.svm._calibration import probabilities
from evoke.svm._data import read_labels, read_rows, read_values
from evoke.svm._kernels import (
    check_kernel,
    check_square,
    is_precomputed,
    make_kernel,
    overflow,
    values_between,
)
from evoke.svm._solve import check_solver_of_kernel, check_stopping
from evoke.svm._weights import read_weights

_LINEAR = Kernel("linear")


def of_one_fit(method: Any) -> Any:
    """A method that abides by the model of the last fit, which a fit in another thread does not touch meanwhile."""

    @wraps(method)
    def call(self, *args, **kwargs):
        check_is_fitted(self)
        model = object.__new__(type(self))
        model.__dict__ = vars(self).copy()
        return method(model, *args, **kwargs)

    return call


class KernelMachine(Persistent):
    """A decision function ``sum_i dual_coef_[i] K(support_vectors_[i], x) + intercept_``."""

    _not_always: tuple[str, ...] = ("feature_names_in_",)  # what some fits do not learn
    _fitted = frozenset({
        "n_features_in_", "feature_names_in_", "shape_fit_", "support_", "support_vectors_", "dual_coef_", "intercept_",
        "_kernel",
    })  # fmt: skip

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags

    def _check_fitted(self):
        check_integer("n_features_in_", self.n_features_in_, 1)
        check_values("dual_coef_", self.dual_coef_, (None, None))
        check_values("intercept_", self.intercept_, (None,))
        n_support = self.dual_coef_.shape[1]
        if not (isinstance(self.support_, np.ndarray) and self.support_.dtype.kind in "iu"):
            raise refusal("support_", "be an array of integers", self.support_)
        if is_precomputed(self.kernel_):
            check_values("support_vectors_", self.support_vectors_, (0, 0))
            if n_support and not 0 <= min(self.support_) <= max(self.support_) < self.n_features_in_:
                raise ValueError(f"support_ must hold columns of X, of which there are {self.n_features_in_}")
        elif isinstance(self.kernel_, Kernel) or callable(self.kernel_):
            check_values("support_vectors_", self.support_vectors_, (n_support, self.n_features_in_))
        else:
            raise refusal("kernel_", "be a Kernel, 'precomputed' or a function", self.kernel_)
        if np.shape(self.support_) != (n_support,) or len(self.dual_coef_) == 0 or len(self.intercept_) == 0:
            raise ValueError("support_, support_vectors_, dual_coef_ and intercept_ do not go together")

    def _check_kernel(self):
        """Parameters that every kernel machine has."""
        check_positive("C", self.C)
        check_kernel(self.kernel, self.gamma, self.coef0, self.degree)

    def _read_rows(self, X):
        """Rows of a fit, and their features as learned attributes."""
        rows = read_rows(X)
        if is_precomputed(self.kernel):
            check_square(rows)
        return rows, self._features(X, rows)

    def _features(self, X, rows):
        """Features of X, whose content are the rows, as learned attributes."""
        if type(X) is np.ndarray:
            return {"n_features_in_": rows.shape[1]}
        features = Features.of(type(self).__name__, X, rows, False)
        names = {} if features.names is None else {"feature_names_in_": features.names}
        return {"n_features_in_": features.n, **names}

    def _learn(self, **learned):
        """Take all that a fit has learned in one step.

        Until then the model is that of the last fit, whatever happens, and other threads never see a part of each.
        """
        state = vars(self).copy()
        for name in self._not_always:
            state.pop(name, None)
        state.update(learned)
        self.__dict__ = state

    def _make_kernel(self, X):
        """The kernel with its parameters in numbers, for a fit on X. Predictions use that of the fit, `kernel_`."""
        return make_kernel(self.kernel, self.gamma, self.coef0, self.degree, X)

    def _state_for_file(self):
        kernel = self.kernel_
        if is_precomputed(kernel):
            parts = {"kernel": "precomputed"}
        elif isinstance(kernel, Kernel):
            parts = {"kernel": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
        else:
            raise ParameterError(f"kernel is {shown(kernel)}, a function, which a model file cannot hold")
        return super()._state_for_file() | {"_kernel": parts}

    def _restore(self, state):
        kernel = state.pop("_kernel", None)
        super()._restore(state)
        if kernel is not None:
            name, *numbers = (kernel.get(key) for key in ("kernel", "gamma", "coef0", "degree"))
            self.kernel_ = name if is_precomputed(name) else Kernel(name, *numbers)

    def _coefficients(self):
        """Coefficients (n_support, n_outputs) of the decision functions."""
        return self.dual_coef_.T

    @property
    @of_one_fit
    def coef_(self) -> Any:
        """Weights of the features, ``decision = X @ coef_.T + intercept_``; only with a linear kernel.

        Returns
        -------
        ndarray of shape (n_outputs, n_features)
            A row for each of `intercept_`; read-only.

        Raises
        ------
        AttributeError
            The kernel is not "linear", or there was no fit.
        """
        if getattr(self.kernel_, "name", None) != "linear":
            raise AttributeError(f"coef_ is only available with kernel='linear', not with {shown(self.kernel_)}")
        weights = self._coefficients().T @ self.support_vectors_
        weights.flags.writeable = False  # predictions are made from dual_coef_
        return weights

    def _decide(self, X):
        """Decision values (n_samples, n_outputs)."""
        rows = read_rows(X)
        self._check_features(X, rows)
        coefficients = np.ascontiguousarray(self._coefficients())
        if type(self.kernel_) is Kernel:
            decisions = decide(rows, self.support_vectors_, coefficients, self.intercept_, self.kernel_)
        else:
            decisions = decide_given(self._values(rows), coefficients, self.intercept_)
        if not np.isfinite(decisions).all():
            raise overflow(self.kernel_, rows)
        return decisions

    def _check_features(self, X, rows):
        """X, whose content are the rows, must have the features of the fit."""
        names = getattr(self, "feature_names_in_", None)
        if type(X) is np.ndarray and rows.shape[1] == self.n_features_in_ and names is None:
            return
        if is_precomputed(self.kernel_) and rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input: with kernel='precomputed' a column for each row of the fit"
            )
        Features(type(self).__name__, self.n_features_in_, names).check(X, rows, False)

    def _values(self, rows):
        """Values of a kernel that is given, between rows and the support vectors."""
        if is_precomputed(self.kernel_):
            return rows.take(self.support_, axis=1)
        if len(self.support_) == 0:
            return np.empty((len(rows), 0))
        return values_between(self.kernel_, rows, self.support_vectors_, "kernel(X, support_vectors_)")


def decide_given(values: Any, coefficients: Any, intercept: Any) -> Any:
    """Decisions from kernel values (n, n_support): a linear machine, with a support vector for each output."""
    weights = np.ascontiguousarray(coefficients.T)
    return decide(np.ascontiguousarray(values), weights, np.eye(len(weights)), intercept, _LINEAR)


class IterativeMachine(KernelMachine):
    """A kernel machine that is trained by :func:`evoke.svm.solve`."""

    _fitted = KernelMachine._fitted | {"n_support_", "n_iter_", "dual_gap_", "fit_status_"}

    def _check_solver(self):
        check_stopping(self.tol, self.max_iter, self.solver, self.cache_size)
        check_solver_of_kernel(self.solver, self.kernel)

    def _solver(self):
        return {
            "tol": float(self.tol), "max_iter": int(self.max_iter), "solver": str(self.solver),
            "cache_size": float(self.cache_size),
        }  # fmt: skip

    def _outcome(self, certificates):
        """What is learned of the solutions, with a warning where one is not the optimum."""
        bias, _, gap, _, steps, converged = zip(*certificates, strict=True)
        n_iter = np.array(steps, dtype=np.int32)
        if not all(converged):
            worst = max(found.violation for found in certificates)
            warnings.warn(
                f"the solver stopped after {n_iter.max()} steps (max_iter={self.max_iter}) with a violation of "
                f"{worst:.3g} > tol={self.tol}, see dual_gap_; scale X, lower C or raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        return {
            "intercept_": np.array(bias), "n_iter_": n_iter, "dual_gap_": np.array(gap),
            "fit_status_": int(not all(converged)),
        }  # fmt: skip


class Classification(ClassifierMixin):
    """One of several labels for each row."""

    @of_one_fit
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy: the share of correct labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.
        y : array-like of shape (n_samples,)
            The true labels.
        sample_weight : array-like of shape (n_samples,), optional
            Not negative and not all zero.

        Returns
        -------
        float
            From 0 to 1.
        """
        predicted = self.predict(X)
        true = read_labels(y, len(predicted))
        check_labels_to_score(true, self.classes_, place_in_rows(true, "y"))
        weights = None if sample_weight is None else read_weights(sample_weight, len(true))
        return accuracy(predicted == true, weights)


def _has_probabilities(machine):
    if not machine.probability:
        raise AttributeError("predict_proba is only available with probability=True")
    return True


class OneAgainstRest(Classification):
    """Decisions with a column for each class, or of two classes with one; probabilities where the fit prepared them."""

    def _check_fitted(self):
        super()._check_fitted()
        n_outputs = len(self.intercept_)
        check_labels(self.classes_, 2 if n_outputs == 1 else n_outputs)
        if len(self.dual_coef_) != n_outputs:
            raise ValueError("dual_coef_ and intercept_ do not go together")

    @of_one_fit
    def decision_function(self, X: Any) -> Any:
        """Signed confidence in the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for ``classes_[1]``. More: a column for each class against the rest.
        """
        decisions = self._decide(X)
        return decisions[:, 0] if len(self.classes_) == 2 else decisions

    @of_one_fit
    def predict(self, X: Any) -> Any:
        """Labels: the sign of the decision, or the class with the largest, of equals the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decisions = self._decide(X)
        if len(self.classes_) == 2:
            return self.classes_[(decisions[:, 0] > 0.0).astype(np.intp)]
        return self.classes_[decisions.argmax(axis=1)]

    @available_if(_has_probabilities)
    @of_one_fit
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes; only with ``probability=True``.

        The decisions times one number, which has the least log-loss on decisions that the fit made on rows left out,
        are turned into probabilities by the softmax, or for two classes by the logistic function (C. Guo et al.,
        "On calibration of modern neural networks", 2017, section 4.2). So the most probable class is that of
        `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.

        Raises
        ------
        NotFittedError
            There was no fit, or the last one was without ``probability=True``.
        """
        if not hasattr(self, "_slope"):
            raise NotFittedError("predict_proba needs a fit with probability=True")
        return probabilities(self._decide(X), self._slope, exclusive=True)


class Regression(RegressorMixin):
    """One value for each output; several outputs are an extension of what scikit-learn's machines can do."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _check_fitted(self):
        super()._check_fitted()
        check_flags(_single_output=self._single_output)
        if len(self.dual_coef_) != len(self.intercept_):
            raise ValueError("dual_coef_ and intercept_ do not go together")

    @of_one_fit
    def predict(self, X: Any) -> Any:
        """Values of the regression functions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Of as many dimensions as y had.
        """
        values = self._decide(X)
        return values[:, 0] if self._single_output else values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the predictions, averaged over the outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The true values.
        sample_weight : array-like of shape (n_samples,), optional
            Not negative and not all zero.

        Returns
        -------
        float
            -inf where it is beyond what float64 can hold.
        """
        predicted = self.predict(X)
        true = read_values(y, len(predicted))
        true, predicted = (values[:, 0] if values.shape[1:] == (1,) else values for values in (true, predicted))
        if true.shape != predicted.shape:
            raise ValueError(f"y has shape {true.shape}, but the predictions have shape {predicted.shape}")
        weights = None if sample_weight is None else read_weights(sample_weight, len(true))
        return r_squared(true, predicted, weights)

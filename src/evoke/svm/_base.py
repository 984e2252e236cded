"""What the kernel machines share: checks of parameters and data, kernel parameters, decision values."""

from __future__ import annotations

import math
import warnings

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from evoke._core.kernel import KERNELS, Kernel, decide
from evoke._validation.arrays import to_array, to_float, to_targets
from evoke._validation.errors import refusal
from evoke._validation.parameters import (
    INT32_MAX,
    check_choice,
    check_integer,
    check_number,
    check_positive,
    to_number,
)
from evoke.metrics import r_squared
from evoke.persistence.checks import check_flags, check_values
from evoke.persistence.model import Persistent
from evoke.svm._solve import check_stopping
from evoke.svm._weights import check_weights

_FLOAT64 = np.dtype(np.float64)



def check_gamma(value):
    """A positive finite number, or a name for one that depends on X."""
    if not (value in ("scale", "auto") if isinstance(value, str) else 0 < to_number(value) < math.inf):
        raise refusal("gamma", "be 'scale', 'auto' or a positive finite number", value)


def is_clean(array, ndim):
    """Whether scikit-learn's validation would find nothing to do: its checks take longer than training a small machine.

    A sum of squares that is finite is a sum of finite values; where it overflows, scikit-learn looks again.
    """
    return (
        type(array) is np.ndarray
        and array.dtype == _FLOAT64
        and array.ndim == ndim
        and array.size > 0
        and array.flags.c_contiguous
        and math.isfinite(np.vdot(array, array))
    )


def encode(y):
    """Sorted classes, the class number of every label and the size of every class.

    Real numbers are labels where they repeat; where they hardly do, it is a regression target that came by mistake.
    """
    if y.dtype.kind in "biuU":
        # Two classes are found without sorting, in a tenth of the time.
        one = y[0]
        is_one = y == one
        other = y[is_one.argmin()]
        n_one, n_other = np.count_nonzero(is_one), np.count_nonzero(y == other)
        if n_one + n_other == len(y) and n_one > 0:
            if one < other:
                return np.array([one, other], dtype=y.dtype), (~is_one).view(np.int8), [n_one, n_other]
            return np.array([other, one], dtype=y.dtype), is_one.view(np.int8), [n_other, n_one]
    try:
        classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise TypeError(f"y mixes labels that have no order: {error}") from None
    if not (type_of_target(y) == "continuous" and len(classes) <= max(2, len(y) // 2)):
        check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class: {classes[0]!r}")
    return classes, codes, sizes.tolist()


class KernelMachine(Persistent):
    """A decision function ``sum_i dual_coef_[i] K(support_vectors_[i], x) + intercept_``."""

    _fitted = frozenset({
        "n_features_in_", "feature_names_in_", "shape_fit_", "support_", "support_vectors_", "dual_coef_", "intercept_",
        "_kernel",
    })  # fmt: skip

    def _check_fitted(self):
        check_integer("n_features_in_", self.n_features_in_, 1)
        check_values("support_vectors_", self.support_vectors_, (None, self.n_features_in_))
        n_support = len(self.support_vectors_)
        check_values("dual_coef_", self.dual_coef_, (None, n_support))
        check_values("intercept_", self.intercept_, (None,))
        if not isinstance(self.kernel_, Kernel):
            raise ValueError(f"kernel_ must be a Kernel, got {self.kernel_!r:.50}")
        if np.shape(self.support_) != (n_support,) or len(self.dual_coef_) == 0 or len(self.intercept_) == 0:
            raise ValueError("support_, support_vectors_, dual_coef_ and intercept_ do not go together")

    def _check_kernel(self):
        """Parameters that every kernel machine has."""
        check_positive("C", self.C)
        check_choice("kernel", self.kernel, KERNELS)
        check_integer("degree", self.degree, 0, INT32_MAX)
        check_gamma(self.gamma)
        check_number("coef0", self.coef0)

    def _validate(self, X, y, clean_y, **options):
        """Rows and targets of a fit. `clean_y` says whether y, an ndarray of as many rows, can stay as it is."""
        if is_clean(X, 2) and type(y) is np.ndarray and y.ndim >= 1 and len(y) == len(X) and clean_y(y):
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return X, y
        to_float(to_array(X, "X"), "X")  # says which argument does not hold numbers; scikit-learn does not
        return validate_data(self, X, y, dtype=np.float64, order="C", **options)

    def _validate_classes(self, X, y):
        """Rows, labels, and what :func:`encode` makes of the labels."""
        if isinstance(y, (list, tuple)):
            y = to_targets(y, "y")  # as an array, text and numbers would all be text
        X, y = self._validate(X, y, lambda y: y.ndim == 1 and y.dtype.kind in "biuU")
        return X, y, *encode(y)

    def _make_kernel(self, X):
        """The kernel with its parameters in numbers, for a fit on X. Predictions use that of the fit, `kernel_`."""
        return Kernel(str(self.kernel), _effective_gamma(self.gamma, X), float(self.coef0), int(self.degree))

    def _state_for_file(self):
        kernel = self.kernel_
        parts = {"kernel": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
        return super()._state_for_file() | {"_kernel": parts}

    def _restore(self, state):
        kernel = state.pop("_kernel", None)
        super()._restore(state)
        if kernel is not None:
            self.kernel_ = Kernel(kernel["kernel"], kernel["gamma"], kernel["coef0"], kernel["degree"])

    def _decide(self, X, coefficients):
        """Decision values (n_samples, n_outputs) from coefficients (n_support, n_outputs)."""
        if not (is_clean(X, 2) and X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_")):
            to_float(to_array(X, "X"), "X")
            X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        coefficients = np.ascontiguousarray(coefficients)
        decisions = decide(X, self.support_vectors_, coefficients, self.intercept_, self.kernel_)
        if not np.isfinite(decisions).all():
            raise ValueError(f"the kernel overflows on X with values up to {np.abs(X).max():.3g}; scale X")
        return decisions


class IterativeMachine(KernelMachine):
    """A kernel machine that is trained by :func:`evoke.svm.solve`."""

    _fitted = KernelMachine._fitted | {"n_support_", "n_iter_", "dual_gap_", "fit_status_"}

    def _check_solver(self):
        check_stopping(self.tol, self.max_iter, self.solver, self.cache_size)

    def _solver(self):
        return {
            "tol": float(self.tol), "max_iter": int(self.max_iter), "solver": str(self.solver),
            "cache_size": float(self.cache_size),
        }  # fmt: skip

    def _keep(self, certificates):
        """Constants, steps and gaps, and a warning where a solution is not the optimum."""
        self.intercept_ = np.array([found.bias for found in certificates])
        self.n_iter_ = np.array([found.n_iter for found in certificates], dtype=np.int32)
        self.dual_gap_ = np.array([found.gap for found in certificates])
        self.fit_status_ = int(not all(found.converged for found in certificates))
        if self.fit_status_:
            worst = max(found.violation for found in certificates)
            warnings.warn(
                f"the solver stopped after {self.n_iter_.max()} steps (max_iter={self.max_iter}) with a violation of "
                f"{worst:.3g} > tol={self.tol}, see dual_gap_; scale X, lower C or raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )


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

    def _validate_values(self, X, y):
        """Rows, targets of shape (n_outputs, n_samples), and whether y had one dimension."""
        if y is not None and not (type(y) is np.ndarray and y.dtype == _FLOAT64):
            y = to_float(to_array(y, "y"), "y")
        X, y = self._validate(X, y, lambda y: y.ndim <= 2 and is_clean(y, y.ndim), multi_output=True, y_numeric=True)
        y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        return X, np.ascontiguousarray(np.atleast_2d(y.T)), y.ndim == 1

    def predict(self, X):
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
        check_is_fitted(self)
        values = self._decide(X, self.dual_coef_.T)
        return values[:, 0] if self._single_output else values

    def score(self, X, y, sample_weight=None):
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
        true = check_array(to_float(to_array(y, "y"), "y"), ensure_2d=False, input_name="y")
        true, predicted = (values[:, 0] if values.shape[1:] == (1,) else values for values in (true, predicted))
        if true.shape != predicted.shape:
            raise ValueError(f"y has shape {true.shape}, but the predictions have shape {predicted.shape}")
        weights = None if sample_weight is None else check_weights(sample_weight, len(true))
        return r_squared(true, predicted, weights)


def _effective_gamma(gamma, X):
    """The number that "scale" and "auto" stand for, as in scikit-learn."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        variance = X.var()
        value = float(1.0 / (X.shape[1] * variance)) if variance != 0.0 else 1.0
    if not 0.0 < value < math.inf:
        raise ValueError(f"gamma == 'scale' needs the variance of X, which is {variance:.3g}; scale X")
    return value

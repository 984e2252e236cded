"""Least-squares support vector machines: one linear system instead of a quadratic programme."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from evoke._core import readout as core_readout
from evoke._core.kernel import Kernel, decide, gram
from evoke._core.loo import Fitted, fit_gram
from evoke._validation.arrays import check_shape
from evoke._validation.parameters import check_flag, check_positive
from evoke.persistence.model import savable
from evoke.svm._base import KernelMachine, OneAgainstRest, Regression, decide_given
from evoke.svm._calibration import fit_slope
from evoke.svm._data import encode, read_labels, read_values
from evoke.svm._kernels import check_kernel_range, gram_of, not_finite, singular, support_vectors
from evoke.svm._weights import class_weights, read_weights, weighted_C

__all__ = ["LSSVC", "LSSVR"]


# Residual of the linear system, relative to the range of the target, from which on a fit warns.
_ACCEPTED_RESIDUAL = 1e-3
# Of a constant target, relative to its size.
_ROUNDING = 1e-12


class Training(NamedTuple):
    """What the core needs to know of a least-squares machine; as `evoke.readouts.LSSVMReadout` for a network's."""

    kernel: Kernel
    C: float
    name: str = "lssvm"


class LeastSquaresMachine(KernelMachine):
    """A kernel machine trained by one Cholesky factorisation for all outputs."""

    _fitted = KernelMachine._fitted | {"residual_"}

    def _solution(self, X, targets, order, weights, leave_out=False):
        """What is learned of targets (n_outputs, n_used) of the rows `order` of X with weights (n_used,).

        And the leave-one-out decisions (n_outputs, n_used), if asked for, else None.
        """
        kernel = self._make_kernel(X)
        rows, targets = np.ascontiguousarray(X[order]), np.ascontiguousarray(targets)
        matrix = gram_of(kernel, rows, order)
        if matrix is None:
            check_kernel_range(rows, kernel)
        if matrix is None and not leave_out:
            fitted = core_readout.fit_readout(rows, targets, weights, Training(kernel, float(self.C)))
        elif matrix is None:
            fitted = fit_gram(gram(rows, kernel), targets, 1.0 / (self.C * weights))
        else:
            fitted = _fit_given(matrix, targets, 1.0 / (self.C * weights))
        if fitted is None:
            raise singular(kernel, rows if matrix is None else matrix, self.C)
        coefficients, intercept = fitted.dual_coef, fitted.intercept
        left_out = fitted.decisions if isinstance(fitted, Fitted) and leave_out else None
        if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
            raise not_finite(kernel, rows if matrix is None else matrix, float(self.C * weights.max()))
        if matrix is None:
            decisions = decide(rows, rows, coefficients, intercept, kernel)
        else:
            decisions = decide_given(matrix, coefficients, intercept)
        errors = targets - decisions.T - coefficients.T / (self.C * weights)
        residual = np.abs(errors).max(axis=1)
        accepted = _ACCEPTED_RESIDUAL * np.ptp(targets, axis=1) + _ROUNDING * np.abs(targets).max(axis=1)
        if (residual > accepted).any():
            warnings.warn(
                f"the system is solved only to a residual of {residual.max():.3g}, by as much the values on the "
                f"training rows are wrong: C={self.C} is too large for these rows, lower it",
                ConvergenceWarning,
                stacklevel=3,
            )
        solution = {
            "kernel_": kernel, "support_vectors_": support_vectors(kernel, rows, np.arange(len(rows))),
            "intercept_": intercept, "dual_coef_": np.ascontiguousarray(coefficients.T),
            "support_": order.astype(np.int32), "shape_fit_": X.shape, "residual_": residual,
        }  # fmt: skip
        return solution, left_out


def _fit_given(matrix, targets, ridge):
    """`fit_gram` of a matrix that may be positive definite only conditionally, such as minus a distance.

    The coefficients sum to zero, so what is the same for a whole row or column of the matrix moves the intercept only.
    """
    fitted = fit_gram(matrix, targets, ridge)
    if fitted is None:
        means = matrix.mean(axis=0)
        fitted = fit_gram(matrix - means - means[:, np.newaxis] + means.mean(), targets, ridge)
        if fitted is not None:
            fitted = fitted._replace(intercept=fitted.intercept - means @ fitted.dual_coef)
    return fitted


@savable
class LSSVR(Regression, LeastSquaresMachine):
    """Least-squares support vector regression, of one or several outputs over one factorisation.

    Minimises ``|w|^2 / 2 + C / 2 * sum_i e_i^2`` with ``e_i = y_i - f(x_i)``, which leads to the linear system::

        [K + I / C  1] [dual_coef_]   [y]
        [1'         0] [intercept_] = [0]

    It is solved in closed form for any number of outputs at the price of one [1]_. Every row becomes a support vector.

    Parameters
    ----------
    C : float, default=1.0
        Price of a squared error, > 0.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="rbf"
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``. With "precomputed" X holds
        kernel values: between the rows of the fit (n_samples, n_samples), later between new rows and those of the fit.
        A callable is given rows A (n, n_features) and B (m, n_features) and returns the values (n, m).
    degree : int, default=3
        Degree of the polynomial kernel, >= 0.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel parameter, > 0. "scale" is ``1 / (n_features * X.var())``, "auto" is ``1 / n_features``.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.

    Attributes
    ----------
    support_ : int32 ndarray of shape (n_SV,)
        Rows with a weight: all without `sample_weight`.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        These rows; of shape (0, 0) with ``kernel="precomputed"``.
    dual_coef_ : ndarray of shape (n_outputs, n_SV)
        Coefficients; each is C times its row's weight and error.
    intercept_ : ndarray of shape (n_outputs,)
        Constants of the regression functions.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the features, only with ``kernel="linear"``: ``dual_coef_`` times the support vectors.
    residual_ : ndarray of shape (n_outputs,)
        Largest residual of the equations, in units of the target: how wrong the values on the training rows may be.
    kernel_ : Kernel, "precomputed" or callable
        The kernel of the fit, with gamma as a number.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has names that are all strings.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    SVR : Errors that count from a tube on, and a few support vectors only.

    References
    ----------
    .. [1] J. A. K. Suykens and J. Vandewalle, "Least squares support vector machine classifiers", Neural Processing
       Letters 9(3), 1999.

    Examples
    --------
    >>> from evoke.svm import LSSVR
    >>> model = LSSVR(kernel="linear", C=1e6).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(3)
    array([7.])
    """

    _fitted = LeastSquaresMachine._fitted | {"_single_output"}

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LSSVR:
        """Solve for the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Values, finite.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each row, >= 0. A weight of 2 is the same as the row twice, one of 0 as no such row.

        Returns
        -------
        LSSVR
            Itself.

        Raises
        ------
        ValueError
            A parameter out of its range, NaN or infinity in X or y, no row with a weight, a kernel or coefficients that
            overflow, or a C so large that the system is singular to working precision. A kernel that is given and is no
            symmetric matrix of finite numbers, or has negative eigenvalues beyond 1 / C.

        Warns
        -----
        ConvergenceWarning
            C is so large that rounding spoils the solution: `residual_` exceeds a thousandth of the target's range.
        """
        self._check_kernel()
        X, features = self._read_rows(X)
        y = read_values(y, len(X))
        targets = np.atleast_2d(y.T)
        weights = np.ones(len(X)) if sample_weight is None else read_weights(sample_weight, len(X))
        order = np.flatnonzero(weights)
        weighted_C(self.C, weights[order])
        solution, _ = self._solution(X, targets[:, order], order, weights[order])
        self._learn(**features, **solution, _single_output=y.ndim == 1)
        return self


@savable
class LSSVC(OneAgainstRest, LeastSquaresMachine):
    """Least-squares support vector classification, several classes by one against the rest over one factorisation.

    The regression of :class:`LSSVR` on targets of +1 and -1: decisions are held close to them from both sides [1]_.

    Parameters
    ----------
    C : float, default=1.0
        Price of a squared error, > 0.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="rbf"
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``. With "precomputed" X holds
        kernel values: between the rows of the fit (n_samples, n_samples), later between new rows and those of the fit.
        A callable is given rows A (n, n_features) and B (m, n_features) and returns the values (n, m).
    degree : int, default=3
        Degree of the polynomial kernel, >= 0.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel parameter, > 0. "scale" is ``1 / (n_features * X.var())``, "auto" is ``1 / n_features``.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.
    class_weight : dict, "balanced" or None, default=None
        Factor of C for each class; "balanced" is ``n_samples / (n_classes * np.bincount(y))``.
    probability : bool, default=False
        Whether the fit prepares `predict_proba`, by exact leave-one-out decisions from the same factorisation.
        It takes two to three times as long. A row with a weight of 2 is left out as a whole.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    support_ : int32 ndarray of shape (n_SV,)
        Rows with a weight: all without `sample_weight`.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        These rows; of shape (0, 0) with ``kernel="precomputed"``.
    dual_coef_ : ndarray of shape (n_outputs, n_SV)
        Coefficients of each class against the rest; of two classes only of ``classes_[1]``.
    intercept_ : ndarray of shape (n_outputs,)
        Constants of the decision functions.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the features, only with ``kernel="linear"``: ``dual_coef_`` times the support vectors.
    residual_ : ndarray of shape (n_outputs,)
        Largest residual of the equations, in units of the target: how wrong the values on the training rows may be.
    loo_decision_function_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Decisions on the rows of the fit, each by a machine that was trained without it; NaN where a row has no weight.
        Only with ``probability=True``.
    kernel_ : Kernel, "precomputed" or callable
        The kernel of the fit, with gamma as a number.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has names that are all strings.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    SVC : Margins that count, and a few support vectors only.

    References
    ----------
    .. [1] J. A. K. Suykens and J. Vandewalle, "Least squares support vector machine classifiers", Neural Processing
       Letters 9(3), 1999.

    Examples
    --------
    >>> from evoke.svm import LSSVC
    >>> model = LSSVC(C=10.0, gamma=0.5).fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.4], [2.9]])
    array(['low', 'high'], dtype='<U4')
    """

    _not_always = ("feature_names_in_", "loo_decision_function_", "_slope")
    _fitted = LeastSquaresMachine._fitted | {"classes_", "class_weight_", *_not_always}

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        probability: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.probability = probability

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LSSVC:
        """Solve for the coefficients.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.
        y : array-like of shape (n_samples,)
            Labels of any type that sorts.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each row, >= 0. A weight of 2 is the same as the row twice, one of 0 as no such row.

        Returns
        -------
        LSSVC
            Itself.

        Raises
        ------
        ValueError
            A parameter out of its range, NaN or infinity in X, a single class, a class without weight, a kernel or
            coefficients that overflow, or a C so large that the system is singular to working precision. A kernel that
            is given and is no symmetric matrix of finite numbers, or has negative eigenvalues beyond 1 / C.

        Warns
        -----
        ConvergenceWarning
            C is so large that rounding spoils the solution: `residual_` exceeds a thousandth of the target's range.
        """
        self._check_kernel()
        check_flag("probability", self.probability)
        X, features = self._read_rows(X)
        y = read_labels(y, len(X))
        classes, codes, _ = encode(y)
        n_classes = len(classes)
        given = np.ones(len(X))
        if sample_weight is not None:
            given = read_weights(sample_weight, len(X), codes, classes)
        order = np.flatnonzero(given)
        factors = class_weights(self.class_weight, classes, y)
        weights = given[order] * factors[codes[order]]
        weighted_C(self.C, weights)
        positive = codes == np.arange(n_classes)[:, np.newaxis]
        if n_classes == 2:
            positive = positive[1:]
        positive = positive[:, order]
        solution, left_out = self._solution(
            X, np.where(positive, 1.0, -1.0), order, weights, leave_out=bool(self.probability)
        )
        if left_out is not None:
            solution |= self._calibrated(left_out.T, positive.T, given[order], order, len(X))
        self._learn(**features, **solution, classes_=classes, class_weight_=factors)
        return self

    def _calibrated(self, left_out, positive, weights, order, n):
        """What is learned of leave-one-out decisions (n_used, n_outputs)."""
        if not np.isfinite(left_out).all():
            raise ValueError(f"the leave-one-out decisions are not finite: C={self.C} is too large, lower it")
        decisions = np.full((n, left_out.shape[1]), np.nan)
        decisions[order] = left_out
        return {
            "loo_decision_function_": decisions[:, 0] if decisions.shape[1] == 1 else decisions,
            "_slope": fit_slope(left_out, positive, weights, exclusive=True),
        }

    def _check_fitted(self):
        super()._check_fitted()
        n_outputs = len(self.intercept_)
        if hasattr(self, "_slope") or hasattr(self, "loo_decision_function_"):
            check_positive("_slope", self._slope)
            shape = (len(self.loo_decision_function_), n_outputs) if n_outputs > 1 else (None,)
            check_shape(self.loo_decision_function_, "loo_decision_function_", shape)

"""Epsilon-insensitive support vector regression."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from evoke._validation.parameters import check_not_negative
from evoke.persistence.model import savable
from evoke.svm._base import IterativeMachine, Regression
from evoke.svm._data import read_values
from evoke.svm._kernels import gram_of, support_vectors
from evoke.svm._solve import solve_each
from evoke.svm._weights import read_weights, weighted_C

__all__ = ["SVR"]


@savable
class SVR(Regression, IterativeMachine):
    """Epsilon-support vector regression, of one or several outputs over one kernel matrix.

    The signs and the layout of the fitted attributes are those of scikit-learn's SVR, with a row for each output.
    What differs is the solver: the native one works in double precision and reaches the optimum for any `C` and for
    `epsilon` down to 0.

    Parameters
    ----------
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which training stops, in units of y, > 0.
    C : float, default=1.0
        Price of an error beyond the tube, > 0.
    epsilon : float, default=0.1
        Half width of the tube in which errors are free, in units of y, >= 0.
    solver : {"auto", "native", "thundersvm"}, default="auto"
        "auto" is "native". "thundersvm" trains with the ThunderSVM library in single precision; where that is not
        enough the native solver finishes the work, with a :class:`~evoke.exceptions.SolverWarning`.
    max_iter : int, default=-1
        Most steps of the solver for each output; -1 for a thousand a row, 100,000 at least.
    cache_size : float, default=200
        Memory for the kernel matrix in MiB; rows that do not fit are computed again.

    Attributes
    ----------
    support_ : int32 ndarray of shape (n_SV,)
        Rows of the support vectors of any output.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        Support vectors; of shape (0, 0) with ``kernel="precomputed"``.
    n_support_ : int32 ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray of shape (n_outputs, n_SV)
        Signed dual coefficients, ``alpha - alpha*``: positive where y is above the tube.
    intercept_ : ndarray of shape (n_outputs,)
        Constants of the regression functions.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the features, only with ``kernel="linear"``: ``dual_coef_`` times the support vectors.
    n_iter_ : int32 ndarray of shape (n_outputs,)
        Steps of the native solver.
    dual_gap_ : ndarray of shape (n_outputs,)
        Primal minus dual objective: how far from the optimum each fit is at most.
    fit_status_ : int
        0 if converged, 1 if not, which also warns.
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
    LSSVR : Squared errors instead, in closed form.
    solve : The same on arrays.

    Examples
    --------
    >>> from evoke.svm import SVR
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(2)
    array([7.])
    """

    _fitted = IterativeMachine._fitted | {"_single_output"}

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        solver: str = "auto",
        max_iter: int = -1,
        cache_size: float | None = 200,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.solver = solver
        self.max_iter = max_iter
        self.cache_size = cache_size

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
        """Train on rows and their values.

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
        SVR
            Itself.

        Raises
        ------
        ValueError
            A parameter out of its range, NaN or infinity in X or y, no row with a weight, a kernel or coefficients that
            overflow, or a kernel that is given and no symmetric matrix of finite numbers.
        ThunderSVMError
            With ``solver="thundersvm"``: the library cannot be found or loaded.

        Warns
        -----
        ConvergenceWarning
            The limit of steps or of rounding was reached. The subclass :class:`~evoke.exceptions.SolverWarning`: the
            native solver finished what ThunderSVM had left.
        """
        self._check_kernel()
        self._check_solver()
        check_not_negative("epsilon", self.epsilon)
        X, features = self._read_rows(X)
        y = read_values(y, len(X))
        targets = np.ascontiguousarray(np.atleast_2d(y.T))
        order = np.arange(len(X))
        bound = np.full(len(X), float(self.C))
        if sample_weight is not None:
            sample_weight = read_weights(sample_weight, len(X))
            order = np.flatnonzero(sample_weight)
            bound = weighted_C(self.C, sample_weight[order])
        largest = float(np.abs(targets).max())
        if not math.isfinite(float(bound.max()) * largest * len(order)):
            raise ValueError(f"C={self.C} times the values of y, up to {largest:.3g}, overflows; scale y or lower C")
        rows, targets = X.take(order, axis=0), targets.take(order, axis=1)
        kernel = self._make_kernel(X)
        gram = gram_of(kernel, rows, order)
        points, of_core = (rows, kernel) if gram is None else (gram, None)
        problems = [(target, -bound, bound) for target in targets]
        betas, certificates = solve_each(points, problems, of_core, epsilon=float(self.epsilon), **self._solver())
        used = betas.any(axis=0).nonzero()[0]
        self._learn(
            **features, **self._outcome(certificates), kernel_=kernel, _single_output=y.ndim == 1, shape_fit_=X.shape,
            support_=order[used].astype(np.int32), support_vectors_=support_vectors(kernel, rows, used),
            n_support_=np.array([len(used)], dtype=np.int32), dual_coef_=betas[:, used],
        )  # fmt: skip
        return self

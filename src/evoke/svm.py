"""Support vector machines on small dense problems, trained by the native solver or by ThunderSVM."""

from __future__ import annotations

import math
import numbers
import warnings
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_scalar, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from evoke import _svm
from evoke.exceptions import SolverWarning

__all__ = ["SVC", "Solution", "solve"]

SOLVERS = ("auto", "native", "thundersvm")

# What max_iter=-1 stands for: far beyond what a problem that fits in memory needs, yet an end.
_MAX_STEPS = 10_000_000
# ThunderSVM counts rounds of many steps each.
_MAX_ROUNDS = 1000
_MAX_COPIED_ROWS = 50_000

# What single precision must reach, else the native solver goes on: a violation of twice tol, or of the first where tol
# is smaller; and a gap of the second, relative to the primal objective, which bounds what is lost. Nine of ten problems
# with C up to 100 pass, and fewer the larger C is.
_ACCEPTED_VIOLATION = 1e-3
_ACCEPTED_GAP = 1e-2


@dataclass(frozen=True)
class Solution:
    """Solutions of the dual for several targets over the same rows: ``f(x) = sum_i beta_i K(x_i, x) + bias``.

    Attributes
    ----------
    beta : ndarray of shape (n_targets, n)
        Signed dual coefficients.
    bias : ndarray of shape (n_targets,)
    gap : ndarray of shape (n_targets,)
        Primal minus dual objective, computed in double precision.
    objective : ndarray of shape (n_targets,)
        Dual objective, which is maximised.
    violation : ndarray of shape (n_targets,)
        By how much the optimality conditions are violated by the worst pair of rows.
    n_iter : int64 ndarray of shape (n_targets,)
        Steps of the native solver; those of ThunderSVM are not known and not counted.
    converged : bool ndarray of shape (n_targets,)
        `violation` is within `tol`, or for ThunderSVM within what single precision can reach.
    solver : {"native", "thundersvm"}
        The solver that was used.
    """

    beta: NDArray[np.float64]
    bias: NDArray[np.float64]
    gap: NDArray[np.float64]
    objective: NDArray[np.float64]
    violation: NDArray[np.float64]
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]
    solver: str


def solve(
    X: NDArray[np.float64],
    target: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    kernel: str,
    gamma: float,
    coef0: float,
    degree: int,
    epsilon: float,
    tol: float,
    max_iter: int,
    solver: str,
    cache_size: float = 200,
    warn: bool = True,
) -> Solution:
    """Train support vector machines for one or several targets over one kernel matrix.

    For each target the dual ``max target' beta - 1/2 beta' K beta - epsilon |beta|_1`` subject to ``sum(beta) = 0`` and
    ``lower <= beta <= upper`` is solved. Classification has targets +1 and -1 with boxes [0, C] and [-C, 0] and
    epsilon 0; regression has boxes [-C, C].

    Parameters
    ----------
    X : C-ordered float64 ndarray of shape (n, d)
        Finite rows, n >= 1.
    target, lower, upper : float64 ndarray of shape (n_targets, n) or (n,)
        ``lower <= 0 <= upper``, finite; boxes are broadcast over the targets.
    kernel : {"linear", "poly", "rbf"}
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``.
    gamma, coef0, degree : float, float, int
        Parameters of the kernel.
    epsilon : float
        Half width of the tube in which errors are free, >= 0.
    tol : float
        Largest violation of the optimality conditions (LIBSVM's rule), > 0.
    max_iter : int
        Most steps of the native solver a target; -1 for 10 million.
    solver : {"auto", "native", "thundersvm"}
        "auto" is "native". ThunderSVM knows only bounds that are whole multiples of the smallest one of their class.
        Where its single precision is not enough, the native solver finishes its work.
    cache_size : float, default=200
        Memory for rows of the kernel matrix in MiB.
    warn : bool, default=True
        Whether to say that the native solver finished what ThunderSVM began.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        The kernel overflows on X, or ThunderSVM cannot have these boxes.
    ThunderSVMError
        The library cannot be found or loaded.

    Warns
    -----
    SolverWarning
        ThunderSVM could not train on some target or did not reach the optimum; the native solver went on from there.
    """
    _check_kernel_range(X, kernel, gamma, coef0, degree)
    target = np.atleast_2d(target)
    lower, upper = np.broadcast_to(lower, target.shape), np.broadcast_to(upper, target.shape)
    max_iter = _MAX_STEPS if max_iter == -1 else max_iter
    n = len(X)
    cache_bytes = int(min(cache_size * 2.0**20, 8.0 * n * (n + 8)))
    machine = _svm.Machine(X, kernel, gamma, coef0, degree, cache_bytes)
    betas, certificates = np.zeros(target.shape), []
    reasons = []
    for beta, *problem in zip(betas, target, lower, upper, strict=True):
        t, low, up = map(np.ascontiguousarray, problem)
        reason = None
        if solver == "thundersvm":
            beta[:], reason = _train_thundersvm(
                X, t, low, up, kernel=kernel, gamma=gamma, coef0=coef0, degree=degree, epsilon=epsilon, tol=tol,
                max_iter=min(max_iter, _MAX_ROUNDS),
            )  # fmt: skip
            found = machine.certify(t, low, up, epsilon, tol, beta)
            accuracy = max(2 * tol, _ACCEPTED_VIOLATION), _ACCEPTED_GAP * (found["objective"] + found["gap"])
            if reason is None and (found["violation"] > accuracy[0] or found["gap"] > accuracy[1]):
                reason = f"its solution has a violation of {found['violation']:.3g} and a gap of {found['gap']:.3g}"
            found["converged"] = True
        if reason is not None:
            reasons.append(reason)
        if solver != "thundersvm" or reason is not None:
            found = machine.solve(t, low, up, epsilon, tol, max_iter, beta)
        certificates.append(found)
    if reasons:
        warnings.warn(
            f"ThunderSVM did not reach the optimum of {len(reasons)} of {len(target)} problem(s) and the native solver "
            f"went on from there: {reasons[0]}",
            SolverWarning,
            stacklevel=2,
        )
    columns = {name: np.array([found[name] for found in certificates]) for name in certificates[0]}
    if not (np.isfinite(betas).all() and np.isfinite(columns["bias"]).all() and np.isfinite(columns["gap"]).all()):
        raise ValueError("the coefficients are not finite: X or C is too large, scale X")
    return Solution(beta=betas, solver="thundersvm" if solver == "thundersvm" else "native", **columns)


def _check_kernel_range(X, kernel, gamma, coef0, degree):
    """No kernel value between rows of X may overflow; by Cauchy and Schwarz the longest row bounds them all."""
    if kernel == "rbf":
        return
    with np.errstate(over="ignore"):
        largest = np.einsum("ij,ij->i", X, X).max()
        if kernel == "poly":
            largest = (gamma * largest + abs(coef0)) ** degree
    if not np.isfinite(largest):
        raise ValueError(
            f"the kernel overflows: kernel={kernel!r} with gamma={gamma}, coef0={coef0}, degree={degree} on X with "
            f"values up to {np.abs(X).max():.3g}; scale X or lower the degree"
        )


def _train_thundersvm(X, target, lower, upper, **parameters):
    """Feasible coefficients from ThunderSVM, of shape (n,), and None; or zeros and why it could not train."""
    from evoke import _thundersvm

    beta = np.zeros(len(X))
    used = np.flatnonzero(lower < upper)
    target, lower, upper = target[used], lower[used], upper[used]
    if not (np.any(lower < 0.0) and np.any(upper > 0.0)) or len(used) == 1:
        return beta, None  # nothing else sums to zero
    bound = np.maximum(-lower, upper)
    regression = bool(np.any((lower < 0.0) & (upper > 0.0)))
    kind = np.zeros(len(used), dtype=np.intp) if regression else (target > 0.0).astype(np.intp)
    C = [float(bound[kind == k].min()) for k in range(kind.max() + 1)]
    # The library knows one bound a class, so a row of weight 3 is given three times.
    copies = np.rint(bound / np.take(C, kind))
    if np.any(np.abs(copies * np.take(C, kind) - bound) > 1e-9 * bound) or copies.sum() > _MAX_COPIED_ROWS:
        raise ValueError(
            "solver='thundersvm' knows no sample_weight but whole multiples of the smallest in each class, "
            f"{_MAX_COPIED_ROWS} rows in all; use solver='native'"
        )
    repeated = np.repeat(np.arange(len(used)), copies.astype(np.intp))
    try:
        found = _thundersvm.train(
            X[used[repeated]], target[repeated], regression=regression, C=C if len(set(C)) > 1 else C[0], **parameters
        )
    except _thundersvm.ThunderSVMError as error:
        if not _thundersvm.available():
            raise
        return beta, str(error)
    found = np.bincount(repeated, found, minlength=len(used))
    # The sum of copies at their bound is at the bound but for rounding.
    beta[used] = np.where(np.abs(found) >= (1.0 - 1e-12) * bound, np.copysign(bound, found), found)
    return beta, None


def _check_real(value, name, **bounds):
    check_scalar(value, name, numbers.Real, **bounds)
    if not math.isfinite(value):
        raise ValueError(f"{name} == {value}, must be finite.")


def _check_choice(value, name, choices):
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} == {value!r}, must be one of {', '.join(map(repr, choices))}.")


def _check_parameters(estimator):
    """Parameters that every kernel machine has."""
    _check_real(estimator.C, "C", min_val=0, include_boundaries="neither")
    _check_choice(estimator.kernel, "kernel", _svm.KERNELS)
    check_scalar(estimator.degree, "degree", numbers.Integral, min_val=0, max_val=np.iinfo(np.int32).max)
    if isinstance(estimator.gamma, str):
        _check_choice(estimator.gamma, "gamma", ("scale", "auto"))
    else:
        _check_real(estimator.gamma, "gamma", min_val=0, include_boundaries="neither")
    _check_real(estimator.coef0, "coef0")
    _check_real(estimator.tol, "tol", min_val=0, include_boundaries="neither")
    _check_choice(estimator.solver, "solver", SOLVERS)
    check_scalar(estimator.max_iter, "max_iter", numbers.Integral, min_val=-1, max_val=np.iinfo(np.int32).max)
    if estimator.max_iter == 0:
        raise ValueError("max_iter == 0, must be -1 (the solver's own limit) or >= 1.")
    _check_real(estimator.cache_size, "cache_size", min_val=0, include_boundaries="neither")


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


def _check_weights(sample_weight, n):
    """Weights of shape (n,), finite and not negative."""
    if sample_weight is None:
        return np.ones(n)
    weights = check_array(sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, must be ({n},): one weight for each row of X")
    if weights.min() < 0.0:
        raise ValueError(f"sample_weight holds {weights.min()}, weights must not be negative")
    return weights


def _encode(y):
    """Sorted classes and the class number of every label.

    Real numbers are labels where they repeat; where they hardly do, it is a regression target that came by mistake.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if not (type_of_target(y) == "continuous" and len(classes) <= max(2, len(y) // 2)):
        check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class: {classes[0]!r}")
    return classes, codes


class SVC(ClassifierMixin, BaseEstimator):
    """C-support vector classification, several classes by one against one.

    The signs, the order and the layout of all fitted attributes are those of :class:`sklearn.svm.SVC`. What differs is
    the solver: the native one works in double precision on the whole kernel matrix and reaches the optimum for any `C`.

    Parameters
    ----------
    C : float, default=1.0
        Price of a margin violation, > 0.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``.
    degree : int, default=3
        Degree of the polynomial kernel, >= 0.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel parameter, > 0. "scale" is ``1 / (n_features * X.var())``, "auto" is ``1 / n_features``.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which training stops, > 0.
    class_weight : dict, "balanced" or None, default=None
        Factor of C for each class; "balanced" is ``n_samples / (n_classes * np.bincount(y))``.
    solver : {"auto", "native", "thundersvm"}, default="auto"
        "auto" is "native". "thundersvm" trains with the ThunderSVM library in single precision; where that is not
        enough the native solver finishes the work, with a :class:`~evoke.exceptions.SolverWarning`.
    max_iter : int, default=-1
        Most steps of the solver for each pair of classes; -1 for 10 million.
    cache_size : float, default=200
        Memory for the kernel matrix in MiB; rows that do not fit are computed again.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` of more than two classes has a column for each class or for each pair of classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    support_ : int32 ndarray of shape (n_SV,)
        Rows of the support vectors, class by class.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        Support vectors.
    n_support_ : int32 ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV)
        Signed dual coefficients: of a support vector of class c, row k belongs to the pair of c and the k-th other
        class. With two classes positive for ``classes_[1]``, else for the first class of the pair.
    intercept_ : ndarray of shape (n_pairs,)
        Constants of the decision functions; ``n_pairs = n_classes * (n_classes - 1) / 2``.
    n_iter_ : int32 ndarray of shape (n_pairs,)
        Steps of the native solver.
    dual_gap_ : ndarray of shape (n_pairs,)
        Primal minus dual objective: how far from the optimum each fit is at most.
    fit_status_ : int
        0 if converged, 1 if not, which also warns.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if `X` has names that are all strings.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    solve : The same on arrays, for several targets over one kernel matrix.

    Examples
    --------
    >>> from evoke.svm import SVC
    >>> model = SVC(C=10.0, gamma=0.5).fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.4], [2.9]])
    array(['low', 'high'], dtype='<U4')
    """

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        class_weight=None,
        solver="auto",
        max_iter=-1,
        cache_size=200,
        decision_function_shape="ovr",
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.decision_function_shape = decision_function_shape

    def fit(self, X, y, sample_weight=None):
        """Train on rows and their labels.

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
        self : SVC

        Raises
        ------
        ValueError
            A parameter out of its range, NaN or infinity in X, a single class, a class without weight, or a kernel that
            overflows.
        ThunderSVMError
            With ``solver="thundersvm"``: the library cannot be found or loaded.

        Warns
        -----
        ConvergenceWarning
            The limit of steps or of rounding was reached. The subclass :class:`~evoke.exceptions.SolverWarning`: the
            native solver finished what ThunderSVM had left.
        """
        _check_parameters(self)
        _check_choice(self.decision_function_shape, "decision_function_shape", ("ovr", "ovo"))
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        self.classes_, codes = _encode(y)
        n_classes = len(self.classes_)
        self.class_weight_ = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        weights = _check_weights(sample_weight, len(X))
        for label, weight in zip(self.classes_, self.class_weight_, strict=True):
            if not (math.isfinite(weight) and weight > 0):
                raise ValueError(f"class_weight of class {label!r} is {weight}, must be positive and finite")
        for k, label in enumerate(self.classes_):
            if not weights[codes == k].any():
                raise ValueError(f"sample_weight is zero for all rows of class {label!r}: it cannot be learned")
        gamma = _effective_gamma(self.gamma, X)

        # From here on rows are sorted by class, in which they keep their order, and those without weight are gone.
        order = np.argsort(codes, kind="stable")
        order = order[weights[order] > 0.0]
        codes = codes[order]
        bound = self.C * weights[order] * self.class_weight_[codes]
        if not (np.isfinite(bound).all() and bound.min() > 0.0):
            raise ValueError(f"C == {self.C} times class_weight and sample_weight is out of the range of float64")
        rows = np.take(X, order, axis=0)
        members = [np.flatnonzero(codes == k) for k in range(n_classes)]
        coefficients = np.zeros((n_classes - 1, len(rows)))
        solutions = []
        for i, j in combinations(range(n_classes), 2):
            pair = np.concatenate([members[i], members[j]])
            # LIBSVM's rule: the first class of a pair is positive, but of two classes in all it is the second.
            positive = codes[pair] == (j if n_classes == 2 else i)
            solution = solve(
                rows[pair],
                np.where(positive, 1.0, -1.0),
                np.where(positive, 0.0, -bound[pair]),
                np.where(positive, bound[pair], 0.0),
                kernel=self.kernel,
                gamma=gamma,
                coef0=float(self.coef0),
                degree=int(self.degree),
                epsilon=0.0,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                solver=self.solver,
                cache_size=float(self.cache_size),
            )
            n_first = len(members[i])
            coefficients[j - 1, members[i]] = solution.beta[0, :n_first]
            coefficients[i, members[j]] = solution.beta[0, n_first:]
            solutions.append(solution)

        used = coefficients.any(axis=0)
        self.shape_fit_ = X.shape
        self._gamma = gamma
        self.support_ = order[used].astype(np.int32)
        self.support_vectors_ = rows[used]
        self.n_support_ = np.bincount(codes[used], minlength=n_classes).astype(np.int32)
        self.dual_coef_ = coefficients[:, used]
        self.intercept_ = np.concatenate([solution.bias for solution in solutions])
        self.n_iter_ = np.concatenate([solution.n_iter for solution in solutions]).astype(np.int32)
        self.dual_gap_ = np.concatenate([solution.gap for solution in solutions])
        self.fit_status_ = int(not all(solution.converged.all() for solution in solutions))
        if self.fit_status_:
            worst = max(float(solution.violation[0]) for solution in solutions)
            warnings.warn(
                f"the solver stopped after {self.n_iter_.max()} steps (max_iter={self.max_iter}) with a violation of "
                f"{worst:.3g} > tol={self.tol}, see dual_gap_; scale X, lower C or raise max_iter",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _pair_decisions(self, X):
        """Decision values of every pair of classes, of shape (n_samples, n_pairs)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        ends = np.cumsum(self.n_support_)
        begins = ends - self.n_support_
        coefficients = np.zeros((len(self.support_), len(self.intercept_)))
        for pair, (i, j) in enumerate(combinations(range(len(self.classes_)), 2)):
            coefficients[begins[i] : ends[i], pair] = self.dual_coef_[j - 1, begins[i] : ends[i]]
            coefficients[begins[j] : ends[j], pair] = self.dual_coef_[i, begins[j] : ends[j]]
        decisions = _svm.decide(
            *(X, self.support_vectors_, coefficients, self.intercept_),
            *(self.kernel, self._gamma, float(self.coef0), int(self.degree)),
        )
        if not np.isfinite(decisions).all():
            raise ValueError(f"the kernel overflows on X with values up to {np.abs(X).max():.3g}; scale X")
        return decisions

    def decision_function(self, X):
        """Signed confidence in the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: positive for ``classes_[1]``. More, "ovr": votes for each class, ties resolved by the summed
            decision values of its pairs, which are squeezed into a third of a vote. "ovo": one value for each pair,
            positive for the first class of it.
        """
        decisions = self._pair_decisions(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return decisions[:, 0]
        if self.decision_function_shape == "ovo":
            return decisions
        votes, confidence = np.zeros((2, len(decisions), n_classes))
        for value, (i, j) in zip(decisions.T, combinations(range(n_classes), 2), strict=True):
            confidence[:, i] += value
            confidence[:, j] -= value
            votes[:, i] += value >= 0.0
            votes[:, j] += value < 0.0
        return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))

    def predict(self, X):
        """Labels: the sign of the decision, or the class with most votes of its pairs, of equals the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decisions = self._pair_decisions(X)
        n_classes = len(self.classes_)
        if n_classes == 2:
            return self.classes_[(decisions[:, 0] > 0.0).astype(np.intp)]
        votes = np.zeros((len(decisions), n_classes), dtype=np.intp)
        for value, (i, j) in zip(decisions.T, combinations(range(n_classes), 2), strict=True):
            votes[:, i] += value > 0.0
            votes[:, j] += value <= 0.0
        return self.classes_[votes.argmax(axis=1)]

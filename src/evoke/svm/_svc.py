"""C-support vector classification."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate, combinations
from typing import Any

import numpy as np

from evoke._validation.parameters import check_choice
from evoke.persistence.checks import check_labels
from evoke.persistence.model import savable
from evoke.svm._base import Classification, IterativeMachine, of_one_fit
from evoke.svm._data import encode, read_labels
from evoke.svm._kernels import gram_of, support_vectors
from evoke.svm._solve import solve_each
from evoke.svm._weights import class_weights, read_weights, weighted_C

__all__ = ["SVC"]


@savable
class SVC(Classification, IterativeMachine):
    """C-support vector classification, several classes by one against one.

    The signs, the order and the layout of all fitted attributes are those of scikit-learn's SVC. What differs is
    the solver: the native one works in double precision on the whole kernel matrix and reaches the optimum for any `C`.

    Parameters
    ----------
    C : float, default=1.0
        Price of a margin violation, > 0.
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
        Largest violation of the optimality conditions at which training stops, > 0.
    class_weight : dict, "balanced" or None, default=None
        Factor of C for each class; "balanced" is ``n_samples / (n_classes * np.bincount(y))``.
    solver : {"auto", "native", "thundersvm"}, default="auto"
        "auto" is "native". "thundersvm" trains with the ThunderSVM library in single precision; where that is not
        enough the native solver finishes the work, with a :class:`~evoke.exceptions.SolverWarning`.
    max_iter : int, default=-1
        Most steps of the solver for each pair of classes; -1 for a thousand a row, 100,000 at least.
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
        Support vectors; of shape (0, 0) with ``kernel="precomputed"``.
    n_support_ : int32 ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV)
        Signed dual coefficients: of a support vector of class c, row k belongs to the pair of c and the k-th other
        class. With two classes positive for ``classes_[1]``, else for the first class of the pair.
    intercept_ : ndarray of shape (n_pairs,)
        Constants of the decision functions; ``n_pairs = n_classes * (n_classes - 1) / 2``.
    coef_ : ndarray of shape (n_pairs, n_features)
        Weights of the features for each of `intercept_`, only with ``kernel="linear"``.
    n_iter_ : int32 ndarray of shape (n_pairs,)
        Steps of the native solver.
    dual_gap_ : ndarray of shape (n_pairs,)
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
    solve : The same on arrays, for several targets over one kernel matrix.
    LSSVC : Least squares, with probabilities. Those of an SVC are given by scikit-learn's ``CalibratedClassifierCV``.

    Examples
    --------
    >>> from evoke.svm import SVC
    >>> model = SVC(C=10.0, gamma=0.5).fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.4], [2.9]])
    array(['low', 'high'], dtype='<U4')
    """

    _fitted = IterativeMachine._fitted | {"classes_", "class_weight_"}

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Callable[..., Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        class_weight: Mapping[Any, float] | str | None = None,
        solver: str = "auto",
        max_iter: int = -1,
        cache_size: float | None = 200,
        decision_function_shape: str = "ovr",
    ) -> None:
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
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
        SVC
            Itself.

        Raises
        ------
        ValueError
            A parameter out of its range, NaN or infinity in X, a single class, a class without weight, a kernel that
            overflows, or one that is given and no symmetric matrix of finite numbers.
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
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        X, features = self._read_rows(X)
        y = read_labels(y, len(X))
        classes, codes, sizes = encode(y)
        n_classes = len(classes)
        factors = np.array([1.0] * n_classes)
        weights = []
        # Rows are sorted by class, in which they keep their order, and those without weight are left out.
        order = codes.argsort(kind="stable")
        if sample_weight is not None:
            sample_weight = read_weights(sample_weight, len(X), codes, classes)
            order = order[sample_weight[order] > 0.0]
            weights.append(sample_weight[order])
            sizes = np.bincount(codes[order]).tolist()
        codes = codes[order]
        if self.class_weight is not None:
            factors = class_weights(self.class_weight, classes, y)
            weights.append(factors[codes])
        rows = X.take(order, axis=0)
        ends = [*accumulate(sizes)]
        members = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        bounds = [float(self.C)] * n_classes
        if weights:
            weighted = weighted_C(self.C, *weights)
            bounds = [weighted[rows_of_class] for rows_of_class in members]
        kernel, solver = self._make_kernel(X), self._solver()
        gram = gram_of(kernel, rows, order)
        points, of_core = (rows, kernel) if gram is None else (gram, None)
        coefficients = np.zeros((n_classes - 1, len(rows)))
        certificates = []
        for i, j in combinations(range(n_classes), 2):
            first, second = members[i], members[j]
            if n_classes == 2:
                pair = points
            elif gram is None:
                pair = np.concatenate([rows[first], rows[second]])
            else:
                pair = _square(gram, first, second)
            target, lower, upper = np.empty(len(pair)), np.zeros(len(pair)), np.zeros(len(pair))
            halves = (slice(sizes[i]), bounds[i]), (slice(sizes[i], None), bounds[j])
            # LIBSVM's rule: the first class of a pair is positive, but of two classes in all it is the second.
            (negative, below), (positive, above) = halves if n_classes == 2 else halves[::-1]
            target[negative], lower[negative] = -1.0, -below
            target[positive], upper[positive] = 1.0, above
            (beta,), found = solve_each(pair, [(target, lower, upper)], of_core, epsilon=0.0, **solver)
            coefficients[j - 1, first] = beta[: sizes[i]]
            coefficients[i, second] = beta[sizes[i] :]
            certificates += found

        (used,) = (coefficients[0] if n_classes == 2 else coefficients.any(axis=0)).nonzero()
        self._learn(
            **features, **self._outcome(certificates), classes_=classes, class_weight_=factors, kernel_=kernel,
            shape_fit_=X.shape, support_=order[used].astype(np.int32),
            support_vectors_=support_vectors(kernel, rows, used),
            n_support_=np.bincount(codes[used], minlength=n_classes).astype(np.int32),
            dual_coef_=coefficients.take(used, axis=1),
        )  # fmt: skip
        return self

    def _check_fitted(self):
        super()._check_fitted()
        check_labels(self.classes_)
        n_classes, n_support = len(self.classes_), len(self.support_)
        sizes = self.n_support_
        if not (np.shape(sizes) == (n_classes,) and sizes.dtype.kind == "i" and sizes.min() >= 0):
            raise ValueError("n_support_ must hold a number of support vectors for each class")
        if (
            sum(sizes.tolist()) != n_support
            or len(self.dual_coef_) != n_classes - 1
            or len(self.intercept_) != n_classes * (n_classes - 1) // 2
        ):
            raise ValueError("classes_, n_support_, dual_coef_ and intercept_ do not go together")

    def _coefficients(self):
        """Coefficients (n_support, n_pairs) of every pair of classes."""
        if len(self.classes_) == 2:
            return self.dual_coef_.T
        ends = np.cumsum(self.n_support_)
        begins = ends - self.n_support_
        coefficients = np.zeros((len(self.support_), len(self.intercept_)))
        for pair, (i, j) in enumerate(combinations(range(len(self.classes_)), 2)):
            coefficients[begins[i] : ends[i], pair] = self.dual_coef_[j - 1, begins[i] : ends[i]]
            coefficients[begins[j] : ends[j], pair] = self.dual_coef_[i, begins[j] : ends[j]]
        return coefficients

    @of_one_fit
    def decision_function(self, X: Any) -> Any:
        """Signed confidence in the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: positive for ``classes_[1]``. More, "ovr": votes for each class, ties resolved by the summed
            decision values of its pairs, which are squeezed into a third of a vote. "ovo": one value for each pair,
            positive for the first class of it.
        """
        decisions, n_classes = self._decide(X), len(self.classes_)
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

    @of_one_fit
    def predict(self, X: Any) -> Any:
        """Labels: the sign of the decision, or the class with most votes of its pairs, of equals the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        decisions, n_classes = self._decide(X), len(self.classes_)
        if n_classes == 2:
            return self.classes_[(decisions[:, 0] > 0.0).astype(np.intp)]
        votes = np.zeros((len(decisions), n_classes), dtype=np.intp)
        for value, (i, j) in zip(decisions.T, combinations(range(n_classes), 2), strict=True):
            votes[:, i] += value > 0.0
            votes[:, j] += value <= 0.0
        return self.classes_[votes.argmax(axis=1)]


def _square(gram, first, second):
    """The kernel matrix of the rows of two classes."""
    return np.block([[gram[first, first], gram[first, second]], [gram[second, first], gram[second, second]]])

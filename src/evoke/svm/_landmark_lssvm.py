"""Least-squares support vector machines on few landmarks: any number of rows, in one pass and little memory."""

from __future__ import annotations

import numpy as np
from numpy.random import PCG64, SeedSequence

from evoke._core.kernel import KERNELS, Kernel, decide
from evoke._validation.parameters import (
    INT32_MAX,
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_positive,
    check_positive_or_text,
    check_random_state,
    is_text,
)
from evoke.engine import entropy_of
from evoke.landmarks import MOST_LANDMARKS
from evoke.persistence.model import savable
from evoke.sequences.preparation import Units
from evoke.svm._base import KernelMachine, OneAgainstRest, Regression
from evoke.svm._calibration import fit_slope
from evoke.svm._chosen import BLOCK, Grid, Training
from evoke.svm._data import encode, read_array, read_labels, read_values, rows_of
from evoke.svm._kernels import overflow
from evoke.svm._weights import class_weights, read_weights, weighted_C

__all__ = ["LandmarkLSSVC", "LandmarkLSSVR"]


class LandmarkMachine(KernelMachine):
    """A kernel machine with coefficients at few of the rows, chosen before it is trained."""

    _fitted = KernelMachine._fitted | {"C_"}

    def _check_parameters(self):
        check_choice("kernel", self.kernel, KERNELS)
        check_integer("degree", self.degree, 0, INT32_MAX)
        check_number("coef0", self.coef0)
        check_positive_or_text("gamma", self.gamma, ("auto",))
        check_positive_or_text("C", self.C, ("auto",))
        check_integer("n_landmarks", self.n_landmarks, 1, MOST_LANDMARKS)
        check_random_state(self.random_state)
        check_n_jobs(self.n_jobs)

    def _check_fitted(self):
        super()._check_fitted()
        check_positive("C_", self.C_)
        if not isinstance(self.kernel_, Kernel):
            raise ValueError("kernel_ must be a Kernel")

    def _grid(self):
        gamma, C = (None if is_text(value, "auto") else float(value) for value in (self.gamma, self.C))
        return Grid(str(self.kernel), gamma, C, float(self.coef0), int(self.degree), int(self.n_landmarks))

    def _train(self, array, X, targets, n_outputs, weights, *, hold_out=False):
        """The machine that is best on rows held out, trained on all rows that have a weight."""
        weighted_C(1.0 if is_text(self.C, "auto") else self.C, *(() if weights is None else (weights[weights > 0],)))
        training = Training(array, X, targets, n_outputs, weights, self.n_jobs)
        seed = SeedSequence(entropy_of(self.random_state))
        chosen = training.machine(self._grid(), np.random.Generator(PCG64(seed)), hold_out=hold_out)
        if not (np.isfinite(chosen.coef).all() and np.isfinite(chosen.intercept).all()):
            raise ValueError("the coefficients are not finite: X or C is too large, scale X or lower C")
        return chosen

    def _solution(self, array, chosen, units):
        """What is learned of a machine, in units of the targets."""
        with np.errstate(over="ignore", invalid="ignore"):
            coef = chosen.coef * units.deviation
            intercept = chosen.intercept * units.deviation + units.mean
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("the coefficients are not finite: y is too large, scale it")
        return {
            "kernel_": chosen.kernel, "C_": chosen.C, "support_": chosen.rows.astype(np.int64),
            "support_vectors_": chosen.landmarks, "dual_coef_": np.ascontiguousarray(coef.T), "intercept_": intercept,
            "shape_fit_": array.shape,
        }  # fmt: skip

    def _decide(self, X):
        """Decision values (n_samples, n_outputs), of rows that are read block by block."""
        array = read_array(X)
        self._check_features(X, array)
        coef = np.ascontiguousarray(self._coefficients())
        decisions = np.empty((len(array), coef.shape[1]))
        for begin in range(0, len(array), BLOCK):
            numbers = range(begin, min(begin + BLOCK, len(array)))
            rows = rows_of(array, X, numbers)
            made = decide(rows, self.support_vectors_, coef, self.intercept_, self.kernel_)
            if not np.isfinite(made).all():
                raise overflow(self.kernel_, rows)
            decisions[begin : numbers.stop] = made
        return decisions


@savable
class LandmarkLSSVR(Regression, LandmarkMachine):
    """Least-squares support vector regression on few landmarks, for any number of rows.

    The machine of :class:`LSSVR` among the functions ``f(x) = intercept_ + sum_j dual_coef_[j] K(z_j, x)`` with m
    landmarks z, which are rows of X. It minimises ``c' K(z, z) c + C * sum_i (y_i - f(x_i))^2``, with coefficients c
    and a free constant. All that it needs to know of the rows are sums of products of kernel values, which one pass
    over X adds up: time grows with the number of rows, memory with m^2. With all rows as landmarks it is the machine
    of :class:`LSSVR`. This is kernel ridge regression on a subset of regressors [1]_, and in other words a fixed-size
    LS-SVM [2]_.

    The landmarks are chosen by k-means++ [3]_ on some of the rows, so that no row is far from all of them.
    ``kernel="linear"`` needs none; it is ridge regression.

    Parameters
    ----------
    C : "auto" or float, default="auto"
        Price of a squared error, > 0. "auto" tries 0.01, 1, 100, 1e4 and 1e6 and keeps the one with the least squared
        error on rows held out.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``.
    degree : int, default=3
        Degree of the polynomial kernel, >= 0.
    gamma : "auto" or float, default="auto"
        Kernel parameter, > 0. "auto" tries 0.1, 0.3, 1, 3 and 10 by the mean squared distance of two rows, and is
        chosen together with C. It is not the "auto" of :class:`LSSVR` and scikit-learn.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.
    n_landmarks : int, default=512
        The most landmarks, from 1 to 20,000. There are fewer only where fewer rows differ.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        Of the rows, 50,000 at most, that landmarks, gamma and C are chosen on, and of those held out of them.
    n_jobs : int or None, default=None
        Threads; -1 is all cores. The bits are those of one.

    Attributes
    ----------
    support_ : int64 ndarray of shape (n_SV,)
        Rows that are landmarks; with ``kernel="linear"`` the features, whose unit vectors are.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        The landmarks.
    dual_coef_ : ndarray of shape (n_outputs, n_SV)
        Coefficients.
    intercept_ : ndarray of shape (n_outputs,)
        Constants of the regression functions.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the features, only with ``kernel="linear"``.
    kernel_ : Kernel
        The kernel of the fit, with gamma as a number.
    C_ : float
        The C of the fit.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has names that are all strings.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    LSSVR : All rows are support vectors; for some thousands of rows.

    References
    ----------
    .. [1] A. Rudi, L. Carratino and L. Rosasco, "FALKON: an optimal large scale kernel method", 2017, equation 8.
    .. [2] K. De Brabanter, J. De Brabanter, J. A. K. Suykens and B. De Moor, "Optimized fixed-size kernel models for
       large data sets", Computational Statistics and Data Analysis 54(6), 2010.
    .. [3] D. Arthur and S. Vassilvitskii, "k-means++: the advantages of careful seeding", 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke.svm import LandmarkLSSVR
    >>> X = np.linspace(0.0, 6.0, 10_000).reshape(-1, 1)
    >>> model = LandmarkLSSVR(n_landmarks=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.0], [2.0]]).round(3)
    array([0.841, 0.909])
    """

    _fitted = LandmarkMachine._fitted | {"_single_output"}

    def __init__(
        self, *, C="auto", kernel="rbf", degree=3, gamma="auto", coef0=0.0, n_landmarks=512, random_state=None,
        n_jobs=None,
    ):  # fmt: skip
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        """Choose landmarks, gamma and C on some of the rows, and train on all in one pass.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite. An array is read block by block, whatever its dtype; one that is mapped from a file stays
            there.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Values, finite.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each row, >= 0. A weight of 2 is to the training the same as the row twice, one of 0 as no
            such row.

        Returns
        -------
        LandmarkLSSVR
            Itself.

        Raises
        ------
        ValueError
            A parameter out of its range, NaN or infinity in X or y, no row with a weight, a kernel or coefficients that
            overflow, or a C so large that the normal equations are singular to working precision.
        """
        self._check_parameters()
        array = read_array(X)
        features = self._features(X, array)
        y = read_values(y, len(array))
        values = y.reshape(len(y), -1)
        weights = None if sample_weight is None else read_weights(sample_weight, len(array))
        units = Units.of(values if weights is None else values[weights > 0])
        chosen = self._train(array, X, lambda rows: units.to(values[rows]), values.shape[1], weights)
        self._learn(**features, **self._solution(array, chosen, units), _single_output=y.ndim == 1)
        return self


@savable
class LandmarkLSSVC(OneAgainstRest, LandmarkMachine):
    """Least-squares support vector classification on few landmarks, for any number of rows.

    The regression of :class:`LandmarkLSSVR` on targets of +1 and -1, several classes by one against the rest over one
    factorisation.

    Parameters
    ----------
    C : "auto" or float, default="auto"
        Price of a squared error, > 0. "auto" tries 0.01, 1, 100, 1e4 and 1e6 and keeps the one with the least squared
        error on rows held out.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``.
    degree : int, default=3
        Degree of the polynomial kernel, >= 0.
    gamma : "auto" or float, default="auto"
        Kernel parameter, > 0. "auto" tries 0.1, 0.3, 1, 3 and 10 by the mean squared distance of two rows, and is
        chosen together with C. It is not the "auto" of :class:`LSSVC` and scikit-learn.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.
    n_landmarks : int, default=512
        The most landmarks, from 1 to 20,000. There are fewer only where fewer rows differ.
    class_weight : dict, "balanced" or None, default=None
        Factor of C for each class; "balanced" is ``n_samples / (n_classes * np.bincount(y))``.
    probability : bool, default=False
        Whether the fit prepares `predict_proba`, by decisions on rows that were held out.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        Of the rows, 50,000 at most, that landmarks, gamma and C are chosen on, and of those held out of them.
    n_jobs : int or None, default=None
        Threads; -1 is all cores. The bits are those of one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight_ : ndarray of shape (n_classes,)
        Factor of C for each class.
    support_ : int64 ndarray of shape (n_SV,)
        Rows that are landmarks; with ``kernel="linear"`` the features, whose unit vectors are.
    support_vectors_ : ndarray of shape (n_SV, n_features)
        The landmarks.
    dual_coef_ : ndarray of shape (n_outputs, n_SV)
        Coefficients of each class against the rest; of two classes only of ``classes_[1]``.
    intercept_ : ndarray of shape (n_outputs,)
        Constants of the decision functions.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the features, only with ``kernel="linear"``.
    kernel_ : Kernel
        The kernel of the fit, with gamma as a number.
    C_ : float
        The C of the fit.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has names that are all strings.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    LSSVC : All rows are support vectors; for some thousands of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke.svm import LandmarkLSSVC
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, (10_000, 2))
    >>> model = LandmarkLSSVC(n_landmarks=50, random_state=0).fit(X, np.hypot(*X.T) < 0.7)
    >>> model.predict([[0.1, 0.2], [0.9, 0.1]])
    array([ True, False])
    """

    _not_always = ("feature_names_in_", "_slope")
    _fitted = LandmarkMachine._fitted | {"classes_", "class_weight_", *_not_always}

    def __init__(
        self, *, C="auto", kernel="rbf", degree=3, gamma="auto", coef0=0.0, n_landmarks=512, class_weight=None,
        probability=False, random_state=None, n_jobs=None,
    ):  # fmt: skip
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.class_weight = class_weight
        self.probability = probability
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        """Choose landmarks, gamma and C on some of the rows, and train on all in one pass.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, finite. An array is read block by block, whatever its dtype; one that is mapped from a file stays
            there.
        y : array-like of shape (n_samples,)
            Labels of any type that sorts.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each row, >= 0. A weight of 2 is to the training the same as the row twice, one of 0 as no
            such row.

        Returns
        -------
        LandmarkLSSVC
            Itself.

        Raises
        ------
        ValueError
            A parameter out of its range, NaN or infinity in X, a single class, a class without weight, a kernel or
            coefficients that overflow, or a C so large that the normal equations are singular to working precision.
        """
        self._check_parameters()
        check_flag("probability", self.probability)
        array = read_array(X)
        features = self._features(X, array)
        y = read_labels(y, len(array))
        classes, codes, _ = encode(y)
        given = None if sample_weight is None else read_weights(sample_weight, len(array), codes, classes)
        factors = class_weights(self.class_weight, classes, y)
        weights = given
        if self.class_weight is not None:
            weights = factors[codes] if given is None else given * factors[codes]
        # of two classes one column, that of the second
        columns = np.arange(len(classes))[len(classes) == 2 :]
        hold_out = bool(self.probability)

        def targets(rows):
            return np.where(codes[rows, np.newaxis] == columns, 1.0, -1.0)

        chosen = self._train(array, X, targets, len(columns), weights, hold_out=hold_out)
        none = Units(np.zeros(len(columns)), np.ones(len(columns)))
        learned = {} if not hold_out else {"_slope": self._slope_of(chosen, codes, columns, given)}
        self._learn(
            **features, **self._solution(array, chosen, none), **learned, classes_=classes, class_weight_=factors
        )
        return self

    def _slope_of(self, chosen, codes, columns, weights):
        """That of probabilities from decisions on rows held out."""
        rows = chosen.held_out
        if not np.isfinite(chosen.decisions).all():
            raise ValueError(f"the decisions on rows held out are not finite: C={chosen.C} is too large, lower it")
        yes = codes[rows, np.newaxis] == columns
        return fit_slope(
            chosen.decisions, yes, np.ones(len(rows)) if weights is None else weights[rows], exclusive=True
        )

    def _check_fitted(self):
        super()._check_fitted()
        if hasattr(self, "_slope"):
            check_positive("_slope", self._slope)

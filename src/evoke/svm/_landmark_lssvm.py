"""Least-squares support vector machines on few landmarks: any number of rows, in one pass and little memory."""

from __future__ import annotations

from typing import Any

from evoke.persistence.model import savable
from evoke.sequences.preparation import Units
from evoke.svm._base import Regression
from evoke.svm._data import read_array, read_values
from evoke.svm._landmark_machine import LandmarkClassification, LandmarkMachine
from evoke.svm._weights import read_weights

__all__ = ["LandmarkLSSVC", "LandmarkLSSVR"]


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
        self,
        *,
        C: float | str = "auto",
        kernel: str = "rbf",
        degree: int = 3,
        gamma: float | str = "auto",
        coef0: float = 0.0,
        n_landmarks: int = 512,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LandmarkLSSVR:
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
class LandmarkLSSVC(LandmarkClassification):
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

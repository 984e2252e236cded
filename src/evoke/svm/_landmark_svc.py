"""Support vector classification on few landmarks: the squared hinge loss of any number of rows."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from evoke.persistence.model import savable
from evoke.svm._landmark_machine import LandmarkClassification

__all__ = ["LandmarkSVC"]


@savable
class LandmarkSVC(LandmarkClassification):
    """Support vector classification on few landmarks, for any number of rows.

    The machine with the least squared hinge loss among the functions ``f(x) = intercept_ + sum_j dual_coef_[j]
    K(z_j, x)`` with m landmarks z, which are rows of X, chosen by k-means++. It minimises ``c' K(z, z) c +
    C * sum_i max(0, 1 - y_i f(x_i))^2``, with coefficients c, a free constant, and y of +1 and -1; several classes each
    against the rest.
    Where the rows within the margin are known this is a problem of least squares, that of :class:`LandmarkLSSVC`;
    Newton's method solves one after the other [1]_, each in a pass over the rows, 50 at most. Rows that are
    decided well do not count, so this is mostly the better machine of the two where classes hardly overlap, at three to
    twelve times the time.

    Parameters
    ----------
    C : "auto" or float, default="auto"
        Price of a squared violation of the margin, > 0. "auto" tries 0.01, 1, 100, 1e4 and 1e6 and keeps the one with
        the fewest errors on rows held out.
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
    fit_status_ : int
        0 if converged, 1 if not, which also warns.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if `X` has names that are all strings.
    shape_fit_ : tuple of int
        Shape of the training rows.

    See Also
    --------
    SVC : Any row can be a support vector; for some thousands of rows.
    LandmarkLSSVC : Least squares, in one pass.

    References
    ----------
    .. [1] O. Chapelle, "Training a support vector machine in the primal", Neural Computation 19(5), 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from evoke.svm import LandmarkSVC
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, (10_000, 2))
    >>> model = LandmarkSVC(n_landmarks=50, random_state=0).fit(X, np.hypot(*X.T) < 0.7)
    >>> model.predict([[0.1, 0.2], [0.9, 0.1]])
    array([ True, False])
    """

    _fitted = LandmarkClassification._fitted | {"fit_status_"}
    _separating = True

    def _solution(self, array, chosen, units):
        if not chosen.converged:
            warnings.warn(
                f"the solver stopped before its optimum, at C={chosen.C}; scale X or lower C", ConvergenceWarning,
                stacklevel=3,
            )  # fmt: skip
        return {**super()._solution(array, chosen, units), "fit_status_": int(not chosen.converged)}

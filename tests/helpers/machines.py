"""Problems for support vector machines."""

import numpy as np
import pytest

from evoke.svm import _thundersvm

thundersvm = pytest.param(
    "thundersvm",
    marks=pytest.mark.skipif(not _thundersvm.available(), reason="the ThunderSVM library is not here"),
)
both_solvers = pytest.mark.parametrize("solver", ["native", thundersvm])
CONSTANTS = {"kernel": "rbf", "gamma": 0.5, "coef0": 0.0, "degree": 3, "tol": 1e-4, "max_iter": -1}


def problem(seed, n=60, d=3, n_classes=2):
    """Rows and overlapping classes, each of which occurs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.argsort(np.argsort(np.sin(2.0 * X[:, 0]) + 0.5 * rng.normal(size=n))) * n_classes // n
    return X, y


def boxes(y, C=1.0):
    """Targets and bounds of a C-SVC with labels 0 and 1."""
    return 2.0 * y - 1.0, np.where(y == 1, 0.0, -C), np.where(y == 1, C, 0.0)

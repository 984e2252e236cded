"""Small fits for other processes, which find a function by its module."""

import numpy as np

from evoke import EvokeClassifier, EvokeRegressor

__all__ = ["digest_of_fit", "fit", "fit_on_landmarks"]

_RNG = np.random.default_rng(0)
X = [_RNG.normal(size=(300, 3)) for _ in range(20)]
SMALL = dict(n_generations=1, n_cells=2, subpopulation_size=4, n_trials=1, random_state=0)


def fit():
    return EvokeClassifier(**SMALL).fit(X, [0, 1] * 10)


def fit_on_landmarks():
    y = [x[:, 0] for x in X]
    return EvokeRegressor(**SMALL, readout="landmarks").fit(X, y)


def digest_of_fit(_=None):
    return fit().genome_.tobytes()

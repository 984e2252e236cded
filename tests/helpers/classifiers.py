"""Small classifiers and their data."""

import numpy as np

from evoke import EvokeClassifier

TINY = dict(n_cells=3, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)


def tiny(**parameters):
    return EvokeClassifier(**{**TINY, **parameters})


def ragged(*lengths, n_columns=2, seed=7):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(length, n_columns)) for length in lengths]


# Ragged sequences with a label each, and equal ones with a label a step.
RAGGED = ragged(3, 7, 1, 4, 6, 2, 5, 8, 3, 9)
ONES = np.array(["a", "b", "a", "b", "b", "a", "b", "a", "a", "b"])
EQUAL = ragged(5, 5, 5, 5)
STEPS = [(x[:, 0] > 0).astype(int) for x in EQUAL]


def assert_same_model(a, b):
    """Two models with the same bits."""
    np.testing.assert_array_equal(a.genome_, b.genome_)
    assert a.history_ == b.history_
    for name in ("support_vectors", "dual_coef", "intercept"):
        np.testing.assert_array_equal(getattr(a.readout_, name), getattr(b.readout_, name))

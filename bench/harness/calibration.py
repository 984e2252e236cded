"""Probabilities of evoke on the usual test sets, beside those that scikit-learn learns by cross-validation.

These are of `CalibratedClassifierCV` around the same classifier: with a sigmoid for each class, its default, and with
one temperature as evoke has it, for which scikit-learn must be 1.8 or later.

Judged by log-loss, by the Brier score (the squared error summed over the classes, 0 to 2) and by the expected
calibration error of Guo, Pleiss, Sun and Weinberger (2017): how far the probability of the predicted class is from the
share of right predictions, over bins of equal width.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

from evoke import EvokeClassifier
from harness import class_sets
from harness.class_methods import Method, Predict
from harness.class_sets import Sequences
from harness.results import Part

SETS = tuple(name for name in class_sets.SETS if name != "digits by pixels")
N_BINS = 10


def left_out(X: Sequences, y: np.ndarray, seed: int) -> Predict:
    return EvokeClassifier(random_state=seed).fit(X, y).predict_proba


def cross_validated(calibration: str, X: Sequences, y: np.ndarray, seed: int) -> Predict:
    """Five models, each calibrated on the fifth of the sequences that it has not seen; the mean of their answers."""
    return CalibratedClassifierCV(EvokeClassifier(random_state=seed), method=calibration, cv=5).fit(X, y).predict_proba


METHODS = {
    "evoke": Method(left_out),
    "5 folds, sigmoid": Method(functools.partial(cross_validated, "sigmoid")),
    "5 folds, temperature": Method(functools.partial(cross_validated, "temperature")),
}


def judged(proba: np.ndarray, y: np.ndarray, classes: np.ndarray) -> dict[str, Any]:
    """The scores, and of each bin that is not empty: number, predictions, mean probability, share that is right."""
    confidence, right = proba.max(axis=1), classes[proba.argmax(axis=1)] == y
    bin_of = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    bins = [
        [int(k), int((bin_of == k).sum()), float(confidence[bin_of == k].mean()), float(right[bin_of == k].mean())]
        for k in np.unique(bin_of)
    ]
    return {
        "log_loss": float(log_loss(y, proba, labels=classes)),
        "brier": float(((proba - (y[:, None] == classes)) ** 2).sum(axis=1).mean()),
        "ece": sum(n * abs(mean - share) for _, n, mean, share in bins) / len(y),
        "accuracy": float(right.mean()),
        "bins": bins,
    }


def measure(name: str, method: str, seed: int) -> dict[str, Any]:
    split = class_sets.load(name)
    begin = time.perf_counter()
    predict_proba = METHODS[method].fit(split.X, split.y, seed)
    fit = time.perf_counter() - begin
    made = judged(predict_proba(split.X_test), split.y_test, np.unique(split.y))
    return made | {"fit": fit, "n_test": len(split.y_test)}


PROBABILITIES = Part(SETS, METHODS, measure)

"""Probabilities from decisions that were made without having seen the sequences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, log_softmax, softmax

from evoke._validation.arrays import FloatArray

__all__ = ["fit_slope", "probabilities"]

# Logarithms of the smallest and the largest slope that are tried; those of scikit-learn's temperature scaling.
_SLOPES = (-10.0, 10.0)


def fit_slope(decisions: FloatArray, yes: NDArray[np.bool_], weights: FloatArray, *, exclusive: bool) -> float:
    """The slope by which decisions become probabilities with the least log-loss (Guo et al. 2017, section 4.2).

    One number for all classes: the class with the largest decision stays that with the largest probability. Each
    target is softened, so that the slope stays moderate where no decision is wrong: one part in ``1 + weights.sum()``
    of it is shared by all classes equally, or by yes and no.

    Parameters
    ----------
    decisions : ndarray of shape (n, n_outputs)
        Of machines that were trained without the sequence; finite.
    yes : bool ndarray of shape (n, n_outputs)
        Which outputs should say yes.
    weights : ndarray of shape (n,)
    exclusive : bool
        Whether an output is a class, or with one output two classes. If not, every output is for itself.

    Returns
    -------
    float
    """
    total = weights.sum()
    several = exclusive and yes.shape[1] > 1
    softened = (total * yes + 1.0 / (yes.shape[1] if several else 2)) / (total + 1.0)

    def loss(log_slope: float) -> float:
        logits = np.exp(log_slope) * decisions
        if several:
            log_loss = -(softened * log_softmax(logits, axis=1)).sum(axis=1)
        else:
            log_loss = -(softened * log_expit(logits) + (1.0 - softened) * log_expit(-logits)).sum(axis=1)
        return float(weights @ log_loss)

    return float(np.exp(minimize_scalar(loss, bounds=_SLOPES, method="bounded", options={"xatol": 1e-9}).x))


def probabilities(decisions: FloatArray, slope: float, *, exclusive: bool) -> FloatArray:
    """Probabilities of the classes (n, n_classes), or of a yes of each output (n, n_outputs).

    Parameters
    ----------
    decisions : ndarray of shape (n, n_outputs)
    slope : float
        That of `fit_slope`.
    exclusive : bool
        Whether an output is a class, or with one output two classes.
    """
    if exclusive and decisions.shape[1] > 1:
        return softmax(slope * decisions, axis=1)
    yes = expit(slope * decisions)
    return np.hstack([expit(-slope * decisions), yes]) if exclusive else yes

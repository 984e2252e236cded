"""What is trained on the activations of a network: parameters, fitted form, prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke import _svm
from evoke.svm import solve

__all__ = ["FittedReadout", "SVMReadout"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class FittedReadout:
    """A trained kernel readout: the paper's equation 2, one column of weights an output.

    Attributes
    ----------
    support_vectors : ndarray of shape (n_support, n_cells)
        Activations that carry a weight in at least one output.
    dual_coef : ndarray of shape (n_support, n_outputs)
        The weights w_ij.
    intercept : ndarray of shape (n_outputs,)
        The bias w_0.
    dual_gap : ndarray of shape (n_outputs,)
        Duality gap of each output's quadratic programme.
    converged : bool ndarray of shape (n_outputs,)
    kernel, gamma, coef0, degree
        The kernel K.
    """

    support_vectors: FloatArray
    dual_coef: FloatArray
    intercept: FloatArray
    dual_gap: FloatArray
    converged: NDArray[np.bool_]
    kernel: str
    gamma: float
    coef0: float
    degree: int

    def decide(self, phi: FloatArray) -> FloatArray:
        """Decision values (n_rows, n_outputs) of activations (n_rows, n_cells)."""
        return _svm.decide(
            np.ascontiguousarray(phi), self.support_vectors, self.dual_coef, self.intercept,
            self.kernel, self.gamma, self.coef0, self.degree,
        )  # fmt: skip


@dataclass(frozen=True)
class SVMReadout:
    """A C-support vector machine for every output, all over one kernel matrix (Evoke)."""

    kernel: str = "rbf"
    gamma: float = 0.25
    coef0: float = 0.0
    degree: int = 3
    C: float = 100.0
    tol: float = 1e-3
    solver: str = "auto"
    max_iter: int = 100_000

    name = "svm"

    def parameters(self, targets: FloatArray, weights: FloatArray) -> dict[str, object]:
        """What the core needs to train it on these targets and weights."""
        lower, upper = self.boxes(targets, weights)
        return {
            "kernel": self.kernel, "gamma": self.gamma, "coef0": self.coef0, "degree": self.degree,
            "lower": lower, "upper": upper, "epsilon": 0.0, "tol": self.tol, "max_iter": self.max_iter,
        }  # fmt: skip

    @property
    def fused(self) -> bool:
        """Whether the core evaluates whole slices of the population with this readout."""
        return self.solver in ("auto", "native")

    def boxes(self, targets: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of the signed coefficients (n_outputs, n): [0, C w] for label +1, [-C w, 0] for label -1."""
        bound = self.C * np.broadcast_to(weights, targets.shape)
        return np.where(targets > 0, 0.0, -bound), np.where(targets > 0, bound, 0.0)

    def fit(self, phi: FloatArray, targets: FloatArray, weights: FloatArray) -> FittedReadout:
        """Train on activations (n, n_cells), targets +-1 (n_outputs, n) and weights (n,)."""
        lower, upper = self.boxes(targets, weights)
        solution = solve(
            phi, targets, lower, upper, kernel=self.kernel, gamma=self.gamma, coef0=self.coef0, degree=self.degree,
            epsilon=0.0, tol=self.tol, max_iter=self.max_iter, solver=self.solver,
        )  # fmt: skip
        used = np.flatnonzero(solution.beta.any(axis=0))
        return FittedReadout(
            np.ascontiguousarray(phi[used]), np.ascontiguousarray(solution.beta[:, used].T), solution.bias,
            solution.gap, solution.converged, self.kernel, self.gamma, self.coef0, self.degree,
        )  # fmt: skip

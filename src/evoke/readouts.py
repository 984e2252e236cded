"""What is trained on the activations of a network: parameters, fitted form, prediction."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evoke._core import landmarks, loo
from evoke._core import readout as core_readout
from evoke._core.kernel import Kernel, decide
from evoke._validation.arrays import FloatArray, check_shape
from evoke._validation.computed import computed_once
from evoke._validation.errors import refusal
from evoke._validation.parameters import (
    check_choice,
    check_flag,
    check_integer,
    check_not_negative,
    check_positive,
    is_sequence,
)
from evoke.persistence.values import register
from evoke.svm._solve import check_stopping, solve_targets

__all__ = [
    "READOUTS", "READOUTS_OF_STEPS", "FittedReadout", "LSSVMReadout", "LandmarkReadout", "LeaveOneOut", "PinvReadout",
    "Readout", "SVMReadout", "with_parameters",
]  # fmt: skip


@dataclass(frozen=True)
class FittedReadout:
    """A trained readout: the paper's equation 2, one column of weights per output.

    Attributes
    ----------
    support_vectors : ndarray of shape (n_support, n_cells)
        Activations that carry a weight in at least one output; for the pseudoinverse the unit vectors.
    dual_coef : ndarray of shape (n_support, n_outputs)
        The weights w_ij.
    intercept : ndarray of shape (n_outputs,)
        The bias w_0.
    dual_gap : ndarray of shape (n_outputs,)
        Duality gap of each output's quadratic programme; 0 where the solution is in closed form.
    converged : bool ndarray of shape (n_outputs,)
        Whether the solver reached its tolerance.
    kernel : Kernel
        The kernel K, with name, gamma, coef0 and degree.

    Raises
    ------
    ValueError
        Parts of shapes that do not fit each other.
    ParameterError
        A part that is no array, or no kernel.
    """

    support_vectors: FloatArray
    dual_coef: FloatArray
    intercept: FloatArray
    dual_gap: FloatArray
    converged: NDArray[np.bool_]
    kernel: Kernel

    def __post_init__(self) -> None:
        _check_kernel(self.kernel)
        for name in ("support_vectors", "dual_coef", "intercept", "dual_gap", "converged"):
            if not isinstance(getattr(self, name), np.ndarray):
                raise refusal(name, "be an array", getattr(self, name))
        check_shape(self.support_vectors, "support_vectors", (None, None))
        check_shape(self.intercept, "intercept", (None,))
        check_shape(self.dual_coef, "dual_coef", (len(self.support_vectors), len(self.intercept)))
        for name in ("dual_gap", "converged"):
            check_shape(getattr(self, name), name, self.intercept.shape)

    @property
    def gamma(self) -> float:
        """That of the kernel."""
        return self.kernel.gamma

    @property
    def coef0(self) -> float:
        """That of the kernel."""
        return self.kernel.coef0

    @property
    def degree(self) -> int:
        """That of the kernel."""
        return self.kernel.degree

    def decide(self, phi: FloatArray) -> FloatArray:
        """Decision values, or predicted values: y(t) of equation 2.

        Parameters
        ----------
        phi : ndarray of shape (n_rows, n_cells)
            Activations.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            One value per output.

        Raises
        ------
        ValueError
            phi of another shape, or not of real numbers.
        """
        phi, n_cells = np.asarray(phi), self.support_vectors.shape[1]
        if phi.dtype.kind not in "biuf" or phi.ndim != 2 or phi.shape[1] != n_cells:
            raise ValueError(f"phi must be numbers of shape (n_rows, {n_cells}), got {phi.dtype} of shape {phi.shape}")
        phi = np.ascontiguousarray(phi, dtype=np.float64)
        return decide(phi, self._places, self.dual_coef, self.intercept, self.kernel)

    @computed_once
    def _places(self) -> FloatArray | None:
        """The support vectors, None for the unit vectors: then the sum has a term for each cell, and no kernel."""
        places = self.support_vectors
        n, n_cells = places.shape
        are_units = self.kernel.name == "linear" and n == n_cells and np.array_equal(places, np.eye(n))
        return None if are_units else places


def _state(readout: FittedReadout) -> dict[str, Any]:
    """What a model file holds: the kernel by its parameters."""
    kernel = readout.kernel
    parts = {"kernel": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
    return {field.name: getattr(readout, field.name) for field in fields(readout)} | parts


def _from_state(state: dict[str, Any]) -> FittedReadout:
    *kernel, = (state.pop(name) for name in ("kernel", "gamma", "coef0", "degree"))
    return FittedReadout(**state, kernel=Kernel(*kernel))


register(FittedReadout, _state, _from_state)


class Readout(Protocol):
    """How a readout is trained: by the core for slices of the population, and in Python for a single network."""

    @property
    def name(self) -> str:
        """Its name in the core."""

    @property
    def fused(self) -> bool:
        """Whether the core evaluates whole slices of the population with this readout."""

    def fit(self, phi: FloatArray, targets: FloatArray, weights: FloatArray, *, warn: bool = True) -> FittedReadout:
        """Train on activations (n, n_cells), targets (n_outputs, n) and weights (n,)."""


@dataclass(frozen=True)
class SVMReadout:
    """A support vector machine for every output, all over one kernel matrix (Evoke).

    Classification: targets +-1, C-SVC. Regression: epsilon-SVR.
    """

    kernel: Kernel = Kernel("rbf", 0.25)  # noqa: RUF009 a kernel cannot be changed
    C: float = 100.0
    epsilon: float = 0.0
    tol: float = 1e-3
    solver: str = "auto"
    regression: bool = False
    max_iter: int = 100_000

    name = "svm"

    def __post_init__(self) -> None:
        _check_kernel(self.kernel)
        check_positive("C", self.C)
        check_not_negative("epsilon", self.epsilon)
        check_stopping(self.tol, self.max_iter, self.solver)
        check_flag("regression", self.regression)

    @property
    def fused(self) -> bool:
        return self.solver in ("auto", "native")

    def boxes(self, targets: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds of the signed coefficients (n_outputs, n): [-C w, C w], or its half with the sign of the label."""
        bound = self.C * np.broadcast_to(weights, targets.shape)
        if self.regression:
            return -bound, bound
        return np.where(targets > 0, 0.0, -bound), np.where(targets > 0, bound, 0.0)

    def fit(self, phi: FloatArray, targets: FloatArray, weights: FloatArray, *, warn: bool = True) -> FittedReadout:
        lower, upper = self.boxes(targets, weights)
        solution = solve_targets(
            phi, targets, lower, upper, self.kernel, epsilon=self.epsilon, tol=self.tol, max_iter=self.max_iter,
            solver=self.solver, warn=warn,
        )  # fmt: skip
        used = np.flatnonzero(solution.beta.any(axis=0))
        return FittedReadout(
            np.ascontiguousarray(phi[used]), np.ascontiguousarray(solution.beta[:, used].T), solution.bias,
            solution.gap, solution.converged, self.kernel,
        )  # fmt: skip


@dataclass(frozen=True)
class LSSVMReadout:
    """A least-squares support vector machine (Suykens and Vandewalle): every point carries a weight.

    [K + I / C, 1; 1', 0] [alpha; b] = [y; 0], solved by one Cholesky factorisation for all outputs.
    """

    kernel: Kernel = Kernel("rbf", 0.25)  # noqa: RUF009 a kernel cannot be changed
    C: float = 1e6

    name = "lssvm"
    fused = True

    def __post_init__(self) -> None:
        _check_kernel(self.kernel)
        check_positive("C", self.C)

    def fit(self, phi: FloatArray, targets: FloatArray, weights: FloatArray, *, warn: bool = True) -> FittedReadout:
        return _fit_in_core(self, self.kernel, phi, targets, weights)


@dataclass(frozen=True)
class PinvReadout:
    """Linear weights by the Moore-Penrose pseudoinverse (PI-Evolino); singular values below rcond count as zero."""

    bias: bool = True
    rcond: float = 1e-13

    name = "pinv"
    fused = True

    def __post_init__(self) -> None:
        check_flag("bias", self.bias)
        check_not_negative("rcond", self.rcond)

    def fit(self, phi: FloatArray, targets: FloatArray, weights: FloatArray, *, warn: bool = True) -> FittedReadout:
        return _fit_in_core(self, Kernel("linear", 1.0, 0.0, 1), phi, targets, weights)


# Names of the readouts; ridge regression is the linear case of LeaveOneOut, whose fitness leaves out whole sequences.
READOUTS_OF_STEPS = core_readout.READOUTS
READOUTS = (*READOUTS_OF_STEPS, "ridge", "landmarks")


@dataclass(frozen=True)
class LeaveOneOut:
    """Least-squares machines whose kernel width and capacity are found by exact leave-one-out over a grid.

    Attributes
    ----------
    kernel : {"rbf", "linear"}
        "rbf" is the least-squares support vector machine, "linear" ridge regression.
    widths : tuple of float
        Of "rbf": gamma is a width divided by the mean squared distance between two points.
    capacities : tuple of float
        Values of C, ascending.
    relative : bool
        If not, a width is gamma itself, and the linear kernel is not divided by its mean value of a point with itself.
    scaled : bool
        Whether the features are standardised first.
    """

    kernel: str = "rbf"
    widths: tuple[float, ...] = (0.3, 1.0, 3.0)
    capacities: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0)
    relative: bool = True
    scaled: bool = True

    def choose(
        self, features: FloatArray, points: Any, objective: Any, blocks: NDArray[np.int64] | None = None
    ) -> loo.Chosen | None:
        """The best machine on features (n, n_features) of the points; None where no error is finite.

        `blocks` are where each block of points that is left out as a whole begins, and the last ends.
        """
        return loo.choose(
            features, points, self.kernel, self.widths, self.capacities, objective, self.relative, self.scaled, blocks
        )

    def __post_init__(self) -> None:
        _check_grid(self, loo.KERNELS)


@dataclass(frozen=True)
class LandmarkReadout:
    """Least-squares machines on few points, the landmarks, whose width and capacity are found on held-out points.

    Attributes
    ----------
    kernel : {"rbf", "linear"}
        "linear" is ridge regression: its landmarks are the unit vectors.
    widths, capacities, relative, scaled
        As in `LeaveOneOut`; the distances are those of the landmarks.
    n_landmarks : int
    """

    kernel: str = "rbf"
    widths: tuple[float, ...] = (0.1, 0.3, 1.0)
    capacities: tuple[float, ...] = (1.0, 100.0, 10000.0)
    n_landmarks: int = 64
    relative: bool = True
    scaled: bool = True

    name = "landmarks"

    def __post_init__(self) -> None:
        _check_grid(self, landmarks.KERNELS)
        check_integer("n_landmarks", self.n_landmarks, 1)


def with_parameters(readout: Readout, *, C: float | None = None, gamma: float | None = None) -> Readout:
    """The readout with another C or another gamma; `PinvReadout` has neither."""
    if not isinstance(readout, (SVMReadout, LSSVMReadout)):
        raise refusal("readout", "have C and gamma", readout)
    kernel = readout.kernel
    if gamma is not None:
        kernel = Kernel(kernel.name, gamma, kernel.coef0, kernel.degree)
    return replace(readout, C=readout.C if C is None else C, kernel=kernel)


def _check_grid(grid: LeaveOneOut | LandmarkReadout, kernels: tuple[str, ...]) -> None:
    check_choice("kernel", grid.kernel, kernels)
    for name, values in ("widths", grid.widths), ("capacities", grid.capacities):
        if not is_sequence(values) or len(values) == 0:
            raise refusal(name, "be positive finite numbers", values)
        for k, value in enumerate(values):
            check_positive(f"{name}[{k}]", value)
    check_flag("relative", grid.relative)
    check_flag("scaled", grid.scaled)


def _check_kernel(kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise refusal("kernel", "be a Kernel", kernel)


def _fit_in_core(
    readout: Readout, kernel: Kernel, phi: FloatArray, targets: FloatArray, weights: FloatArray
) -> FittedReadout:
    """The fit of one network's readout by the code that evaluates the population."""
    trained = core_readout.fit_readout(np.ascontiguousarray(phi), targets, weights, readout)
    if trained is None:
        raise ValueError("the kernel matrix is singular to working precision: lower C, or use readout='svm'")
    n_outputs = len(trained.intercept)
    return FittedReadout(*trained, np.zeros(n_outputs), np.ones(n_outputs, dtype=bool), kernel)

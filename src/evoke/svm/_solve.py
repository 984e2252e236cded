"""The quadratic programme of all support vector machines, solved by the native solver or by ThunderSVM."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evoke._core.kernel import KERNELS, Kernel
from evoke._core.qp import Certificate, Machine
from evoke._validation.arrays import check_dimensions, check_shape, to_finite
from evoke._validation.errors import refusal
from evoke._validation.parameters import (
    INT32_MAX,
    check_choice,
    check_flag,
    check_integer,
    check_not_negative,
    check_positive,
)
from evoke.exceptions import SolverWarning
from evoke.svm._kernels import check_kernel_range, check_name, check_square, gram_of, is_precomputed, not_finite
from evoke.svm._working_sets import MANY_ROWS, WorkingSets

__all__ = ["SOLVERS", "Solution", "check_solver_of_kernel", "check_stopping", "solve", "solve_each", "solve_targets"]

SOLVERS = ("auto", "native", "thundersvm")

# What max_iter=-1 stands for: a hundred times what solvable problems were seen to need, yet an end within a second for
# few rows, where hopeless problems are common.
_MOST_STEPS_A_ROW, _LEAST_MOST_STEPS = 1000, 100_000
# ThunderSVM counts rounds of many steps each.
_MAX_ROUNDS = 1000
_MAX_COPIED_ROWS = 50_000

# What single precision must reach, else the native solver takes over: a violation of twice tol, or of the first where
# tol is smaller; and a gap of the second, relative to the primal objective, which bounds what is lost, or one at which
# the native solver would stop. Nine of ten problems with C up to 100 pass, and fewer the larger C is.
_ACCEPTED_VIOLATION = 1e-3
_ACCEPTED_GAP = 1e-2


@dataclass(frozen=True)
class Solution:
    """Solutions of the dual for several targets over the same rows: ``f(x) = sum_i beta_i K(x_i, x) + bias``.

    Attributes
    ----------
    beta : ndarray of shape (n_targets, n)
        Signed dual coefficients.
    bias : ndarray of shape (n_targets,)
    gap : ndarray of shape (n_targets,)
        Primal minus dual objective, computed in double precision.
    objective : ndarray of shape (n_targets,)
        Dual objective, which is maximised.
    violation : ndarray of shape (n_targets,)
        By how much the optimality conditions are violated by the worst pair of rows.
    n_iter : int64 ndarray of shape (n_targets,)
        Steps of the native solver; those of ThunderSVM are not known and not counted.
    converged : bool ndarray of shape (n_targets,)
        `violation` is within `tol`, or for ThunderSVM within what single precision can reach.
    solver : {"native", "thundersvm"}
        The solver that was used.
    """

    beta: NDArray[np.float64]
    bias: NDArray[np.float64]
    gap: NDArray[np.float64]
    objective: NDArray[np.float64]
    violation: NDArray[np.float64]
    n_iter: NDArray[np.int64]
    converged: NDArray[np.bool_]
    solver: str


def solve(
    X: NDArray[np.float64],
    target: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    kernel: str | Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    gamma: float,
    coef0: float,
    degree: int,
    epsilon: float,
    tol: float,
    max_iter: int,
    solver: str,
    cache_size: float = 200,
    warn: bool = True,
) -> Solution:
    """Train support vector machines for one or several targets over one kernel matrix.

    For each target the dual ``max target' beta - 1/2 beta' K beta - epsilon |beta|_1`` subject to ``sum(beta) = 0`` and
    ``lower <= beta <= upper`` is solved. Classification has targets +1 and -1 with boxes [0, C] and [-C, 0] and
    epsilon 0; regression has boxes [-C, C].

    Parameters
    ----------
    X : array_like of shape (n, d)
        Finite rows, n >= 1.
    target, lower, upper : array_like of shape (n_targets, n) or (n,)
        ``lower <= 0 <= upper``, finite; boxes are broadcast over the targets.
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``; X is the kernel matrix (n, n);
        or a function that is given X twice and returns that matrix.
    gamma, coef0, degree : float, float, int
        Parameters of the kernel.
    epsilon : float
        Half width of the tube in which errors are free, >= 0.
    tol : float
        Largest violation of the optimality conditions (LIBSVM's rule), > 0.
    max_iter : int
        Most steps of the native solver for each target; -1 for a thousand per row, 100,000 at least.
    solver : {"auto", "native", "thundersvm"}
        "auto" is "native". ThunderSVM knows only bounds that are whole multiples of the smallest one of their class.
        Where its single precision is not enough, the native solver finishes its work.
    cache_size : float, default=200
        Memory for rows of the kernel matrix in MiB.
    warn : bool, default=True
        Whether to say that the native solver finished what ThunderSVM began.

    Returns
    -------
    Solution

    Raises
    ------
    ParameterError
        A parameter is of a value or type that it cannot have.
    ValueError
        An array is not finite or of the wrong shape, a kernel matrix is not symmetric, a box leaves out zero, the
        kernel or what is made of it overflows on X, or ThunderSVM cannot have these boxes.
    ThunderSVMError
        The library cannot be found or loaded.

    Warns
    -----
    SolverWarning
        ThunderSVM could not train on some target or did not reach the optimum; the native solver continued from there.
    """
    check_name(kernel)
    of_core = Kernel(kernel if kernel in KERNELS else "rbf", gamma, coef0, degree)
    epsilon = check_not_negative("epsilon", epsilon)
    check_stopping(tol, max_iter, solver, cache_size)
    check_solver_of_kernel(solver, kernel)
    check_flag("warn", warn)
    X = np.ascontiguousarray(to_finite(X, "X"))
    check_shape(X, "X", (None, None))
    if X.size == 0:
        raise ValueError(f"X must have a row and a column, got shape {X.shape}")
    if kernel not in KERNELS:
        if is_precomputed(kernel):
            check_square(X)
        X, of_core = gram_of(kernel, X, np.arange(len(X))), None
    arrays = []
    for name, value in ("target", target), ("lower", lower), ("upper", upper):
        array = to_finite(value, name)
        check_dimensions(array, name, (1, 2))
        check_shape(array, name, (*array.shape[:-1], len(X)))
        arrays.append(array)
    for name, array, outside in ("lower", arrays[1], arrays[1] > 0), ("upper", arrays[2], arrays[2] < 0):
        if outside.any():
            raise ValueError(f"{name} holds {array[outside][0]}, but lower <= 0 <= upper must hold")
    return solve_targets(
        X, arrays[0], arrays[1], arrays[2], of_core, epsilon=epsilon, tol=tol, max_iter=max_iter, solver=solver,
        cache_size=cache_size, warn=warn,
    )  # fmt: skip


def check_stopping(tol, max_iter, solver, cache_size=200):
    """The parameters of the solver that all machines have."""
    check_positive("tol", tol)
    check_choice("solver", solver, SOLVERS)
    check_integer("max_iter", max_iter, 1, INT32_MAX, other=-1)
    check_positive("cache_size", cache_size)


def check_solver_of_kernel(solver, kernel):
    """ThunderSVM has kernels of its own only."""
    if solver == "thundersvm" and (callable(kernel) or is_precomputed(kernel)):
        raise refusal("solver", "be 'auto' or 'native' where kernel is 'precomputed' or a function", solver)


def solve_targets(X, target, lower, upper, kernel, **options) -> Solution:
    """`solve` with the kernel as one object, or None where X is the kernel matrix."""
    target = np.atleast_2d(target)
    problems = zip(target, np.broadcast_to(lower, target.shape), np.broadcast_to(upper, target.shape), strict=True)
    betas, certificates = solve_each(
        X, [tuple(map(np.ascontiguousarray, problem)) for problem in problems], kernel, **options
    )
    columns = {name: np.array([getattr(found, name) for found in certificates]) for name in Certificate._fields}
    return Solution(betas, solver="thundersvm" if options["solver"] == "thundersvm" else "native", **columns)


def solve_each(X, problems, kernel, *, epsilon, tol, max_iter, solver, cache_size=200, warn=True):
    """Coefficients (n_problems, n) and a certificate for each problem: contiguous (target, lower, upper).

    Without a kernel X is the kernel matrix, which is there already: working sets would not save much of the work.
    """
    if kernel is not None:
        check_kernel_range(X, kernel)
    n = len(X)
    if max_iter == -1:
        max_iter = max(_LEAST_MOST_STEPS, _MOST_STEPS_A_ROW * n)
    cache_bytes = int(min(cache_size * 2.0**20, 8.0 * n * (n + 8)))
    machine = (Machine if n < MANY_ROWS or kernel is None else WorkingSets)(X, kernel, cache_bytes)
    betas, certificates, reasons = np.zeros((len(problems), n)), [], []
    for beta, (target, lower, upper) in zip(betas, problems, strict=True):
        reason = None
        if solver == "thundersvm":
            beta[:], reason = _train_thundersvm(
                X, target, lower, upper, kernel, epsilon=epsilon, tol=tol, max_iter=min(max_iter, _MAX_ROUNDS)
            )
            found = machine.certify(target, lower, upper, epsilon, tol, beta)
            violation = max(2 * tol, _ACCEPTED_VIOLATION)
            gap = max(_ACCEPTED_GAP * (found.objective + found.gap), tol * max(1.0, found.objective))
            if reason is None and not (found.violation <= violation and found.gap <= gap):
                reason = f"its solution has a violation of {found.violation:.3g} and a gap of {found.gap:.3g}"
            found = found._replace(converged=True)
        if reason is not None:
            reasons.append(reason)
        if solver != "thundersvm" or reason is not None:
            try:
                found = machine.solve(target, lower, upper, epsilon, tol, max_iter, beta)
            except OverflowError:
                raise not_finite(kernel, X, max(-lower.min(), upper.max())) from None
        # Both are sums over all coefficients.
        if not (math.isfinite(found.bias) and math.isfinite(found.gap)):
            raise not_finite(kernel, X, max(-lower.min(), upper.max()))
        certificates.append(found)
    if reasons and warn:
        warnings.warn(
            f"ThunderSVM did not reach the optimum of {len(reasons)} of {len(problems)} problem(s) and the native "
            f"solver continued from there: {reasons[0]}",
            SolverWarning,
            stacklevel=3,
        )
    return betas, certificates


def _train_thundersvm(X, target, lower, upper, kernel, **options):
    """Feasible coefficients from ThunderSVM, of shape (n,), and None; or zeros and why it could not train."""
    from evoke.svm import _thundersvm

    beta = np.zeros(len(X))
    used = np.flatnonzero(lower < upper)
    target, lower, upper = target[used], lower[used], upper[used]
    if not (np.any(lower < 0.0) and np.any(upper > 0.0)) or len(used) == 1:
        return beta, None  # nothing else sums to zero
    bound = np.maximum(-lower, upper)
    regression = bool(np.any((lower < 0.0) & (upper > 0.0)))
    kind = np.zeros(len(used), dtype=np.intp) if regression else (target > 0.0).astype(np.intp)
    C = [float(bound[kind == k].min()) for k in range(kind.max() + 1)]
    # The library knows one bound per class, so a row of weight 3 is given three times.
    copies = np.rint(bound / np.take(C, kind))
    if np.any(np.abs(copies * np.take(C, kind) - bound) > 1e-9 * bound) or copies.sum() > _MAX_COPIED_ROWS:
        raise ValueError(
            "solver='thundersvm' knows no sample_weight but whole multiples of the smallest in each class, "
            f"{_MAX_COPIED_ROWS} rows in all; use solver='native'"
        )
    repeated = np.repeat(np.arange(len(used)), copies.astype(np.intp))
    try:
        found = _thundersvm.train(
            X[used[repeated]], target[repeated], regression=regression, C=C if len(set(C)) > 1 else C[0],
            kernel=kernel.name, gamma=kernel.gamma, coef0=kernel.coef0, degree=kernel.degree, **options,
        )  # fmt: skip
    except _thundersvm.ThunderSVMError as error:
        if not _thundersvm.available():
            raise
        return beta, str(error)
    found = np.bincount(repeated, found, minlength=len(used))
    # The sum of copies at their bound is at the bound but for rounding.
    beta[used] = np.where(np.abs(found) >= (1.0 - 1e-12) * bound, np.copysign(bound, found), found)
    return beta, None

"""The kernel of a machine: one of the core's, a matrix that is given, or a function of two sets of rows."""

from __future__ import annotations

import math

import numpy as np

from evoke._core.kernel import KERNELS, Kernel
from evoke._validation.arrays import to_array, to_finite_rows
from evoke._validation.errors import ParameterError, refusal
from evoke._validation.parameters import INT32_MAX, check_integer, check_number, is_text, to_number

__all__ = [
    "check_kernel", "check_kernel_range", "check_name", "check_square", "gram_of", "is_precomputed", "make_kernel",
    "not_finite", "overflow", "singular", "support_vectors", "values_between",
]  # fmt: skip

_NAMES = (*KERNELS, "precomputed")
# By how much a matrix may differ from its transpose, relative to its largest value: what single precision rounds off.
_ROUNDING = 1e-6


def is_precomputed(kernel):
    return is_text(kernel, "precomputed")


def check_name(kernel):
    """What a kernel can be. A class can be called too, but it makes no array."""
    if not (isinstance(kernel, str) and kernel in _NAMES) and (not callable(kernel) or isinstance(kernel, type)):
        raise refusal("kernel", f"be one of {_NAMES} or a function of two sets of rows", kernel)


def check_kernel(kernel, gamma, coef0, degree):
    """The parameters of a kernel machine's kernel."""
    check_name(kernel)
    check_integer("degree", degree, 0, INT32_MAX)
    if not (gamma in ("scale", "auto") if isinstance(gamma, str) else 0 < to_number(gamma) < math.inf):
        raise refusal("gamma", "be 'scale', 'auto' or a positive finite number", gamma)
    check_number("coef0", coef0)


def make_kernel(kernel, gamma, coef0, degree, X):
    """The kernel of a fit on X: a `Kernel` with its parameters in numbers, "precomputed", or the caller's function."""
    if not isinstance(kernel, str):
        return kernel
    if kernel == "precomputed":
        return "precomputed"
    # The linear kernel has no use for a gamma, and so none for the variance of X.
    number = 1.0 if kernel == "linear" and isinstance(gamma, str) else _effective_gamma(gamma, X)
    return Kernel(str(kernel), number, float(coef0), int(degree))


def _effective_gamma(gamma, X):
    """The number that "scale" and "auto" stand for, as in scikit-learn."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        variance = X.var()
        value = float(1.0 / (X.shape[1] * variance)) if variance != 0.0 else 1.0
    if not 0.0 < value < math.inf:
        raise ValueError(f"gamma == 'scale' needs the variance of X, which is {variance:.3g}; scale X")
    return value


# ---------------------------------------------------------------------- what overflows


def check_kernel_range(X, kernel):
    """No kernel value between rows of X may overflow."""
    if not np.isfinite(_largest(kernel, X)):
        raise overflow(kernel, X)


def overflow(kernel, X):
    """The error to raise, which names the parameters that the kernel has a use for."""
    on = f"on X with values up to {np.abs(X).max():.3g}"
    if type(kernel) is not Kernel:
        return ValueError(f"the decisions overflow {on}; scale the kernel")
    return ValueError(f"the kernel overflows: {_stated(kernel)} {on}; {_smaller(kernel)}")


def not_finite(kernel, X, C):
    """The error to raise where no kernel value overflows on X, but what is made of them, with capacities up to C.

    X is the kernel matrix where that is given.
    """
    stated = f"{_stated(kernel)} has values up to {_largest(kernel, X):.3g}, and C={C:.3g}"
    if getattr(kernel, "name", None) == "rbf":
        return ValueError(f"the coefficients are not finite: {stated}; the targets or C are too large, scale them")
    return ValueError(
        f"the coefficients are not finite: {stated}; these and the targets are too large for each other: "
        f"{_smaller(kernel)}, or scale the targets or lower C"
    )


def singular(kernel, X, C):
    """The error to raise where a kernel matrix with 1 / C on its diagonal cannot be solved with."""
    fault = "is singular" if type(kernel) is Kernel else "has eigenvalues that are negative, or zero"
    rows = "these rows, lower it"
    if getattr(kernel, "name", None) != "rbf":
        rows = f"values up to {_largest(kernel, X):.3g} of {_stated(kernel)}, lower it, or {_smaller(kernel)}"
    return ValueError(
        f"the kernel matrix with 1 / C on its diagonal {fault} to working precision: C={C} is too large for {rows}"
    )


def _stated(kernel):
    """A kernel with the parameters that it has a use for."""
    if type(kernel) is not Kernel:
        return "the kernel that is given"
    return f"kernel={kernel.name!r}" + {
        "rbf": f" with gamma={kernel.gamma}",
        "poly": f" with gamma={kernel.gamma}, coef0={kernel.coef0}, degree={kernel.degree}",
    }.get(kernel.name, "")


def _smaller(kernel):
    """What makes the values of a kernel smaller; those of "rbf" are at most 1."""
    if type(kernel) is not Kernel:
        return "scale the kernel"
    return "scale X or lower gamma, coef0 or degree" if kernel.name == "poly" else "scale X"


def _largest(kernel, X):
    """A bound of the kernel between rows of X: by Cauchy and Schwarz that of the longest row with itself."""
    if type(kernel) is not Kernel:
        return np.abs(X).max()
    if kernel.name == "rbf":
        return 1.0
    with np.errstate(over="ignore"):
        largest = np.einsum("ij,ij->i", X, X).max()
        if kernel.name == "poly":
            largest = (kernel.gamma * largest + abs(kernel.coef0)) ** kernel.degree
    return largest


# ---------------------------------------------------------------------- kernels that are given


def check_square(X):
    """X as a kernel matrix between the rows of a fit."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"X must be a square matrix with kernel='precomputed' in fit, got shape {X.shape}")


def gram_of(kernel, rows, order):
    """The kernel matrix of the rows `order` of X, which are given; None where the core computes it."""
    if type(kernel) is Kernel:
        return None
    if is_precomputed(kernel):
        return _symmetric(rows.take(order, axis=1), "X must be symmetric with kernel='precomputed'", order)
    gram = values_between(kernel, rows, rows, "kernel(X, X)")
    return _symmetric(gram, "kernel(X, X) must be symmetric", order)


def support_vectors(kernel, rows, used):
    """Those of the rows that predictions need; of a matrix that is given they need columns only, as in scikit-learn."""
    if type(kernel) is Kernel or not is_precomputed(kernel):
        return rows.take(used, axis=0)
    return np.empty((0, 0))


def values_between(kernel, A, B, name):
    """What the caller's function returns for two sets of rows, (len(A), len(B)) finite numbers."""
    given = to_array(kernel(A, B), name)
    if given.shape != (len(A), len(B)):
        raise ParameterError(f"{name} must have shape {(len(A), len(B))}, got {given.shape}")
    return np.ascontiguousarray(to_finite_rows(given, name, None, ("row", "column")))


def _symmetric(gram, demand, order):
    """The matrix; where rounding makes it differ from its transpose, the mean of both."""
    if np.array_equal(gram, gram.T):
        return gram
    difference = np.abs(gram - gram.T)
    if not difference.max() <= _ROUNDING * np.abs(gram).max():
        i, j = np.unravel_index(difference.argmax(), gram.shape)
        raise ValueError(
            f"{demand}, but has {gram[i, j]:.6g} at row {order[i]}, column {order[j]} and {gram[j, i]:.6g} at row "
            f"{order[j]}, column {order[i]}"
        )
    return 0.5 * gram + 0.5 * gram.T

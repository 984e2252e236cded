"""Training with the ThunderSVM library, called through its C interface.

ThunderSVM (Wen et al., JMLR 19(21), 2018) solves the dual of the support vector machine in single precision. Only the
signed dual coefficients are taken from it: its intercept has the wrong sign when no support vector is free, and its
predictions are single precision, so the caller computes intercept, duality gap and predictions from the coefficients.

The library is found at the first call, never at import: ``EVOKE_THUNDERSVM_LIB`` names a ``libthundersvm.so``, else the
one in the ``thundersvm-cpu`` package is used. That package is located without importing it, and its own Python classes
are not used: they crash on copies, on a fit without support vectors and on two threads.
"""

import ctypes
import functools
import os
import sys
import threading
from importlib import metadata
from typing import NamedTuple

import numpy as np
from numpy.ctypeslib import ndpointer
from sklearn.utils import check_array

from evoke._core import dispatch
from evoke._validation.arrays import check_shape
from evoke._validation.errors import refusal
from evoke._validation.parameters import (
    INT32_MAX,
    check_choice,
    check_integer,
    check_not_negative,
    check_number,
    check_positive,
    is_sequence,
)

__all__ = ["ThunderSVMError", "available", "info", "train"]

_ENVIRONMENT = "EVOKE_THUNDERSVM_LIB"
_PACKAGE = "thundersvm-cpu"

_C_SVC, _EPSILON_SVR = 0, 3
_KERNELS = {"linear": 0, "poly": 1, "rbf": 2}

_FLOAT32 = np.finfo(np.float32)
# The library takes |a - b|^2 from |a|^2 + |b|^2 - 2ab in single precision. With the largest |a| scaled to 1 that is off
# by a few 1e-7, so the exponent of the kernel is off by gamma times as much: beyond this limit the kernel is noise.
_MAX_SCALED_GAMMA = 1e5
# Coefficients this close to their box, relative to its size, are at the bound but for single precision.
_AT_BOUND = 1e-6

_ints = ndpointer(np.int32, flags="C_CONTIGUOUS")
_floats = ndpointer(np.float32, flags="C_CONTIGUOUS")
_int, _float, _model = ctypes.c_int, ctypes.c_float, ctypes.c_void_p

# Result and argument types of the C functions in use; int is 32-bit, every array of reals is float32.
_PROTOTYPES = {
    "model_new": (_model, [_int]),
    "model_free": (None, [_model]),
    "dense_model_scikit": (
        None,
        # rows, features, X, y, svm_type, kernel, degree
        [_int, _int, _floats, _floats, _int, _int, _int]
        # gamma, coef0, C, nu, epsilon, tol, probability
        + [_float, _float, _float, _float, _float, _float, _int]
        # weight_size, weight_label, weight, verbose, max_iter, n_cores, max_mem_mb, gpu_id
        + [_int, _ints, _floats, _int, _int, _int, _int, _int]
        # n_features, n_classes, succeed, model
        + [_ints, _ints, _ints, _model],
    ),
    "n_sv": (_int, [_model]),
    "get_sv": (None, [_ints, _ints, _floats, _ints, _ints, _model]),
    "get_coef": (None, [_floats, _int, _int, _model]),
}


class ThunderSVMError(RuntimeError):
    """The ThunderSVM library is missing, cannot be loaded, or cannot solve this problem in single precision."""


# The library keeps global state and crashes when two threads are inside it, and ctypes releases the GIL. A fork waits
# for the thread inside, so that the child does not inherit a half-changed state. Reentrant, because a signal handler
# may fork while its own thread holds the lock.
_lock = threading.RLock()
_forked = False


def _after_fork_in_child():
    global _lock, _forked
    _lock = threading.RLock()
    # The OpenMP threads of the parent do not exist here, and waiting for them never ends: stay with one.
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _lock.acquire(),
        after_in_parent=lambda: _lock.release(),
        after_in_child=_after_fork_in_child,
    )


@functools.cache
def _packaged_path():
    try:
        return str(metadata.distribution(_PACKAGE).locate_file("thundersvm/libthundersvm.so"))
    except metadata.PackageNotFoundError:
        raise ThunderSVMError(
            f"ThunderSVM is not installed: pip install {_PACKAGE}==0.3.3 (Linux on x86-64), "
            f"or set {_ENVIRONMENT} to the path of a libthundersvm.so"
        ) from None


def _locate():
    """Path of the library and where it is named; the file itself is not looked at."""
    override = os.environ.get(_ENVIRONMENT)
    if override:
        return os.path.abspath(override), _ENVIRONMENT
    return _packaged_path(), _PACKAGE


def _elf_header(path):
    """Magic, word size and byte order, and machine of an ELF file: what two files of one process share."""
    with open(path, "rb") as file:
        header = file.read(20)
    return header[:6], header[18:20]


@functools.cache  # failures are not kept: a file that was put right is found by the next call
def _open(path, source):
    """Load the library and declare the functions in use."""
    remedy = f"set {_ENVIRONMENT} to a libthundersvm.so for this machine"
    if source == _ENVIRONMENT:
        remedy += f", or unset it to use the {_PACKAGE} package"
    fault = f"cannot use ThunderSVM from {source}, {path}: "
    try:
        if not os.path.exists(path):
            raise ThunderSVMError(f"{fault}the file does not exist; {remedy}")
        if not os.path.isfile(path):
            raise ThunderSVMError(f"{fault}it is not a file; {remedy}")
        # The dynamic loader's own words for a wrong file are hard to act on, so compare with a file that did load.
        if sys.platform == "linux" and _elf_header(path) != _elf_header(dispatch.__file__):
            raise ThunderSVMError(f"{fault}it is not an ELF file for this machine; {remedy}")
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ThunderSVMError(f"{fault}{error}; {remedy}") from error
    for name, (restype, argtypes) in _PROTOTYPES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ThunderSVMError(f"{fault}it has no function {name}; {remedy}") from None
        function.restype, function.argtypes = restype, argtypes
    return library


def available():
    """Whether the library can be loaded.

    Returns
    -------
    bool
    """
    return info()["available"]


def info():
    """Which library is used, or why there is none.

    Returns
    -------
    dict
        ``available`` (bool), ``path`` (str or None), ``error`` (str or None) and ``source``
        (``"EVOKE_THUNDERSVM_LIB"``, ``"thundersvm-cpu"`` or None: what names the path).
    """
    path = source = error = None
    try:
        path, source = _locate()
        _open(path, source)
    except ThunderSVMError as reason:
        error = str(reason)
    return {"available": error is None, "path": path, "error": error, "source": source}


def train(
    X,
    target,
    *,
    regression,
    kernel,
    gamma=1.0,
    degree=3,
    coef0=0.0,
    C=1.0,
    epsilon=0.1,
    tol=1e-3,
    max_iter=200,
    n_cores=1,
    gpu_id=0,
):
    """Solve the dual of a C-SVC or an epsilon-SVR with ThunderSVM.

    The call cannot be interrupted. Calls from several threads run one after the other.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows to train on, n >= 2, finite and within the range of float32.
    target : array-like of shape (n,)
        Labels, each -1.0 or 1.0 and both present; or real values if `regression`.
    regression : bool
        Epsilon-SVR instead of C-SVC.
    kernel : {"linear", "poly", "rbf"}
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``.
    gamma : float, default=1.0
        Kernel parameter, > 0.
    degree : int, default=3
        Degree of the polynomial kernel, >= 1.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.
    C : float or pair of float, default=1.0
        Upper bound of the coefficients' size, > 0; for classification optionally a pair, the bounds of label -1 and of
        label 1.
    epsilon : float, default=0.1
        Half width of the tube in which errors are free, >= 0; regression only.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which training stops, >= 1e-6.
    max_iter : int, default=200
        Most rounds of training, >= 1; in each round up to 1024 rows are optimised. Reaching it is not reported.
    n_cores : int, default=1
        OpenMP threads, >= 1, at most the number of processors; 1 in a forked process. Several are slower than one below
        some thousand rows. The result does not depend on it.
    gpu_id : int, default=0
        Device of a CUDA build.

    Returns
    -------
    ndarray of shape (n,)
        float64 signed dual coefficients, ``f(x) = sum_i beta_i K(x_i, x) + bias``. They sum to zero, in single
        precision where none is free. For classification
        ``0 <= beta_i <= C`` for label 1 and ``-C <= beta_i <= 0`` for label -1; for regression ``|beta_i| <= C``.

    Raises
    ------
    ValueError, TypeError
        An argument is out of its range or of the wrong type.
    ThunderSVMError
        The library is missing or broken, the problem does not fit into single precision, or the result is unusable.
    """
    X = check_array(X, dtype=np.float64, order="C", ensure_min_samples=2, input_name="X")
    target = check_array(target, dtype=np.float64, ensure_2d=False, input_name="target")
    check_shape(target, "target", X.shape[:1])
    for name, array in ("X", X), ("target", target):
        if np.abs(array).max() > _FLOAT32.max:
            raise ValueError(f"{name} holds {array.flat[np.abs(array).argmax()]}, outside of the range of float32")
    if X.size > INT32_MAX:
        raise ValueError(f"X has {X.size} elements, must be at most {INT32_MAX}")
    check_choice("kernel", kernel, tuple(_KERNELS))
    check_positive("gamma", gamma)
    check_number("coef0", coef0)
    check_not_negative("epsilon", epsilon)
    check_number("tol", tol, 1e-6, _FLOAT32.max)
    check_integer("degree", degree, 1, INT32_MAX)
    check_integer("max_iter", max_iter, 1, INT32_MAX)
    check_integer("n_cores", n_cores, 1)
    check_integer("gpu_id", gpu_id, 0, INT32_MAX)
    pair = tuple(C) if is_sequence(C) and not regression else (C, C)
    if len(pair) != 2:
        raise refusal("C", "be a number or a pair (C_negative, C_positive)", C)
    for bound in pair:
        check_positive("C", bound)

    if regression:
        if np.ptp(target) <= 2 * epsilon:
            return np.zeros(len(target))  # a constant is within epsilon of every target; the library gets this wrong
        # Constants in the target go into the bias, and single precision is finest around zero.
        target = target - (target.min() / 2 + target.max() / 2)
        # More than this is as good as infinity, for single precision too.
        epsilon = min(epsilon, _FLOAT32.max)
        order = np.arange(len(target))
        size = np.full(len(target), float(C))
    else:
        if not np.isin(target, (-1.0, 1.0)).all():
            raise ValueError(f"target holds {target[~np.isin(target, (-1.0, 1.0))][0]}, must be -1.0 or 1.0")
        if target.min() == target.max():
            raise ValueError(f"target holds only {target[0]}, both -1.0 and 1.0 are needed")
        # The library gives the sign + to the class that comes first.
        order = np.argsort(-target, kind="stable")
        size = np.where(target < 0, *map(float, pair))

    scaled = _scaled(X, kernel, float(gamma), degree, float(coef0))
    # The library optimises a power of two of rows at a time, and two of three is too few to get anywhere: let it have
    # every row twice, with half the bound each.
    copies = 2 if len(order) == 3 and not regression else 1
    order = np.repeat(order, copies)
    # Coefficients scale with the inverse of the kernel, and so does their box.
    largest = max(pair) * scaled.unit / copies
    smallest = min(pair) * scaled.unit / copies
    weights = np.array([pair[1], pair[0]]) / max(pair)
    if not (_FLOAT32.tiny <= smallest and largest <= _FLOAT32.max and weights.min() >= _FLOAT32.tiny):
        raise ThunderSVMError(
            f"C={C!r} with kernel values up to {scaled.unit:.3g} is outside of the range of single precision that "
            "ThunderSVM works in; use the native solver"
        )
    support, coefficients = _fit(
        _open(*_locate()),
        scaled.rows[order].astype(np.float32),
        target[order].astype(np.float32),
        _EPSILON_SVR if regression else _C_SVC,
        _KERNELS[kernel],
        (degree, scaled.gamma, scaled.coef0, largest, epsilon, tol, max_iter, n_cores, gpu_id),
        weights.astype(np.float32) if pair[0] != pair[1] else np.empty(0, np.float32),
    )
    # In units of the C that the library was given, so that a coefficient at its bound is at ours to the last bit.
    coefficients *= max(pair) / copies / float(np.float32(largest))
    beta = np.bincount(order[support], coefficients, minlength=len(target))
    return _feasible(beta, size, None if regression else target)


class _Scaled(NamedTuple):
    """Rows and the parameters of the kernel, whose values are those of the kernel before divided by `unit`."""

    rows: np.ndarray
    gamma: float
    coef0: float
    unit: float


def _scaled(X, kernel, gamma, degree, coef0):
    """The same kernel, divided by `unit`, for rows that suit single precision: the largest is 1, kernel values <= 1.

    Moving all rows leaves the Gaussian kernel as it is, and changes the linear kernel only by terms that vanish in the
    dual because the coefficients sum to zero. The polynomial kernel has its origin in X.
    """
    if kernel != "poly":
        X = X - X.mean(axis=0)
    radius = np.sqrt(np.max(np.einsum("ij,ij->i", X, X))) or 1.0
    with np.errstate(over="ignore", under="ignore"):
        gamma = gamma * radius**2
        unit = 1.0
        if kernel == "linear":
            unit = radius**2
        elif kernel == "poly":
            base = gamma + abs(coef0)
            gamma, coef0, unit = gamma / base, coef0 / base, base**degree
        elif gamma > _MAX_SCALED_GAMMA:
            raise ThunderSVMError(
                f"the Gaussian kernel is too narrow for ThunderSVM's single precision: gamma times the squared radius "
                f"of the rows is {gamma:.3g}, above {_MAX_SCALED_GAMMA:.3g}; use the native solver"
            )
    # A smaller gamma means a constant kernel as much as the smallest, and zero must not reach the library.
    gamma = min(max(gamma, float(_FLOAT32.tiny)), float(_FLOAT32.max))
    return _Scaled(X / radius, gamma, coef0, unit)


def _fit(library, X, y, svm_type, kernel, parameters, weights):
    """Train once and return the support vectors' row numbers and their coefficients, float64."""
    degree, gamma, coef0, C, epsilon, tol, max_iter, n_cores, gpu_id = parameters
    n, d = X.shape
    labels = np.array([1, -1], dtype=np.int32)
    out = [np.zeros(1, dtype=np.int32) for _ in range(3)]
    n_features, n_classes, succeed = out
    with _lock:
        n_cores = 1 if _forked else min(n_cores, os.cpu_count() or 1)
        limit = _openmp_limit(library)
        model = library.model_new(svm_type)
        try:
            library.dense_model_scikit(
                *(n, d, X, y, svm_type, kernel, degree, gamma, coef0, C, 0.0, epsilon, tol),
                *(0, len(weights), labels, weights, 0, max_iter, n_cores, -1, gpu_id),
                *(n_features, n_classes, succeed, model),
            )
            n_support = library.n_sv(model)
            if succeed[0] != 1 or not 0 <= n_support <= n:
                raise ThunderSVMError(f"ThunderSVM failed: {n_support} support vectors of {n} rows")
            support = np.zeros(n_support, dtype=np.int32)
            coefficients = np.zeros(n_support, dtype=np.float32)
            if n_support:
                offsets = np.empty(n_support + 1, dtype=np.int32)
                columns = np.empty(n_support * d, dtype=np.int32)
                values = np.empty(n_support * d, dtype=np.float32)
                library.get_sv(offsets, columns, values, np.empty(1, dtype=np.int32), support, model)
                library.get_coef(coefficients, 2, n_support, model)
        finally:
            library.model_free(model)
            if limit is not None:
                library.omp_set_num_threads(limit)
    if n_support and not (0 <= support.min() and support.max() < n and np.isfinite(coefficients).all()):
        raise ThunderSVMError("ThunderSVM returned unusable coefficients; use the native solver")
    return support, coefficients.astype(np.float64)


def _openmp_limit(library):
    """The calling thread's number of OpenMP threads, which every training changes; None without OpenMP."""
    try:
        return library.omp_get_max_threads()  # of the OpenMP library that this one is linked to
    except AttributeError:
        return None


def _feasible(beta, size, labels):
    """Undo single precision: into the box of the given size, to the bound if all but there, and sum to zero."""
    lower = -size if labels is None else np.where(labels < 0, -size, 0.0)
    upper = size if labels is None else np.where(labels < 0, 0.0, size)
    beta = np.where(np.abs(beta) >= (1 - _AT_BOUND) * size, np.copysign(size, beta), beta)
    beta = np.clip(beta, lower, upper)
    excess = beta.sum()
    if abs(excess) > 1e-4 * np.abs(beta).sum():
        raise ThunderSVMError(f"ThunderSVM returned coefficients that sum to {excess:.3g}; use the native solver")
    # The support vector furthest from its bounds takes what rounding left over; where none is free, nothing is moved.
    room = np.minimum(np.abs(beta), size - np.abs(beta))
    freest = room.argmax()
    if room[freest] > abs(excess):
        beta[freest] -= excess
    return beta

"""Dense linear algebra of the core, for the least-squares readouts, tests and benchmarks."""
import numpy as np

from evoke._core.dispatch cimport evk_pinv_work_size, evk_poll, kernels, listening

cdef enum:
    LANES = 8


def cholesky(double[:, ::1] a not None):
    """Factor in place: row-major upper triangle U with U'U = A; columns are padded to whole packs with zeros.

    Returns n, or the first row whose pivot is not positive."""
    cdef size_t n = a.shape[0], ld = a.shape[1]
    cdef ptrdiff_t done
    cdef evk_poll poll = listening(NULL)
    if n == 0:
        return 0
    if ld % LANES or ld < n:
        raise ValueError(f"a has {ld} columns: they must be padded to a multiple of {LANES}")
    with nogil:
        done = kernels.cholesky(&a[0, 0], n, ld, &poll)
    return done


def cholesky_solve(const double[:, ::1] u not None, double[:, ::1] b not None):
    """Overwrite each row of b (m, ld) by the solution of U'U x = b."""
    cdef size_t n = u.shape[0], ld = u.shape[1]
    cdef Py_ssize_t k
    if b.shape[1] != u.shape[1]:
        raise ValueError(f"b has {b.shape[1]} columns, u has {ld}")
    if n == 0:
        return
    with nogil:
        for k in range(b.shape[0]):
            kernels.cholesky_solve(&u[0, 0], n, ld, &b[k, 0])


def pinv(columns, targets, double rcond):
    """Weights (n_targets, d) of least squares and least norm for columns (d, n), targets (n_targets, n); the rank."""
    cdef double[:, ::1] x = np.array(columns, dtype=np.float64, order="C")
    cdef double[:, ::1] y = np.array(targets, dtype=np.float64, order="C")
    cdef size_t d = x.shape[0], n = x.shape[1], n_targets = y.shape[0]
    cdef ptrdiff_t rank
    cdef evk_poll poll = listening(NULL)
    if y.shape[1] != x.shape[1]:
        raise ValueError(f"targets have {y.shape[1]} points, columns have {n}")
    weights = np.zeros((n_targets, d))
    if d == 0 or n == 0 or n_targets == 0:
        return weights, 0
    cdef double[:, ::1] out = weights
    cdef double[::1] work = np.empty(evk_pinv_work_size(n, d))
    with nogil:
        rank = kernels.pinv(&x[0, 0], n, d, &y[0, 0], n_targets, rcond, &work[0], &out[0, 0], &poll)
    return weights, rank

"""The kernel K(x, z) of the support vector machines: one type, Gram matrices, decision values."""
from cpython.exc cimport PyErr_CheckSignals

import math

import numpy as np

from evoke._core.dispatch cimport (
    aligned, evk_columns, evk_gram, evk_gram_place, evk_gram_work_size, evk_poll, kernels, listening,
)

cdef enum:
    LANES = 8
    WORK_BETWEEN_SIGNALS = 20000000

KERNELS = ("linear", "poly", "rbf")


cdef class Kernel:
    """A kernel with its parameters: ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``.

    It cannot be changed. All parameters are there for every kernel, used or not.

    Parameters
    ----------
    name : {"linear", "poly", "rbf"}
    gamma : float
        Positive and finite.
    coef0 : float
        Finite.
    degree : int
        From 0 to 2**31 - 1.

    Raises
    ------
    ValueError
        A parameter out of its range.
    """

    def __init__(self, name="rbf", gamma=1.0, coef0=0.0, degree=3):
        if name not in KERNELS:
            raise ValueError(f"kernel must be one of {KERNELS}, got {name!r:.50}")
        if not (isinstance(gamma, float) and 0.0 < gamma < math.inf):
            raise ValueError(f"gamma must be a positive finite number, got {gamma!r:.50}")
        if not (isinstance(coef0, float) and math.isfinite(coef0)):
            raise ValueError(f"coef0 must be a finite number, got {coef0!r:.50}")
        if not (type(degree) is int and 0 <= degree < 2**31):
            raise ValueError(f"degree must be an integer from 0 to 2**31 - 1, got {degree!r:.50}")
        self.name = str(name)
        self.c.kind = KERNELS.index(name)
        self.c.gamma, self.c.coef0, self.c.degree = gamma, coef0, degree

    @property
    def gamma(self):
        return self.c.gamma

    @property
    def coef0(self):
        return self.c.coef0

    @property
    def degree(self):
        return self.c.degree

    def __reduce__(self):
        return Kernel, (self.name, self.gamma, self.coef0, self.degree)

    def __eq__(self, other):
        return isinstance(other, Kernel) and self.__reduce__() == other.__reduce__()

    def __hash__(self):
        return hash(self.__reduce__())

    def __repr__(self):
        return f"Kernel({self.name!r}, gamma={self.gamma!r}, coef0={self.coef0!r}, degree={self.degree!r})"


cdef void to_columns(const double *x, size_t n, size_t d, size_t stride, size_t ld, double *columns) noexcept nogil:
    """x[i * d * stride + h * stride] -> columns[h * ld + i], zero behind n."""
    cdef size_t i, h
    for h in range(d):
        for i in range(n):
            columns[h * ld + i] = x[(i * d + h) * stride]
        for i in range(n, ld):
            columns[h * ld + i] = 0.0


def decide(const double[:, ::1] x not None, const double[:, ::1] sv not None, const double[:, ::1] coef not None,
           const double[::1] bias not None, Kernel kernel not None):
    """Decision values (n, n_outputs) of rows x (n, d): y(t) of the paper's equation 2.

    From support vectors (m, d), coefficients (m, n_outputs) and one constant per output."""
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = sv.shape[0], n_outputs = bias.shape[0]
    result = np.empty((n, n_outputs))
    if n == 0 or n_outputs == 0:
        return result
    cdef double[:, ::1] out = result
    cdef double[::1] work = np.empty((d + n_outputs) * LANES)
    cdef Py_ssize_t step = max(1, WORK_BETWEEN_SIGNALS // (1 + m * (d + n_outputs + 8))) * LANES
    cdef Py_ssize_t first, here
    cdef double nothing = 0.0
    cdef const double *sv_data = &sv[0, 0] if m > 0 and d > 0 else &nothing
    cdef const double *coef_data = &coef[0, 0] if m > 0 else &nothing
    for first in range(0, n, step):
        PyErr_CheckSignals()
        here = min(step, n - first)
        with nogil:
            kernels.decide(&kernel.c, &x[first, 0], here, d, sv_data, m, coef_data, &bias[0], n_outputs, &work[0],
                           &out[first, 0])
    return result


def gram(const double[:, ::1] x not None, Kernel kernel not None):
    """The Gram matrix K(x_i, x_j), of shape (n, n)."""
    cdef size_t n = x.shape[0], d = x.shape[1], ld = (n + LANES - 1) // LANES * LANES
    cdef size_t size = evk_gram_work_size(n, n)
    if size == 0:
        raise MemoryError(f"a kernel matrix of {n} rows does not fit")
    cdef double[::1] work = aligned(size), columns = aligned(max(1, d) * ld)
    cdef evk_columns points
    cdef evk_gram matrix
    cdef evk_poll poll = listening(NULL)
    points.x, points.n, points.d, points.ld = &columns[0], n, d, ld
    if d > 0 and n > 0:
        to_columns(&x[0, 0], n, d, 1, ld, &columns[0])
    evk_gram_place(&matrix, &kernel.c, points, n, &work[0])
    kernels.gram_fill(&matrix, &poll)
    return np.asarray(work)[: n * ld].reshape(n, ld)[:, :n].copy()

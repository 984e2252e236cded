"""Support vector machines on small dense problems: fit, certify, decide. Arrays in, arrays out, no defaults."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

import threading

import numpy as np

from evoke._core.dispatch cimport (
    aligned,
    evk_columns,
    evk_gram,
    evk_gram_place,
    evk_gram_work_size,
    evk_kernel,
    evk_poll,
    evk_qp,
    evk_qp_place,
    evk_qp_work_size,
    kernels,
    listening,
)

cdef enum:
    LANES = 8
    FILL_AT_ONCE = 128       # rows up to which the whole Gram matrix is computed before the first step
    LEAST_FACE = 256         # half a megabyte, however small the cache: without Newton steps a fit may not end
    FACE_CAPACITY = 2048     # free variables that Newton steps can hold; more are left to SMO
    WORK_BETWEEN_SIGNALS = 20000000
    LARGEST_SPARE = 1 << 20  # doubles: 8 MiB, which is 1000 rows

KERNELS = ("linear", "poly", "rbf")


cdef evk_kernel make_kernel(str kernel, double gamma, double coef0, int degree) except *:
    cdef evk_kernel k
    k.kind = KERNELS.index(kernel)
    k.gamma, k.coef0, k.degree = gamma, coef0, degree
    return k


cdef void to_columns(const double *x, size_t n, size_t d, size_t stride, size_t ld, double *columns) noexcept nogil:
    """x[i * d * stride + h * stride] -> columns[h * ld + i], zero behind n."""
    cdef size_t i, h
    for h in range(d):
        for i in range(n):
            columns[h * ld + i] = x[(i * d + h) * stride]
        for i in range(n, ld):
            columns[h * ld + i] = 0.0


# Work arrays of the last machine of each thread. Fresh memory costs a page fault for every 4 KiB, which for a few
# hundred rows is more than the fit itself.
_spare = threading.local()


def _borrow(str name, size_t size):
    array = getattr(_spare, name, None)
    if array is not None and size <= len(array):
        delattr(_spare, name)
        return array
    return aligned(size)


def _give_back(str name, array):
    if len(array) <= LARGEST_SPARE and len(array) >= len(getattr(_spare, name, ())):
        setattr(_spare, name, array)


cdef class Machine:
    """Memory of one Gram matrix and one quadratic programme, used for several targets in turn."""
    cdef evk_kernel kernel
    cdef evk_gram gram
    cdef evk_qp qp
    cdef double[::1] columns, gram_work, qp_work
    cdef object columns_array, gram_array, qp_array  # what the views look at; None where memory ran out

    def __cinit__(self, const double[:, ::1] x not None, str kernel, double gamma, double coef0, int degree,
                  size_t cache_bytes):
        cdef size_t n = x.shape[0], d = x.shape[1]
        cdef size_t ld = (n + LANES - 1) // LANES * LANES
        cdef size_t n_slots = min(n, max(<size_t>2, cache_bytes // (8 * ld)))
        cdef size_t face = min(n, <size_t>FACE_CAPACITY, max(n_slots, <size_t>LEAST_FACE))
        cdef size_t gram_size = evk_gram_work_size(n, n_slots), qp_size = evk_qp_work_size(n, face)
        if gram_size == 0 or qp_size == 0:
            raise MemoryError(f"a kernel matrix of {n} rows does not fit")
        self.kernel = make_kernel(kernel, gamma, coef0, degree)
        self.columns = self.columns_array = _borrow("columns", max(1, d) * ld)
        self.gram_work = self.gram_array = _borrow("gram", gram_size)
        self.qp_work = self.qp_array = _borrow("qp", qp_size)
        cdef evk_columns points
        points.x, points.n, points.d, points.ld = &self.columns[0], n, d, ld
        if d > 0:
            to_columns(&x[0, 0], n, d, 1, ld, &self.columns[0])
        evk_gram_place(&self.gram, &self.kernel, points, n_slots, &self.gram_work[0])
        evk_qp_place(&self.qp, n, face, &self.qp_work[0])
        self.qp.gram = &self.gram
        if n <= FILL_AT_ONCE and n_slots == n:
            with nogil:
                kernels.gram_fill(&self.gram, NULL)
        else:
            kernels.gram_diagonal(&self.gram)

    def __del__(self):
        if self.columns_array is not None:
            _give_back("columns", self.columns_array)
        if self.gram_array is not None:
            _give_back("gram", self.gram_array)
        if self.qp_array is not None:
            _give_back("qp", self.qp_array)

    cdef int start(self, const double[::1] target, const double[::1] lower, const double[::1] upper, double epsilon,
                   double tol, int64_t max_iter, const double[::1] beta) except -1:
        cdef Py_ssize_t i
        self.qp.target, self.qp.lower, self.qp.upper = &target[0], &lower[0], &upper[0]
        self.qp.epsilon, self.qp.tol, self.qp.max_iter = epsilon, tol, max_iter
        for i in range(target.shape[0]):
            self.qp.beta[i] = beta[i]
        with nogil:
            kernels.qp_begin(&self.qp)
        return 0

    cdef int finish(self, double[::1] beta) except -1:
        cdef Py_ssize_t i
        with nogil:
            kernels.qp_certify(&self.qp)
        for i in range(beta.shape[0]):
            beta[i] = self.qp.beta[i]
        return 0

    def result(self):
        return {"bias": self.qp.bias, "objective": self.qp.objective, "gap": self.qp.gap,
                "violation": self.qp.violation, "n_iter": self.qp.n_iter, "converged": bool(self.qp.converged)}

    def resolution(self):
        """How far rounding blurs the residuals of the solution last seen: violations below it mean nothing."""
        return self.qp.resolution

    def solve(self, const double[::1] target not None, const double[::1] lower not None,
              const double[::1] upper not None, double epsilon, double tol, int64_t max_iter,
              double[::1] beta not None):
        """Optimise from `beta` (feasible), which takes the solution. Returns the certificate. Ctrl-C is heard."""
        cdef int64_t budget = max(1, WORK_BETWEEN_SIGNALS // (2 * target.shape[0]))
        cdef int done = 0
        self.start(target, lower, upper, epsilon, tol, max_iter, beta)
        while not done:
            PyErr_CheckSignals()
            with nogil:
                done = kernels.qp_run(&self.qp, budget)
        self.finish(beta)
        return self.result()

    def certify(self, const double[::1] target not None, const double[::1] lower not None,
                const double[::1] upper not None, double epsilon, double tol, double[::1] beta not None):
        """Bias, objective and gap of a solution found elsewhere."""
        self.start(target, lower, upper, epsilon, tol, 0, beta)
        self.finish(beta)
        return self.result()


def decide(const double[:, ::1] x not None, const double[:, ::1] sv not None, const double[:, ::1] coef not None,
           const double[::1] bias not None, str kernel, double gamma, double coef0, int degree):
    """Decision values (n, n_outputs) from support vectors (m, d), coefficients (m, n_outputs) and biases."""
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], m = sv.shape[0], n_outputs = bias.shape[0]
    cdef evk_kernel k = make_kernel(kernel, gamma, coef0, degree)
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
            kernels.decide(&k, &x[first, 0], here, d, sv_data, m, coef_data, &bias[0], n_outputs, &work[0],
                           &out[first, 0])
    return result


def gram(const double[:, ::1] x not None, str kernel, double gamma, double coef0, int degree):
    """The Gram matrix K(x_i, x_j) of the core, for tests and benchmarks."""
    cdef Py_ssize_t n = x.shape[0], ld = (n + LANES - 1) // LANES * LANES
    cdef Machine machine = Machine(x, kernel, gamma, coef0, degree, 8 * n * ld)
    cdef evk_poll poll = listening(NULL)
    if machine.gram.n_computed == 0:
        kernels.gram_fill(&machine.gram, &poll)
    return np.asarray(machine.gram_work)[: n * ld].reshape(n, ld)[:, :n].copy()

"""The quadratic programme of support vector machines on small dense problems: solve, certify."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

import threading
from typing import NamedTuple

from evoke._core.dispatch cimport (
    EVK_OK,
    aligned,
    evk_columns,
    evk_gram,
    evk_gram_place,
    evk_gram_work_size,
    evk_qp,
    evk_qp_place,
    evk_qp_work_size,
    evk_status_message,
    functions,
    whole_packs,
)
from evoke._core.kernel cimport Kernel, to_columns

cdef enum:
    FILL_AT_ONCE = 128       # rows up to which the whole Gram matrix is computed before the first step
    LEAST_FACE = 256         # half a megabyte, however small the cache: without Newton steps a fit may not end
    FACE_CAPACITY = 2048     # free variables that Newton steps can hold; more are left to SMO
    WORK_BETWEEN_SIGNALS = 20000000
    LARGEST_SPARE = 1 << 20  # doubles: 8 MiB, which is 1000 rows


class Certificate(NamedTuple):
    """What is known of a solution.

    The gap between the primal and the dual objective bounds how far it is from the optimum. The violation is that of
    the conditions of optimality by the worst pair of rows; a solver has converged where it is within the tolerance."""
    bias: float
    objective: float
    gap: float
    violation: float
    n_iter: int
    converged: bool


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
    """Memory of one Gram matrix and one quadratic programme, used for several targets in turn.

    Without a kernel x is the Gram matrix itself (n, n), symmetric, of which all rows are kept."""
    cdef Kernel kernel
    cdef evk_gram gram
    cdef evk_qp qp
    cdef double[::1] columns, gram_work, qp_work
    cdef object columns_array, gram_array, qp_array  # what the views look at; None where memory ran out

    def __cinit__(self, const double[:, ::1] x not None, Kernel kernel, size_t cache_bytes):
        cdef bint given = kernel is None
        cdef size_t n = x.shape[0], d = 0 if given else x.shape[1]
        if n == 0:
            raise ValueError("x must have at least one row, got 0")
        if given and <size_t>x.shape[1] != n:
            raise ValueError(f"x must have shape {(n, n)}, got {(n, x.shape[1])}")
        cdef size_t ld = whole_packs(n)
        cdef size_t n_slots = n if given else min(n, max(<size_t>2, cache_bytes // (8 * ld)))
        cdef size_t face = min(n, <size_t>FACE_CAPACITY, max(n_slots, <size_t>LEAST_FACE))
        cdef size_t gram_size = evk_gram_work_size(n, n_slots), qp_size = evk_qp_work_size(n, face)
        if gram_size == 0 or qp_size == 0:
            raise MemoryError(f"a kernel matrix of {n} rows does not fit")
        self.kernel = Kernel("linear") if given else kernel
        self.columns = self.columns_array = _borrow("columns", max(1, d) * ld)
        self.gram_work = self.gram_array = _borrow("gram", gram_size)
        self.qp_work = self.qp_array = _borrow("qp", qp_size)
        cdef evk_columns points
        points.x, points.n, points.d, points.ld = &self.columns[0], n, d, ld
        if d > 0:
            to_columns(&x[0, 0], n, d, ld, &self.columns[0])
        evk_gram_place(&self.gram, &self.kernel.c, points, n_slots, &self.gram_work[0])
        evk_qp_place(&self.qp, n, face, &self.qp_work[0])
        self.qp.gram = &self.gram
        if given:
            self.take(x)
        elif n <= FILL_AT_ONCE and n_slots == n:
            with nogil:
                functions.gram_fill(&self.gram, NULL)
        else:
            functions.gram_diagonal(&self.gram)

    cdef void take(self, const double[:, ::1] matrix) noexcept nogil:
        cdef size_t i, j, n = self.gram.points.n, ld = self.gram.points.ld
        for i in range(n):
            memcpy(self.gram.rows + i * ld, &matrix[i, 0], n * sizeof(double))
            for j in range(n, ld):
                self.gram.rows[i * ld + j] = 0.0
            self.gram.diagonal[i] = matrix[i, i]
            self.gram.slot_of[i] = self.gram.owner_of[i] = <int32_t>i
        for j in range(n, ld):
            self.gram.diagonal[j] = 0.0
        self.gram.n_computed = n

    def __del__(self):
        if self.columns_array is not None:
            _give_back("columns", self.columns_array)
        if self.gram_array is not None:
            _give_back("gram", self.gram_array)
        if self.qp_array is not None:
            _give_back("qp", self.qp_array)

    cdef int check_length(self, str name, Py_ssize_t length) except -1:
        if <size_t>length != self.gram.points.n:
            raise ValueError(f"{name} must have shape ({self.gram.points.n},), got ({length},)")
        return 0

    cdef int start(self, const double[::1] target, const double[::1] lower, const double[::1] upper, double epsilon,
                   double tol, int64_t max_iter, const double[::1] beta) except -1:
        cdef Py_ssize_t i
        self.check_length("target", target.shape[0])
        self.check_length("lower", lower.shape[0])
        self.check_length("upper", upper.shape[0])
        self.check_length("beta", beta.shape[0])
        self.qp.target, self.qp.lower, self.qp.upper = &target[0], &lower[0], &upper[0]
        self.qp.epsilon, self.qp.tol, self.qp.max_iter = epsilon, tol, max_iter
        for i in range(target.shape[0]):
            self.qp.beta[i] = beta[i]
        with nogil:
            functions.qp_begin(&self.qp)
        return 0

    cdef int finish(self, double[::1] beta) except -1:
        cdef Py_ssize_t i
        with nogil:
            functions.qp_certify(&self.qp)
        for i in range(beta.shape[0]):
            beta[i] = self.qp.beta[i]
        return 0

    cdef certificate(self):
        return Certificate(self.qp.bias, self.qp.objective, self.qp.gap, self.qp.violation, self.qp.n_iter,
                           bool(self.qp.converged))

    def resolution(self):
        """How far rounding blurs the residuals of the solution last seen: violations below it mean nothing."""
        return self.qp.resolution

    def solve(self, const double[::1] target not None, const double[::1] lower not None,
              const double[::1] upper not None, double epsilon, double tol, int64_t max_iter,
              double[::1] beta not None):
        """Optimise from `beta` (feasible), which takes the solution. Returns the certificate. Ctrl-C interrupts it.

        An OverflowError says that kernel, targets and box are too large for each other; beta lies in its box then."""
        cdef int64_t budget = max(<size_t>1, WORK_BETWEEN_SIGNALS // (2 * self.gram.points.n))
        cdef int done = 0
        self.start(target, lower, upper, epsilon, tol, max_iter, beta)
        while not done:
            PyErr_CheckSignals()
            with nogil:
                done = functions.qp_run(&self.qp, budget)
        self.finish(beta)
        if self.qp.status != EVK_OK:
            raise OverflowError(evk_status_message(self.qp.status).decode())
        return self.certificate()

    def certify(self, const double[::1] target not None, const double[::1] lower not None,
                const double[::1] upper not None, double epsilon, double tol, double[::1] beta not None):
        """Bias, objective and gap of a solution found elsewhere; not finite where these overflow."""
        self.start(target, lower, upper, epsilon, tol, 0, beta)
        self.finish(beta)
        return self.certificate()

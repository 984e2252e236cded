from libc.stdint cimport int64_t

from evoke._core.dispatch cimport evk_columns, evk_gram, evk_kernel, evk_machine, evk_poll, evk_qp

cdef enum ReadoutKind:
    SVM
    LSSVM
    PINV

cdef struct Points:
    # Rows of a data set that take part in the readout: each a row of phi, a weight and targets [output][point].
    size_t n, ld
    const int64_t *rows
    const double *weights
    const double *targets

cdef struct Fitted:
    # The readouts of one network, and their kernel, to which the machine points.
    evk_machine machine
    evk_kernel kernel
    bint failed

cdef Points make_points(const int64_t[::1] rows, const double[::1] weights, const double[:, ::1] targets,
                        Py_ssize_t n_rows) except *

cdef class Trainer:
    cdef ReadoutKind kind
    cdef size_t n_outputs, n_cells
    cdef Points train
    cdef evk_kernel kernel
    cdef evk_gram gram
    cdef evk_qp qp
    cdef double C, rcond
    cdef bint bias
    cdef evk_poll poll
    cdef double[:, ::1] lower, upper
    cdef double[::1] gram_work, work, identity, right
    cdef size_t n_support(self) noexcept nogil
    cdef int check_own(self, const double[:, ::1] own, Py_ssize_t n_networks) except -1
    cdef void adopt(self, double C, double gamma) noexcept nogil
    cdef int fit(self, const double *columns, double *coef, double *bias, double *decisions,
                 evk_machine *machine) except -1 nogil
    cdef int prepare_gram(self, readout) except -1
    cdef int prepare_svm(self, readout, const double[::1] weights, const double[:, ::1] targets) except -1
    cdef int prepare_lssvm(self, readout) except -1
    cdef int prepare_pinv(self, readout) except -1
    cdef int fill_gram(self, evk_columns points) except -1 nogil
    cdef int fit_svm(self, double *coef, double *bias, double *decisions) except -1 nogil
    cdef int fit_lssvm(self, double *coef, double *bias, double *decisions) except -1 nogil
    cdef int fit_pinv(self, const evk_columns *points, double *coef, double *bias) except -1 nogil

from libc.stdint cimport int64_t

from evoke._core.dispatch cimport evk_columns, evk_loo, evk_poll
from evoke._core.loss cimport Loss
from evoke._core.readout cimport Points

cdef struct Best:
    # The pair of kernel width and capacity with the least leave-one-out error, and the error.
    double gamma, C, error, wrong

cdef class Grid:
    cdef bint linear, relative, scaled
    cdef size_t n_features
    cdef Points points
    cdef Loss loss
    cdef evk_loo loo
    cdef evk_poll poll
    cdef Best best
    cdef int64_t[::1] numbers
    cdef const int64_t[::1] blocks
    cdef double[::1] widths, capacities, ridge, distances, gram, work, coef, bias, decisions, mean, inverse
    cdef object best_coef, best_bias, best_decisions
    cdef int search(self, double *columns, bint keep) except -1 nogil
    cdef int distances_of(self, const double *columns, size_t n_varying) except -1 nogil
    cdef double mean_distance(self) noexcept nogil
    cdef int keep(self) except -1 nogil

from evoke._core.dispatch cimport evk_kernel, evk_landmarks, evk_poll
from evoke._core.loss cimport Loss
from evoke._core.readout cimport Points

cdef struct BestLandmarks:
    # The pair of kernel width and capacity with the least error on held-out points, and the error.
    double gamma, C, error, wrong

cdef class LandmarkGrid:
    cdef bint linear, relative, scaled
    cdef size_t n_features, n_outputs, m, ld, width
    cdef Points train, held_out
    cdef Loss loss
    cdef evk_poll poll
    cdef evk_kernel kernel
    cdef evk_landmarks landmarks
    cdef BestLandmarks best
    cdef double[::1] widths, capacities, places, distances, gram, x, targets, roots, rows, sums, system, coef, bias
    cdef double[::1] row, decisions, mean, inverse
    cdef int search(self, double *columns, double *held_columns) except -1 nogil
    cdef void place(self, const double *columns) noexcept nogil
    cdef double mean_distance(self) noexcept nogil
    cdef int add_all(self, const double *columns) except -1 nogil
    cdef int judge(self, const double *held_columns) except -1 nogil

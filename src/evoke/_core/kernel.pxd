from evoke._core.dispatch cimport evk_kernel

cdef class Kernel:
    cdef evk_kernel c  # what the functions of the C core take

cdef void to_columns(const double *x, size_t n, size_t d, size_t ld, double *columns) noexcept nogil

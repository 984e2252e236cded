from evoke._core.dispatch cimport evk_kernel

cdef class Kernel:
    cdef readonly str name
    cdef evk_kernel c

cdef void to_columns(const double *x, size_t n, size_t d, size_t stride, size_t ld, double *columns) noexcept nogil

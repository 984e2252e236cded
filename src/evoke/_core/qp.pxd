from evoke._core.dispatch cimport evk_kernel, evk_qp

cdef evk_kernel make_kernel(str kernel, double gamma, double coef0, int degree) except *
cdef void to_columns(const double *x, size_t n, size_t d, size_t stride, size_t ld, double *columns) noexcept nogil

from libc.stdint cimport int64_t

cdef class Blocks:
    cdef readonly object errors
    cdef double[:, ::1] out
    cdef Py_ssize_t first, n
    cdef int64_t *stop
    cdef Py_ssize_t _n_networks, _lanes
    cdef int64_t[::1] _stop
    cdef object _queue

    cdef bint next(self) except -1
    cdef bint stopped(self) noexcept nogil
    cdef bint put_left_out(self, Py_ssize_t lane, double error, double wrong) noexcept nogil

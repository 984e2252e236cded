"""Cauchy noise on chromosomes, drawn from a NumPy bit generator through its C interface."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint32_t, uint64_t

from evoke._core.dispatch cimport functions

# The public layout of numpy/random/bitgen.h, declared here so that the build needs no NumPy headers.
cdef struct bitgen:
    void *state
    uint64_t (*next_uint64)(void *state) noexcept nogil
    uint32_t (*next_uint32)(void *state) noexcept nogil
    double (*next_double)(void *state) noexcept nogil
    uint64_t (*next_raw)(void *state) noexcept nogil

cdef enum:
    BLOCK = 256  # draws turned into noise at a time; they stay on the stack


cdef void add_noise(double *weights, size_t n, double scale, bitgen *source) noexcept nogil:
    cdef double noise[BLOCK]
    cdef double half_spacing = 2.0 ** -54
    cdef size_t begin = 0, k, size
    while begin < n:
        size = min(<size_t>BLOCK, n - begin)
        for k in range(size):
            # next_double is a multiple of 2^-53 in [0, 1). Taking 1/2 away and adding half a spacing are both exact,
            # so the result is symmetric about 0 and never reaches -1/2 or 1/2, where the tangent is infinite.
            noise[k] = (source.next_double(source.state) - 0.5) + half_spacing
        functions.tanpi(noise, size, noise)
        for k in range(size):
            weights[begin + k] += scale * noise[k]
        begin += size


def add_cauchy(double[:, ::1] chromosomes not None, double scale, bit_generator):
    """Add scale * tan(pi (u - 1/2)), u uniform in (0, 1), to every weight in place.

    Half of the draws lie within +-scale; the largest possible one is 5.7e15 * scale. One uniform double is
    taken per weight, row by row.

    Parameters
    ----------
    chromosomes : ndarray of float64, shape (n_chromosomes, length), C-contiguous
    scale : float
    bit_generator : numpy.random.BitGenerator
    """
    cdef bitgen *source = <bitgen *>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
    cdef size_t n = <size_t>chromosomes.shape[0] * <size_t>chromosomes.shape[1]
    if n == 0:
        return
    with bit_generator.lock:
        with nogil:
            add_noise(&chromosomes[0, 0], n, scale, source)

"""The C core's table of functions for the instruction set in use."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

import os

import numpy as np


cdef enum:
    WORK_BETWEEN_SIGNALS = 100000000  # multiplications: a hundredth of a second, without vectors a tenth


cdef int listen(const void *stop) except -1 with gil:
    PyErr_CheckSignals()
    return stop != NULL and (<const int64_t *>stop)[0] != 0


cdef evk_poll listening(const int64_t *stop) noexcept:
    """What makes a kernel hear Ctrl-C, which is an exception, and end where `stop`, if not NULL, points to non-zero."""
    cdef evk_poll poll
    poll.ask, poll.data, poll.interval, poll.done = listen, stop, WORK_BETWEEN_SIGNALS, 0
    return poll


cdef int check(evk_status status) except -1:
    """Raise the Python exception of a status; the only place that maps codes."""
    if status == 0:
        return 0
    raise ValueError(evk_status_message(status).decode())


def compiled():
    """Names of the instruction sets compiled in, plainest first."""
    names = []
    cdef size_t k = 0
    while evk_kernels_at(k) != NULL:
        names.append(evk_kernels_at(k).name.decode())
        k += 1
    return names


def supported():
    """Those of `compiled()` that this processor runs."""
    names = []
    cdef size_t k = 0
    while evk_kernels_at(k) != NULL:
        if evk_kernels_supported(evk_kernels_at(k)):
            names.append(evk_kernels_at(k).name.decode())
        k += 1
    return names


def simd():
    """Name of the instruction set in use."""
    return kernels.name.decode()


def _select():
    global kernels
    wanted = os.environ.get("EVOKE_SIMD", "")
    try:
        check(evk_kernels_select(wanted.encode(), &kernels))
    except ValueError as error:
        raise ImportError(
            f"EVOKE_SIMD={wanted!r}: {error}; this processor supports {', '.join(supported())}"
        ) from None


_select()


def apply(str name, x):
    """One of the core's vector functions ("exp", "logistic", "tanh", "tanpi") of a float64 array."""
    cdef const double[::1] source = np.ascontiguousarray(x, dtype=np.float64).ravel()
    result = np.empty(source.shape[0])
    cdef double[::1] target = result
    functions = ("exp", "logistic", "tanh", "tanpi")
    if name not in functions:
        raise ValueError(f"name must be one of {functions}, got {name!r}")
    cdef int which = functions.index(name)
    cdef size_t n = source.shape[0]
    if n > 0:
        with nogil:
            if which == 0:
                kernels.exp(&source[0], n, &target[0])
            elif which == 1:
                kernels.logistic(&source[0], n, &target[0])
            elif which == 2:
                kernels.tanh(&source[0], n, &target[0])
            else:
                kernels.tanpi(&source[0], n, &target[0])
    return result.reshape(np.shape(x))

"""The C core's table of functions for the instruction set in use."""
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

import os

import numpy as np


cdef enum:
    WORK_BETWEEN_SIGNALS = 100000000  # multiplications: a hundredth of a second, without vectors a tenth


cdef int has_to_end(const void *stop) except -1 with gil:
    PyErr_CheckSignals()
    return stop != NULL and (<const int64_t *>stop)[0] != 0


cdef evk_poll make_poll(const int64_t *stop) noexcept:
    """A poll by which a function of the core raises on Ctrl-C and ends once `stop`, if not NULL, points to non-zero."""
    cdef evk_poll poll
    poll.ask, poll.data, poll.interval, poll.done = has_to_end, stop, WORK_BETWEEN_SIGNALS, 0
    return poll


cdef aligned(size_t n, dtype=np.float64):
    """n numbers, not initialised, from the start of a cache line on: a pack across two lines takes two loads."""
    cdef size_t size = n * np.dtype(dtype).itemsize
    raw = np.empty(size + PACK_BYTES, dtype=np.uint8)
    cdef Py_buffer view
    PyObject_GetBuffer(raw, &view, PyBUF_C_CONTIGUOUS)
    cdef size_t skip = -(<size_t>view.buf) % PACK_BYTES
    PyBuffer_Release(&view)
    return raw[skip:skip + size].view(dtype)


cdef int check(evk_status status) except -1:
    """Raise the Python exception of a status; the only place that maps codes."""
    if status == 0:
        return 0
    raise ValueError(evk_status_message(status).decode())


def compiled():
    """Names of the instruction sets compiled in, plainest first."""
    names = []
    cdef size_t k = 0
    while evk_functions_at(k) != NULL:
        names.append(evk_functions_at(k).name.decode())
        k += 1
    return names


def supported():
    """Those of `compiled()` that this processor runs."""
    names = []
    cdef size_t k = 0
    while evk_functions_at(k) != NULL:
        if evk_functions_supported(evk_functions_at(k)):
            names.append(evk_functions_at(k).name.decode())
        k += 1
    return names


def simd():
    """Name of the instruction set in use."""
    return functions.name.decode()


def _select():
    global functions
    wanted = os.environ.get("EVOKE_SIMD", "")
    try:
        check(evk_functions_select(wanted.encode(), &functions))
    except ValueError as error:
        raise ImportError(
            f"EVOKE_SIMD={wanted!r}: {error}; this processor supports {', '.join(supported())}"
        ) from None


_select()


cdef dict VECTOR_FUNCTIONS = {"exp": 0, "logistic": 1, "tanh": 2, "tanpi": 3}


def apply(str name, x):
    """One of the core's vector functions ("exp", "logistic", "tanh", "tanpi") of a float64 array."""
    if name not in VECTOR_FUNCTIONS:
        raise ValueError(f"name must be one of {tuple(VECTOR_FUNCTIONS)}, got {name!r}")
    values = np.asarray(x, dtype=np.float64, order="C")
    result = np.empty(values.shape)
    cdef int which = VECTOR_FUNCTIONS[name]
    cdef Py_buffer source, target  # in place of typed memoryviews, which take longer than a thousand exponentials
    PyObject_GetBuffer(values, &source, PyBUF_C_CONTIGUOUS)
    PyObject_GetBuffer(result, &target, PyBUF_C_CONTIGUOUS)
    cdef size_t n = source.len // sizeof(double)
    with nogil:
        if which == 0:
            functions.exp(<const double *>source.buf, n, <double *>target.buf)
        elif which == 1:
            functions.logistic(<const double *>source.buf, n, <double *>target.buf)
        elif which == 2:
            functions.tanh(<const double *>source.buf, n, <double *>target.buf)
        else:
            functions.tanpi(<const double *>source.buf, n, <double *>target.buf)
    PyBuffer_Release(&source)
    PyBuffer_Release(&target)
    return result

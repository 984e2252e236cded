"""The blocks in which a population is evaluated, and the errors that are found."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY

import numpy as np


cdef class Blocks:
    """Blocks of as many networks as a pack has lanes: all of a population in order, or those that a queue hands out.

    Attributes
    ----------
    errors : ndarray of shape (n_networks, 4)
        Of the whole population; `out` is a view. Threads of one queue fill the errors of the queue together.
    first, n : Py_ssize_t
        The networks of the block.
    stop : int64_t *
        Not zero once another thread has failed or been interrupted; NULL where there is no queue.
    """

    def __cinit__(self, Py_ssize_t n_networks, queue, Py_ssize_t lanes):
        self._n_networks, self._queue, self._lanes = n_networks, queue, lanes
        self.first = self.n = 0
        self.stop = NULL
        if queue is None:
            self.errors = np.full((n_networks, 4), np.nan)
        else:
            self.errors = queue.errors
            self._stop = queue.stop
            self.stop = &self._stop[0]
        self.out = self.errors
        if self.out.shape[0] != n_networks or self.out.shape[1] != 4:
            shape = self.out.shape[0], self.out.shape[1]
            raise ValueError(f"errors of the queue must have shape {(n_networks, 4)}, got {shape}")

    cdef bint next(self) except -1:
        """Go on to the next block; False where there is none.

        Signals are looked for here, once per block, while networks take microseconds: two threads that ask for the
        interpreter more often wait."""
        if self._queue is None:
            self.first += self.n
            self.n = min(self._lanes, self._n_networks - self.first)
        else:
            taken = self._queue.next_block(self._lanes)
            self.first, self.n = taken.start, taken.stop - taken.start
        PyErr_CheckSignals()
        return self.n > 0

    cdef bint stopped(self) noexcept nogil:
        """Whether another thread has ended the work."""
        return self.stop != NULL and self.stop[0] != 0

    cdef bint put_left_out(self, Py_ssize_t lane, double error, double wrong) noexcept nogil:
        """The errors of a network of the block whose points are left out; False, and none, once the work has ended.

        They count as validation points, and no point as a training point."""
        if self.stopped():
            return False
        cdef double *errors = &self.out[self.first + lane, 0]
        errors[0] = errors[2] = 0.0 if error < INFINITY else INFINITY
        errors[1], errors[3] = error, wrong
        return True

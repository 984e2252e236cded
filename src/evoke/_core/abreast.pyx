"""Sequences that are read side by side, so that weights are loaded once for several of them."""
from libc.string cimport memset

import numpy as np

from evoke._core.dispatch cimport PACK_BYTES, aligned, functions

cdef enum:
    NARROW = 20       # sources of a cell up to which a sequence alone is as fast
    MANY_INPUTS = 16  # from which on those of several rows are added up before their steps
    ROWS = 72         # that may wait for their step with inputs added up
    ROWS_OF_ONE = 24  # of these, at most so many of one sequence


cdef bint is_wide(const evk_network *net) noexcept nogil:
    """Whether the weights are so many that it pays to read sequences side by side."""
    return net.n_inputs + net.n_cells > NARROW


cdef size_t sources_each_step(const evk_network *net) noexcept nogil:
    """Sources of a cell whose weights every step takes; the others' are taken once for many rows."""
    return net.n_cells if net.n_inputs >= MANY_INPUTS else net.n_inputs + net.n_cells


cdef void add_up(const evk_network *net, size_t n_packs, const real *x, size_t n, real *sums) noexcept nogil:
    if real is double:
        functions.lstm_inputs(net, n_packs, x, n, sums)
    else:
        functions.lstm_inputs_single(net, n_packs, x, n, sums)


cdef class Abreast:
    """Up to EVK_ABREAST sequences that are read side by side, by one network or by one for each lane.

    Where one ends, the caller removes it and adds the next, whatever their lengths. The readers 0 to n - 1 are under way.
    Each has the bits that it has alone."""

    def __cinit__(self, size_t n_inputs, size_t n_packs, bint lanes_are_cells):
        cdef size_t k
        cdef unsigned char *memory
        self.n_inputs, self.n_packs, self.lanes_are_cells = n_inputs, n_packs, lanes_are_cells
        self.inputs_apart = n_inputs >= MANY_INPUTS
        self.part = n_packs * PACK_BYTES
        self.memory = aligned((3 * EVK_ABREAST + (4 * ROWS if self.inputs_apart else 0)) * self.part, np.uint8)
        memory = &self.memory[0]
        self.sums = memory + 3 * EVK_ABREAST * self.part
        self.steps.sums[0] = NULL
        for k in range(EVK_ABREAST):
            self.readers[k].place = k
            self.readers[k].state = memory + 3 * k * self.part
            self.readers[k].now = memory + (3 * k + 1) * self.part
            self.readers[k].before = memory + (3 * k + 2) * self.part

    cdef void begin(self, size_t n_sequences) noexcept nogil:
        """Forget all; so many sequences are to come."""
        self.n = 0
        self.most = min(<size_t>EVK_ABREAST, n_sequences)
        self.rows_at_once = min(<size_t>ROWS_OF_ONE, ROWS // self.most)

    cdef bint has_room(self) noexcept nogil:
        return self.n < self.most

    cdef Reader *add(self, int64_t row, int64_t end, int64_t name) noexcept nogil:
        """A sequence of at least one row, from zero; to continue from elsewhere, fill its `state` and `now`."""
        cdef Reader *reader = &self.readers[self.n]
        self.n += 1
        reader.row, reader.end, reader.name, reader.n_sums = row, end, name, 0
        memset(reader.state, 0, self.part)
        memset(reader.now, 0, self.part)
        return reader

    cdef bint holds(self, int64_t name) noexcept nogil:
        """Whether a sequence is under way."""
        cdef size_t k
        for k in range(self.n):
            if self.readers[k].name == name:
                return True
        return False

    cdef void remove(self, size_t k) noexcept nogil:
        """The last reader takes the place of reader k."""
        self.n -= 1
        self.readers[k], self.readers[self.n] = self.readers[self.n], self.readers[k]

    cdef void step(self, const evk_network *net, const real *x) noexcept nogil:
        """One row of x[row][input] each; afterwards `row` is the next, and `now` the outputs."""
        cdef size_t k
        cdef Reader *reader
        cdef const real *rows
        for k in range(self.n):
            reader = &self.readers[k]
            reader.now, reader.before = reader.before, reader.now
            rows = x + <size_t>reader.row * self.n_inputs
            if self.inputs_apart and reader.n_sums == 0:
                reader.n_sums = min(self.rows_at_once, <size_t>(reader.end - reader.row))
                reader.sums = <char *>self.sums + reader.place * self.rows_at_once * 4 * self.part
                add_up(net, self.n_packs, rows, reader.n_sums, <real *>reader.sums)
            if self.inputs_apart:
                self.steps.sums[k] = reader.sums
                reader.sums = <char *>reader.sums + 4 * self.part
                reader.n_sums -= 1
            self.steps.x[k], self.steps.before[k] = rows, reader.before
            self.steps.state[k], self.steps.phi[k] = reader.state, reader.now
            reader.row += 1
        self.steps.n = self.n
        if real is double:
            if self.lanes_are_cells:
                functions.lstm_cells_abreast(net, &self.steps)
            else:
                functions.lstm_networks_abreast(net, &self.steps)
        else:
            if self.lanes_are_cells:
                functions.lstm_cells_abreast_single(net, &self.steps)
            else:
                functions.lstm_networks_abreast_single(net, &self.steps)

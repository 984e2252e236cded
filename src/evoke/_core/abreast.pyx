"""Sequences that are read side by side, so that weights are loaded once for several of them."""
from libc.string cimport memset

import numpy as np

from evoke._core.dispatch cimport EVK_ROWS, PACK_BYTES, aligned, functions

cdef enum:
    NARROW = 20       # sources of a cell up to which a sequence alone is as fast
    MANY_INPUTS = 16  # from which on those of several rows are added up before their steps
    ROWS_OF_ONE = 24  # of one sequence, whose inputs are added up at a time at most


cdef bint is_wide(const evk_network *net) noexcept nogil:
    """Whether the weights are so many that it pays to read sequences side by side."""
    return net.n_inputs + net.n_cells > NARROW


cdef size_t sources_each_step(const evk_network *net) noexcept nogil:
    """Sources of a cell whose weights every step takes; the others' are taken once for many rows."""
    return net.n_cells if net.n_inputs >= MANY_INPUTS else net.n_inputs + net.n_cells


cdef class Abreast:
    """Up to EVK_ABREAST sequences that are read side by side, by one network or by one for each lane.

    Where one ends, the caller removes it and adds the next, whatever their lengths. The readers 0 to n - 1 are under
    way. Each has the bits that it has alone."""

    def __cinit__(self, size_t n_inputs, size_t n_packs, bint lanes_are_cells):
        cdef size_t k
        cdef unsigned char *memory
        self.n_inputs, self.n_packs, self.lanes_are_cells = n_inputs, n_packs, lanes_are_cells
        self.inputs_apart = n_inputs >= MANY_INPUTS
        self.part = n_packs * PACK_BYTES
        self.memory = aligned((3 * EVK_ABREAST + (4 * EVK_ROWS if self.inputs_apart else 0)) * self.part, np.uint8)
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
        self.rows_at_once = min(<size_t>ROWS_OF_ONE, EVK_ROWS // self.most)
        self.steps_left = 0

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

    cdef void add_inputs(self, const evk_network *net, const real *x) noexcept nogil:
        """Of the rows until the next time that this is done for all."""
        cdef size_t k, i, n = 0
        cdef Reader *reader
        cdef const void *rows[EVK_ROWS]
        cdef void *sums[EVK_ROWS]
        if self.steps_left == 0:
            self.steps_left = self.rows_at_once
        self.steps_left -= 1
        for k in range(self.n):
            reader = &self.readers[k]
            if reader.n_sums > 0:
                continue
            reader.n_sums = min(self.steps_left + 1, <size_t>(reader.end - reader.row))
            reader.sums = <char *>self.sums + reader.place * self.rows_at_once * 4 * self.part
            for i in range(reader.n_sums):
                rows[n] = x + (<size_t>reader.row + i) * self.n_inputs
                sums[n] = <char *>reader.sums + i * 4 * self.part
                n += 1
        if real is double:
            functions.lstm_inputs(net, self.n_packs, n, rows, sums)
        else:
            functions.lstm_inputs_single(net, self.n_packs, n, rows, sums)

    cdef void step(self, const evk_network *net, const real *x) noexcept nogil:
        """One row of x[row][input] each; afterwards `row` is the next, and `now` the outputs."""
        cdef size_t k
        cdef Reader *reader
        if self.inputs_apart:
            self.add_inputs(net, x)
        for k in range(self.n):
            reader = &self.readers[k]
            reader.now, reader.before = reader.before, reader.now
            if self.inputs_apart:
                self.steps.sums[k] = reader.sums
                reader.sums = <char *>reader.sums + 4 * self.part
                reader.n_sums -= 1
            self.steps.x[k], self.steps.before[k] = x + <size_t>reader.row * self.n_inputs, reader.before
            self.steps.state[k], self.steps.phi[k] = reader.state, reader.now
            reader.row += 1
        self.steps.n = self.n
        if self.n == 1 and not self.inputs_apart:
            self.step_alone(net, x + <size_t>(self.readers[0].row - 1) * self.n_inputs)
        elif real is double:
            if self.lanes_are_cells:
                functions.lstm_cells_abreast(net, &self.steps)
            else:
                functions.lstm_networks_abreast(net, &self.steps)
        else:
            if self.lanes_are_cells:
                functions.lstm_cells_abreast_single(net, &self.steps)
            else:
                functions.lstm_networks_abreast_single(net, &self.steps)

    cdef void step_alone(self, const evk_network *net, const real *x) noexcept nogil:
        """That of the only reader, by the function that is the fastest for one."""
        cdef const Reader *reader = &self.readers[0]
        cdef const real *before = <const real *>reader.before
        cdef real *state = <real *>reader.state
        cdef real *now = <real *>reader.now
        if real is double:
            if self.lanes_are_cells:
                functions.lstm_cells(net, x, before, state, now)
            else:
                functions.lstm_networks(net, x, before, state, now)
        else:
            if self.lanes_are_cells:
                functions.lstm_cells_single(net, x, before, state, now)
            else:
                functions.lstm_networks_single(net, x, before, state, now)

"""LSTM forward pass: typed loops over blocks of eight networks (or of eight sequences) around the C step."""
from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcpy, memset

import numpy as np

from evoke._kernels cimport evk_lstm, kernels

cdef enum:
    LANES = 8
    STEPS_BETWEEN_SIGNALS = 32768
    LARGEST_BLOCK = 98304  # weights of eight networks, 768 KB: beyond it one network at a time is faster

CELLS = ("lstm", "evolino")


cdef evk_lstm make_net(Py_ssize_t n_inputs, Py_ssize_t n_cells, str cell, gate_bias) except *:
    cdef evk_lstm net
    net.n_inputs = n_inputs
    net.n_cells = n_cells
    net.cell = CELLS.index(cell)
    net.input_bias, net.forget_bias, net.output_bias = gate_bias
    return net


cdef size_t whole_packs(size_t n) noexcept nogil:
    return (n + LANES - 1) // LANES * LANES


cdef size_t weights_size(const evk_lstm *net) noexcept nogil:
    """Weights of one network in the layout whose lanes are cells; no other takes more."""
    return whole_packs(net.n_cells) * (net.n_inputs + net.n_cells) * 4


cdef void pack(const evk_lstm *net, const double *genome, size_t cells_a_pack, size_t n_lanes, size_t lane,
               double *weights) noexcept nogil:
    """genome[cell][gate][source] -> weights[pack of cells][source][gate][n_lanes], from this lane on."""
    cdef size_t sources = net.n_inputs + net.n_cells, cell, gate, source
    cdef double *first
    for cell in range(net.n_cells):
        first = weights + cell // cells_a_pack * sources * 4 * n_lanes + lane + cell % cells_a_pack
        for gate in range(4):
            for source in range(sources):
                first[(source * 4 + gate) * n_lanes] = genome[0]
                genome += 1


cdef void pack_networks(const evk_lstm *net, const double *genomes, size_t n_networks, double *weights) noexcept nogil:
    """For lanes that are networks; idle ones repeat the last."""
    cdef size_t size = net.n_cells * 4 * (net.n_inputs + net.n_cells), lane
    for lane in range(LANES):
        pack(net, genomes + min(lane, n_networks - 1) * size, 1, LANES, lane, weights)


cdef void pack_cells(const evk_lstm *net, const double *genome, double *weights) noexcept nogil:
    """For lanes that are cells; cells that are none have weights of zero."""
    memset(weights, 0, weights_size(net) * sizeof(double))
    pack(net, genome, LANES, LANES, 0, weights)


cdef class Block:
    """Up to eight networks, their states where runs end, and their activations phi[row][cell][lane].

    Lanes are networks as long as the weights of eight networks stay in the cache between the steps; those of larger
    networks would come from memory at every step, so each runs through all rows by itself, and lanes are cells."""

    def __cinit__(self, Py_ssize_t n_inputs, Py_ssize_t n_cells, str cell, gate_bias, Py_ssize_t n_rows,
                  Py_ssize_t n_slots):
        self.net = make_net(n_inputs, n_cells, cell, gate_bias)
        self.width = n_cells * LANES
        self.packed = whole_packs(n_cells)
        self.size = weights_size(&self.net)
        self.apart = LANES * self.size > LARGEST_BLOCK
        self.weights = np.empty(LANES * self.size)
        self.zeros = np.zeros(self.packed * LANES)
        self.one = np.empty(3 * self.packed)
        self.states = np.empty((1 + n_slots) * self.width)
        self.phi = np.empty(n_rows * self.width)

    cdef void load(self, const double[:, :, ::1] genomes, size_t first, size_t n_networks) noexcept nogil:
        """Take in the networks from number `first` on."""
        cdef size_t lane
        self.n_networks = n_networks
        if not self.apart:
            pack_networks(&self.net, &genomes[first, 0, 0], self.n_networks, &self.weights[0])
            return
        for lane in range(self.n_networks):
            pack_cells(&self.net, &genomes[first + lane, 0, 0], &self.weights[lane * self.size])

    cdef void run(self, const double *x, const Runs *runs) noexcept nogil:
        """Activations of all rows x[row][input]."""
        cdef size_t lane
        if not self.apart:
            self.run_together(x, runs)
            return
        for lane in range(self.n_networks):
            self.run_alone(x, runs, lane)

    cdef void run_together(self, const double *x, const Runs *runs) noexcept nogil:
        cdef const double *before
        cdef double *state
        cdef double *now
        cdef size_t k
        cdef int64_t row, parent
        for k in range(runs.n):
            state = self.state(runs.slot[k])
            parent = runs.parent[k]
            if parent < 0:
                memset(state, 0, self.width * sizeof(double))
                before = &self.zeros[0]
            else:
                memcpy(state, self.state(runs.slot[parent]), self.width * sizeof(double))
                before = self.at(runs.end[parent] - 1)
            for row in range(runs.begin[k], runs.end[k]):
                now = self.at(row)
                kernels.lstm_networks(&self.net, &self.weights[0], x + <size_t>row * self.net.n_inputs, before, state,
                                      now)
                before = now

    cdef void run_alone(self, const double *x, const Runs *runs, size_t lane) noexcept nogil:
        cdef double *state = &self.one[0]
        cdef double *now
        cdef size_t k
        cdef int64_t row
        for k in range(runs.n):
            if runs.parent[k] < 0:
                memset(state, 0, 3 * self.packed * sizeof(double))
            else:
                self.fetch(runs, runs.parent[k], lane, state)
            for row in range(runs.begin[k], runs.end[k]):
                now = step_cells(&self.net, &self.weights[lane * self.size], x + <size_t>row * self.net.n_inputs,
                                 row - runs.begin[k], state)
                put_lane(now, self.net.n_cells, self.at(row), lane)
            put_lane(state, self.net.n_cells, self.state(runs.slot[k]), lane)

    cdef void fetch(self, const Runs *runs, int64_t k, size_t lane, double *state) noexcept nogil:
        """Where one network is at the end of run k, as `step_cells` goes on from it."""
        get_lane(self.state(runs.slot[k]), lane, self.net.n_cells, state)
        get_lane(self.at(runs.end[k] - 1), lane, self.net.n_cells, state + 2 * self.packed)

    cdef double *state(self, int64_t slot) noexcept nogil:
        return &self.states[(1 + slot) * self.width]

    cdef double *at(self, int64_t row) noexcept nogil:
        return &self.phi[row * self.width]


cdef void get_lane(const double *values, size_t lane, size_t n_cells, double *out) noexcept nogil:
    cdef size_t h
    for h in range(n_cells):
        out[h] = values[h * LANES + lane]


cdef void put_lane(const double *values, size_t n_cells, double *out, size_t lane) noexcept nogil:
    cdef size_t h
    for h in range(n_cells):
        out[h * LANES + lane] = values[h]


cdef double *step_cells(const evk_lstm *net, const double *weights, const double *x, int64_t t,
                        double *state) noexcept nogil:
    """Step t of one network; its outputs. state: s, and the outputs of the last even and odd steps, in whole packs.

    Before step 0 the outputs to start from lie where those of odd steps do."""
    cdef size_t packed = whole_packs(net.n_cells)
    cdef double *now = state + (1 + <size_t>(t & 1)) * packed
    kernels.lstm_cells(net, weights, x, state + (2 - <size_t>(t & 1)) * packed, state, now)
    return now


def population(const double[:, :, ::1] genomes not None, const double[:, ::1] x not None,
               const int64_t[::1] begin not None, const int64_t[::1] end not None,
               const int64_t[::1] parent not None, const int64_t[::1] slot not None, str cell, gate_bias):
    """Activations (n_networks, n_rows, n_cells) of many networks on the same rows."""
    cdef Py_ssize_t n_networks = genomes.shape[0], n_rows = x.shape[0], n_cells = genomes.shape[1]
    result = np.empty((n_networks, n_rows, n_cells))
    if result.size == 0:
        return result
    cdef double[:, :, ::1] out = result
    cdef Block block = Block(x.shape[1], n_cells, cell, gate_bias, n_rows, max(slot) + 1)
    cdef Runs runs
    runs.n = begin.shape[0]
    runs.begin, runs.end, runs.parent, runs.slot = &begin[0], &end[0], &parent[0], &slot[0]
    cdef Py_ssize_t first, here, lane, row
    for first in range(0, n_networks, LANES):
        PyErr_CheckSignals()
        here = min(LANES, n_networks - first)
        with nogil:
            block.load(genomes, first, here)
            block.run(&x[0, 0], &runs)
            for row in range(n_rows):
                for lane in range(here):
                    get_lane(block.at(row), lane, n_cells, &out[first + lane, row, 0])
    return result


cdef struct Side:
    # Up to eight sequences that one network reads at the same time: sequence k has rows first[k] + [0, length[k]).
    # memory holds the cells' states and the outputs of even and of odd steps: cell h of sequence k is at
    # part * (0, 1 or 2) + k * lane + h * cell. last[k]: state and outputs where sequence k ends.
    size_t n, part, lane, cell
    int64_t first[LANES]
    int64_t length[LANES]
    double *inputs
    double *memory
    double *last


cdef void read_together(const evk_lstm *net, const double *weights, const double *x, const Side *side, int64_t begin,
                        int64_t end, double *out) noexcept nogil:
    """Steps begin..end; lanes are sequences."""
    cdef size_t I = net.n_inputs, H = net.n_cells, k, i
    cdef int64_t t
    cdef double *now
    for t in range(begin, end):
        for k in range(side.n):
            if t < side.length[k]:
                for i in range(I):
                    side.inputs[i * LANES + k] = x[(<size_t>(side.first[k] + t)) * I + i]
        now = side.memory + (1 + <size_t>(t & 1)) * side.part
        kernels.lstm_sequences(net, weights, side.inputs, side.memory + (2 - <size_t>(t & 1)) * side.part, side.memory,
                               now)
        for k in range(side.n):
            if t < side.length[k]:
                get_lane(now, k, H, out + (<size_t>(side.first[k] + t)) * H)
                if t + 1 == side.length[k]:
                    get_lane(side.memory, k, H, side.last + 2 * k * H)
                    get_lane(now, k, H, side.last + (2 * k + 1) * H)


cdef void read_in_turn(const evk_lstm *net, const double *weights, const double *x, const Side *side, int64_t begin,
                       int64_t end, double *out) noexcept nogil:
    """Steps begin..end; lanes are cells. Sequences take turns at every step: the processor works on several at once."""
    cdef size_t I = net.n_inputs, H = net.n_cells, k
    cdef int64_t t
    cdef double *now
    for t in range(begin, end):
        for k in range(side.n):
            if t < side.length[k]:
                now = step_cells(net, weights, x + (<size_t>(side.first[k] + t)) * I, t, side.memory + k * side.lane)
                memcpy(out + (<size_t>(side.first[k] + t)) * H, now, H * sizeof(double))
                if t + 1 == side.length[k]:
                    memcpy(side.last + 2 * k * H, side.memory + k * side.lane, H * sizeof(double))
                    memcpy(side.last + (2 * k + 1) * H, now, H * sizeof(double))


def sequences(const double[:, ::1] genome not None, const double[:, ::1] x not None,
              const int64_t[::1] offsets not None, str cell, gate_bias, const double[:, :, ::1] state=None):
    """Activations (n_rows, n_cells) of one network on sequences laid end to end, and the states they end in.

    State: (n_sequences, 2, n_cells), the cells' states s and their outputs phi; None starts from zero."""
    cdef Py_ssize_t n_cells = genome.shape[0], n_rows = x.shape[0], n_sequences = offsets.shape[0] - 1
    cdef evk_lstm net = make_net(x.shape[1], n_cells, cell, gate_bias)
    if genome.shape[1] != 4 * (x.shape[1] + n_cells):
        raise ValueError(f"genome has {genome.shape[1]} columns, expected {4 * (x.shape[1] + n_cells)}")
    if state is not None and (state.shape[0] != n_sequences or state.shape[1] != 2 or state.shape[2] != n_cells):
        raise ValueError(f"state must have shape {(n_sequences, 2, n_cells)}")
    result = np.empty((n_rows, n_cells))
    if state is None:
        final = np.zeros((n_sequences, 2, n_cells))
    else:
        final = np.array(state, dtype=np.float64)
    if n_rows == 0 or n_sequences == 0:
        return result, final
    cdef double[:, ::1] out = result
    cdef double[:, :, ::1] ends = final
    cdef size_t packed = whole_packs(n_cells)
    cdef double[::1] by_cells = np.empty(weights_size(&net))
    cdef double[::1] by_sequences = np.empty(n_cells * 4 * (net.n_inputs + net.n_cells))
    cdef double[::1] inputs = np.zeros(max(1, net.n_inputs) * LANES)
    cdef double[::1] memory = np.empty(3 * packed * LANES)
    cdef double[::1] last = np.empty(LANES * 2 * n_cells)
    cdef Side side
    side.inputs, side.memory, side.last = &inputs[0], &memory[0], &last[0]
    # neighbours of like length share a block, so that few lanes idle
    cdef const int64_t[::1] order = np.argsort(-np.diff(offsets), kind="stable").astype(np.int64)
    cdef Py_ssize_t block, k, h, steps
    cdef int64_t t, stop
    cdef bint together
    pack_cells(&net, &genome[0, 0], &by_cells[0])
    pack(&net, &genome[0, 0], 1, 1, 0, &by_sequences[0])
    for block in range(0, n_sequences, LANES):
        side.n = min(LANES, n_sequences - block)
        steps = 0
        for k in range(<Py_ssize_t>side.n):
            side.first[k] = offsets[order[block + k]]
            side.length[k] = offsets[order[block + k] + 1] - side.first[k]
            steps += side.length[k]
        # steps of packs either way; one that waits for the sequence's last step takes about a fifth longer
        together = 5 * side.length[0] * n_cells < 6 * steps * <Py_ssize_t>(packed // LANES)
        if together:
            side.part, side.lane, side.cell = n_cells * LANES, 1, LANES
        else:
            side.part, side.lane, side.cell = packed, 3 * packed, 1
        memory[:] = 0.0
        for k in range(<Py_ssize_t>side.n):
            for h in range(n_cells):
                last[2 * k * n_cells + h] = ends[order[block + k], 0, h]
                last[(2 * k + 1) * n_cells + h] = ends[order[block + k], 1, h]
                memory[k * side.lane + h * side.cell] = ends[order[block + k], 0, h]
                memory[2 * side.part + k * side.lane + h * side.cell] = ends[order[block + k], 1, h]
        t = 0
        while t < side.length[0]:
            PyErr_CheckSignals()
            stop = min(t + STEPS_BETWEEN_SIGNALS, side.length[0])
            with nogil:
                if together:
                    read_together(&net, &by_sequences[0], &x[0, 0], &side, t, stop, &out[0, 0])
                else:
                    read_in_turn(&net, &by_cells[0], &x[0, 0], &side, t, stop, &out[0, 0])
            t = stop
        for k in range(<Py_ssize_t>side.n):
            for h in range(n_cells):
                ends[order[block + k], 0, h] = last[2 * k * n_cells + h]
                ends[order[block + k], 1, h] = last[(2 * k + 1) * n_cells + h]
    return result, final

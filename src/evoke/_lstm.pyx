"""LSTM forward pass: typed loops over blocks of eight networks (or of eight sequences) around the C step."""
from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcpy, memset

import numpy as np

from evoke._kernels cimport evk_lstm, kernels

cdef enum:
    LANES = 8
    STEPS_BETWEEN_SIGNALS = 32768

CELLS = ("lstm", "evolino")


cdef evk_lstm make_net(Py_ssize_t n_inputs, Py_ssize_t n_cells, str cell, gate_bias) except *:
    cdef evk_lstm net
    net.n_inputs = n_inputs
    net.n_cells = n_cells
    net.cell = CELLS.index(cell)
    net.input_bias, net.forget_bias, net.output_bias = gate_bias
    return net


cdef size_t weights_size(const evk_lstm *net) noexcept nogil:
    return net.n_cells * (net.n_inputs + net.n_cells) * 4 * LANES


cdef void pack_genomes(const evk_lstm *net, const double *genomes, size_t n_networks, double *weights) noexcept nogil:
    """genomes[network][cell][gate][source] -> weights[cell][source][gate][lane]; idle lanes repeat the last network."""
    cdef size_t sources = net.n_inputs + net.n_cells
    cdef size_t size = net.n_cells * 4 * sources
    cdef size_t cell, gate, source, lane, network
    cdef const double *genome
    for lane in range(LANES):
        network = lane if lane < n_networks else n_networks - 1
        genome = genomes + network * size
        for cell in range(net.n_cells):
            for gate in range(4):
                for source in range(sources):
                    weights[((cell * sources + source) * 4 + gate) * LANES + lane] = genome[0]
                    genome += 1


cdef void forward_block(const evk_lstm *net, const double *weights, const double *x, const Runs *runs,
                        const double *zeros, double *states, double *phi) noexcept nogil:
    """phi[row][cell][lane] for all rows x[row][input]; states[1 + n_slots][cell][lane] is work space."""
    cdef size_t width = net.n_cells * LANES
    cdef size_t bytes_of_state = width * sizeof(double)
    cdef const double *before
    cdef double *state
    cdef size_t k
    cdef int64_t row, parent
    for k in range(runs.n):
        state = states + (<size_t>(runs.slot[k] + 1)) * width
        parent = runs.parent[k]
        if parent < 0:
            memset(state, 0, bytes_of_state)
            before = zeros
        else:
            memcpy(state, states + (<size_t>(runs.slot[parent] + 1)) * width, bytes_of_state)
            before = phi + (<size_t>(runs.end[parent] - 1)) * width
        for row in range(runs.begin[k], runs.end[k]):
            kernels.lstm_step(net, weights, x + <size_t>row * net.n_inputs, before, state, phi + <size_t>row * width)
            before = phi + <size_t>row * width


def population(const double[:, :, ::1] genomes not None, const double[:, ::1] x not None,
               const int64_t[::1] begin not None, const int64_t[::1] end not None,
               const int64_t[::1] parent not None, const int64_t[::1] slot not None, str cell, gate_bias):
    """Activations (n_networks, n_rows, n_cells) of many networks on the same rows."""
    cdef Py_ssize_t n_networks = genomes.shape[0], n_rows = x.shape[0], n_cells = genomes.shape[1]
    cdef evk_lstm net = make_net(x.shape[1], n_cells, cell, gate_bias)
    result = np.empty((n_networks, n_rows, n_cells))
    if result.size == 0:
        return result
    cdef double[:, :, ::1] out = result
    cdef Runs runs
    runs.n = begin.shape[0]
    runs.begin, runs.end, runs.parent, runs.slot = &begin[0], &end[0], &parent[0], &slot[0]
    cdef Py_ssize_t n_slots = max(slot) + 1
    cdef double[::1] weights = np.empty(weights_size(&net))
    cdef double[::1] zeros = np.zeros(n_cells * LANES)
    cdef double[::1] states = np.empty((1 + n_slots) * n_cells * LANES)
    cdef double[::1] phi = np.empty(n_rows * n_cells * LANES)
    cdef Py_ssize_t first, here, lane, row, h
    for first in range(0, n_networks, LANES):
        PyErr_CheckSignals()
        here = min(LANES, n_networks - first)
        with nogil:
            pack_genomes(&net, &genomes[first, 0, 0], here, &weights[0])
            forward_block(&net, &weights[0], &x[0, 0], &runs, &zeros[0], &states[0], &phi[0])
            for lane in range(here):
                for row in range(n_rows):
                    for h in range(n_cells):
                        out[first + lane, row, h] = phi[(row * n_cells + h) * LANES + lane]
    return result


cdef void lanes_chunk(const evk_lstm *net, const double *weights, const double *x, const int64_t *first,
                      const int64_t *length, size_t n_lanes, int64_t begin, int64_t end, double *inputs,
                      double *state, double *phi, double *out, double *last) noexcept nogil:
    """Steps begin..end of up to eight sequences side by side; `last` takes state and phi of those that end here.

    phi holds two steps in turn, as the cells need the outputs of the step before."""
    cdef size_t I = net.n_inputs, H = net.n_cells, k, h, i
    cdef int64_t t
    cdef double *now
    cdef double *before
    for t in range(begin, end):
        before = phi + (t & 1) * H * LANES
        now = phi + ((t + 1) & 1) * H * LANES
        for k in range(n_lanes):
            if t < length[k]:
                for i in range(I):
                    inputs[i * LANES + k] = x[(<size_t>(first[k] + t)) * I + i]
        kernels.lstm_step_lanes(net, weights, inputs, before, state, now)
        for k in range(n_lanes):
            if t < length[k]:
                for h in range(H):
                    out[(<size_t>(first[k] + t)) * H + h] = now[h * LANES + k]
                if t + 1 == length[k]:
                    for h in range(H):
                        last[(2 * k) * H + h] = state[h * LANES + k]
                        last[(2 * k + 1) * H + h] = now[h * LANES + k]


def sequences(const double[:, ::1] genome not None, const double[:, ::1] x not None,
              const int64_t[::1] offsets not None, str cell, gate_bias, const double[:, :, ::1] state=None):
    """Activations (n_rows, n_cells) of one network on sequences laid end to end, and the states they end in.

    State: (n_sequences, 2, n_cells), the cells' states s and their outputs phi; None starts from zero."""
    cdef Py_ssize_t n_cells = genome.shape[0], n_rows = x.shape[0], n_sequences = offsets.shape[0] - 1
    cdef evk_lstm net = make_net(x.shape[1], n_cells, cell, gate_bias)
    result = np.empty((n_rows, n_cells))
    if state is None:
        final = np.zeros((n_sequences, 2, n_cells))
    else:
        final = np.array(state, dtype=np.float64)
    if n_rows == 0 or n_sequences == 0:
        return result, final
    cdef double[:, ::1] out = result
    cdef double[:, :, ::1] ends = final
    cdef double[::1] weights = np.empty(weights_size(&net))
    cdef double[::1] inputs = np.zeros(max(1, net.n_inputs) * LANES)
    cdef double[::1] states = np.empty(n_cells * LANES)
    cdef double[::1] phi = np.empty(2 * n_cells * LANES)
    cdef double[::1] last = np.empty(LANES * 2 * n_cells)
    # neighbours of like length share a block, so that few lanes idle
    cdef const int64_t[::1] order = np.argsort(-np.diff(offsets), kind="stable").astype(np.int64)
    cdef int64_t[LANES] first
    cdef int64_t[LANES] length
    cdef Py_ssize_t block, here, k, h
    cdef int64_t t, stop
    pack_genomes(&net, &genome[0, 0], 1, &weights[0])
    for block in range(0, n_sequences, LANES):
        here = min(LANES, n_sequences - block)
        for k in range(LANES):
            length[k] = 0
            for h in range(n_cells):
                states[h * LANES + k] = phi[h * LANES + k] = 0.0
        for k in range(here):
            first[k] = offsets[order[block + k]]
            length[k] = offsets[order[block + k] + 1] - first[k]
            for h in range(n_cells):
                states[h * LANES + k] = last[2 * k * n_cells + h] = ends[order[block + k], 0, h]
                phi[h * LANES + k] = last[(2 * k + 1) * n_cells + h] = ends[order[block + k], 1, h]
        t = 0
        while t < length[0]:
            PyErr_CheckSignals()
            stop = min(t + STEPS_BETWEEN_SIGNALS, length[0])
            with nogil:
                lanes_chunk(&net, &weights[0], &x[0, 0], first, length, here, t, stop, &inputs[0], &states[0],
                            &phi[0], &out[0, 0], &last[0])
            t = stop
        for k in range(here):
            for h in range(n_cells):
                ends[order[block + k], 0, h] = last[2 * k * n_cells + h]
                ends[order[block + k], 1, h] = last[(2 * k + 1) * n_cells + h]
    return result, final

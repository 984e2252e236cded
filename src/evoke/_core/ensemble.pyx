"""Activations of several networks that read the same sequences, as the features of one readout: lanes are networks."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.string cimport memset

import numpy as np

from evoke._core.abreast cimport is_wide
from evoke._core.dispatch cimport PACK_BYTES, aligned, evk_network, real, whole_packs
from evoke._core.lstm cimport Network, check_offsets, check_population, get_lane, pack_networks, put_lane, step_networks

from evoke._core import lstm

cdef enum:
    STEPS_BETWEEN_SIGNALS = 8192


cdef void read(const evk_network *net, const real *x, int64_t begin, int64_t n_steps, size_t n_networks, real *memory,
               real *out, size_t stride) noexcept nogil:
    """Steps begin..begin + n_steps of a sequence x by networks in lanes.

    out: [step][stride], one network after the other; memory: states, and the outputs of even and of odd steps,
    [cell][lane] each."""
    cdef size_t H = net.n_cells, part = H * (PACK_BYTES // sizeof(real)), k
    cdef int64_t t
    cdef real *now
    for t in range(begin, begin + n_steps):
        now = memory + (1 + <size_t>(t & 1)) * part
        step_networks(net, x + <size_t>t * net.n_inputs, memory + (2 - <size_t>(t & 1)) * part, memory, now)
        for k in range(n_networks):
            get_lane(now, k, H, out + <size_t>t * stride + k * H)


cdef _side_by_side(Network networks, const real[:, :, ::1] genomes, const real[:, ::1] x, const int64_t[::1] offsets,
                   states):
    cdef Py_ssize_t n_networks = genomes.shape[0], n_cells = genomes.shape[1], n_sequences = offsets.shape[0] - 1
    cdef size_t lanes = PACK_BYTES // sizeof(real), part = n_cells * lanes
    dtype = networks.array.dtype
    result = np.empty((x.shape[0], n_networks * n_cells), dtype)
    final = np.asarray(states)
    cdef real[:, ::1] out = result
    cdef real[:, :, :, ::1] ends = final
    cdef real[::1] weights = aligned(n_cells * genomes.shape[2] * lanes, dtype)
    cdef real[::1] memory = aligned(3 * part, dtype)
    cdef real *before = &memory[2 * part]
    cdef real *last
    cdef evk_network net = networks.c
    cdef Py_ssize_t first, s, k, here
    cdef int64_t t, n_steps, at_once
    net.weights = &weights[0]
    for first in range(0, n_networks, lanes):
        here = min(<Py_ssize_t>lanes, n_networks - first)
        pack_networks(&net, &genomes[first, 0, 0], here, &weights[0])
        for s in range(n_sequences):
            memset(&memory[0], 0, 3 * part * sizeof(real))
            for k in range(here):
                put_lane(&ends[first + k, s, 0, 0], n_cells, &memory[0], k)
                put_lane(&ends[first + k, s, 1, 0], n_cells, before, k)
            t, n_steps = 0, offsets[s + 1] - offsets[s]
            while t < n_steps:
                PyErr_CheckSignals()
                at_once = min(<int64_t>STEPS_BETWEEN_SIGNALS, n_steps - t)
                with nogil:
                    read(&net, &x[offsets[s], 0], t, at_once, here, &memory[0], &out[offsets[s], first * n_cells],
                         n_networks * n_cells)
                t += at_once
            last = &memory[(1 + <size_t>((n_steps + 1) & 1)) * part]  # of no steps: `before`
            for k in range(here):
                get_lane(&memory[0], k, n_cells, &ends[first + k, s, 0, 0])
                get_lane(last, k, n_cells, &ends[first + k, s, 1, 0])
    return result, final


cdef bint pays(Network networks, const int64_t[::1] offsets) except -1:
    """Whether networks side by side take fewer steps of packs than one by one, where lanes are sequences or cells."""
    cdef Py_ssize_t n_networks = networks.array.shape[0], lanes = networks.lanes, n_cells = networks.c.n_cells
    if n_networks == 1 or is_wide(&networks.c):  # weights of wide networks are loaded for several sequences at once
        return False
    longest = np.sort(np.diff(offsets))[::-1][::lanes].sum() * n_cells
    by_cells = offsets[offsets.shape[0] - 1] * whole_packs(n_cells, lanes) // lanes
    alone = n_networks * min(longest, by_cells)
    return offsets[offsets.shape[0] - 1] * whole_packs(n_networks, lanes) // lanes * n_cells <= alone


def ensemble(Network networks not None, x not None, const int64_t[::1] offsets not None, states=None):
    """Activations (n_rows, n_networks * n_cells) on sequences laid end to end, and the states the networks end in.

    One network after the other, with the bits that each has alone, in the precision of the genomes. States:
    (n_networks, n_sequences, 2, n_cells), the cells' states s and their outputs phi; None starts from zero."""
    cdef Py_ssize_t n_networks = check_population(networks), n_sequences = offsets.shape[0] - 1
    x = np.asarray(x)
    dtype, shape = networks.array.dtype, (n_networks, n_sequences, 2, networks.c.n_cells)
    if x.ndim != 2:
        raise ValueError(f"x must be 2-D, got shape {x.shape}")
    networks.check_inputs(x.shape[1])
    check_offsets(offsets, len(x), 0)
    if states is not None and np.shape(states) != shape:
        raise ValueError(f"states must have shape {shape}, got {np.shape(states)}")
    given = np.zeros(shape, dtype) if states is None else np.array(states, dtype, order="C")
    if n_networks == 0 or (len(x) > 0 and pays(networks, offsets)):
        if dtype == np.float32:
            return _side_by_side[float](networks, networks.array, x, offsets, given)
        return _side_by_side[double](networks, networks.array, x, offsets, given)
    parts = []
    for k in range(n_networks):
        one = Network(networks.array[k], networks.cell, networks.gate_bias)
        phi, given[k] = lstm.sequences(one, x, offsets, given[k])
        parts.append(phi)
    return parts[0] if n_networks == 1 else np.concatenate(parts, axis=1), given

"""LSTM forward pass: typed loops over blocks of networks (or of sequences) around the C step, in either precision.

A pack of lanes fills a cache line: eight doubles, or sixteen floats."""
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcpy, memset

import numpy as np

from evoke._core.abreast cimport Abreast, Reader, is_wide, sources_each_step
from evoke._core.dispatch cimport LANES, LANES_SINGLE, PACK_BYTES, aligned, evk_network, functions, whole_packs
from evoke._validation.errors import refusal
from evoke._validation.parameters import check_choice, check_gate_bias

cdef enum:
    STEPS_BETWEEN_SIGNALS = 32768
    ROWS_BETWEEN_SIGNALS = 4096
    WIDE_STEPS_BETWEEN_SIGNALS = 256  # of sequences side by side
    LARGEST_BLOCK = 786432  # bytes of a block's weights for a step: beyond it one network at a time is faster
    INPUTS_AT_ONCE = 64     # of all sequences: as many cache lines as the first cache holds with ease
    LARGEST_CACHED = 16777216  # bytes of the weights of a network, of which all caches together hold more

CELLS = ("lstm", "evolino")


cdef class Network:
    """One network, or a population of networks of the same shape, which cannot be changed.

    Parameters
    ----------
    genome : C-contiguous float64 or float32 array of shape (H, 4 * (I + H)) or (n, H, 4 * (I + H))
        One chromosome per cell, ``[z | input | forget | output] x [I inputs, H cells]``, with I, H >= 1; a population
        may have no networks. It is kept, not copied, and may hold NaN, as the activations of such a network do.
    cell : {"lstm", "evolino"}
        Which of the two cells.
    gate_bias : three floats
        Constant bias of the input, forget and output gates.

    Raises
    ------
    ParameterError
        A genome that is no array, an unknown cell, or other biases.
    ValueError
        A genome of another shape, dtype or layout.
    """

    def __cinit__(self, genome, cell="lstm", gate_bias=(0.0, 1.5, -1.5)):
        cdef Py_ssize_t n_cells, n_columns
        if not isinstance(genome, np.ndarray):
            raise refusal("genome", "be an array", genome)
        if genome.ndim not in (2, 3) or genome.dtype not in (np.float64, np.float32) or not genome.flags.c_contiguous:
            raise ValueError(f"genome must be 2-D or 3-D, of float64 or float32 and C-contiguous, got {genome.dtype} "
                             f"of shape {genome.shape}")
        n_cells, n_columns = genome.shape[genome.ndim - 2], genome.shape[genome.ndim - 1]
        if n_cells < 1 or n_columns % 4 != 0 or n_columns <= 4 * n_cells:
            raise ValueError("genome must have shape ([n_networks,] H, 4 * (I + H)) with I, H >= 1, "
                             f"got {genome.shape}")
        check_choice("cell", cell, CELLS)
        self.array = np.asarray(genome).view()
        cdef Py_buffer view
        PyObject_GetBuffer(self.array, &view, PyBUF_C_CONTIGUOUS)
        self.first, self.bytes_each = view.buf, n_cells * n_columns * <size_t>view.itemsize
        PyBuffer_Release(&view)
        self.c.n_cells, self.c.n_inputs, self.c.cell = n_cells, n_columns // 4 - n_cells, CELLS.index(cell)
        self.c.input_bias, self.c.forget_bias, self.c.output_bias = check_gate_bias(gate_bias)

    @property
    def genome(self):
        """The weights, in a view of the caller's own: another shape or dtype of it is not that of the network."""
        return self.array.view()

    @property
    def cell(self):
        """Which of `CELLS` it has."""
        return CELLS[self.c.cell]

    @property
    def gate_bias(self):
        """Constant bias of the input, forget and output gates."""
        return self.c.input_bias, self.c.forget_bias, self.c.output_bias

    @property
    def n_cells(self):
        """H."""
        return self.c.n_cells

    @property
    def n_inputs(self):
        """I."""
        return self.c.n_inputs

    @property
    def lanes(self):
        """How many networks of its precision are evaluated side by side."""
        return PACK_BYTES // self.array.itemsize

    def __reduce__(self):
        return Network, (self.array, self.cell, self.gate_bias)

    cdef const void *genome_at(self, Py_ssize_t k) noexcept nogil:
        """That of network k of a population."""
        return <const char *>self.first + <size_t>k * self.bytes_each

    cdef int check_inputs(self, Py_ssize_t n_columns) except -1:
        if <size_t>n_columns != self.c.n_inputs:
            raise ValueError(f"rows have {n_columns} columns, but the network has {self.c.n_inputs} inputs")
        return 0

    def __repr__(self):
        return f"Network({self.n_cells} cells, {self.n_inputs} inputs, {self.cell!r}, gate_bias={self.gate_bias!r})"


cdef size_t weights_size(const evk_network *net, size_t lanes=LANES) noexcept nogil:
    """Weights of one network in the layout whose lanes are cells; no other takes more."""
    return whole_packs(net.n_cells, lanes) * (net.n_inputs + net.n_cells) * 4


cdef void pack(const evk_network *net, const real *first, size_t stride, size_t filled, size_t n_lanes,
               real *weights) noexcept nogil:
    """Cells first[lane * stride][gate][source] -> weights[source][gate][n_lanes], as many lanes as are filled."""
    cdef size_t sources = net.n_inputs + net.n_cells, gate, lane, _
    cdef const real *each
    cdef real *out
    for gate in range(4):
        each, out = first + gate * sources, weights + gate * n_lanes
        for _ in range(sources):
            if filled == PACK_BYTES // sizeof(real):  # the same, for the compiler to unroll
                for lane in range(PACK_BYTES // sizeof(real)):
                    out[lane] = each[lane * stride]
            else:
                for lane in range(filled):
                    out[lane] = each[lane * stride]
            each += 1
            out += 4 * n_lanes


cdef void pack_networks(const evk_network *net, const real *genomes, size_t n_networks, real *weights) noexcept nogil:
    """For lanes that are networks; idle ones repeat the last."""
    cdef size_t a_cell = 4 * (net.n_inputs + net.n_cells), size = net.n_cells * a_cell, cell, k, lane
    cdef size_t lanes = PACK_BYTES // sizeof(real)
    for cell in range(net.n_cells):
        pack(net, genomes + cell * a_cell, size, n_networks, lanes, weights + cell * a_cell * lanes)
    if n_networks < lanes:
        for k in range(size):
            for lane in range(n_networks, lanes):
                weights[k * lanes + lane] = weights[k * lanes + n_networks - 1]


cdef void pack_cells(const evk_network *net, const real *genome, real *weights) noexcept nogil:
    """For lanes that are cells; the last pack's idle lanes have weights of zero."""
    cdef size_t a_cell = 4 * (net.n_inputs + net.n_cells), cell = 0, lanes = PACK_BYTES // sizeof(real)
    while cell < net.n_cells:
        if net.n_cells - cell < lanes:
            memset(weights + cell * a_cell, 0, a_cell * PACK_BYTES)
        pack(net, genome + cell * a_cell, a_cell, min(lanes, net.n_cells - cell), lanes, weights + cell * a_cell)
        cell += lanes


cdef void step_networks(const evk_network *net, const real *x, const real *before, real *state,
                        real *phi) noexcept nogil:
    if real is double:
        functions.lstm_networks(net, x, before, state, phi)
    else:
        functions.lstm_networks_single(net, x, before, state, phi)


cdef void step_sequences(const evk_network *net, const real *x, const real *before, real *state,
                         real *phi) noexcept nogil:
    if real is double:
        functions.lstm_sequences(net, x, before, state, phi)
    else:
        functions.lstm_sequences_single(net, x, before, state, phi)


cdef real *step_cells(const evk_network *net, const real *x, int64_t t, real *state) noexcept nogil:
    """Step t of one network; its outputs. state: s, and the outputs of the last even and odd steps, in whole packs.

    Before step 0 the outputs to start from lie where those of odd steps do."""
    cdef size_t packed = whole_packs(net.n_cells, PACK_BYTES // sizeof(real))
    cdef const real *before = state + (2 - <size_t>(t & 1)) * packed
    cdef real *now = state + (1 + <size_t>(t & 1)) * packed
    if real is double:
        functions.lstm_cells(net, x, before, state, now)
    else:
        functions.lstm_cells_single(net, x, before, state, now)
    return now


cdef void get_lane(const real *values, size_t lane, size_t n_cells, real *out) noexcept nogil:
    cdef size_t h
    for h in range(n_cells):
        out[h] = values[h * (PACK_BYTES // sizeof(real)) + lane]


cdef void put_lane(const real *values, size_t n_cells, real *out, size_t lane) noexcept nogil:
    cdef size_t h
    for h in range(n_cells):
        out[h * (PACK_BYTES // sizeof(real)) + lane] = values[h]


cdef void unpack_networks(const real *packs, size_t n, size_t n_networks, real *out) noexcept nogil:
    """packs[n][lane] -> out[network][n], in bands of as many networks as the compiler can keep in registers."""
    cdef size_t k, lane, i, band = 0
    while band + PACK_BYTES // 2 // sizeof(real) <= n_networks:
        for k in range(n):
            for i in range(PACK_BYTES // 2 // sizeof(real)):
                out[(band + i) * n + k] = packs[k * (PACK_BYTES // sizeof(real)) + band + i]
        band += PACK_BYTES // 2 // sizeof(real)
    for lane in range(band, n_networks):
        for k in range(n):
            out[lane * n + k] = packs[k * (PACK_BYTES // sizeof(real)) + lane]


cdef bint all_finite(const real *values, size_t n) noexcept nogil:
    cdef real zero[8]  # the compiler makes a vector of them; NaN from a value on that is not finite
    cdef size_t k, j
    for j in range(8):
        zero[j] = 0.0
    for k in range(n // 8):
        for j in range(8):
            zero[j] += <real>0.0 * values[8 * k + j]
    for k in range(n // 8 * 8, n):
        zero[0] += <real>0.0 * values[k]
    for j in range(1, 8):
        zero[0] += zero[j]
    return zero[0] == 0.0


def finite(array):
    """Whether all numbers of a contiguous array of doubles or floats are finite."""
    cdef Py_buffer view
    cdef int answer = -1
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    if view.format[0] == b"d" and view.format[1] == 0:
        answer = all_finite(<const double *>view.buf, view.len // sizeof(double))
    elif view.format[0] == b"f" and view.format[1] == 0:
        answer = all_finite(<const float *>view.buf, view.len // sizeof(float))
    PyBuffer_Release(&view)
    if answer < 0:
        raise ValueError(f"array must be of float64 or float32, got {array.dtype}")
    return bool(answer)


def end_to_end(list X not None, Py_ssize_t n_inputs, dtype):
    """Rows of arrays (T_i, n_inputs) of this dtype end to end, and where each begins and ends.

    None where one is anything else, or empty, or holds what is not finite."""
    cdef Py_ssize_t n = len(X), k
    cdef char code = ord(dtype.char)
    cdef Py_buffer view
    cdef bint fits
    plain = np.ndarray
    offsets = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t[::1] ends = offsets
    for k in range(n):
        if type(X[k]) is not plain:
            return None
        try:
            PyObject_GetBuffer(X[k], &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
        except (ValueError, BufferError):  # not contiguous, or of a type that no buffer has
            return None
        fits = view.ndim == 2 and view.format[0] == code and view.format[1] == 0
        fits = fits and view.shape[0] > 0 and view.shape[1] == n_inputs
        if fits:
            ends[k + 1] = ends[k] + view.shape[0]
        PyBuffer_Release(&view)
        if not fits:
            return None
    rows = np.concatenate(X)
    return (rows, offsets) if finite(rows) else None


cdef Py_ssize_t check_population(Network networks) except -1:
    """How many networks there are."""
    if networks.array.ndim != 3:
        raise ValueError(f"genomes must be those of a population, with 3 dimensions, got {networks.array.ndim}")
    return len(networks.array)


cdef const void *rows_for(Network networks, const double[:, ::1] rows, list kept) except NULL:
    """Rows in the precision of these networks; `kept` keeps them alive."""
    cdef const float[:, ::1] single
    networks.check_inputs(rows.shape[1])
    if rows.shape[0] == 0:
        raise ValueError("there are no rows to read")
    if networks.array.dtype == np.float64:
        return &rows[0, 0]
    with np.errstate(over="ignore"):
        kept.append(np.asarray(rows).astype(np.float32))
    single = kept[0]
    return &single[0, 0]


cdef void take(const real *phi, size_t row_stride, size_t cell_stride, const int64_t *rows, size_t n, size_t ld,
               size_t n_cells, double *columns) noexcept nogil:
    cdef size_t h, p
    cdef const real *row
    for p in range(n):
        row = phi + <size_t>rows[p] * row_stride
        for h in range(n_cells):
            columns[h * ld + p] = row[h * cell_stride]
    for h in range(n_cells):
        for p in range(n, ld):
            columns[h * ld + p] = 0.0


cdef int check_signals() except -1 with gil:
    PyErr_CheckSignals()
    return 0


cdef class Block:
    """As many networks as a pack has lanes, their states where segments end, and activations of all rows.

    Lanes are networks as long as the weights of all of them stay in the cache between the steps, and activations are
    phi[row][cell][lane]. Those of larger networks would come from memory at every step, so each reads all rows by
    itself: lanes are cells, and activations phi[network][row][cell]."""

    def __cinit__(self, Network network not None, Py_ssize_t n_rows, Py_ssize_t n_slots, bint into_result=False):
        """into_result: activations of networks that read by themselves go to where the caller has `phi` point."""
        dtype = network.array.dtype
        cdef size_t bytes = dtype.itemsize
        self.net = network.c
        cdef size_t n_cells = self.net.n_cells
        self.lanes = PACK_BYTES // bytes
        self.width = n_cells * self.lanes
        self.packed = whole_packs(n_cells, self.lanes)
        self.size = weights_size(&self.net, self.lanes)
        cdef size_t at_hand = n_cells * 4 * sources_each_step(&self.net) * PACK_BYTES
        self.lanes_are_cells = at_hand > LARGEST_BLOCK
        cdef size_t after = 0
        n_kept = 0 if into_result and self.lanes_are_cells else n_rows
        sizes = (self.lanes * self.size, self.packed * self.lanes, (1 + n_slots) * self.width, n_kept * self.width)
        self.is_wide = is_wide(&self.net)
        if self.is_wide or self.lanes != LANES:
            self.abreast = Abreast(self.net.n_inputs, self.packed // self.lanes if self.lanes_are_cells else n_cells,
                                   self.lanes_are_cells)
        self.memory = aligned(sum(sizes) + len(sizes) * self.lanes, dtype).view(np.uint8)
        cdef void *part[4]
        for k in range(4):
            part[k] = &self.memory[after]
            after += whole_packs(sizes[k], self.lanes) * bytes
        self.weights, self.zeros, self.states, self.phi = part[0], part[1], part[2], part[3]
        self.net.weights = self.weights
        if self.lanes_are_cells:
            self.row_stride, self.cell_stride, self.network_stride = n_cells, 1, n_rows * n_cells
        else:
            self.row_stride, self.cell_stride, self.network_stride = self.width, self.lanes, 1
        memset(self.zeros, 0, sizes[1] * bytes)

    cdef void load(self, const void *genomes, size_t n_networks) noexcept nogil:
        """Take the weights of up to as many networks as there are lanes."""
        self.n_networks = n_networks
        if self.lanes == LANES:
            self.pack_all(<const double *>genomes)
        else:
            self.pack_all(<const float *>genomes)

    cdef void pack_all(self, const real *genomes) noexcept nogil:
        cdef size_t lane, size = self.net.n_cells * 4 * (self.net.n_inputs + self.net.n_cells)
        if not self.lanes_are_cells:
            pack_networks(&self.net, genomes, self.n_networks, <real *>self.weights)
            return
        for lane in range(self.n_networks):
            pack_cells(&self.net, genomes + lane * size, <real *>self.weights + lane * self.size)

    cdef evk_network network_alone(self, size_t lane) noexcept nogil:
        """One of the networks, where lanes are cells."""
        cdef evk_network net = self.net
        net.weights = <const char *>self.weights + lane * self.size * (PACK_BYTES // self.lanes)
        return net

    cdef int run(self, const void *x, const Segments *segments) except -1 nogil:
        """Activations of all rows x[row][input]. Ctrl-C interrupts long ones."""
        if self.lanes == LANES:
            return self.run_all(<const double *>x, segments)
        return self.run_all(<const float *>x, segments)

    cdef int run_all(self, const real *x, const Segments *segments) except -1 nogil:
        cdef size_t lane
        cdef evk_network net
        self.finite = True
        if not self.lanes_are_cells:
            if self.is_wide:
                return self.run_abreast(x, segments, &self.net, 0)
            return self.run_together(x, segments)
        for lane in range(self.n_networks):
            net = self.network_alone(lane)
            self.run_abreast(x, segments, &net, lane)
        return 0

    cdef int run_together(self, const real *x, const Segments *segments) except -1 nogil:
        cdef real *states = <real *>self.states + self.width
        cdef real *phi = <real *>self.phi
        cdef const real *before
        cdef real *state
        cdef real *now
        cdef size_t k
        cdef int64_t row, parent
        for k in range(segments.n):
            state = states + segments.slot[k] * <int64_t>self.width
            parent = segments.parent[k]
            if parent < 0:
                memset(state, 0, self.width * sizeof(real))
                before = <const real *>self.zeros
            else:
                memcpy(state, states + segments.slot[parent] * <int64_t>self.width, self.width * sizeof(real))
                before = phi + (segments.end[parent] - 1) * <int64_t>self.width
            for row in range(segments.begin[k], segments.end[k]):
                now = phi + row * <int64_t>self.width
                step_networks(&self.net, x + <size_t>row * self.net.n_inputs, before, state, now)
                before = now
                if (row + 1) % ROWS_BETWEEN_SIGNALS == 0:
                    check_signals()
            self.finite = self.finite and all_finite(state, self.width)
        return 0

    cdef int run_abreast(self, const real *x, const Segments *segments, const evk_network *net,
                         size_t lane) except -1 nogil:
        """Several segments side by side, by all networks or by the one of this lane."""
        cdef Reader *reader
        cdef real *phi = <real *>self.phi + lane * self.network_stride
        cdef size_t k, waiting = 0
        cdef int64_t n_steps = 0
        self.abreast.begin(segments.n)
        while True:
            while waiting < segments.n and self.abreast.has_room() and not self.abreast.holds(segments.parent[waiting]):
                reader = self.abreast.add(segments.begin[waiting], segments.end[waiting], waiting)
                self.continue_from(segments, segments.parent[waiting], lane, <real *>reader.state, <real *>reader.now)
                waiting += 1
            if self.abreast.n == 0:
                return 0
            self.abreast.step(net, x)
            k = self.abreast.n
            while k > 0:
                k -= 1
                reader = &self.abreast.readers[k]
                memcpy(phi + (reader.row - 1) * <int64_t>self.row_stride, reader.now, self.row_stride * sizeof(real))
                if reader.row == reader.end:
                    self.end(segments, lane, reader, <const real *>reader.state)
                    self.abreast.remove(k)
            n_steps += 1
            if n_steps % WIDE_STEPS_BETWEEN_SIGNALS == 0:
                check_signals()

    cdef void continue_from(self, const Segments *segments, int64_t k, size_t lane, real *state,
                            real *phi) noexcept nogil:
        """Where all networks, or the one of this lane, are at the end of segment k; -1: zero, as they are given."""
        if k < 0:
            return
        cdef const real *states = <const real *>self.states + (1 + segments.slot[k]) * <int64_t>self.width
        cdef const real *last = <const real *>self.phi + (segments.end[k] - 1) * <int64_t>self.row_stride
        memcpy(state, states + lane * self.net.n_cells, self.row_stride * sizeof(real))
        memcpy(phi, last + lane * self.network_stride, self.row_stride * sizeof(real))

    cdef void end(self, const Segments *segments, size_t lane, const Reader *reader, const real *state) noexcept nogil:
        """A segment has been read: its state is kept where it is needed."""
        cdef int64_t slot = segments.slot[reader.name]
        cdef real *kept = <real *>self.states + (1 + slot) * <int64_t>self.width
        if slot >= 0:
            memcpy(kept + lane * self.net.n_cells, state, self.row_stride * sizeof(real))
        self.finite = self.finite and all_finite(state, self.row_stride)

    cdef void gather(self, const int64_t *rows, size_t n, size_t ld, size_t network, double *columns) noexcept nogil:
        """Activations of one network in so many rows: columns[cell][ld], zero after the last row."""
        if self.lanes == LANES:
            take(<const double *>self.phi + network * self.network_stride, self.row_stride, self.cell_stride, rows, n,
                 ld, self.net.n_cells, columns)
        else:
            take(<const float *>self.phi + network * self.network_stride, self.row_stride, self.cell_stride, rows, n,
                 ld, self.net.n_cells, columns)

    cdef void fetch(self, const Segments *segments, int64_t k, size_t lane, real *state) noexcept nogil:
        """Where one network is at the end of segment k, as `step_cells` continues from it; lanes are cells."""
        self.continue_from(segments, k, lane, state, state + 2 * self.packed)


cdef _population(Network networks, const real[:, :, ::1] genomes, const real[:, ::1] x, const Segments *segments,
                 bint refuse_overflow):
    cdef Py_ssize_t n_networks = genomes.shape[0], n_rows = x.shape[0], n_cells = genomes.shape[1]
    networks.check_inputs(x.shape[1])
    result = np.empty((n_networks, n_rows, n_cells), networks.array.dtype)
    if result.size == 0:
        return result
    cdef real[:, :, ::1] out = result
    cdef Block block = Block(networks, n_rows, segments.n_slots, True)
    cdef Py_ssize_t first, here
    for first in range(0, n_networks, block.lanes):
        PyErr_CheckSignals()
        here = min(<Py_ssize_t>block.lanes, n_networks - first)
        with nogil:
            block.load(&genomes[first, 0, 0], here)
            if block.lanes_are_cells:
                block.phi = &out[first, 0, 0]
            block.run(&x[0, 0], segments)
            if not block.lanes_are_cells:
                unpack_networks(<const real *>block.phi, n_rows * n_cells, here, &out[first, 0, 0])
        if refuse_overflow and not block.finite:
            raise OverflowError
    return result


cdef Segments make_segments(const int64_t[:, ::1] table, Py_ssize_t n_rows) except *:
    """The segments of a table, which must lie within so many rows and continue from segments that keep their state."""
    if table.shape[0] != 4 or table.shape[1] == 0:
        raise ValueError(f"table must have shape (4, n_segments), got {(table.shape[0], table.shape[1])}")
    cdef Segments segments
    cdef Py_ssize_t k
    segments.n, segments.n_slots = table.shape[1], 0
    segments.begin, segments.end = &table[0, 0], &table[1, 0]
    segments.parent, segments.slot = &table[2, 0], &table[3, 0]
    for k in range(table.shape[1]):
        if not 0 <= table[0, k] < table[1, k] <= n_rows:
            raise ValueError(f"table[:2, {k}] is {[table[0, k], table[1, k]]}, which is no segment of {n_rows} rows")
        if not -1 <= table[3, k] < table.shape[1]:
            raise ValueError(f"table[3, {k}] must be -1 or a slot below {table.shape[1]}, got {table[3, k]}")
        if not -1 <= table[2, k] < k or (table[2, k] >= 0 and table[3, table[2, k]] < 0):
            raise ValueError(f"table[2, {k}] must be -1 or an earlier segment with a slot, got {table[2, k]}")
        segments.n_slots = max(segments.n_slots, table[3, k] + 1)
    return segments


cdef int check_offsets(const int64_t[::1] offsets, Py_ssize_t n_rows, int64_t least) except -1:
    """That sequences of at least so many steps lie end to end in all the rows."""
    cdef Py_ssize_t k, n = offsets.shape[0] - 1
    if n < 0 or offsets[0] != 0 or offsets[n] != n_rows:
        ends = [offsets[0], offsets[n]] if n >= 0 else []
        raise ValueError(f"offsets must begin with 0 and end with the number of rows, {n_rows}, got {ends}")
    for k in range(n):
        if not 0 <= offsets[k] <= n_rows - least or offsets[k] + least > offsets[k + 1]:
            raise ValueError(f"offsets must ascend by at least {least}, got {offsets[k + 1]} after {offsets[k]}")
    return 0


def population(Network networks not None, rows not None, const int64_t[:, ::1] table not None,
               bint refuse_overflow=False):
    """Activations (n_networks, n_rows, n_cells) of many networks on the same rows, in the precision of the genomes.

    table (4, n_segments): begin, end, parent and slot, as in `evoke.sequences.prefixes`. OverflowError, if asked for,
    where a segment ends in a state that is not finite."""
    cdef Segments segments = make_segments(table, len(rows))
    if networks.array.dtype == np.float32:
        return _population[float](networks, networks.array, rows, &segments, refuse_overflow)
    return _population[double](networks, networks.array, rows, &segments, refuse_overflow)


cdef struct Batch:
    # As many sequences as a pack has lanes, that one network reads at the same time: sequence k has rows
    # first[k] + [0, length[k]).
    size_t n
    int64_t first[LANES_SINGLE]
    int64_t length[LANES_SINGLE]
    # The cells' states and the outputs of even and of odd steps, doubles or floats: cell h of sequence k is at
    # part * (0, 1 or 2) + k * lane + h * cell.
    void *memory
    size_t part, lane, cell
    void *inputs  # of `read_together`: [input][lane]
    void *last    # state and outputs of the cells where each sequence ends: [sequence][2][cell]


cdef void read_together(const evk_network *net, const real *x, const Batch *batch, int64_t begin, int64_t end,
                        real *out) noexcept nogil:
    """Steps begin..end; lanes are sequences."""
    cdef size_t I = net.n_inputs, H = net.n_cells, k, i, band
    cdef real *inputs = <real *>batch.inputs
    cdef real *memory = <real *>batch.memory
    cdef real *last = <real *>batch.last
    cdef int64_t t
    cdef real *now
    for t in range(begin, end):
        for band in range((I + INPUTS_AT_ONCE - 1) // INPUTS_AT_ONCE):
            for k in range(batch.n):
                if t < batch.length[k]:
                    for i in range(band * INPUTS_AT_ONCE, min((band + 1) * INPUTS_AT_ONCE, I)):
                        inputs[i * (PACK_BYTES // sizeof(real)) + k] = x[(<size_t>(batch.first[k] + t)) * I + i]
        now = memory + (1 + <size_t>(t & 1)) * batch.part
        step_sequences(net, inputs, memory + (2 - <size_t>(t & 1)) * batch.part, memory, now)
        for k in range(batch.n):
            if t < batch.length[k]:
                get_lane(now, k, H, out + (<size_t>(batch.first[k] + t)) * H)
                if t + 1 == batch.length[k]:
                    get_lane(memory, k, H, last + 2 * k * H)
                    get_lane(now, k, H, last + (2 * k + 1) * H)


cdef void read_in_turn(const evk_network *net, const real *x, const Batch *batch, int64_t begin, int64_t end,
                       real *out) noexcept nogil:
    """Steps begin..end; lanes are cells. Sequences take turns at every step: the processor works on several at once."""
    cdef size_t I = net.n_inputs, H = net.n_cells, k
    cdef real *memory = <real *>batch.memory
    cdef real *last = <real *>batch.last
    cdef int64_t t
    cdef real *now
    for t in range(begin, end):
        for k in range(batch.n):
            if t < batch.length[k]:
                now = step_cells(net, x + (<size_t>(batch.first[k] + t)) * I, t, memory + k * batch.lane)
                memcpy(out + (<size_t>(batch.first[k] + t)) * H, now, H * sizeof(real))
                if t + 1 == batch.length[k]:
                    memcpy(last + 2 * k * H, memory + k * batch.lane, H * sizeof(real))
                    memcpy(last + (2 * k + 1) * H, now, H * sizeof(real))


cdef int read_abreast(Network network, const real *x, const int64_t[::1] offsets, const int64_t[::1] order,
                      const real *weights, real *out, real *ends) except -1:
    """All sequences, several side by side; lanes are cells. ends: [sequence][state, outputs][cell], taken and given."""
    cdef evk_network net = network.c
    cdef size_t H = net.n_cells, k
    cdef Py_ssize_t waiting = 0, n = order.shape[0]
    cdef int64_t s, n_steps = 0
    cdef Reader *reader
    cdef size_t lanes = PACK_BYTES // sizeof(real)
    cdef Abreast abreast = Abreast(net.n_inputs, whole_packs(H, lanes) // lanes, True)
    net.weights = weights
    with nogil:
        abreast.begin(<size_t>n)
        while True:
            while waiting < n and offsets[order[waiting] + 1] > offsets[order[waiting]] and abreast.has_room():
                s = order[waiting]
                reader = abreast.add(offsets[s], offsets[s + 1], s)
                memcpy(reader.state, ends + <size_t>s * 2 * H, H * sizeof(real))
                memcpy(reader.now, ends + (<size_t>s * 2 + 1) * H, H * sizeof(real))
                waiting += 1
            if abreast.n == 0:
                return 0
            abreast.step(&net, x)
            k = abreast.n
            while k > 0:
                k -= 1
                reader = &abreast.readers[k]
                memcpy(out + <size_t>(reader.row - 1) * H, reader.now, H * sizeof(real))
                if reader.row == reader.end:
                    memcpy(ends + <size_t>reader.name * 2 * H, reader.state, H * sizeof(real))
                    memcpy(ends + (<size_t>reader.name * 2 + 1) * H, reader.now, H * sizeof(real))
                    abreast.remove(k)
            n_steps += 1
            if n_steps % WIDE_STEPS_BETWEEN_SIGNALS == 0:
                check_signals()


cdef bint lanes_should_be_cells(const evk_network *net, const int64_t[::1] lengths, size_t lanes) noexcept nogil:
    """Of a wide network that reads sequences of these lengths, longest first.

    Either way takes as long as it has steps of packs, with their idle lanes; where lanes are sequences, less by a
    tenth, as long as the caches hold the weights, which every pack of them loads by itself."""
    cdef Py_ssize_t k
    cdef int64_t by_cells = 0, by_sequences = 0
    for k in range(lengths.shape[0]):
        by_cells += lengths[k] * <int64_t>(whole_packs(net.n_cells, lanes) // lanes)
        if k % <Py_ssize_t>lanes == 0:
            by_sequences += lengths[k] * <int64_t>net.n_cells
    return 11 * by_cells <= 10 * by_sequences or weights_size(net, lanes) * (PACK_BYTES // lanes) > LARGEST_CACHED


cdef _sequences(Network network, const real[:, ::1] genome, const real[:, ::1] x, const int64_t[::1] offsets, state):
    cdef Py_ssize_t n_cells = genome.shape[0], n_rows = x.shape[0], n_sequences = offsets.shape[0] - 1
    cdef evk_network by_cells = network.c, by_sequences = network.c
    dtype = network.array.dtype
    network.check_inputs(x.shape[1])
    check_offsets(offsets, n_rows, 0)
    if state is not None and np.shape(state) != (n_sequences, 2, n_cells):
        raise ValueError(f"state must have shape {(n_sequences, 2, n_cells)}, got {np.shape(state)}")
    result = np.empty((n_rows, n_cells), dtype)
    final = np.zeros((n_sequences, 2, n_cells), dtype) if state is None else np.array(state, dtype, order="C")
    if n_rows == 0 or n_sequences == 0:
        return result, final
    cdef real[:, ::1] out = result
    cdef real[:, :, ::1] ends = final
    cdef size_t lanes = PACK_BYTES // sizeof(real), packed = whole_packs(n_cells, lanes)
    cdef real[::1] packs_of_cells = aligned(weights_size(&by_cells, lanes), dtype)
    cdef real[::1] plain = np.empty(n_cells * 4 * (network.c.n_inputs + n_cells), dtype)
    cdef real[::1] inputs = np.zeros(max(1, network.c.n_inputs) * lanes, dtype)
    cdef real[::1] memory = aligned(3 * packed * lanes, dtype)
    cdef real[::1] last = np.empty(lanes * 2 * n_cells, dtype)
    cdef Batch batch
    # neighbours of like length share a block, so that few lanes idle
    cdef const int64_t[::1] order = np.argsort(-np.diff(offsets), kind="stable").astype(np.int64)
    cdef Py_ssize_t block, k, h, steps
    cdef int64_t t, stop
    cdef bint together
    pack_cells(&by_cells, &genome[0, 0], &packs_of_cells[0])
    if is_wide(&by_cells) and lanes_should_be_cells(&by_cells, np.diff(offsets)[order], lanes):
        read_abreast(network, &x[0, 0], offsets, order, &packs_of_cells[0], &out[0, 0], &ends[0, 0, 0])
        return result, final
    for h in range(n_cells):
        pack(&by_sequences, &genome[h, 0], 0, 1, 1, &plain[h * genome.shape[1]])
    by_cells.weights, by_sequences.weights = &packs_of_cells[0], &plain[0]
    batch.inputs, batch.memory, batch.last = &inputs[0], &memory[0], &last[0]
    for block in range(0, n_sequences, lanes):
        batch.n = min(<Py_ssize_t>lanes, n_sequences - block)
        steps = 0
        for k in range(<Py_ssize_t>batch.n):
            batch.first[k] = offsets[order[block + k]]
            batch.length[k] = offsets[order[block + k] + 1] - batch.first[k]
            steps += batch.length[k]
        # steps of packs either way; one that waits for the sequence's last step takes about a fifth longer
        together = 5 * batch.length[0] * n_cells < 6 * steps * <Py_ssize_t>(packed // lanes)
        if together:
            batch.part, batch.lane, batch.cell = n_cells * lanes, 1, lanes
        else:
            batch.part, batch.lane, batch.cell = packed, 3 * packed, 1
        memory[:] = 0.0
        for k in range(<Py_ssize_t>batch.n):
            for h in range(n_cells):
                last[2 * k * n_cells + h] = ends[order[block + k], 0, h]
                last[(2 * k + 1) * n_cells + h] = ends[order[block + k], 1, h]
                memory[k * batch.lane + h * batch.cell] = ends[order[block + k], 0, h]
                memory[2 * batch.part + k * batch.lane + h * batch.cell] = ends[order[block + k], 1, h]
        t = 0
        while t < batch.length[0]:
            PyErr_CheckSignals()
            stop = min(t + STEPS_BETWEEN_SIGNALS, batch.length[0])
            with nogil:
                if together:
                    read_together(&by_sequences, &x[0, 0], &batch, t, stop, &out[0, 0])
                else:
                    read_in_turn(&by_cells, &x[0, 0], &batch, t, stop, &out[0, 0])
            t = stop
        for k in range(<Py_ssize_t>batch.n):
            for h in range(n_cells):
                ends[order[block + k], 0, h] = last[2 * k * n_cells + h]
                ends[order[block + k], 1, h] = last[(2 * k + 1) * n_cells + h]
    return result, final


def sequences(Network network not None, x not None, const int64_t[::1] offsets not None, state=None):
    """Activations (n_rows, n_cells) of one network on sequences laid end to end, and the states they end in.

    In the precision of the genome. State: (n_sequences, 2, n_cells), the cells' states s and their outputs phi; None
    starts from zero."""
    if network.array.dtype == np.float32:
        return _sequences[float](network, network.array, x, offsets, state)
    return _sequences[double](network, network.array, x, offsets, state)

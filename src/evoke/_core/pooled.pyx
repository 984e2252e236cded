"""Summary statistics of activations over whole sequences, and the evaluation of networks by machines on them."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

import numpy as np

from evoke._core.abreast cimport Reader
from evoke._core.blocks cimport Blocks
from evoke._core.dispatch cimport (
    EVK_ABREAST,
    EVK_CHANGE,
    EVK_LAST,
    EVK_MAX,
    EVK_MEAN,
    EVK_MIN,
    EVK_POSITIVE,
    EVK_STATISTICS,
    EVK_STD,
    EVK_THIRD,
    LANES,
    aligned,
    evk_network,
    evk_pool,
    functions,
    real,
    whole_packs,
)
from evoke._core.loo cimport Grid
from evoke._core.lstm cimport Block, Network, check_offsets, check_population, check_signals, rows_for, step_networks
from evoke._validation.parameters import check_choice

cdef enum:
    STEPS_BETWEEN_SIGNALS = 16384
    WIDE_STEPS_BETWEEN_SIGNALS = 256  # of sequences side by side

# Columns of a pool for each statistic that users know by name.
STATISTICS = {
    "last": (EVK_LAST,), "mean": (EVK_MEAN,), "std": (EVK_STD,), "max": (EVK_MAX,), "min": (EVK_MIN,),
    "positive": (EVK_POSITIVE,), "change": (EVK_CHANGE,), "thirds": (EVK_THIRD, EVK_THIRD + 1, EVK_THIRD + 2),
}


def n_pooled(pool):
    """Features of a cell."""
    return sum(len(STATISTICS[name]) for name in pool)


cdef class Pooler:
    """Reads sequences by as many networks as a pack has lanes, and keeps the statistics of their activations."""

    cdef Block block
    cdef evk_pool[EVK_ABREAST] pools  # of the sequences that are read side by side
    cdef size_t n_features, width
    cdef int64_t washout
    cdef const int64_t[::1] offsets, order
    cdef int64_t[::1] columns_of
    cdef double[::1] values, memory, widened

    def __cinit__(self, Network networks not None, const int64_t[::1] offsets not None, pool not None, int64_t washout):
        cdef size_t k
        for name in pool:
            check_choice("pool", name, tuple(STATISTICS))
        self.washout, self.offsets = washout, offsets
        # the longest first: in the end many are still read side by side
        self.order = np.argsort(-np.diff(offsets), kind="stable").astype(np.int64)
        self.block = Block(networks, 0, 0)
        self.columns_of = np.array([k for name in pool for k in STATISTICS[name]], dtype=np.int64)
        self.n_features = len(self.columns_of) * self.block.net.n_cells
        self.width = self.block.packed if self.block.lanes_are_cells else self.block.width
        cdef size_t abreast = 1 if self.block.abreast is None else EVK_ABREAST
        self.values = aligned(abreast * EVK_STATISTICS * self.width)
        for k in range(abreast):
            self.pools[k].width, self.pools[k].values = self.width, &self.values[k * EVK_STATISTICS * self.width]
        self.memory = aligned(3 * self.block.width)
        self.widened = np.zeros(1 if self.block.lanes == LANES else 2 * EVK_ABREAST * self.width)

    cdef int read(self, const void *x, double *columns, size_t ld) except -1 nogil:
        """columns[lane][feature][ld]: the features of all sequences, for each network that the block has loaded."""
        if self.block.lanes == LANES:
            return self.read_all(<const double *>x, columns, ld)
        return self.read_all(<const float *>x, columns, ld)

    cdef int read_all(self, const real *x, double *columns, size_t ld) except -1 nogil:
        cdef Py_ssize_t s, n = self.offsets.shape[0] - 1
        cdef size_t lane
        cdef evk_network net
        if self.block.lanes_are_cells:
            for lane in range(self.block.n_networks):
                net = self.block.network_alone(lane)
                self.read_abreast(x, &net, lane, columns, ld)
        elif self.block.is_wide or real is float:
            self.read_abreast(x, &self.block.net, 0, columns, ld)
        else:
            for s in range(n):
                self.read_together(<const double *>x, self.offsets[s], self.offsets[s + 1])
                self.put(&self.pools[0], s, 0, columns, ld)
        return 0

    cdef void put(self, const evk_pool *pool, int64_t s, size_t lane, double *columns, size_t ld) noexcept nogil:
        """The features of sequence s, of all networks or of the one of this lane."""
        cdef size_t f, h, k, n_cells = self.block.net.n_cells, part = self.n_features * ld
        cdef const double *values
        for f in range(<size_t>self.columns_of.shape[0]):
            values = pool.values + <size_t>self.columns_of[f] * self.width
            for h in range(n_cells):
                if self.block.lanes_are_cells:
                    columns[lane * part + (f * n_cells + h) * ld + <size_t>s] = values[h]
                else:
                    for k in range(self.block.n_networks):
                        columns[k * part + (f * n_cells + h) * ld + <size_t>s] = values[h * self.block.lanes + k]

    cdef int read_together(self, const double *x, int64_t begin, int64_t end) except -1 nogil:
        """One sequence, by all networks at once."""
        cdef size_t width = self.block.width
        cdef double *state = &self.memory[0]
        cdef double *before = state + width
        cdef double *now = before + width
        cdef int64_t t
        memset(state, 0, 2 * width * sizeof(double))
        self.pools[0].n_steps = <size_t>(end - begin - self.washout)
        for t in range(end - begin):
            step_networks(&self.block.net, x + <size_t>(begin + t) * self.block.net.n_inputs, before, state, now)
            if t >= self.washout:
                functions.pool_add(&self.pools[0], <size_t>(t - self.washout), before, now)
            before, now = now, before
            if (t + 1) % STEPS_BETWEEN_SIGNALS == 0:
                check_signals()
        functions.pool_end(&self.pools[0], before)
        return 0

    cdef const double *in_double(self, const Reader *reader, int64_t row, const real *phi) noexcept nogil:
        """Activations as they are or, in single precision, the copies that `add` has made."""
        if real is double:
            return phi
        else:
            return &self.widened[(2 * reader.place + <size_t>(row & 1)) * self.width]

    cdef void add(self, const evk_pool *pool, size_t t, const Reader *reader, const real *now) noexcept nogil:
        """The activations of the last step, counted step t, join the statistics, which are in double precision."""
        cdef double *copy
        cdef size_t j
        if real is float:
            copy = &self.widened[(2 * reader.place + <size_t>(reader.row & 1)) * self.width]
            for j in range(self.width):
                copy[j] = now[j]
        functions.pool_add(pool, t, self.in_double(reader, reader.row - 1, <const real *>reader.before),
                           self.in_double(reader, reader.row, now))

    cdef int read_abreast(self, const real *x, const evk_network *net, size_t lane, double *columns,
                          size_t ld) except -1 nogil:
        """All sequences, several side by side, by all networks at once or by the one of this lane."""
        cdef Py_ssize_t waiting = 0, n = self.order.shape[0]
        cdef int64_t t, s, n_steps = 0
        cdef size_t k
        cdef Reader *reader
        cdef evk_pool *pool
        self.block.abreast.begin(<size_t>n)
        while True:
            while waiting < n and self.block.abreast.has_room():
                s = self.order[waiting]
                reader = self.block.abreast.add(self.offsets[s], self.offsets[s + 1], s)
                self.pools[reader.place].n_steps = <size_t>(reader.end - reader.row - self.washout)
                waiting += 1
            if self.block.abreast.n == 0:
                return 0
            self.block.abreast.step(net, x)
            k = self.block.abreast.n
            while k > 0:
                k -= 1
                reader = &self.block.abreast.readers[k]
                pool = &self.pools[reader.place]
                t = reader.row - 1 - self.offsets[reader.name] - self.washout
                if t >= 0:
                    self.add(pool, <size_t>t, reader, <const real *>reader.now)
                if reader.row == reader.end:
                    functions.pool_end(pool, self.in_double(reader, reader.row, <const real *>reader.now))
                    self.put(pool, reader.name, lane, columns, ld)
                    self.block.abreast.remove(k)
            n_steps += 1
            if n_steps % WIDE_STEPS_BETWEEN_SIGNALS == 0:
                check_signals()


cdef int check_steps(const int64_t[::1] offsets, Py_ssize_t n_rows, int64_t washout) except -1:
    """That every sequence has a step that counts."""
    if not 0 <= washout <= n_rows:
        raise ValueError(f"washout must be from 0 to the number of rows, {n_rows}, got {washout}")
    return check_offsets(offsets, n_rows, washout + 1)


def pooled(Network networks not None, const double[:, ::1] x not None, const int64_t[::1] offsets not None,
           pool not None, int64_t washout=0):
    """Features (n_networks, n_sequences, n_features) of sequences laid end to end, statistic after statistic.

    `pool` has names of `STATISTICS`; the first `washout` steps, fewer than any sequence has, do not count. Not finite
    where a network's activations are not."""
    cdef Py_ssize_t n_networks = check_population(networks), n_sequences = offsets.shape[0] - 1, first, here
    networks.check_inputs(x.shape[1])
    check_steps(offsets, x.shape[0], washout)
    cdef size_t ld = whole_packs(n_sequences)
    cdef Pooler pooler = Pooler(networks, offsets, pool, washout)
    result = np.empty((n_networks, n_sequences, pooler.n_features))
    cdef Py_ssize_t lanes = pooler.block.lanes
    cdef list kept = []
    columns = np.zeros((lanes, pooler.n_features, ld))
    cdef double[:, :, ::1] found = columns
    if result.size == 0:
        return result
    cdef const void *read = rows_for(networks, x, kept)
    for first in range(0, n_networks, lanes):
        PyErr_CheckSignals()
        here = min(lanes, n_networks - first)
        with nogil:
            pooler.block.load(networks.genome_at(first), here)
            pooler.read(read, &found[0, 0, 0], ld)
        result[first:first + here] = columns[:here, :, :n_sequences].transpose(0, 2, 1)
    return result


cdef class Running:
    """The features of one sequence after each of its steps, which come piece by piece.

    As long as the washout lasts the steps so far count; after it only those that follow."""

    cdef evk_pool pool
    cdef size_t n_networks, n_cells, t, washout
    cdef int64_t[::1] columns_of
    cdef double[::1] values, ended, now, before

    def __cinit__(self, size_t n_networks, size_t n_cells, pool not None, size_t washout):
        cdef size_t width = whole_packs(n_networks * n_cells)
        self.n_networks, self.n_cells, self.washout, self.t = n_networks, n_cells, washout, 0
        self.columns_of = np.array([k for name in pool for k in STATISTICS[name]], dtype=np.int64)
        self.values, self.ended = aligned(EVK_STATISTICS * width), aligned(EVK_STATISTICS * width)
        self.now, self.before = np.zeros(width), np.zeros(width)
        self.pool.width = width

    def follow(self, const double[:, ::1] phi not None):
        """Features (n_steps, n_features) from the next activations (n_steps, n_networks * n_cells)."""
        cdef Py_ssize_t n_steps = phi.shape[0], step, f
        cdef size_t n_read = self.n_networks * self.n_cells, since, network, h, place, n_columns = len(self.columns_of)
        if EVK_THIRD in np.asarray(self.columns_of):
            raise ValueError("the thirds of a sequence are not known before its end")
        if <size_t>phi.shape[1] != n_read:
            raise ValueError(f"phi must have {n_read} columns, got {phi.shape[1]}")
        result = np.empty((n_steps, n_columns * n_read))
        cdef double[:, ::1] out = result
        for step in range(n_steps):
            since = self.t - self.washout if self.t >= self.washout else self.t
            memcpy(&self.now[0], &phi[step, 0], n_read * sizeof(double))
            self.pool.n_steps, self.pool.values = since + 1, &self.values[0]
            functions.pool_add(&self.pool, since, &self.before[0], &self.now[0])
            self.ended[:] = self.values
            self.pool.values = &self.ended[0]
            functions.pool_end(&self.pool, &self.now[0])
            self.before[:] = self.now
            self.t += 1
            for network in range(self.n_networks):
                for f in range(<Py_ssize_t>n_columns):
                    place = (network * n_columns + <size_t>f) * self.n_cells
                    for h in range(self.n_cells):
                        out[step, place + h] = self.ended[
                            <size_t>self.columns_of[f] * self.pool.width + network * self.n_cells + h]
        return result


def evaluate(Network networks not None, sequences not None, pool not None, points not None, readout not None,
             objective not None, int64_t washout=0, queue=None, blocks=None):
    """Errors (n_networks, 4): 0, the objective of the leave-one-out decisions, 0, and how many of these are wrong.

    Parameters
    ----------
    networks : Network
        A population.
    sequences : Sequences
        Rows and offsets.
    pool : tuple of str
        Names of `STATISTICS`.
    points : Points
        Weights and targets of the sequences; its rows are their numbers, in order.
    readout : LeaveOneOut
        Of `evoke.readouts`.
    objective : Objective
    washout : int
        Steps at the beginning of each sequence that do not count, fewer than it has.
    queue : WorkQueue, optional
        Threads of one queue share the networks and fill its errors.
    blocks : int64 ndarray of shape (n_blocks + 1,), optional
        Where each block of sequences begins that is left out as a whole, and the last ends. None: each sequence alone.

    A network whose features are not finite, or none of whose machines can be trained, has infinite errors."""
    cdef const double[:, ::1] x = sequences.rows
    cdef list kept = []
    cdef const void *read = rows_for(networks, x, kept)
    cdef const int64_t[::1] offsets = sequences.offsets
    cdef Py_ssize_t n_networks = check_population(networks)
    check_steps(offsets, x.shape[0], washout)
    if len(points.rows) != offsets.shape[0] - 1:
        raise ValueError(f"points has {len(points.rows)} rows, but there are {offsets.shape[0] - 1} sequences")
    cdef Pooler pooler = Pooler(networks, offsets, pool, washout)
    cdef Grid grid = Grid(
        readout.kernel, readout.widths, readout.capacities, points, objective, pooler.n_features, readout.relative,
        readout.scaled, blocks,
    )
    cdef size_t ld = grid.loo.ld
    cdef double[::1] columns = np.zeros(pooler.block.lanes * pooler.n_features * ld)
    cdef Blocks waiting = Blocks(n_networks, queue, pooler.block.lanes)
    grid.poll.data = waiting.stop
    cdef Py_ssize_t lane
    while waiting.next():
        with nogil:
            pooler.block.load(networks.genome_at(waiting.first), waiting.n)
            pooler.read(read, &columns[0], ld)
            for lane in range(waiting.n):
                check_signals()
                grid.search(&columns[<size_t>lane * pooler.n_features * ld], False)
                if not waiting.put_left_out(lane, grid.best.error, grid.best.wrong):
                    break
        if waiting.stopped():
            break
    return waiting.errors

"""Evaluation of a population: forward pass, training of the readouts, errors."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int64_t

import numpy as np

from evoke._core.blocks cimport Blocks
from evoke._core.dispatch cimport LANES, LANES_SINGLE, PACK_BYTES, aligned, evk_columns, functions, whole_packs
from evoke._core.free_run cimport Feedback
from evoke._core.landmarks cimport LandmarkGrid
from evoke._core.loo cimport Grid
from evoke._core.loss cimport Loss, error, make_loss
from evoke._core.lstm cimport Block, Network, Segments, check_population, check_signals, make_segments, rows_for
from evoke._core.readout cimport Fitted, Points, Trainer, make_points

cdef enum:
    COSTLY = 1000000  # kernel values per network that take milliseconds


cdef int check_stretches(const int64_t[:, ::1] stretches, const Segments *segments, Py_ssize_t n_rows,
                         size_t n_points) except -1:
    """That free runs continue from segments that keep their state, and have as many steps as there are points."""
    cdef Py_ssize_t k
    cdef size_t n_steps = 0
    if stretches.shape[1] != 3:
        raise ValueError(f"stretches must have shape (n, 3), got {(stretches.shape[0], stretches.shape[1])}")
    for k in range(stretches.shape[0]):
        if not 0 <= stretches[k, 0] < <int64_t>segments.n or segments.slot[stretches[k, 0]] < 0:
            raise ValueError(f"stretches[{k}, 0] must be a segment with a slot, got {stretches[k, 0]}")
        if not 0 <= stretches[k, 1] < stretches[k, 2] <= n_rows:
            raise ValueError(f"stretches[{k}, 1:] is {[stretches[k, 1], stretches[k, 2]]}, which is no part of "
                             f"{n_rows} rows")
        n_steps += stretches[k, 2] - stretches[k, 1]
    if n_steps != n_points:
        raise ValueError(f"stretches have {n_steps} steps, but validation has {n_points} points")
    return 0


def evaluate(Network networks not None, segments not None, train not None, validation not None, readout not None,
             objective not None, free=None, queue=None, own=None):
    """Errors (n_networks, 4): the objective on training and validation points, wrong decisions on both.

    Parameters
    ----------
    networks : Network
        A population, which reads in its own precision; everything after that is in double.
    segments : Segments
        Rows and the table of their segments, of `evoke.sequences.prefixes`.
    train, validation : Points
        Of `evoke.evolution.problem`, as are `objective` and `free`.
    readout : SVMReadout, LSSVMReadout or PinvReadout
        Of `evoke.readouts`.
    objective : Objective
    free : FreeRun, optional
        Stretches of validation rows through which the networks feed on their own output; the validation points are
        these rows in order.
    queue : WorkQueue, optional
        Threads of one queue share the networks and fill its errors.
    own : ndarray of shape (n_networks, 2), optional
        C and gamma with which the readouts of each network are trained, in place of those of `readout`.

    A network whose readout fails or whose outputs are not finite has infinite errors."""
    cdef const double[:, ::1] x = segments.rows
    cdef list kept = []
    cdef const void *read = rows_for(networks, x, kept)
    cdef const int64_t[:, ::1] table = segments.table
    cdef const int64_t[:, ::1] stretches = None if free is None else free.stretches
    cdef const double[:, ::1] parameters = own
    cdef Py_ssize_t n_networks = check_population(networks), n_cells = networks.c.n_cells
    cdef Trainer trainer = Trainer(readout, train.rows, train.weights, train.targets, x.shape[0], n_cells)
    cdef size_t n_outputs = trainer.n_outputs, lanes = PACK_BYTES // <size_t>networks.array.itemsize
    cdef Blocks blocks = Blocks(n_networks, queue, lanes)
    cdef double[:, ::1] out = blocks.out
    trainer.poll.data = blocks.stop
    if own is not None:
        trainer.check_own(parameters, n_networks)
    cdef Loss loss = make_loss(objective, n_outputs)
    cdef Points held_out = make_points(validation.rows, validation.weights, validation.targets, x.shape[0])
    if <size_t>validation.targets.shape[0] != n_outputs:
        raise ValueError(f"validation has {validation.targets.shape[0]} outputs, but train has {n_outputs}")
    cdef Segments paths = make_segments(table, x.shape[0])
    cdef Block block = Block(networks, x.shape[0], paths.n_slots)

    cdef size_t train_ld = trainer.train.ld, sv_ld = whole_packs(trainer.n_support())
    cdef double[::1] columns = aligned(lanes * n_cells * train_ld)
    cdef double[::1] validation_columns = aligned(n_cells * held_out.ld)
    cdef double[::1] coef = np.zeros(lanes * n_outputs * sv_ld)
    cdef double[::1] bias = np.empty(lanes * n_outputs)
    cdef double[::1] row = aligned(held_out.ld)
    cdef double[::1] decisions = np.zeros(n_outputs * train_ld)
    cdef double[::1] validation_decisions = np.zeros(lanes * n_outputs * held_out.ld)
    cdef Fitted[LANES_SINGLE] fitted
    cdef Feedback feedback
    if free is not None:
        if lanes != LANES:
            raise ValueError("free runs are in double precision, but the networks are in single")
        check_stretches(stretches, &paths, x.shape[0], held_out.n)
        feedback = Feedback(networks, n_outputs, free.feedback_scale, sv_ld)
    cdef evk_columns validation_points
    validation_points.x, validation_points.n = &validation_columns[0], held_out.n
    validation_points.d, validation_points.ld = n_cells, held_out.ld

    cdef Py_ssize_t first, lane, k
    cdef size_t point
    cdef bint finite, runs_free = free is not None, differ = own is not None
    cdef bint costly = (train_ld + held_out.ld) * train_ld * n_outputs > COSTLY
    while blocks.next():
        first = blocks.first
        with nogil:
            block.load(networks.genome_at(first), blocks.n)
            block.run(read, &paths)
            for lane in range(blocks.n):
                if costly:
                    with gil:
                        PyErr_CheckSignals()
                block.gather(trainer.train.rows, trainer.train.n, train_ld, lane, &columns[lane * n_cells * train_ld])
                if differ:
                    trainer.adopt(parameters[first + lane, 0], parameters[first + lane, 1])
                fitted[lane].failed = not trainer.fit(&columns[lane * n_cells * train_ld],
                                                      &coef[lane * n_outputs * sv_ld], &bias[lane * n_outputs],
                                                      &decisions[0], &fitted[lane].machine)
                # the trainer's own kernel is that of the next network soon
                fitted[lane].kernel = fitted[lane].machine.kernel[0]
                fitted[lane].machine.kernel = &fitted[lane].kernel
                if blocks.stopped():
                    break
                out[first + lane, 0] = error(&loss, loss.objective, &trainer.train, &decisions[0])
                out[first + lane, 2] = error(&loss, 0, &trainer.train, &decisions[0])
                if not runs_free and not fitted[lane].failed:
                    block.gather(held_out.rows, held_out.n, held_out.ld, lane, &validation_columns[0])
                    functions.decide_columns(&fitted[lane].machine, &validation_points, &row[0],
                                             &validation_decisions[lane * n_outputs * held_out.ld], &trainer.poll)
        if blocks.stopped():
            break
        with nogil:
            if runs_free:
                point = 0
                for k in range(stretches.shape[0]):
                    feedback.run(block, &x[0, 0], &paths, &stretches[k, 0], fitted, &validation_decisions[point],
                                 held_out.ld)
                    point += stretches[k, 2] - stretches[k, 1]
            for lane in range(blocks.n):
                out[first + lane, 1] = error(&loss, loss.objective, &held_out,
                                             &validation_decisions[lane * n_outputs * held_out.ld])
                out[first + lane, 3] = error(&loss, 0, &held_out, &validation_decisions[lane * n_outputs * held_out.ld])
                finite = not fitted[lane].failed
                for k in range(4):
                    finite = finite and isfinite(out[first + lane, k])
                if not finite:
                    for k in range(4):
                        out[first + lane, k] = INFINITY
    return blocks.errors


def evaluate_left_out(Network networks not None, segments not None, points not None, blocks not None,
                      readout not None, objective not None, queue=None):
    """Errors (n_networks, 4): 0, the objective of decisions on blocks that were left out, 0, and how many are wrong.

    Parameters
    ----------
    networks : Network
        A population, which reads in its own precision; everything after that is in double.
    segments : Segments
        As in `evaluate`.
    points : Points
        Block after block.
    blocks : int64 ndarray of shape (n_blocks + 1,)
        Where each block of points begins that is left out as a whole, and the last ends.
    readout : LeaveOneOut
        Of `evoke.readouts`.
    objective : Objective
    queue : WorkQueue, optional
        As in `evaluate`.

    A network whose activations are not finite, or none of whose machines can be trained, has infinite errors."""
    cdef const double[:, ::1] x = segments.rows
    cdef list kept = []
    cdef const void *read = rows_for(networks, x, kept)
    cdef const int64_t[:, ::1] table = segments.table
    cdef Py_ssize_t n_networks = check_population(networks), n_cells = networks.c.n_cells, lane
    cdef Points rows = make_points(points.rows, points.weights, points.targets, x.shape[0])
    cdef Grid grid = Grid(
        readout.kernel, readout.widths, readout.capacities, points, objective, n_cells, readout.relative,
        readout.scaled, blocks,
    )
    cdef Segments paths = make_segments(table, x.shape[0])
    cdef Block block = Block(networks, x.shape[0], paths.n_slots)
    cdef double[::1] columns = aligned(n_cells * rows.ld)
    cdef Blocks waiting = Blocks(n_networks, queue, block.lanes)
    grid.poll.data = waiting.stop
    while waiting.next():
        with nogil:
            block.load(networks.genome_at(waiting.first), waiting.n)
            block.run(read, &paths)
            for lane in range(waiting.n):
                check_signals()
                block.gather(rows.rows, rows.n, rows.ld, lane, &columns[0])
                grid.search(&columns[0], False)
                if not waiting.put_left_out(lane, grid.best.error, grid.best.wrong):
                    break
        if waiting.stopped():
            break
    return waiting.errors


def evaluate_landmarks(Network networks not None, segments not None, train not None, validation not None,
                       readout not None, objective not None, queue=None):
    """Errors (n_networks, 4): 0, the objective of decisions on validation points, 0, and how many are wrong.

    Parameters
    ----------
    networks, segments, train, validation, objective, queue
        As in `evaluate`.
    readout : LandmarkReadout
        Of `evoke.readouts`. Of its grid the pair counts that is best on the validation points.

    A network whose activations are not finite, or none of whose machines can be trained, has infinite errors."""
    cdef const double[:, ::1] x = segments.rows
    cdef list kept = []
    cdef const void *read = rows_for(networks, x, kept)
    cdef const int64_t[:, ::1] table = segments.table
    cdef Py_ssize_t n_networks = check_population(networks), n_cells = networks.c.n_cells, lane
    cdef LandmarkGrid grid = LandmarkGrid(readout, train, validation, objective, x.shape[0], n_cells)
    cdef Segments paths = make_segments(table, x.shape[0])
    cdef Block block = Block(networks, x.shape[0], paths.n_slots)
    cdef double[::1] columns = aligned(n_cells * grid.train.ld)
    cdef double[::1] held_columns = aligned(n_cells * grid.held_out.ld)
    cdef Blocks waiting = Blocks(n_networks, queue, block.lanes)
    grid.poll.data = waiting.stop
    while waiting.next():
        with nogil:
            block.load(networks.genome_at(waiting.first), waiting.n)
            block.run(read, &paths)
            for lane in range(waiting.n):
                check_signals()
                block.gather(grid.train.rows, grid.train.n, grid.train.ld, lane, &columns[0])
                block.gather(grid.held_out.rows, grid.held_out.n, grid.held_out.ld, lane, &held_columns[0])
                grid.search(&columns[0], &held_columns[0])
                if not waiting.put_left_out(lane, grid.best.error, grid.best.wrong):
                    break
        if waiting.stopped():
            break
    return waiting.errors

"""Evaluation of a slice of the population: forward pass, training of the readouts, errors."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN, fabs, fmax, isfinite, isnan
from libc.stdint cimport int64_t

import numpy as np

from evoke._core.free_run cimport Feedback, run_block_free
from evoke._core.dispatch cimport aligned, evk_columns, kernels
from evoke._core.lstm cimport Block, Network, Runs, make_runs, whole_packs
from evoke._core.readout cimport Fitted, Points, Readout, make_points

cdef enum:
    LANES = 8
    COSTLY = 1000000  # kernel values a network that take milliseconds

OBJECTIVES = ("count", "hinge", "squared")


cdef struct Judge:
    # How decisions are held against targets.
    int objective        # 0 count, 1 hinge, 2 squared
    bint regression      # targets are values, errors below epsilon are free for count and hinge
    bint exclusive       # one class a step, decided by the largest value; else every output decides by itself
    double epsilon
    size_t n_outputs


cdef void gather(const Points *points, const double *phi, size_t n_cells, size_t lane, double *columns) noexcept nogil:
    """phi[row][cell][lane] -> columns[cell][point], zero behind the last point."""
    cdef size_t h, p
    for p in range(points.n):
        for h in range(n_cells):
            columns[h * points.ld + p] = phi[(<size_t>points.rows[p] * n_cells + h) * LANES + lane]
    for h in range(n_cells):
        for p in range(points.n, points.ld):
            columns[h * points.ld + p] = 0.0


cdef double error(const Judge *judge, int objective, const Points *points, const double *decisions) noexcept nogil:
    """Summed error of decisions[output][point] (stride points.ld); NaN where a decision is."""
    cdef double total = 0.0, sum_of_row, target, value, top
    cdef size_t p, o, best
    for o in range(judge.n_outputs):
        for p in range(points.n):
            if isnan(decisions[o * points.ld + p]):
                return NAN
    if objective == 0 and judge.exclusive and judge.n_outputs > 1:
        for p in range(points.n):
            best = 0
            top = decisions[p]
            for o in range(1, judge.n_outputs):
                if decisions[o * points.ld + p] > top:
                    top = decisions[o * points.ld + p]
                    best = o
            if points.targets[best * points.n + p] <= 0.0:
                total += points.weights[p]
        return total
    for o in range(judge.n_outputs):
        sum_of_row = 0.0
        for p in range(points.n):
            target, value = points.targets[o * points.n + p], decisions[o * points.ld + p]
            if judge.regression:
                value = fabs(target - value)
                if objective != 2:
                    value = fmax(0.0, value - judge.epsilon)
            elif objective == 0:  # a decision of exactly 0 says "no"
                value = 1.0 if (value > 0.0) != (target > 0.0) else 0.0
            else:
                value = fmax(0.0, 1.0 - target * value)
            if objective == 2:
                value = value * value
            elif objective == 0:
                value = 1.0 if value > 0.0 else 0.0
            sum_of_row += points.weights[p] * value
        total += sum_of_row
    return total


def evaluate(Network networks not None, runs not None, train not None, validation not None, readout not None,
             objective not None, free=None, queue=None):
    """Errors (n_networks, 4): the objective on training and validation points, wrong decisions on both.

    Parameters
    ----------
    networks : Network
        A population.
    runs : Runs
        Rows and the stretches of them through which states flow, of `evoke.sequences.prefixes`.
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

    A network whose readout fails or whose outputs are not finite has infinite errors."""
    cdef const double[:, :, ::1] genomes = networks.genome
    cdef const double[:, ::1] x = runs.rows
    cdef const int64_t[:, ::1] table = runs.table
    cdef const int64_t[:, ::1] segments = None if free is None else free.segments
    cdef Py_ssize_t n_networks = genomes.shape[0], n_cells = genomes.shape[1]
    networks.check_inputs(x.shape[1])
    cdef Readout trainer = Readout(readout, train.rows, train.weights, train.targets, n_cells)
    cdef size_t n_outputs = trainer.n_outputs
    cdef int64_t[::1] stop
    if queue is not None:
        stop = queue.stop
        trainer.poll.data = &stop[0]
    cdef Judge judge
    judge.objective = OBJECTIVES.index(objective.name)
    judge.regression, judge.exclusive, judge.epsilon = objective.regression, objective.exclusive, objective.epsilon
    judge.n_outputs = n_outputs
    cdef Points judged = make_points(validation.rows, validation.weights, validation.targets)
    result = np.full((n_networks, 4), np.nan) if queue is None else queue.errors
    cdef double[:, ::1] out = result
    cdef Runs flow = make_runs(table)
    cdef Block block = Block(networks, x.shape[0], max(table[3]) + 1)
    cdef double *phi = <double *>block.phi

    cdef size_t train_ld = trainer.train.ld, sv_ld = whole_packs(trainer.n_support())
    cdef double[::1] columns = aligned(LANES * n_cells * train_ld)
    cdef double[::1] val_columns = aligned(n_cells * judged.ld)
    cdef double[::1] coef = np.zeros(LANES * n_outputs * sv_ld)
    cdef double[::1] bias = np.empty(LANES * n_outputs)
    cdef double[::1] row = aligned(max(judged.ld, sv_ld))
    cdef double[::1] decisions = np.zeros(n_outputs * train_ld)
    cdef double[::1] val_decisions = np.zeros(LANES * n_outputs * judged.ld)
    cdef double[::1] inputs = np.empty(x.shape[1] * LANES)
    cdef double[::1] outputs = np.empty(n_outputs)
    cdef double[::1] memory = np.zeros(3 * whole_packs(n_cells) * LANES)
    cdef Fitted[LANES] fitted
    cdef Feedback feedback
    feedback.n_outputs, feedback.kernel = n_outputs, &trainer.kernel.c
    feedback.scale = 1.0 if free is None else free.feedback_scale
    feedback.inputs, feedback.row, feedback.outputs = &inputs[0], &row[0], &outputs[0]
    cdef evk_columns val_points
    val_points.x, val_points.n, val_points.d, val_points.ld = &val_columns[0], judged.n, n_cells, judged.ld

    cdef Py_ssize_t first = 0, end = 0, here, lane, k
    cdef size_t point
    cdef bint finite, shared = queue is not None, left_alone = free is not None
    cdef bint costly = (train_ld + judged.ld) * train_ld * n_outputs > COSTLY
    while True:
        if queue is None:
            first, end = end, min(end + LANES, n_networks)
        else:
            taken = queue.next_block()
            first, end = taken.start, taken.stop
        here = end - first
        if here == 0:
            return result
        # once a block while networks take microseconds: two threads that ask for the interpreter more often wait for it
        PyErr_CheckSignals()
        with nogil:
            block.load(&genomes[first, 0, 0], here)
            block.run(&x[0, 0], &flow)
            for lane in range(here):
                if costly:
                    with gil:
                        PyErr_CheckSignals()
                gather(&trainer.train, phi, n_cells, lane, &columns[lane * n_cells * train_ld])
                fitted[lane].coef, fitted[lane].bias = &coef[lane * n_outputs * sv_ld], &bias[lane * n_outputs]
                fitted[lane].failed = not trainer.fit(&columns[lane * n_cells * train_ld], &fitted[lane].sv,
                                                      fitted[lane].coef, fitted[lane].bias, &decisions[0])
                if shared and stop[0] != 0:
                    break
                out[first + lane, 0] = error(&judge, judge.objective, &trainer.train, &decisions[0])
                out[first + lane, 2] = error(&judge, 0, &trainer.train, &decisions[0])
                if not left_alone and not fitted[lane].failed:
                    gather(&judged, phi, n_cells, lane, &val_columns[0])
                    kernels.decide_columns(&trainer.kernel.c, &val_points, &fitted[lane].sv, fitted[lane].coef,
                                           fitted[lane].bias, n_outputs, &row[0],
                                           &val_decisions[lane * n_outputs * judged.ld], &trainer.poll)
        if shared and stop[0] != 0:
            return result
        with nogil:
            if left_alone:
                point = 0
                for k in range(segments.shape[0]):
                    run_block_free(block, &x[0, 0], &flow, &segments[k, 0], &feedback, fitted, &memory[0],
                                   &val_decisions[point], judged.ld)
                    point += segments[k, 2] - segments[k, 1]
            for lane in range(here):
                out[first + lane, 1] = error(&judge, judge.objective, &judged,
                                             &val_decisions[lane * n_outputs * judged.ld])
                out[first + lane, 3] = error(&judge, 0, &judged, &val_decisions[lane * n_outputs * judged.ld])
                finite = not fitted[lane].failed
                for k in range(4):
                    finite = finite and isfinite(out[first + lane, k])
                if not finite:
                    for k in range(4):
                        out[first + lane, k] = INFINITY

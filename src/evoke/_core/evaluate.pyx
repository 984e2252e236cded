"""Evaluation of a slice of the population: forward pass, training of the readouts, errors."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN, fabs, fmax, isfinite, isnan
from libc.stdint cimport int64_t

import numpy as np

from evoke._core.free_run cimport Feedback, run_free
from evoke._core.dispatch cimport aligned, evk_columns, kernels
from evoke._core.lstm cimport Block, Runs, whole_packs
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


def evaluate_slice(const double[:, :, ::1] genomes not None, const double[:, ::1] x not None,
                   const int64_t[:, ::1] runs not None, tuple train not None, tuple test not None, str cell, gate_bias,
                   str readout, dict parameters not None, str objective, bint exclusive=False, bint regression=False,
                   double epsilon=0.0, const int64_t[:, ::1] free=None, double feedback_scale=1.0,
                   team=None):
    """Errors (n_networks, 4): objective on training and validation points, count on both.

    runs (4, n_runs): begin, end, parent, slot. train and test: rows (n,), weights (n,), targets (n_outputs, n).
    free (n_segments, 3): parent run, begin and end of validation rows through which the networks run on their own
    output, fed back into the last n_outputs inputs; the test points are then these rows in order. A network whose
    readout fails or whose outputs are not finite has infinite errors. Threads of one team, an `evaluation.Team`, share
    the genomes and fill its errors."""
    cdef Py_ssize_t n_networks = genomes.shape[0], n_cells = genomes.shape[1]
    cdef Readout trainer = Readout(readout, parameters, train, n_cells)
    cdef size_t n_outputs = trainer.n_outputs
    cdef int64_t[::1] stop
    if team is not None:
        stop = team.stop
        trainer.poll.data = &stop[0]
    cdef Judge judge
    judge.objective = OBJECTIVES.index(objective)
    judge.regression, judge.exclusive, judge.epsilon, judge.n_outputs = regression, exclusive, epsilon, n_outputs
    cdef Points judged = make_points(test)
    result = np.full((n_networks, 4), np.nan) if team is None else team.errors
    cdef double[:, ::1] out = result
    cdef Runs flow
    flow.n = runs.shape[1]
    flow.begin, flow.end, flow.parent, flow.slot = &runs[0, 0], &runs[1, 0], &runs[2, 0], &runs[3, 0]
    cdef Block block = Block(x.shape[1], n_cells, cell, gate_bias, x.shape[0], max(runs[3]) + 1)
    cdef double *phi = <double *>block.phi

    cdef size_t train_ld = trainer.train.ld, sv_ld = whole_packs(trainer.n_support())
    cdef double[::1] columns = aligned(LANES * n_cells * train_ld)
    cdef double[::1] test_columns = aligned(n_cells * judged.ld)
    cdef double[::1] coef = np.zeros(LANES * n_outputs * sv_ld)
    cdef double[::1] bias = np.empty(LANES * n_outputs)
    cdef double[::1] row = aligned(max(judged.ld, sv_ld))
    cdef double[::1] decisions = np.zeros(n_outputs * train_ld)
    cdef double[::1] test_decisions = np.zeros(LANES * n_outputs * judged.ld)
    cdef double[::1] inputs = np.empty(x.shape[1] * LANES)
    cdef double[::1] outputs = np.empty(n_outputs)
    cdef double[::1] memory = np.zeros(3 * whole_packs(n_cells) * LANES)
    cdef Fitted[LANES] fitted
    cdef Feedback feedback
    feedback.n_outputs, feedback.scale, feedback.kern = n_outputs, feedback_scale, trainer.kern
    feedback.inputs, feedback.row, feedback.outputs = &inputs[0], &row[0], &outputs[0]
    cdef evk_columns test_points
    test_points.x, test_points.n, test_points.d, test_points.ld = &test_columns[0], judged.n, n_cells, judged.ld

    cdef Py_ssize_t first = 0, end = 0, here, lane, k
    cdef size_t point
    cdef bint finite, in_team = team is not None
    cdef bint costly = (train_ld + judged.ld) * train_ld * n_outputs > COSTLY
    while True:
        if team is None:
            first, end = end, min(end + LANES, n_networks)
        else:
            taken = team.take()
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
                if in_team and stop[0] != 0:
                    break
                out[first + lane, 0] = error(&judge, judge.objective, &trainer.train, &decisions[0])
                out[first + lane, 2] = error(&judge, 0, &trainer.train, &decisions[0])
                if free is None and not fitted[lane].failed:
                    gather(&judged, phi, n_cells, lane, &test_columns[0])
                    kernels.decide_columns(&trainer.kern, &test_points, &fitted[lane].sv, fitted[lane].coef,
                                           fitted[lane].bias, n_outputs, &row[0],
                                           &test_decisions[lane * n_outputs * judged.ld], &trainer.poll)
        if in_team and stop[0] != 0:
            return result
        with nogil:
            if free is not None:
                point = 0
                for k in range(free.shape[0]):
                    run_free(block, &x[0, 0], &flow, &free[k, 0], &feedback, fitted, &memory[0],
                             &test_decisions[point], judged.ld)
                    point += free[k, 2] - free[k, 1]
            for lane in range(here):
                out[first + lane, 1] = error(&judge, judge.objective, &judged,
                                             &test_decisions[lane * n_outputs * judged.ld])
                out[first + lane, 3] = error(&judge, 0, &judged, &test_decisions[lane * n_outputs * judged.ld])
                finite = not fitted[lane].failed
                for k in range(4):
                    finite = finite and isfinite(out[first + lane, k])
                if not finite:
                    for k in range(4):
                        out[first + lane, k] = INFINITY

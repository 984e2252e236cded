"""Evaluation of a slice of the population: forward pass, one Gram matrix a network, all its SVMs, errors."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fmax
from libc.stdint cimport int64_t

import numpy as np

from evoke._kernels cimport (
    evk_columns, evk_gram, evk_gram_place, evk_gram_work_size, evk_kernel, evk_lstm, evk_qp, evk_qp_place,
    evk_qp_work_size, kernels,
)
from evoke._lstm cimport Runs, forward_block, make_net, pack_genomes, weights_size
from evoke._svm cimport make_kernel

cdef enum:
    LANES = 8

OBJECTIVES = ("count", "hinge", "squared")


cdef inline size_t padded(size_t n) noexcept nogil:
    return (n + LANES - 1) // LANES * LANES


cdef struct Points:
    # Rows of a data set that take part in the readout: each a row of phi, a weight and targets [output][point].
    size_t n, ld
    const int64_t *rows
    const double *weights
    const double *targets


cdef void gather(const Points *points, const double *phi, size_t n_cells, size_t lane, double *columns) noexcept nogil:
    """phi[row][cell][lane] -> columns[cell][point], zero behind the last point."""
    cdef size_t h, p
    for p in range(points.n):
        for h in range(n_cells):
            columns[h * points.ld + p] = phi[(<size_t>points.rows[p] * n_cells + h) * LANES + lane]
    for h in range(n_cells):
        for p in range(points.n, points.ld):
            columns[h * points.ld + p] = 0.0


cdef double error(int objective, bint exclusive, size_t n_outputs, const Points *points,
                  const double *decisions) noexcept nogil:
    """Summed error of decisions[output][point] (stride points.ld). objective: 0 count, 1 hinge, 2 squared hinge.

    exclusive: one class a step, decided by the largest value; otherwise every output is a decision of its own."""
    cdef double total = 0.0, sum_of_row, margin, top
    cdef size_t p, o, best
    if objective == 0 and exclusive and n_outputs > 1:
        for p in range(points.n):
            best = 0
            top = decisions[p]
            for o in range(1, n_outputs):
                if decisions[o * points.ld + p] > top:
                    top = decisions[o * points.ld + p]
                    best = o
            if points.targets[best * points.n + p] <= 0.0:
                total += points.weights[p]
        return total
    for o in range(n_outputs):
        sum_of_row = 0.0
        for p in range(points.n):
            margin = points.targets[o * points.n + p] * decisions[o * points.ld + p]
            if objective == 0:  # a decision of exactly 0 says "no"
                if margin < 0.0 or (margin == 0.0 and points.targets[o * points.n + p] > 0.0):
                    sum_of_row += points.weights[p]
            else:
                margin = fmax(0.0, 1.0 - margin)
                sum_of_row += points.weights[p] * (margin if objective == 1 else margin * margin)
        total += sum_of_row
    return total


cdef Points make_points(const int64_t[::1] rows, const double[::1] weights, const double[:, ::1] targets) except *:
    cdef Points points
    points.n = rows.shape[0]
    points.ld = padded(points.n)
    points.rows, points.weights, points.targets = &rows[0], &weights[0], &targets[0, 0]
    return points


def evaluate_svc(const double[:, :, ::1] genomes not None, const double[:, ::1] x not None,
                 const int64_t[:, ::1] runs not None,
                 const int64_t[::1] train_rows not None, const double[::1] train_weights not None,
                 const double[:, ::1] train_targets not None,
                 const int64_t[::1] test_rows not None, const double[::1] test_weights not None,
                 const double[:, ::1] test_targets not None,
                 const double[:, ::1] lower not None, const double[:, ::1] upper not None,
                 str cell, gate_bias, str kernel, double gamma, double coef0, int degree, double tol,
                 int64_t max_iter, str objective, bint exclusive, const int64_t[::1] stop=None):
    """Errors (n_networks, 4): objective on training and validation points, wrong decisions on both.

    runs (4, n_runs): begin, end, parent, slot. targets (n_outputs, n_points) are +-1, the box of each output's SVM is
    lower/upper (n_outputs, n_train). A non-zero stop[0] ends the evaluation early with NaN for the rest."""
    cdef Py_ssize_t n_networks = genomes.shape[0], n_cells = genomes.shape[1], n_outputs = train_targets.shape[0]
    cdef evk_lstm net = make_net(x.shape[1], n_cells, cell, gate_bias)
    cdef evk_kernel kern = make_kernel(kernel, gamma, coef0, degree)
    cdef int which = OBJECTIVES.index(objective)
    cdef Points train = make_points(train_rows, train_weights, train_targets)
    cdef Points test = make_points(test_rows, test_weights, test_targets)
    result = np.full((n_networks, 4), np.nan)
    cdef double[:, ::1] out = result
    cdef Runs flow
    flow.n = runs.shape[1]
    flow.begin, flow.end, flow.parent, flow.slot = &runs[0, 0], &runs[1, 0], &runs[2, 0], &runs[3, 0]
    cdef size_t n_slots = max(runs[3]) + 1

    cdef size_t gram_size = evk_gram_work_size(train.n, train.n), qp_size = evk_qp_work_size(train.n, train.n)
    if gram_size == 0 or qp_size == 0:
        raise MemoryError(f"a kernel matrix of {train.n} rows does not fit")
    cdef size_t width = n_cells * LANES
    cdef double[::1] weights = np.empty(weights_size(&net))
    cdef double[::1] zeros = np.zeros(width)
    cdef double[::1] states = np.empty((1 + n_slots) * width)
    cdef double[::1] phi = np.empty(x.shape[0] * width)
    cdef double[::1] train_columns = np.empty(n_cells * train.ld)
    cdef double[::1] test_columns = np.empty(n_cells * test.ld)
    cdef double[::1] gram_work = np.empty(gram_size)
    cdef double[::1] qp_work = np.empty(qp_size)
    cdef double[::1] beta = np.zeros(n_outputs * train.ld)
    cdef double[::1] bias = np.empty(n_outputs)
    cdef double[::1] row = np.empty(test.ld)
    cdef double[::1] train_decisions = np.empty(n_outputs * train.ld)
    cdef double[::1] test_decisions = np.empty(n_outputs * test.ld)

    cdef evk_columns train_points, test_points
    train_points.x, train_points.n, train_points.d, train_points.ld = &train_columns[0], train.n, n_cells, train.ld
    test_points.x, test_points.n, test_points.d, test_points.ld = &test_columns[0], test.n, n_cells, test.ld
    cdef evk_gram gram
    cdef evk_qp qp
    evk_gram_place(&gram, &kern, train_points, train.n, &gram_work[0])
    evk_qp_place(&qp, train.n, train.n, &qp_work[0])
    qp.gram = &gram
    qp.epsilon, qp.tol, qp.max_iter = 0.0, tol, max_iter

    cdef Py_ssize_t first, here, lane, o
    cdef size_t p
    for first in range(0, n_networks, LANES):
        PyErr_CheckSignals()
        here = min(LANES, n_networks - first)
        with nogil:
            pack_genomes(&net, &genomes[first, 0, 0], here, &weights[0])
            forward_block(&net, &weights[0], &x[0, 0], &flow, &zeros[0], &states[0], &phi[0])
        for lane in range(here):
            if stop is not None and stop[0] != 0:
                return result
            with nogil:
                gather(&train, &phi[0], n_cells, lane, &train_columns[0])
                gather(&test, &phi[0], n_cells, lane, &test_columns[0])
                kernels.gram_fill(&gram)
                for o in range(n_outputs):
                    qp.target, qp.lower, qp.upper = &train_targets[o, 0], &lower[o, 0], &upper[o, 0]
                    for p in range(train.n):
                        qp.beta[p] = 0.0
                    kernels.qp_begin(&qp)
                    kernels.qp_run(&qp, max_iter)
                    kernels.qp_certify(&qp)
                    bias[o] = qp.bias
                    for p in range(train.n):
                        beta[o * train.ld + p] = qp.beta[p]
                        train_decisions[o * train.ld + p] = train_targets[o, p] - qp.residual[p] + qp.bias
                kernels.decide_columns(&kern, &test_points, &train_points, &beta[0], &bias[0], n_outputs, &row[0],
                                       &test_decisions[0])
                out[first + lane, 0] = error(which, exclusive, n_outputs, &train, &train_decisions[0])
                out[first + lane, 1] = error(which, exclusive, n_outputs, &test, &test_decisions[0])
                out[first + lane, 2] = error(0, exclusive, n_outputs, &train, &train_decisions[0])
                out[first + lane, 3] = error(0, exclusive, n_outputs, &test, &test_decisions[0])
    return result

"""Evaluation of a slice of the population: forward pass, training of the readouts, errors."""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN, fabs, fmax, isfinite, isnan
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

import numpy as np

from evoke._kernels cimport (
    evk_columns, evk_gram, evk_gram_place, evk_gram_work_size, evk_kernel, evk_lstm, evk_pinv_work_size, evk_qp,
    evk_qp_place, evk_qp_work_size, kernels,
)
from evoke._lstm cimport Runs, forward_block, make_net, pack_genomes, weights_size
from evoke._svm cimport make_kernel

cdef enum:
    LANES = 8
    WORK_BETWEEN_SIGNALS = 20000000

READOUTS = ("svm", "lssvm", "pinv")
OBJECTIVES = ("count", "hinge", "squared")


cdef inline size_t padded(size_t n) noexcept nogil:
    return (n + LANES - 1) // LANES * LANES


cdef struct Points:
    # Rows of a data set that take part in the readout: each a row of phi, a weight and targets [output][point].
    size_t n, ld
    const int64_t *rows
    const double *weights
    const double *targets


cdef struct Judge:
    # How decisions are held against targets.
    int objective        # 0 count, 1 hinge, 2 squared
    bint regression      # targets are values, errors below epsilon are free for count and hinge
    bint exclusive       # one class a step, decided by the largest value; else every output decides by itself
    double epsilon
    size_t n_outputs


cdef Points make_points(part) except *:
    cdef const int64_t[::1] rows = part[0]
    cdef const double[::1] weights = part[1]
    cdef const double[:, ::1] targets = part[2]
    cdef Points points
    points.n = rows.shape[0]
    points.ld = padded(points.n)
    points.rows, points.weights, points.targets = &rows[0], &weights[0], &targets[0, 0]
    return points


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


cdef class Readout:
    """Trains the readouts of one network after the other in the same memory; see evoke.readouts for the parameters."""
    cdef int kind
    cdef size_t n_outputs, n_cells
    cdef Points train
    cdef evk_kernel kern
    cdef evk_gram gram
    cdef evk_qp qp
    cdef double C, rcond
    cdef bint bias
    cdef const int64_t *stop
    cdef const double[:, ::1] lower, upper
    cdef double[::1] gram_work, work, identity, right

    def __cinit__(self, str kind, dict parameters, part, size_t n_cells):
        self.stop = NULL
        cdef size_t n, size, h
        self.kind = READOUTS.index(kind)
        self.train = make_points(part)
        self.n_outputs, self.n_cells = part[2].shape[0], n_cells
        n = self.train.n
        self.C, self.rcond, self.bias = 0.0, 0.0, True
        if self.kind == 2:
            self.bias, self.rcond = parameters["bias"], parameters["rcond"]
            # a linear readout is a linear kernel over the unit vectors
            self.kern = make_kernel("linear", 1.0, 0.0, 1)
            self.identity = np.zeros(n_cells * padded(n_cells))
            for h in range(n_cells):
                self.identity[h * padded(n_cells) + h] = 1.0
            size = evk_pinv_work_size(n, n_cells + 1)
            self.work = np.empty(size + (n_cells + 1 + self.n_outputs) * n + self.n_outputs * (n_cells + 1))
            self.right = np.empty(self.train.ld)
            return
        self.kern = make_kernel(
            parameters["kernel"], parameters["gamma"], parameters["coef0"], parameters["degree"]
        )
        size = evk_gram_work_size(n, n)
        if size == 0:
            raise MemoryError(f"a kernel matrix of {n} rows does not fit")
        self.gram_work = np.empty(size)
        if self.kind == 0:
            size = evk_qp_work_size(n, n)
            if size == 0:
                raise MemoryError(f"a kernel matrix of {n} rows does not fit")
            self.work = np.empty(size)
            self.lower, self.upper = parameters["lower"], parameters["upper"]
            self.qp.epsilon, self.qp.tol = parameters["epsilon"], parameters["tol"]
            self.qp.max_iter = parameters["max_iter"]
            evk_qp_place(&self.qp, n, n, &self.work[0])
            self.qp.gram = &self.gram
        else:
            self.C = parameters["C"]
            self.right = np.zeros((1 + self.n_outputs) * self.train.ld)

    cdef size_t n_support(self) noexcept nogil:
        """Support vectors that a fit leaves: points, or for a linear readout unit vectors."""
        return self.n_cells if self.kind == 2 else self.train.n

    cdef int fit(self, double *columns, evk_columns *sv, double *coef, double *bias, double *decisions) except -1 nogil:
        """Train on columns[cell][point]. coef[output][sv.ld], decisions[output][train.ld]; 0 where it failed.

        Long fits hear Ctrl-C and the stop flag."""
        cdef evk_columns points
        points.x, points.n, points.d, points.ld = columns, self.train.n, self.n_cells, self.train.ld
        if self.kind == 2:
            sv.x, sv.n, sv.d, sv.ld = &self.identity[0], self.n_cells, self.n_cells, padded(self.n_cells)
            self.fit_pinv(&points, coef, bias)
            kernels.decide_columns(&self.kern, &points, sv, coef, bias, self.n_outputs, &self.right[0], decisions)
            return 1
        sv[0] = points
        evk_gram_place(&self.gram, &self.kern, points, self.train.n, &self.gram_work[0])
        kernels.gram_fill(&self.gram)
        if self.kind == 0:
            return self.fit_svm(coef, bias, decisions)
        return self.fit_lssvm(coef, bias, decisions)

    cdef int fit_svm(self, double *coef, double *bias, double *decisions) except -1 nogil:
        cdef size_t o, p, n = self.train.n, ld = self.train.ld
        cdef int64_t budget = max(<size_t>1, <size_t>WORK_BETWEEN_SIGNALS // (2 * ld))
        cdef evk_qp *qp = &self.qp
        for o in range(self.n_outputs):
            qp.target, qp.lower, qp.upper = self.train.targets + o * n, &self.lower[o, 0], &self.upper[o, 0]
            memset(qp.beta, 0, n * sizeof(double))
            kernels.qp_begin(qp)
            while not kernels.qp_run(qp, budget):
                with gil:
                    PyErr_CheckSignals()
                if self.stop != NULL and self.stop[0] != 0:
                    return 0
            kernels.qp_certify(qp)
            bias[o] = qp.bias
            memcpy(coef + o * ld, qp.beta, ld * sizeof(double))
            for p in range(n):
                decisions[o * ld + p] = qp.target[p] - qp.residual[p] + qp.bias
        return 1

    cdef int fit_lssvm(self, double *coef, double *bias, double *decisions) noexcept nogil:
        """[K + 1/(C w), 1; 1', 0] [coef; bias] = [y; 0] by one Cholesky factor: eta solves 1, nu solves y."""
        cdef size_t o, p, n = self.train.n, ld = self.train.ld
        cdef double *eta = &self.right[0]
        cdef double *nu
        cdef double sum_eta = 0.0, sum_nu
        for p in range(n):
            self.gram.rows[p * ld + p] += 1.0 / (self.C * self.train.weights[p])
        if kernels.cholesky(self.gram.rows, n, ld) < n:
            return 0
        for p in range(ld):
            eta[p] = 1.0 if p < n else 0.0
        kernels.cholesky_solve(self.gram.rows, n, ld, eta)
        for p in range(n):
            sum_eta += eta[p]
        for o in range(self.n_outputs):
            nu = eta + (1 + o) * ld
            memset(nu, 0, ld * sizeof(double))
            memcpy(nu, self.train.targets + o * n, n * sizeof(double))
            kernels.cholesky_solve(self.gram.rows, n, ld, nu)
            sum_nu = 0.0
            for p in range(n):
                sum_nu += nu[p]
            bias[o] = sum_nu / sum_eta
            for p in range(ld):
                coef[o * ld + p] = nu[p] - bias[o] * eta[p] if p < n else 0.0
            for p in range(n):
                decisions[o * ld + p] = (self.train.targets[o * n + p]
                                         - coef[o * ld + p] / (self.C * self.train.weights[p]))
        return 1

    cdef void fit_pinv(self, const evk_columns *points, double *coef, double *bias) noexcept nogil:
        """Weights = pseudoinverse of the activations (and of a column of ones) times the targets; w points count w."""
        cdef size_t o, h, p, n = self.train.n, d = self.n_cells + (1 if self.bias else 0)
        cdef double *columns = &self.work[evk_pinv_work_size(n, self.n_cells + 1)]
        cdef double *targets = columns + (self.n_cells + 1) * n
        cdef double *weights = targets + self.n_outputs * n
        cdef double root
        for p in range(n):
            root = self.train.weights[p] ** 0.5
            for h in range(self.n_cells):
                columns[h * n + p] = root * points.x[h * points.ld + p]
            if self.bias:
                columns[self.n_cells * n + p] = root
            for o in range(self.n_outputs):
                targets[o * n + p] = root * self.train.targets[o * n + p]
        kernels.pinv(columns, n, d, targets, self.n_outputs, self.rcond, &self.work[0], weights)
        for o in range(self.n_outputs):
            for h in range(padded(self.n_cells)):
                coef[o * padded(self.n_cells) + h] = weights[o * d + h] if h < self.n_cells else 0.0
            bias[o] = weights[o * d + self.n_cells] if self.bias else 0.0


def fit_readout(const double[:, ::1] phi not None, const double[:, ::1] targets not None,
                const double[::1] weights not None, str kind, dict parameters not None):
    """Support vectors (m, n_cells), coefficients (m, n_outputs) and biases of one network's readout, or None."""
    cdef size_t n = phi.shape[0], d = phi.shape[1], n_outputs = targets.shape[0], ld = padded(n)
    part = (np.arange(n, dtype=np.int64), weights, targets)
    cdef Readout trainer = Readout(kind, parameters, part, d)
    cdef size_t m = trainer.n_support()
    columns = np.zeros((d, ld))
    columns[:, :n] = np.asarray(phi).T
    cdef double[:, ::1] points = columns
    coefficients = np.zeros((n_outputs, padded(m)))
    cdef double[:, ::1] coef = coefficients
    intercept = np.zeros(n_outputs)
    cdef double[::1] bias = intercept
    cdef double[::1] decisions = np.empty(n_outputs * ld)
    cdef evk_columns sv
    if not trainer.fit(&points[0, 0], &sv, &coef[0, 0], &bias[0], &decisions[0]):
        return None
    support = np.eye(d) if trainer.kind == 2 else np.array(phi)
    return support, np.ascontiguousarray(coefficients[:, :m].T), intercept


cdef struct Fitted:
    # The readouts of one network.
    evk_columns sv
    double *coef
    double *bias
    bint failed


cdef void run_free(const evk_lstm *net, const double *weights, const double *x, const Runs *flow,
                   const int64_t *segment, double feedback_scale, size_t n_outputs, const evk_kernel *kern,
                   const Fitted *fitted, size_t n_lanes, const double *phi, double *states, double *inputs,
                   double *memory, double *row, double *decisions, size_t ld, size_t *point) noexcept nogil:
    """Steps of one segment (parent run, begin, end) in which every network feeds on its own output.

    The first step still reads the true value of the step before. decisions[lane][output][ld] from *point on."""
    cdef size_t H = net.n_cells, I = net.n_inputs, width = H * LANES, i, k, o
    cdef int64_t r
    cdef const double *before = phi + (<size_t>(flow.end[segment[0]] - 1)) * width
    cdef double *state = memory
    cdef double *outputs = memory + 3 * width
    cdef double *now
    memcpy(state, states + (<size_t>(flow.slot[segment[0]] + 1)) * width, width * sizeof(double))
    for r in range(segment[1], segment[2]):
        now = memory + (1 + (r & 1)) * width
        for i in range(I):
            for k in range(LANES):
                inputs[i * LANES + k] = x[<size_t>r * I + i]
        if r > segment[1]:
            for o in range(n_outputs):
                for k in range(n_lanes):
                    inputs[(I - n_outputs + o) * LANES + k] = feedback_scale * outputs[k * n_outputs + o]
        kernels.lstm_step_lanes(net, weights, inputs, before, state, now)
        for k in range(n_lanes):
            if fitted[k].failed:
                continue
            kernels.decide_point(kern, &fitted[k].sv, fitted[k].coef, fitted[k].bias, n_outputs, now + k, LANES, row,
                                 outputs + k * n_outputs)
            for o in range(n_outputs):
                decisions[(k * n_outputs + o) * ld + point[0]] = outputs[k * n_outputs + o]
        point[0] += 1
        before = now


def evaluate_slice(const double[:, :, ::1] genomes not None, const double[:, ::1] x not None,
                   const int64_t[:, ::1] runs not None, tuple train not None, tuple test not None, str cell, gate_bias,
                   str readout, dict parameters not None, str objective, bint exclusive=False, bint regression=False,
                   double epsilon=0.0, const int64_t[:, ::1] free=None, double feedback_scale=1.0,
                   const int64_t[::1] stop=None):
    """Errors (n_networks, 4): objective on training and validation points, count on both.

    runs (4, n_runs): begin, end, parent, slot. train and test: rows (n,), weights (n,), targets (n_outputs, n).
    free (n_segments, 3): parent run, begin and end of validation rows through which the networks run on their own
    output, fed back into the last n_outputs inputs; the test points are then these rows in order. A network whose
    readout fails or whose outputs are not finite has infinite errors. A non-zero stop[0] ends the evaluation early
    with NaN for the rest."""
    cdef Py_ssize_t n_networks = genomes.shape[0], n_cells = genomes.shape[1]
    cdef evk_lstm net = make_net(x.shape[1], n_cells, cell, gate_bias)
    cdef Readout trainer = Readout(readout, parameters, train, n_cells)
    cdef size_t n_outputs = trainer.n_outputs
    if stop is not None:
        trainer.stop = &stop[0]
    cdef Judge judge
    judge.objective = OBJECTIVES.index(objective)
    judge.regression, judge.exclusive, judge.epsilon, judge.n_outputs = regression, exclusive, epsilon, n_outputs
    cdef Points judged = make_points(test)
    result = np.full((n_networks, 4), np.nan)
    cdef double[:, ::1] out = result
    cdef Runs flow
    flow.n = runs.shape[1]
    flow.begin, flow.end, flow.parent, flow.slot = &runs[0, 0], &runs[1, 0], &runs[2, 0], &runs[3, 0]
    cdef size_t n_slots = max(runs[3]) + 1

    cdef size_t width = n_cells * LANES, train_ld = trainer.train.ld, sv_ld = padded(trainer.n_support())
    cdef double[::1] weights = np.empty(weights_size(&net))
    cdef double[::1] zeros = np.zeros(width)
    cdef double[::1] states = np.empty((1 + n_slots) * width)
    cdef double[::1] phi = np.empty(x.shape[0] * width)
    cdef double[::1] columns = np.empty(LANES * n_cells * train_ld)
    cdef double[::1] test_columns = np.empty(n_cells * judged.ld)
    cdef double[::1] coef = np.zeros(LANES * n_outputs * sv_ld)
    cdef double[::1] bias = np.empty(LANES * n_outputs)
    cdef double[::1] row = np.empty(max(judged.ld, sv_ld))
    cdef double[::1] decisions = np.zeros(n_outputs * train_ld)
    cdef double[::1] test_decisions = np.zeros(LANES * n_outputs * judged.ld)
    cdef double[::1] inputs = np.empty(net.n_inputs * LANES)
    cdef double[::1] memory = np.empty(3 * width + LANES * n_outputs)
    cdef Fitted[LANES] fitted
    cdef evk_columns test_points
    test_points.x, test_points.n, test_points.d, test_points.ld = &test_columns[0], judged.n, n_cells, judged.ld

    cdef Py_ssize_t first, here, lane, k
    cdef size_t point
    cdef bint finite
    for first in range(0, n_networks, LANES):
        here = min(LANES, n_networks - first)
        with nogil:
            pack_genomes(&net, &genomes[first, 0, 0], here, &weights[0])
            forward_block(&net, &weights[0], &x[0, 0], &flow, &zeros[0], &states[0], &phi[0])
        for lane in range(here):
            if stop is not None and stop[0] != 0:
                return result
            PyErr_CheckSignals()
            with nogil:
                gather(&trainer.train, &phi[0], n_cells, lane, &columns[lane * n_cells * train_ld])
                fitted[lane].coef, fitted[lane].bias = &coef[lane * n_outputs * sv_ld], &bias[lane * n_outputs]
                fitted[lane].failed = not trainer.fit(&columns[lane * n_cells * train_ld], &fitted[lane].sv,
                                                      fitted[lane].coef, fitted[lane].bias, &decisions[0])
                out[first + lane, 0] = error(&judge, judge.objective, &trainer.train, &decisions[0])
                out[first + lane, 2] = error(&judge, 0, &trainer.train, &decisions[0])
                if free is None and not fitted[lane].failed:
                    gather(&judged, &phi[0], n_cells, lane, &test_columns[0])
                    kernels.decide_columns(&trainer.kern, &test_points, &fitted[lane].sv, fitted[lane].coef,
                                           fitted[lane].bias, n_outputs, &row[0],
                                           &test_decisions[lane * n_outputs * judged.ld])
        if free is not None:
            with nogil:
                point = 0
                for k in range(free.shape[0]):
                    run_free(&net, &weights[0], &x[0, 0], &flow, &free[k, 0], feedback_scale, n_outputs, &trainer.kern,
                             fitted, here, &phi[0], &states[0], &inputs[0], &memory[0], &row[0], &test_decisions[0],
                             judged.ld, &point)
        with nogil:
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
    return result


def run_free_one(const double[:, ::1] genome not None, const double[:, ::1] x not None, double feedback_scale, str cell,
                 gate_bias, const double[:, ::1] state not None, const double[:, ::1] sv not None,
                 const double[:, ::1] coef not None, const double[::1] intercept not None, str kernel, double gamma,
                 double coef0, int degree):
    """Outputs (n_steps, n_outputs) of one network that feeds on its own output, and its last state (2, n_cells).

    x (n_steps, n_inputs): the last n_outputs inputs of the first step are used as they are, later ones take the outputs
    of the step before. sv (m, n_cells), coef (m, n_outputs) and intercept are the readout."""
    cdef size_t H = genome.shape[0], I = x.shape[1], m = sv.shape[0], n_outputs = intercept.shape[0], ld = padded(m)
    cdef evk_lstm net = make_net(I, H, cell, gate_bias)
    cdef evk_kernel kern = make_kernel(kernel, gamma, coef0, degree)
    result = np.empty((x.shape[0], n_outputs))
    final = np.array(state)
    cdef double[:, ::1] out = result
    cdef double[:, ::1] last = final
    cdef double[:, ::1] columns = np.zeros((H, max(1, ld)))
    cdef double[:, ::1] weighted = np.zeros((n_outputs, max(1, ld)))
    columns[:, :m] = sv.T
    weighted[:, :m] = coef.T
    cdef evk_columns support
    support.x, support.n, support.d, support.ld = &columns[0, 0], m, H, ld
    cdef double[::1] weights = np.empty(weights_size(&net))
    cdef double[::1] inputs = np.zeros(I * LANES)
    cdef double[::1] memory = np.zeros(3 * H * LANES)
    cdef double[::1] row = np.empty(max(1, ld))
    cdef double *now
    cdef double *before = &memory[H * LANES]
    cdef size_t h, i, o
    cdef Py_ssize_t t
    for h in range(H):
        memory[h * LANES] = last[0, h]
        before[h * LANES] = last[1, h]
    if x.shape[0] == 0:
        return result, final
    pack_genomes(&net, &genome[0, 0], 1, &weights[0])
    for t in range(x.shape[0]):
        if t % 1024 == 0:
            PyErr_CheckSignals()
        now = &memory[(1 + (t + 1) % 2) * H * LANES]
        for i in range(I):
            inputs[i * LANES] = x[t, i]
        if t > 0:
            for o in range(n_outputs):
                inputs[(I - n_outputs + o) * LANES] = feedback_scale * out[t - 1, o]
        kernels.lstm_step_lanes(&net, &weights[0], &inputs[0], before, &memory[0], now)
        kernels.decide_point(&kern, &support, &weighted[0, 0], &intercept[0], n_outputs, now, LANES, &row[0],
                             &out[t, 0])
        before = now
    for h in range(H):
        last[0, h] = memory[h * LANES]
        last[1, h] = before[h * LANES]
    return result, final

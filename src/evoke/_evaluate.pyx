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
from evoke._lstm cimport Block, Runs, make_net, pack_cells, step_cells, weights_size, whole_packs
from evoke._svm cimport make_kernel

cdef enum:
    LANES = 8
    WORK_BETWEEN_SIGNALS = 20000000
    STEPS_BETWEEN_SIGNALS = 1024

READOUTS = ("svm", "lssvm", "pinv")
OBJECTIVES = ("count", "hinge", "squared")


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
    points.ld = whole_packs(points.n)
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
            self.identity = np.zeros(n_cells * whole_packs(n_cells))
            for h in range(n_cells):
                self.identity[h * whole_packs(n_cells) + h] = 1.0
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
            sv.x, sv.n, sv.d, sv.ld = &self.identity[0], self.n_cells, self.n_cells, whole_packs(self.n_cells)
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
            for h in range(whole_packs(self.n_cells)):
                coef[o * whole_packs(self.n_cells) + h] = weights[o * d + h] if h < self.n_cells else 0.0
            bias[o] = weights[o * d + self.n_cells] if self.bias else 0.0


def fit_readout(const double[:, ::1] phi not None, const double[:, ::1] targets not None,
                const double[::1] weights not None, str kind, dict parameters not None):
    """Support vectors (m, n_cells), coefficients (m, n_outputs) and biases of one network's readout, or None."""
    cdef size_t n = phi.shape[0], d = phi.shape[1], n_outputs = targets.shape[0], ld = whole_packs(n)
    part = (np.arange(n, dtype=np.int64), weights, targets)
    cdef Readout trainer = Readout(kind, parameters, part, d)
    cdef size_t m = trainer.n_support()
    columns = np.zeros((d, ld))
    columns[:, :n] = np.asarray(phi).T
    cdef double[:, ::1] points = columns
    coefficients = np.zeros((n_outputs, whole_packs(m)))
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


cdef struct Feedback:
    # How networks run on their own output: the last n_outputs inputs are their outputs of the step before, scaled.
    # Work space: inputs[n_inputs][8], row for the kernel values of a point, outputs of a point.
    size_t n_outputs
    double scale
    evk_kernel kern
    double *inputs
    double *row
    double *outputs


cdef void decide(const Feedback *feedback, const Fitted *fitted, const double *phi, size_t stride, double *decisions,
                 size_t ld) noexcept nogil:
    """decisions[output][ld] of one network whose activations are phi[cell][stride]."""
    cdef size_t o
    kernels.decide_point(&feedback.kern, &fitted.sv, fitted.coef, fitted.bias, feedback.n_outputs, phi, stride,
                         feedback.row, feedback.outputs)
    for o in range(feedback.n_outputs):
        decisions[o * ld] = feedback.outputs[o]


cdef void run_free_together(Block block, const double *x, const Runs *flow, const int64_t *segment,
                            const Feedback *feedback, const Fitted *fitted, double *memory, double *decisions,
                            size_t ld) noexcept nogil:
    """Steps of one segment (parent run, begin, end) in which every network feeds on its own output; lanes are networks.

    The first step still reads the true value of the step before. decisions[lane][output][ld], a step a point."""
    cdef size_t I = block.net.n_inputs, n = feedback.n_outputs, i, k, o, t
    cdef const double *before = block.at(flow.end[segment[0]] - 1)
    cdef double *now
    memcpy(memory, block.state(flow.slot[segment[0]]), block.width * sizeof(double))
    for t in range(<size_t>(segment[2] - segment[1])):
        for i in range(I):
            for k in range(LANES):
                feedback.inputs[i * LANES + k] = x[(<size_t>segment[1] + t) * I + i]
        if t > 0:
            for o in range(n):
                for k in range(block.n_networks):
                    feedback.inputs[(I - n + o) * LANES + k] = feedback.scale * decisions[(k * n + o) * ld + t - 1]
        now = memory + (1 + (t & 1)) * block.width
        kernels.lstm_networks_apart(&block.net, &block.weights[0], feedback.inputs, before, memory, now)
        for k in range(block.n_networks):
            if not fitted[k].failed:
                decide(feedback, &fitted[k], now + k, LANES, decisions + k * n * ld + t, ld)
        before = now


cdef void run_free_alone(const evk_lstm *net, const double *weights, const double *x, int64_t begin, int64_t end,
                         const Feedback *feedback, const Fitted *fitted, double *state, double *decisions,
                         size_t step, size_t output) noexcept nogil:
    """Steps begin..end of one network on its own output; lanes are cells, state is that of `step_cells`.

    Step 0 reads all of x[step][input]. The value of output o at step t goes to decisions[t * step + o * output]."""
    cdef size_t I = net.n_inputs, n = feedback.n_outputs, o
    cdef int64_t t
    cdef double *now
    for t in range(begin, end):
        memcpy(feedback.inputs, x + <size_t>t * I, I * sizeof(double))
        if t > 0:
            for o in range(n):
                feedback.inputs[I - n + o] = feedback.scale * decisions[<size_t>(t - 1) * step + o * output]
        now = step_cells(net, weights, feedback.inputs, t, state)
        decide(feedback, fitted, now, 1, decisions + <size_t>t * step, output)


cdef void run_free(Block block, const double *x, const Runs *flow, const int64_t *segment, const Feedback *feedback,
                   const Fitted *fitted, double *memory, double *decisions, size_t ld) noexcept nogil:
    """Steps of one segment in which every network of the block feeds on its own output; see run_free_together."""
    cdef size_t k
    if not block.apart:
        run_free_together(block, x, flow, segment, feedback, fitted, memory, decisions, ld)
        return
    for k in range(block.n_networks):
        if not fitted[k].failed:
            block.fetch(flow, segment[0], k, memory)
            run_free_alone(&block.net, &block.weights[k * block.size], x + <size_t>segment[1] * block.net.n_inputs, 0,
                           segment[2] - segment[1], feedback, &fitted[k], memory,
                           decisions + k * feedback.n_outputs * ld, 1, ld)


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
    cdef Block block = Block(x.shape[1], n_cells, cell, gate_bias, x.shape[0], max(runs[3]) + 1)
    cdef double *phi = &block.phi[0]

    cdef size_t train_ld = trainer.train.ld, sv_ld = whole_packs(trainer.n_support())
    cdef double[::1] columns = np.empty(LANES * n_cells * train_ld)
    cdef double[::1] test_columns = np.empty(n_cells * judged.ld)
    cdef double[::1] coef = np.zeros(LANES * n_outputs * sv_ld)
    cdef double[::1] bias = np.empty(LANES * n_outputs)
    cdef double[::1] row = np.empty(max(judged.ld, sv_ld))
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

    cdef Py_ssize_t first, here, lane, k
    cdef size_t point
    cdef bint finite
    for first in range(0, n_networks, LANES):
        here = min(LANES, n_networks - first)
        with nogil:
            block.load(genomes, first)
            block.run(&x[0, 0], &flow)
        for lane in range(here):
            if stop is not None and stop[0] != 0:
                return result
            PyErr_CheckSignals()
            with nogil:
                gather(&trainer.train, phi, n_cells, lane, &columns[lane * n_cells * train_ld])
                fitted[lane].coef, fitted[lane].bias = &coef[lane * n_outputs * sv_ld], &bias[lane * n_outputs]
                fitted[lane].failed = not trainer.fit(&columns[lane * n_cells * train_ld], &fitted[lane].sv,
                                                      fitted[lane].coef, fitted[lane].bias, &decisions[0])
                out[first + lane, 0] = error(&judge, judge.objective, &trainer.train, &decisions[0])
                out[first + lane, 2] = error(&judge, 0, &trainer.train, &decisions[0])
                if free is None and not fitted[lane].failed:
                    gather(&judged, phi, n_cells, lane, &test_columns[0])
                    kernels.decide_columns(&trainer.kern, &test_points, &fitted[lane].sv, fitted[lane].coef,
                                           fitted[lane].bias, n_outputs, &row[0],
                                           &test_decisions[lane * n_outputs * judged.ld])
        if free is not None:
            with nogil:
                point = 0
                for k in range(free.shape[0]):
                    run_free(block, &x[0, 0], &flow, &free[k, 0], &feedback, fitted, &memory[0],
                             &test_decisions[point], judged.ld)
                    point += free[k, 2] - free[k, 1]
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
    cdef size_t H = genome.shape[0], m = sv.shape[0], n_outputs = intercept.shape[0], ld = whole_packs(m)
    cdef size_t packed = whole_packs(H), h
    cdef evk_lstm net = make_net(x.shape[1], H, cell, gate_bias)
    result = np.empty((x.shape[0], n_outputs))
    final = np.array(state)
    if x.shape[0] == 0:
        return result, final
    cdef double[:, ::1] out = result
    cdef double[:, ::1] last = final
    cdef double[:, ::1] columns = np.zeros((H, max(1, ld)))
    cdef double[:, ::1] weighted = np.zeros((n_outputs, max(1, ld)))
    columns[:, :m] = sv.T
    weighted[:, :m] = coef.T
    cdef double[::1] bias = np.array(intercept)
    cdef Fitted fitted
    fitted.sv.x, fitted.sv.n, fitted.sv.d, fitted.sv.ld = &columns[0, 0], m, H, ld
    fitted.coef, fitted.bias, fitted.failed = &weighted[0, 0], &bias[0], False
    cdef double[::1] weights = np.empty(weights_size(&net))
    cdef double[::1] memory = np.zeros(3 * packed)
    cdef double[::1] inputs = np.empty(x.shape[1])
    cdef double[::1] outputs = np.empty(n_outputs)
    cdef double[::1] row = np.empty(max(1, ld))
    cdef Feedback feedback
    feedback.n_outputs, feedback.scale = n_outputs, feedback_scale
    feedback.kern = make_kernel(kernel, gamma, coef0, degree)
    feedback.inputs, feedback.row, feedback.outputs = &inputs[0], &row[0], &outputs[0]
    memory[:H] = state[0]
    memory[2 * packed:2 * packed + H] = state[1]
    pack_cells(&net, &genome[0, 0], &weights[0])
    cdef Py_ssize_t begin, end
    for begin in range(0, x.shape[0], STEPS_BETWEEN_SIGNALS):
        PyErr_CheckSignals()
        end = min(begin + STEPS_BETWEEN_SIGNALS, x.shape[0])
        with nogil:
            run_free_alone(&net, &weights[0], &x[0, 0], begin, end, &feedback, &fitted, &memory[0], &out[0, 0],
                           n_outputs, 1)
    cdef size_t now = 1 + (x.shape[0] - 1) % 2
    for h in range(H):
        last[0, h] = memory[h]
        last[1, h] = memory[now * packed + h]
    return result, final

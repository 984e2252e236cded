"""Training of the readouts of one network after the other."""
from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy, memset

from collections import namedtuple

import numpy as np

from evoke._core.dispatch cimport (
    EVK_OK,
    aligned,
    evk_columns,
    evk_gram_place,
    evk_gram_work_size,
    evk_least_squares,
    evk_machine,
    evk_pinv_work_size,
    evk_qp,
    evk_qp_place,
    evk_qp_work_size,
    functions,
    make_poll,
    whole_packs,
)
from evoke._core.kernel cimport Kernel

cdef enum:
    WORK_BETWEEN_SIGNALS = 20000000

READOUTS = ("svm", "lssvm", "pinv")

# Support vectors (m, n_cells), weights (m, n_outputs) and constants (n_outputs,) of the paper's equation 2.
TrainedReadout = namedtuple("TrainedReadout", "support_vectors dual_coef intercept")


cdef Points make_points(const int64_t[::1] rows, const double[::1] weights, const double[:, ::1] targets,
                        Py_ssize_t n_rows) except *:
    """Points that are among so many rows."""
    cdef Points points
    cdef Py_ssize_t p, n = rows.shape[0]
    if n == 0:
        raise ValueError("points must have at least one row, got 0")
    if weights.shape[0] != n:
        raise ValueError(f"weights must have shape {(n,)}, got {(weights.shape[0],)}")
    if targets.shape[0] == 0 or targets.shape[1] != n:
        raise ValueError(f"targets must have shape (n_outputs, {n}), got {(targets.shape[0], targets.shape[1])}")
    for p in range(n):
        if not 0 <= rows[p] < n_rows:
            raise ValueError(f"rows must be from 0 to {n_rows - 1}, got {rows[p]}")
    points.n = n
    points.ld = whole_packs(points.n)
    points.rows, points.weights, points.targets = &rows[0], &weights[0], &targets[0, 0]
    return points


cdef size_t fitting(size_t size, size_t n) except 0:
    """The size of the work array of n rows, unless it overflowed."""
    if size == 0:
        raise MemoryError(f"a kernel matrix of {n} rows does not fit")
    return size


cdef class Trainer:
    """Trains the readouts of one network after the other in the same memory.

    `readout` is one of the frozen objects of `evoke.readouts`, whose parameters are read here. `rows` are indices below
    n_rows."""

    def __cinit__(self, readout not None, const int64_t[::1] rows not None, const double[::1] weights not None,
                  const double[:, ::1] targets not None, Py_ssize_t n_rows, size_t n_cells):
        self.poll = make_poll(NULL)
        self.train = make_points(rows, weights, targets, n_rows)
        self.n_outputs, self.n_cells = targets.shape[0], n_cells
        self.C, self.rcond, self.bias = 0.0, 0.0, True
        if readout.name == "svm":
            self.kind = SVM
            self.prepare_svm(readout, weights, targets)
        elif readout.name == "lssvm":
            self.kind = LSSVM
            self.prepare_lssvm(readout)
        elif readout.name == "pinv":
            self.kind = PINV
            self.prepare_pinv(readout)
        else:
            raise ValueError(f"the core cannot train the readout {readout.name!r}: its fused must be False")

    cdef int prepare_gram(self, readout) except -1:
        cdef size_t n = self.train.n
        cdef Kernel kernel = readout.kernel
        self.kernel = kernel.c
        self.gram_work = aligned(fitting(evk_gram_work_size(n, n), n))
        return 0

    cdef int prepare_svm(self, readout, const double[::1] weights, const double[:, ::1] targets) except -1:
        cdef size_t n = self.train.n
        self.prepare_gram(readout)
        self.work = aligned(fitting(evk_qp_work_size(n, n), n))
        lower, upper = readout.boxes(np.asarray(targets), np.asarray(weights))
        self.lower, self.upper = np.array(lower, order="C"), np.array(upper, order="C")
        self.qp.epsilon, self.qp.tol, self.qp.max_iter = readout.epsilon, readout.tol, readout.max_iter
        evk_qp_place(&self.qp, n, n, &self.work[0])
        self.qp.gram = &self.gram
        return 0

    cdef int prepare_lssvm(self, readout) except -1:
        self.prepare_gram(readout)
        self.C = readout.C
        self.right = np.zeros((1 + self.n_outputs) * self.train.ld)
        return 0

    cdef int prepare_pinv(self, readout) except -1:
        """A linear readout is a linear kernel over the unit vectors."""
        cdef size_t n = self.train.n, n_cells = self.n_cells, h
        self.bias, self.rcond = readout.bias, readout.rcond
        cdef Kernel linear = Kernel("linear")
        self.kernel = linear.c
        self.identity = np.zeros(n_cells * whole_packs(n_cells))
        for h in range(n_cells):
            self.identity[h * whole_packs(n_cells) + h] = 1.0
        self.work = aligned(evk_pinv_work_size(n, n_cells + 1) + (n_cells + 1 + self.n_outputs) * n
                            + self.n_outputs * (n_cells + 1))
        self.right = aligned(self.train.ld)
        return 0

    cdef size_t n_support(self) noexcept nogil:
        """Support vectors that a fit leaves: points, or for a linear readout unit vectors."""
        return self.n_cells if self.kind == PINV else self.train.n

    cdef int check_own(self, const double[:, ::1] own, Py_ssize_t n_networks) except -1:
        """That networks of such a number have a C and a gamma each that readouts can be trained with."""
        cdef Py_ssize_t k, p
        if self.kind == PINV:
            raise ValueError("the readout 'pinv' has neither C nor gamma")
        if own.shape[0] != n_networks or own.shape[1] != 2:
            raise ValueError(f"own must have shape {(n_networks, 2)}, got {(own.shape[0], own.shape[1])}")
        for k in range(n_networks):
            for p in range(2):
                if not 0.0 < own[k, p] < INFINITY:
                    raise ValueError(f"own[{k}, {p}] must be a positive finite number, got {own[k, p]}")
        return 0

    cdef void adopt(self, double C, double gamma) noexcept nogil:
        """Train what follows with this C and this gamma, as if the readout had them."""
        cdef size_t o, p
        cdef double bound
        self.C, self.kernel.gamma = C, gamma
        if self.kind != SVM:
            return
        for o in range(self.n_outputs):
            for p in range(self.train.n):
                bound = C * self.train.weights[p]
                if self.lower[o, p] < 0.0:
                    self.lower[o, p] = -bound
                if self.upper[o, p] > 0.0:
                    self.upper[o, p] = bound

    cdef int fit(self, const double *columns, double *coef, double *bias, double *decisions,
                 evk_machine *machine) except -1 nogil:
        """Train on columns[cell][point]. coef[output][sv.ld], decisions[output][train.ld]; 0 where it failed.

        The machine reads its support vectors from the columns, its coefficients and biases from coef and bias. Ctrl-C
        and the stop flag end long fits."""
        cdef evk_columns points
        points.x, points.n, points.d, points.ld = columns, self.train.n, self.n_cells, self.train.ld
        machine.kernel, machine.sv, machine.n_outputs = &self.kernel, points, self.n_outputs
        machine.coef, machine.bias = coef, bias
        if self.kind == SVM:
            return self.fill_gram(points) and self.fit_svm(coef, bias, decisions)
        if self.kind == LSSVM:
            return self.fill_gram(points) and self.fit_lssvm(coef, bias, decisions)
        machine.sv.x, machine.sv.n, machine.sv.ld = &self.identity[0], self.n_cells, whole_packs(self.n_cells)
        return (
            self.fit_pinv(&points, coef, bias)
            and functions.decide_columns(machine, &points, &self.right[0], decisions, &self.poll) == 0
        )

    cdef int fill_gram(self, evk_columns points) except -1 nogil:
        evk_gram_place(&self.gram, &self.kernel, points, self.train.n, &self.gram_work[0])
        return functions.gram_fill(&self.gram, &self.poll) == 0

    cdef int fit_svm(self, double *coef, double *bias, double *decisions) except -1 nogil:
        cdef size_t o, p, n = self.train.n, ld = self.train.ld
        cdef int64_t budget = max(<size_t>1, <size_t>WORK_BETWEEN_SIGNALS // (2 * ld))
        cdef evk_qp *qp = &self.qp
        for o in range(self.n_outputs):
            qp.target, qp.lower, qp.upper = self.train.targets + o * n, &self.lower[o, 0], &self.upper[o, 0]
            memset(qp.beta, 0, n * sizeof(double))
            functions.qp_begin(qp)
            while not functions.qp_run(qp, budget):
                if self.poll.ask(self.poll.data):
                    return 0
            functions.qp_certify(qp)
            if qp.status != EVK_OK:
                return 0
            bias[o] = qp.bias
            memcpy(coef + o * ld, qp.beta, ld * sizeof(double))
            for p in range(n):
                decisions[o * ld + p] = qp.target[p] - qp.residual[p] + qp.bias
        return 1

    cdef int fit_lssvm(self, double *coef, double *bias, double *decisions) except -1 nogil:
        """[K + 1/(C w), 1; 1', 0] [coef; bias] = [y; 0] by one Cholesky factor: eta solves 1, nu solves y."""
        cdef size_t o, p, n = self.train.n, ld = self.train.ld
        cdef double *eta = &self.right[0]
        cdef double *nu
        cdef double sum_eta = 0.0, sum_nu
        for p in range(n):
            self.gram.rows[p * ld + p] += 1.0 / (self.C * self.train.weights[p])
        if functions.cholesky(self.gram.rows, n, ld, &self.poll) < <ptrdiff_t>n:
            return 0
        for p in range(ld):
            eta[p] = 1.0 if p < n else 0.0
        functions.cholesky_solve(self.gram.rows, n, ld, eta)
        for p in range(n):
            sum_eta += eta[p]
        for o in range(self.n_outputs):
            nu = eta + (1 + o) * ld
            memset(nu, 0, ld * sizeof(double))
            memcpy(nu, self.train.targets + o * n, n * sizeof(double))
            functions.cholesky_solve(self.gram.rows, n, ld, nu)
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

    cdef int fit_pinv(self, const evk_columns *points, double *coef, double *bias) except -1 nogil:
        """Weights = pseudoinverse of the activations (and of a column of ones) times the targets; w points count w."""
        cdef size_t o, h, p, n = self.train.n, d = self.n_cells + (1 if self.bias else 0)
        cdef double *columns = &self.work[evk_pinv_work_size(n, self.n_cells + 1)]
        cdef double *targets = columns + (self.n_cells + 1) * n
        cdef double *weights = targets + self.n_outputs * n
        cdef double root
        cdef evk_least_squares problem
        for p in range(n):
            root = sqrt(self.train.weights[p])
            for h in range(self.n_cells):
                columns[h * n + p] = root * points.x[h * points.ld + p]
            if self.bias:
                columns[self.n_cells * n + p] = root
            for o in range(self.n_outputs):
                targets[o * n + p] = root * self.train.targets[o * n + p]
        problem.columns, problem.targets = columns, targets
        problem.n, problem.d, problem.n_targets, problem.rcond = n, d, self.n_outputs, self.rcond
        if functions.pinv(&problem, &self.work[0], weights, &self.poll) < 0:
            return 0
        for o in range(self.n_outputs):
            for h in range(whole_packs(self.n_cells)):
                coef[o * whole_packs(self.n_cells) + h] = weights[o * d + h] if h < self.n_cells else 0.0
            bias[o] = weights[o * d + self.n_cells] if self.bias else 0.0
        return 1


def fit_readout(const double[:, ::1] phi not None, const double[:, ::1] targets not None,
                const double[::1] weights not None, readout not None):
    """One network's readout, from activations (n, n_cells), targets (n_outputs, n) and weights (n,).

    None where it cannot be trained."""
    cdef size_t n = phi.shape[0], d = phi.shape[1], n_outputs = targets.shape[0], ld = whole_packs(n)
    cdef Trainer trainer = Trainer(readout, np.arange(n, dtype=np.int64), weights, targets, n, d)
    cdef size_t m = trainer.n_support()
    columns = np.zeros((d, ld))
    columns[:, :n] = np.asarray(phi).T
    cdef double[:, ::1] points = columns
    coefficients = np.zeros((n_outputs, whole_packs(m)))
    cdef double[:, ::1] coef = coefficients
    intercept = np.zeros(n_outputs)
    cdef double[::1] bias = intercept
    cdef double[::1] decisions = np.empty(n_outputs * ld)
    cdef evk_machine machine
    cdef int fitted
    with nogil:
        fitted = trainer.fit(&points[0, 0], &coef[0, 0], &bias[0], &decisions[0], &machine)
    if not fitted:
        return None
    support = np.eye(d) if trainer.kind == PINV else np.array(phi)
    return TrainedReadout(support, np.ascontiguousarray(coefficients[:, :m].T), intercept)

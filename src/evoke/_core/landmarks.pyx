"""Machines on few landmarks: trained on any number of rows by sums of products, in one pass over the rows.

Such a machine is a function f(x) = b + sum over j of c_j K(z_j, x) with landmarks z. It minimises the sum over rows of
w (f(x) - y)^2, plus c'K(z, z)c / C (the subset of regressors: Smola and Schoelkopf 2000; Rudi et al. 2017).
"""
from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy, memset

from collections import namedtuple

import numpy as np

from evoke._core.dispatch cimport (
    EVK_DISTANCE,
    EVK_LINEAR,
    EVK_RBF,
    aligned,
    evk_columns,
    evk_kernel,
    evk_landmarks,
    evk_landmarks_width,
    evk_machine,
    evk_poll,
    functions,
    make_poll,
    whole_packs,
)
from evoke._core.kernel cimport Kernel, to_columns
from evoke._core.loss cimport error, make_loss
from evoke._core.lstm cimport check_signals
from evoke._core.readout cimport make_points
from evoke._validation.parameters import check_choice

cdef enum:
    ROWS = 64  # of a block, which stays in the cache
    BLOCKS_BETWEEN_SIGNALS = 16
    ATTEMPTS = 8  # to factor a matrix, with more on its diagonal each time

KERNELS = ("linear", "rbf")

# Landmark coefficients (m, n_outputs) and constants (n_outputs,).
Solved = namedtuple("Solved", "dual_coef intercept")


cdef int factor(const double *sums, size_t width, size_t m, const double *gram, size_t gram_ld, double C,
                double *system, evk_poll *poll) except? -1 nogil:
    """system[m + 1][ld]: the factor of the normal equations, whose last row is that of the constant; 0 where they are
    singular to working precision.

    What rounding leaves of a kernel matrix of landmarks that lie close together may be slightly negative, so a part of
    the mean of the diagonal that is of the size of rounding is added to it, and more if that is too little."""
    cdef size_t n = m + 1, ld = whole_packs(n), i, j
    cdef int _
    cdef double trace = 0.0, jitter
    cdef ptrdiff_t rank
    for i in range(m):
        trace += sums[i * width + i]
    jitter = <double>n * 1.1102230246251565e-16 * (trace / <double>m if trace > 0.0 else 1.0)  # 0 where all values are
    for _ in range(ATTEMPTS):
        for i in range(n):
            memcpy(system + i * ld, sums + i * width, n * sizeof(double))
            memset(system + i * ld + n, 0, (ld - n) * sizeof(double))
            if i < m:
                for j in range(i, m):
                    system[i * ld + j] += gram[i * gram_ld + j] / C
                system[i * ld + i] += jitter
        rank = functions.cholesky(system, n, ld, poll)
        if rank < 0:
            return -1
        if <size_t>rank == n:
            return 1
        jitter *= 10.0
    return 0


cdef void solve_for(const double *sums, size_t width, size_t m, size_t output, const double *system, double *right,
                    double *coef, double *bias) noexcept nogil:
    """The coefficients coef[m] and the constant of one output; right holds m + 1 to whole packs."""
    cdef size_t ld = whole_packs(m + 1), i
    memset(right, 0, ld * sizeof(double))
    for i in range(m + 1):
        right[i] = sums[i * width + m + 1 + output]
    functions.cholesky_solve(system, m + 1, ld, right)
    memcpy(coef, right, m * sizeof(double))
    bias[0] = right[m]


cdef class Sums:
    """Sums of products over the rows of training data, seen through the landmarks of one kernel.

    Parameters
    ----------
    kernel : Kernel
    landmarks : ndarray of shape (m, d)
    n_outputs : int

    Attributes
    ----------
    total : ndarray of shape (width, width)
        In the packs on and right of the diagonal. Its columns are those of the landmarks, of ones, of the targets."""

    cdef Kernel kernel
    cdef evk_landmarks c
    cdef double[::1] places, rows
    cdef double[:, ::1] sums
    cdef readonly object total

    def __cinit__(self, Kernel kernel not None, const double[:, ::1] landmarks not None, size_t n_outputs):
        cdef size_t m = landmarks.shape[0], d = landmarks.shape[1], ld = whole_packs(m)
        if m == 0 or d == 0 or n_outputs == 0:
            raise ValueError(f"landmarks must have rows and columns, and outputs, got {(m, d, n_outputs)}")
        self.kernel = kernel
        self.places = aligned(d * ld)
        to_columns(&landmarks[0, 0], m, d, ld, &self.places[0])
        self.c.kernel = &kernel.c
        self.c.points.x, self.c.points.n, self.c.points.d, self.c.points.ld = &self.places[0], m, d, ld
        self.c.n_outputs, self.c.width = n_outputs, evk_landmarks_width(m, n_outputs)
        self.rows = aligned(ROWS * self.c.width)
        self.total = aligned(self.c.width * self.c.width).reshape(self.c.width, self.c.width)
        self.total[:] = 0.0
        self.sums = self.total

    def add(self, const double[:, ::1] x not None, const double[:, ::1] targets not None,
            const double[::1] roots=None):
        """Add rows x (n, d) with targets (n, n_outputs), each as often as the square of its root says."""
        cdef size_t n = x.shape[0], d = self.c.points.d, n_outputs = self.c.n_outputs, begin, here, k = 0
        if <size_t>x.shape[1] != d:
            raise ValueError(f"x must have {d} columns, got {x.shape[1]}")
        if <size_t>targets.shape[0] != n or <size_t>targets.shape[1] != n_outputs:
            raise ValueError(f"targets must have shape {(n, n_outputs)}, got {(targets.shape[0], targets.shape[1])}")
        if roots is not None and <size_t>roots.shape[0] != n:
            raise ValueError(f"roots must have shape {(n,)}, got {(roots.shape[0],)}")
        cdef const double *root = NULL
        if roots is not None and n > 0:
            root = &roots[0]
        if n == 0:
            return
        with nogil:
            begin = 0
            while begin < n:
                here = min(<size_t>ROWS, n - begin)
                functions.landmark_rows(&self.c, &x[begin, 0], &targets[begin, 0], root,
                                        here, &self.rows[0])
                functions.add_products(&self.rows[0], here, self.c.width, &self.sums[0, 0])
                begin += here
                if root != NULL:
                    root += here
                k += 1
                if k % BLOCKS_BETWEEN_SIGNALS == 0:
                    check_signals()


def solve(const double[:, ::1] sums not None, const double[:, ::1] gram not None, double C, size_t n_outputs):
    """The machine for sums of products (width, width) and the kernel matrix (m, m) of its landmarks; None where the
    normal equations are singular to working precision."""
    cdef size_t m = gram.shape[0], width = evk_landmarks_width(m, n_outputs), o
    if m == 0 or <size_t>gram.shape[1] != m:
        raise ValueError(f"gram must be square with at least one row, got shape {(gram.shape[0], gram.shape[1])}")
    if n_outputs == 0 or <size_t>sums.shape[0] != width or <size_t>sums.shape[1] != width:
        raise ValueError(f"sums must have shape {(width, width)}, got {(sums.shape[0], sums.shape[1])}")
    if not 0.0 < C < INFINITY:
        raise ValueError(f"C must be a positive finite number, got {C}")
    cdef size_t ld = whole_packs(m + 1)
    cdef double[::1] system = aligned((m + 1) * ld)
    cdef double[::1] right = aligned(ld)
    coefficients, intercept = np.zeros((n_outputs, m)), np.zeros(n_outputs)
    cdef double[:, ::1] coef = coefficients
    cdef double[::1] bias = intercept
    cdef evk_poll poll = make_poll(NULL)
    cdef int solved
    with nogil:
        solved = factor(&sums[0, 0], width, m, &gram[0, 0], m, C, &system[0], &poll)
        if solved > 0:
            for o in range(n_outputs):
                solve_for(&sums[0, 0], width, m, o, &system[0], &right[0], &coef[o, 0], &bias[o])
    if solved <= 0 or not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
        return None
    return Solved(np.ascontiguousarray(coefficients.T), intercept)


def pivots(const double[:, ::1] x not None, Kernel kernel not None, size_t m, double tol):
    """Rows of x (n, d), at most m of them, by the largest pivots of the Cholesky factor of their kernel matrix.

    Each is the row that the rows before it leave the most of (Fine and Scheinberg 2001). None is taken of which they
    leave less than `tol` of the largest at the beginning."""
    cdef size_t n = x.shape[0], d = x.shape[1], ld = whole_packs(n), k, j, i, best
    if n == 0 or d == 0:
        raise ValueError(f"x must have rows and columns, got shape {(n, d)}")
    m = min(m, n)
    chosen = np.zeros(m, dtype=np.int64)
    cdef long long[::1] taken = chosen
    cdef double[::1] columns = aligned(d * ld)
    cdef double[::1] factors = aligned(m * ld)
    cdef double[::1] left = np.zeros(ld)
    cdef double[::1] row = aligned(ld)
    cdef double scale, first = 0.0
    cdef evk_columns points
    to_columns(&x[0, 0], n, d, ld, &columns[0])
    points.x, points.n, points.d, points.ld = &columns[0], n, d, ld
    with nogil:
        for j in range(n):
            left[j] = 1.0
            if kernel.c.kind != EVK_RBF:
                functions.gram_row(&kernel.c, &points, j // 8 * 8, j // 8 * 8 + 8, &columns[j], ld, &row[0])
                left[j] = row[j]
        for k in range(m):
            best = 0
            for j in range(n):
                if left[j] > left[best]:
                    best = j
            if k == 0:
                first = left[best]
            if not left[best] > tol * first:
                m = k
                break
            taken[k] = best
            functions.gram_row(&kernel.c, &points, 0, ld, &columns[best], ld, &row[0])
            for i in range(k):
                subtract(&row[0], &factors[i * ld], factors[i * ld + best], ld)
            scale = 1.0 / sqrt(left[best])
            for j in range(ld):
                factors[k * ld + j] = scale * row[j]
                left[j] -= factors[k * ld + j] * factors[k * ld + j]
            for i in range(k + 1):
                left[<size_t>taken[i]] = 0.0
            check_signals()
    return chosen[:m].copy()


def spread(const double[:, ::1] x not None, size_t m, const double[:, ::1] draws not None):
    """Rows of x (n, d), at most m of them, that lie far from each other where rows are many: greedy k-means++.

    Each is the best of as many tries as `draws`, of shape (m or more, tries) and uniform in [0, 1), has columns: that
    which comes closest to the other rows. A try is a row with the probability of its squared distance from the nearest
    one taken before (Arthur and Vassilvitskii 2007). There are fewer where all others are equal to one of them."""
    cdef size_t n = x.shape[0], d = x.shape[1], ld = whole_packs(n), tries = draws.shape[1], k, t, i, low, high, j, best
    cdef double target, potential, least
    if n == 0 or d == 0:
        raise ValueError(f"x must have rows and columns, got shape {(n, d)}")
    m = min(m, n)
    if <size_t>draws.shape[0] < m or tries == 0:
        raise ValueError(f"draws must have at least {m} rows, and columns, got shape {(draws.shape[0], tries)}")
    chosen = np.zeros(m, dtype=np.int64)
    cdef long long[::1] taken = chosen
    cdef double[::1] columns = aligned(d * ld)
    cdef double[::1] nearest = np.full(ld, INFINITY)
    cdef double[::1] sums = np.zeros(n)
    cdef double[::1] row = aligned(ld)
    cdef double[::1] closest = aligned(ld)
    cdef evk_columns points
    cdef evk_kernel distance
    to_columns(&x[0, 0], n, d, ld, &columns[0])
    points.x, points.n, points.d, points.ld = &columns[0], n, d, ld
    distance.kind = EVK_DISTANCE
    with nogil:
        for k in range(m):
            if k > 0:
                target = 0.0
                for j in range(n):
                    target += nearest[j]
                    sums[j] = target
                if not target > 0.0:
                    m = k
                    break
            best, least = n, INFINITY
            for t in range(tries if k > 0 else 1):
                low, high = 0, n - 1
                if k == 0:
                    low = min(<size_t>(draws[0, 0] * <double>n), n - 1)
                else:
                    target = draws[k, t] * sums[n - 1]
                    while low < high:  # the first whose sum exceeds the target
                        i = (low + high) // 2
                        if sums[i] > target:
                            high = i
                        else:
                            low = i + 1
                functions.gram_row(&distance, &points, 0, ld, &columns[low], ld, &row[0])
                potential = 0.0
                for j in range(n):
                    row[j] = min(row[j], nearest[j])
                    potential += row[j]
                if best == n or potential < least:
                    best, least = low, potential
                    memcpy(&closest[0], &row[0], ld * sizeof(double))
            memcpy(&nearest[0], &closest[0], ld * sizeof(double))
            taken[k] = best
            check_signals()
    return chosen[:m].copy()


cdef void subtract(double *row, const double *other, double factor, size_t n) noexcept nogil:
    cdef size_t j
    for j in range(n):
        row[j] -= factor * other[j]


cdef class LandmarkGrid:
    """Finds the best pair of kernel width and capacity for the features of one network after the other.

    The landmarks are training points at equal distances in their order. Machines are trained on the training points and
    judged by their decisions on others.

    Parameters
    ----------
    readout : LandmarkReadout
        Of `evoke.readouts`.
    train, held_out : Points
        Of `evoke.evolution.problem`; `train_targets` and so on keep their arrays alive.
    objective : Objective
    n_features : int"""

    def __cinit__(self, readout not None, train not None, held_out not None, objective not None, Py_ssize_t n_rows,
                  size_t n_features):
        check_choice("kernel", readout.kernel, KERNELS)
        self.linear, self.scaled, self.relative = readout.kernel == "linear", readout.scaled, readout.relative
        self.n_features, self.n_outputs = n_features, len(train.targets)
        self.train = make_points(train.rows, train.weights, train.targets, n_rows)
        self.held_out = make_points(held_out.rows, held_out.weights, held_out.targets, n_rows)
        if <size_t>len(held_out.targets) != self.n_outputs:
            raise ValueError(f"validation has {len(held_out.targets)} outputs, but train has {self.n_outputs}")
        self.loss, self.poll = make_loss(objective, self.n_outputs), make_poll(NULL)
        self.widths = np.array((1.0,) if self.linear else readout.widths, float)
        self.capacities = np.array(readout.capacities, float)
        cdef size_t n_pairs = self.capacities.shape[0]
        self.m = n_features if self.linear else min(self.train.n, <size_t>readout.n_landmarks)
        self.ld, self.width = whole_packs(self.m), evk_landmarks_width(self.m, self.n_outputs)
        self.kernel.kind, self.kernel.degree = EVK_LINEAR if self.linear else EVK_RBF, 1
        self.kernel.gamma = self.kernel.coef0 = 0.0
        self.places, self.distances = aligned(n_features * self.ld), aligned(self.m * self.ld)
        self.gram, self.sums = np.zeros(self.m * self.ld), aligned(self.width * self.width)
        self.x, self.targets = aligned(ROWS * n_features), aligned(ROWS * self.n_outputs)
        self.roots, self.rows = aligned(ROWS), aligned(ROWS * self.width)
        self.system = aligned((self.m + 2) * whole_packs(self.m + 1))
        self.coef, self.bias = np.zeros(n_pairs * self.n_outputs * self.ld), np.zeros(n_pairs * self.n_outputs)
        self.row, self.decisions = aligned(self.held_out.ld), aligned(n_pairs * self.n_outputs * self.held_out.ld)
        self.mean, self.inverse = np.zeros(n_features), np.ones(n_features)
        self.landmarks.kernel, self.landmarks.n_outputs = &self.kernel, self.n_outputs
        self.landmarks.width = self.width
        self.landmarks.points.x, self.landmarks.points.n = &self.places[0], self.m
        self.landmarks.points.d, self.landmarks.points.ld = n_features, self.ld

    cdef int search(self, double *columns, double *held_columns) except -1 nogil:
        """Find the best pair for columns[feature][point] of the training points and the held-out ones, which are
        standardised in place. 0 where none has a finite error."""
        cdef size_t w, h, j
        cdef double mean = 1.0
        self.best.error = self.best.wrong = INFINITY
        self.best.gamma = self.best.C = 0.0
        if self.scaled:
            functions.standardise(columns, self.train.n, self.n_features, self.train.ld, &self.mean[0],
                                  &self.inverse[0])
            for h in range(self.n_features):
                for j in range(self.held_out.n):
                    held_columns[h * self.held_out.ld + j] = (
                        (held_columns[h * self.held_out.ld + j] - self.mean[h]) * self.inverse[h])
        self.place(columns)
        if self.relative and not self.linear:
            mean = self.mean_distance()
        for w in range(<size_t>self.widths.shape[0]):
            self.kernel.gamma = self.widths[w] / mean if mean > 0.0 else self.widths[w]
            if not self.linear:
                functions.gram_of_distances(&self.distances[0], self.m, self.ld, self.kernel.gamma, &self.gram[0])
            if self.add_all(columns) < 0 or self.judge(held_columns) < 0:
                return 0
        return self.best.error < INFINITY

    cdef void place(self, const double *columns) noexcept nogil:
        """Choose the landmarks: of "linear" the unit vectors, otherwise training points at equal distances."""
        cdef size_t h, j, i, n = self.train.n
        cdef evk_kernel kernel
        memset(&self.places[0], 0, self.n_features * self.ld * sizeof(double))
        if self.linear:
            for h in range(self.n_features):
                self.places[h * self.ld + h] = self.gram[h * self.ld + h] = 1.0
            return
        for h in range(self.n_features):
            for j in range(self.m):
                self.places[h * self.ld + j] = columns[h * self.train.ld + (2 * j + 1) * n // (2 * self.m)]
        kernel.kind = EVK_DISTANCE
        for i in range(self.m):
            functions.gram_row(&kernel, &self.landmarks.points, i // 8 * 8, self.ld, &self.places[i], self.ld,
                               &self.distances[i * self.ld])

    cdef double mean_distance(self) noexcept nogil:
        """The mean squared distance of two landmarks."""
        cdef size_t i, j
        cdef double total = 0.0, row
        for i in range(self.m):
            row = 0.0
            for j in range(i + 1, self.m):
                row += self.distances[i * self.ld + j]
            total += row
        return total / (0.5 * <double>self.m * <double>(self.m - 1)) if self.m > 1 else 0.0

    cdef int add_all(self, const double *columns) except -1 nogil:
        """The sums over all training points."""
        cdef size_t begin = 0, here, h, r, o, k = 0, n = self.train.n
        memset(&self.sums[0], 0, self.width * self.width * sizeof(double))
        while begin < n:
            here = min(<size_t>ROWS, n - begin)
            for r in range(here):
                for h in range(self.n_features):
                    self.x[r * self.n_features + h] = columns[h * self.train.ld + begin + r]
                for o in range(self.n_outputs):
                    self.targets[r * self.n_outputs + o] = self.train.targets[o * n + begin + r]
                self.roots[r] = sqrt(self.train.weights[begin + r])
            functions.landmark_rows(&self.landmarks, &self.x[0], &self.targets[0], &self.roots[0], here, &self.rows[0])
            functions.add_products(&self.rows[0], here, self.width, &self.sums[0])
            begin += here
            k += 1
            if k % BLOCKS_BETWEEN_SIGNALS == 0 and self.poll.ask(self.poll.data):
                return -1
        return 0

    cdef int judge(self, const double *held_columns) except -1 nogil:
        """The errors of all capacities on the held-out points."""
        cdef size_t c, o, n_c = self.capacities.shape[0], ld = self.held_out.ld
        cdef double *right = &self.system[(self.m + 1) * whole_packs(self.m + 1)]
        cdef double total
        cdef evk_machine machine
        cdef evk_columns points
        cdef int solved
        for c in range(n_c):
            solved = factor(&self.sums[0], self.width, self.m, &self.gram[0], self.ld, self.capacities[c],
                            &self.system[0], &self.poll)
            if solved < 0:
                return -1
            for o in range(self.n_outputs):
                if solved:
                    solve_for(&self.sums[0], self.width, self.m, o, &self.system[0], right,
                              &self.coef[(c * self.n_outputs + o) * self.ld], &self.bias[c * self.n_outputs + o])
                else:
                    self.bias[c * self.n_outputs + o] = INFINITY
        machine.kernel, machine.sv, machine.n_outputs = &self.kernel, self.landmarks.points, n_c * self.n_outputs
        machine.coef, machine.bias = &self.coef[0], &self.bias[0]
        points.x, points.n, points.d, points.ld = held_columns, self.held_out.n, self.n_features, ld
        if functions.decide_columns(&machine, &points, &self.row[0], &self.decisions[0], &self.poll) < 0:
            return -1
        for c in range(n_c):
            if self.bias[c * self.n_outputs] == INFINITY:
                continue
            total = error(&self.loss, self.loss.objective, &self.held_out, &self.decisions[c * self.n_outputs * ld])
            if total < self.best.error:
                self.best.error, self.best.gamma, self.best.C = total, self.kernel.gamma, self.capacities[c]
                self.best.wrong = error(&self.loss, 0, &self.held_out, &self.decisions[c * self.n_outputs * ld])
        return 0

"""Least-squares machines over a grid of kernel widths and capacities, judged by points or blocks that are left out."""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from collections import namedtuple

import numpy as np

from evoke._core.dispatch cimport (
    EVK_DISTANCE,
    EVK_LINEAR,
    aligned,
    evk_columns,
    evk_kernel,
    evk_loo,
    evk_loo_work_size,
    evk_poll,
    functions,
    make_poll,
    whole_packs,
)
from evoke._core.loss cimport error, make_loss
from evoke._core.readout cimport make_points
from evoke._validation.parameters import check_choice

# Of the best pair: kernel width and capacity; leave-one-out error, wrong decisions and decisions (n_outputs, n); the
# readout's coefficients (n, n_outputs) and intercepts; mean and 1 / deviation of the features.
Chosen = namedtuple("Chosen", "gamma C error wrong decisions dual_coef intercept mean inverse")

KERNELS = ("linear", "rbf")

# A least-squares machine: coefficients (n, n_outputs), intercepts, leave-one-out decisions (n_outputs, n).
Fitted = namedtuple("Fitted", "dual_coef intercept decisions")


def fit_gram(const double[:, ::1] gram not None, const double[:, ::1] targets not None,
             const double[::1] ridge not None):
    """The least-squares machine of a Gram matrix (n, n), for targets (n_outputs, n) and a ridge (n,) on its diagonal.

    None where the matrix with the ridge is not positive definite."""
    cdef size_t n = gram.shape[0], n_outputs = targets.shape[0], ld = whole_packs(n)
    if n == 0 or <size_t>gram.shape[1] != n:
        raise ValueError(f"gram must be square with at least one row, got shape {(gram.shape[0], gram.shape[1])}")
    if n_outputs == 0 or <size_t>targets.shape[1] != n:
        raise ValueError(f"targets must have shape (n_outputs, {n}), got {(targets.shape[0], targets.shape[1])}")
    if <size_t>ridge.shape[0] != n:
        raise ValueError(f"ridge must have shape {(n,)}, got {(ridge.shape[0],)}")
    cdef size_t size = evk_loo_work_size(n, n_outputs, 1)
    if size == 0:
        raise MemoryError(f"a kernel matrix of {n} rows does not fit")
    matrix = aligned(n * ld)
    matrix[:] = 0.0
    matrix.reshape(n, ld)[:, :n] = gram
    coefficients, decided, intercept = np.zeros((n_outputs, ld)), np.zeros((n_outputs, ld)), np.zeros(n_outputs)
    cdef double[::1] work = aligned(size)
    cdef double[::1] kernel = matrix
    cdef double[:, ::1] coef = coefficients
    cdef double[:, ::1] decisions = decided
    cdef double[::1] bias = intercept
    cdef evk_loo loo
    cdef evk_poll poll = make_poll(NULL)
    cdef int solved
    loo.n, loo.ld, loo.n_outputs, loo.blocks = n, ld, n_outputs, NULL
    loo.kernel, loo.ridge, loo.targets, loo.work = &kernel[0], &ridge[0], &targets[0, 0], &work[0]
    loo.coef, loo.bias, loo.decisions = &coef[0, 0], &bias[0], &decisions[0, 0]
    with nogil:
        solved = functions.loo(&loo, &poll)
    if solved <= 0:
        return None
    return Fitted(np.ascontiguousarray(coefficients[:, :n].T), intercept, decided[:, :n].copy())


cdef Py_ssize_t largest_block(const int64_t[::1] blocks, Py_ssize_t n) except -1:
    """Points of the largest block; checks that there are several, without gaps."""
    cdef Py_ssize_t k, largest = 1
    if blocks.shape[0] < 3 or blocks[0] != 0 or blocks[blocks.shape[0] - 1] != n:
        raise ValueError(f"blocks must be the offsets of at least two blocks, from 0 to {n}, got {list(blocks)}")
    for k in range(blocks.shape[0] - 1):
        if blocks[k + 1] <= blocks[k]:
            raise ValueError(f"blocks must rise, got {blocks[k]} and {blocks[k + 1]} at {k}")
        largest = max(largest, <Py_ssize_t>(blocks[k + 1] - blocks[k]))
    return largest


cdef class Grid:
    """Finds the best pair for the features of one network after the other, in the same memory.

    Parameters
    ----------
    kernel : {"linear", "rbf"}
    widths : float64 ndarray
        Of "rbf": gamma is a width divided by the mean squared distance between two points. The linear kernel is divided
        by its mean value of a point with itself, and has a single width of 1.
    capacities : float64 ndarray
        Values of C, ascending: of two pairs with the same error the one with the smaller C is taken.
    points : Points
        Weights and targets; its rows say how many there are.
    objective : Objective
    n_features : int
    relative : bool
        Whether widths and the linear kernel are in the units that the features give. If not, a width is a gamma.
    scaled : bool
        Whether features are standardised first.
    blocks : int64 ndarray of shape (n_blocks + 1,), optional
        Where each block of points begins that is left out as a whole, and the last ends. None: each point alone."""

    def __cinit__(self, kernel not None, widths not None, capacities not None, points not None, objective not None,
                  size_t n_features, bint relative=True, bint scaled=True, blocks=None):
        cdef size_t n = len(points.rows), n_outputs = len(points.targets), ld = whole_packs(n)
        cdef const double[::1] weights = points.weights
        cdef const double[:, ::1] targets = points.targets
        check_choice("kernel", kernel, KERNELS)
        self.linear, self.scaled, self.n_features = KERNELS.index(kernel) == 0, scaled, n_features
        self.relative = relative
        self.numbers = np.arange(n)
        self.points = make_points(self.numbers, weights, targets, n)
        self.loss = make_loss(objective, n_outputs)
        self.poll = make_poll(NULL)
        self.loo.blocks, self.loo.n_blocks = NULL, 0
        cdef size_t largest = 1
        if blocks is not None:
            self.blocks = blocks
            largest = largest_block(self.blocks, n)
            self.loo.blocks, self.loo.n_blocks = &self.blocks[0], self.blocks.shape[0] - 1
        cdef size_t size = evk_loo_work_size(n, n_outputs, largest)
        if size == 0:
            raise MemoryError(f"a kernel matrix of {n} rows does not fit")
        self.widths, self.capacities = np.array(widths, float), np.array(capacities, float)
        self.ridge, self.work = np.zeros(ld), aligned(size)
        self.distances, self.gram = aligned(n * ld), aligned(0 if self.linear else n * ld)
        self.coef, self.bias, self.decisions = np.zeros(n_outputs * ld), np.zeros(n_outputs), np.zeros(n_outputs * ld)
        self.mean, self.inverse = np.zeros(n_features), np.ones(n_features)
        self.loo.n, self.loo.ld, self.loo.n_outputs = n, ld, n_outputs
        self.loo.kernel = &self.distances[0] if self.linear else &self.gram[0]
        self.loo.ridge, self.loo.targets, self.loo.work = &self.ridge[0], self.points.targets, &self.work[0]
        self.loo.coef, self.loo.bias, self.loo.decisions = &self.coef[0], &self.bias[0], &self.decisions[0]

    cdef int search(self, double *columns, bint keep) except -1 nogil:
        """Find the best pair for columns[feature][point], which are standardised in place. Its machine is kept if
        asked for. 0 where none has a finite error."""
        cdef size_t n = self.loo.n, ld = self.loo.ld, w, c, i
        cdef size_t n_varying = self.n_features
        cdef double gamma, total, mean
        cdef int solved
        if self.scaled:
            n_varying = functions.standardise(columns, n, self.n_features, ld, &self.mean[0], &self.inverse[0])
        self.best.error = self.best.wrong = INFINITY
        self.best.gamma = self.best.C = 0.0
        self.distances_of(columns, n_varying)
        mean = self.mean_distance() if self.relative else 1.0
        for w in range(<size_t>self.widths.shape[0]):
            gamma = self.widths[w] / mean if mean > 0.0 else self.widths[w]
            if not self.linear:
                functions.gram_of_distances(&self.distances[0], n, ld, gamma, &self.gram[0])
            for c in range(<size_t>self.capacities.shape[0]):
                for i in range(n):
                    # the linear kernel is divided by its mean, so its C is multiplied by it
                    self.ridge[i] = (mean if self.linear and mean > 0.0 else 1.0) / (
                        self.capacities[c] * self.points.weights[i])
                solved = functions.loo(&self.loo, &self.poll)
                if solved <= 0:
                    continue
                total = error(&self.loss, self.loss.objective, &self.points, &self.decisions[0])
                if total < self.best.error:
                    self.best.error, self.best.gamma, self.best.C = total, gamma, self.capacities[c]
                    if self.linear and mean > 0.0:
                        self.best.C = self.capacities[c] / mean
                    self.best.wrong = error(&self.loss, 0, &self.points, &self.decisions[0])
                    if keep:
                        self.keep()
        return self.best.error < INFINITY

    cdef int distances_of(self, const double *columns, size_t n_varying) except -1 nogil:
        """Squared distances between points, or their products, in the packs on and right of the diagonal."""
        cdef size_t n = self.loo.n, ld = self.loo.ld, i
        cdef evk_columns x
        cdef evk_kernel kernel
        x.x, x.n, x.d, x.ld = columns, n, self.n_features, ld
        kernel.kind = EVK_LINEAR if self.linear else EVK_DISTANCE
        for i in range(n):
            functions.gram_row(&kernel, &x, i // 8 * 8, ld, columns + i, ld, &self.distances[i * ld])
        return 0

    cdef double mean_distance(self) noexcept nogil:
        """The mean squared distance of two points, or of the linear kernel the mean product of a point with itself."""
        cdef size_t n = self.loo.n, ld = self.loo.ld, i, j
        cdef double total = 0.0, row
        if self.linear:
            for i in range(n):
                total += self.distances[i * ld + i]
            return total / <double>n
        for i in range(n):
            row = 0.0
            for j in range(i + 1, n):
                row += self.distances[i * ld + j]
            total += row
        return total / (0.5 * <double>n * <double>(n - 1)) if n > 1 else 0.0

    cdef int keep(self) except -1 with gil:
        """Copy the machine of the best pair so far."""
        shape = (self.loo.n_outputs, self.loo.ld)
        self.best_coef = np.array(self.coef).reshape(shape)[:, :self.loo.n]
        self.best_bias = np.array(self.bias)
        self.best_decisions = np.array(self.decisions).reshape(shape)[:, :self.loo.n]
        return 0


def choose(const double[:, ::1] features not None, points not None, kernel not None, widths not None,
           capacities not None, objective not None, bint relative=True, bint scaled=True, blocks=None):
    """The best pair for features (n, n_features), and its machine; None where no pair has a finite error."""
    cdef size_t n = features.shape[0], d = features.shape[1]
    if len(points.rows) != n:
        raise ValueError(f"points has {len(points.rows)} rows, but features has {n}")
    cdef Grid grid = Grid(kernel, widths, capacities, points, objective, d, relative, scaled, blocks)
    columns = np.zeros((d, whole_packs(n)))
    columns[:, :n] = np.asarray(features).T
    cdef double[:, ::1] x = columns
    cdef int found
    with nogil:
        found = grid.search(&x[0, 0], True)
    if not found:
        return None
    return Chosen(
        grid.best.gamma, grid.best.C, grid.best.error, grid.best.wrong, grid.best_decisions,
        np.ascontiguousarray(grid.best_coef.T), grid.best_bias, np.array(grid.mean), np.array(grid.inverse),
    )

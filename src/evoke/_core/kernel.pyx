"""The kernel K(x, z) of the support vector machines: its values, and the functions that are sums of them."""
from cpython.exc cimport PyErr_CheckSignals
from libc.string cimport memcpy

import numpy as np

from evoke._core.dispatch cimport (
    EVK_DECIDED,
    EVK_LINEAR,
    LANES,
    aligned,
    evk_columns,
    evk_gram,
    evk_gram_place,
    evk_gram_work_size,
    evk_machine_rows,
    evk_poll,
    evk_rows,
    functions,
    make_poll,
    whole_packs,
)
from evoke._validation.parameters import INT32_MAX, check_choice, check_integer, check_number, check_positive

cdef enum:
    WORK_BETWEEN_SIGNALS = 20000000  # multiplications

KERNELS = ("linear", "poly", "rbf")


cdef class Kernel:
    """The kernel K(x, z) of a support vector machine and its parameters, which cannot be changed.

    Parameters
    ----------
    name : {"linear", "poly", "rbf"}, default="rbf"
        ``x @ z``, ``(gamma * x @ z + coef0) ** degree`` or ``exp(-gamma * |x - z|**2)``.
    gamma : float, default=1.0
        Positive and finite. The linear kernel has no use for it.
    coef0 : float, default=0.0
        Constant of the polynomial kernel, finite.
    degree : int, default=3
        Degree of the polynomial kernel, from 0 to 2**31 - 1.

    Raises
    ------
    ParameterError
        A parameter out of its range.

    Examples
    --------
    >>> from evoke.svm import Kernel
    >>> Kernel("poly", gamma=0.5, degree=2)
    Kernel('poly', gamma=0.5, coef0=0.0, degree=2)
    """

    def __cinit__(self, name="rbf", gamma=1.0, coef0=0.0, degree=3):
        check_choice("kernel", name, KERNELS)
        self.c.kind = KERNELS.index(name)
        self.c.gamma = check_positive("gamma", gamma)
        self.c.coef0 = check_number("coef0", coef0)
        self.c.degree = check_integer("degree", degree, 0, INT32_MAX)

    @property
    def name(self):
        """Which of `KERNELS` it is."""
        return KERNELS[self.c.kind]

    @property
    def gamma(self):
        """Factor of the scalar product, or of the squared distance."""
        return self.c.gamma

    @property
    def coef0(self):
        """Constant of the polynomial kernel."""
        return self.c.coef0

    @property
    def degree(self):
        """Degree of the polynomial kernel."""
        return self.c.degree

    def _key(self):
        return self.name, self.gamma, self.coef0, self.degree

    def __eq__(self, other):
        return self._key() == (<Kernel>other)._key() if isinstance(other, Kernel) else NotImplemented

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"Kernel({self.name!r}, gamma={self.gamma}, coef0={self.coef0}, degree={self.degree})"

    def __reduce__(self):
        return Kernel, self._key()


cdef void to_columns(const double *x, size_t n, size_t d, size_t ld, double *columns) noexcept nogil:
    """x[i * d + h] -> columns[h * ld + i], zero from n on."""
    cdef size_t i, h
    for h in range(d):
        for i in range(n):
            columns[h * ld + i] = x[i * d + h]
        for i in range(n, ld):
            columns[h * ld + i] = 0.0


def decide(const double[:, ::1] x not None, const double[:, ::1] support_vectors,
           const double[:, ::1] coef not None, const double[::1] intercept not None, Kernel kernel not None):
    """Equation 2: sum_i coef[i, o] K(x, support_vectors[i]) + intercept[o], of shape (n, n_outputs).

    x (n, d), support_vectors (m, d), coef (m, n_outputs), intercept (n_outputs,). None stands for the d unit vectors,
    with the linear kernel: the bits are the same, but the sum is one over d."""
    cdef Py_ssize_t n = x.shape[0], d = x.shape[1], n_outputs = intercept.shape[0]
    cdef Py_ssize_t m = d if support_vectors is None else support_vectors.shape[0]
    cdef Py_ssize_t read = 0 if support_vectors is None else d
    if support_vectors is None:
        if kernel.c.kind != EVK_LINEAR:
            raise ValueError(f"unit vectors are for the linear kernel, got {kernel!r}")
    elif support_vectors.shape[1] != d:
        raise ValueError(f"x has {d} columns, but support_vectors has {support_vectors.shape[1]}")
    if coef.shape[0] != m or coef.shape[1] != n_outputs:
        raise ValueError(f"coef must have shape {(m, n_outputs)}, got {(coef.shape[0], coef.shape[1])}")
    result = np.empty((n, n_outputs))
    if n == 0 or n_outputs == 0:
        return result
    cdef double[:, ::1] out = result
    cdef double[::1] work = np.empty((d + n_outputs) * EVK_DECIDED * LANES)
    cdef Py_ssize_t at_once = EVK_DECIDED * LANES
    cdef Py_ssize_t step = max(1, WORK_BETWEEN_SIGNALS // (1 + m * (read + n_outputs + 8)) // EVK_DECIDED) * at_once
    cdef Py_ssize_t first
    cdef double nothing = 0.0
    cdef evk_rows points
    cdef evk_machine_rows machine
    points.d = machine.sv.d = d
    machine.sv.x, machine.sv.n = &nothing, m
    if support_vectors is None:
        machine.sv.x = NULL
    elif m > 0 and d > 0:
        machine.sv.x = &support_vectors[0, 0]
    machine.coef, machine.bias = &coef[0, 0] if m > 0 else &nothing, &intercept[0]
    machine.kernel, machine.n_outputs = &kernel.c, n_outputs
    for first in range(0, n, step):
        PyErr_CheckSignals()
        points.x, points.n = &x[first, 0] if d > 0 else &nothing, min(step, n - first)
        with nogil:
            functions.decide(&machine, &points, &work[0], &out[first, 0])
    return result


def gram(const double[:, ::1] x not None, Kernel kernel not None):
    """The Gram matrix K(x_i, x_j) as the machines compute it, of shape (n, n)."""
    cdef size_t n = x.shape[0], d = x.shape[1], ld = whole_packs(n)
    if n == 0:
        raise ValueError("x must have at least one row, got 0")
    cdef size_t size = evk_gram_work_size(n, n)
    if size == 0:
        raise MemoryError(f"a kernel matrix of {n} rows does not fit")
    memory = aligned(size)
    cdef double[::1] work = memory
    cdef double[::1] columns = aligned(max(1, d) * ld)
    cdef evk_columns points
    cdef evk_gram matrix
    cdef evk_poll poll = make_poll(NULL)
    points.x, points.n, points.d, points.ld = &columns[0], n, d, ld
    if d > 0:
        to_columns(&x[0, 0], n, d, ld, &columns[0])
    evk_gram_place(&matrix, &kernel.c, points, n, &work[0])
    with nogil:
        functions.gram_fill(&matrix, &poll)
    return memory[:n * ld].reshape(n, ld)[:, :n].copy()


def cross(const double[:, ::1] x not None, const double[:, ::1] z not None, Kernel kernel not None):
    """Kernel values K(x_i, z_j) of shape (n, m); x (n, d), z (m, d)."""
    cdef size_t n = x.shape[0], d = x.shape[1], m = z.shape[0], ld = whole_packs(m), i
    if <size_t>z.shape[1] != d:
        raise ValueError(f"x has {d} columns, but z has {z.shape[1]}")
    result = np.empty((n, m))
    if n == 0 or m == 0 or d == 0:
        if n > 0 and m > 0:
            raise ValueError("x and z must have at least one column, got 0")
        return result
    cdef double[:, ::1] out = result
    cdef double[::1] columns = aligned(d * ld)
    cdef double[::1] row = aligned(ld)
    cdef evk_columns points
    cdef size_t step = max(1, WORK_BETWEEN_SIGNALS // (1 + m * (d + 8))), first
    points.x, points.n, points.d, points.ld = &columns[0], m, d, ld
    to_columns(&z[0, 0], m, d, ld, &columns[0])
    for first in range(0, n, step):
        PyErr_CheckSignals()
        with nogil:
            for i in range(first, min(first + step, n)):
                functions.gram_row(&kernel.c, &points, 0, ld, &x[i, 0], 1, &row[0])
                memcpy(&out[i, 0], &row[0], m * sizeof(double))
    return result


def weighted(const double[:, ::1] values not None, const double[:, ::1] coef not None,
             const double[::1] intercept not None):
    """Equation 2 from kernel values: sum_i values[:, i] coef[i, o] + intercept[o], of shape (n, n_outputs)."""
    cdef size_t n = values.shape[0], m = values.shape[1], n_outputs = intercept.shape[0], whole = m // LANES * LANES
    if <size_t>coef.shape[0] != m or <size_t>coef.shape[1] != n_outputs:
        raise ValueError(f"coef must have shape {(m, n_outputs)}, got {(coef.shape[0], coef.shape[1])}")
    result = np.zeros((n, n_outputs))
    cdef double[:, ::1] out = result
    cdef double[:, ::1] columns = np.ascontiguousarray(np.asarray(coef).T)
    cdef double[LANES] sums
    cdef double total
    cdef const double *row
    cdef const double *column
    cdef size_t i, o, j, k
    if n == 0 or m == 0 or n_outputs == 0:
        return result + np.asarray(intercept)
    with nogil:
        for i in range(n):
            row = &values[i, 0]
            for o in range(n_outputs):
                column = &columns[o, 0]
                for k in range(LANES):
                    sums[k] = 0.0
                j = 0
                while j < whole:
                    for k in range(LANES):
                        sums[k] += row[j + k] * column[j + k]
                    j += LANES
                total = intercept[o]
                for j in range(whole, m):
                    total += row[j] * column[j]
                for k in range(LANES):
                    total += sums[k]
                out[i, o] = total
    return result

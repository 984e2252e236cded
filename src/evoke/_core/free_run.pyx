"""Networks that run on their own output."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from evoke._core.dispatch cimport LANES, aligned, evk_lstm, functions, whole_packs
from evoke._core.kernel cimport Kernel
from evoke._core.lstm cimport Block, Network, Segments, pack_cells, step_cells, weights_size
from evoke._core.readout cimport Fitted

cdef enum:
    STEPS_BETWEEN_SIGNALS = 1024


cdef class Feedback:
    """How networks run on their own output: the last n_outputs inputs are their outputs of the step before, scaled."""

    def __cinit__(self, Network network, size_t n_outputs, double scale, Kernel kernel, size_t row_size):
        self.n_outputs, self.scale, self.kernel = n_outputs, scale, kernel
        self.inputs = np.empty(network.c.n_inputs * LANES)
        self.row = aligned(max(1, row_size))
        self.outputs = np.empty(n_outputs)
        self.memory = np.zeros(3 * whole_packs(network.c.n_cells) * LANES)

    cdef void run(self, Block block, const double *x, const Segments *segments, const int64_t *free,
                  const Fitted *fitted, double *decisions, size_t ld) noexcept nogil:
        """Rows of one free segment (parent, begin, end), in which every network of the block feeds on its own output.

        The first step still reads the true value of the step before. decisions[network][output][ld], a point per
        step."""
        cdef size_t k
        if not block.lanes_are_cells:
            self.run_together(block, x, segments, free, fitted, decisions, ld)
            return
        for k in range(block.n_networks):
            if not fitted[k].failed:
                block.fetch(segments, free[0], k, &self.memory[0])
                self.run_alone(&block.net, <const double *>block.weights + k * block.size,
                               x + <size_t>free[1] * block.net.n_inputs, 0, free[2] - free[1], &fitted[k],
                               decisions + k * self.n_outputs * ld, 1, ld)

    cdef void run_together(self, Block block, const double *x, const Segments *segments, const int64_t *free,
                           const Fitted *fitted, double *decisions, size_t ld) noexcept nogil:
        """Lanes are networks."""
        cdef size_t I = block.net.n_inputs, n = self.n_outputs, i, k, o, t
        cdef const double *before = (<const double *>block.phi
                                     + (segments.end[free[0]] - 1) * <int64_t>block.width)
        cdef const double *start = (<const double *>block.states
                                    + (1 + segments.slot[free[0]]) * <int64_t>block.width)
        cdef double *memory = &self.memory[0]
        cdef double *now
        memcpy(memory, start, block.width * sizeof(double))
        for t in range(<size_t>(free[2] - free[1])):
            for i in range(I):
                for k in range(LANES):
                    self.inputs[i * LANES + k] = x[(<size_t>free[1] + t) * I + i]
            if t > 0:
                for o in range(n):
                    for k in range(block.n_networks):
                        self.inputs[(I - n + o) * LANES + k] = self.scale * decisions[(k * n + o) * ld + t - 1]
            now = memory + (1 + (t & 1)) * block.width
            functions.lstm_networks_apart(&block.net, <const double *>block.weights, &self.inputs[0], before, memory,
                                          now)
            for k in range(block.n_networks):
                if not fitted[k].failed:
                    self.decide(&fitted[k], now + k, LANES, decisions + k * n * ld + t, ld)
            before = now

    cdef void run_alone(self, const evk_lstm *net, const double *weights, const double *x, int64_t begin, int64_t end,
                        const Fitted *fitted, double *decisions, size_t step, size_t output) noexcept nogil:
        """Steps begin..end of one network; lanes are cells, and the memory holds its state as `step_cells` has it.

        Step 0 reads all of x[step][input]. The value of output o at step t goes to decisions[t * step + o * output]."""
        cdef size_t I = net.n_inputs, n = self.n_outputs, o
        cdef int64_t t
        cdef double *now
        for t in range(begin, end):
            memcpy(&self.inputs[0], x + <size_t>t * I, I * sizeof(double))
            if t > 0:
                for o in range(n):
                    self.inputs[I - n + o] = self.scale * decisions[<size_t>(t - 1) * step + o * output]
            now = step_cells(net, weights, &self.inputs[0], t, &self.memory[0])
            self.decide(fitted, now, 1, decisions + <size_t>t * step, output)

    cdef void decide(self, const Fitted *fitted, const double *phi, size_t stride, double *decisions,
                     size_t ld) noexcept nogil:
        """decisions[output][ld] of one network whose activations are phi[cell][stride]."""
        cdef size_t o
        functions.decide_point(&self.kernel.c, &fitted.sv, fitted.coef, fitted.bias, self.n_outputs, phi, stride,
                               &self.row[0], &self.outputs[0])
        for o in range(self.n_outputs):
            decisions[o * ld] = self.outputs[o]


def run_free(Network network not None, const double[:, ::1] x not None, const double[:, ::1] state not None,
             double feedback_scale, readout not None):
    """Outputs (n_steps, n_outputs) of one network that feeds on its own output, and its last state (2, n_cells).

    x (n_steps, n_inputs): the last n_outputs inputs of the first step are used as they are, later ones take the outputs
    of the step before. The readout has support_vectors (m, n_cells), dual_coef (m, n_outputs), intercept and a
    kernel."""
    cdef const double[:, ::1] genome = network.genome
    cdef const double[:, ::1] support_vectors = readout.support_vectors
    cdef const double[:, ::1] dual_coef = readout.dual_coef
    cdef const double[::1] intercept = readout.intercept
    cdef Py_ssize_t H = genome.shape[0], m = support_vectors.shape[0], n_outputs = intercept.shape[0]
    cdef size_t ld = whole_packs(m), packed = whole_packs(H), h
    network.check_inputs(x.shape[1])
    if x.shape[1] < n_outputs:
        raise ValueError(f"the readout has {n_outputs} outputs, more than fit into {x.shape[1]} inputs")
    if state.shape[0] != 2 or state.shape[1] != H:
        raise ValueError(f"state must have shape {(2, H)}, got {(state.shape[0], state.shape[1])}")
    if support_vectors.shape[1] != H or dual_coef.shape[0] != m or dual_coef.shape[1] != n_outputs:
        raise ValueError("the readout does not fit the network: support_vectors (m, n_cells), dual_coef (m, n_outputs)")
    result = np.empty((x.shape[0], n_outputs))
    final = np.array(state)
    if x.shape[0] == 0:
        return result, final
    cdef double[:, ::1] out = result
    cdef double[:, ::1] last = final
    cdef double[:, ::1] columns = np.zeros((H, max(1, ld)))
    cdef double[:, ::1] coef = np.zeros((n_outputs, max(1, ld)))
    columns[:, :m] = support_vectors.T
    coef[:, :m] = dual_coef.T
    cdef double[::1] bias = np.array(intercept)
    cdef Fitted fitted
    fitted.sv.x, fitted.sv.n, fitted.sv.d, fitted.sv.ld = &columns[0, 0], m, H, ld
    fitted.coef, fitted.bias, fitted.failed = &coef[0, 0], &bias[0], False
    cdef double[::1] weights = aligned(weights_size(&network.c))
    cdef Feedback feedback = Feedback(network, n_outputs, feedback_scale, readout.kernel, ld)
    cdef double *memory = &feedback.memory[0]
    for h in range(<size_t>H):
        memory[h] = state[0, h]
        memory[2 * packed + h] = state[1, h]
    pack_cells(&network.c, &genome[0, 0], &weights[0])
    cdef Py_ssize_t begin, end
    for begin in range(0, x.shape[0], STEPS_BETWEEN_SIGNALS):
        PyErr_CheckSignals()
        end = min(begin + STEPS_BETWEEN_SIGNALS, x.shape[0])
        with nogil:
            feedback.run_alone(&network.c, &weights[0], &x[0, 0], begin, end, &fitted, &out[0, 0], n_outputs, 1)
    cdef size_t now = 1 + (x.shape[0] - 1) % 2
    for h in range(<size_t>H):
        last[0, h] = memory[h]
        last[1, h] = memory[now * packed + h]
    return result, final

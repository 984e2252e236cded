"""Networks that run on their own output."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from evoke._core.dispatch cimport LANES, aligned, evk_machine, evk_network, functions, whole_packs
from evoke._core.kernel cimport Kernel, to_columns
from evoke._core.lstm cimport Block, Network, Segments, pack_cells, step_cells, weights_size
from evoke._core.readout cimport Fitted

cdef enum:
    STEPS_BETWEEN_SIGNALS = 1024


cdef class Feedback:
    """How networks run on their own output: the last n_outputs inputs are their outputs of the step before, scaled."""

    def __cinit__(self, Network network not None, size_t n_outputs, double scale, size_t row_size):
        if n_outputs > network.c.n_inputs:
            raise ValueError(f"the readout has {n_outputs} outputs, which do not fit into {network.c.n_inputs} inputs")
        self.n_outputs, self.scale = n_outputs, scale
        self.inputs = np.empty(network.c.n_inputs * LANES)
        self.row = aligned(max(1, row_size))
        self.outputs = np.empty(n_outputs)
        self.memory = np.zeros(3 * whole_packs(network.c.n_cells) * LANES)

    cdef void run(self, Block block, const double *x, const Segments *segments, const int64_t *stretch,
                  const Fitted *fitted, double *decisions, size_t ld) noexcept nogil:
        """Rows stretch[1]..stretch[2], after segment stretch[0], in which every network of the block reads its output.

        The first step still reads the true value of the step before. decisions[network][output][ld], a point per
        step."""
        cdef evk_network net
        cdef size_t k
        if not block.lanes_are_cells:
            self.run_together(block, x, segments, stretch, fitted, decisions, ld)
            return
        for k in range(block.n_networks):
            if not fitted[k].failed:
                net = block.network_alone(k)
                block.fetch(segments, stretch[0], k, &self.memory[0])
                self.run_alone(&net, x + <size_t>stretch[1] * net.n_inputs, 0, stretch[2] - stretch[1],
                               &fitted[k].machine, decisions + k * self.n_outputs * ld, 1, ld)

    cdef void run_together(self, Block block, const double *x, const Segments *segments, const int64_t *stretch,
                           const Fitted *fitted, double *decisions, size_t ld) noexcept nogil:
        """Lanes are networks."""
        cdef size_t I = block.net.n_inputs, n = self.n_outputs, i, k, o, t
        cdef int64_t parent = stretch[0], width = block.width
        cdef const double *before = <const double *>block.phi + (segments.end[parent] - 1) * width
        cdef double *memory = &self.memory[0]
        cdef double *now
        memcpy(memory, <const double *>block.states + (1 + segments.slot[parent]) * width,
               block.width * sizeof(double))
        for t in range(<size_t>(stretch[2] - stretch[1])):
            for i in range(I):
                for k in range(LANES):
                    self.inputs[i * LANES + k] = x[(<size_t>stretch[1] + t) * I + i]
            if t > 0:
                for o in range(n):
                    for k in range(block.n_networks):
                        self.inputs[(I - n + o) * LANES + k] = self.scale * decisions[(k * n + o) * ld + t - 1]
            now = memory + (1 + (t & 1)) * block.width
            functions.lstm_networks_own_inputs(&block.net, &self.inputs[0], before, memory, now)
            for k in range(block.n_networks):
                if not fitted[k].failed:
                    self.decide(&fitted[k].machine, now + k, LANES, decisions + k * n * ld + t, ld)
            before = now

    cdef void run_alone(self, const evk_network *net, const double *x, int64_t begin, int64_t end,
                        const evk_machine *machine, double *decisions, size_t step, size_t output) noexcept nogil:
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
            now = step_cells(net, &self.inputs[0], t, &self.memory[0])
            self.decide(machine, now, 1, decisions + <size_t>t * step, output)

    cdef void decide(self, const evk_machine *machine, const double *phi, size_t stride, double *decisions,
                     size_t ld) noexcept nogil:
        """decisions[output][ld] of one network whose activations are phi[cell][stride]."""
        cdef size_t o
        functions.decide_point(machine, phi, stride, &self.row[0], &self.outputs[0])
        for o in range(self.n_outputs):
            decisions[o * ld] = self.outputs[o]


def run_free(Network network not None, const double[:, ::1] x not None, const double[:, ::1] state not None,
             double feedback_scale, readout not None):
    """Outputs (n_steps, n_outputs) of one network that feeds on its own output, and its last state (2, n_cells).

    x (n_steps, n_inputs): the last n_outputs inputs of the first step are used as they are, later ones take the outputs
    of the step before. The readout has support_vectors (m, n_cells), dual_coef (m, n_outputs), intercept and kernel."""
    cdef const double[:, ::1] genome = network.array
    cdef const double[:, ::1] support_vectors = readout.support_vectors
    cdef const double[:, ::1] dual_coef = readout.dual_coef
    cdef const double[::1] intercept = readout.intercept
    cdef Py_ssize_t H = genome.shape[0], m = support_vectors.shape[0], n_outputs = intercept.shape[0]
    cdef size_t ld = whole_packs(m), packed = whole_packs(H), h
    network.check_inputs(x.shape[1])
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
    cdef Kernel kernel = <Kernel?>readout.kernel
    cdef double[::1] columns = aligned(max(1, H * ld))
    cdef double[::1] coef = aligned(max(1, n_outputs * ld))
    if m > 0:
        to_columns(&support_vectors[0, 0], m, H, ld, &columns[0])
        to_columns(&dual_coef[0, 0], m, n_outputs, ld, &coef[0])
    cdef evk_machine machine
    machine.kernel, machine.n_outputs = &kernel.c, n_outputs
    machine.sv.x, machine.sv.n, machine.sv.d, machine.sv.ld = &columns[0], m, H, ld
    machine.coef, machine.bias = &coef[0], &intercept[0]
    cdef evk_network net = network.c
    cdef double[::1] weights = aligned(weights_size(&net))
    pack_cells(&net, &genome[0, 0], &weights[0])
    net.weights = &weights[0]
    cdef Feedback feedback = Feedback(network, n_outputs, feedback_scale, ld)
    feedback.memory[:H] = state[0]
    feedback.memory[2 * packed:2 * packed + H] = state[1]
    cdef Py_ssize_t begin, end
    for begin in range(0, x.shape[0], STEPS_BETWEEN_SIGNALS):
        PyErr_CheckSignals()
        end = min(begin + STEPS_BETWEEN_SIGNALS, x.shape[0])
        with nogil:
            feedback.run_alone(&net, &x[0, 0], begin, end, &machine, &out[0, 0], n_outputs, 1)
    cdef size_t now = 1 + (x.shape[0] - 1) % 2
    for h in range(<size_t>H):
        last[0, h] = feedback.memory[h]
        last[1, h] = feedback.memory[now * packed + h]
    return result, final

"""Networks that run on their own output."""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from libc.string cimport memcpy

import numpy as np

from evoke._core.dispatch cimport aligned, evk_lstm, kernels
from evoke._core.kernel cimport Kernel
from evoke._core.lstm cimport Block, Network, Runs, pack_cells, step_cells, weights_size, whole_packs
from evoke._core.readout cimport Fitted

cdef enum:
    LANES = 8
    STEPS_BETWEEN_SIGNALS = 1024


cdef void decide(const Feedback *feedback, const Fitted *fitted, const double *phi, size_t stride, double *decisions,
                 size_t ld) noexcept nogil:
    """decisions[output][ld] of one network whose activations are phi[cell][stride]."""
    cdef size_t o
    kernels.decide_point(feedback.kernel, &fitted.sv, fitted.coef, fitted.bias, feedback.n_outputs, phi, stride,
                         feedback.row, feedback.outputs)
    for o in range(feedback.n_outputs):
        decisions[o * ld] = feedback.outputs[o]


cdef void run_free_together(Block block, const double *x, const Runs *flow, const int64_t *segment,
                            const Feedback *feedback, const Fitted *fitted, double *memory, double *decisions,
                            size_t ld) noexcept nogil:
    """Steps of one segment (parent run, begin, end) in which every network feeds on its own output; lanes are networks.

    The first step still reads the true value of the step before. decisions[lane][output][ld], a step a point."""
    cdef size_t I = block.net.n_inputs, n = feedback.n_outputs, i, k, o, t
    cdef const double *before = <const double *>block.phi + (flow.end[segment[0]] - 1) * <int64_t>block.width
    cdef const double *start = <const double *>block.states + (1 + flow.slot[segment[0]]) * <int64_t>block.width
    cdef double *now
    memcpy(memory, start, block.width * sizeof(double))
    for t in range(<size_t>(segment[2] - segment[1])):
        for i in range(I):
            for k in range(LANES):
                feedback.inputs[i * LANES + k] = x[(<size_t>segment[1] + t) * I + i]
        if t > 0:
            for o in range(n):
                for k in range(block.n_networks):
                    feedback.inputs[(I - n + o) * LANES + k] = feedback.scale * decisions[(k * n + o) * ld + t - 1]
        now = memory + (1 + (t & 1)) * block.width
        kernels.lstm_networks_apart(&block.net, <const double *>block.weights, feedback.inputs, before, memory, now)
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


cdef void run_block_free(Block block, const double *x, const Runs *flow, const int64_t *segment, const Feedback *feedback,
                   const Fitted *fitted, double *memory, double *decisions, size_t ld) noexcept nogil:
    """Steps of one segment in which every network of the block feeds on its own output; see run_free_together."""
    cdef size_t k
    if not block.apart:
        run_free_together(block, x, flow, segment, feedback, fitted, memory, decisions, ld)
        return
    for k in range(block.n_networks):
        if not fitted[k].failed:
            block.fetch(flow, segment[0], k, memory)
            run_free_alone(&block.net, <const double *>block.weights + k * block.size,
                           x + <size_t>segment[1] * block.net.n_inputs, 0, segment[2] - segment[1], feedback,
                           &fitted[k], memory, decisions + k * feedback.n_outputs * ld, 1, ld)


def run_free(Network network not None, const double[:, ::1] x not None, const double[:, ::1] state not None,
             double feedback_scale, readout not None):
    """Outputs (n_steps, n_outputs) of one network that feeds on its own output, and its last state (2, n_cells).

    x (n_steps, n_inputs): the last n_outputs inputs of the first step are used as they are, later ones take the outputs
    of the step before. The readout has support_vectors (m, n_cells), dual_coef (m, n_outputs), intercept and kernel."""
    cdef const double[:, ::1] genome = network.genome
    cdef const double[:, ::1] sv = readout.support_vectors
    cdef const double[:, ::1] coef = readout.dual_coef
    cdef const double[::1] intercept = readout.intercept
    cdef Kernel kernel = readout.kernel
    cdef size_t H = genome.shape[0], m = sv.shape[0], n_outputs = intercept.shape[0], ld = whole_packs(m)
    cdef size_t packed = whole_packs(H), h
    if <size_t>x.shape[1] != network.c.n_inputs or x.shape[1] < intercept.shape[0]:
        raise ValueError(f"genome has {genome.shape[1]} columns: no fit for {x.shape[1]} inputs, {n_outputs} outputs")
    if state.shape[0] != 2 or state.shape[1] != genome.shape[0]:
        raise ValueError(f"state must have shape {(2, H)}, got {(state.shape[0], state.shape[1])}")
    if sv.shape[1] != genome.shape[0] or coef.shape[0] != sv.shape[0] or coef.shape[1] != intercept.shape[0]:
        raise ValueError("the readout does not fit the network: sv (m, n_cells), coef (m, n_outputs)")
    cdef evk_lstm net = network.c
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
    cdef double[::1] weights = aligned(weights_size(&net))
    cdef double[::1] memory = np.zeros(3 * packed)
    cdef double[::1] inputs = np.empty(x.shape[1])
    cdef double[::1] outputs = np.empty(n_outputs)
    cdef double[::1] row = aligned(max(1, ld))
    cdef Feedback feedback
    feedback.n_outputs, feedback.scale = n_outputs, feedback_scale
    feedback.kernel = &kernel.c
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

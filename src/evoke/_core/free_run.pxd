from libc.stdint cimport int64_t

from evoke._core.dispatch cimport evk_kernel
from evoke._core.lstm cimport Block, Runs
from evoke._core.readout cimport Fitted

cdef struct Feedback:
    # How networks run on their own output: the last n_outputs inputs are their outputs of the step before, scaled.
    # Work space: inputs[n_inputs][8], row for the kernel values of a point, outputs of a point.
    size_t n_outputs
    double scale
    const evk_kernel *kernel
    double *inputs
    double *row
    double *outputs

cdef void run_block_free(Block block, const double *x, const Runs *flow, const int64_t *segment, const Feedback *feedback,
                   const Fitted *fitted, double *memory, double *decisions, size_t ld) noexcept nogil

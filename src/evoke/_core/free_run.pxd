from libc.stdint cimport int64_t

from evoke._core.dispatch cimport evk_machine, evk_network
from evoke._core.lstm cimport Block, Segments
from evoke._core.readout cimport Fitted

cdef class Feedback:
    cdef size_t n_outputs
    cdef double scale
    # work space: inputs [n_inputs][LANES], kernel values of a point, its outputs, states of cells
    cdef double[::1] inputs, row, outputs, memory
    cdef void run(self, Block block, const double *x, const Segments *segments, const int64_t *stretch,
                  const Fitted *fitted, double *decisions, size_t ld) noexcept nogil
    cdef void run_together(self, Block block, const double *x, const Segments *segments, const int64_t *stretch,
                           const Fitted *fitted, double *decisions, size_t ld) noexcept nogil
    cdef void run_alone(self, const evk_network *net, const double *x, int64_t begin, int64_t end,
                        const evk_machine *machine, double *decisions, size_t step, size_t output) noexcept nogil
    cdef void decide(self, const evk_machine *machine, const double *phi, size_t stride, double *decisions,
                     size_t ld) noexcept nogil

from libc.stdint cimport int64_t

from evoke._kernels cimport evk_lstm

cdef struct Runs:
    # Stretches of rows through which the state flows. A run starts from zero (parent -1) or from the end of an earlier
    # run, so that sequences with a common beginning share its rows. slot: where its last state is kept, -1 = nowhere.
    size_t n
    const int64_t *begin
    const int64_t *end
    const int64_t *parent
    const int64_t *slot

cdef size_t weights_size(const evk_lstm *net) noexcept nogil
cdef void pack_genomes(const evk_lstm *net, const double *genomes, size_t n_networks, double *weights) noexcept nogil
cdef void forward_block(const evk_lstm *net, const double *weights, const double *x, const Runs *runs,
                        const double *zeros, double *states, double *phi) noexcept nogil
cdef evk_lstm make_net(Py_ssize_t n_inputs, Py_ssize_t n_cells, str cell, gate_bias) except *

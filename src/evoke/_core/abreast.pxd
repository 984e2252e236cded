from libc.stdint cimport int64_t

from evoke._core.dispatch cimport EVK_ABREAST, evk_network, evk_steps, real

cdef struct Reader:
    # A sequence under way: rows [row, end) are still to be read.
    int64_t row, end
    int64_t name    # the caller's own
    size_t place    # below EVK_ABREAST: the part of all memory that is its own
    # in the precision of the network: the cells' states, and their outputs after the last step and the one before
    void *state
    void *now
    void *before
    # inputs of the next rows that are added up already
    size_t n_sums
    void *sums

cdef class Abreast:
    cdef Reader readers[EVK_ABREAST]
    cdef size_t n, n_inputs, n_packs, part, most, rows_at_once, steps_left
    cdef bint lanes_are_cells, inputs_apart
    cdef unsigned char[::1] memory
    cdef void *sums
    cdef evk_steps steps
    cdef void begin(self, size_t n_sequences) noexcept nogil
    cdef bint has_room(self) noexcept nogil
    cdef Reader *add(self, int64_t row, int64_t end, int64_t name) noexcept nogil
    cdef bint holds(self, int64_t name) noexcept nogil
    cdef void remove(self, size_t k) noexcept nogil
    cdef void add_inputs(self, const evk_network *net, const real *x) noexcept nogil
    cdef void step(self, const evk_network *net, const real *x) noexcept nogil
    cdef void step_alone(self, const evk_network *net, const real *x) noexcept nogil

cdef bint is_wide(const evk_network *net) noexcept nogil
cdef size_t sources_each_step(const evk_network *net) noexcept nogil

from libc.stdint cimport int64_t

from evoke._core.abreast cimport Abreast, Reader
from evoke._core.dispatch cimport evk_network, real

cdef struct Segments:
    # Segments of rows through which the state flows. One starts from zero (parent -1) or from the end of an earlier,
    # so that sequences with a common beginning share its rows. slot: where its last state is kept, -1 = nowhere.
    size_t n
    int64_t n_slots
    const int64_t *begin
    const int64_t *end
    const int64_t *parent
    const int64_t *slot

cdef class Network:
    cdef evk_network c  # what the functions of the C core take
    cdef object array  # the genome; nobody else has this view, so that its shape stays what `c` says
    cdef const void *first  # number of the array
    cdef size_t bytes_each  # of a network
    cdef const void *genome_at(self, Py_ssize_t k) noexcept nogil
    cdef int check_inputs(self, Py_ssize_t n_columns) except -1

cdef Segments make_segments(const int64_t[:, ::1] table, Py_ssize_t n_rows) except *
cdef int check_offsets(const int64_t[::1] offsets, Py_ssize_t n_rows, int64_t least) except -1
cdef size_t weights_size(const evk_network *net, size_t lanes=*) noexcept nogil
cdef void pack_cells(const evk_network *net, const real *genome, real *weights) noexcept nogil
cdef void pack_networks(const evk_network *net, const real *genomes, size_t n_networks, real *weights) noexcept nogil
cdef void get_lane(const real *values, size_t lane, size_t n_cells, real *out) noexcept nogil
cdef void put_lane(const real *values, size_t n_cells, real *out, size_t lane) noexcept nogil
cdef void step_networks(const evk_network *net, const real *x, const real *before, real *state,
                        real *phi) noexcept nogil
cdef int check_signals() except -1 nogil
cdef Py_ssize_t check_population(Network networks) except -1
cdef const void *rows_for(Network networks, const double[:, ::1] rows, list kept) except NULL
cdef real *step_cells(const evk_network *net, const real *x, int64_t t, real *state) noexcept nogil

cdef class Block:
    cdef evk_network net
    cdef size_t n_networks, lanes, width, packed, size, row_stride, cell_stride, network_stride
    cdef bint lanes_are_cells, is_wide, finite
    cdef Abreast abreast  # None for small networks in double precision
    cdef unsigned char[::1] memory
    # parts of the memory: doubles or floats
    cdef void *weights
    cdef void *zeros
    cdef void *states
    cdef void *phi
    cdef void load(self, const void *genomes, size_t n_networks) noexcept nogil
    cdef void pack_all(self, const real *genomes) noexcept nogil
    cdef evk_network network_alone(self, size_t lane) noexcept nogil
    cdef int run(self, const void *x, const Segments *segments) except -1 nogil
    cdef int run_all(self, const real *x, const Segments *segments) except -1 nogil
    cdef int run_together(self, const real *x, const Segments *segments) except -1 nogil
    cdef int run_abreast(self, const real *x, const Segments *segments, const evk_network *net,
                         size_t lane) except -1 nogil
    cdef void continue_from(self, const Segments *segments, int64_t k, size_t lane, real *state,
                            real *phi) noexcept nogil
    cdef void end(self, const Segments *segments, size_t lane, const Reader *reader, const real *state) noexcept nogil
    cdef void gather(self, const int64_t *rows, size_t n, size_t ld, size_t network, double *columns) noexcept nogil
    cdef void fetch(self, const Segments *segments, int64_t k, size_t lane, real *state) noexcept nogil

from libc.stdint cimport int32_t, int64_t, uint8_t

ctypedef fused real:
    double
    float

cdef extern from "pack.h":
    cpdef enum:
        LANES "EVK_LANES_DOUBLE"
        LANES_SINGLE "EVK_LANES_SINGLE"
        PACK_BYTES "EVK_PACK_BYTES"

cdef extern from "dispatch.h" nogil:
    ctypedef enum evk_status:
        EVK_OK

    ctypedef struct evk_network:
        size_t n_inputs, n_cells
        int32_t cell
        double input_bias, forget_bias, output_bias
        const void *weights

    cdef enum:
        EVK_ABREAST
        EVK_ROWS

    ctypedef struct evk_steps:
        size_t n
        const void *x[EVK_ABREAST]
        const void *sums[EVK_ABREAST]
        const void *before[EVK_ABREAST]
        void *state[EVK_ABREAST]
        void *phi[EVK_ABREAST]

    ctypedef struct evk_kernel:
        int32_t kind, degree
        double gamma, coef0

    cdef enum:
        EVK_DECIDED

    cdef enum:
        EVK_LINEAR
        EVK_RBF
        EVK_DISTANCE

    ctypedef struct evk_columns:
        const double *x
        size_t n, d, ld

    ctypedef struct evk_rows:
        const double *x
        size_t n, d

    ctypedef struct evk_machine:
        const evk_kernel *kernel
        evk_columns sv
        const double *coef
        const double *bias
        size_t n_outputs

    ctypedef struct evk_machine_rows:
        const evk_kernel *kernel
        evk_rows sv
        const double *coef
        const double *bias
        size_t n_outputs

    ctypedef struct evk_landmarks:
        const evk_kernel *kernel
        evk_columns points
        size_t n_outputs, width

    ctypedef struct evk_gram:
        double *rows
        double *diagonal
        evk_columns points
        int32_t *slot_of
        int32_t *owner_of
        int64_t n_computed

    ctypedef struct evk_qp:
        evk_gram *gram
        const double *target
        const double *lower
        const double *upper
        double epsilon, tol
        int64_t max_iter, n_iter
        double *beta
        double *residual
        double bias, objective, gap, violation, resolution
        int32_t converged
        evk_status status

    ctypedef struct evk_least_squares:
        double *columns
        double *targets
        size_t n, d, n_targets
        double rcond

    ctypedef struct evk_loo:
        size_t n, ld, n_outputs
        const double *kernel
        const double *ridge
        const double *targets
        const int64_t *blocks
        size_t n_blocks
        double *work
        double *coef
        double *bias
        double *decisions

    cdef enum evk_statistic:
        EVK_LAST
        EVK_MEAN
        EVK_STD
        EVK_MAX
        EVK_MIN
        EVK_POSITIVE
        EVK_CHANGE
        EVK_THIRD
        EVK_STATISTICS

    ctypedef struct evk_pool:
        size_t width, n_steps
        double *values

    ctypedef struct evk_poll:
        int (*ask)(const void *data) except -1 nogil
        const void *data
        size_t interval, done

    ctypedef struct evk_functions:
        const char *name
        void (*exp)(const double *x, size_t n, double *y) noexcept nogil
        void (*logistic)(const double *x, size_t n, double *y) noexcept nogil
        void (*tanh)(const double *x, size_t n, double *y) noexcept nogil
        void (*tanpi)(const double *x, size_t n, double *y) noexcept nogil
        void (*lstm_networks)(const evk_network *net, const double *x, const double *phi_before, double *state,
                              double *phi) noexcept nogil
        void (*lstm_networks_own_inputs)(const evk_network *net, const double *x, const double *phi_before,
                                         double *state, double *phi) noexcept nogil
        void (*lstm_sequences)(const evk_network *net, const double *x, const double *phi_before, double *state,
                               double *phi) noexcept nogil
        void (*lstm_cells)(const evk_network *net, const double *x, const double *phi_before, double *state,
                           double *phi) noexcept nogil
        void (*lstm_networks_abreast)(const evk_network *net, const evk_steps *steps) noexcept nogil
        void (*lstm_cells_abreast)(const evk_network *net, const evk_steps *steps) noexcept nogil
        void (*lstm_inputs)(const evk_network *net, size_t n_packs, size_t n, const void *const *x,
                            void *const *sums) noexcept nogil
        void (*logistic_single)(const float *x, size_t n, float *y) noexcept nogil
        void (*tanh_single)(const float *x, size_t n, float *y) noexcept nogil
        void (*lstm_networks_single)(const evk_network *net, const float *x, const float *phi_before, float *state,
                                     float *phi) noexcept nogil
        void (*lstm_sequences_single)(const evk_network *net, const float *x, const float *phi_before, float *state,
                                      float *phi) noexcept nogil
        void (*lstm_cells_single)(const evk_network *net, const float *x, const float *phi_before, float *state,
                                  float *phi) noexcept nogil
        void (*lstm_networks_abreast_single)(const evk_network *net, const evk_steps *steps) noexcept nogil
        void (*lstm_cells_abreast_single)(const evk_network *net, const evk_steps *steps) noexcept nogil
        void (*lstm_inputs_single)(const evk_network *net, size_t n_packs, size_t n, const void *const *x,
                                   void *const *sums) noexcept nogil
        void (*gram_row)(const evk_kernel *kernel, const evk_columns *x, size_t begin, size_t end, const double *z,
                         size_t z_stride, double *row) noexcept nogil
        void (*gram_of_distances)(const double *distances, size_t n, size_t ld, double gamma,
                                  double *kernel) noexcept nogil
        int (*gram_fill)(evk_gram *gram, evk_poll *poll) except? -1 nogil
        void (*gram_diagonal)(evk_gram *gram) noexcept nogil
        void (*decide)(const evk_machine_rows *machine, const evk_rows *x, double *work,
                       double *decisions) noexcept nogil
        int (*decide_columns)(const evk_machine *machine, const evk_columns *x, double *row, double *decisions,
                              evk_poll *poll) except? -1 nogil
        void (*decide_point)(const evk_machine *machine, const double *z, size_t z_stride, double *row,
                             double *decisions) noexcept nogil
        ptrdiff_t (*cholesky)(double *a, size_t n, size_t ld, evk_poll *poll) except? -1 nogil
        ptrdiff_t (*cholesky_inverse)(double *a, size_t n, size_t ld, size_t stride, evk_poll *poll) except? -1 nogil
        void (*cholesky_solve)(const double *u, size_t n, size_t ld, double *b) noexcept nogil
        ptrdiff_t (*pinv)(const evk_least_squares *problem, double *work, double *weights,
                          evk_poll *poll) except? -1 nogil
        int (*loo)(const evk_loo *loo, evk_poll *poll) except? -1 nogil
        void (*landmark_rows)(const evk_landmarks *landmarks, const double *x, const double *targets,
                              const double *roots, size_t n, double *rows) noexcept nogil
        void (*add_products)(const double *rows, size_t n, size_t width, double *sums) noexcept nogil
        void (*pool_add)(const evk_pool *pool, size_t t, const double *before, const double *phi) noexcept nogil
        void (*pool_end)(const evk_pool *pool, const double *phi) noexcept nogil
        size_t (*standardise)(double *columns, size_t n, size_t d, size_t ld, double *mean,
                              double *inverse) noexcept nogil
        void (*qp_begin)(evk_qp *qp) noexcept nogil
        int (*qp_run)(evk_qp *qp, int64_t budget) noexcept nogil
        void (*qp_certify)(evk_qp *qp) noexcept nogil

    size_t evk_landmarks_width(size_t n_landmarks, size_t n_outputs)
    size_t evk_loo_work_size(size_t n, size_t n_outputs, size_t largest)
    size_t evk_pinv_work_size(size_t n, size_t d)
    size_t evk_qp_work_size(size_t n, size_t face_capacity)
    void evk_qp_place(evk_qp *qp, size_t n, size_t face_capacity, double *work)
    size_t evk_gram_work_size(size_t n, size_t n_slots)
    void evk_gram_place(evk_gram *gram, const evk_kernel *kernel, evk_columns points, size_t n_slots, double *work)

    evk_status evk_functions_select(const char *name, const evk_functions **out)
    const evk_functions *evk_functions_at(size_t k)
    int evk_functions_supported(const evk_functions *functions)
    const char *evk_status_message(evk_status status)

# The table chosen when the package was imported; every other module calls the C core through it.
cdef const evk_functions *functions
cdef aligned(size_t n, dtype=*)

cdef inline size_t whole_packs(size_t n, size_t lanes=LANES) noexcept nogil:
    return (n + lanes - 1) // lanes * lanes

cdef int check(evk_status status) except -1
cdef evk_poll make_poll(const int64_t *stop) noexcept

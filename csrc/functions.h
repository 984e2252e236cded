/* The functions that are compiled once per instruction set, and the table that carries one set of them. */
#ifndef EVK_FUNCTIONS_H
#define EVK_FUNCTIONS_H

#include "gram.h"
#include "landmarks.h"
#include "linalg.h"
#include "loo.h"
#include "lstm.h"
#include "poll.h"
#include "pool.h"
#include "qp.h"

/* One line per function: X(return type, name, parameters). Those that take a poll return -1 where it ended them. */
#define EVK_FUNCTIONS(X) \
    X(void, exp, (const double *x, size_t n, double *y)) \
    X(void, logistic, (const double *x, size_t n, double *y)) \
    X(void, tanh, (const double *x, size_t n, double *y)) \
    X(void, tanpi, (const double *x, size_t n, double *y)) \
    X(void, lstm_networks, \
      (const evk_network *net, const double *x, const double *phi_before, double *state, double *phi)) \
    X(void, lstm_networks_own_inputs, \
      (const evk_network *net, const double *x, const double *phi_before, double *state, double *phi)) \
    X(void, lstm_sequences, \
      (const evk_network *net, const double *x, const double *phi_before, double *state, double *phi)) \
    X(void, lstm_cells, \
      (const evk_network *net, const double *x, const double *phi_before, double *state, double *phi)) \
    X(void, lstm_networks_abreast, (const evk_network *net, const evk_steps *steps)) \
    X(void, lstm_cells_abreast, (const evk_network *net, const evk_steps *steps)) \
    X(void, lstm_inputs, (const evk_network *net, size_t n_packs, size_t n, const void *const *x, void *const *sums)) \
    X(void, logistic_single, (const float *x, size_t n, float *y)) \
    X(void, tanh_single, (const float *x, size_t n, float *y)) \
    X(void, lstm_networks_single, \
      (const evk_network *net, const float *x, const float *phi_before, float *state, float *phi)) \
    X(void, lstm_sequences_single, \
      (const evk_network *net, const float *x, const float *phi_before, float *state, float *phi)) \
    X(void, lstm_cells_single, \
      (const evk_network *net, const float *x, const float *phi_before, float *state, float *phi)) \
    X(void, lstm_networks_abreast_single, (const evk_network *net, const evk_steps *steps)) \
    X(void, lstm_cells_abreast_single, (const evk_network *net, const evk_steps *steps)) \
    X(void, lstm_inputs_single, \
      (const evk_network *net, size_t n_packs, size_t n, const void *const *x, void *const *sums)) \
    X(void, gram_row, \
      (const evk_kernel *kernel, const evk_columns *x, size_t begin, size_t end, const double *z, size_t z_stride, \
       double *row)) \
    X(void, gram_of_distances, (const double *distances, size_t n, size_t ld, double gamma, double *kernel)) \
    X(int, gram_fill, (evk_gram * gram, evk_poll * poll)) \
    X(void, gram_diagonal, (evk_gram * gram)) \
    X(void, decide, (const evk_machine_rows *machine, const evk_rows *x, double *work, double *decisions)) \
    X(int, decide_columns, \
      (const evk_machine *machine, const evk_columns *x, double *row, double *decisions, evk_poll *poll)) \
    X(void, decide_point, \
      (const evk_machine *machine, const double *z, size_t z_stride, double *row, double *decisions)) \
    X(ptrdiff_t, cholesky, (double *a, size_t n, size_t ld, evk_poll *poll)) \
    X(ptrdiff_t, cholesky_inverse, (double *a, size_t n, size_t ld, size_t stride, evk_poll *poll)) \
    X(void, cholesky_solve, (const double *u, size_t n, size_t ld, double *b)) \
    X(ptrdiff_t, pinv, (const evk_least_squares *problem, double *work, double *weights, evk_poll *poll)) \
    X(int, loo, (const evk_loo *loo, evk_poll *poll)) \
    X(void, landmark_rows, \
      (const evk_landmarks *landmarks, const double *x, const double *targets, const double *roots, size_t n, \
       double *rows)) \
    X(void, add_products, (const double *rows, size_t n, size_t width, double *sums)) \
    X(void, pool_add, (const evk_pool *pool, size_t t, const double *before, const double *phi)) \
    X(void, pool_end, (const evk_pool *pool, const double *phi)) \
    X(size_t, standardise, (double *columns, size_t n, size_t d, size_t ld, double *mean, double *inverse)) \
    X(void, qp_begin, (evk_qp * qp)) \
    X(int, qp_run, (evk_qp * qp, int64_t budget)) \
    X(void, qp_certify, (evk_qp * qp))

#define EVK_CAT3_(a, b, c) a##b##c
#define EVK_CAT3(a, b, c) EVK_CAT3_(a, b, c)
#define EVK_FN(name) EVK_CAT3(evk_##name, _, EVK_ISA)

typedef struct evk_functions {
    const char *name;
#define X(type, name, parameters) type(*name) parameters;
    EVK_FUNCTIONS(X)
#undef X
} evk_functions;

#ifdef EVK_ISA /* in a source that is compiled once per instruction set: declare the functions of this one */
#define X(type, name, parameters) type EVK_FN(name) parameters;
EVK_FUNCTIONS(X)
#undef X
#endif

#endif

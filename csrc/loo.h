/* Least-squares support vector machines, and the exact leave-one-out decisions of all their points at once. */
#ifndef EVK_LOO_H
#define EVK_LOO_H

#include <stddef.h>

/* [A, 1; 1', 0] [coef; bias] = [y; 0] with A = K + diag(ridge), for several targets.
 *
 * The decision of a machine trained without point i is y_i - coef_i / M_ii, M the inverse of the bordered matrix
 * (Cawley and Talbot, 2007; the identity holds for weighted points too). */
typedef struct evk_loo {
    size_t n, ld, n_outputs;
    const double *kernel;  /* [n][ld]: the upper triangle of K */
    const double *ridge;   /* n */
    const double *targets; /* [n_outputs][n] */
    double *work;          /* n * evk_loo_width + (2 + n_outputs) * ld */
    double *coef;          /* out: [n_outputs][ld] */
    double *bias;          /* out: n_outputs */
    double *decisions;     /* out: [n_outputs][ld] */
} evk_loo;

/* Doubles of a row of the matrix that is factored: A, the right-hand sides, and the inverse of its factor. */
size_t evk_loo_width(size_t n, size_t n_outputs);
size_t evk_loo_work_size(size_t n, size_t n_outputs); /* 0 on overflow */

#endif

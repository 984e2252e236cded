/* Least-squares support vector machines, and the exact decisions on all their points by machines without them. */
#ifndef EVK_LOO_H
#define EVK_LOO_H

#include <stddef.h>
#include <stdint.h>

/* [A, 1; 1', 0] [coef; bias] = [y; 0] with A = K + diag(ridge), for several targets.
 *
 * The decision of a machine trained without point i is y_i - coef_i / M_ii, M the inverse of the bordered matrix
 * (Cawley and Talbot, 2007; the identity holds for weighted points too). Of a machine trained without a block B of points
 * the decisions on B are y_B - inverse(M_BB) coef_B. */
typedef struct evk_loo {
    size_t n, ld, n_outputs;
    const double *kernel;  /* [n][ld]: the upper triangle of K */
    const double *ridge;   /* n */
    const double *targets; /* [n_outputs][n] */
    const int64_t *blocks; /* n_blocks + 1: where each begins, and the last ends; NULL: every point is one */
    size_t n_blocks;
    double *work;          /* evk_loo_work_size */
    double *coef;          /* out: [n_outputs][ld] */
    double *bias;          /* out: n_outputs */
    double *decisions;     /* out: [n_outputs][ld] */
} evk_loo;

/* Doubles of a row of the matrix that is factored: A, the right-hand sides, and the inverse of its factor. */
size_t evk_loo_width(size_t n, size_t n_outputs);
/* For blocks of at most so many points; 0 on overflow. */
size_t evk_loo_work_size(size_t n, size_t n_outputs, size_t largest);

#endif

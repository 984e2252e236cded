/* Dense linear algebra of the least-squares readouts: Cholesky factorisation, pseudoinverse. */
#ifndef EVK_LINALG_H
#define EVK_LINALG_H

#include <stddef.h>

/* Find the weights with which the columns add up to the targets. Singular values of the columns below rcond times the
 * largest count as zero. */
typedef struct evk_least_squares {
    double *columns, *targets; /* columns[d][n], targets[n_targets][n] */
    size_t n, d, n_targets;
    double rcond;
} evk_least_squares;

/* Doubles of work space of `pinv` for n points of d features; 0 where that overflows. */
size_t evk_pinv_work_size(size_t n, size_t d);

#endif

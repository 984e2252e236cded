/* Summary statistics of activations over a sequence, kept up to date step by step: no step's activations are stored. */
#ifndef EVK_POOL_H
#define EVK_POOL_H

#include <stddef.h>

/* The statistics in the order in which a pool holds them. */
typedef enum evk_statistic {
    EVK_LAST = 0, /* the last step's */
    EVK_MEAN = 1,
    EVK_STD = 2, /* while the sequence is read, the sum of squared deviations (Welford) */
    EVK_MAX = 3,
    EVK_MIN = 4,
    EVK_POSITIVE = 5, /* share of steps above zero */
    EVK_CHANGE = 6, /* mean size of the change from step to step; 0 for a single step */
    EVK_THIRD = 7, /* means of the first, the second and the last third, three in a row */
    EVK_STATISTICS = 10
} evk_statistic;

typedef struct evk_pool {
    size_t width; /* doubles of a statistic: activations in whole packs */
    size_t n_steps; /* of the sequence */
    double *values; /* [statistic][width] */
} evk_pool;

/* The steps of third k, begin to end: a third of them, and at least one. */
static inline size_t evk_third_begin(size_t n_steps, size_t k) { return k * n_steps / 3; }
static inline size_t evk_third_end(size_t n_steps, size_t k)
{
    const size_t begin = evk_third_begin(n_steps, k), end = (k + 1) * n_steps / 3;
    return end > begin ? end : begin + 1;
}

#endif

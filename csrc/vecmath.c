/* The vector functions over plain arrays, for tests, benchmarks and Cauchy mutation. */
#include "kernels.h"
#include "vecmath.h"

#define EVK_OVER_ARRAY(name) \
    void EVK_FN(name)(const double *x, size_t n, double *y) \
    { \
        size_t i = 0; \
        for (; i + EVK_LANES <= n; i += EVK_LANES) \
            pk_store(y + i, pk_##name(pk_load(x + i))); \
        if (i < n) { \
            double last[EVK_LANES] = {0}; \
            memcpy(last, x + i, (n - i) * sizeof *x); \
            pk_store(last, pk_##name(pk_load(last))); \
            memcpy(y + i, last, (n - i) * sizeof *y); \
        } \
    }

EVK_OVER_ARRAY(exp)
EVK_OVER_ARRAY(logistic)
EVK_OVER_ARRAY(tanh)
EVK_OVER_ARRAY(tanpi)

/* The vector functions over plain arrays, for tests, benchmarks and Cauchy mutation. */
#include "functions.h"

#ifdef EVK_SINGLE
#include "vecmath_single.h"
#define EVK_VECTOR(name) EVK_FN(name##_single)
#else
#include "vecmath.h"
#define EVK_VECTOR(name) EVK_FN(name)
#endif

#define EVK_OVER_ARRAY(name) \
    void EVK_VECTOR(name)(const real *x, size_t n, real *y) \
    { \
        size_t i = 0; \
        for (; i + EVK_LANES <= n; i += EVK_LANES) \
            pk_store(y + i, pk_##name(pk_load(x + i))); \
        if (i < n) { \
            real last[EVK_LANES] = {0}; \
            memcpy(last, x + i, (n - i) * sizeof *x); \
            pk_store(last, pk_##name(pk_load(last))); \
            memcpy(y + i, last, (n - i) * sizeof *y); \
        } \
    }

EVK_OVER_ARRAY(logistic)
EVK_OVER_ARRAY(tanh)
#ifndef EVK_SINGLE
EVK_OVER_ARRAY(exp)
EVK_OVER_ARRAY(tanpi)
#endif

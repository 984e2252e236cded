/* The kernel of two points from the sum of terms over their features. */
#ifndef EVK_KERNEL_VALUES_H
#define EVK_KERNEL_VALUES_H

#include "gram.h"
#include "vecmath.h"

static inline pk integer_power(pk base, int32_t exponent)
{
    pk result = pk_set1(1.0);
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = pk_mul(result, base);
        base = pk_mul(base, base);
    }
    return result;
}

/* The term of one feature of x and z joins a sum: (x - z)^2 or x z. */
EVK_INLINE pk evk_add_term(int kind, pk x, pk z, pk sum)
{
    if (kind == EVK_RBF || kind == EVK_DISTANCE) {
        const pk difference = pk_sub(x, z);
        return pk_fma(difference, difference, sum);
    }
    return pk_fma(x, z, sum);
}

/* From sums over the features of (x - z)^2 or x z to values. One loop an operation: the constants of a loop have the
 * registers to themselves. */
EVK_INLINE void evk_finish_values(int kind, const evk_kernel *kernel, size_t n_packs, pk *sum)
{
    if (kind == EVK_RBF) {
        for (size_t k = 0; k < n_packs; k++)
            sum[k] = pk_mul(pk_set1(-kernel->gamma), sum[k]);
        for (size_t k = 0; k < n_packs; k++)
            sum[k] = pk_exp(sum[k]);
    } else if (kind == EVK_POLY)
        for (size_t k = 0; k < n_packs; k++)
            sum[k] = integer_power(pk_fma(pk_set1(kernel->gamma), sum[k], pk_set1(kernel->coef0)), kernel->degree);
}

#endif

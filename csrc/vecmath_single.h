/* logistic and tanh on packs of floats; the bounds below are checked by tests/test_vecmath_single.c.
 *
 * exp(x) = 2^n exp(r) as in vecmath.h, with q the degree 4 Chebyshev fit (error 8e-9). n ln(2) is subtracted in one
 * fused step: a float of ln(2) is wrong by 1.9e-9 only. */
#ifndef EVK_VECMATH_SINGLE_H
#define EVK_VECMATH_SINGLE_H

#include "simd.h"

#define EVK_ROUND 0x1.8p23f /* adding it rounds to the nearest integer and leaves that in the low bits */

typedef struct { pk two_n, rest; } pk_reduced; /* exp(x) = two_n (1 + rest) */

/* the caller keeps |x| below 88 */
static inline pk_reduced pk_reduce_exp(pk x)
{
    const pk magic = pk_set1(EVK_ROUND + 127.0f); /* with the bias of the exponent of two_n */
    const pk shifted = pk_fma(x, pk_set1(0x1.715476p+0f), magic), n = pk_sub(shifted, magic);
    const pk r = pk_fnma(n, pk_set1(0x1.62e43p-1f), x), r2 = pk_mul(r, r);
    const pk q01 = pk_fma(pk_set1(0x1.5554dcp-3f), r, pk_set1(0x1.0p-1f));
    const pk q23 = pk_fma(pk_set1(0x1.120b6ep-7f), r, pk_set1(0x1.55551ap-5f));
    const pk q = pk_fma(pk_fma(pk_set1(0x1.6d110ap-10f), r2, q23), r2, q01);
    return (pk_reduced){pk_exponent(shifted), pk_fma(r2, q, r)};
}

/* 1 / (1 + exp(-x)), 5 ulp at -87; exactly 1 from about 17 on */
static inline pk pk_logistic(pk x)
{
    const pk_reduced e = pk_reduce_exp(pk_clamp(-87.0f, 87.0f, pk_sub(pk_set1(0.0f), x)));
    return pk_div(pk_set1(1.0f), pk_add(pk_set1(1.0f), pk_fma(e.two_n, e.rest, e.two_n)));
}

/* tanh(x) = m / (m + 2) with m = exp(2|x|) - 1, 3 ulp; exactly 1 from about 9 on */
static inline pk pk_tanh(pk x)
{
    const pk_reduced e = pk_reduce_exp(pk_min(pk_set1(20.0f), pk_mul(pk_set1(2.0f), pk_abs(x))));
    const pk m = pk_fma(e.two_n, e.rest, pk_sub(e.two_n, pk_set1(1.0f)));
    return pk_copysign(pk_div(m, pk_add(m, pk_set1(2.0f))), x);
}

#endif

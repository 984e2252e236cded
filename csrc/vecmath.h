/* exp, logistic, tanh and tan(pi x) on packs; the bounds below are checked by tests/test_vecmath.c.
 *
 * exp(x) = 2^n exp(r) with |r| <= ln(2)/2 and exp(r) = 1 + r + r^2 q(r), q the degree 9 Chebyshev fit (error 1.3e-17).
 * The same q gives exp(r) - 1 without cancellation, from which tanh keeps its relative accuracy near zero. */
#ifndef EVK_VECMATH_H
#define EVK_VECMATH_H

#include "simd.h"

#define EVK_ROUND 0x1.8p52 /* adding it rounds to the nearest integer and leaves that in the low bits */

typedef struct { pk two_n, r, r2q; } pk_reduced;

/* x = n ln(2) + r; the caller keeps |x| below 709 */
static inline pk_reduced pk_reduce_exp(pk x)
{
    const pk magic = pk_set1(EVK_ROUND + 1023.0); /* with the bias of the exponent of two_n */
    const pk shifted = pk_fma(x, pk_set1(0x1.71547652b82fep+0), magic);
    const pk n = pk_sub(shifted, magic);
    pk r = pk_fnma(n, pk_set1(0x1.62e42fefa3000p-1), x);
    r = pk_fnma(n, pk_set1(0x1.3de6af278ece6p-42), r);
    const pk r2 = pk_mul(r, r), r4 = pk_mul(r2, r2);
    const pk q01 = pk_fma(pk_set1(0x1.5555555555556p-3), r, pk_set1(0x1.0000000000001p-1));
    const pk q23 = pk_fma(pk_set1(0x1.11111111109adp-7), r, pk_set1(0x1.5555555553d4fp-5));
    const pk q45 = pk_fma(pk_set1(0x1.a01a01a7c8d47p-13), r, pk_set1(0x1.6c16c17893833p-10));
    const pk q67 = pk_fma(pk_set1(0x1.71de0d9c145d0p-19), r, pk_set1(0x1.a019b8ef67c6cp-16));
    const pk q89 = pk_fma(pk_set1(0x1.af38d53857513p-26), r, pk_set1(0x1.2891a8c1d838dp-22));
    const pk q03 = pk_fma(q23, r2, q01), q47 = pk_fma(q67, r2, q45);
    const pk q = pk_fma(pk_fma(q89, r4, q47), r4, q03);
    return (pk_reduced){pk_exponent(shifted), r, pk_mul(r2, q)};
}

/* exp(x), 1.1 ulp; 0 below -708; the largest finite power of two times exp(r) above 709 */
static inline pk pk_exp(pk x)
{
    const pk lowest = pk_set1(-708.0);
    const pk_reduced e = pk_reduce_exp(pk_clamp(-708.0, 709.0, x));
    const pk y = pk_mul(e.two_n, pk_add(pk_set1(1.0), pk_add(e.r, e.r2q)));
    return pk_select(pk_gt(lowest, x), pk_set1(0.0), y);
}

/* 1 / (1 + exp(-x)), 2.4 ulp above -708; exactly 1 from about 37 on */
static inline pk pk_logistic(pk x)
{
    const pk_reduced e = pk_reduce_exp(pk_clamp(-708.0, 708.0, pk_sub(pk_set1(0.0), x)));
    const pk exp_minus_x = pk_mul(e.two_n, pk_add(pk_set1(1.0), pk_add(e.r, e.r2q)));
    return pk_div(pk_set1(1.0), pk_add(pk_set1(1.0), exp_minus_x));
}

/* tanh(x) = m / (m + 2) with m = exp(2|x|) - 1, 3 ulp; exactly 1 from about 19 on */
static inline pk pk_tanh(pk x)
{
    const pk two_x = pk_min(pk_set1(44.0), pk_mul(pk_set1(2.0), pk_abs(x)));
    const pk_reduced e = pk_reduce_exp(two_x);
    const pk m = pk_fma(e.two_n, pk_add(e.r, e.r2q), pk_sub(e.two_n, pk_set1(1.0)));
    return pk_copysign(pk_div(m, pk_add(m, pk_set1(2.0))), x);
}

/* tan(pi x) for |x| <= 1/2, 4 ulp, from sin and cos of the smaller of |x| and 1/2 - |x| */
static inline pk pk_tanpi(pk x)
{
    const pk size = pk_abs(x), rest = pk_sub(pk_set1(0.5), size);
    const pk_mask folded = pk_gt(size, pk_set1(0.25));
    const pk w = pk_select(folded, rest, size), u = pk_mul(w, w);
    static const double s[] = {0x1.921fb54442d18p+1,  -0x1.4abbce625be53p+2, 0x1.466bc6775aad9p+1,
                               -0x1.32d2cce62ac22p-1, 0x1.50783485cbd83p-4,  -0x1.e3074b4ff3058p-8,
                               0x1.e8eed12ee00a3p-12, -0x1.6c5b875d4e739p-16};
    static const double c[] = {0x1.0000000000000p+0,  -0x1.3bd3cc9be45dep+2, 0x1.03c1f081b5aacp+2,
                               -0x1.55d3c7e3c90f8p+0, 0x1.e1f5068355e15p-3,  -0x1.a6d1ec7906c20p-6,
                               0x1.f9cc41140bb60p-10, -0x1.b264ba152378ap-14};
    pk sine = pk_set1(s[7]), cosine = pk_set1(c[7]);
    for (int k = 6; k >= 0; k--) {
        sine = pk_fma(sine, u, pk_set1(s[k]));
        cosine = pk_fma(cosine, u, pk_set1(c[k]));
    }
    sine = pk_mul(sine, w);
    const pk tangent = pk_div(pk_select(folded, cosine, sine), pk_select(folded, sine, cosine));
    return pk_copysign(tangent, x);
}

#endif

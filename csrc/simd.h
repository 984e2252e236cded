/* A pack of eight doubles, one implementation per instruction set.
 *
 * Every operation is correctly rounded and lane-wise, and the pack is eight wide on every machine, so a kernel written
 * with packs gives the same bits with one 512-bit register, two 256-bit registers or plain C. */
#ifndef EVK_SIMD_H
#define EVK_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EVK_LANES 8

typedef double real;

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)

typedef __m512d pk;
typedef __mmask8 pk_mask;
static inline pk pk_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void pk_store(double *p, pk a) { _mm512_storeu_pd(p, a); }
static inline pk pk_set1(double a) { return _mm512_set1_pd(a); }
static inline pk pk_add(pk a, pk b) { return _mm512_add_pd(a, b); }
static inline pk pk_sub(pk a, pk b) { return _mm512_sub_pd(a, b); }
static inline pk pk_mul(pk a, pk b) { return _mm512_mul_pd(a, b); }
static inline pk pk_div(pk a, pk b) { return _mm512_div_pd(a, b); }
static inline pk pk_fma(pk a, pk b, pk c) { return _mm512_fmadd_pd(a, b, c); }
static inline pk pk_fnma(pk a, pk b, pk c) { return _mm512_fnmadd_pd(a, b, c); }
static inline pk pk_max(pk a, pk b) { return _mm512_max_pd(a, b); }
static inline pk pk_min(pk a, pk b) { return _mm512_min_pd(a, b); }
static inline pk pk_abs(pk a) { return _mm512_abs_pd(a); }
static inline pk pk_copysign(pk magnitude, pk sign)
{
    return _mm512_or_pd(magnitude, _mm512_and_pd(sign, _mm512_set1_pd(-0.0)));
}
static inline pk_mask pk_gt(pk a, pk b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
static inline pk pk_select(pk_mask m, pk yes, pk no) { return _mm512_mask_blend_pd(m, no, yes); }
/* 2^n from the low bits of a double holding n + 1023 + 1.5 * 2^52 */
static inline pk pk_exponent(pk biased)
{
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(biased), 52));
}

#elif defined(__AVX2__)

typedef struct { __m256d a, b; } pk;
typedef struct { __m256d a, b; } pk_mask;
static inline pk pk_load(const double *p) { return (pk){_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)}; }
static inline void pk_store(double *p, pk x)
{
    _mm256_storeu_pd(p, x.a);
    _mm256_storeu_pd(p + 4, x.b);
}
static inline pk pk_set1(double v)
{
    __m256d r = _mm256_set1_pd(v);
    return (pk){r, r};
}
#define EVK_BINARY(name, op) \
    static inline pk name(pk x, pk y) { return (pk){op(x.a, y.a), op(x.b, y.b)}; }
EVK_BINARY(pk_add, _mm256_add_pd)
EVK_BINARY(pk_sub, _mm256_sub_pd)
EVK_BINARY(pk_mul, _mm256_mul_pd)
EVK_BINARY(pk_div, _mm256_div_pd)
EVK_BINARY(pk_max, _mm256_max_pd)
EVK_BINARY(pk_min, _mm256_min_pd)
#undef EVK_BINARY
static inline pk pk_fma(pk x, pk y, pk z)
{
    return (pk){_mm256_fmadd_pd(x.a, y.a, z.a), _mm256_fmadd_pd(x.b, y.b, z.b)};
}
static inline pk pk_fnma(pk x, pk y, pk z)
{
    return (pk){_mm256_fnmadd_pd(x.a, y.a, z.a), _mm256_fnmadd_pd(x.b, y.b, z.b)};
}
static inline pk pk_abs(pk x)
{
    __m256d sign = _mm256_set1_pd(-0.0);
    return (pk){_mm256_andnot_pd(sign, x.a), _mm256_andnot_pd(sign, x.b)};
}
static inline pk pk_copysign(pk magnitude, pk sign)
{
    __m256d bit = _mm256_set1_pd(-0.0);
    return (pk){_mm256_or_pd(magnitude.a, _mm256_and_pd(sign.a, bit)),
                _mm256_or_pd(magnitude.b, _mm256_and_pd(sign.b, bit))};
}
static inline pk_mask pk_gt(pk x, pk y)
{
    return (pk_mask){_mm256_cmp_pd(x.a, y.a, _CMP_GT_OQ), _mm256_cmp_pd(x.b, y.b, _CMP_GT_OQ)};
}
static inline pk pk_select(pk_mask m, pk yes, pk no)
{
    return (pk){_mm256_blendv_pd(no.a, yes.a, m.a), _mm256_blendv_pd(no.b, yes.b, m.b)};
}
static inline pk pk_exponent(pk biased)
{
    return (pk){_mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(biased.a), 52)),
                _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(biased.b), 52))};
}

#else /* plain C; fma() is a library call where the base instruction set has none */

typedef struct { double v[EVK_LANES]; } pk;
typedef struct { uint8_t v[EVK_LANES]; } pk_mask;
#define EVK_EACH for (int k_ = 0; k_ < EVK_LANES; k_++)
static inline pk pk_load(const double *p)
{
    pk r;
    memcpy(r.v, p, sizeof r.v);
    return r;
}
static inline void pk_store(double *p, pk x) { memcpy(p, x.v, sizeof x.v); }
static inline pk pk_set1(double a)
{
    pk r;
    EVK_EACH r.v[k_] = a;
    return r;
}
#define EVK_BINARY(name, expression) \
    static inline pk name(pk x, pk y) \
    { \
        pk r; \
        EVK_EACH \
        { \
            double a = x.v[k_], b = y.v[k_]; \
            r.v[k_] = expression; \
        } \
        return r; \
    }
EVK_BINARY(pk_add, a + b)
EVK_BINARY(pk_sub, a - b)
EVK_BINARY(pk_mul, a *b)
EVK_BINARY(pk_div, a / b)
EVK_BINARY(pk_max, a > b ? a : b) /* a NaN in a gives b, as the vector instructions do */
EVK_BINARY(pk_min, a < b ? a : b)
EVK_BINARY(pk_copysign, copysign(a, b))
#undef EVK_BINARY
static inline pk pk_fma(pk x, pk y, pk z)
{
    pk r;
    EVK_EACH r.v[k_] = fma(x.v[k_], y.v[k_], z.v[k_]);
    return r;
}
static inline pk pk_fnma(pk x, pk y, pk z)
{
    pk r;
    EVK_EACH r.v[k_] = fma(-x.v[k_], y.v[k_], z.v[k_]);
    return r;
}
static inline pk pk_abs(pk x)
{
    EVK_EACH x.v[k_] = fabs(x.v[k_]);
    return x;
}
static inline pk_mask pk_gt(pk x, pk y)
{
    pk_mask m;
    EVK_EACH m.v[k_] = x.v[k_] > y.v[k_];
    return m;
}
static inline pk pk_select(pk_mask m, pk yes, pk no)
{
    EVK_EACH no.v[k_] = m.v[k_] ? yes.v[k_] : no.v[k_];
    return no;
}
static inline pk pk_exponent(pk biased)
{
    EVK_EACH
    {
        uint64_t u;
        memcpy(&u, &biased.v[k_], sizeof u);
        u <<= 52;
        memcpy(&biased.v[k_], &u, sizeof u);
    }
    return biased;
}
#undef EVK_EACH

#endif

/* Largest and smallest lane (no NaN among them): the same whatever the order of comparison. */
static inline double pk_largest(pk x)
{
#if defined(__AVX512F__)
    return _mm512_reduce_max_pd(x);
#else
    double v[EVK_LANES];
    pk_store(v, x);
    const double a = v[0] > v[4] ? v[0] : v[4], b = v[1] > v[5] ? v[1] : v[5];
    const double c = v[2] > v[6] ? v[2] : v[6], d = v[3] > v[7] ? v[3] : v[7];
    const double e = a > b ? a : b, f = c > d ? c : d;
    return e > f ? e : f;
#endif
}

static inline double pk_smallest(pk x) { return -pk_largest(pk_sub(pk_set1(0.0), x)); }

/* Sum of the eight lanes, always in this order. */
static inline double pk_sum(pk x)
{
    double v[EVK_LANES];
    pk_store(v, x);
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

#endif

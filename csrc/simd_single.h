/* A pack of sixteen floats, as simd.h has packs of eight doubles: the same names, for files compiled in single precision.
 * Only what the forward pass needs. */
#ifndef EVK_SIMD_SINGLE_H
#define EVK_SIMD_SINGLE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EVK_LANES 16

typedef float real;

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)

typedef __m512 pk;
static inline pk pk_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void pk_store(float *p, pk a) { _mm512_storeu_ps(p, a); }
static inline pk pk_set1(float a) { return _mm512_set1_ps(a); }
static inline pk pk_add(pk a, pk b) { return _mm512_add_ps(a, b); }
static inline pk pk_sub(pk a, pk b) { return _mm512_sub_ps(a, b); }
static inline pk pk_mul(pk a, pk b) { return _mm512_mul_ps(a, b); }
static inline pk pk_div(pk a, pk b) { return _mm512_div_ps(a, b); }
static inline pk pk_fma(pk a, pk b, pk c) { return _mm512_fmadd_ps(a, b, c); }
static inline pk pk_fnma(pk a, pk b, pk c) { return _mm512_fnmadd_ps(a, b, c); }
static inline pk pk_max(pk a, pk b) { return _mm512_max_ps(a, b); }
static inline pk pk_min(pk a, pk b) { return _mm512_min_ps(a, b); }
static inline pk pk_abs(pk a) { return _mm512_abs_ps(a); }
static inline pk pk_copysign(pk magnitude, pk sign)
{
    return _mm512_or_ps(magnitude, _mm512_and_ps(sign, _mm512_set1_ps(-0.0f)));
}
/* 2^n from the low bits of a float holding n + 127 + 1.5 * 2^23 */
static inline pk pk_exponent(pk biased)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(biased), 23));
}

#elif defined(__AVX2__)

typedef struct { __m256 a, b; } pk;
static inline pk pk_load(const float *p) { return (pk){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
static inline void pk_store(float *p, pk x)
{
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}
static inline pk pk_set1(float v)
{
    __m256 r = _mm256_set1_ps(v);
    return (pk){r, r};
}
#define EVK_BINARY(name, op) \
    static inline pk name(pk x, pk y) { return (pk){op(x.a, y.a), op(x.b, y.b)}; }
EVK_BINARY(pk_add, _mm256_add_ps)
EVK_BINARY(pk_sub, _mm256_sub_ps)
EVK_BINARY(pk_mul, _mm256_mul_ps)
EVK_BINARY(pk_div, _mm256_div_ps)
EVK_BINARY(pk_max, _mm256_max_ps)
EVK_BINARY(pk_min, _mm256_min_ps)
#undef EVK_BINARY
static inline pk pk_fma(pk x, pk y, pk z)
{
    return (pk){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
static inline pk pk_fnma(pk x, pk y, pk z)
{
    return (pk){_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)};
}
static inline pk pk_abs(pk x)
{
    __m256 sign = _mm256_set1_ps(-0.0f);
    return (pk){_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}
static inline pk pk_copysign(pk magnitude, pk sign)
{
    __m256 bit = _mm256_set1_ps(-0.0f);
    return (pk){_mm256_or_ps(magnitude.a, _mm256_and_ps(sign.a, bit)),
                _mm256_or_ps(magnitude.b, _mm256_and_ps(sign.b, bit))};
}
static inline pk pk_exponent(pk biased)
{
    return (pk){_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(biased.a), 23)),
                _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(biased.b), 23))};
}

#else /* plain C */

typedef struct { float v[EVK_LANES]; } pk;
#define EVK_EACH for (int k_ = 0; k_ < EVK_LANES; k_++)
static inline pk pk_load(const float *p)
{
    pk r;
    memcpy(r.v, p, sizeof r.v);
    return r;
}
static inline void pk_store(float *p, pk x) { memcpy(p, x.v, sizeof x.v); }
static inline pk pk_set1(float a)
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
            float a = x.v[k_], b = y.v[k_]; \
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
EVK_BINARY(pk_copysign, copysignf(a, b))
#undef EVK_BINARY
static inline pk pk_fma(pk x, pk y, pk z)
{
    pk r;
    EVK_EACH r.v[k_] = fmaf(x.v[k_], y.v[k_], z.v[k_]);
    return r;
}
static inline pk pk_fnma(pk x, pk y, pk z)
{
    pk r;
    EVK_EACH r.v[k_] = fmaf(-x.v[k_], y.v[k_], z.v[k_]);
    return r;
}
static inline pk pk_abs(pk x)
{
    EVK_EACH x.v[k_] = fabsf(x.v[k_]);
    return x;
}
static inline pk pk_exponent(pk biased)
{
    EVK_EACH
    {
        uint32_t u;
        memcpy(&u, &biased.v[k_], sizeof u);
        u <<= 23;
        memcpy(&biased.v[k_], &u, sizeof u);
    }
    return biased;
}
#undef EVK_EACH

#endif

#endif

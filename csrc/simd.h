/* A pack and its operations, of doubles or in files compiled with EVK_SINGLE of floats, one implementation per
 * instruction set.
 *
 * Every operation is correctly rounded and lane-wise, and the pack is as wide on every machine, so a function written with
 * packs gives the same bits with one 512-bit register, two 256-bit registers or plain C. */
#ifndef EVK_SIMD_H
#define EVK_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"
#include "pack.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(EVK_NEON) /* every ARM64 compiler has it: without the macro such a file is compiled as plain C */
#include <arm_neon.h>
#endif

/* Of single numbers: the instruction, or the function of a C library that is known to be correctly rounded (glibc uses the
 * instruction where the processor has it), or else ours. EVK_OWN_FMA asks for ours, to test it. */
#if !defined(EVK_OWN_FMA) && (defined(__FMA__) || defined(__aarch64__) || defined(__FP_FAST_FMA) || defined(__GLIBC__))
#define EVK_HAS_FMA
static inline double evk_fused(double x, double y, double z) { return fma(x, y, z); }
#else
#include "fma.h"
static inline double evk_fused(double x, double y, double z) { return evk_fma(x, y, z); }
#endif

#define EVK_INLINE static EVK_ALWAYS_INLINE
#define EVK_APART static EVK_NEVER_INLINE /* for loops that need all registers */

/* Rows, and packs of columns, of a tile of a matrix that is held in registers. What uses them adds the terms of every element
 * in the same order whatever they are, so they may differ between instruction sets. */
#if defined(__AVX512F__)
enum { EVK_TILE_ROWS = 8, EVK_TILE_PACKS = 2 };
#else
enum { EVK_TILE_ROWS = 4, EVK_TILE_PACKS = 1 };
#endif

/* What depends on the precision: lanes, numbers and their bits, the names of vector types, of their functions (EVK_F) and of
 * those that see them as integers, and of the functions of C. */
#ifdef EVK_SINGLE
#define EVK_LANES EVK_LANES_SINGLE
typedef float real;
typedef uint32_t real_bits;
#define EVK_MANTISSA 23
#define EVK_TYPE(bits) __m##bits
#define EVK_F(prefix, name) prefix##_##name##_ps
#define EVK_TO_INT(prefix, si) prefix##_castps_##si
#define EVK_FROM_INT(prefix, si) prefix##_cast##si##_ps
#define EVK_SHIFT(prefix) prefix##_slli_epi32
#define EVK_C(name) name##f
#else
#define EVK_LANES EVK_LANES_DOUBLE
typedef double real;
typedef uint64_t real_bits;
#define EVK_MANTISSA 52
#define EVK_TYPE(bits) __m##bits##d
#define EVK_F(prefix, name) prefix##_##name##_pd
#define EVK_TO_INT(prefix, si) prefix##_castpd_##si
#define EVK_FROM_INT(prefix, si) prefix##_cast##si##_pd
#define EVK_SHIFT(prefix) prefix##_slli_epi64
#define EVK_C(name) name
#endif

#if defined(__AVX512F__)

#define EVK_512(name) EVK_F(_mm512, name)
typedef EVK_TYPE(512) pk;
static inline pk pk_load(const real *p) { return EVK_512(loadu)(p); }
static inline void pk_store(real *p, pk a) { EVK_512(storeu)(p, a); }
static inline pk pk_set1(real a) { return EVK_512(set1)(a); }
static inline pk pk_add(pk a, pk b) { return EVK_512(add)(a, b); }
static inline pk pk_sub(pk a, pk b) { return EVK_512(sub)(a, b); }
static inline pk pk_mul(pk a, pk b) { return EVK_512(mul)(a, b); }
static inline pk pk_div(pk a, pk b) { return EVK_512(div)(a, b); }
static inline pk pk_fma(pk a, pk b, pk c) { return EVK_512(fmadd)(a, b, c); }
static inline pk pk_fnma(pk a, pk b, pk c) { return EVK_512(fnmadd)(a, b, c); }
static inline pk pk_max(pk a, pk b) { return EVK_512(max)(a, b); }
static inline pk pk_min(pk a, pk b) { return EVK_512(min)(a, b); }
static inline pk pk_abs(pk a) { return EVK_512(abs)(a); }
static inline pk pk_copysign(pk magnitude, pk sign)
{
    return EVK_512(or)(magnitude, EVK_512 (and)(sign, pk_set1(-(real)0)));
}
/* 2^n from the low bits of a number that holds n and the bias of an exponent above 1.5 * 2^EVK_MANTISSA */
static inline pk pk_exponent(pk biased)
{
    return EVK_FROM_INT(_mm512, si512)(EVK_SHIFT(_mm512)(EVK_TO_INT(_mm512, si512)(biased), EVK_MANTISSA));
}
#ifndef EVK_SINGLE
typedef __mmask8 pk_mask;
static inline pk_mask pk_gt(pk a, pk b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
static inline pk pk_select(pk_mask m, pk yes, pk no) { return _mm512_mask_blend_pd(m, no, yes); }
#endif

#elif defined(__AVX2__)

#define EVK_256(name) EVK_F(_mm256, name)
typedef EVK_TYPE(256) pk_half;
typedef struct { pk_half a, b; } pk;
static inline pk pk_load(const real *p) { return (pk){EVK_256(loadu)(p), EVK_256(loadu)(p + EVK_LANES / 2)}; }
static inline void pk_store(real *p, pk x)
{
    EVK_256(storeu)(p, x.a);
    EVK_256(storeu)(p + EVK_LANES / 2, x.b);
}
static inline pk pk_set1(real v)
{
    const pk_half r = EVK_256(set1)(v);
    return (pk){r, r};
}
#define EVK_BINARY(name, op) \
    static inline pk name(pk x, pk y) { return (pk){op(x.a, y.a), op(x.b, y.b)}; }
EVK_BINARY(pk_add, EVK_256(add))
EVK_BINARY(pk_sub, EVK_256(sub))
EVK_BINARY(pk_mul, EVK_256(mul))
EVK_BINARY(pk_div, EVK_256(div))
EVK_BINARY(pk_max, EVK_256(max))
EVK_BINARY(pk_min, EVK_256(min))
#undef EVK_BINARY
static inline pk pk_fma(pk x, pk y, pk z) { return (pk){EVK_256(fmadd)(x.a, y.a, z.a), EVK_256(fmadd)(x.b, y.b, z.b)}; }
static inline pk pk_fnma(pk x, pk y, pk z)
{
    return (pk){EVK_256(fnmadd)(x.a, y.a, z.a), EVK_256(fnmadd)(x.b, y.b, z.b)};
}
static inline pk pk_abs(pk x)
{
    const pk_half sign = EVK_256(set1)(-(real)0);
    return (pk){EVK_256(andnot)(sign, x.a), EVK_256(andnot)(sign, x.b)};
}
static inline pk pk_copysign(pk magnitude, pk sign)
{
    const pk_half bit = EVK_256(set1)(-(real)0);
    return (pk){EVK_256(or)(magnitude.a, EVK_256 (and)(sign.a, bit)),
                EVK_256(or)(magnitude.b, EVK_256 (and)(sign.b, bit))};
}
static inline pk pk_exponent(pk biased)
{
    return (pk){EVK_FROM_INT(_mm256, si256)(EVK_SHIFT(_mm256)(EVK_TO_INT(_mm256, si256)(biased.a), EVK_MANTISSA)),
                EVK_FROM_INT(_mm256, si256)(EVK_SHIFT(_mm256)(EVK_TO_INT(_mm256, si256)(biased.b), EVK_MANTISSA))};
}
#ifndef EVK_SINGLE
typedef struct { pk_half a, b; } pk_mask;
static inline pk_mask pk_gt(pk x, pk y)
{
    return (pk_mask){_mm256_cmp_pd(x.a, y.a, _CMP_GT_OQ), _mm256_cmp_pd(x.b, y.b, _CMP_GT_OQ)};
}
static inline pk pk_select(pk_mask m, pk yes, pk no)
{
    return (pk){_mm256_blendv_pd(no.a, yes.a, m.a), _mm256_blendv_pd(no.b, yes.b, m.b)};
}
#endif

#elif defined(EVK_NEON)

#ifdef EVK_SINGLE
#define EVK_Q(name) name##q_f32
#define EVK_Q_SET vdupq_n_f32
#define EVK_Q_SHIFT vshlq_n_u32
#define EVK_AS_BITS vreinterpretq_u32_f32
#define EVK_AS_REAL vreinterpretq_f32_u32
typedef float32x4_t pk_part;
typedef uint32x4_t pk_part_bits;
#else
#define EVK_Q(name) name##q_f64
#define EVK_Q_SET vdupq_n_f64
#define EVK_Q_SHIFT vshlq_n_u64
#define EVK_AS_BITS vreinterpretq_u64_f64
#define EVK_AS_REAL vreinterpretq_f64_u64
typedef float64x2_t pk_part;
typedef uint64x2_t pk_part_bits;
#endif
enum { EVK_PART = EVK_LANES / 4 };
typedef struct { pk_part a, b, c, d; } pk;
static inline pk pk_load(const real *p)
{
    return (pk){EVK_Q(vld1)(p), EVK_Q(vld1)(p + EVK_PART), EVK_Q(vld1)(p + 2 * EVK_PART),
                EVK_Q(vld1)(p + 3 * EVK_PART)};
}
static inline void pk_store(real *p, pk x)
{
    EVK_Q(vst1)(p, x.a);
    EVK_Q(vst1)(p + EVK_PART, x.b);
    EVK_Q(vst1)(p + 2 * EVK_PART, x.c);
    EVK_Q(vst1)(p + 3 * EVK_PART, x.d);
}
static inline pk pk_set1(real v)
{
    const pk_part r = EVK_Q_SET(v);
    return (pk){r, r, r, r};
}
/* a NaN in x gives y, as the other instruction sets do; the instructions for maxima do not */
static inline pk_part pk_larger(pk_part x, pk_part y) { return EVK_Q(vbsl)(EVK_Q(vcgt)(x, y), x, y); }
static inline pk_part pk_smaller(pk_part x, pk_part y) { return EVK_Q(vbsl)(EVK_Q(vclt)(x, y), x, y); }
/* low <= x <= high, numbers other than zero; a NaN stays one, so that a single instruction does for each */
#define EVK_CLAMP
static inline pk pk_clamp(real low, real high, pk x)
{
    const pk_part below = EVK_Q_SET(low), above = EVK_Q_SET(high);
    return (pk){EVK_Q(vmin)(above, EVK_Q(vmax)(below, x.a)), EVK_Q(vmin)(above, EVK_Q(vmax)(below, x.b)),
                EVK_Q(vmin)(above, EVK_Q(vmax)(below, x.c)), EVK_Q(vmin)(above, EVK_Q(vmax)(below, x.d))};
}
#define EVK_BINARY(name, op) \
    static inline pk name(pk x, pk y) { return (pk){op(x.a, y.a), op(x.b, y.b), op(x.c, y.c), op(x.d, y.d)}; }
EVK_BINARY(pk_add, EVK_Q(vadd))
EVK_BINARY(pk_sub, EVK_Q(vsub))
EVK_BINARY(pk_mul, EVK_Q(vmul))
EVK_BINARY(pk_div, EVK_Q(vdiv))
EVK_BINARY(pk_max, pk_larger)
EVK_BINARY(pk_min, pk_smaller)
#undef EVK_BINARY
static inline pk pk_fma(pk x, pk y, pk z)
{
    return (pk){EVK_Q(vfma)(z.a, x.a, y.a), EVK_Q(vfma)(z.b, x.b, y.b), EVK_Q(vfma)(z.c, x.c, y.c),
                EVK_Q(vfma)(z.d, x.d, y.d)};
}
static inline pk pk_fnma(pk x, pk y, pk z)
{
    return (pk){EVK_Q(vfms)(z.a, x.a, y.a), EVK_Q(vfms)(z.b, x.b, y.b), EVK_Q(vfms)(z.c, x.c, y.c),
                EVK_Q(vfms)(z.d, x.d, y.d)};
}
static inline pk pk_abs(pk x) { return (pk){EVK_Q(vabs)(x.a), EVK_Q(vabs)(x.b), EVK_Q(vabs)(x.c), EVK_Q(vabs)(x.d)}; }
static inline pk pk_copysign(pk magnitude, pk sign)
{
    const pk_part_bits bit = EVK_AS_BITS(EVK_Q_SET(-(real)0));
    return (pk){EVK_Q(vbsl)(bit, sign.a, magnitude.a), EVK_Q(vbsl)(bit, sign.b, magnitude.b),
                EVK_Q(vbsl)(bit, sign.c, magnitude.c), EVK_Q(vbsl)(bit, sign.d, magnitude.d)};
}
static inline pk_part pk_part_exponent(pk_part biased)
{
    return EVK_AS_REAL(EVK_Q_SHIFT(EVK_AS_BITS(biased), EVK_MANTISSA));
}
static inline pk pk_exponent(pk biased)
{
    return (pk){pk_part_exponent(biased.a), pk_part_exponent(biased.b), pk_part_exponent(biased.c),
                pk_part_exponent(biased.d)};
}
#ifndef EVK_SINGLE
typedef struct { pk_part_bits a, b, c, d; } pk_mask;
static inline pk_mask pk_gt(pk x, pk y)
{
    return (pk_mask){vcgtq_f64(x.a, y.a), vcgtq_f64(x.b, y.b), vcgtq_f64(x.c, y.c), vcgtq_f64(x.d, y.d)};
}
static inline pk pk_select(pk_mask m, pk yes, pk no)
{
    return (pk){vbslq_f64(m.a, yes.a, no.a), vbslq_f64(m.b, yes.b, no.b), vbslq_f64(m.c, yes.c, no.c),
                vbslq_f64(m.d, yes.d, no.d)};
}
#endif

#else /* plain C */

typedef struct { real v[EVK_LANES]; } pk;
#define EVK_EACH for (int k_ = 0; k_ < EVK_LANES; k_++)
static inline pk pk_load(const real *p)
{
    pk r;
    memcpy(r.v, p, sizeof r.v);
    return r;
}
static inline void pk_store(real *p, pk x) { memcpy(p, x.v, sizeof x.v); }
static inline pk pk_set1(real a)
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
            real a = x.v[k_], b = y.v[k_]; \
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
EVK_BINARY(pk_copysign, EVK_C(copysign)(a, b))
#undef EVK_BINARY
#ifdef EVK_HAS_FMA
static inline pk pk_fma(pk x, pk y, pk z)
{
    pk r;
    EVK_EACH r.v[k_] = EVK_C(fma)(x.v[k_], y.v[k_], z.v[k_]);
    return r;
}
#elif defined(EVK_SINGLE)
static inline pk pk_fma(pk x, pk y, pk z)
{
    pk r;
    EVK_EACH r.v[k_] = evk_fmaf(x.v[k_], y.v[k_], z.v[k_]);
    return r;
}
#else
static inline pk pk_fma(pk x, pk y, pk z)
{
    pk r;
    int moderate = 1;
    EVK_EACH moderate &= evk_is_moderate(x.v[k_]) & evk_is_moderate(y.v[k_]) & evk_is_moderate(z.v[k_]);
    if (moderate)
        EVK_EACH r.v[k_] = evk_fma_moderate(x.v[k_], y.v[k_], z.v[k_]);
    else
        EVK_EACH r.v[k_] = evk_fma(x.v[k_], y.v[k_], z.v[k_]);
    return r;
}
#endif
static inline pk pk_fnma(pk x, pk y, pk z)
{
    EVK_EACH x.v[k_] = -x.v[k_];
    return pk_fma(x, y, z);
}
static inline pk pk_abs(pk x)
{
    EVK_EACH x.v[k_] = EVK_C(fabs)(x.v[k_]);
    return x;
}
static inline pk pk_exponent(pk biased)
{
    EVK_EACH
    {
        real_bits u;
        memcpy(&u, &biased.v[k_], sizeof u);
        u <<= EVK_MANTISSA;
        memcpy(&biased.v[k_], &u, sizeof u);
    }
    return biased;
}
#ifndef EVK_SINGLE
typedef struct { uint8_t v[EVK_LANES]; } pk_mask;
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
#endif
#undef EVK_EACH

#endif

#ifndef EVK_CLAMP
static inline pk pk_clamp(real low, real high, pk x) { return pk_min(pk_set1(high), pk_max(pk_set1(low), x)); }
#endif

#ifndef EVK_SINGLE
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

/* Sum of the lanes, always in this order. */
static inline double pk_sum(pk x)
{
    double v[EVK_LANES];
    pk_store(v, x);
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

#endif

#endif

/* x y + z, rounded once, for processors whose base instruction set has no such instruction: the C library's is a call, slow on
 * some systems and not correctly rounded on others.
 *
 * Most numbers take the way of Boldo and Melquiond ("Emulation of FMA and correctly rounded sums: proved algorithms using
 * rounding to odd", 2008): product and sums with their errors, which are added so that the last bit tells whether something
 * was lost, and then rounded. Numbers so large or small that an error could overflow or underflow are added as integers. */
#ifndef EVK_FMA_H
#define EVK_FMA_H

#include <stdint.h>
#include <string.h>

#include "compiler.h"

static inline uint64_t evk_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double evk_number(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline int evk_is_finite(double x) { return (evk_bits(x) >> 52 & 0x7ff) != 0x7ff; }

/* A finite number that is not 0 as +-mantissa 2^exponent, with 53 bits. */
typedef struct evk_parts {
    uint64_t mantissa;
    int exponent, negative;
} evk_parts;

static inline evk_parts evk_parts_of(double x)
{
    const uint64_t u = evk_bits(x);
    evk_parts p = {u & ((UINT64_C(1) << 52) - 1), (int)(u >> 52 & 0x7ff), (int)(u >> 63)};
    if (p.exponent > 0)
        p.mantissa |= UINT64_C(1) << 52;
    else
        for (p.exponent = 1; p.mantissa >> 52 == 0; p.exponent--)
            p.mantissa <<= 1;
    p.exponent -= 1075;
    return p;
}

/* m 2^-by, its last bit set where a bit was lost */
static inline evk_wide evk_shifted(evk_wide m, int by)
{
    return by == 0 ? m : by > 127 ? m != 0 : m >> by | (m << (128 - by) != 0);
}

/* For any numbers. The larger term has at least 124 bits, the smaller one loses some only where nothing cancels. */
static EVK_NEVER_INLINE EVK_MAYBE_UNUSED double evk_fma_exact(double x, double y, double z)
{
    if (!evk_is_finite(x) || !evk_is_finite(y) || x == 0.0 || y == 0.0)
        return x * y + z;
    if (!evk_is_finite(z))
        return z + z; /* the product may overflow, but is finite */
    const evk_parts a = evk_parts_of(x), b = evk_parts_of(y);
    evk_wide m = (evk_wide)a.mantissa * b.mantissa << 20, other = 0;
    int exponent = a.exponent + b.exponent - 20, negative = a.negative != b.negative;
    if (z != 0.0) {
        const evk_parts c = evk_parts_of(z);
        const int up = c.exponent - exponent;
        other = c.mantissa;
        if (up > 73) {
            m = evk_shifted(m, up - 73);
            exponent += up - 73;
            other <<= 73;
        } else if (up >= 0)
            other <<= up;
        else
            other = evk_shifted(other, -up);
        if (c.negative == negative)
            m += other;
        else if (m >= other)
            m -= other;
        else {
            m = other - m;
            negative = !negative;
        }
        if (m == 0)
            return 0.0;
    }
    const uint64_t high = (uint64_t)(m >> 64);
    const int bits = high != 0 ? 128 - EVK_LEADING_ZEROS(high) : 64 - EVK_LEADING_ZEROS((uint64_t)m);
    int shift = bits - 53;
    if (exponent + shift < -1074)
        shift = -1074 - exponent;
    m = shift >= 2 ? evk_shifted(m, shift - 2) : m << (2 - shift);
    const unsigned rest = (unsigned)m & 3; /* two bits more than are kept: a half, and what is below it */
    m >>= 2;
    m += rest > 2 || (rest == 2 && (m & 1));
    exponent += shift;
    if (m >> 53 != 0) {
        m >>= 1;
        exponent++;
    }
    const uint64_t sign = (uint64_t)negative << 63;
    if (exponent > 971)
        return evk_number(sign | UINT64_C(0x7ff) << 52);
    const uint64_t biased = m >> 52 != 0 ? (uint64_t)(exponent + 1075) : 0;
    return evk_number(sign | biased << 52 | ((uint64_t)m & ((UINT64_C(1) << 52) - 1)));
}

/* Whether a number is 0 or between 2^-200 and 2^200. */
static inline int evk_is_moderate(double x)
{
    const double size = x < 0.0 ? -x : x;
    return (size < 0x1p200) & ((size > 0x1p-200) | (size == 0.0));
}

/* For numbers that are all moderate; without branches, so that several lanes are computed at once. */
static inline double evk_fma_moderate(double x, double y, double z)
{
    const double split = 0x1.0000002p27; /* Veltkamp's: halves whose products are exact */
    const double xs = split * x, ys = split * y;
    const double xh = xs - (xs - x), yh = ys - (ys - y), xl = x - xh, yl = y - yh;
    const double product = x * y, error = xl * yl - (((product - xh * yh) - xl * yh) - xh * yl);
    const double low = z + error, z_of_low = low - error, lost = (z - z_of_low) + (error - (low - z_of_low));
    const double high = product + low, p_of_high = high - low,
                 rest = (product - p_of_high) + (low - (high - p_of_high));
    const double sum = lost + rest, l_of_sum = sum - rest, left = (lost - l_of_sum) + (rest - (sum - l_of_sum));
    /* to odd: where something is left of an even sum, its neighbour on that side */
    const uint64_t u = evk_bits(sum);
    const double outwards = evk_number(u + 1 - (u & 1)), inwards = evk_number(u - 1 + (u & 1));
    const double odd = left == 0.0 ? sum : (left > 0.0) == (sum > 0.0) ? outwards : inwards;
    const double found = high + odd;
    return x == 0.0 || y == 0.0 || z == 0.0 ? product + z : found; /* these are exact but for one rounding, signs too */
}

static inline double evk_fma(double x, double y, double z)
{
    if (evk_is_moderate(x) && evk_is_moderate(y) && evk_is_moderate(z))
        return evk_fma_moderate(x, y, z);
    return evk_fma_exact(x, y, z);
}

/* The product of floats is exact in double precision; the sum is rounded to odd there, and has bits enough. */
static inline float evk_fmaf(float x, float y, float z)
{
    const double product = (double)x * (double)y, c = (double)z;
    const double sum = product + c, p_of_sum = sum - c, left = (product - p_of_sum) + (c - (sum - p_of_sum));
    const uint64_t u = evk_bits(sum);
    const int is_exact = left == 0.0 || left != left || (u & 1) != 0;
    return (float)evk_number(is_exact ? u : evk_bits(left) >> 63 == u >> 63 ? u + 1 : u - 1);
}

#endif

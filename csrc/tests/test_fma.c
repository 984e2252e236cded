/* The fused multiply-add of fma.h: both of its ways against each other and, where it is known to be right, that of the C
 * library. */
#include "check.h"
#include "fma.h"

static uint64_t seed = 29;

/* any bits, or numbers near one another in size, many of whose bits are zero */
static double any_number(int kind)
{
    const uint64_t a = (uint64_t)uniform(&seed, 0.0, 0x1p32), b = (uint64_t)uniform(&seed, 0.0, 0x1p32);
    double x;
    if (kind == 0) {
        const uint64_t u = a << 32 | b;
        memcpy(&x, &u, sizeof x);
        return x;
    }
    if (kind == 1)
        return uniform(&seed, -2.0, 2.0);
    x = ldexp(1.0 + ldexp((double)(a & 7), -(int)(b % 53)), (int)(b >> 8 & 127) - 64);
    return a & 8 ? x : -x;
}

static void check_one(double x, double y, double z)
{
    const double exact = evk_fma_exact(x, y, z), found = evk_fma(x, y, z);
    CHECK_SAME_BITS(&found, &exact, 1);
#ifdef __GLIBC__
    const double expected = fma(x, y, z);
    CHECK_SAME_BITS(&exact, &expected, 1);
#endif
}

int main(void)
{
    static const double special[] = {
        0.0,     -0.0,    1.0,    -1.0,     0x1p-1074,  -0x1p-1074, DBL_MIN,
        DBL_MAX, 1e-160,  -1e160, INFINITY, -INFINITY,  NAN,        0x1.fffffffffffffp-1023,
        0x1p-52, 0x1p512, 1e-300, 0x1p-538, -0x1p-1000, 3.0};
    enum { N = sizeof special / sizeof *special };
    check_about = "special";
    for (size_t i = 0; i < N * N * N; i++)
        check_one(special[i % N], special[i / N % N], special[i / N / N]);
    for (int kind = 0; kind < 3; kind++) {
        check_about = kind == 0 ? "any bits" : kind == 1 ? "ordinary" : "few bits";
        for (size_t i = 0; i < 200000; i++) {
            const double x = any_number(kind), y = any_number(kind), z = any_number(kind);
            check_one(x, y, z);
            check_one(x, y, -x * y); /* the rounding error of a product */
            check_one(x, y, -x * y * (1.0 + ldexp(1.0, -(int)(i % 54)))); /* some of it cancels */
            check_one(x * 0x1p-500, y * 0x1p-530, z * 0x1p-1020); /* results that are subnormal */
        }
    }
    check_about = "halves"; /* between two numbers, and next to that */
    for (int k = 40; k < 120; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            check_one(1.0 + 0x1p-52, 1.0, sign * ldexp(1.0, -k));
            check_one(1.0 + 0x1p-52, 1.0 + 0x1p-52, sign * ldexp(1.0, -k));
            check_one(0x1.fffffffffffffp0, 0x1.fffffffffffffp0, sign * ldexp(3.0, -k));
            check_one(ldexp(1.0, -537), ldexp(1.0 + 0x1p-20, -537), sign * ldexp(1.0, k - 1114));
        }
    check_about = "single";
    for (size_t i = 0; i < 600000; i++) {
        const float x = (float)any_number((int)(i % 3)), y = (float)any_number((int)(i % 3));
        const float z = i % 2 ? (float)any_number((int)(i % 3)) : (float)(-(double)x * (double)y);
        const float found = evk_fmaf(x, y, z);
#ifdef __GLIBC__
        const float expected = fmaf(x, y, z);
        CHECK_SAME_BITS(&found, &expected, 1);
#else
        CHECK(!isnan(found) || isnan((double)x * (double)y + (double)z));
#endif
    }
    return check_report();
}

/* Random sizes and values for test_random.c, in memory of exact size, and a hash of what is computed from them. */
#ifndef EVK_RANDOM_H
#define EVK_RANDOM_H

#include "check.h"

enum { L = EVK_LANES_DOUBLE, L_SINGLE = EVK_LANES_SINGLE, MOST_MEMORY = 64 };

static uint64_t state; /* of the random numbers of a case */
static uint64_t hash;  /* of all that a case has computed */
static int wildness;   /* 0: numbers of order one, 1: of any size, 2: infinity and NaN too */
static void *memory[MOST_MEMORY];
static size_t n_memory;

static inline double between(double low, double high) { return uniform(&state, low, high); }

static inline int chance(double share) { return between(0.0, 1.0) < share; }

/* from low to high, both included; whole packs and their neighbours often */
static inline size_t size_between(size_t low, size_t high)
{
    size_t n = low + (size_t)between(0.0, (double)(high - low + 1));
    if (chance(0.3))
        n = n / L * L + (size_t)between(0.0, 3.0) - (n >= L);
    return n < low ? low : n > high ? high : n;
}

static inline double number(void)
{
    static const double special[] = {0.0, -0.0, 1.0, -1.0, 0.5, 1e300, -1e300, 1e-300, DBL_MIN, 1e-320, 709.0, -745.0};
    static const double none[] = {INFINITY, -INFINITY, NAN};
    if (wildness == 2 && chance(0.1))
        return none[(size_t)between(0.0, 3.0)];
    if (wildness > 0 && chance(0.2))
        return special[(size_t)between(0.0, 12.0)];
    if (wildness > 0 && chance(0.5))
        return between(-1.0, 1.0) * pow(10.0, (double)(int)between(-300.0, 300.0));
    return chance(0.1) ? 0.0 : between(-2.0, 2.0);
}

/* positive: a width of a kernel, a bound, a ridge */
static inline double positive(void)
{
    return wildness == 0 ? between(1e-3, 10.0) : ldexp(1.0 + between(0.0, 1.0), (int)between(-60.0, 60.0));
}

static inline void *remember(void *p)
{
    if (n_memory == MOST_MEMORY)
        abort();
    return memory[n_memory++] = p;
}

static inline double *room(size_t n) { return remember(new_doubles(n)); }

static inline double *numbers(size_t n)
{
    double *p = room(n);
    for (size_t k = 0; k < n; k++)
        p[k] = number();
    return p;
}

static inline float *single_room(size_t n) { return remember(new_memory(n, sizeof(float))); }

static inline float *singles(size_t n)
{
    float *p = single_room(n);
    for (size_t k = 0; k < n; k++) {
        const double value = number();
        p[k] = fabs(value) > FLT_MAX ? (float)copysign(INFINITY, value) : (float)value;
    }
    return p;
}

/* What was computed joins the hash; any NaN counts as the same one. */
static inline void keep(const void *values, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)values + i * size, size);
        if (isnan(number_at(values, i, size)))
            bits = 0x7ff8;
        hash = (hash ^ bits) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
}
#define KEEP(values, n) keep(values, n, sizeof *(values))

static inline void forget_all(void)
{
    while (n_memory > 0)
        free(memory[--n_memory]);
}

/* n points feature by feature, some of them twice, zero beyond them */
static inline evk_columns points(size_t n, size_t d)
{
    const size_t ld = whole_packs(n);
    double *x = room(d * ld);
    for (size_t h = 0; h < d; h++)
        for (size_t j = 0; j < ld; j++)
            x[h * ld + j] = j < n ? number() : 0.0;
    for (size_t j = 1; j < n; j++)
        for (size_t h = 0; chance(0.1) && h < d; h++)
            x[h * ld + j] = x[h * ld + j - 1];
    return (evk_columns){x, n, d, ld};
}

#endif

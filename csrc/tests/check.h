/* What the C tests share: checks that print their place and continue, memory of exact size, reproducible numbers. */
#ifndef EVK_CHECK_H
#define EVK_CHECK_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "pack.h"

static size_t check_count, check_failures;
static const char *check_about = ""; /* what is being tested, printed with a failure */

static inline void check_failed(const char *file, int line, const char *what)
{
    check_failures++;
    fprintf(stderr, "%s:%d: [%s] failed: %s\n", file, line, check_about, what);
}

#define CHECK(condition) (check_count++, (condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

/* |value - expected| <= tolerance; false where either is NaN */
#define CHECK_NEAR(value, expected, tolerance) check_near(__FILE__, __LINE__, #value, (value), (expected), (tolerance))
static inline void check_near(const char *file, int line, const char *what, double value, double expected,
                              double tolerance)
{
    check_count++;
    if (fabs(value - expected) <= tolerance)
        return;
    check_failed(file, line, what);
    fprintf(stderr, "    is %.17g, expected %.17g within %.3g\n", value, expected, tolerance);
}

/* the same bits, except that any NaN equals any other; doubles or floats */
#define CHECK_SAME_BITS(a, b, n) check_same_bits(__FILE__, __LINE__, #a " = " #b, (a), (b), (n), sizeof *(a))
static inline double number_at(const void *p, size_t i, size_t size)
{
    return size == sizeof(float) ? (double)((const float *)p)[i] : ((const double *)p)[i];
}

static inline void check_same_bits(const char *file, int line, const char *what, const void *a, const void *b, size_t n,
                                   size_t size)
{
    check_count++;
    for (size_t i = 0; i < n; i++) {
        const double x = number_at(a, i, size), y = number_at(b, i, size);
        if (memcmp((const char *)a + i * size, (const char *)b + i * size, size) == 0 || (isnan(x) && isnan(y)))
            continue;
        check_failed(file, line, what);
        fprintf(stderr, "    at %zu: %a and %a\n", i, x, y);
        return;
    }
}

/* `return check_report();` ends main. A test that checked nothing fails. */
static inline int check_report(void)
{
    printf("%zu checks, %zu failed\n", check_count, check_failures);
    return check_count == 0 || check_failures > 0;
}

/* n numbers and not one more, so that the address sanitizer sees every access beyond; all NaN, so that a value that is
 * used before it is set shows up in the result. */
static inline void *new_memory(size_t n, size_t size)
{
    void *p = malloc((n > 0 ? n : 1) * size);
    if (p == NULL)
        abort();
    return memset(p, 0xff, n * size); /* ones everywhere are a NaN in either precision */
}

/* n rounded up to whole packs of doubles */
static inline size_t whole_packs(size_t n) { return (n + EVK_LANES_DOUBLE - 1) / EVK_LANES_DOUBLE * EVK_LANES_DOUBLE; }

static inline double *new_doubles(size_t n) { return new_memory(n, sizeof(double)); }

/* uniform on [low, high): splitmix64 */
static inline double uniform(uint64_t *seed, double low, double high)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * ((double)((z ^ (z >> 31)) >> 11) * 0x1p-53);
}

/* for (size_t k = 0; (functions = next_supported(&k)) != NULL;) visits the tables that this processor can run */
static inline const evk_functions *next_supported(size_t *k)
{
    const evk_functions *functions;
    while ((functions = evk_functions_at((*k)++)) != NULL && !evk_functions_supported(functions))
        fprintf(stderr, "this processor lacks %s: not tested\n", functions->name);
    if (functions != NULL)
        check_about = functions->name;
    return functions;
}

/* A poll that counts how often it is asked, at every chance, and says no to the question `last` (0: never). */
typedef struct questions { size_t asked, last; } questions;

static inline int answer(const void *data)
{
    questions *q = (questions *)(uintptr_t)data;
    return ++q->asked == q->last;
}

static inline evk_poll asking(const questions *q) { return (evk_poll){.ask = answer, .data = q, .interval = 1}; }

#endif

/* What an x86-64 processor has and the operating system keeps: without the library that __builtin_cpu_supports needs, which
 * clang on Windows does not link. */
#ifndef EVK_PROCESSOR_H
#define EVK_PROCESSOR_H

#include <stdint.h>

#include "compiler.h"

typedef struct evk_x86 {
    uint32_t leaf1_ecx, leaf7_ebx; /* what CPUID says */
    uint32_t kept; /* XCR0: the registers that are kept when the system switches to another program */
} evk_x86;

enum { /* bits of XCR0: registers of 128 and 256 bits, and those of AVX-512 in three parts */
       EVK_KEPT_256 = 0x06,
       EVK_KEPT_512 = 0xe6
};

static inline int evk_x86_has_avx2(evk_x86 x)
{
    const uint32_t fma = UINT32_C(1) << 12, avx = UINT32_C(1) << 28, avx2 = UINT32_C(1) << 5;
    return (x.leaf1_ecx & fma) && (x.leaf1_ecx & avx) && (x.leaf7_ebx & avx2) &&
           (x.kept & EVK_KEPT_256) == EVK_KEPT_256;
}

static inline int evk_x86_has_avx512(evk_x86 x)
{
    const uint32_t f = UINT32_C(1) << 16, dq = UINT32_C(1) << 17, vl = UINT32_C(1) << 31;
    return evk_x86_has_avx2(x) && (x.leaf7_ebx & f) && (x.leaf7_ebx & dq) && (x.leaf7_ebx & vl) &&
           (x.kept & EVK_KEPT_512) == EVK_KEPT_512;
}

#ifdef EVK_X86_64
#include <cpuid.h>

static inline evk_x86 evk_x86_identify(void)
{
    evk_x86 x = {0, 0, 0};
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d))
        x.leaf1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        x.leaf7_ebx = b;
    if (x.leaf1_ecx >> 27 & 1) { /* the system has allowed programs to ask */
        uint32_t low, high;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        x.kept = low;
    }
#ifdef __APPLE__ /* it keeps the registers of AVX-512 from their first use on, and does not say so before */
    if ((x.kept & EVK_KEPT_256) == EVK_KEPT_256)
        x.kept |= EVK_KEPT_512;
#endif
    return x;
}
#endif

#endif

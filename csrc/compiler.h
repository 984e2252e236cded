/* What the compilers spell differently. clang-cl knows the attributes of gcc, Microsoft's own compiler does not. */
#ifndef EVK_COMPILER_H
#define EVK_COMPILER_H

#if defined(__GNUC__) || defined(__clang__)
#define EVK_ALWAYS_INLINE inline __attribute__((always_inline))
#define EVK_NEVER_INLINE __attribute__((noinline))
#define EVK_MAYBE_UNUSED __attribute__((unused))
#ifdef __SIZEOF_INT128__ /* processors of 32 bits have none; only fma.h needs them */
__extension__ typedef unsigned __int128 evk_wide;
#endif
/* leading zeros of u, which is not 0 */
#define EVK_LEADING_ZEROS(u) __builtin_clzll(u)
#else
#error "evoke needs gcc, clang or clang-cl: docs/platforms.md says what others lack"
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define EVK_X86_64
#endif

#endif

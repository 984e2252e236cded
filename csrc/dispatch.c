#include "dispatch.h"

#include <string.h>

#include "processor.h"

/* Declarations of the functions of EVK_ISA, and their places in its table. */
#define DECLARATION(type, name, parameters) type EVK_FN(name) parameters;
#define ENTRY(type, name, parameters) .name = EVK_FN(name),

#define EVK_ISA scalar
EVK_FUNCTIONS(DECLARATION)
static const evk_functions evk_scalar = {.name = "scalar", EVK_FUNCTIONS(ENTRY)};
#undef EVK_ISA
#ifdef EVK_HAVE_AVX2
#define EVK_ISA avx2
EVK_FUNCTIONS(DECLARATION)
static const evk_functions evk_avx2 = {.name = "avx2", EVK_FUNCTIONS(ENTRY)};
#undef EVK_ISA
#endif
#ifdef EVK_HAVE_AVX512
#define EVK_ISA avx512
EVK_FUNCTIONS(DECLARATION)
static const evk_functions evk_avx512 = {.name = "avx512", EVK_FUNCTIONS(ENTRY)};
#undef EVK_ISA
#endif
#ifdef EVK_HAVE_NEON
#define EVK_ISA neon
EVK_FUNCTIONS(DECLARATION)
static const evk_functions evk_neon = {.name = "neon", EVK_FUNCTIONS(ENTRY)};
#undef EVK_ISA
#endif

static const evk_functions *const evk_tables[] = {
    &evk_scalar,
#ifdef EVK_HAVE_NEON
    &evk_neon,
#endif
#ifdef EVK_HAVE_AVX2
    &evk_avx2,
#endif
#ifdef EVK_HAVE_AVX512
    &evk_avx512,
#endif
};
enum { N_TABLES = sizeof evk_tables / sizeof *evk_tables };

const evk_functions *evk_functions_at(size_t k) { return k < N_TABLES ? evk_tables[k] : NULL; }

int evk_functions_supported(const evk_functions *functions)
{
#ifdef EVK_X86_64
    if (strcmp(functions->name, "avx2") == 0)
        return evk_x86_has_avx2(evk_x86_identify());
    if (strcmp(functions->name, "avx512") == 0)
        return evk_x86_has_avx512(evk_x86_identify());
#endif
#ifdef EVK_HAVE_NEON /* it is part of ARM64 */
    if (strcmp(functions->name, "neon") == 0)
        return 1;
#endif
    return strcmp(functions->name, "scalar") == 0;
}

evk_status evk_functions_select(const char *name, const evk_functions **out)
{
    *out = NULL;
    if (name == NULL || *name == '\0') {
        size_t k = N_TABLES;
        while (k-- > 0)
            if (evk_functions_supported(evk_tables[k])) {
                *out = evk_tables[k];
                return EVK_OK;
            }
    }
    for (size_t k = 0; name != NULL && k < N_TABLES; k++)
        if (strcmp(name, evk_tables[k]->name) == 0) {
            if (!evk_functions_supported(evk_tables[k]))
                return EVK_ERR_UNSUPPORTED_SIMD;
            *out = evk_tables[k];
            return EVK_OK;
        }
    return EVK_ERR_UNKNOWN_SIMD;
}

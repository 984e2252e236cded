#include "check.h"
#include "processor.h"

/* A table is chosen only where the processor has all its instructions and the system keeps the registers. */
static void check_x86(void)
{
    check_about = "x86-64";
    const uint32_t fma = UINT32_C(1) << 12, avx = UINT32_C(1) << 28, avx2 = UINT32_C(1) << 5;
    const uint32_t f = UINT32_C(1) << 16, dq = UINT32_C(1) << 17, vl = UINT32_C(1) << 31;
    const evk_x86 all = {fma | avx, avx2 | f | dq | vl, EVK_KEPT_512};
    CHECK(evk_x86_has_avx2(all) && evk_x86_has_avx512(all));
    const uint32_t first[] = {fma, avx}, seventh[] = {f, dq, vl}, lost[] = {0x20, 0x40, 0x80};
    for (int k = 0; k < 2; k++) {
        evk_x86 x = all;
        x.leaf1_ecx &= ~first[k];
        CHECK(!evk_x86_has_avx2(x) && !evk_x86_has_avx512(x));
        x = all;
        x.kept &= ~(UINT32_C(2) << k);
        CHECK(!evk_x86_has_avx2(x) && !evk_x86_has_avx512(x));
    }
    evk_x86 x = all;
    x.leaf7_ebx &= ~avx2;
    CHECK(!evk_x86_has_avx2(x) && !evk_x86_has_avx512(x));
    for (int k = 0; k < 3; k++) {
        x = all;
        x.leaf7_ebx &= ~seventh[k];
        CHECK(evk_x86_has_avx2(x) && !evk_x86_has_avx512(x));
        x = all;
        x.kept &= ~lost[k];
        CHECK(evk_x86_has_avx2(x) && !evk_x86_has_avx512(x));
    }
#if defined(EVK_X86_64) && defined(__GLIBC__) /* elsewhere it needs a library that may not be there */
    x = evk_x86_identify();
    CHECK(evk_x86_has_avx2(x) == (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")));
    CHECK(evk_x86_has_avx512(x) == (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                    __builtin_cpu_supports("avx512vl")));
#endif
}

int main(void)
{
    const evk_functions *best = NULL, *chosen = NULL;
    size_t n_tables = 0;
    CHECK(evk_functions_at(0) != NULL && strcmp(evk_functions_at(0)->name, "scalar") == 0);
    CHECK(evk_functions_supported(evk_functions_at(0)));
    for (const evk_functions *table; (table = evk_functions_at(n_tables)) != NULL; n_tables++) {
        check_about = table->name;
#define X(type, function, parameters) CHECK(table->function != NULL);
        EVK_FUNCTIONS(X)
#undef X
        for (size_t j = 0; j < n_tables; j++)
            CHECK(strcmp(table->name, evk_functions_at(j)->name) != 0);
        chosen = evk_functions_at(0);
        const evk_status status = evk_functions_select(table->name, &chosen);
        if (evk_functions_supported(table)) {
            CHECK(status == EVK_OK && chosen == table);
            best = table;
        } else
            CHECK(status == EVK_ERR_UNSUPPORTED_SIMD && chosen == NULL);
    }
    CHECK(evk_functions_at(n_tables + 7) == NULL);

    check_about = "default";
    CHECK(evk_functions_select(NULL, &chosen) == EVK_OK && chosen == best);
    chosen = NULL;
    CHECK(evk_functions_select("", &chosen) == EVK_OK && chosen == best);

    static const char *const unknown[] = {"sse9", "AVX2", "avx", "scalar ", " "};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        check_about = unknown[i];
        chosen = best;
        CHECK(evk_functions_select(unknown[i], &chosen) == EVK_ERR_UNKNOWN_SIMD && chosen == NULL);
    }

    /* a table of an instruction set that no processor of this build has */
    static const evk_functions strange = {.name = "strange"};
    CHECK(!evk_functions_supported(&strange));
    check_x86();
    return check_report();
}

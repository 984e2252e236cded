#include "check.h"

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
    return check_report();
}

#include "dispatch.h"

#include <string.h>

#define EVK_TABLE(isa) \
    static const evk_kernels evk_table_##isa = { \
        .name = #isa, \
        .exp = evk_exp_##isa, \
        .logistic = evk_logistic_##isa, \
        .tanh = evk_tanh_##isa, \
        .tanpi = evk_tanpi_##isa, \
        .lstm_networks = evk_lstm_networks_##isa, \
        .lstm_networks_apart = evk_lstm_networks_apart_##isa, \
        .lstm_sequences = evk_lstm_sequences_##isa, \
        .lstm_cells = evk_lstm_cells_##isa, \
        .logistic_single = evk_logistic_single_##isa, \
        .tanh_single = evk_tanh_single_##isa, \
        .lstm_networks_single = evk_lstm_networks_single_##isa, \
        .lstm_sequences_single = evk_lstm_sequences_single_##isa, \
        .lstm_cells_single = evk_lstm_cells_single_##isa, \
        .gram_row = evk_gram_row_##isa, \
        .gram_fill = evk_gram_fill_##isa, \
        .gram_diagonal = evk_gram_diagonal_##isa, \
        .decide = evk_decide_##isa, \
        .decide_columns = evk_decide_columns_##isa, \
        .decide_point = evk_decide_point_##isa, \
        .cholesky = evk_cholesky_##isa, \
        .cholesky_solve = evk_cholesky_solve_##isa, \
        .pinv = evk_pinv_##isa, \
        .qp_begin = evk_qp_begin_##isa, \
        .qp_run = evk_qp_run_##isa, \
        .qp_certify = evk_qp_certify_##isa, \
    };

#define X(type, name, parameters) type evk_##name##_scalar parameters;
EVK_KERNELS(X)
#undef X
EVK_TABLE(scalar)
#ifdef EVK_HAVE_AVX2
#define X(type, name, parameters) type evk_##name##_avx2 parameters;
EVK_KERNELS(X)
#undef X
EVK_TABLE(avx2)
#endif
#ifdef EVK_HAVE_AVX512
#define X(type, name, parameters) type evk_##name##_avx512 parameters;
EVK_KERNELS(X)
#undef X
EVK_TABLE(avx512)
#endif

static const evk_kernels *const evk_tables[] = {
    &evk_table_scalar,
#ifdef EVK_HAVE_AVX2
    &evk_table_avx2,
#endif
#ifdef EVK_HAVE_AVX512
    &evk_table_avx512,
#endif
};
enum { N_TABLES = sizeof evk_tables / sizeof *evk_tables };

const evk_kernels *evk_kernels_at(size_t k) { return k < N_TABLES ? evk_tables[k] : NULL; }

int evk_kernels_supported(const evk_kernels *kernels)
{
#if defined(__x86_64__)
    if (strcmp(kernels->name, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(kernels->name, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return strcmp(kernels->name, "scalar") == 0;
}

evk_status evk_kernels_select(const char *name, const evk_kernels **out)
{
    *out = NULL;
    if (name == NULL || *name == '\0') {
        size_t k = N_TABLES;
        while (k-- > 0)
            if (evk_kernels_supported(evk_tables[k])) {
                *out = evk_tables[k];
                return EVK_OK;
            }
    }
    for (size_t k = 0; name != NULL && k < N_TABLES; k++)
        if (strcmp(name, evk_tables[k]->name) == 0) {
            if (!evk_kernels_supported(evk_tables[k]))
                return EVK_ERR_UNSUPPORTED_SIMD;
            *out = evk_tables[k];
            return EVK_OK;
        }
    return EVK_ERR_UNKNOWN_SIMD;
}

/* Gram matrices, rows on demand and decision functions against plain loops. */
#define EVK_ISA scalar /* gram_row.h is made for sources that are compiled once per instruction set */
#include "gram_row.h"

#include "check.h"

static const evk_kernel all_kernels[] = {
    {.kind = EVK_LINEAR},
    {.kind = EVK_POLY, .degree = 3, .gamma = 0.5, .coef0 = 1.0},
    {.kind = EVK_POLY, .degree = 1, .gamma = 2.0, .coef0 = 0.0},
    {.kind = EVK_RBF, .gamma = 0.7},
};

static double reference(const evk_kernel *kernel, const double *x, const double *z, size_t d)
{
    double product = 0.0, distance = 0.0;
    for (size_t h = 0; h < d; h++) {
        product += x[h] * z[h];
        distance += (x[h] - z[h]) * (x[h] - z[h]);
    }
    switch (kernel->kind) {
    case EVK_LINEAR:
        return product;
    case EVK_POLY:
        return pow(kernel->gamma * product + kernel->coef0, kernel->degree);
    default:
        return exp(-kernel->gamma * distance);
    }
}

/* x[n][d] feature by feature, the padding zero */
static evk_columns columns_of(const double *x, size_t n, size_t d)
{
    const size_t ld = whole_packs(n);
    double *columns = new_doubles(ld * d);
    for (size_t h = 0; h < d; h++)
        for (size_t j = 0; j < ld; j++)
            columns[h * ld + j] = j < n ? x[j * d + h] : 0.0;
    return (evk_columns){columns, n, d, ld};
}

static void check_filled(const evk_kernel *kernel, const double *x, evk_columns points, double *expected)
{
    const size_t n = points.n, d = points.d, ld = points.ld;
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        double *work = new_doubles(evk_gram_work_size(n, n));
        evk_gram gram;
        evk_gram_place(&gram, kernel, points, n, work);
        CHECK(functions->gram_fill(&gram, NULL) == 0);
        if (functions == evk_functions_at(0))
            memcpy(expected, gram.rows, n * ld * sizeof(double));
        CHECK_SAME_BITS(gram.rows, expected, n * ld);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                const double value = reference(kernel, x + i * d, x + j * d, d);
                CHECK_NEAR(gram.rows[i * ld + j], value, 1e-14 * (1.0 + fabs(value)));
            }
            for (size_t j = n; j < ld; j++)
                CHECK(gram.rows[i * ld + j] == 0.0);
            CHECK_SAME_BITS(gram.diagonal + i, gram.rows + i * ld + i, 1);
            CHECK(gram.slot_of[i] == (int32_t)i);
        }
        double *diagonal = new_doubles(ld);
        memcpy(diagonal, gram.diagonal, ld * sizeof(double));
        functions->gram_diagonal(&gram);
        CHECK_SAME_BITS(gram.diagonal, diagonal, ld);
        free(diagonal);
        for (size_t j = n; j < ld; j++)
            CHECK(gram.diagonal[j] == 0.0);
        CHECK(gram.n_computed == (int64_t)n);
        free(work);
    }
}

/* two slots for n rows: whatever the order, every row is right and the row to keep stays */
static void check_on_demand(const evk_kernel *kernel, evk_columns points, const double *expected)
{
    const size_t n = points.n, ld = points.ld;
    double *work = new_doubles(evk_gram_work_size(n, 2));
    evk_gram gram;
    evk_gram_place(&gram, kernel, points, 2, work);
    uint64_t seed = 11;
    check_about = "on demand";
    for (int turn = 0; turn < 60; turn++) {
        const size_t i = (size_t)uniform(&seed, 0.0, (double)n), j = (size_t)uniform(&seed, 0.0, (double)n);
        const double *row_i = evk_gram_get(&gram, i, -1), *row_j = evk_gram_get(&gram, j, (ptrdiff_t)i);
        CHECK((row_i == row_j) == (i == j));
        CHECK_SAME_BITS(row_i, expected + i * ld, ld);
        CHECK_SAME_BITS(row_j, expected + j * ld, ld);
        for (size_t slot = 0; slot < 2; slot++)
            CHECK(gram.owner_of[slot] < 0 || gram.slot_of[gram.owner_of[slot]] == (int32_t)slot);
    }
    const int64_t before = gram.n_computed;
    const double *row = evk_gram_get(&gram, 0, -1);
    CHECK(evk_gram_get(&gram, 0, -1) == row &&
          gram.n_computed <= before + 1); /* a row that is there is not computed again */
    free(work);
}

static void check_decisions(const evk_kernel *kernel, const double *x, size_t n, size_t d)
{
    enum { N_SV = 5, N_OUTPUTS = 3 };
    double *sv = new_doubles(N_SV * d), coef[N_SV * N_OUTPUTS], bias[N_OUTPUTS] = {0.5, -1.0, 0.0};
    double *decisions = new_doubles(n * N_OUTPUTS), *expected = new_doubles(n * N_OUTPUTS);
    double *work = new_doubles((d + N_OUTPUTS) * EVK_DECIDED * EVK_LANES_DOUBLE), alone[N_OUTPUTS];
    const evk_columns points = columns_of(x, n, d);
    uint64_t seed = 13;
    for (size_t k = 0; k < N_SV * d; k++)
        sv[k] = uniform(&seed, -1.0, 1.0);
    const evk_columns sv_columns = columns_of(sv, N_SV, d);
    double *row = new_doubles(points.ld), *by_output = new_doubles(N_OUTPUTS * points.ld);
    double coef_columns[N_OUTPUTS * EVK_LANES_DOUBLE], sv_row[EVK_LANES_DOUBLE];
    for (size_t k = 0; k < N_SV * N_OUTPUTS; k++)
        coef[k] = k == 4 ? 0.0 : uniform(&seed, -2.0, 2.0);
    for (size_t o = 0; o < N_OUTPUTS; o++)
        for (size_t j = 0; j < EVK_LANES_DOUBLE; j++)
            coef_columns[o * EVK_LANES_DOUBLE + j] = j < N_SV ? coef[j * N_OUTPUTS + o] : 0.0;
    const evk_rows rows = {x, n, d};
    const evk_machine_rows machine = {kernel, {sv, N_SV, d}, coef, bias, N_OUTPUTS};
    const evk_machine_rows constant = {kernel, {sv, 0, d}, coef, bias, N_OUTPUTS};
    const evk_machine by_columns = {kernel, sv_columns, coef_columns, bias, N_OUTPUTS};
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        functions->decide(&machine, &rows, work, decisions);
        if (functions == evk_functions_at(0))
            memcpy(expected, decisions, n * N_OUTPUTS * sizeof(double));
        CHECK_SAME_BITS(decisions, expected, n * N_OUTPUTS);
        for (size_t i = 0; i < n; i++) {
            for (size_t o = 0; o < N_OUTPUTS; o++) {
                double value = bias[o], size = 1.0;
                for (size_t j = 0; j < N_SV; j++) {
                    const double term = coef[j * N_OUTPUTS + o] * reference(kernel, x + i * d, sv + j * d, d);
                    value += term;
                    size += fabs(term);
                }
                CHECK_NEAR(decisions[i * N_OUTPUTS + o], value, 1e-14 * size);
            }
            functions->decide(&machine, &(evk_rows){x + i * d, 1, d}, work, alone);
            CHECK_SAME_BITS(alone, decisions + i * N_OUTPUTS, N_OUTPUTS);
            functions->decide_point(&by_columns, points.x + i, points.ld, sv_row, alone);
            CHECK_SAME_BITS(alone, decisions + i * N_OUTPUTS, N_OUTPUTS);
        }
        functions->decide_columns(&by_columns, &points, row, by_output, NULL);
        for (size_t i = 0; i < n; i++)
            for (size_t o = 0; o < N_OUTPUTS; o++)
                CHECK_SAME_BITS(by_output + o * points.ld + i, decisions + i * N_OUTPUTS + o, 1);
        functions->decide(&constant, &rows, work, decisions);
        for (size_t i = 0; i < n; i++) /* no support vectors: the bias alone */
            CHECK_SAME_BITS(decisions + i * N_OUTPUTS, bias, N_OUTPUTS);
        if (kernel->kind != EVK_LINEAR || d > N_SV)
            continue;
        double *units = new_doubles(d * d);
        for (size_t j = 0; j < d; j++)
            for (size_t h = 0; h < d; h++)
                units[j * d + h] = j == h ? 1.0 : 0.0;
        const evk_machine_rows at_units = {kernel, {units, d, d}, coef, bias, N_OUTPUTS};
        const evk_machine_rows without = {kernel, {NULL, d, d}, coef, bias, N_OUTPUTS};
        functions->decide(&at_units, &rows, work, expected);
        functions->decide(&without, &rows, work, decisions);
        CHECK_SAME_BITS(decisions, expected, n * N_OUTPUTS);
        functions->decide(&machine, &rows, work, expected);
        free(units);
    }
    free(sv);
    free(decisions);
    free(expected);
    free(work);
    free(row);
    free(by_output);
    free((void *)(uintptr_t)points.x);
    free((void *)(uintptr_t)sv_columns.x);
}

/* a question for every pack of rows changes no bit, and a no at any of them ends the work */
static void check_questions(void)
{
    enum { N = 21, D = 3, N_QUESTIONS = 3 };
    double x[N * D], coef[24], bias = 0.5, row[24], asked_row[24], whole[24], pieces[24];
    uint64_t seed = 17;
    for (size_t k = 0; k < N * D; k++)
        x[k] = uniform(&seed, -1.0, 1.0);
    for (size_t k = 0; k < 24; k++)
        coef[k] = uniform(&seed, -1.0, 1.0);
    const evk_columns points = columns_of(x, N, D);
    const evk_kernel *kernel = &all_kernels[3];
    const evk_machine machine = {kernel, points, coef, &bias, 1};
    double *work = new_doubles(evk_gram_work_size(N, N)), *asked_work = new_doubles(evk_gram_work_size(N, N));
    evk_gram gram, asked;
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        evk_gram_place(&gram, kernel, points, N, work);
        functions->gram_fill(&gram, NULL);
        functions->decide_columns(&machine, &points, row, whole, NULL);
        for (size_t last = 0; last <= N_QUESTIONS; last++) {
            questions for_gram = {.last = last}, for_decisions = {.last = last};
            evk_poll poll = asking(&for_gram), poll_decisions = asking(&for_decisions);
            evk_gram_place(&asked, kernel, points, N, asked_work);
            CHECK(functions->gram_fill(&asked, &poll) == (last ? -1 : 0));
            CHECK(functions->decide_columns(&machine, &points, asked_row, pieces, &poll_decisions) == (last ? -1 : 0));
            CHECK(for_gram.asked == (last ? last : N_QUESTIONS) && for_decisions.asked == for_gram.asked);
            CHECK(asked.n_computed == (last ? 0 : N));
            if (last > 0)
                continue;
            CHECK_SAME_BITS(asked.rows, gram.rows, N * points.ld);
            CHECK_SAME_BITS(pieces, whole, points.ld);
        }
    }
    free(work);
    free(asked_work);
    free((void *)(uintptr_t)points.x);
}

/* no question comes before the work that lies between two of them is done */
static void check_interval(void)
{
    questions q = {0};
    evk_poll poll = asking(&q);
    poll.interval = 10;
    check_about = "interval";
    for (size_t k = 0; k < 9; k++)
        CHECK(!evk_poll_ends(&poll, 3));
    CHECK(q.asked == 2);
    CHECK(!evk_poll_ends(&poll, 1000) && q.asked == 3);
    q.last = 4;
    CHECK(!evk_poll_ends(&poll, 9) && evk_poll_ends(&poll, 1));
    CHECK(!evk_poll_ends(NULL, 1000));
}

int main(void)
{
    /* points, features */
    static const size_t shapes[][2] = {{1, 1}, {7, 2}, {8, 3}, {9, 1}, {21, 5}, {30, 4}, {41, 3}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const size_t n = shapes[s][0], d = shapes[s][1];
        double *x = new_doubles(n * d);
        uint64_t seed = 7 + s;
        for (size_t k = 0; k < n * d; k++)
            x[k] = uniform(&seed, -1.0, 1.0);
        const evk_columns points = columns_of(x, n, d);
        double *matrix = new_doubles(n * points.ld);
        for (size_t k = 0; k < sizeof all_kernels / sizeof *all_kernels; k++) {
            check_filled(&all_kernels[k], x, points, matrix);
            check_on_demand(&all_kernels[k], points, matrix);
            check_decisions(&all_kernels[k], x, n, d);
        }
        free(x);
        free((void *)(uintptr_t)points.x);
        free(matrix);
    }
    check_questions();
    check_interval();
    return check_report();
}

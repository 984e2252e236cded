/* Factors and weights that questions interrupt: the same bits where they continue, and an end where the answer is no. */
#include "check.h"

/* positive definite, ld whole packs, zero from n on */
static void fill_matrix(double *a, size_t n, size_t ld)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < ld; j++)
            a[i * ld + j] = j < n ? 1.0 / (1.0 + fabs((double)i - (double)j)) + (i == j) : 0.0;
}

static void check_cholesky(const evk_functions *functions, size_t n)
{
    const size_t ld = whole_packs(n);
    double *whole = new_doubles(n * ld), *pieces = new_doubles(n * ld);
    fill_matrix(whole, n, ld);
    CHECK(functions->cholesky(whole, n, ld, NULL) == (ptrdiff_t)n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            double sum = 0.0;
            for (size_t k = 0; k <= i; k++)
                sum += whole[k * ld + i] * whole[k * ld + j];
            CHECK_NEAR(sum, 1.0 / (1.0 + (double)(j - i)) + (i == j), 1e-13);
        }
    questions q = {0};
    evk_poll poll = asking(&q);
    fill_matrix(pieces, n, ld);
    CHECK(functions->cholesky(pieces, n, ld, &poll) == (ptrdiff_t)n);
    for (size_t i = 0; i < n; i++)
        CHECK_SAME_BITS(pieces + i * ld + i, whole + i * ld + i, ld - i);
    const size_t n_questions = q.asked;
    CHECK(n_questions >= (n - 1) / 8); /* the first rows cost next to nothing */
    for (q.last = 1; q.last <= n_questions; q.last++) {
        q.asked = 0;
        fill_matrix(pieces, n, ld);
        CHECK(functions->cholesky(pieces, n, ld, &poll) == -1);
        CHECK(q.asked == q.last);
    }
    fill_matrix(pieces, n, ld);
    pieces[(n - 1) * ld + n - 1] = -1.0;
    CHECK(functions->cholesky(pieces, n, ld, NULL) == (ptrdiff_t)n - 1);
    free(whole);
    free(pieces);
}

static void check_pinv(const evk_functions *functions, size_t n, size_t d)
{
    enum { N_TARGETS = 2 };
    const size_t size = (d + N_TARGETS) * n;
    double *data = new_doubles(size), *copy = new_doubles(size), *work = new_doubles(evk_pinv_work_size(n, d));
    double *whole = new_doubles(N_TARGETS * d), *pieces = new_doubles(N_TARGETS * d);
    uint64_t seed = 19;
    for (size_t k = 0; k < size; k++)
        data[k] = uniform(&seed, -1.0, 1.0);
    memcpy(copy, data, size * sizeof(double));
    const evk_least_squares problem = {copy, copy + d * n, n, d, N_TARGETS, 1e-13};
    const ptrdiff_t rank = (ptrdiff_t)(n < d ? n : d);
    CHECK(functions->pinv(&problem, work, whole, NULL) == rank);
    questions q = {0};
    evk_poll poll = asking(&q);
    memcpy(copy, data, size * sizeof(double));
    CHECK(functions->pinv(&problem, work, pieces, &poll) == rank);
    CHECK_SAME_BITS(pieces, whole, N_TARGETS * d);
    const size_t n_questions = q.asked;
    CHECK(n_questions >= (size_t)rank + d - 1);
    for (q.last = 1; q.last <= n_questions; q.last++) {
        q.asked = 0;
        memcpy(copy, data, size * sizeof(double));
        CHECK(functions->pinv(&problem, work, pieces, &poll) == -1);
        CHECK(q.asked == q.last);
    }
    free(data);
    free(copy);
    free(work);
    free(whole);
    free(pieces);
}

int main(void)
{
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        static const size_t sizes[] = {1, 7, 8, 9, 40, 61};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            check_cholesky(functions, sizes[s]);
        check_pinv(functions, 12, 5);
        check_pinv(functions, 5, 12);
        check_pinv(functions, 9, 1);
    }
    return check_report();
}

/* Decisions on points, and blocks of points, against machines that are trained without them; the same bits on all
 * instruction sets. */
#include "check.h"

/* Solve a (n x n, overwritten) x = b by Gauss's elimination with pivoting. */
static void solve(double *a, size_t n, double *b)
{
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k]))
                pivot = i;
        for (size_t j = 0; j < n; j++) {
            const double kept = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = kept;
        }
        const double right = b[k];
        b[k] = b[pivot];
        b[pivot] = right;
        for (size_t i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++)
            b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
}

/* Coefficients and then the bias (n + 1) of the machine without the points from `out` to `end`. */
static void train(const evk_loo *loo, const double *targets, size_t out, size_t end, double *solution)
{
    const size_t n = loo->n, m = n + 1;
    double *a = new_doubles(m * m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            const size_t low = i < j ? i : j, high = i < j ? j : i;
            double value = high == n ? (low == n ? 0.0 : 1.0) : loo->kernel[low * loo->ld + high];
            if (i == j && i < n)
                value += loo->ridge[i];
            if ((out <= i && i < end) || (out <= j && j < end))
                value = i == j; /* its coefficient is zero */
            a[i * m + j] = value;
        }
    for (size_t i = 0; i < n; i++)
        solution[i] = out <= i && i < end ? 0.0 : targets[i];
    solution[n] = 0.0;
    solve(a, m, solution);
    free(a);
}

/* Decisions without block after block, of sizes that repeat. */
static void check_blocks(evk_loo loo, const evk_functions *functions, const size_t *sizes, size_t n_sizes,
                         double *first)
{
    const size_t n = loo.n, ld = loo.ld;
    int64_t *blocks = malloc((n + 1) * sizeof(int64_t));
    double *solution = new_doubles(n + 1);
    size_t end = 0, largest = 1;
    loo.n_blocks = 0;
    blocks[0] = 0;
    while (end < n) {
        size_t size = sizes[loo.n_blocks % n_sizes];
        size = size > n - end ? n - end : size;
        size = size == n ? n - 1 : size;
        largest = size > largest ? size : largest;
        end += size;
        blocks[++loo.n_blocks] = (int64_t)end;
    }
    const size_t size = evk_loo_work_size(n, loo.n_outputs, largest);
    loo.blocks = blocks;
    loo.work = new_doubles(size);
    CHECK(functions->loo(&loo, NULL) == 1);
    if (functions == evk_functions_at(0))
        memcpy(first, loo.decisions, loo.n_outputs * ld * sizeof(double));
    CHECK_SAME_BITS(loo.decisions, first, loo.n_outputs * ld);
    for (size_t o = 0; o < loo.n_outputs; o++)
        for (size_t b = 0; b < loo.n_blocks; b++) {
            train(&loo, loo.targets + o * n, (size_t)blocks[b], (size_t)blocks[b + 1], solution);
            for (size_t i = (size_t)blocks[b]; i < (size_t)blocks[b + 1]; i++) {
                double decision = solution[n];
                for (size_t j = 0; j < n; j++)
                    decision += solution[j] * loo.kernel[(i < j ? i : j) * ld + (i < j ? j : i)];
                CHECK_NEAR(loo.decisions[o * ld + i], decision, 1e-10);
            }
        }
    questions q = {0};
    evk_poll poll = asking(&q);
    CHECK(functions->loo(&loo, &poll) == 1);
    const size_t n_questions = q.asked;
    for (q.last = 1; q.last <= n_questions; q.last++) {
        q.asked = 0;
        CHECK(functions->loo(&loo, &poll) == -1);
    }
    free(loo.work);
    free(solution);
    free(blocks);
}

static void check_loo(size_t n, size_t n_outputs)
{
    static const size_t ones[] = {1}, mixed[] = {3, 1, 8, 5}, all[] = {1000}, late[] = {1, 1000};
    const size_t ld = whole_packs(n);
    double *kernel = new_doubles(n * ld), *ridge = new_doubles(n), *targets = new_doubles(n_outputs * n);
    double *solution = new_doubles(n + 1), *first = new_doubles(2 * n_outputs * ld);
    double *work = new_doubles(evk_loo_work_size(n, n_outputs, 1));
    double *blocks_first = new_doubles(4 * n_outputs * ld);
    double *out = new_doubles((2 * ld + 1) * n_outputs);
    uint64_t seed = 5 + n;
    for (size_t i = 0; i < n; i++) {
        ridge[i] = uniform(&seed, 0.1, 1.0);
        for (size_t j = 0; j < ld; j++)
            kernel[i * ld + j] = exp(-0.01 * ((double)i - (double)j) * ((double)i - (double)j));
    }
    for (size_t i = 0; i < n_outputs * n; i++)
        targets[i] = uniform(&seed, -1.0, 1.0);
    const evk_loo loo = {
        n, ld, n_outputs, kernel, ridge, targets, NULL, 0, work, out, out + 2 * n_outputs * ld, out + n_outputs * ld};
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        check_about = functions->name;
        CHECK(functions->loo(&loo, NULL) == 1);
        if (functions == evk_functions_at(0))
            memcpy(first, out, 2 * n_outputs * ld * sizeof(double));
        CHECK_SAME_BITS(out, first, 2 * n_outputs * ld);
        for (size_t o = 0; o < n_outputs; o++) {
            train(&loo, targets + o * n, n, n, solution);
            for (size_t i = 0; i < n; i++)
                CHECK_NEAR(loo.coef[o * ld + i], solution[i], 1e-11);
            CHECK_NEAR(loo.bias[o], solution[n], 1e-11);
            for (size_t i = 0; i < n; i++) {
                train(&loo, targets + o * n, i, i + 1, solution);
                double decision = solution[n];
                for (size_t j = 0; j < n; j++)
                    decision += solution[j] * kernel[(i < j ? i : j) * ld + (i < j ? j : i)];
                CHECK_NEAR(loo.decisions[o * ld + i], decision, 1e-11);
            }
            for (size_t i = n; i < ld; i++)
                CHECK(loo.coef[o * ld + i] == 0.0 && loo.decisions[o * ld + i] == 0.0);
        }
        ridge[n - 1] = -9.0;
        CHECK(functions->loo(&loo, NULL) == 0);
        ridge[n - 1] = 0.5;
        CHECK(functions->loo(&loo, NULL) == 1);
        memcpy(first, out, 2 * n_outputs * ld * sizeof(double)); /* the other instruction sets have this ridge too */
        questions q = {0};
        evk_poll poll = asking(&q);
        CHECK(functions->loo(&loo, &poll) == 1);
        CHECK_SAME_BITS(out, first, 2 * n_outputs * ld);
        const size_t n_questions = q.asked;
        for (q.last = 1; q.last <= n_questions; q.last++) {
            q.asked = 0;
            CHECK(functions->loo(&loo, &poll) == -1);
        }
        check_blocks(loo, functions, mixed, 4, blocks_first);
        check_blocks(loo, functions, all, 1, blocks_first + n_outputs * ld);
        check_blocks(loo, functions, late, 2, blocks_first + 2 * n_outputs * ld);
        check_blocks(loo, functions, ones, 1, blocks_first + 3 * n_outputs * ld);
        CHECK(functions->loo(&loo, NULL) == 1); /* without blocks it says the same as of blocks of one */
        CHECK_SAME_BITS(loo.decisions, blocks_first + 3 * n_outputs * ld, n_outputs * ld);
    }
    free(kernel);
    free(ridge);
    free(targets);
    free(solution);
    free(first);
    free(blocks_first);
    free(work);
    free(out);
}

int main(void)
{
    static const size_t sizes[] = {2, 3, 7, 8, 9, 16, 21, 40};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (size_t n_outputs = 1; n_outputs < 9; n_outputs += 3)
            check_loo(sizes[k], n_outputs);
    CHECK(evk_loo_work_size((size_t)-1, 1, 1) == 0 && evk_loo_work_size(8, (size_t)-1, 1) == 0);
    CHECK(evk_loo_work_size(8, 1, (size_t)-1) == 0 && evk_loo_work_size(8, 1, 7) > evk_loo_work_size(8, 1, 1));
    CHECK(evk_loo_work_size(((size_t)1 << 31) - 1, 1, 1) == 0 || sizeof(size_t) > 4);
    return check_report();
}

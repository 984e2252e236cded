/* Statistics kept step by step against those of the whole sequence, and features in units of their deviation. */
#include "check.h"

/* One statistic of x[n_steps] by plain loops. */
static double statistic(int k, const double *x, size_t n)
{
    double sum = 0.0, mean = 0.0, result = x[0];
    for (size_t t = 0; t < n; t++)
        mean += x[t] / (double)n;
    switch (k) {
    case EVK_LAST:
        return x[n - 1];
    case EVK_MEAN:
        return mean;
    case EVK_STD:
        for (size_t t = 0; t < n; t++)
            sum += (x[t] - mean) * (x[t] - mean);
        return sqrt(sum / (double)n);
    case EVK_MAX:
        for (size_t t = 0; t < n; t++)
            result = x[t] > result ? x[t] : result;
        return result;
    case EVK_MIN:
        for (size_t t = 0; t < n; t++)
            result = x[t] < result ? x[t] : result;
        return result;
    case EVK_POSITIVE:
        for (size_t t = 0; t < n; t++)
            sum += x[t] > 0.0;
        return sum / (double)n;
    case EVK_CHANGE:
        for (size_t t = 1; t < n; t++)
            sum += fabs(x[t] - x[t - 1]);
        return n > 1 ? sum / (double)(n - 1) : 0.0;
    default: {
        const size_t third = (size_t)(k - EVK_THIRD), begin = third * n / 3;
        size_t end = (third + 1) * n / 3;
        end = end > begin ? end : begin + 1;
        for (size_t t = begin; t < end; t++)
            sum += x[t];
        return sum / (double)(end - begin);
    }
    }
}

static void check_pool(size_t n_steps, size_t width)
{
    double *phi = new_doubles(n_steps * width), *values = new_doubles(EVK_STATISTICS * width);
    double *first = new_doubles(EVK_STATISTICS * width), *x = new_doubles(n_steps);
    uint64_t seed = 11;
    for (size_t t = 0; t < n_steps; t++)
        for (size_t j = 0; j < width; j++) /* saturated and silent cells too */
            phi[t * width + j] = j == 0 ? 1.0 : j == 1 ? 0.0 : uniform(&seed, -1.0, 1.0);
    const evk_pool pool = {width, n_steps, values};
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        check_about = functions->name;
        memset(values, 0x7f, EVK_STATISTICS * width * sizeof(double)); /* nothing of the last sequence is left */
        for (size_t t = 0; t < n_steps; t++)
            functions->pool_add(&pool, t, t == 0 ? NULL : phi + (t - 1) * width, phi + t * width);
        functions->pool_end(&pool, phi + (n_steps - 1) * width);
        if (functions == evk_functions_at(0))
            memcpy(first, values, EVK_STATISTICS * width * sizeof(double));
        CHECK_SAME_BITS(values, first, EVK_STATISTICS * width);
        for (size_t j = 0; j < width; j++) {
            for (size_t t = 0; t < n_steps; t++)
                x[t] = phi[t * width + j];
            for (int s = 0; s < EVK_STATISTICS; s++)
                CHECK_NEAR(values[(size_t)s * width + j], statistic(s, x, n_steps), 1e-14);
        }
        CHECK(values[EVK_STD * width] == 0.0 && values[EVK_MEAN * width] == 1.0);
    }
    free(phi);
    free(values);
    free(first);
    free(x);
}

static void check_standardise(size_t n)
{
    enum { D = 5 };
    const size_t ld = whole_packs(n);
    double *x = new_doubles(D * ld), *first = new_doubles(D * ld), *given = new_doubles(D * ld);
    double mean[D], inverse[D];
    uint64_t seed = 23;
    for (size_t h = 0; h < D; h++)
        for (size_t j = 0; j < ld; j++)
            given[h * ld + j] = j >= n   ? 0.0
                                : h == 0 ? 0.1
                                : h == 4 ? 1e9 + uniform(&seed, -1.0, 1.0)
                                         : uniform(&seed, 3.0, 5.0);
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        check_about = functions->name;
        memcpy(x, given, D * ld * sizeof(double));
        CHECK(functions->standardise(x, n, D, ld, mean, inverse) == (n > 1 ? D - 1 : 0));
        if (functions == evk_functions_at(0))
            memcpy(first, x, D * ld * sizeof(double));
        CHECK_SAME_BITS(x, first, D * ld);
        for (size_t h = 0; h < D; h++) {
            double sum = 0.0, squares = 0.0;
            for (size_t j = 0; j < n; j++) {
                sum += x[h * ld + j];
                squares += x[h * ld + j] * x[h * ld + j];
                CHECK_NEAR(x[h * ld + j], (given[h * ld + j] - mean[h]) * inverse[h], 0.0);
            }
            CHECK_NEAR(sum, 0.0, 5e-7 * (double)n); /* a mean of 1e9 is a double, to 1e-7 */
            CHECK_NEAR(squares, h == 0 || n == 1 ? 0.0 : (double)n, 1e-6 * (double)n);
            for (size_t j = n; j < ld; j++)
                CHECK(x[h * ld + j] == 0.0);
        }
    }
    free(x);
    free(first);
    free(given);
}

int main(void)
{
    for (size_t n_steps = 1; n_steps < 40; n_steps += n_steps < 8 ? 1 : 10)
        for (size_t packs = 1; packs < 4; packs++)
            check_pool(n_steps, packs * EVK_LANES_DOUBLE);
    for (size_t n = 1; n < 40; n++)
        check_standardise(n);
    return check_report();
}

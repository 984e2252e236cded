#include "pool.h"

#include "functions.h"
#include "simd.h"

/* Relative to its largest value, the deviation of a feature that is constant but for rounding. */
#define CONSTANT 1e-12

/* Activations phi[width] of step t join the statistics; `before` are those of the step before, not read at step 0. */
void EVK_FN(pool_add)(const evk_pool *pool, size_t t, const double *before, const double *phi)
{
    const size_t width = pool->width;
    double *v = pool->values;
    const pk share = pk_set1(1.0 / (double)(t + 1)), zero = pk_set1(0.0), one = pk_set1(1.0);
    if (t == 0) {
        for (size_t j = 0; j < width; j += EVK_LANES) {
            const pk x = pk_load(phi + j);
            pk_store(v + EVK_MEAN * width + j, x);
            pk_store(v + EVK_STD * width + j, zero);
            pk_store(v + EVK_MAX * width + j, x);
            pk_store(v + EVK_MIN * width + j, x);
            pk_store(v + EVK_POSITIVE * width + j, pk_select(pk_gt(x, zero), one, zero));
            pk_store(v + EVK_CHANGE * width + j, zero);
        }
        memset(v + EVK_THIRD * width, 0, 3 * width * sizeof(double));
    } else
        for (size_t j = 0; j < width; j += EVK_LANES) {
            const pk x = pk_load(phi + j), mean = pk_load(v + EVK_MEAN * width + j);
            const pk deviation = pk_sub(x, mean), now = pk_fma(deviation, share, mean);
            pk_store(v + EVK_MEAN * width + j, now);
            pk_store(v + EVK_STD * width + j, pk_fma(deviation, pk_sub(x, now), pk_load(v + EVK_STD * width + j)));
            pk_store(v + EVK_MAX * width + j, pk_max(x, pk_load(v + EVK_MAX * width + j)));
            pk_store(v + EVK_MIN * width + j, pk_min(x, pk_load(v + EVK_MIN * width + j)));
            pk_store(v + EVK_POSITIVE * width + j,
                     pk_add(pk_load(v + EVK_POSITIVE * width + j), pk_select(pk_gt(x, zero), one, zero)));
            pk_store(v + EVK_CHANGE * width + j,
                     pk_add(pk_load(v + EVK_CHANGE * width + j), pk_abs(pk_sub(x, pk_load(before + j)))));
        }
    for (size_t k = 0; k < 3; k++) {
        double *third = v + (EVK_THIRD + k) * width;
        if (t < evk_third_begin(pool->n_steps, k) || t >= evk_third_end(pool->n_steps, k))
            continue;
        for (size_t j = 0; j < width; j += EVK_LANES)
            pk_store(third + j, pk_add(pk_load(third + j), pk_load(phi + j)));
    }
}

/* From what is kept while a sequence is read to the statistics; phi are the activations of its last step. */
void EVK_FN(pool_end)(const evk_pool *pool, const double *phi)
{
    const size_t width = pool->width, n = pool->n_steps;
    double *v = pool->values;
    memcpy(v + EVK_LAST * width, phi, width * sizeof(double));
    for (size_t j = 0; j < width; j++) {
        v[EVK_STD * width + j] = sqrt(v[EVK_STD * width + j] / (double)n);
        v[EVK_POSITIVE * width + j] /= (double)n;
        if (n > 1)
            v[EVK_CHANGE * width + j] /= (double)(n - 1);
        for (size_t k = 0; k < 3; k++)
            v[(EVK_THIRD + k) * width + j] /= (double)(evk_third_end(n, k) - evk_third_begin(n, k));
    }
}

/* Columns [d][ld] of n values each, less their mean and divided by their deviation: mean[d] and inverse[d] = 1 / deviation
 * say how; 0 for a feature that does not vary beyond rounding, whose column becomes zero. Returns how many vary. */
size_t EVK_FN(standardise)(double *columns, size_t n, size_t d, size_t ld, double *mean, double *inverse)
{
    size_t n_varying = 0;
    const size_t whole = n / EVK_LANES * EVK_LANES;
    for (size_t h = 0; h < d; h++) {
        double *x = columns + h * ld;
        pk sums = pk_set1(0.0), squares = pk_set1(0.0), sizes = pk_set1(0.0);
        double sum, square, size;
        for (size_t j = 0; j < whole; j += EVK_LANES) {
            sums = pk_add(sums, pk_load(x + j));
            sizes = pk_max(sizes, pk_abs(pk_load(x + j)));
        }
        sum = pk_sum(sums);
        size = pk_largest(sizes);
        for (size_t j = whole; j < n; j++) {
            sum += x[j];
            size = fabs(x[j]) > size ? fabs(x[j]) : size;
        }
        mean[h] = sum / (double)n;
        for (size_t j = 0; j < whole; j += EVK_LANES) {
            const pk deviation = pk_sub(pk_load(x + j), pk_set1(mean[h]));
            squares = pk_fma(deviation, deviation, squares);
        }
        square = pk_sum(squares);
        for (size_t j = whole; j < n; j++)
            square = evk_fused(x[j] - mean[h], x[j] - mean[h], square);
        const double deviation = sqrt(square / (double)n);
        const int varies = deviation > CONSTANT * size; /* false for NaN */
        inverse[h] = varies ? 1.0 / deviation : deviation == deviation ? 0.0 : deviation;
        n_varying += (size_t)varies;
        for (size_t j = 0; j < n; j++)
            x[j] = (x[j] - mean[h]) * inverse[h];
    }
    return n_varying;
}

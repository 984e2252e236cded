/* Rows of kernel values at landmarks against the rows of a Gram matrix, and their products against plain loops. */
#include "check.h"
#include "simd.h"

static void check_rows(int kind, size_t m, size_t d, size_t n_outputs, size_t n)
{
    const size_t ld = whole_packs(m), width = evk_landmarks_width(m, n_outputs), n_packs = width / EVK_LANES_DOUBLE;
    double *z = new_doubles(d * ld), *x = new_doubles(n * d), *targets = new_doubles(n * n_outputs);
    double *roots = new_doubles(n), *rows = new_doubles(width * n), *first = new_doubles(width * n);
    double *expected = new_doubles(ld), *sums = new_doubles(width * width), *other = new_doubles(width * width);
    uint64_t seed = 5;
    memset(z, 0, d * ld * sizeof(double));
    for (size_t h = 0; h < d; h++)
        for (size_t j = 0; j < m; j++)
            z[h * ld + j] = uniform(&seed, -2.0, 2.0);
    for (size_t k = 0; k < n * d; k++)
        x[k] = uniform(&seed, -2.0, 2.0);
    for (size_t k = 0; k < n * n_outputs; k++)
        targets[k] = uniform(&seed, -3.0, 3.0);
    for (size_t r = 0; r < n; r++)
        roots[r] = uniform(&seed, 0.0, 2.0);
    const evk_kernel kernel = {kind, 3, 0.3, 0.5};
    const evk_landmarks landmarks = {&kernel, {z, m, d, ld}, n_outputs, width};
    const evk_functions *functions;
    for (size_t k = 0; (functions = next_supported(&k)) != NULL;) {
        for (int weighted = 0; weighted < 2; weighted++) {
            memset(rows, 0xff, width * n * sizeof(double));
            functions->landmark_rows(&landmarks, x, targets, weighted ? roots : NULL, n, rows);
            for (size_t r = 0; r < n; r++) {
                functions->gram_row(&kernel, &landmarks.points, 0, ld, x + r * d, 1, expected);
                for (size_t j = 0; j < width; j++) {
                    const double value = j < m                   ? expected[j]
                                         : j == m                ? 1.0
                                         : j - m - 1 < n_outputs ? targets[r * n_outputs + j - m - 1]
                                                                 : 0.0;
                    const double found = rows[(j / EVK_LANES_DOUBLE * n + r) * EVK_LANES_DOUBLE + j % EVK_LANES_DOUBLE];
                    CHECK(found == (weighted ? value * roots[r] : value));
                }
            }
        }
        for (size_t i = 0; i < width * width; i++)
            sums[i] = 1.0;
        functions->add_products(rows, n, width, sums);
        for (size_t i = 0; i < width; i++)
            for (size_t j = 0; j < width; j++) {
                double sum = 1.0;
                for (size_t r = 0; r < n; r++)
                    sum =
                        evk_fused(rows[(i / EVK_LANES_DOUBLE * n + r) * EVK_LANES_DOUBLE + i % EVK_LANES_DOUBLE],
                                  rows[(j / EVK_LANES_DOUBLE * n + r) * EVK_LANES_DOUBLE + j % EVK_LANES_DOUBLE], sum);
                CHECK(j >= i / EVK_LANES_DOUBLE * EVK_LANES_DOUBLE ? sums[i * width + j] == sum
                                                                   : sums[i * width + j] == 1.0);
            }
        /* in two blocks of rows: the same bits */
        const size_t half = n / 2;
        for (size_t i = 0; i < width * width; i++)
            other[i] = 1.0;
        for (size_t begin = 0; begin < n; begin += half > 0 && begin == 0 ? half : n - begin) {
            const size_t part = half > 0 && begin == 0 ? half : n - begin;
            functions->landmark_rows(&landmarks, x + begin * d, targets + begin * n_outputs, roots + begin, part,
                                     first);
            functions->add_products(first, part, width, other);
        }
        CHECK_SAME_BITS(other, sums, width * width);
        CHECK(n_packs * EVK_LANES_DOUBLE == width);
    }
    free(z);
    free(x);
    free(targets);
    free(roots);
    free(rows);
    free(first);
    free(expected);
    free(sums);
    free(other);
}

int main(void)
{
    const int kinds[] = {EVK_LINEAR, EVK_POLY, EVK_RBF};
    for (size_t k = 0; k < 3; k++) {
        check_rows(kinds[k], 1, 1, 1, 1);
        check_rows(kinds[k], 6, 3, 2, 5);
        check_rows(kinds[k], 40, 7, 1, 23);
        check_rows(kinds[k], 47, 12, 3, 64);
    }
    return check_report();
}

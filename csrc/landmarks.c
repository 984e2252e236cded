#include "landmarks.h"

#include "functions.h"
#include "kernel_values.h"
#include "simd.h"

/* Rows, and packs of landmarks, whose sums lie in registers at a time. */
#ifdef __AVX512F__
enum { ROWS = 4, PACKS = 4 };
#else
enum { ROWS = 2, PACKS = 2 };
#endif

/* rows[pack][r] for some rows of x and packs of landmarks from the first on. The compiler knows all numbers. */
EVK_INLINE void tile_of_values(int kind, const evk_landmarks *landmarks, const double *x, size_t n_rows, size_t n_packs,
                               size_t first, double *rows, size_t n)
{
    const evk_columns *points = &landmarks->points;
    const size_t d = points->d;
    const double *z = points->x + first * EVK_LANES;
    pk sums[ROWS * PACKS];
    for (size_t k = 0; k < n_rows * n_packs; k++)
        sums[k] = pk_set1(0.0);
    for (size_t h = 0; h < d; h++, z += points->ld) {
        pk values[PACKS];
        for (size_t p = 0; p < n_packs; p++)
            values[p] = pk_load(z + p * EVK_LANES);
        for (size_t r = 0; r < n_rows; r++) {
            const pk source = pk_set1(x[r * d + h]);
            for (size_t p = 0; p < n_packs; p++)
                sums[r * n_packs + p] = evk_add_term(kind, values[p], source, sums[r * n_packs + p]);
        }
    }
    evk_finish_values(kind, landmarks->kernel, n_rows * n_packs, sums);
    for (size_t r = 0; r < n_rows; r++)
        for (size_t p = 0; p < n_packs; p++)
            pk_store(rows + ((first + p) * n + r) * EVK_LANES, sums[r * n_packs + p]);
}

EVK_INLINE void values_of_kind(int kind, const evk_landmarks *landmarks, const double *x, size_t n, double *rows)
{
    const size_t n_packs = landmarks->points.ld / EVK_LANES, d = landmarks->points.d;
    for (size_t p = 0; p < n_packs;) {
        const size_t packs = n_packs - p >= PACKS ? PACKS : 1;
        size_t r = 0;
        if (packs == PACKS) {
            for (; r + ROWS <= n; r += ROWS)
                tile_of_values(kind, landmarks, x + r * d, ROWS, PACKS, p, rows + r * EVK_LANES, n);
            for (; r < n; r++)
                tile_of_values(kind, landmarks, x + r * d, 1, PACKS, p, rows + r * EVK_LANES, n);
        } else {
            for (; r + ROWS <= n; r += ROWS)
                tile_of_values(kind, landmarks, x + r * d, ROWS, 1, p, rows + r * EVK_LANES, n);
            for (; r < n; r++)
                tile_of_values(kind, landmarks, x + r * d, 1, 1, p, rows + r * EVK_LANES, n);
        }
        p += packs;
    }
}

/* The rows of n points x[n][d] with targets[n][n_outputs], times the roots of their weights (NULL: all 1). */
void EVK_FN(landmark_rows)(const evk_landmarks *landmarks, const double *x, const double *targets, const double *roots,
                           size_t n, double *rows)
{
    const size_t m = landmarks->points.n, n_outputs = landmarks->n_outputs;
    switch (landmarks->kernel->kind) {
    case EVK_RBF:
        values_of_kind(EVK_RBF, landmarks, x, n, rows);
        break;
    case EVK_POLY:
        values_of_kind(EVK_POLY, landmarks, x, n, rows);
        break;
    default:
        values_of_kind(EVK_LINEAR, landmarks, x, n, rows);
    }
    for (size_t j = m; j < landmarks->width; j++) {
        double *column = rows + j / EVK_LANES * n * EVK_LANES + j % EVK_LANES;
        const size_t o = j - m - 1; /* beyond n_outputs where j is m */
        for (size_t r = 0; r < n; r++)
            column[r * EVK_LANES] = j == m ? 1.0 : o < n_outputs ? targets[r * n_outputs + o] : 0.0;
    }
    for (size_t p = 0; roots != NULL && p < landmarks->width / EVK_LANES; p++)
        for (size_t r = 0; r < n; r++) {
            double *pack = rows + (p * n + r) * EVK_LANES;
            pk_store(pack, pk_mul(pk_set1(roots[r]), pk_load(pack)));
        }
}

/* sums[i][j] += the sum over n rows of column i times column j, for some columns i in one pack and packs of columns j. */
EVK_INLINE void add_tile(const double *left, const double *right, size_t n, size_t n_columns, size_t n_packs,
                         double *sums, size_t width)
{
    pk tile[EVK_TILE_ROWS][EVK_TILE_PACKS];
    for (size_t i = 0; i < n_columns; i++)
        for (size_t p = 0; p < n_packs; p++)
            tile[i][p] = pk_load(sums + i * width + p * EVK_LANES);
    for (size_t r = 0; r < n; r++) {
        pk values[EVK_TILE_PACKS];
        for (size_t p = 0; p < n_packs; p++)
            values[p] = pk_load(right + (p * n + r) * EVK_LANES);
        for (size_t i = 0; i < n_columns; i++) {
            const pk factor = pk_set1(left[r * EVK_LANES + i]);
            for (size_t p = 0; p < n_packs; p++)
                tile[i][p] = pk_fma(factor, values[p], tile[i][p]);
        }
    }
    for (size_t i = 0; i < n_columns; i++)
        for (size_t p = 0; p < n_packs; p++)
            pk_store(sums + i * width + p * EVK_LANES, tile[i][p]);
}

/* sums[width][width] += the products of the columns of n rows, in the packs on and right of the diagonal. */
void EVK_FN(add_products)(const double *rows, size_t n, size_t width, double *sums)
{
    const size_t n_packs = width / EVK_LANES;
    for (size_t i = 0; i < width; i += EVK_TILE_ROWS) {
        const double *left = rows + i / EVK_LANES * n * EVK_LANES + i % EVK_LANES;
        size_t p = i / EVK_LANES;
        for (; p + EVK_TILE_PACKS <= n_packs; p += EVK_TILE_PACKS)
            add_tile(left, rows + p * n * EVK_LANES, n, EVK_TILE_ROWS, EVK_TILE_PACKS, sums + i * width + p * EVK_LANES,
                     width);
        for (; p < n_packs; p++)
            add_tile(left, rows + p * n * EVK_LANES, n, EVK_TILE_ROWS, 1, sums + i * width + p * EVK_LANES, width);
    }
}

#include "linalg.h"

#include <float.h>

#include "functions.h"
#include "simd.h"

#define MAX_SWEEPS 60

/* a[i][j..] -= sum over k, from k0 to i0, of u[k][i] u[k][j..] for a block of rows i from i0 and packs of columns from j.
 * Pointers that move with k take fewer registers than indices. */
EVK_INLINE void subtract_products(double *a, size_t stride, size_t i0, size_t k0, size_t j, size_t rows, size_t packs)
{
    pk sums[EVK_TILE_ROWS][EVK_TILE_PACKS];
    for (size_t r = 0; r < rows; r++)
        for (size_t p = 0; p < packs; p++)
            sums[r][p] = pk_load(a + (i0 + r) * stride + j + p * EVK_LANES);
    const double *row = a + k0 * stride + j, *factors = a + k0 * stride + i0;
    for (size_t k = k0; k < i0; k++, row += stride, factors += stride) {
        pk above[EVK_TILE_PACKS];
        for (size_t p = 0; p < packs; p++)
            above[p] = pk_load(row + p * EVK_LANES);
        for (size_t r = 0; r < rows; r++) {
            const pk factor = pk_set1(factors[r]);
            for (size_t p = 0; p < packs; p++)
                sums[r][p] = pk_fnma(factor, above[p], sums[r][p]);
        }
    }
    for (size_t r = 0; r < rows; r++)
        for (size_t p = 0; p < packs; p++)
            pk_store(a + (i0 + r) * stride + j + p * EVK_LANES, sums[r][p]);
}

/* Row i of a block from i0, less its share of the rows of the block above it, in the packs from column j. */
EVK_INLINE void subtract_block(const double *a, size_t stride, size_t i0, size_t i, size_t j, size_t packs, pk *sums)
{
    for (size_t p = 0; p < packs; p++)
        sums[p] = pk_load(a + i * stride + j + p * EVK_LANES);
    const double *row = a + i0 * stride + j, *factor = a + i0 * stride + i;
    for (size_t k = i0; k < i; k++, row += stride, factor += stride)
        for (size_t p = 0; p < packs; p++)
            sums[p] = pk_fnma(pk_set1(*factor), pk_load(row + p * EVK_LANES), sums[p]);
}

/* Packs of columns from j of a block of rows, by the rows above from k0 on, those of the block, and their scales. */
EVK_INLINE void finish_tile(double *a, size_t stride, size_t i0, size_t k0, size_t j, size_t rows, size_t packs,
                            const double *scales)
{
    subtract_products(a, stride, i0, k0, j, rows, packs);
    for (size_t r = 0; r < rows; r++) {
        pk sums[EVK_TILE_PACKS];
        subtract_block(a, stride, i0, i0 + r, j, packs, sums);
        for (size_t p = 0; p < packs; p++)
            pk_store(a + (i0 + r) * stride + j + p * EVK_LANES, pk_mul(pk_set1(scales[r]), sums[p]));
    }
}

/* The columns from begin to end, whole packs, of a block of rows. Where they are those of a lower triangle, the rows above
 * its diagonal have nothing to give. */
EVK_INLINE void finish_columns(double *a, size_t stride, size_t i0, size_t rows, size_t begin, size_t end, int is_lower,
                               const double *scales)
{
    size_t j = begin;
    for (; j + EVK_TILE_PACKS * EVK_LANES <= end; j += EVK_TILE_PACKS * EVK_LANES)
        finish_tile(a, stride, i0, is_lower ? j - begin : 0, j, rows, EVK_TILE_PACKS, scales);
    for (; j < end; j += EVK_LANES)
        finish_tile(a, stride, i0, is_lower ? j - begin : 0, j, rows, 1, scales);
}

/* The end of the pack that holds the last of n columns. */
EVK_INLINE size_t whole(size_t n) { return (n + EVK_LANES - 1) / EVK_LANES * EVK_LANES; }

/* Rows i0 to i0 + rows of the factor, which lie in one pack of columns, from those above. Returns how many have a positive
 * pivot, until the first that has not. The upper triangle ends at column `end`; then comes a lower triangle. */
EVK_INLINE size_t factor_rows(double *a, size_t end, size_t stride, size_t i0, size_t rows)
{
    const size_t first = i0 / EVK_LANES * EVK_LANES;
    double scales[EVK_TILE_ROWS];
    subtract_products(a, stride, i0, 0, first, rows, 1);
    for (size_t r = 0; r < rows; r++) {
        double *row = a + (i0 + r) * stride;
        pk sum;
        subtract_block(a, stride, i0, i0 + r, first, 1, &sum);
        pk_store(row + first, sum);
        if (!(row[i0 + r] > 0.0))
            return r;
        scales[r] = 1.0 / sqrt(row[i0 + r]);
        pk_store(row + first, pk_mul(pk_set1(scales[r]), sum));
    }
    finish_columns(a, stride, i0, rows, first + EVK_LANES, end, 0, scales);
    if (stride > end)
        finish_columns(a, stride, i0, rows, end, end + whole(i0 + rows), 1, scales);
    return rows;
}

/* In blocks of a number of rows that the compiler knows: the rest that fills no block in one of half as many, and so on. */
EVK_INLINE ptrdiff_t factor(double *a, size_t n, size_t end, size_t stride, evk_poll *poll)
{
    for (size_t i0 = 0; i0 < n;) {
        size_t rows = EVK_TILE_ROWS, good = 0;
        while (rows > n - i0)
            rows /= 2;
        if (evk_poll_ends(poll, (stride - i0) * i0 * rows))
            return -1;
        if (rows == EVK_TILE_ROWS)
            good = factor_rows(a, end, stride, i0, EVK_TILE_ROWS);
        else if (rows == 4)
            good = factor_rows(a, end, stride, i0, 4);
        else if (rows == 2)
            good = factor_rows(a, end, stride, i0, 2);
        else
            good = factor_rows(a, end, stride, i0, 1);
        if (good < rows)
            return (ptrdiff_t)(i0 + good);
        i0 += rows;
    }
    return (ptrdiff_t)n;
}

/* Upper triangle U with U'U = A in place of the upper triangle of A (row-major, ld whole packs, zero from n on); what
 * lies below the diagonal is undefined afterwards. Returns n, or the first row whose pivot is not positive. */
ptrdiff_t EVK_FN(cholesky)(double *a, size_t n, size_t ld, evk_poll *poll) { return factor(a, n, ld, ld, poll); }

/* The same for rows [A | B | I] of `stride` columns, whole packs each, with ld columns for A and for I: they become
 * [U | inverse of U' times B | inverse of U']. */
ptrdiff_t EVK_FN(cholesky_inverse)(double *a, size_t n, size_t ld, size_t stride, evk_poll *poll)
{
    return factor(a, n, stride - ld, stride, poll);
}

/* x with U'U x = b in place of b; ld entries, zero from n on. */
void EVK_FN(cholesky_solve)(const double *u, size_t n, size_t ld, double *b)
{
    for (size_t k = 0; k < n; k++) {
        const double *row = u + k * ld;
        const double value = b[k] / row[k];
        /* whole packs from the one that holds k on; the entries before k are put back by what is kept here */
        const size_t first = k / EVK_LANES * EVK_LANES;
        double kept[EVK_LANES];
        memcpy(kept, b + first, (k - first) * sizeof(double));
        for (size_t j = first; j < ld; j += EVK_LANES)
            pk_store(b + j, pk_fnma(pk_set1(value), pk_load(row + j), pk_load(b + j)));
        memcpy(b + first, kept, (k - first) * sizeof(double));
        b[k] = value;
    }
    for (size_t k = n; k-- > 0;) {
        const double *row = u + k * ld;
        const size_t first = k / EVK_LANES * EVK_LANES + EVK_LANES;
        double sum = b[k];
        for (size_t j = k + 1; j < n && j < first; j++)
            sum = evk_fused(-row[j], b[j], sum);
        pk rest = pk_set1(0.0);
        for (size_t j = first; j < ld; j += EVK_LANES)
            rest = pk_fma(pk_load(row + j), pk_load(b + j), rest);
        b[k] = (sum - pk_sum(rest)) / row[k];
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    pk sum = pk_set1(0.0);
    size_t k = 0;
    for (; k + EVK_LANES <= n; k += EVK_LANES)
        sum = pk_fma(pk_load(a + k), pk_load(b + k), sum);
    double rest = pk_sum(sum);
    for (; k < n; k++)
        rest = evk_fused(a[k], b[k], rest);
    return rest;
}

/* a += factor b */
static void add_multiple(double *a, double factor, const double *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        a[k] = evk_fused(factor, b[k], a[k]);
}

/* (a, b) <- (c a - s b, s a + c b) */
static void rotate(double *a, double *b, double c, double s, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double x = a[k], y = b[k];
        a[k] = evk_fused(c, x, -(s * y));
        b[k] = evk_fused(s, x, c * y);
    }
}

/* Least-squares weights of minimal norm, the Moore-Penrose pseudoinverse of the columns times the targets.
 *
 * The columns and targets of the problem are overwritten; weights[n_targets][d]; work as evk_pinv_work_size says.
 * Householder reflections reduce the columns to a triangle R, one-sided Jacobi rotations give its singular values.
 * Returns the rank. */
ptrdiff_t EVK_FN(pinv)(const evk_least_squares *problem, double *work, double *weights, evk_poll *poll)
{
    const size_t n = problem->n, d = problem->d, n_targets = problem->n_targets, m = n < d ? n : d;
    double *columns = problem->columns, *targets = problem->targets;
    double *b = work, *v = b + d * m, *values = v + d * d; /* b[d][m]: the columns of R, then of U S */
    for (size_t k = 0; k < m; k++) {
        double *x = columns + k * n + k;
        const size_t rest = n - k;
        if (evk_poll_ends(poll, 2 * rest * (d - k + n_targets)))
            return -1;
        const double length = sqrt(dot(x, x, rest));
        if (length == 0.0)
            continue;
        const double corner = x[0] > 0.0 ? -length : length, head = x[0] - corner;
        const double factor = 1.0 / (corner * head); /* reflection I + factor w w' with w = (head, x[1], ...) */
        x[0] = head;
        for (size_t c = k + 1; c < d + n_targets; c++) {
            double *other = (c < d ? columns + c * n : targets + (c - d) * n) + k;
            add_multiple(other, factor * dot(x, other, rest), x, rest);
        }
        x[0] = corner;
        memset(x + 1, 0, (rest - 1) * sizeof(double));
    }
    for (size_t c = 0; c < d; c++) {
        memcpy(b + c * m, columns + c * n, m * sizeof(double));
        memset(v + c * d, 0, d * sizeof(double));
        v[c * d + c] = 1.0;
    }
    for (int sweep = 0, rotated = 1; rotated && sweep < MAX_SWEEPS; sweep++) {
        rotated = 0;
        for (size_t p = 0; p + 1 < d; p++) {
            if (evk_poll_ends(poll, (d - p) * (7 * m + 4 * d)))
                return -1;
            for (size_t q = p + 1; q < d; q++) {
                const double pp = dot(b + p * m, b + p * m, m), qq = dot(b + q * m, b + q * m, m);
                const double pq = dot(b + p * m, b + q * m, m);
                if (!(fabs(pq) > DBL_EPSILON * sqrt(pp * qq)))
                    continue;
                rotated = 1;
                const double zeta = (qq - pp) / (2.0 * pq);
                const double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(evk_fused(zeta, zeta, 1.0)));
                const double c = 1.0 / sqrt(evk_fused(t, t, 1.0)), s = c * t;
                rotate(b + p * m, b + q * m, c, s, m);
                rotate(v + p * d, v + q * d, c, s, d);
            }
        }
    }
    double largest = 0.0;
    for (size_t c = 0; c < d; c++) {
        values[c] = sqrt(dot(b + c * m, b + c * m, m));
        largest = values[c] > largest ? values[c] : largest;
    }
    size_t rank = 0;
    memset(weights, 0, n_targets * d * sizeof(double));
    for (size_t c = 0; c < d; c++) {
        if (!(values[c] > problem->rcond * largest))
            continue;
        rank++;
        for (size_t t = 0; t < n_targets; t++)
            add_multiple(weights + t * d, dot(b + c * m, targets + t * n, m) / values[c] / values[c], v + c * d, d);
    }
    return (ptrdiff_t)rank;
}

#include "linalg.h"

#include <float.h>

#include "functions.h"
#include "simd.h"

/* Rows and packs of the block of the factor that is held in registers. Every element is summed in the same order
 * whatever the block, so these may differ between instruction sets. */
#if defined(__AVX512F__)
enum { BLOCK_ROWS = 8, BLOCK_PACKS = 2 };
#else
enum { BLOCK_ROWS = 4, BLOCK_PACKS = 1 };
#endif
#define MAX_SWEEPS 60

/* a[i][j..] -= sum over k, from k0 to i0, of u[k][i] u[k][j..] for a block of rows i0.. and packs of columns from j */
static inline __attribute__((always_inline)) void subtract_products(double *a, size_t ld, size_t i0, size_t k0, size_t j,
                                                                    size_t n_rows, size_t n_packs)
{
    pk sums[BLOCK_ROWS][BLOCK_PACKS];
    for (size_t r = 0; r < n_rows; r++)
        for (size_t p = 0; p < n_packs; p++)
            sums[r][p] = pk_load(a + (i0 + r) * ld + j + p * EVK_LANES);
    for (size_t k = k0; k < i0; k++) {
        const double *row = a + k * ld;
        pk columns[BLOCK_PACKS];
        for (size_t p = 0; p < n_packs; p++)
            columns[p] = pk_load(row + j + p * EVK_LANES);
        for (size_t r = 0; r < n_rows; r++) {
            const pk factor = pk_set1(row[i0 + r]);
            for (size_t p = 0; p < n_packs; p++)
                sums[r][p] = pk_fnma(factor, columns[p], sums[r][p]);
        }
    }
    for (size_t r = 0; r < n_rows; r++)
        for (size_t p = 0; p < n_packs; p++)
            pk_store(a + (i0 + r) * ld + j + p * EVK_LANES, sums[r][p]);
}

/* Columns j to end, in whole packs, of a block of rows: what the rows above give them. Where the columns are those of a
 * lower triangle, the rows above its diagonal have nothing to give. */
EVK_INLINE void update_rows(double *a, size_t ld, size_t i0, size_t rows, size_t begin, size_t end, int is_lower)
{
    size_t j = begin;
    if (rows == BLOCK_ROWS) {
        for (; j + BLOCK_PACKS * EVK_LANES <= end; j += BLOCK_PACKS * EVK_LANES)
            subtract_products(a, ld, i0, is_lower ? j - begin : 0, j, BLOCK_ROWS, BLOCK_PACKS);
        for (; j < end; j += EVK_LANES)
            subtract_products(a, ld, i0, is_lower ? j - begin : 0, j, BLOCK_ROWS, 1);
    } else
        for (size_t r = 0; r < rows; r++)
            for (j = begin; j < end; j += EVK_LANES) {
                pk sum = pk_load(a + (i0 + r) * ld + j);
                for (size_t k = is_lower ? j - begin : 0; k < i0; k++)
                    sum = pk_fnma(pk_set1(a[k * ld + i0 + r]), pk_load(a + k * ld + j), sum);
                pk_store(a + (i0 + r) * ld + j, sum);
            }
}

/* a -= factor b and a *= factor, in the packs from j to end */
EVK_INLINE void subtract_row(double *a, double factor, const double *b, size_t j, size_t end)
{
    for (; j < end; j += EVK_LANES)
        pk_store(a + j, pk_fnma(pk_set1(factor), pk_load(b + j), pk_load(a + j)));
}
EVK_INLINE void scale_row(double *a, double factor, size_t j, size_t end)
{
    for (; j < end; j += EVK_LANES)
        pk_store(a + j, pk_mul(pk_set1(factor), pk_load(a + j)));
}

/* The end of the pack that holds the last of n columns. */
EVK_INLINE size_t whole(size_t n) { return (n + EVK_LANES - 1) / EVK_LANES * EVK_LANES; }

/* Rows i0 to i0 + rows of the factor, from those above. Returns how many have a positive pivot, until the first that has
 * not. Beyond the ld columns of the matrix a row may have more, to `stride`: ld of a lower triangle that begins as the
 * identity, and right-hand sides. */
EVK_INLINE size_t factor_rows(double *a, size_t ld, size_t stride, size_t i0, size_t rows)
{
    const int more = stride > ld;
    update_rows(a, stride, i0, rows, i0 / EVK_LANES * EVK_LANES, ld, 0);
    if (more) {
        update_rows(a, stride, i0, rows, ld, ld + whole(i0), 1);
        update_rows(a, stride, i0, rows, 2 * ld, stride, 0);
    }
    for (size_t i = i0; i < i0 + rows; i++) {
        double *row = a + i * stride;
        const size_t first = i / EVK_LANES * EVK_LANES;
        for (size_t k = i0; k < i; k++) {
            const double *above = a + k * stride;
            subtract_row(row, above[i], above, first, ld);
            if (more) {
                subtract_row(row, above[i], above, ld, ld + whole(k + 1));
                subtract_row(row, above[i], above, 2 * ld, stride);
            }
        }
        if (!(row[i] > 0.0))
            return i - i0;
        const double scale = 1.0 / sqrt(row[i]);
        scale_row(row, scale, first, ld);
        if (more) {
            scale_row(row, scale, ld, ld + whole(i + 1));
            scale_row(row, scale, 2 * ld, stride);
        }
    }
    return rows;
}

EVK_INLINE ptrdiff_t factor(double *a, size_t n, size_t ld, size_t stride, evk_poll *poll)
{
    for (size_t i0 = 0; i0 < n; i0 += BLOCK_ROWS) {
        const size_t rows = n - i0 < BLOCK_ROWS ? n - i0 : BLOCK_ROWS;
        if (evk_poll_ends(poll, (stride - i0) * i0 * rows))
            return -1;
        const size_t good = factor_rows(a, ld, stride, i0, rows);
        if (good < rows)
            return (ptrdiff_t)(i0 + good);
    }
    return (ptrdiff_t)n;
}

/* Upper triangle U with U'U = A in place of the upper triangle of A (row-major, ld whole packs, zero from n on); what
 * lies below the diagonal is undefined afterwards. Returns n, or the first row whose pivot is not positive. */
ptrdiff_t EVK_FN(cholesky)(double *a, size_t n, size_t ld, evk_poll *poll) { return factor(a, n, ld, ld, poll); }

/* The same for rows [A | I | B] of `stride` columns, whole packs each, with ld columns for A and for I: they become
 * [U | inverse of U' | inverse of U' times B]. */
ptrdiff_t EVK_FN(cholesky_inverse)(double *a, size_t n, size_t ld, size_t stride, evk_poll *poll)
{
    return factor(a, n, ld, stride, poll);
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
            sum = fma(-row[j], b[j], sum);
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
        rest = fma(a[k], b[k], rest);
    return rest;
}

/* a += factor b */
static void add_multiple(double *a, double factor, const double *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        a[k] = fma(factor, b[k], a[k]);
}

/* (a, b) <- (c a - s b, s a + c b) */
static void rotate(double *a, double *b, double c, double s, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double x = a[k], y = b[k];
        a[k] = fma(c, x, -(s * y));
        b[k] = fma(s, x, c * y);
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
                const double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(fma(zeta, zeta, 1.0)));
                const double c = 1.0 / sqrt(fma(t, t, 1.0)), s = c * t;
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

#include "loo.h"

#include "functions.h"
#include "simd.h"

enum { MOST_SIDES = 4 }; /* right-hand sides at a time */

/* From the rows [.. | sides | W] of the factored matrix, W at column `place`: the sums of the squares in each column of W, and
 * sums[side][ld] of its products with the sides. Column by column, so that the sums stay in registers. */
EVK_INLINE void add_products(const double *a, size_t n, size_t width, size_t place, const double *sides, size_t n_sides,
                             double *sums, double *squares, size_t ld)
{
    for (size_t j = 0; j < ld; j += EVK_LANES) {
        pk products[MOST_SIDES], square = pk_set1(0.0);
        for (size_t s = 0; s < n_sides; s++)
            products[s] = pk_set1(0.0);
        for (size_t i = j; i < n; i++) {
            const pk w = pk_load(a + i * width + place + j);
            square = pk_fma(w, w, square);
            for (size_t s = 0; s < n_sides; s++)
                products[s] = pk_fma(pk_set1(sides[i * width + s]), w, products[s]);
        }
        pk_store(squares + j, square);
        for (size_t s = 0; s < n_sides; s++)
            pk_store(sums + s * ld + j, products[s]);
    }
}

/* out[r][..] = the sums over i of w[i][first + r] w[i][column..], for some packs of columns and rows r. Row i of w is zero
 * beyond its entry i. */
EVK_INLINE void sum_products(const double *w, size_t width, size_t n, size_t first, size_t column, size_t n_rows,
                             size_t n_packs, double *out, size_t ld)
{
    pk sums[EVK_TILE_ROWS][EVK_TILE_PACKS];
    for (size_t r = 0; r < n_rows; r++)
        for (size_t p = 0; p < n_packs; p++)
            sums[r][p] = pk_set1(0.0);
    for (size_t i = first; i < n; i++) {
        const double *row = w + i * width;
        pk columns[EVK_TILE_PACKS];
        for (size_t p = 0; p < n_packs; p++)
            columns[p] = pk_load(row + column + p * EVK_LANES);
        for (size_t r = 0; r < n_rows; r++) {
            const pk factor = pk_set1(row[first + r]);
            for (size_t p = 0; p < n_packs; p++)
                sums[r][p] = pk_fma(factor, columns[p], sums[r][p]);
        }
    }
    for (size_t r = 0; r < n_rows; r++)
        for (size_t p = 0; p < n_packs; p++)
            pk_store(out + r * ld + p * EVK_LANES, sums[r][p]);
}

/* These for the packs of a row of the block from its column c on: as many rows as the compiler is to know. */
EVK_INLINE void sum_rows(const double *w, size_t width, size_t n, size_t begin, size_t r, size_t n_rows, double *block,
                         size_t ld)
{
    size_t c = r / EVK_LANES * EVK_LANES;
    for (; c + EVK_TILE_PACKS * EVK_LANES <= ld; c += EVK_TILE_PACKS * EVK_LANES)
        sum_products(w, width, n, begin + r, begin + c, n_rows, EVK_TILE_PACKS, block + r * ld + c, ld);
    for (; c < ld; c += EVK_LANES)
        sum_products(w, width, n, begin + r, begin + c, n_rows, 1, block + r * ld + c, ld);
}

/* The upper triangle of the block M_BB of size points from `begin` on, zero from `size` on. Returns 0, or -1 where poll
 * ended it. The last packs read beyond a row of W what is in the next one, or behind them all, and beyond eta. */
static int block_of_inverse(const evk_loo *loo, const double *eta, double sum_eta, size_t begin, size_t size,
                            double *block, evk_poll *poll)
{
    const size_t n = loo->n, width = evk_loo_width(n, loo->n_outputs);
    const size_t ld = (size + EVK_LANES - 1) / EVK_LANES * EVK_LANES;
    const double *w = loo->work + width - loo->ld;
    for (size_t r = 0, rows; r < size; r += rows) {
        const size_t left = size - r;
        rows = left >= EVK_TILE_ROWS ? EVK_TILE_ROWS : left >= 4 ? 4 : left;
        if (evk_poll_ends(poll, rows * (n - begin - r) * (ld - r)))
            return -1;
        switch (rows) {
        case 1:
            sum_rows(w, width, n, begin, r, 1, block, ld);
            break;
        case 2:
            sum_rows(w, width, n, begin, r, 2, block, ld);
            break;
        case 3:
            sum_rows(w, width, n, begin, r, 3, block, ld);
            break;
        case 4:
            sum_rows(w, width, n, begin, r, 4, block, ld);
            break;
        default:
            sum_rows(w, width, n, begin, r, EVK_TILE_ROWS, block, ld);
        }
    }
    for (size_t r = 0; r < size; r++) {
        double *row = block + r * ld;
        const pk factor = pk_set1(eta[begin + r] / sum_eta);
        for (size_t c = r / EVK_LANES * EVK_LANES; c < ld; c += EVK_LANES)
            pk_store(row + c, pk_fnma(factor, pk_load(eta + begin + c), pk_load(row + c)));
        for (size_t c = size; c < ld; c++)
            row[c] = 0.0;
    }
    return 0;
}

/* Decisions on the points of a block by the machine without them. Returns 1; 0 where its part of the inverse is singular
 * to working precision, -1 where poll ended it. */
static int leave_out(const evk_loo *loo, const double *eta, double sum_eta, size_t begin, size_t size, double *work,
                     evk_poll *poll)
{
    const size_t ld = (size + EVK_LANES - 1) / EVK_LANES * EVK_LANES;
    double *right = work, *block = work + ld;
    if (block_of_inverse(loo, eta, sum_eta, begin, size, block, poll) < 0)
        return -1;
    const ptrdiff_t rank = EVK_FN(cholesky)(block, size, ld, poll);
    if (rank < (ptrdiff_t)size)
        return rank < 0 ? -1 : 0;
    for (size_t o = 0; o < loo->n_outputs; o++) {
        memset(right, 0, ld * sizeof(double));
        memcpy(right, loo->coef + o * loo->ld + begin, size * sizeof(double));
        EVK_FN(cholesky_solve)(block, size, ld, right);
        for (size_t i = 0; i < size; i++)
            loo->decisions[o * loo->ld + begin + i] = loo->targets[o * loo->n + begin + i] - right[i];
    }
    return 1;
}

/* Returns 1; 0 where A is singular to working precision, -1 where poll ended it.
 *
 * With U'U = A and W the inverse of U', the inverse of A is W'W: its diagonal is the sum of the squares of the rows of
 * W, and it times a right-hand side b is W'(W b). */
int EVK_FN(loo)(const evk_loo *loo, evk_poll *poll)
{
    const size_t n = loo->n, ld = loo->ld, n_outputs = loo->n_outputs, width = evk_loo_width(n, n_outputs);
    double *a = loo->work, *diagonal = a + n * width, *eta = diagonal + ld, *nu = eta + ld;
    const size_t n_sides = 1 + n_outputs, place = width - ld; /* of the identity */
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * width;
        const size_t first = i / EVK_LANES * EVK_LANES;
        memcpy(row + first, loo->kernel + i * ld + first, (ld - first) * sizeof(double));
        row[i] += loo->ridge[i];
        memset(row + ld, 0, (width - ld) * sizeof(double));
        row[ld] = 1.0;
        for (size_t o = 0; o < n_outputs; o++)
            row[ld + 1 + o] = loo->targets[o * n + i];
        row[place + i] = 1.0;
    }
    const ptrdiff_t rank = EVK_FN(cholesky_inverse)(a, n, ld, width, poll);
    if (rank < (ptrdiff_t)n)
        return rank < 0 ? -1 : 0;
    for (size_t s = 0, now; s < n_sides; s += now) { /* the first side gives eta, the others nu */
        const double *sides = a + ld + s;
        double *sums = eta + s * ld;
        now = n_sides - s >= MOST_SIDES ? MOST_SIDES : n_sides - s >= 2 ? 2 : 1;
        if (now == MOST_SIDES)
            add_products(a, n, width, place, sides, MOST_SIDES, sums, diagonal, ld);
        else if (now == 2)
            add_products(a, n, width, place, sides, 2, sums, diagonal, ld);
        else
            add_products(a, n, width, place, sides, 1, sums, diagonal, ld);
    }
    double sum_eta = 0.0;
    for (size_t i = 0; i < n; i++)
        sum_eta += eta[i];
    if (!(sum_eta > 0.0))
        return 0;
    for (size_t i = 0; i < n; i++) /* of the inverse of the bordered matrix */
        diagonal[i] -= eta[i] * eta[i] / sum_eta;
    for (size_t o = 0; o < n_outputs; o++) {
        double sum_nu = 0.0, *coef = loo->coef + o * ld, *decisions = loo->decisions + o * ld;
        for (size_t i = 0; i < n; i++)
            sum_nu += nu[o * ld + i];
        loo->bias[o] = sum_nu / sum_eta;
        for (size_t i = 0; i < n; i++) {
            coef[i] = nu[o * ld + i] - loo->bias[o] * eta[i];
            decisions[i] = loo->targets[o * n + i] - coef[i] / diagonal[i];
        }
        for (size_t i = n; i < ld; i++)
            coef[i] = decisions[i] = 0.0;
    }
    for (size_t k = 0; loo->blocks != NULL && k < loo->n_blocks; k++) {
        const size_t begin = (size_t)loo->blocks[k], size = (size_t)(loo->blocks[k + 1] - loo->blocks[k]);
        /* a point by itself has been left out above */
        const int solved = size < 2 ? 1 : leave_out(loo, eta, sum_eta, begin, size, nu + n_outputs * ld, poll);
        if (solved <= 0)
            return solved;
    }
    return 1;
}

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
    return 1;
}

#include "loo.h"

#include "functions.h"
#include "simd.h"

/* sums[ld] += factor * values[ld], in the packs up to `end` */
EVK_INLINE void add_row(double *sums, double factor, const double *values, size_t end)
{
    for (size_t j = 0; j < end; j += EVK_LANES)
        pk_store(sums + j, pk_fma(pk_set1(factor), pk_load(values + j), pk_load(sums + j)));
}

/* Returns 1; 0 where A is singular to working precision, -1 where poll ended it.
 *
 * With U'U = A and W the inverse of U', the inverse of A is W'W: its diagonal is the sum of the squares of the rows of
 * W, and it times a right-hand side b is W'(W b). */
int EVK_FN(loo)(const evk_loo *loo, evk_poll *poll)
{
    const size_t n = loo->n, ld = loo->ld, n_outputs = loo->n_outputs, width = evk_loo_width(n, n_outputs);
    double *a = loo->work, *diagonal = a + n * width, *eta = diagonal + ld, *nu = eta + ld;
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * width;
        memcpy(row, loo->kernel + i * ld, ld * sizeof(double));
        row[i] += loo->ridge[i];
        memset(row + ld, 0, (width - ld) * sizeof(double));
        row[ld + i] = 1.0;
        row[2 * ld] = 1.0;
        for (size_t o = 0; o < n_outputs; o++)
            row[2 * ld + 1 + o] = loo->targets[o * n + i];
    }
    const ptrdiff_t rank = EVK_FN(cholesky_inverse)(a, n, ld, width, poll);
    if (rank < (ptrdiff_t)n)
        return rank < 0 ? -1 : 0;
    memset(diagonal, 0, (2 + n_outputs) * ld * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double *w = a + i * width + ld, *right = a + i * width + 2 * ld;
        const size_t end = (i / EVK_LANES + 1) * EVK_LANES;
        for (size_t j = 0; j < end; j += EVK_LANES) {
            const pk value = pk_load(w + j);
            pk_store(diagonal + j, pk_fma(value, value, pk_load(diagonal + j)));
        }
        add_row(eta, right[0], w, end);
        for (size_t o = 0; o < n_outputs; o++)
            add_row(nu + o * ld, right[1 + o], w, end);
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

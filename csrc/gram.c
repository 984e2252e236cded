#include "gram.h"

#include "gram_row.h"
#include "functions.h"
#include "kernel_values.h"

/* Packs of points whose sums lie in registers at a time: the processor works on several chains of operations at once. */
#ifdef __AVX512F__
enum { BAND = 8 };
#else
enum { BAND = 4 };
#endif

/* values[k] = K(x_(j+k), z) for n_packs packs of points, at most BAND. The compiler knows their number and the kind of
 * kernel. */
EVK_INLINE void pairwise(int kind, const evk_kernel *kernel, size_t n_packs, const evk_columns *points, size_t j,
                         const double *z, size_t z_stride, double *values)
{
    const double *x = points->x + j;
    pk sum[BAND];
    for (size_t k = 0; k < n_packs; k++)
        sum[k] = pk_set1(0.0);
    for (size_t h = 0; h < points->d; h++, x += points->ld, z += z_stride)
        for (size_t k = 0; k < n_packs; k++) {
            const pk value = pk_load(x + k * EVK_LANES);
            sum[k] = evk_add_term(kind, value, pk_set1(*z), sum[k]);
        }
    evk_finish_values(kind, kernel, n_packs, sum);
    for (size_t k = 0; k < n_packs; k++)
        pk_store(values + k * EVK_LANES, sum[k]);
}

EVK_INLINE void row_of(int kind, const evk_kernel *kernel, const evk_columns *x, size_t j, size_t end, const double *z,
                       size_t z_stride, double *row)
{
    for (; j + BAND * EVK_LANES <= end; j += BAND * EVK_LANES)
        pairwise(kind, kernel, BAND, x, j, z, z_stride, row + j);
    for (; j < end; j += EVK_LANES)
        pairwise(kind, kernel, 1, x, j, z, z_stride, row + j);
}

/* row[j] = K(x_j, z) for begin <= j < end, both at the beginning of a pack */
void EVK_FN(gram_row)(const evk_kernel *kernel, const evk_columns *x, size_t begin, size_t end, const double *z,
                      size_t z_stride, double *row)
{
    switch (kernel->kind) {
    case EVK_RBF:
        row_of(EVK_RBF, kernel, x, begin, end, z, z_stride, row);
        return;
    case EVK_POLY:
        row_of(EVK_POLY, kernel, x, begin, end, z, z_stride, row);
        return;
    case EVK_DISTANCE:
        row_of(EVK_DISTANCE, kernel, x, begin, end, z, z_stride, row);
        return;
    default:
        row_of(EVK_LINEAR, kernel, x, begin, end, z, z_stride, row);
    }
}

/* Multiplications, or what takes as long, for a value of the kernel. */
static size_t kernel_work(const evk_columns *x) { return x->d + 16; }

/* The whole matrix and its diagonal: the packs on and right of the diagonal are computed, the rest is mirrored, a pack
 * of rows after the other, so that no question waits until all of the memory was touched for the first time. */
int EVK_FN(gram_fill)(evk_gram *gram, evk_poll *poll)
{
    const evk_columns *x = &gram->points;
    for (size_t i0 = 0; i0 < x->n; i0 += EVK_LANES) {
        const size_t end = x->n - i0 < EVK_LANES ? x->n : i0 + EVK_LANES;
        if (evk_poll_ends(poll, EVK_LANES * x->ld * kernel_work(x)))
            return -1;
        for (size_t j = 0; j < i0; j++)
            for (size_t i = i0; i < end; i++)
                gram->rows[i * x->ld + j] = gram->rows[j * x->ld + i];
        for (size_t i = i0; i < end; i++) {
            double *row = gram->rows + i * x->ld;
            EVK_FN(gram_row)(gram->kernel, x, i0, x->ld, x->x + i, x->ld, row);
            for (size_t j = x->n; j < x->ld; j++)
                row[j] = 0.0;
            gram->diagonal[i] = row[i];
            gram->slot_of[i] = gram->owner_of[i] = (int32_t)i;
        }
    }
    for (size_t j = x->n; j < x->ld; j++)
        gram->diagonal[j] = 0.0;
    gram->n_computed = (int64_t)x->n;
    return 0;
}

/* The Gaussian kernel of squared distances [n][ld], in the packs on and right of the diagonal. */
void EVK_FN(gram_of_distances)(const double *distances, size_t n, size_t ld, double gamma, double *kernel)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i * ld + i / EVK_LANES * EVK_LANES; j < (i + 1) * ld; j += EVK_LANES)
            pk_store(kernel + j, pk_exp(pk_mul(pk_set1(-gamma), pk_load(distances + j))));
}

/* The diagonal alone, for rows on demand. */
void EVK_FN(gram_diagonal)(evk_gram *gram)
{
    const evk_columns *x = &gram->points;
    for (size_t j = 0; j < x->ld; j += EVK_LANES) {
        pk sum = pk_set1(0.0); /* the distance of a point to itself */
        for (size_t h = 0; gram->kernel->kind != EVK_RBF && h < x->d; h++) {
            const pk value = pk_load(x->x + h * x->ld + j);
            sum = pk_fma(value, value, sum);
        }
        evk_finish_values(gram->kernel->kind, gram->kernel, 1, &sum);
        pk_store(gram->diagonal + j, sum);
    }
    for (size_t j = x->n; j < x->ld; j++)
        gram->diagonal[j] = 0.0;
}

/* Decisions on n points of so many packs. The compiler knows the number of packs and the kind of kernel. */
EVK_INLINE void decide_packs(int kind, size_t n_packs, const evk_machine_rows *machine, const double *x, size_t n,
                             double *work, double *decisions)
{
    const size_t d = machine->sv.d, n_outputs = machine->n_outputs, ld = n_packs * EVK_LANES;
    const double *sv = machine->sv.x, *coef = machine->coef;
    double *columns = work, *sums = work + d * ld, values[EVK_DECIDED * EVK_LANES];
    const evk_columns points = {columns, ld, d, ld};
    for (size_t h = 0; h < d; h++)
        for (size_t k = 0; k < ld; k++)
            columns[h * ld + k] = k < n ? x[k * d + h] : 0.0;
    for (size_t o = 0; o < n_outputs; o++)
        for (size_t k = 0; k < ld; k += EVK_LANES)
            pk_store(sums + o * ld + k, pk_set1(machine->bias[o]));
    for (size_t j = 0; j < machine->sv.n; j++, coef += n_outputs) {
        if (sv == NULL)
            for (size_t k = 0; k < ld; k += EVK_LANES) /* the sum of products with a unit vector is never -0 */
                pk_store(values + k, pk_add(pk_load(columns + j * ld + k), pk_set1(0.0)));
        else
            pairwise(kind, machine->kernel, n_packs, &points, 0, sv + j * d, 1, values);
        for (size_t o = 0; o < n_outputs; o++)
            for (size_t k = 0; k < n_packs; k++) {
                double *sum = sums + o * ld + k * EVK_LANES;
                pk_store(sum, pk_fma(pk_load(values + k * EVK_LANES), pk_set1(coef[o]), pk_load(sum)));
            }
    }
    for (size_t k = 0; k < n; k++)
        for (size_t o = 0; o < n_outputs; o++)
            decisions[k * n_outputs + o] = sums[o * ld + k];
}

EVK_INLINE void decide_all(int kind, const evk_machine_rows *machine, const evk_rows *x, double *work,
                           double *decisions)
{
    const size_t many = EVK_DECIDED * EVK_LANES;
    for (size_t i = 0, m; i < x->n; i += m) {
        const size_t left = x->n - i;
        m = left > many - EVK_LANES ? many : EVK_LANES;
        if (m == many)
            decide_packs(kind, EVK_DECIDED, machine, x->x + i * x->d, left < m ? left : m, work,
                         decisions + i * machine->n_outputs);
        else
            decide_packs(kind, 1, machine, x->x + i * x->d, left < m ? left : m, work,
                         decisions + i * machine->n_outputs);
    }
}

/* decisions[n][n_outputs] for the rows of x; work holds (d + n_outputs) * EVK_DECIDED packs. Lanes are points, so a
 * point's value does not depend on its neighbours. */
void EVK_FN(decide)(const evk_machine_rows *machine, const evk_rows *x, double *work, double *decisions)
{
    switch (machine->kernel->kind) {
    case EVK_RBF:
        decide_all(EVK_RBF, machine, x, work, decisions);
        return;
    case EVK_POLY:
        decide_all(EVK_POLY, machine, x, work, decisions);
        return;
    case EVK_DISTANCE:
        decide_all(EVK_DISTANCE, machine, x, work, decisions);
        return;
    default:
        decide_all(EVK_LINEAR, machine, x, work, decisions);
    }
}

/* The same for points in columns, as the evaluation of a network has them: decisions[n_outputs][x.ld]. Support vectors
 * without a coefficient cost nothing. row holds x.ld. */
int EVK_FN(decide_columns)(const evk_machine *machine, const evk_columns *x, double *row, double *decisions,
                           evk_poll *poll)
{
    const evk_columns *sv = &machine->sv;
    const double *coef = machine->coef;
    const size_t n_outputs = machine->n_outputs;
    for (size_t o = 0; o < n_outputs; o++)
        for (size_t j = 0; j < x->ld; j += EVK_LANES)
            pk_store(decisions + o * x->ld + j, pk_set1(machine->bias[o]));
    for (size_t i = 0; i < sv->n; i++) {
        int needed = 0;
        if (i % EVK_LANES == 0 && evk_poll_ends(poll, EVK_LANES * x->ld * (kernel_work(x) + n_outputs)))
            return -1;
        for (size_t o = 0; o < n_outputs; o++)
            needed |= coef[o * sv->ld + i] != 0.0;
        if (!needed)
            continue;
        EVK_FN(gram_row)(machine->kernel, x, 0, x->ld, sv->x + i, sv->ld, row);
        for (size_t o = 0; o < n_outputs; o++) {
            const double c = coef[o * sv->ld + i];
            if (c == 0.0)
                continue;
            double *out = decisions + o * x->ld;
            for (size_t j = 0; j < x->ld; j += EVK_LANES)
                pk_store(out + j, pk_fma(pk_set1(c), pk_load(row + j), pk_load(out + j)));
        }
    }
    return 0;
}

/* The same for a single point z: the packs run over the support vectors, the sums one by one in their order, so that
 * the bits are those of the functions above. row holds sv.ld. */
void EVK_FN(decide_point)(const evk_machine *machine, const double *z, size_t z_stride, double *row, double *decisions)
{
    const evk_columns *sv = &machine->sv;
    EVK_FN(gram_row)(machine->kernel, sv, 0, sv->ld, z, z_stride, row);
    for (size_t o = 0; o < machine->n_outputs; o++) {
        double sum = machine->bias[o];
        for (size_t i = 0; i < sv->n; i++)
            sum = evk_fused(machine->coef[o * sv->ld + i], row[i], sum);
        decisions[o] = sum;
    }
}

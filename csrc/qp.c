/* Sequential minimal optimisation (second-order working sets, Fan, Chen and Lin 2005) with Newton steps in between.
 *
 * SMO finds the set of free variables quickly but then crawls, the more so the larger C is. Every few steps the free
 * variables are therefore moved jointly to the minimum of the objective on their face, by a Cholesky factor that is
 * kept up to date from step to step. Both kinds of step lower the objective and keep beta feasible. */
#include "qp.h"

#include <float.h>

#include "gram_row.h"
#include "functions.h"
#include "vecmath.h"

#define TAU 1e-12             /* least curvature of a pair, relative to nothing: kernel values are of order one */
#define DEPENDENT 1e-13       /* a pivot below this share of the diagonal counts as linearly dependent */
#define MAX_RECHECKS 20
#define MAX_TIGHTENED 6
#define FIRST_NEWTON 16
#define NEWTON_INTERVAL 4.0 /* SMO steps between Newton steps, at the least */
#define NEWTON_FAVOUR 20.0   /* gain of a Newton step weighs more: it spares later SMO steps */
#define SMO_OVERHEAD 800.0  /* what an SMO step costs besides the rows it runs over, in variables */

/* sum of a_k b_k: eight partial sums, then the rest one by one */
static inline double dot(const double *a, const double *b, size_t n)
{
    pk sum = pk_set1(0.0);
    size_t k = 0;
    for (; k + EVK_LANES <= n; k += EVK_LANES)
        sum = pk_fma(pk_load(a + k), pk_load(b + k), sum);
    double rest = k > 0 ? pk_sum(sum) : 0.0;
    for (; k < n; k++)
        rest = evk_fused(a[k], b[k], rest);
    return rest;
}

static inline double *row_of(evk_face *face, size_t k) { return face->factor + k * face->ld; }

/* how far beta_i may rise or fall before it meets a bound or zero, where the slope of epsilon |beta| changes */
static inline double room_up(const evk_qp *qp, size_t i)
{
    return qp->beta[i] < 0.0 && qp->epsilon > 0.0 ? -qp->beta[i] : qp->upper[i] - qp->beta[i];
}

static inline double room_down(const evk_qp *qp, size_t i)
{
    return qp->beta[i] > 0.0 && qp->epsilon > 0.0 ? qp->beta[i] : qp->beta[i] - qp->lower[i];
}

static inline void set_masks(evk_qp *qp, size_t i)
{
    const double b = qp->beta[i];
    qp->up_mask[i] = b < qp->upper[i] ? (b < 0.0 ? qp->epsilon : -qp->epsilon) : -INFINITY;
    qp->low_mask[i] = b > qp->lower[i] ? (b > 0.0 ? -qp->epsilon : qp->epsilon) : INFINITY;
}

static inline int is_free(const evk_qp *qp, size_t i)
{
    const double b = qp->beta[i];
    return b != 0.0 && b > qp->lower[i] && b < qp->upper[i];
}

/* the lowest index among the lanes that hold the largest value */
static inline size_t first_index(pk values, pk largest, pk indices)
{
    return (size_t)pk_smallest(pk_select(pk_gt(largest, values), pk_set1(INFINITY), indices));
}

/* residual -= step (a - b), b or both may be missing; then the extremes of residual + masks */
EVK_INLINE void update(evk_qp *qp, double step, const double *a, const double *b)
{
    const size_t ld = qp->gram->points.ld;
    const pk s = pk_set1(step);
    pk best = pk_set1(-INFINITY), where = pk_set1(0.0), least = pk_set1(INFINITY);
    static const double first[EVK_LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    pk index = pk_load(first);
    for (size_t j = 0; j < ld; j += EVK_LANES) {
        pk r = pk_load(qp->residual + j);
        if (a != NULL) {
            const pk change = b != NULL ? pk_sub(pk_load(a + j), pk_load(b + j)) : pk_load(a + j);
            r = pk_fnma(s, change, r);
            pk_store(qp->residual + j, r);
        }
        const pk up = pk_add(r, pk_load(qp->up_mask + j));
        const pk_mask better = pk_gt(up, best);
        best = pk_select(better, up, best);
        where = pk_select(better, index, where);
        least = pk_min(pk_add(r, pk_load(qp->low_mask + j)), least);
        index = pk_add(index, pk_set1((double)EVK_LANES));
    }
    qp->up_max = pk_largest(best);
    qp->up_index = first_index(best, pk_set1(qp->up_max), where);
    qp->low_min = pk_smallest(least);
}

/* the partner of i that promises the largest decrease: (up_max - low_j)^2 / curvature, compared without dividing */
static size_t second_order_partner(const evk_qp *qp, size_t i, const double *row)
{
    const evk_gram *gram = qp->gram;
    const size_t ld = gram->points.ld;
    const pk up = pk_set1(qp->up_max), tau = pk_set1(TAU), own = pk_set1(gram->diagonal[i]), zero = pk_set1(0.0);
    static const double first[EVK_LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    pk index = pk_load(first), where = zero, top = zero, bottom = pk_set1(1.0);
    for (size_t j = 0; j < ld; j += EVK_LANES) {
        const pk low = pk_add(pk_load(qp->residual + j), pk_load(qp->low_mask + j));
        const pk difference = pk_max(pk_sub(up, low), zero);
        pk curvature = pk_add(own, pk_load(gram->diagonal + j));
        curvature = pk_max(tau, pk_fnma(pk_set1(2.0), pk_load(row + j), curvature));
        const pk square = pk_mul(difference, difference);
        const pk_mask better = pk_gt(pk_mul(square, bottom), pk_mul(top, curvature));
        top = pk_select(better, square, top);
        bottom = pk_select(better, curvature, bottom);
        where = pk_select(better, index, where);
        index = pk_add(index, pk_set1((double)EVK_LANES));
    }
    const pk gain = pk_div(top, bottom);
    return first_index(gain, pk_set1(pk_largest(gain)), where);
}

/* the partner of largest violation, for where the gains of all of them are too small or too large to be compared */
static size_t first_order_partner(const evk_qp *qp)
{
    size_t least = 0;
    for (size_t j = 1; j < qp->gram->points.n; j++)
        if (qp->residual[j] + qp->low_mask[j] < qp->residual[least] + qp->low_mask[least])
            least = j;
    return least;
}

/* Note a free variable that is not in the face. */
static inline void expect(evk_qp *qp, size_t i)
{
    evk_face *face = &qp->face;
    if (face->place_of[i] == -1 && is_free(qp, i)) {
        face->place_of[i] = -2;
        face->pending[face->n_pending++] = (int32_t)i;
    }
}

static void smo_step(evk_qp *qp)
{
    const size_t i = qp->up_index;
    const double *row_i = evk_gram_get(qp->gram, i, -1);
    size_t j = second_order_partner(qp, i, row_i);
    if (!(qp->residual[j] + qp->low_mask[j] < qp->up_max))
        j = first_order_partner(qp);
    const double *row_j = evk_gram_get(qp->gram, j, (ptrdiff_t)i);
    const double violation = qp->up_max - (qp->residual[j] + qp->low_mask[j]);
    double curvature = qp->gram->diagonal[i] + qp->gram->diagonal[j] - 2.0 * row_i[j];
    if (!(violation > 0.0 && violation < INFINITY && fabs(curvature) < INFINITY)) {
        qp->status = EVK_ERR_OVERFLOW;
        return;
    }
    curvature = curvature > TAU ? curvature : TAU;
    const double room_i = room_up(qp, i), room_j = room_down(qp, j);
    double step = violation / curvature;
    step = step < room_i ? step : room_i;
    step = step < room_j ? step : room_j;
    /* an end that is reached is set exactly, so that "at bound" is a comparison and not a tolerance */
    const double end_i = room_i == -qp->beta[i] ? 0.0 : qp->upper[i];
    const double end_j = room_j == qp->beta[j] ? 0.0 : qp->lower[j];
    qp->smo_gain += step * (violation - 0.5 * step * curvature);
    qp->smo_work += 1.0;
    qp->beta[i] = step == room_i ? end_i : qp->beta[i] + step;
    qp->beta[j] = step == room_j ? end_j : qp->beta[j] - step;
    set_masks(qp, i);
    set_masks(qp, j);
    expect(qp, i);
    expect(qp, j);
    update(qp, step, row_i, row_j);
}

/* U' w = b in place */
static void solve_lower(evk_face *face, double *w)
{
    const size_t m = face->size;
    for (size_t k = 0; k < m; k++) {
        const double *row = row_of(face, k);
        const double value = w[k] * row[k];
        w[k] = value;
        for (size_t j = k + 1; j < m; j++)
            w[j] = evk_fused(-row[j], value, w[j]);
    }
}

/* U d = w in place */
static void solve_upper(evk_face *face, double *w)
{
    for (size_t k = face->size; k-- > 0;) {
        const double *row = row_of(face, k);
        w[k] = (w[k] - dot(row + k + 1, w + k + 1, face->size - k - 1)) * row[k];
    }
}

/* Append variable i; 0 where its column depends on those already there. */
static int face_append(evk_qp *qp, size_t i)
{
    evk_face *face = &qp->face;
    const size_t m = face->size;
    if (m == face->capacity)
        return 0;
    const double *row = evk_gram_get(qp->gram, i, -1);
    double *w = face->direction;
    for (size_t k = 0; k < m; k++)
        w[k] = row[face->members[k]] + face->shift;
    solve_lower(face, w);
    const double diagonal = row[i] + face->shift, pivot = diagonal - dot(w, w, m);
    if (!(pivot > DEPENDENT * diagonal))
        return 0;
    for (size_t k = 0; k < m; k++)
        row_of(face, k)[m] = w[k];
    row_of(face, m)[m] = 1.0 / sqrt(pivot);
    face->ones[m] = (1.0 - dot(w, face->ones, m)) * row_of(face, m)[m];
    face->members[m] = (int32_t)i;
    face->place_of[i] = (int32_t)m;
    face->size = m + 1;
    return 1;
}

/* Remove the member at `place`: its column goes, and Givens rotations turn the rows below back into a triangle. */
static void face_remove(evk_face *face, size_t place)
{
    const size_t m = face->size - 1;
    face->place_of[face->members[place]] = -1;
    for (size_t k = place; k < m; k++) {
        face->members[k] = face->members[k + 1];
        face->place_of[face->members[k]] = (int32_t)k;
    }
    for (size_t r = 0; r < place; r++)
        memmove(row_of(face, r) + place, row_of(face, r) + place + 1, (m - place) * sizeof(double));
    double *carried = face->direction; /* the row that is rotated into the next one */
    memcpy(carried + place, row_of(face, place) + place + 1, (m - place) * sizeof(double));
    double *e = face->ones, carried_e = e[place];
    for (size_t r = place; r < m; r++) {
        double *row = row_of(face, r);
        const double *next = row_of(face, r + 1) + 1;
        const double corner = 1.0 / next[r];
        const double scale = 1.0 / sqrt(evk_fused(carried[r], carried[r], corner * corner));
        const double c = carried[r] * scale, s = corner * scale;
        row[r] = scale;
        e[r] = evk_fused(c, carried_e, s * e[r + 1]);
        carried_e = evk_fused(c, e[r + 1], -(s * carried_e));
        for (size_t j = r + 1; j < m; j++) {
            const double a = carried[j], b = next[j];
            row[j] = evk_fused(c, a, s * b);
            carried[j] = evk_fused(c, b, -(s * a));
        }
    }
    face->size = m;
}

/* change = sum of direction_k K(member k, .) */
static void face_change(evk_qp *qp)
{
    const evk_face *face = &qp->face;
    const size_t ld = qp->gram->points.ld;
    /* four rows at a time, so that the sum is loaded and stored less often; with fewer slots than rows, only one is
     * sure to stay */
    const size_t group = qp->gram->n_slots == qp->gram->points.n ? 4 : 1;
    for (size_t k = 0; k < face->size; k += group) {
        const double *rows[4];
        pk d[4];
        for (size_t r = 0; r < 4; r++) {
            const int present = r < group && k + r < face->size;
            rows[r] = present ? evk_gram_get(qp->gram, (size_t)face->members[k + r], -1) : rows[0];
            d[r] = pk_set1(present ? face->direction[k + r] : 0.0);
        }
        for (size_t j = 0; j < ld; j += EVK_LANES) {
            pk sum = k == 0 ? pk_set1(0.0) : pk_load(qp->change + j);
            for (size_t r = 0; r < 4; r++)
                sum = pk_fma(d[r], pk_load(rows[r] + j), sum);
            pk_store(qp->change + j, sum);
        }
    }
}

/* Move the members along the direction to the minimum on that line or to the first bound or zero on it. Returns 1 where
 * one was met. A direction that overflowed is not gone: SMO does without it, or says that the problem does. */
static int move(evk_qp *qp, double slope)
{
    evk_face *face = &qp->face;
    const size_t m = face->size;
    const double *d = face->direction;
    face_change(qp);
    double curvature = 0.0;
    for (size_t k = 0; k < m; k++)
        curvature = evk_fused(d[k], qp->change[face->members[k]], curvature);
    if (!(fabs(curvature) < INFINITY))
        return 0;
    /* an inexact factor still gives a direction; how far to go along it is decided by exact quantities */
    double step = curvature > 0.0 ? slope / curvature : INFINITY;
    size_t cut = m;
    for (size_t k = 0; k < m; k++) {
        const size_t i = (size_t)face->members[k];
        const double room = d[k] > 0.0 ? room_up(qp, i) : room_down(qp, i);
        if (fabs(d[k]) * step > room) {
            step = room / fabs(d[k]);
            cut = k;
        }
    }
    if (!(step < INFINITY))
        return 0;
    qp->newton_gain += step * (slope - 0.5 * step * curvature);
    for (size_t k = 0; k < m; k++) {
        const size_t i = (size_t)face->members[k];
        const int rising = d[k] > 0.0;
        const double end = rising ? (room_up(qp, i) == -qp->beta[i] ? 0.0 : qp->upper[i])
                                  : (room_down(qp, i) == qp->beta[i] ? 0.0 : qp->lower[i]);
        const double moved = evk_fused(step, d[k], qp->beta[i]);
        const int past = rising ? moved >= end : moved <= end;
        qp->beta[i] = k == cut || past ? end : moved;
        set_masks(qp, i);
    }
    update(qp, step, qp->change, NULL);
    return cut < m;
}

static void face_drop_bound(evk_qp *qp)
{
    evk_face *face = &qp->face;
    for (size_t k = face->size; k-- > 0;)
        if (!is_free(qp, (size_t)face->members[k]))
            face_remove(face, k);
}

/* Variable i depends on the members: moving it and them along the null vector of their matrix costs no curvature, so
 * they go until one of them meets a bound or zero. Expects the solution of U'w = column i in direction. */
static int null_step(evk_qp *qp, size_t i)
{
    evk_face *face = &qp->face;
    const size_t m = face->size;
    if (m == face->capacity)
        return 0;
    double *d = face->direction;
    solve_upper(face, d);
    double sum = -1.0, slope = 0.0;
    for (size_t k = 0; k < m; k++)
        sum += d[k];
    d[m] = -1.0;
    face->members[m] = (int32_t)i;
    for (size_t k = 0; k <= m; k++) {
        const size_t j = (size_t)face->members[k];
        d[k] -= sum / (double)(m + 1);
        slope = evk_fused(qp->residual[j] + qp->up_mask[j], d[k], slope);
    }
    if (slope < 0.0) {
        slope = -slope;
        for (size_t k = 0; k <= m; k++)
            d[k] = -d[k];
    }
    face->size = m + 1;
    const int cut = move(qp, slope);
    face->size = m;
    face_drop_bound(qp);
    return cut;
}

/* Make the face agree with the free variables. Those that depend on it and cannot be moved to a bound stay pending. */
static void face_sync(evk_qp *qp)
{
    evk_face *face = &qp->face;
    face_drop_bound(qp);
    size_t n_left = 0;
    for (size_t k = 0; k < face->n_pending; k++) {
        const size_t i = (size_t)face->pending[k];
        while (face->place_of[i] < 0 && is_free(qp, i) && !face_append(qp, i) && qp->n_iter < qp->max_iter &&
               null_step(qp, i))
            qp->n_iter++;
        if (face->place_of[i] < 0) {
            const int waits = is_free(qp, i);
            face->place_of[i] = waits ? -2 : -1;
            if (waits)
                face->pending[n_left++] = (int32_t)i;
        }
    }
    face->n_pending = n_left;
}

/* One step towards the minimum on the face, cut where the first variable meets a bound or zero. Returns 1 where it was
 * cut and another step may follow. */
static int newton_step(evk_qp *qp)
{
    evk_face *face = &qp->face;
    const size_t m = face->size;
    if (m < 2)
        return 0;
    double *g = face->gradient, *d = face->direction;
    const double *e = face->ones;
    for (size_t k = 0; k < m; k++) {
        const size_t i = (size_t)face->members[k];
        g[k] = qp->residual[i] + qp->up_mask[i]; /* free: both masks are -epsilon sign(beta) */
        d[k] = g[k];
    }
    solve_lower(face, d);
    const double level = dot(d, e, m) / dot(e, e, m); /* the multiplier of sum(beta) = 0, which is the bias */
    for (size_t k = 0; k < m; k++)
        d[k] = evk_fused(-level, e[k], d[k]);
    solve_upper(face, d);
    double sum = 0.0;
    for (size_t k = 0; k < m; k++)
        sum += d[k];
    double slope = 0.0;
    for (size_t k = 0; k < m; k++) {
        d[k] -= sum / (double)m;
        slope = evk_fused(g[k] - level, d[k], slope);
    }
    return slope > 0.0 && move(qp, slope);
}

/* residual = target - K beta from nothing, so that rounding of thousands of updates does not decide convergence */
static void refresh_residual(evk_qp *qp)
{
    const size_t n = qp->gram->points.n, ld = qp->gram->points.ld;
    memcpy(qp->residual, qp->target, n * sizeof(double));
    for (size_t j = n; j < ld; j++)
        qp->residual[j] = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (qp->beta[i] == 0.0)
            continue;
        const double *row = evk_gram_get(qp->gram, i, -1);
        const pk b = pk_set1(qp->beta[i]);
        for (size_t j = 0; j < ld; j += EVK_LANES)
            pk_store(qp->residual + j, pk_fnma(b, pk_load(row + j), pk_load(qp->residual + j)));
    }
    double largest = 0.0, size = 0.0, widest = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double width = sqrt(qp->gram->diagonal[i]);
        size += fabs(qp->beta[i]) * width;
        widest = width > widest ? width : widest;
        largest = fabs(qp->target[i]) > largest ? fabs(qp->target[i]) : largest;
    }
    qp->resolution = DBL_EPSILON * (largest + size * widest);
    update(qp, 0.0, NULL, NULL);
    qp->residual_is_fresh = 1;
}

void EVK_FN(qp_begin)(evk_qp *qp)
{
    const size_t n = qp->gram->points.n, ld = qp->gram->points.ld;
    qp->face.n_pending = 0;
    for (size_t i = 0; i < n; i++) {
        set_masks(qp, i);
        qp->face.place_of[i] = -1;
        expect(qp, i);
    }
    for (size_t i = n; i < ld; i++) {
        qp->beta[i] = 0.0;
        qp->up_mask[i] = -INFINITY;
        qp->low_mask[i] = INFINITY;
    }
    qp->face.size = 0;
    double trace = 0.0;
    for (size_t i = 0; i < n; i++)
        trace += qp->gram->diagonal[i];
    qp->face.shift = trace / (double)n;
    qp->n_iter = 0;
    qp->n_rechecks = qp->n_tightened = 0;
    qp->tol_now = qp->tol;
    qp->next_newton = FIRST_NEWTON;
    qp->newton_left = 0;
    qp->interval = NEWTON_INTERVAL;
    qp->smo_gain = qp->smo_work = qp->newton_gain = qp->newton_work = 0.0;
    qp->converged = 0;
    qp->status = EVK_OK;
    refresh_residual(qp);
}

/* Bias, objective of the dual, duality gap and the largest violation of the optimality conditions; the status, unless
 * these are finite and beta lies in its box. */
void EVK_FN(qp_certify)(evk_qp *qp)
{
    const size_t n = qp->gram->points.n;
    int feasible = 1;
    if (!qp->residual_is_fresh)
        refresh_residual(qp);
    double sum = 0.0, objective = 0.0;
    size_t n_free = 0;
    for (size_t i = 0; i < n; i++) {
        const double b = qp->beta[i];
        objective += 0.5 * b * (qp->target[i] + qp->residual[i]) - qp->epsilon * fabs(b);
        feasible &= b >= qp->lower[i] && b <= qp->upper[i];
        if (is_free(qp, i)) {
            sum += qp->residual[i] + qp->up_mask[i];
            n_free++;
        }
    }
    if (n_free > 0)
        qp->bias = sum / (double)n_free;
    else if (isinf(qp->up_max)) /* nothing may rise: a single class, all of it negative */
        qp->bias = qp->low_min;
    else if (isinf(qp->low_min))
        qp->bias = qp->up_max;
    else
        qp->bias = 0.5 * (qp->up_max + qp->low_min);
    double gap = 0.0;
    for (size_t i = 0; i < n; i++) { /* sum(beta) = 0 lets the bias in; every term is non-negative, rounded or not */
        const double r = qp->residual[i] - qp->bias, b = qp->beta[i];
        const double under = r - qp->epsilon, over = -r - qp->epsilon;
        if (under > 0.0)
            gap += (qp->upper[i] - b) * under + qp->epsilon * (fabs(b) - b);
        else if (over > 0.0)
            gap += (b - qp->lower[i]) * over + qp->epsilon * (fabs(b) + b);
        else
            gap += qp->epsilon * fabs(b) - b * r;
    }
    qp->objective = objective;
    qp->gap = gap;
    qp->violation = qp->up_max > qp->low_min ? qp->up_max - qp->low_min : 0.0;
    qp->converged = qp->violation <= qp->tol && gap < INFINITY; /* NaN is neither */
    /* where nothing can be moved there is no bias, and that is no fault */
    const int stuck = qp->up_max == -INFINITY && qp->low_min == INFINITY;
    if (!feasible || !isfinite(objective) || !(stuck || (isfinite(qp->bias) && isfinite(gap))))
        qp->status = EVK_ERR_OVERFLOW;
    if (qp->status != EVK_OK)
        qp->converged = 0;
}

/* Cost of a Newton step, or of a few changes of the face, in SMO steps. */
static double newton_cost(const evk_qp *qp)
{
    const double m = (double)qp->face.size, ld = (double)qp->gram->points.ld;
    return 1.0 + m * (m + ld) / (2.0 * (ld + SMO_OVERHEAD));
}

/* After a series of Newton steps: the next one comes sooner if they lowered the objective by more for their cost than
 * the SMO steps before them, else later. With small C and many free variables SMO alone is hard to beat. */
static void end_newton(evk_qp *qp)
{
    const int worth = NEWTON_FAVOUR * qp->newton_gain * qp->smo_work >= qp->smo_gain * qp->newton_work;
    qp->interval =
        worth ? fmax(0.5 * qp->interval, NEWTON_INTERVAL) : fmin(2.0 * qp->interval, (double)qp->gram->points.ld);
    qp->next_newton = qp->n_iter + (int64_t)qp->interval;
    qp->smo_gain = qp->smo_work = qp->newton_gain = qp->newton_work = 0.0;
}

/* At most `budget` steps; 1 when done: converged, at max_iter, at the limit of what rounding allows, or where a step
 * overflowed, which the status says. Up to there beta stays in its box.
 *
 * Converged means that no pair violates the optimality conditions by more than tol (LIBSVM's rule). With a large C that
 * alone may leave a large duality gap, so where the gap exceeds tol times the objective the solver continues with
 * a smaller tolerance for as long as that helps. */
int EVK_FN(qp_run)(evk_qp *qp, int64_t budget)
{
    for (;; budget--) {
        if (qp->newton_left > 0) {
            if (budget <= 0)
                return 0;
            const double work = newton_cost(qp);
            budget -= (int64_t)work;
            qp->newton_work += work;
            const int more = qp->n_iter < qp->max_iter && newton_step(qp);
            face_drop_bound(qp);
            qp->n_iter += more;
            qp->newton_left = more ? qp->newton_left - 1 : 0;
            if (qp->newton_left == 0)
                end_newton(qp);
            continue;
        }
        if (!(qp->up_max - qp->low_min > qp->tol_now)) {
            if (!qp->residual_is_fresh) {
                refresh_residual(qp);
                if (qp->up_max - qp->low_min > qp->tol_now && ++qp->n_rechecks > MAX_RECHECKS)
                    return 1;
                continue;
            }
            EVK_FN(qp_certify)(qp);
            if (!(qp->gap > qp->tol * fmax(1.0, qp->objective)) || qp->n_tightened == MAX_TIGHTENED ||
                qp->tol_now * 0.1 < qp->resolution)
                return 1;
            qp->n_tightened++;
            qp->tol_now *= 0.1;
            continue;
        }
        if (qp->n_iter >= qp->max_iter)
            return 1;
        if (budget <= 0)
            return 0;
        qp->residual_is_fresh = 0;
        qp->n_iter++;
        smo_step(qp);
        if (qp->status != EVK_OK)
            return 1;
        if (qp->n_iter >= qp->next_newton && qp->up_max - qp->low_min > qp->tol_now) {
            qp->newton_work += newton_cost(qp) * (1.0 + 0.5 * (double)qp->face.n_pending);
            face_sync(qp);
            qp->newton_left = qp->face.size;
            if (qp->newton_left == 0)
                end_newton(qp);
        }
    }
}

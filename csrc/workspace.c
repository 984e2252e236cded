/* Sizes of the caller's work arrays and the placing of the parts in them. Sizes count doubles; 0 means overflow. */
#include <string.h>

#include "landmarks.h"
#include "linalg.h"
#include "loo.h"
#include "pack.h"
#include "qp.h"

/* to whole packs */
static size_t round_up(size_t n) { return (n + EVK_LANES_DOUBLE - 1) / EVK_LANES_DOUBLE * EVK_LANES_DOUBLE; }

/* a * b + c where c itself has not overflowed; 0 where it is more doubles than a size_t can count the bytes of */
static size_t product_plus(size_t a, size_t b, size_t c)
{
    const size_t limit = (size_t)-1 / (4 * sizeof(double));
    if (c > limit || (b != 0 && a > (limit - c) / b))
        return 0;
    return a * b + c;
}

/* beyond what an index of 32 bits can name, or close to what a size_t can count */
static int too_many(size_t n) { return n > INT32_MAX || n > (size_t)-1 / (64 * sizeof(double)); }

size_t evk_gram_work_size(size_t n, size_t n_slots)
{
    if (too_many(n) || too_many(n_slots))
        return 0;
    const size_t ld = round_up(n);
    /* rows, diagonal, then the small arrays: two of int32, one of bytes */
    return product_plus(n_slots, ld, ld + round_up(n) + 2 * round_up(n_slots));
}

void evk_gram_place(evk_gram *gram, const evk_kernel *kernel, evk_columns points, size_t n_slots, double *work)
{
    gram->kernel = kernel;
    gram->points = points;
    gram->n_slots = n_slots;
    gram->rows = work;
    gram->diagonal = gram->rows + n_slots * points.ld;
    double *rest = gram->diagonal + points.ld;
    gram->slot_of = (int32_t *)rest;
    gram->owner_of = (int32_t *)(rest + round_up(points.n));
    gram->recent = (uint8_t *)(rest + round_up(points.n) + round_up(n_slots));
    gram->hand = 0;
    gram->n_computed = 0;
    for (size_t i = 0; i < points.n; i++)
        gram->slot_of[i] = -1;
    for (size_t k = 0; k < n_slots; k++)
        gram->owner_of[k] = -1;
    memset(gram->recent, 0, n_slots);
}

size_t evk_qp_work_size(size_t n, size_t face_capacity)
{
    if (too_many(n) || too_many(face_capacity))
        return 0;
    const size_t ld = round_up(n), face_ld = round_up(face_capacity);
    return product_plus(face_capacity, face_ld, 5 * ld + 3 * face_ld + round_up(n) + face_ld);
}

void evk_qp_place(evk_qp *qp, size_t n, size_t face_capacity, double *work)
{
    const size_t ld = round_up(n), face_ld = round_up(face_capacity);
    qp->beta = work;
    qp->residual = qp->beta + ld;
    qp->up_mask = qp->residual + ld;
    qp->low_mask = qp->up_mask + ld;
    qp->change = qp->low_mask + ld;
    evk_face *face = &qp->face;
    face->capacity = face_capacity;
    face->ld = face_ld;
    face->factor = qp->change + ld;
    face->gradient = face->factor + face_capacity * face_ld;
    face->ones = face->gradient + face_ld;
    face->direction = face->ones + face_ld;
    face->place_of = (int32_t *)(face->direction + face_ld);
    face->pending = face->place_of + round_up(n); /* two numbers fit where a double does */
    face->members = (int32_t *)(face->direction + face_ld + round_up(n));
}

size_t evk_pinv_work_size(size_t n, size_t d)
{
    const size_t m = n < d ? n : d;
    if (too_many(n) || too_many(d))
        return 0;
    return product_plus(d, m + d, d);
}

size_t evk_loo_width(size_t n, size_t n_outputs) { return 2 * round_up(n) + round_up(1 + n_outputs); }

size_t evk_loo_work_size(size_t n, size_t n_outputs, size_t largest)
{
    if (too_many(n) || too_many(n_outputs) || too_many(largest))
        return 0;
    const size_t all = product_plus(n, evk_loo_width(n, n_outputs) + n_outputs, (2 + n_outputs) * round_up(n));
    if (largest < 2)
        return all;
    const size_t block = product_plus(largest, round_up(largest), round_up(largest));
    return all == 0 || block == 0 ? 0 : all + block;
}

size_t evk_landmarks_width(size_t n_landmarks, size_t n_outputs) { return round_up(n_landmarks + 1 + n_outputs); }

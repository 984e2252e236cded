/* Sizes of the work arrays: enough, without overlap, and 0 where the size cannot be held in a size_t. */
#include "check.h"

typedef struct part {
    const char *name;
    void *begin;
    size_t n_bytes;
} part;

/* every part inside [work, work + n_doubles), aligned for its use, none touching another */
static void check_parts(const part *parts, size_t n_parts, const double *work, size_t n_doubles)
{
    const uintptr_t low = (uintptr_t)work, high = (uintptr_t)(work + n_doubles);
    for (size_t i = 0; i < n_parts; i++) {
        check_about = parts[i].name;
        const uintptr_t begin = (uintptr_t)parts[i].begin, end = begin + parts[i].n_bytes;
        CHECK(begin >= low && end <= high);
        CHECK(begin % sizeof(double) == 0);
        for (size_t j = 0; j < i; j++) {
            const uintptr_t other = (uintptr_t)parts[j].begin;
            CHECK(end <= other || begin >= other + parts[j].n_bytes);
        }
        memset(parts[i].begin, 0x5a, parts[i].n_bytes); /* the address sanitizer looks on */
    }
}

static void check_gram(size_t n, size_t n_slots)
{
    const evk_kernel kernel = {.kind = EVK_LINEAR};
    const size_t ld = whole_packs(n), size = evk_gram_work_size(n, n_slots);
    double *work = new_doubles(size);
    const evk_columns points = {NULL, n, 1, ld};
    evk_gram gram;
    evk_gram_place(&gram, &kernel, points, n_slots, work);
    check_about = "gram";
    CHECK(gram.kernel == &kernel && gram.points.n == n && gram.n_slots == n_slots && gram.n_computed == 0);
    for (size_t i = 0; i < n; i++)
        CHECK(gram.slot_of[i] == -1);
    for (size_t k = 0; k < n_slots; k++)
        CHECK(gram.owner_of[k] == -1 && gram.recent[k] == 0);
    const part parts[] = {
        {"rows", gram.rows, n_slots * ld * sizeof(double)},
        {"diagonal", gram.diagonal, ld * sizeof(double)},
        {"slot_of", gram.slot_of, n * sizeof(int32_t)},
        {"owner_of", gram.owner_of, n_slots * sizeof(int32_t)},
        {"recent", gram.recent, n_slots},
    };
    check_parts(parts, sizeof parts / sizeof *parts, work, size);
    free(work);
}

static void check_qp(size_t n, size_t capacity)
{
    const size_t ld = whole_packs(n), size = evk_qp_work_size(n, capacity);
    double *work = new_doubles(size);
    evk_qp qp = {0};
    evk_qp_place(&qp, n, capacity, work);
    const evk_face *face = &qp.face;
    check_about = "qp";
    CHECK(face->capacity == capacity && face->ld >= capacity);
    const part parts[] = {
        {"beta", qp.beta, ld * sizeof(double)},
        {"residual", qp.residual, ld * sizeof(double)},
        {"up_mask", qp.up_mask, ld * sizeof(double)},
        {"low_mask", qp.low_mask, ld * sizeof(double)},
        {"change", qp.change, ld * sizeof(double)},
        {"factor", face->factor, capacity * face->ld * sizeof(double)},
        {"gradient", face->gradient, face->ld * sizeof(double)},
        {"ones", face->ones, face->ld * sizeof(double)},
        {"direction", face->direction, face->ld * sizeof(double)},
        {"place_of", face->place_of, n * sizeof(int32_t)},
        {"members", face->members, capacity * sizeof(int32_t)},
    };
    check_parts(parts, sizeof parts / sizeof *parts, work, size);
    free(work);
}

int main(void)
{
    static const size_t counts[] = {1, 2, 7, 8, 9, 63, 64, 65};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            check_gram(counts[i], counts[j]);
            check_qp(counts[i], counts[j]);
        }

    check_about = "overflow";
    static const size_t huge[] = {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2, SIZE_MAX / 8, SIZE_MAX / 32};
    for (size_t k = 0; k < sizeof huge / sizeof *huge; k++) {
        CHECK(evk_gram_work_size(huge[k], 2) == 0);
        CHECK(evk_gram_work_size(huge[k], huge[k]) == 0);
        CHECK(evk_gram_work_size(9, huge[k]) == 0);
        CHECK(evk_qp_work_size(huge[k], 8) == 0);
        CHECK(evk_qp_work_size(9, huge[k]) == 0);
        CHECK(evk_qp_work_size(huge[k], huge[k]) == 0);
    }
    /* what is added to a product may be too large by itself */
    CHECK(evk_loo_work_size(INT32_MAX, (size_t)1 << 28, 1) == 0);
    CHECK(evk_loo_work_size((size_t)1 << 28, INT32_MAX, 1) == 0);
    /* the largest sizes that indices of 32 bits allow are no overflow, if SIZE_MAX has 64 bits */
    if (SIZE_MAX > UINT32_MAX)
        CHECK(evk_gram_work_size(INT32_MAX, 2) > 2 * (size_t)INT32_MAX);
    return check_report();
}

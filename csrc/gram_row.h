/* Rows of a Gram matrix on demand. */
#ifndef EVK_GRAM_ROW_H
#define EVK_GRAM_ROW_H

#include "functions.h"

/* Row i, computed if need be. The row of `keep` (-1: none) stays where it is. */
static inline const double *evk_gram_get(evk_gram *gram, size_t i, ptrdiff_t keep)
{
    const size_t ld = gram->points.ld;
    int32_t slot = gram->slot_of[i];
    if (slot < 0) {
        for (;;) { /* ends: at most two turns of the clock, as n_slots >= 2 and one row is kept */
            const size_t h = gram->hand;
            gram->hand = h + 1 == gram->n_slots ? 0 : h + 1;
            if (gram->owner_of[h] >= 0 && (gram->recent[h] || gram->owner_of[h] == keep)) {
                gram->recent[h] = 0;
                continue;
            }
            slot = (int32_t)h;
            break;
        }
        if (gram->owner_of[slot] >= 0)
            gram->slot_of[gram->owner_of[slot]] = -1;
        gram->owner_of[slot] = (int32_t)i;
        gram->slot_of[i] = slot;
        double *row = gram->rows + (size_t)slot * ld;
        EVK_FN(gram_row)(gram->kernel, &gram->points, 0, ld, gram->points.x + i, ld, row);
        for (size_t j = gram->points.n; j < ld; j++)
            row[j] = 0.0;
        gram->n_computed++;
    }
    gram->recent[slot] = 1;
    return gram->rows + (size_t)slot * ld;
}

#endif

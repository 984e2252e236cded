/* Sums of products over rows of kernel values at landmarks: all that a machine on few points needs to know of many. */
#ifndef EVK_LANDMARKS_H
#define EVK_LANDMARKS_H

#include <stddef.h>

#include "gram.h"

/* Points x are seen through rows [K(z_1, x), ..., K(z_m, x) | 1 | y_1, ..., y_o], zero from there to `width`.
 *
 * A block of n rows lies in packs of columns: rows[pack][n][EVK_LANES_DOUBLE], so that what is read together lies
 * together. Products of columns are summed in the order of the rows, whatever the blocks. */
typedef struct evk_landmarks {
    const evk_kernel *kernel;
    evk_columns points; /* the landmarks z */
    size_t n_outputs;
    size_t width;       /* evk_landmarks_width */
} evk_landmarks;

/* points.n + 1 + n_outputs to whole packs */
size_t evk_landmarks_width(size_t n_landmarks, size_t n_outputs);

#endif
